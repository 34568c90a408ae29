"""The same item twice to the same rater: by chance, after others, unmarked, and for nothing but what it is for."""

import itertools

import krippendorff
import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from goldsets.queries.leaving import supporting_judgments
from reviews.actions.adjudicating import adjudicate
from reviews.actions.correcting import correct
from reviews.actions.dealing import NothingToDeal, claim, expire_leases, release
from reviews.actions.judging import submit
from reviews.actions.queueing import change_queue
from reviews.enums import AssignmentState, QueueItemState
from reviews.errors import Invalid
from reviews.models import Assignment, Judgment, Label, QueueItem, Slot
from reviews.queries.disagreements import inbox
from reviews.queries.repeats import within
from reviews.stats.result import Reason
from tests import factories as make

pytestmark = pytest.mark.django_db

# Two thirds of them are as many as a figure needs; half of them is a whole number too.
TWICE = 18
WORDS = [{"value": 1, "name": "Correct"}, {"value": 0, "name": "Neutral"}, {"value": -1, "name": "Incorrect"}]


def queue_with_repeats(project, *, items=25, after=3, overlap=1, **settings):
    return make.queue(project, items=items, overlap=overlap, repeat_rate=0.3, repeat_after=after, **settings)


def judged(queue, rater, payload_of=lambda assignment: make.passing()):
    """Everything the rater can get, in the order in which it came."""
    dealt = []
    while True:
        try:
            assignment = claim(actor=rater, queue=queue)
        except NothingToDeal:
            return dealt
        submit(actor=rater, uid=assignment.uid, payload=payload_of(assignment), idempotency_key="k")
        dealt.append(assignment)


def claimed(queue, rater, *, occasion):
    """A claim that chance made one of a first or a second occasion."""
    while True:
        before = transaction.savepoint()
        assignment = claim(actor=rater, queue=queue)
        if assignment.occasion == occasion:
            return assignment
        transaction.savepoint_rollback(before)


def ready(queue, rater, count=6):
    """So many items judged, so that the first of them may come again."""
    for _ in range(count):
        mine = claimed(queue, rater, occasion=1)
        submit(actor=rater, uid=mine.uid, payload=make.passing(), idempotency_key="k")


def judged_twice(queue, rater, payload_of):
    """`TWICE` items judged a second time, each after another one."""
    for occasion in (1, *(1, 2) * TWICE):
        mine = claimed(queue, rater, occasion=occasion)
        submit(actor=rater, uid=mine.uid, payload=payload_of(mine), idempotency_key="k")


# --- What comes again, and when ---------------------------------------------------------------------------------------
def test_alice_judges_every_item_once_and_some_of_them_again_after_others(project, alice):
    dealt = []
    while not any(mine.occasion == 2 for mine in dealt):  # chance may repeat none in a queue
        dealt = judged(queue_with_repeats(project), alice)
    first = [mine.item_id for mine in dealt if mine.occasion == 1]
    again = [mine.item_id for mine in dealt if mine.occasion == 2]
    assert len(first) == len(set(first)) == 25
    assert len(again) == len(set(again))
    for place, mine in enumerate(dealt):
        if mine.occasion == 2:
            between = dealt[[one.item_id for one in dealt].index(mine.item_id) + 1 : place]
            assert sum(one.occasion == 1 for one in between) >= 3
    assert dealt[-1].occasion == 1, "what comes again never comes last, or it would tell that the queue is empty"


def test_a_label_rests_on_what_was_said_first(project, alice):
    queue, bob = queue_with_repeats(project, items=9, overlap=2, after=5), make.expert(project, "Bob")
    ready(queue, alice)
    again = claimed(queue, alice, occasion=2)
    submit(actor=alice, uid=again.uid, payload=make.passing(), idempotency_key="k")
    judged(queue, bob)
    assert Label.objects.filter(queue=queue, item=again.item_id).exists()
    behind = supporting_judgments([queue.pk], [again.item_id])
    assert sorted((judgment.rater_id, judgment.occasion) for judgment in behind) == [(alice.pk, 1), (bob.pk, 1)]


def test_a_queue_that_does_not_ask_for_it_repeats_nothing(project, alice):
    dealt = judged(make.queue(project, items=12, overlap=1), alice)
    assert {mine.occasion for mine in dealt} == {1}


def test_what_a_lead_has_decided_does_not_come_again(project, alice):
    queue, bob = queue_with_repeats(project, items=9, overlap=2, after=1), make.expert(project, "Bob")
    for _ in range(6):
        mine = claimed(queue, alice, occasion=1)
        submit(actor=alice, uid=mine.uid, payload=make.passing(0), idempotency_key="k")
    for _ in range(6):
        mine = claimed(queue, bob, occasion=1)
        submit(actor=bob, uid=mine.uid, payload=make.passing(3), idempotency_key="k")
    decided = QueueItem.objects.filter(queue=queue, state=QueueItemState.WAITING)
    said = {key: make.passing()[key] for key in ("gates", "criteria")}
    for row in decided:
        payload = {**said, "reasons": {"success": "rater_error"}}
        adjudicate(actor=make.lead_of(project), queue_item=row, payload=payload)
    items = set(decided.model.objects.filter(label__adjudication__isnull=False).values_list("item", flat=True))
    assert len(items) == 6
    again = {mine.item_id for mine in judged(queue, alice) if mine.occasion == 2}
    assert not again & items


def test_what_comes_again_can_be_given_back_or_run_out_and_comes_again_with_its_draft(project, alice):
    queue = queue_with_repeats(project, after=5)
    ready(queue, alice)
    mine = claimed(queue, alice, occasion=2)
    slots = list(Slot.objects.filter(queue=queue).order_by("pk").values_list("pk", "state", "place"))
    release(actor=alice, uid=mine.uid)
    once_more = claimed(queue, alice, occasion=2)
    assert once_more.pk == mine.pk
    Assignment.objects.filter(pk=mine.pk).update(expires_at=mine.leased_at)
    expire_leases(now=once_more.expires_at)
    submit(actor=alice, uid=mine.uid, payload=make.passing(), idempotency_key="k")
    assert list(Slot.objects.filter(queue=queue).order_by("pk").values_list("pk", "state", "place")) == slots


# --- What it leaves alone ---------------------------------------------------------------------------------------------
def test_it_touches_neither_overlap_nor_labels_nor_waiting_items(project, alice):
    queue = queue_with_repeats(project, overlap=2)
    judged(queue, alice, lambda mine: make.passing(3 if mine.occasion == 1 else 0))
    assert not Label.objects.exists()
    judged(queue, make.expert(project, "Bob"), lambda mine: make.passing(3 if mine.occasion == 1 else 0))
    assert set(QueueItem.objects.filter(queue=queue).values_list("state", flat=True)) == {QueueItemState.SETTLED}
    labels = Label.objects.filter(queue=queue)
    assert labels.count() == 25
    assert set(labels.values_list("judgment_count", flat=True)) == {2}
    assert not inbox(queue, make.lead_of(project)).rows
    again = Assignment.objects.filter(queue=queue, occasion=2)
    assert set(again.values_list("state", flat=True)) == {AssignmentState.SET_ASIDE}


def test_a_correction_of_it_changes_no_label(project, alice):
    queue = queue_with_repeats(project, after=5)
    ready(queue, alice)
    mine = claimed(queue, alice, occasion=2)
    receipt = submit(actor=alice, uid=mine.uid, payload=make.passing(), idempotency_key="k")
    correct(actor=alice, uid=mine.uid, payload=make.passing(0), idempotency_key="c", seen_revision=1)
    label = Label.objects.get(queue=queue, item=receipt.judgment.item)
    assert label.values.get(criterion__key="success").value == 3
    assert label.revision == 1


def test_the_database_refuses_a_second_judgment_on_an_occasion_and_a_third_occasion(project, alice):
    queue = queue_with_repeats(project, after=5)
    ready(queue, alice)
    mine = claimed(queue, alice, occasion=2)
    copies = {"queue": queue, "item": mine.item, "slot": mine.slot, "rater": alice, "expires_at": mine.expires_at}
    for occasion, state in [(2, "released"), (3, "released"), (1, "released")]:
        with pytest.raises(IntegrityError), transaction.atomic():
            Assignment.objects.create(**copies, occasion=occasion, state=state)
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.filter(pk=mine.pk).update(state=AssignmentState.SUBMITTED)


def test_both_kinds_of_claims_send_the_same_statements(project, alice):
    queue = queue_with_repeats(project, after=5)
    ready(queue, alice)
    sent = {}
    for occasion in (1, 2):
        while occasion not in sent:
            before = transaction.savepoint()
            with CaptureQueriesContext(
                connection,
            ) as queries:
                mine = claim(actor=alice, queue=queue)
            sent.setdefault(mine.occasion, len(queries))
            transaction.savepoint_rollback(before)
    assert sent[1] == sent[2]


# --- What it tells ----------------------------------------------------------------------------------------------------
def test_agreement_with_oneself_is_counted_per_criterion_and_rater(project, alice):
    """Alice says the same twice of process, and of success once in three: the share is known beforehand."""
    queue = queue_with_repeats(project, items=TWICE + 2, after=1)
    turns = itertools.cycle([3, 0, 0])
    judged_twice(queue, alice, lambda mine: make.passing(3 if mine.occasion == 1 else next(turns)))
    found = within(queue)
    assert found.n_repeats == TWICE
    on = {entry.key: entry for entry in found.criteria}
    assert on["success"].percent.value == pytest.approx(1 / 3)
    assert on["process"].percent.value == 1
    assert on["authorised"].percent.n_units == TWICE
    (rater,) = on["success"].raters
    assert (rater.rater_id, rater.n) == (alice.pk, TWICE)
    assert rater.drift.startswith("Says “0 · Poor” more often the second time")


def test_words_for_steps_and_the_first_wrong_one_are_counted_within_a_rater_too(project, alice):
    """Every other time Alice calls the tool's step wrong that she had called neutral: one step of three differs."""
    queue = queue_with_repeats(project, items=TWICE + 2, after=1, rubric={"step_labels": {"words": WORDS}})
    turns = itertools.cycle([{"2": 1, "3": 0, "4": 1}, {"2": 1, "3": -1, "4": 1}])
    first = {"2": 1, "3": 0, "4": 1}
    judged_twice(queue, alice, lambda mine: make.passing(steps=first if mine.occasion == 1 else next(turns)))
    n, changed = TWICE, TWICE // 2
    on = {entry.key: entry for entry in within(queue).criteria}
    steps = on["step_labels"]
    assert (steps.unit, steps.percent.n_units) == ("step", 3 * n)
    assert steps.percent.value == pytest.approx(1 - changed / (3 * n))
    once, twice = [1, 0, 1] * n, [1, -1, 1] * changed + [1, 0, 1] * (n - changed)
    assert steps.alpha.value == pytest.approx(
        krippendorff.alpha([once, twice], value_domain=[-1, 0, 1], level_of_measurement="ordinal")
    )
    (rater,) = steps.raters
    assert (rater.n, rater.alpha.value) == (3 * n, pytest.approx(steps.alpha.value))
    assert on["first_error:named"].percent.value == pytest.approx(1 - changed / n)
    assert on["first_error"].percent.reason == Reason.NO_PAIRS, "no first wrong step was named both times"


def test_the_failure_point_and_what_is_cited_for_it_are_counted_within_a_rater_too(project, alice):
    """She fails every run at step 3. The second time she says the same, names step 4 and cites step 2, or passes."""
    queue = queue_with_repeats(project, items=TWICE + 2, after=1)
    elsewhere = make.failing(step=4, evidence=[{"criterion": "authorised", "step": 2}])
    turns = itertools.cycle([make.failing(), elsewhere, make.passing()])
    judged_twice(queue, alice, lambda mine: make.failing() if mine.occasion == 1 else next(turns))
    n, same, moved, passed = TWICE, TWICE // 3, TWICE // 3, TWICE // 3
    on = {entry.key: entry for entry in within(queue).criteria}
    assert on["failure_step:named"].percent.value == pytest.approx(1 - passed / n)
    where = on["failure_step"]
    assert (where.percent.n_units, where.percent.value) == (same + moved, pytest.approx(same / (same + moved)))
    once, twice = [3] * (same + moved), [3] * same + [4] * moved
    assert where.alpha.value == pytest.approx(krippendorff.alpha([once, twice], level_of_measurement="interval"))
    assert (where.raters[0].kappa, where.raters[0].drift) == (None, "")
    # Of the steps cited either time, those of the same runs are cited twice; the others are two that are cited once.
    cited = on["evidence"]
    assert (cited.percent.n_units, cited.percent.n_raters) == (same + moved, 1)
    assert cited.percent.value == pytest.approx(2 * same / (2 * same + 2 * moved))


def test_a_preference_and_its_strength_are_counted_within_a_rater_too(project, alice):
    """She prefers the same candidate, wherever it stands, and every other time by two steps instead of one."""
    better = {"key": "better", "title": "Better", "kind": "preference", "settings": {"form": "pair", "strength": 3}}
    queue = make.queue(
        project,
        items=[make.comparison(project, 2) for _ in range(TWICE + 2)],
        criteria=[better],
        rubric={"item_kind": "comparison"},
        overlap=1,
        repeat_rate=0.3,
        repeat_after=1,
    )
    strengths = itertools.cycle([1, 2])

    def prefers_the_first(mine):
        place = mine.candidate_order.index(1) + 1
        strength = 1 if mine.occasion == 1 else next(strengths)
        return {"criteria": {"better": {"prefers": place, "strength": strength}}, "confidence": 3}

    judged_twice(queue, alice, prefers_the_first)
    n, on = TWICE, {entry.key: entry for entry in within(queue).criteria}
    assert on["better"].percent.value == 1
    assert on["better:strength"].percent.value == pytest.approx(1 / 2)
    once, twice = [-1] * n, [-1] * (n - n // 2) + [-2] * (n // 2)
    assert on["better:strength"].alpha.value == pytest.approx(
        krippendorff.alpha([once, twice], value_domain=list(range(-3, 4)), level_of_measurement="ordinal")
    )


def test_nothing_judged_twice_says_so_in_words(project):
    found = within(queue_with_repeats(project))
    assert found.n_repeats == 0
    assert found.criteria[0].percent.value is None
    assert found.criteria[0].percent.words


# --- Settings ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("setting", "value"), [("repeat_rate", 0.31), ("repeat_rate", -0.1), ("repeat_rate", "much"), ("repeat_after", 0)]
)
def test_a_lead_cannot_ask_for_more_than_is_sensible(project, setting, value):
    queue = make.queue(project)
    with pytest.raises(Invalid) as refused:
        change_queue(actor=make.lead_of(project), queue=queue, **{setting: value})
    assert list(refused.value.errors) == [setting]


def test_a_lead_can_begin_and_stop_it_at_any_time(project, alice):
    queue = make.queue(project, items=12, overlap=1)
    lead = make.lead_of(project)
    queue = change_queue(actor=lead, queue=queue, repeat_rate=0.3, repeat_after=1)
    ready(queue, alice, 3)
    claimed_again = claimed(queue, alice, occasion=2)
    queue = change_queue(actor=lead, queue=queue, repeat_rate=0)
    assert claim(actor=alice, queue=queue) == claimed_again, "what is in hand is finished"
    submit(actor=alice, uid=claimed_again.uid, payload=make.passing(), idempotency_key="k")
    assert {mine.occasion for mine in judged(queue, alice)} == {1}
    assert Judgment.objects.filter(occasion=2).count() == 1
