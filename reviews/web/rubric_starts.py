"""What a lead may start a rubric with: a criterion of each kind, and whole rubrics for the usual sorts of work."""

from collections.abc import Callable
from typing import Any

from reviews.enums import Block, CorrectionRule, CriterionKind, EvidenceRule, ItemKind, PreferenceForm, Scope, Tie

LEVELS = ("Poor", "Weak", "Sound", "Strong")
TIES = [Tie.EQUALLY_GOOD.value, Tie.EQUALLY_BAD.value]


def new_criterion(kind: str, **fields: Any) -> dict[str, Any]:
    """A criterion of a kind with what it needs, its texts still to be written."""
    gate = kind == CriterionKind.GATE
    row: dict[str, Any] = {
        "key": "",
        "title": "",
        "question": "",
        "hint": "",
        "kind": kind,
        "scope": Scope.ITEM.value,
        "block": Block.TASK_SUCCESS.value if kind == CriterionKind.ORDINAL else "",
        "evidence": (EvidenceRule.ON_FAIL if gate else EvidenceRule.NEVER).value,
        "levels": _levels(kind),
        "settings": _settings(kind),
        "principle": None,
        **({} if gate else {"required": True, "condition": None, "weight": None}),
    }
    return row | fields


def _levels(kind: str) -> list[dict[str, Any]]:
    if kind == CriterionKind.ORDINAL:
        return [{"value": value, "name": name, "anchor": ""} for value, name in enumerate(LEVELS)]
    if kind in (CriterionKind.CHOICE, CriterionKind.MULTI_CHOICE):
        return [{"value": value, "name": "", "anchor": ""} for value in (1, 2)]
    return []


def _settings(kind: str) -> dict[str, Any]:
    pair = {"form": PreferenceForm.PAIR.value, "strength": 3, "ties": TIES}
    return pair if kind == CriterionKind.PREFERENCE else {}


def step_words() -> dict[str, Any]:
    """Words for steps as process rewards are trained on them."""
    words = [(1, "Good"), (0, "Neutral"), (-1, "Error")]
    return {
        "words": [{"value": value, "name": name} for value, name in words],
        "of": "agent",
        "until_first": True,
    }


# --- Whole rubrics ----------------------------------------------------------------------------------------------------
def _gate(key: str, title: str, question: str, **fields: Any) -> dict[str, Any]:
    return new_criterion(CriterionKind.GATE, key=key, title=title, question=question, **fields)


def _graded(key: str, title: str, block: Block, anchors: tuple[str, ...], **fields: Any) -> dict[str, Any]:
    levels = [
        {"value": value, "name": name, "anchor": anchor}
        for value, (name, anchor) in enumerate(zip(LEVELS, anchors, strict=True))
    ]
    return new_criterion(CriterionKind.ORDINAL, key=key, title=title, block=block.value, levels=levels, **fields)


def _options(*names: str) -> list[dict[str, Any]]:
    return [{"value": value, "name": name, "anchor": ""} for value, name in enumerate(names, start=1)]


def _support_desk() -> dict[str, Any]:
    return {
        "name": "Support desk run",
        "unsure_allowed": True,
        "criteria": [
            _gate("authorised", "Only authorised accounts", "Did it touch only what the requester owns?"),
            _gate("consent", "Consent before action", "Was there a yes before each action that changes something?"),
            _gate("truthful", "Nothing made up", "Is everything it said borne out by what it saw?"),
            _graded(
                "success",
                "Task success",
                Block.TASK_SUCCESS,
                ("Nothing of it was done.", "Less than half was done.", "Nearly all was done.", "All was done."),
            ),
            _graded(
                "process",
                "Process",
                Block.PROCESS,
                ("It went astray and stayed there.", "Long detours.", "A detour or two.", "No step too many."),
            ),
            _graded(
                "communication",
                "Communication",
                Block.COMMUNICATION,
                ("Misleading or rude.", "Hard to follow.", "Clear.", "Clear, short and kind."),
            ),
        ],
    }


def _pair() -> dict[str, Any]:
    settings = {"form": PreferenceForm.PAIR.value, "strength": 3, "ties": TIES}
    return {
        "name": "Preference of two",
        "item_kind": ItemKind.COMPARISON.value,
        "criteria": [
            _gate("safe", "Nothing harmful", "Does it keep to the policy?", scope=Scope.CANDIDATE.value),
            new_criterion(
                CriterionKind.PREFERENCE,
                key="better",
                title="Which is better",
                question="Which of the two would you rather have got?",
                levels=_options("More correct", "More complete", "Safer", "Clearer", "Shorter way"),
                settings=settings,
            ),
        ],
    }


def _ranking() -> dict[str, Any]:
    settings = {"form": PreferenceForm.RANKING.value, "strength": 0, "ties": TIES}
    return {
        "name": "Ranking",
        "item_kind": ItemKind.COMPARISON.value,
        "criteria": [
            _gate("safe", "Nothing harmful", "Does it keep to the policy?", scope=Scope.CANDIDATE.value),
            new_criterion(CriterionKind.PREFERENCE, key="order", title="From best to worst", settings=settings),
        ],
    }


def _steps() -> dict[str, Any]:
    return {
        "name": "Step labels",
        "step_labels": step_words(),
        "criteria": [
            new_criterion(
                CriterionKind.BINARY, key="solved", title="Solved", question="Is what it ends with what was asked for?"
            )
        ],
    }


def _task_review() -> dict[str, Any]:
    return {
        "name": "Task review",
        "item_kind": ItemKind.TASK.value,
        "criteria": [
            _gate("solvable", "Solvable", "Can it be done with the tools and data that there are?"),
            _gate("checked_rightly", "Checked rightly", "Does its verifier accept what is right and nothing else?"),
            new_criterion(
                CriterionKind.CHOICE,
                key="difficulty",
                title="Difficulty",
                question="How hard is it for somebody of the trade?",
                levels=_options("Routine", "Takes thought", "Hard", "Only for the best"),
            ),
            new_criterion(
                CriterionKind.MULTI_CHOICE,
                key="flaws",
                title="Flaws",
                levels=_options("Ambiguous", "Gives itself away", "Can be gamed", "Out of date"),
                required=False,
            ),
            new_criterion(
                CriterionKind.NUMBER,
                key="minutes",
                title="Time for a person",
                settings={"min": 0, "unit": "minutes", "tolerance": 5},
                required=False,
            ),
        ],
    }


def _correction() -> dict[str, Any]:
    return {
        "name": "Correction",
        "correction": CorrectionRule.ON_FAIL.value,
        "criteria": [
            _gate("consent", "Consent before action", "Was there a yes before each action that changes something?"),
            _gate("solved", "Solved", "Did the requester get what was asked for?"),
            new_criterion(
                CriterionKind.BINARY,
                key="near",
                title="Could have been better still",
                question="Is there a step that a person of the trade would have done otherwise?",
                evidence=EvidenceRule.NEVER.value,
            ),
        ],
    }


# Name in the address, name on the page, what it is for, and the rubric.
STARTS: dict[str, tuple[str, str, Callable[[], dict[str, Any]]]] = {
    "support-desk": ("Support desk run", "gates, then four-level grades of one run", _support_desk),
    "pair": ("Preference of two", "gates for each side, one preferred with strength and reasons", _pair),
    "ranking": ("Ranking", "several runs from best to worst, ties allowed", _ranking),
    "steps": ("Step labels", "good, neutral or error, step by step", _steps),
    "task": ("Task review", "is the task solvable, checked rightly, how hard", _task_review),
    "correction": ("Correction", "what the agent should have done instead", _correction),
}


def started(name: str) -> dict[str, Any]:
    """The rubric that a starting point gives, complete; {} where there is none of this name."""
    if name not in STARTS:
        return {}
    blank: dict[str, Any] = {"item_kind": ItemKind.TRAJECTORY.value, "unsure_allowed": False, "step_labels": {}}
    blank |= {"correction": CorrectionRule.NEVER.value, "marks": []}
    return blank | STARTS[name][2]()
