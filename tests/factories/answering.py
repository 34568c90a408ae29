"""Items of every kind ready to be judged, and payloads built from their rubric: those that hold, and broken ones."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from reviews.actions.dealing import claim
from reviews.actions.payloads import Subject
from reviews.enums import FailureCause, FailureWho
from reviews.models import Assignment, Criterion, Item, Project
from reviews.queries.payloads import steps_labelled
from reviews.task_review import task_review
from tests import factories as make
from tests.factories import tasks

WORDS = [{"value": 1, "name": "Correct"}, {"value": 0, "name": "Neutral"}, {"value": -1, "name": "Incorrect"}]
OPTIONS = [{"value": 0, "name": "None"}, {"value": 1, "name": "Minor"}, {"value": 2, "name": "Serious"}]
TIES = ["equally_good", "equally_bad"]
ON_RUN = [
    {"key": "authorised", "title": "Authorised", "kind": "gate", "evidence": "on_fail"},
    {"key": "consent", "title": "Consent", "kind": "gate"},
    {"key": "success", "title": "Success", "kind": "ordinal", "levels": make.LEVELS, "evidence": "on_fail"},
    {"key": "polite", "title": "Polite", "kind": "binary"},
    {"key": "harm", "title": "Harm", "kind": "choice", "levels": OPTIONS},
    {"key": "what", "title": "What harm", "kind": "text", "condition": {"criterion": "harm", "values": [1, 2]}},
    {"key": "seen", "title": "Seen", "kind": "multi_choice", "levels": OPTIONS, "required": False},
    {"key": "minutes", "title": "Minutes", "kind": "number", "settings": {"min": 0, "max": 60}},
]
OF_EACH = [
    {"key": "authorised", "title": "Authorised", "kind": "gate", "scope": "candidate", "evidence": "on_fail"},
    {"key": "tone", "title": "Tone", "kind": "ordinal", "levels": make.LEVELS, "scope": "candidate"},
]
COMPARABLE = {"key": "comparable", "title": "Comparable", "kind": "gate"}


def _better(form: str) -> dict[str, Any]:
    strength = 3 if form == "pair" else 0
    return {
        "key": "better",
        "title": "Better",
        "kind": "preference",
        "levels": OPTIONS,
        "settings": {"form": form, "strength": strength, "ties": TIES},
    }


def run(project: Project) -> Assignment:
    """One run with questions of every kind, labels of steps up to the first error, and corrections."""
    rubric = {"step_labels": {"words": WORDS, "until_first": True}, "correction": "offered"}
    return _claimed(project, make.item(project), ON_RUN, unsure_allowed=True, rubric=rubric)


def pair(project: Project) -> Assignment:
    return _compared(project, 2, "pair")


def ranking(project: Project) -> Assignment:
    return _compared(project, 4, "ranking")


def best_worst(project: Project) -> Assignment:
    return _compared(project, 3, "best_worst")


def task(project: Project) -> Assignment:
    """A task with two runs, by the rubric that leads may start with and a gate more for it and for each run."""
    whole = task_review()
    criteria = [*whole["criteria"], COMPARABLE, OF_EACH[0]]
    return _claimed(project, tasks.task(project), criteria, rubric={"item_kind": "task", "marks": whole["marks"]})


KINDS: dict[str, Callable[[Project], Assignment]] = {
    "run": run,
    "pair": pair,
    "ranking": ranking,
    "best_worst": best_worst,
    "task": task,
}


def _compared(project: Project, candidates: int, form: str) -> Assignment:
    criteria = [COMPARABLE, *OF_EACH, _better(form)]
    return _claimed(project, make.comparison(project, candidates), criteria, rubric={"item_kind": "comparison"})


def _claimed(project: Project, item: Item, criteria: list[dict[str, Any]], **queue: Any) -> Assignment:
    """Alice holds the item, in a queue where her word alone settles it."""
    made = make.queue(project, items=[item], criteria=criteria, overlap=1, **queue)
    return claim(actor=make.expert(project, "Alice"), queue=made)


# --- Payloads that hold -----------------------------------------------------------------------------------------------
texts = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=20).map(str.strip)
said = texts.filter(bool)
failures = st.fixed_dictionaries(
    {
        "step": st.just(1),
        "who": st.sampled_from(FailureWho.values),
        "cause": st.sampled_from(FailureCause.values),
        "note": texts,
    }
)


@st.composite
def holding(draw: st.DrawFn, subject: Subject) -> dict[str, Any]:
    """A payload that the rubric takes, written as it will be read back."""
    page = _of_scope(draw, subject, None)
    opens = set(page["gates"].values()) <= {"pass"}
    candidates = [_of_scope(draw, subject, candidate, opens=opens) for candidate in subject.order]
    _add_preference(draw, subject, page, candidates)
    payload = {**page, "evidence": _evidence(subject, page, candidates)}
    if candidates:
        payload["candidates"] = candidates
    if subject.rubric.step_labels:
        payload["steps"] = _steps(draw, subject)
    if subject.rubric.correction == "offered" and draw(st.booleans()):
        rewritten = {"step": 4, "kind": "rewrite", "steps": [{"text": draw(said)}], "reason": draw(said)}
        payload["corrections"] = [rewritten]
    return payload | {"rationale": draw(texts), "confidence": draw(st.sampled_from([1, 2, 3]))}


def _of_scope(draw: st.DrawFn, subject: Subject, candidate: int | None, *, opens: bool = True) -> dict[str, Any]:
    """Gates of which most pass and, where all do, what else is asked; of the item, or of one of its candidates.

    Of a candidate nothing else is asked where the item's own gates do not let it, and it is not `opens`.
    """
    scope = "candidate" if candidate else "item"
    words = ["pass"] * 5 + ["fail"] + ["unsure"] * subject.rubric.unsure_allowed
    gates = {gate.key: draw(st.sampled_from(words)) for gate in subject.of(scope, gate=True)}
    given: dict[str, Any] = {}
    if opens and set(gates.values()) <= {"pass"}:
        for criterion in subject.of(scope, gate=False):
            wanted = criterion.required or draw(st.booleans())
            if criterion.kind != "preference" and wanted and _is_asked(criterion, given):
                given[criterion.key] = draw(values_of(criterion))
    notes = {key: draw(said) for key in (*gates, *given) if draw(st.integers(0, 9)) == 0}
    failed = {"failure": draw(failures)} if "fail" in gates.values() and (candidate or not subject.order) else {}
    return {"gates": gates, "criteria": given} | ({"notes": notes} if notes else {}) | failed


def _is_asked(criterion: Criterion, given: dict[str, Any]) -> bool:
    condition = criterion.condition
    return not condition or given.get(condition["criterion"]) in condition["values"]


def values_of(criterion: Criterion) -> st.SearchStrategy[Any]:
    """What a criterion takes; of two candidates, that both are as good."""
    return {
        "ordinal": st.sampled_from(criterion.level_values or [0]),
        "choice": st.sampled_from(criterion.level_values or [0]),
        "binary": st.booleans(),
        "multi_choice": st.lists(st.sampled_from(criterion.level_values or [0]), unique=True, min_size=1).map(sorted),
        "number": st.integers(0, 60) | st.sampled_from([0.5, 12.25]),
        "text": said,
        "preference": st.just({"tie": TIES[0]}),
    }[criterion.kind]


def _add_preference(draw: st.DrawFn, subject: Subject, page: dict[str, Any], candidates: list[dict[str, Any]]) -> None:
    """Which is better of those that pass, where the item's gates let it be asked and two are left."""
    criterion = next((c for c in subject.criteria if c.kind == "preference"), None)
    passing = [n for n, each in enumerate(candidates, 1) if set(each["gates"].values()) <= {"pass"}]
    if criterion is None or not set(page["gates"].values()) <= {"pass"} or len(passing) < 2:
        return
    form = criterion.settings["form"]
    if form == "pair":
        strength = st.sampled_from([1, 2, 3])
        preferred = st.fixed_dictionaries({"prefers": st.sampled_from(passing), "strength": strength})
        better = draw(preferred | st.fixed_dictionaries({"tie": st.sampled_from(TIES)}))
    elif form == "ranking":
        given = draw(st.lists(st.integers(1, 4), min_size=len(passing), max_size=len(passing)))
        places = {rank: place for place, rank in enumerate(sorted(set(given)), 1)}
        ranked = dict(zip(passing, (places[rank] for rank in given), strict=True))
        better = {"ranks": [ranked.get(place) for place in range(1, len(candidates) + 1)]}
    else:
        best, worst, *_ = draw(st.permutations(passing))
        better = {"best": best} | ({"worst": worst} if len(passing) == len(candidates) else {})
    reasons = draw(st.lists(st.sampled_from([0, 1, 2]), unique=True).map(sorted))
    page["criteria"][criterion.key] = better | ({"reasons": reasons} if reasons else {})


def _evidence(subject: Subject, page: dict[str, Any], candidates: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A citation for each answer whose criterion may ask for one."""
    cites = {criterion.key for criterion in subject.criteria if criterion.evidence != "never"}
    found = []
    for place, scope in enumerate([page, *candidates]):
        # What is said of the whole item is shown in its first candidate, where it has some.
        candidate = {"candidate": place or 1} if candidates else {}
        answered = (*scope["gates"], *scope["criteria"])
        found += [{"criterion": key, **candidate, "step": 1} for key in answered if key in cites]
    return found


def _steps(draw: st.DrawFn, subject: Subject) -> dict[str, int]:
    """A word for each step of the agent, or for those up to the first that is wrong."""
    labels: dict[str, int] = {}
    for number in steps_labelled(subject.rubric, subject.runs[None]):
        labels[str(number)] = draw(st.sampled_from([1, 0, -1]))
        if labels[str(number)] < 0 and draw(st.booleans()):
            break
    return labels


# --- Payloads that do not ---------------------------------------------------------------------------------------------
@st.composite
def broken(draw: st.DrawFn, subject: Subject) -> dict[str, Any]:
    """A payload with one thing in it that must not get in: quality beside a gate, or a second value for a criterion."""
    payload = deepcopy(draw(holding(subject)))
    scope, name = draw(st.sampled_from(scopes(payload)))
    draw(st.sampled_from(BREAKS))(draw, subject, payload, scope, name)
    return payload


def scopes(payload: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """What is said of the item, and of each of its candidates."""
    return [(payload, "item"), *((each, "candidate") for each in payload.get("candidates", []))]


def _quality_beside_a_gate(
    draw: st.DrawFn, subject: Subject, payload: dict[str, Any], scope: dict[str, Any], name: str
) -> None:
    """A gate of the scope stops passing, and a value of the scope is there."""
    gates, graded = subject.of(name, gate=True), subject.of(name, gate=False)
    if not gates or not graded:
        return _unknown_key(draw, subject, payload, scope, name)
    gate, criterion = draw(st.sampled_from(gates)), draw(st.sampled_from(graded))
    word = draw(st.sampled_from(["fail", "unsure", None, "", "PASS", 1, True, ["pass"], {"pass": "pass"}]))
    scope["gates"][gate.key] = word
    scope["criteria"] = {criterion.key: draw(values_of(criterion))}
    scope["failure"] = draw(failures)
    payload["evidence"] = [
        {"criterion": each.key, **({"candidate": place} if subject.order else {}), "step": 1}
        for each in subject.criteria
        for place in range(1, max(len(subject.order), 1) + 1)
    ]
    return None


def _gate_left_out(
    draw: st.DrawFn, subject: Subject, payload: dict[str, Any], scope: dict[str, Any], name: str
) -> None:
    if not scope["gates"]:
        return _unknown_key(draw, subject, payload, scope, name)
    del scope["gates"][draw(st.sampled_from(sorted(scope["gates"])))]
    return None


def _unknown_key(draw: st.DrawFn, subject: Subject, payload: dict[str, Any], scope: dict[str, Any], name: str) -> None:
    """A second value under a key that is nearly the criterion's."""
    criterion = draw(st.sampled_from(subject.criteria))
    nearly = draw(st.sampled_from(["{} ", " {}", "{}\u200b", "item.{}", "{}.0", "{}\u0301"])).format(criterion.key)
    scope["gates" if criterion.is_gate else "criteria"][nearly] = "pass" if criterion.is_gate else 1


def _in_the_other_group(
    draw: st.DrawFn, subject: Subject, payload: dict[str, Any], scope: dict[str, Any], name: str
) -> None:
    """A gate answered among the criteria too, or a criterion among the gates."""
    criterion = draw(st.sampled_from(subject.criteria))
    scope["criteria" if criterion.is_gate else "gates"][criterion.key] = "pass" if criterion.is_gate else 1


def _in_the_other_scope(
    draw: st.DrawFn, subject: Subject, payload: dict[str, Any], scope: dict[str, Any], name: str
) -> None:
    """What is asked of each candidate is answered of the item too, or the other way round."""
    of_item = {c.key for c in subject.of("item", gate=False)} | {c.key for c in subject.of("item", gate=True)}
    others = [c for c in subject.criteria if c.scope != name and (c.key in of_item) == (c.scope == "item")]
    if not others:
        return _unknown_key(draw, subject, payload, scope, name)
    criterion = draw(st.sampled_from(others))
    scope["gates" if criterion.is_gate else "criteria"][criterion.key] = "pass" if criterion.is_gate else 1
    return None


def _two_values(draw: st.DrawFn, subject: Subject, payload: dict[str, Any], scope: dict[str, Any], name: str) -> None:
    criterion = draw(st.sampled_from(subject.of(name, gate=False) + subject.of(name, gate=True)))
    scope["gates" if criterion.is_gate else "criteria"][criterion.key] = draw(
        st.sampled_from([[1, 1], {"0": 1}, [[1], [2]], ["pass", "fail"]])
    )


def _once_too_often(
    draw: st.DrawFn, subject: Subject, payload: dict[str, Any], scope: dict[str, Any], name: str
) -> None:
    """One candidate more than there are, or a step labelled twice."""
    if subject.order:
        payload["candidates"].append(deepcopy(payload["candidates"][0]))
    else:
        twice = draw(st.sampled_from(["02", " 2", "2.0", "+2", "٢", "1", "0", "-2"]))
        payload["steps"][twice] = draw(st.sampled_from([1, 0, -1]))


BREAKS = (
    _quality_beside_a_gate,
    _gate_left_out,
    _unknown_key,
    _in_the_other_group,
    _in_the_other_scope,
    _two_values,
    _once_too_often,
)
