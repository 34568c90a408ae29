"""Every kind of question and item through the one submit path: what holds is kept, what does not is named."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.payloads import read_judgment, subject_of_assignment
from reviews.errors import Invalid
from reviews.models import Assignment, Criterion, Judgment, Label
from reviews.queries.payloads import payload_of
from tests import factories as make

pytestmark = pytest.mark.django_db

WORDS = [{"value": 0, "name": "None"}, {"value": 1, "name": "Minor"}, {"value": 2, "name": "Serious"}]
TAGS = [{"value": 1, "name": "Shorter"}, {"value": 2, "name": "Better grounded"}]
KINDS = [
    {"key": "safe", "title": "Safe", "kind": "gate"},
    {"key": "polite", "title": "Polite", "kind": "binary"},
    {"key": "harm", "title": "Harm", "kind": "choice", "levels": WORDS},
    {
        "key": "what",
        "title": "What harm",
        "kind": "text",
        "condition": {"criterion": "harm", "values": [1, 2]},
    },
    {"key": "seen", "title": "Seen", "kind": "multi_choice", "levels": TAGS, "required": False},
    {"key": "minutes", "title": "Minutes", "kind": "number", "settings": {"min": 0, "max": 60, "unit": "min"}},
]
ANSWERS = {
    "gates": {"safe": "pass"},
    "criteria": {"polite": True, "harm": 0, "minutes": 4.5},
    "confidence": 2,
}


def preference(form="pair", **changes):
    return {
        "key": "better",
        "title": "Which is better",
        "kind": "preference",
        "levels": TAGS,
        "settings": {"form": form, "strength": 3 if form == "pair" else 0, "ties": ["equally_good", "equally_bad"]},
        **changes,
    }


AUTHORISED = {"key": "authorised", "title": "Authorised", "kind": "gate", "scope": "candidate"}
FAILURE = {"step": 3, "who": "agent", "cause": "unauthorised_access", "note": ""}
PASS, FAIL = {"gates": {"authorised": "pass"}}, {"gates": {"authorised": "fail"}, "failure": FAILURE}


def assigned(project, name="Alice", **queue):
    return claim(actor=make.expert(project, name), queue=make.queue(project, **queue))


def comparing(project, *criteria, candidates=2, name="Alice", **queue):
    return assigned(
        project,
        name,
        items=[make.comparison(project, candidates)],
        criteria=list(criteria),
        rubric={"item_kind": "comparison"},
        **queue,
    )


def submitted(assignment, payload):
    receipt = submit(actor=assignment.rater, uid=assignment.uid, payload=payload, idempotency_key="k")
    return Judgment.objects.get(pk=receipt.judgment.pk)


def errors_of(assignment, payload):
    with pytest.raises(Invalid) as refused:
        submitted(assignment, payload)
    assert not Judgment.objects.filter(assignment=assignment).exists()
    return refused.value.errors


def seen_by(assignment, position):
    """The place on the rater's screen of the candidate at a position of the item."""
    return assignment.candidate_order.index(position) + 1


# --- Kinds of question ------------------------------------------------------------------------------------------------
def test_each_kind_of_answer_is_kept_and_reads_back_as_it_was_sent(project):
    judgment = submitted(assigned(project, criteria=KINDS), ANSWERS)
    assert {r.criterion.key: r.words for r in judgment.ratings.all()} == {
        "safe": "Pass",
        "polite": "Yes",
        "harm": "None",
        "minutes": "4.5 min",
    }
    payload = payload_of(judgment)
    assert (payload["gates"], payload["criteria"]) == (ANSWERS["gates"], ANSWERS["criteria"])


def test_a_question_is_asked_only_where_its_condition_holds(project):
    mine = assigned(project, criteria=KINDS)
    serious = ANSWERS | {"criteria": ANSWERS["criteria"] | {"harm": 2}}
    assert list(errors_of(mine, serious)) == ["criteria.what"]
    not_asked = ANSWERS | {"criteria": ANSWERS["criteria"] | {"what": "It burnt."}}
    assert list(errors_of(mine, not_asked)) == ["criteria.what"]
    serious["criteria"]["what"] = "It burnt."
    assert submitted(mine, serious).ratings.get(criterion__key="what").text == "It burnt."


def test_a_note_needs_an_answer_to_stand_beside(project):
    mine = assigned(project, criteria=[*KINDS[:-1], {**KINDS[-1], "required": False}])
    noted = {"notes": {"minutes": "Hard to say.", "polite": "Very.", "what": ""}}
    given = {key: value for key, value in ANSWERS["criteria"].items() if key != "minutes"}
    assert list(errors_of(mine, {**ANSWERS, "criteria": given, **noted})) == ["notes.minutes"]
    assert submitted(mine, ANSWERS | noted).ratings.get(criterion__key="minutes").note == "Hard to say."


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("polite", 1),
        ("polite", "true"),
        ("harm", 3),
        ("harm", True),
        ("harm", None),
        ("seen", [1, 1]),
        ("seen", [9]),
        ("seen", 1),
        ("seen", "12"),
        ("minutes", 61),
        ("minutes", -1),
        ("minutes", "4"),
        ("minutes", float("inf")),
        ("minutes", 10**40),
        ("minutes", True),
    ],
)
def test_what_a_kind_does_not_take_is_named_at_its_field(project, key, value):
    mine = assigned(project, criteria=KINDS)
    assert list(errors_of(mine, ANSWERS | {"criteria": ANSWERS["criteria"] | {key: value}})) == [f"criteria.{key}"]


def test_no_quality_of_any_kind_stands_beside_a_failed_gate(project):
    mine = assigned(project, criteria=KINDS)
    payload = ANSWERS | {"gates": {"safe": "fail"}, "failure": FAILURE}
    assert set(errors_of(mine, payload)) == {f"criteria.{key}" for key in ANSWERS["criteria"]}


def test_an_item_brings_criteria_of_its_own(project):
    item = make.item(project)
    Criterion.objects.create(item=item, key="refund_64", title="Refunds exactly $64.20", kind="binary", position=1)
    mine = assigned(project, items=[item], criteria=KINDS)
    assert list(errors_of(mine, ANSWERS)) == ["criteria.refund_64"]
    judgment = submitted(mine, ANSWERS | {"criteria": ANSWERS["criteria"] | {"refund_64": True}})
    assert judgment.ratings.get(criterion__item=item).value == 1


# --- Labels of steps --------------------------------------------------------------------------------------------------
STEP_WORDS = [{"value": 1, "name": "Correct"}, {"value": 0, "name": "Neutral"}, {"value": -1, "name": "Incorrect"}]


def labelling(project, name="Alice", **labels):
    return assigned(project, name, items=1, rubric={"step_labels": {"words": STEP_WORDS, **labels}}, overlap=1)


def test_every_step_of_the_agent_is_labelled(project):
    mine = labelling(project)  # steps 2, 3 and 4 are the agent's, step 1 the requester's
    assert errors_of(mine, make.passing()) == {"steps": "Label every step: 2, 3, 4 are missing."}
    assert list(errors_of(mine, make.passing(steps={"1": 1, "2": 1, "3": 1, "4": 1}))) == ["steps.1"]
    assert list(errors_of(mine, make.passing(steps={"2": 5, "3": 1, "4": 1}))) == ["steps.2"]
    judgment = submitted(mine, make.passing(steps={"2": 0, "3": -1, "4": 1}))
    assert [(label.step, label.value) for label in judgment.step_labels.all()] == [(2, 0), (3, -1), (4, 1)]
    assert payload_of(judgment)["steps"] == {"2": 0, "3": -1, "4": 1}


@pytest.mark.parametrize("again", ["02", " 2", "2 ", "+2", "2.0", "2e0", "٢", "²", "-2", "0x2"])
def test_a_step_has_one_label_however_its_number_is_written(project, again):
    assert list(errors_of(labelling(project), make.passing(steps={"2": 1, "3": 1, "4": 1, again: -1}))) == [
        f"steps.{again}"
    ]


def test_behind_the_first_error_steps_may_stay_without_a_label(project):
    mine = labelling(project, until_first=True)
    assert errors_of(mine, make.passing(steps={"3": -1})) == {"steps": "Label every step: 2 is missing."}
    assert submitted(mine, make.passing(steps={"2": 1, "3": -1})).step_labels.count() == 2


def test_labels_of_steps_settle_with_the_item(project):
    mine = labelling(project)
    submitted(mine, make.passing(steps={"2": 0, "3": -1, "4": 1}))
    assert [(s.step, s.value, s.basis) for s in Label.objects.get(item=mine.item).steps.all()] == [
        (2, 0, "unanimous"), (3, -1, "unanimous"), (4, 1, "unanimous"),
    ]  # fmt: skip


def test_where_two_label_a_step_differently_a_lead_decides(project):
    queue = make.queue(project, items=1, rubric={"step_labels": {"words": STEP_WORDS}}, overlap=2)
    for name, value in (("Alice", 1), ("Bob", -1)):
        mine = claim(actor=make.expert(project, name), queue=queue)
        submitted(mine, make.passing(steps={"2": 0, "3": value, "4": 1}))
    assert (queue.queue_items.get().state, queue.queue_items.get().waits_for) == ("waiting", "disagreement")


# --- Preferences ------------------------------------------------------------------------------------------------------
def test_over_the_raters_of_an_item_each_candidate_stands_in_each_place(project):
    item = make.comparison(project, 3)
    queue = make.queue(
        project, items=[item], criteria=[preference("ranking")], rubric={"item_kind": "comparison"}, overlap=3
    )
    orders = [claim(actor=make.expert(project, name), queue=queue).candidate_order for name in ("Alice", "Bob", "Cy")]
    assert [sorted(column) for column in zip(*orders, strict=True)] == [[1, 2, 3]] * 3


def test_a_run_that_is_judged_alone_has_no_order(project):
    assert assigned(project).candidate_order is None


@pytest.mark.parametrize("better", [1, 2])
def test_a_preference_is_kept_by_candidate_whatever_the_order_on_the_screen(project, better):
    mine = comparing(project, preference())
    answer = {"prefers": seen_by(mine, better), "strength": 2, "reasons": [2]}
    judgment = submitted(mine, {"criteria": {"better": answer}, "confidence": 3})
    rating = judgment.ratings.get()
    assert (rating.ranks, rating.value, rating.choices) == (([1, 2], -2, [2]) if better == 1 else ([2, 1], 2, [2]))
    assert payload_of(judgment)["criteria"]["better"] == answer


def test_two_that_are_level_say_how(project):
    judgment = submitted(
        comparing(project, preference()), {"criteria": {"better": {"tie": "equally_bad"}}, "confidence": 1}
    )
    rating = judgment.ratings.get()
    assert (rating.ranks, rating.value, rating.tie, rating.words) == ([1, 1], 0, "equally_bad", "Equally bad")


@pytest.mark.parametrize(
    ("answer", "field"),
    [
        ({}, ""),
        ("A", ""),
        ({"prefers": 3, "strength": 1}, ".prefers"),
        ({"prefers": 1}, ".strength"),
        ({"prefers": 1, "strength": 4}, ".strength"),
        ({"prefers": 1, "strength": 1, "tie": "equally_good"}, ".tie"),
        ({"tie": "both_fail"}, ".tie"),
        ({"prefers": 1, "strength": 1, "reasons": [7]}, ".reasons"),
        ({"prefers": 1, "strength": 1, "ranks": [1, 2]}, ".ranks"),
    ],
)
def test_a_preference_that_does_not_hold_is_named(project, answer, field):
    mine = comparing(project, preference())
    assert list(errors_of(mine, {"criteria": {"better": answer}, "confidence": 3})) == [f"criteria.better{field}"]


def test_where_one_side_fails_a_gate_the_other_is_preferred_without_strength(project):
    mine = comparing(project, AUTHORISED, preference())
    sides = [FAIL if position == 1 else PASS for position in mine.candidate_order]
    said = {"criteria": {"better": {"prefers": 1, "strength": 1}}, "candidates": sides, "confidence": 3}
    assert list(errors_of(mine, said)) == ["criteria.better"]
    judgment = submitted(mine, {"candidates": sides, "confidence": 3})
    rating = judgment.ratings.get(criterion__key="better")
    assert (rating.ranks, rating.value, rating.tie) == ([2, 1], None, "")
    assert [(f.candidate, f.failure_step) for f in judgment.candidate_failures.all()] == [(1, 3)]
    payload = payload_of(judgment)
    assert payload["candidates"] == [{**side, "criteria": {}} for side in sides]
    assert "better" not in payload["criteria"]


def test_where_both_fail_nothing_is_preferred(project):
    judgment = submitted(comparing(project, AUTHORISED, preference()), {"candidates": [FAIL, FAIL], "confidence": 3})
    rating = judgment.ratings.get(criterion__key="better")
    assert (rating.ranks, rating.value, rating.tie) == ([1, 1], None, "both_fail")


def test_a_failed_candidate_names_its_failure_point(project):
    mine = comparing(project, AUTHORISED, preference())
    sides = [{"gates": {"authorised": "fail"}}, PASS]
    assert list(errors_of(mine, {"candidates": sides, "confidence": 3})) == ["candidates.1.failure"]


def test_a_ranking_puts_those_that_fail_below_all_that_pass(project):
    mine = comparing(project, AUTHORISED, preference("ranking"), candidates=4)
    sides = [FAIL if position in (2, 4) else PASS for position in mine.candidate_order]
    ranks = [None if position in (2, 4) else (1 if position == 3 else 2) for position in mine.candidate_order]
    judgment = submitted(mine, {"criteria": {"better": {"ranks": ranks}}, "candidates": sides, "confidence": 3})
    assert judgment.ratings.get(criterion__key="better").ranks == [2, 3, 1, 3]
    assert payload_of(judgment)["criteria"]["better"] == {"ranks": ranks}


def test_best_and_worst_leave_the_others_between(project):
    mine = comparing(project, preference("best_worst"), candidates=4)
    answer = {"best": seen_by(mine, 4), "worst": seen_by(mine, 1)}
    judgment = submitted(mine, {"criteria": {"better": answer}, "confidence": 3})
    assert judgment.ratings.get().ranks == [3, 2, 2, 1]
    assert payload_of(judgment)["criteria"]["better"] == answer
    again = comparing(project, preference("best_worst"), candidates=3, name="Bob")
    assert list(errors_of(again, {"criteria": {"better": {"best": 1, "worst": 1}}, "confidence": 3})) == [
        "criteria.better.worst"
    ]


def test_evidence_points_into_a_candidate_as_the_rater_sees_it(project):
    mine = comparing(project, AUTHORISED, preference())
    cited = {"criterion": "authorised", "candidate": 2, "step": 3}
    sides = {"candidates": [PASS, PASS], "criteria": {"better": {"prefers": 1, "strength": 1}}, "confidence": 3}
    assert list(errors_of(mine, sides | {"evidence": [{"criterion": None, "step": 3}]})) == ["evidence.0"]
    judgment = submitted(mine, sides | {"evidence": [cited]})
    assert judgment.evidence.get().candidate == mine.candidate_order[1]
    assert payload_of(judgment)["evidence"] == [cited]


def test_two_raters_who_prefer_the_same_settle_it_whatever_they_saw_first(project):
    item = make.comparison(project)
    rubric = {"item_kind": "comparison"}
    queue = make.queue(project, items=[item], criteria=[preference()], rubric=rubric, overlap=2)
    for name, reasons in (("Alice", [1]), ("Bob", [2])):
        mine = claim(actor=make.expert(project, name), queue=queue)
        answer = {"prefers": seen_by(mine, 2), "strength": 1, "reasons": reasons}
        submitted(mine, {"criteria": {"better": answer}, "confidence": 3})
    value = Label.objects.get(item=item).values.get()
    assert (value.ranks, value.value, value.basis) == ([2, 1], 1, "unanimous")


def test_a_queue_takes_only_items_of_its_rubrics_kind(project):
    queue = make.queue(
        project,
        items=[make.item(project), make.comparison(project)],
        criteria=[preference()],
        rubric={"item_kind": "comparison"},
    )
    assert [row.item.kind for row in queue.queue_items.all()] == ["comparison"]


# --- Whatever is sent -------------------------------------------------------------------------------------------------
words = st.sampled_from(["pass", "fail", "unsure", None, 1])
numbers = st.sampled_from([0, 1, 2, 3, -1, True, None, "1", [1], {}])
sides = st.fixed_dictionaries(
    {}, optional={"gates": st.fixed_dictionaries({"authorised": words}), "failure": st.just(FAILURE), "x": numbers}
)
preferences = st.none() | st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("prefers", "strength", "tie", "ranks", "best", "worst", "reasons"), numbers)
)
payloads = st.fixed_dictionaries(
    {"confidence": st.just(2)},
    optional={
        "candidates": st.lists(sides, max_size=3) | numbers,
        "criteria": st.fixed_dictionaries({}, optional={"better": preferences}) | numbers,
        "evidence": st.lists(
            st.fixed_dictionaries(
                {"criterion": st.just("authorised")}, optional={"candidate": numbers, "step": numbers}
            ),
            max_size=2,
        ),
        "steps": st.dictionaries(st.text(max_size=3), numbers, max_size=2),
    },
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(payload=payloads)
@pytest.mark.parametrize("form", ["pair", "ranking", "best_worst"])
def test_no_sequence_of_answers_prefers_a_candidate_that_fails_over_one_that_passes(project, form, payload):
    mine = Assignment.objects.filter(queue__project=project).first() or comparing(project, AUTHORISED, preference(form))
    try:
        answers = read_judgment(payload, subject=subject_of_assignment(mine))
    except Invalid as refused:
        named = list(refused.errors.values())
    else:
        named = []
    if named:
        assert all(isinstance(sentence, str) and sentence for sentence in named)
        return
    passes = {a.candidate: a.value == 1 for a in answers.values if a.criterion.is_gate}
    assert len(passes) == 2
    assert len({(a.criterion, a.candidate) for a in answers.values}) == len(answers.values)
    ranks = next(a.ranks for a in answers.values if a.criterion.kind == "preference")
    if passes[1] != passes[2]:
        assert (ranks[0] < ranks[1]) == passes[1]
    elif not passes[1]:
        assert ranks == (1, 1)
