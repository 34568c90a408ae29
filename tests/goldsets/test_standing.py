"""Standing: proposed by rule, decided by a lead or the policy, and what becomes of work. One bad item fails nobody."""

from uuid import uuid4

import pytest
from django.utils import timezone

from goldsets.actions.gold import approve_gold, propose_change
from goldsets.actions.standing import (
    change_standing,
    confirm_move,
    decline_move,
    review_standings,
    set_standing_policy,
)
from goldsets.enums import MoveState, StandingState, WorkPolicy
from goldsets.models import GoldItem, GoldPlacement, Standing, StandingMove
from goldsets.queries.agreement import queue_agreement
from goldsets.queries.leaving import supporting_judgments
from goldsets.queries.standing import queue_standing, rater_page
from goldsets.tasks import review_all_standings
from reviews.actions.dealing import NothingToDeal, claim, release
from reviews.actions.judging import submit
from reviews.enums import AssignmentState, QueueItemState, SlotState
from reviews.errors import Conflict, Forbidden, Invalid, NotFound
from reviews.models import Assignment, Event, Judgment, Label, QueueItem, Slot
from tests import factories as make
from tests.factories.golden import on_gold, on_plain, queue_with_gold

pytestmark = pytest.mark.django_db

GOOD, BAD = make.passing(), make.failing()


@pytest.fixture
def lea(project):
    return make.lead_of(project)


def state_of(queue, rater):
    return Standing.objects.get(queue=queue, rater=rater).state


# --- The rule ---------------------------------------------------------------------------------------------------------
def test_two_errors_decide_nothing_and_three_in_a_row_propose_a_pause(project, alice, lea):
    queue = queue_with_gold(project, gold=3, plain=3)
    on_gold(queue, alice, BAD, BAD)
    assert review_standings(queue=queue) == []
    on_gold(queue, alice, BAD)
    (move,) = review_standings(queue=queue)
    assert (move.before, move.after, move.state) == (StandingState.ONBOARDING, StandingState.PAUSED, MoveState.PROPOSED)
    assert move.why.startswith("3 wrong of 3, failed after 3")
    assert state_of(queue, alice) == StandingState.ONBOARDING, "nothing happens until a lead says so"
    claim(actor=alice, queue=queue)
    assert review_standings(queue=queue) == [], "the same is not proposed twice"
    assert Event.objects.filter(verb="standing.proposed").count() == 1


def test_nine_right_in_a_row_pass_and_the_chart_takes_over(project, alice, lea):
    queue = queue_with_gold(project, gold=14, plain=3)
    on_gold(queue, alice, *[GOOD] * 8)
    assert review_standings(queue=queue) == []
    on_gold(queue, alice, GOOD)
    (move,) = review_standings(queue=queue)
    assert move.after == StandingState.ACTIVE
    confirm_move(actor=lea, move=move)
    assert state_of(queue, alice) == StandingState.ACTIVE
    # An error adds 4 and the chart rings at 11: two errors in a row do not, three do.
    on_gold(queue, alice, BAD, BAD)
    assert review_standings(queue=queue) == []
    on_gold(queue, alice, BAD)
    (move,) = review_standings(queue=queue)
    assert (move.before, move.after) == (StandingState.ACTIVE, StandingState.WATCHED)
    confirm_move(actor=lea, move=move)
    standing = next(row for row in queue_standing(queue) if row.rater_id == alice.pk)
    assert (standing.state, standing.test.n, standing.gold_n) == (StandingState.WATCHED, 0, 12), "a new test begins"


def test_a_proposal_that_no_longer_follows_is_overtaken(project, alice, lea):
    queue = queue_with_gold(project, gold=3, plain=3)
    on_gold(queue, alice, *[make.passing(success=0)] * 3)
    (move,) = review_standings(queue=queue)
    for gold in GoldItem.objects.filter(queue=queue):
        key = propose_change(actor=lea, gold_item=gold, also={"success": [0]}, note="Nothing was asked of it.")
        approve_gold(actor=make.second_of(project), key=key)
    move.refresh_from_db()
    assert move.state == MoveState.OVERTAKEN
    assert [entry.accuracy.value for entry in queue_standing(queue) if entry.rater_id == alice.pk] == [1.0]
    with pytest.raises(Conflict):
        confirm_move(actor=lea, move=move)


def test_who_was_paused_by_gold_that_was_wrong_is_proposed_to_come_back(project, alice, lea):
    queue = queue_with_gold(project, gold=3, plain=3)
    on_gold(queue, alice, *[make.passing(success=0)] * 3)
    confirm_move(actor=lea, move=review_standings(queue=queue)[0])
    assert review_standings(queue=queue) == []
    gold = GoldItem.objects.filter(queue=queue).first()
    key = propose_change(actor=lea, gold_item=gold, values={"success": 0}, note="It failed.")
    approve_gold(actor=make.second_of(project), key=key)
    back = StandingMove.objects.get(standing__rater=alice, state=MoveState.PROPOSED)
    assert (back.before, back.after) == (StandingState.PAUSED, StandingState.WATCHED)
    assert back.why.startswith("Gold was corrected.")
    confirm_move(actor=lea, move=back)
    assert claim(actor=alice, queue=queue)


def test_a_declined_proposal_is_not_made_again_on_the_same_answers(project, alice, lea):
    queue = queue_with_gold(project, gold=4, plain=3)
    on_gold(queue, alice, BAD, BAD, BAD)
    decline_move(actor=lea, move=review_standings(queue=queue)[0], why="These three were hard.")
    assert review_standings(queue=queue) == []
    on_gold(queue, alice, BAD)
    assert review_standings(queue=queue) == []


def test_what_a_rater_revises_later_does_not_count(project, alice):
    queue = queue_with_gold(project, gold=1, plain=3)
    (judgment,) = on_gold(queue, alice, BAD)
    later = Judgment.objects.get(pk=judgment.pk)
    later.pk, later.uid, later.revision, later.submitted_at = None, uuid4(), 2, timezone.now()
    later.save()
    for rating in judgment.ratings.all():
        rating.pk, rating.judgment, rating.value = None, later, 1
        rating.save()
    assert rater_page(queue, alice.pk).standing.gold_right == 0


# --- The policy -------------------------------------------------------------------------------------------------------
def test_by_policy_it_is_done_at_once_by_the_worker(project, alice, lea):
    queue = queue_with_gold(project, gold=3, plain=3)
    set_standing_policy(actor=lea, queue=queue, automatic=True)
    on_gold(queue, alice, BAD, BAD, BAD)
    review_all_standings()
    move = StandingMove.objects.get(standing__rater=alice)
    assert (move.state, move.decided_by, move.by_rule) == (MoveState.DONE, None, True)
    with pytest.raises(NothingToDeal, match="a lead is looking"):
        claim(actor=alice, queue=queue)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"p0": 0.3, "p1": 0.3}, "p1"),
        ({"p0": 0.0}, "p0"),
        ({"alpha": 2}, "alpha"),
        ({"alpha": 0.6, "beta": 0.5}, "beta"),
        ({"p0": 0.01, "p1": 0.9}, "p1"),
        ({"run_length": 5}, "run_length"),
        ({"work": "burn"}, "work"),
    ],
)
def test_a_policy_that_is_none_or_fails_on_one_item_is_refused(project, lea, change, field):
    queue = make.queue(project, items=0)
    with pytest.raises(Invalid) as refused:
        set_standing_policy(actor=lea, queue=queue, **change)
    assert field in refused.value.errors


def test_only_leads_decide(project, alice, lea):
    queue = queue_with_gold(project, gold=3, plain=3)
    on_gold(queue, alice, BAD, BAD, BAD)
    (move,) = review_standings(queue=queue)
    for person in (alice, make.second_of(project)):
        with pytest.raises(Forbidden):
            confirm_move(actor=person, move=move)
        with pytest.raises(Forbidden):
            decline_move(actor=person, move=move)
        with pytest.raises(Forbidden):
            change_standing(actor=person, queue=queue, rater_id=alice.pk, after="paused", why="x")
        with pytest.raises(Forbidden):
            set_standing_policy(actor=person, queue=queue, automatic=True)


def test_a_move_is_decided_once(project, alice, lea):
    queue = queue_with_gold(project, gold=3, plain=3)
    on_gold(queue, alice, BAD, BAD, BAD)
    (move,) = review_standings(queue=queue)
    confirm_move(actor=lea, move=move)
    for decide in (confirm_move, decline_move):
        with pytest.raises(Conflict):
            decide(actor=lea, move=move)


# --- A lead's own step ------------------------------------------------------------------------------------------------
def test_a_lead_may_pause_somebody_and_let_them_come_back_with_a_reason(project, alice, lea):
    queue = queue_with_gold(project, gold=1, plain=3)
    with pytest.raises(Invalid):
        change_standing(actor=lea, queue=queue, rater_id=alice.pk, after="paused", why=" ")
    told = "See you in May!"
    change_standing(actor=lea, queue=queue, rater_id=alice.pk, after="paused", why="On leave.", words=told)
    with pytest.raises(NothingToDeal, match="See you in May!"):
        claim(actor=alice, queue=queue)
    with pytest.raises(Invalid, match="cannot become"):
        change_standing(actor=lea, queue=queue, rater_id=alice.pk, after="active", why="Back.")
    change_standing(actor=lea, queue=queue, rater_id=alice.pk, after="watched", why="Back.")
    assert claim(actor=alice, queue=queue)
    with pytest.raises(NotFound):
        change_standing(actor=lea, queue=queue, rater_id=0, after="paused", why="x")


def test_who_is_paused_finishes_what_is_in_hand(project, alice, lea):
    queue = queue_with_gold(project, gold=1, plain=3)
    in_hand = claim(actor=alice, queue=queue)
    change_standing(actor=lea, queue=queue, rater_id=alice.pk, after="paused", why="A word first.")
    assert claim(actor=alice, queue=queue).pk == in_hand.pk
    submit(actor=alice, uid=in_hand.uid, payload=GOOD, idempotency_key="k")
    with pytest.raises(NothingToDeal):
        claim(actor=alice, queue=queue)


def test_a_pause_in_one_queue_is_none_in_another(project, alice, lea):
    queue, other = queue_with_gold(project, gold=1, plain=1), make.queue(project, items=1)
    change_standing(actor=lea, queue=queue, rater_id=alice.pk, after="paused", why="x")
    release(actor=alice, uid=claim(actor=alice, queue=other).uid)


# --- What becomes of the work -----------------------------------------------------------------------------------------
def paused_with_work(project, alice, lea, work):
    """Alice judges a plain item, gold rightly, two more plain items, and then gold wrongly, three times: she is paused.

    Her first plain item came while her work was still good.
    """
    queue = queue_with_gold(project, gold=4, plain=8, overlap=1)
    before = on_plain(queue, alice, GOOD) + on_gold(queue, alice, GOOD)
    after = on_plain(queue, alice, GOOD, BAD)
    on_gold(
        queue,
        alice,
        BAD,
        BAD,
        BAD,
    )
    (move,) = review_standings(queue=queue)
    return queue, before[0], after, confirm_move(actor=lea, move=move, work=work)


def test_work_is_kept_where_the_policy_says_so(project, alice, lea):
    queue, _before, after, move = paused_with_work(project, alice, lea, WorkPolicy.KEEP)
    assert move.touched == {"judgments": 0, "asked_again": 0, "to_lead": 0, "left": 0}
    assert {judgment.assignment.state for judgment in after} == {AssignmentState.SUBMITTED}
    assert QueueItem.objects.filter(queue=queue, state=QueueItemState.SETTLED).count() == 7


def test_work_is_set_aside_and_somebody_else_is_asked(project, alice, lea):
    queue, before, after, move = paused_with_work(project, alice, lea, WorkPolicy.REQUEUE)
    assert move.touched == {"judgments": 2, "asked_again": 2, "to_lead": 0, "left": 0}
    for judgment in after:
        row = QueueItem.objects.get(queue=queue, item=judgment.item_id)
        assert (row.state, row.label) == (QueueItemState.COLLECTING, None)
        assert Label.objects.filter(item=judgment.item_id).count() == 1, "the label it had is history, not undone"
        assert Slot.objects.get(queue_item=row).state == SlotState.OPEN
    before.assignment.refresh_from_db()
    assert before.assignment.state == AssignmentState.SUBMITTED, "what came before the last good answer stays"
    bob = make.expert(project, "Bob")
    again = {judgment.item_id for judgment in on_plain(queue, bob, *[make.passing(success=1)] * 7)}
    assert {judgment.item_id for judgment in after} <= again
    for judgment in after:
        label = QueueItem.objects.get(queue=queue, item=judgment.item_id).label
        assert (label.revision, label.values.get(criterion__key="success").value) == (2, 1)
        (supports,) = supporting_judgments([queue.pk], [judgment.item_id])
        assert supports.rater == bob
    assert (
        queue_agreement(queue).n_judgments
        == Judgment.objects.filter(queue=queue).exclude(assignment__gold_placement__isnull=False).count() - 2
    )


def test_work_is_sent_to_a_lead(project, alice, lea):
    queue, _before, after, move = paused_with_work(project, alice, lea, WorkPolicy.ADJUDICATE)
    assert move.touched == {"judgments": 2, "asked_again": 0, "to_lead": 2, "left": 0}
    for judgment in after:
        row = QueueItem.objects.get(queue=queue, item=judgment.item_id)
        assert (row.state, row.waits_for, row.label) == (QueueItemState.WAITING, "check", None)


def test_set_aside_work_of_an_unsettled_item_counts_no_more(project, alice, lea):
    queue = queue_with_gold(project, gold=3, plain=3, overlap=2)
    (judgment,) = on_plain(queue, alice, BAD)
    on_gold(queue, alice, BAD, BAD, BAD)
    confirm_move(actor=lea, move=review_standings(queue=queue)[0], work=WorkPolicy.REQUEUE)
    row = QueueItem.objects.get(queue=queue, item=judgment.item_id)
    assert row.state == QueueItemState.COLLECTING
    for name in ("Bob", "Charlie"):
        rater = make.expert(project, name)
        on_plain(queue, rater, *[GOOD] * 3)
    row.refresh_from_db()
    assert (row.state, row.label.judgment_count) == (QueueItemState.SETTLED, 2)
    assert row.label.values.get(criterion__key="authorised").value == 1


def test_gold_stays_gold_whoever_made_its_label(project, lea):
    """Gwen's judgments made the labels of the gold; when she is paused they stand: two people approved them since."""
    queue = queue_with_gold(project, gold=2, plain=2)
    gwen = Judgment.objects.filter(queue=queue).first().rater
    change_standing(actor=lea, queue=queue, rater_id=gwen.pk, after="paused", why="x", work=WorkPolicy.REQUEUE)
    assert QueueItem.objects.filter(queue=queue, state=QueueItemState.SETTLED).count() == 2


def test_a_set_aside_judgment_looks_to_its_rater_as_before(project, alice, lea):
    _queue, _before, after, _move = paused_with_work(project, alice, lea, WorkPolicy.REQUEUE)
    receipt = submit(actor=alice, uid=after[0].assignment.uid, payload=GOOD, idempotency_key="again")
    assert (receipt.created, receipt.judgment) == (False, after[0])


def test_every_step_of_it_is_an_event(project, alice, lea):
    paused_with_work(project, alice, lea, WorkPolicy.REQUEUE)
    verbs = set(Event.objects.filter(project=project).values_list("verb", flat=True))
    assert {"standing.proposed", "standing.changed", "rater.paused", "work.set_aside", "item.reopened"} <= verbs
    assert Assignment.objects.filter(rater=alice, state=AssignmentState.SET_ASIDE).count() == 2
    assert GoldPlacement.objects.filter(rater=alice).count() == 4


# --- What a lead sees -------------------------------------------------------------------------------------------------
def test_standing_says_how_a_rater_errs_on_each_criterion(project, alice):
    queue = queue_with_gold(project, gold=7, plain=3, tolerance=0)
    on_gold(queue, alice, *[make.passing(success=2)] * 6, make.failing())
    on = {entry.key: entry for entry in rater_page(queue, alice.pk).standing.criteria}
    success, gate = on["success"], on["authorised"]
    assert (success.right, success.n, gate.right, gate.n) == (0, 6, 6, 7)
    assert [(mixed.expected, mixed.said, mixed.n) for mixed in success.confused] == [("3 Strong", "2 Sound", 6)]
    # Six below and none above: one degree of freedom, chi-squared 6, P = .0143. One gate too strict: McNemar's P is 1.
    assert (success.lean.kinder, success.lean.stricter) == (0, 6)
    assert success.lean.p == pytest.approx(0.01431, abs=1e-5)
    assert (success.lean.short, gate.lean.p, gate.lean.short) == ("stricter", 1.0, "stricter, which may be chance")
    assert on["process"].lean.p is None
    assert "differ" in on["process"].lean.words
