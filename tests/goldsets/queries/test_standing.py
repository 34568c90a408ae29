"""What gold says of a rater, and agreement without it."""

import pytest

from goldsets.actions.gold import set_gold_rate
from goldsets.models import GoldItem, GoldPlacement
from goldsets.queries.agreement import queue_agreement
from goldsets.queries.standing import queue_standing
from reviews.actions.dealing import NothingToDeal, claim
from reviews.actions.judging import submit
from reviews.actions.queueing import add_items
from reviews.enums import Role
from reviews.models import Judgment, Membership, QueueItem
from reviews.stats.result import Reason
from tests import factories as make

pytestmark = pytest.mark.django_db


def queue_with_gold(project, *, gold, plain, tolerance=1):
    """Gold settled by Gwen and George, who pass every gate and give success 3 and process 2; then plain runs."""
    queue = make.queue(project, items=gold, overlap=2)
    for name in ("Gwen", "George"):
        judge_all(queue, make.expert(project, name))
    lead = make.lead_of(project)
    for queue_item in QueueItem.objects.filter(queue=queue):
        make.gold(queue_item, tolerance=tolerance)
    add_items(actor=lead, queue=queue, items=[make.item(project) for _ in range(plain)])
    set_gold_rate(actor=lead, queue=queue, rate="0.5")
    return queue


def judge_all(queue, rater, *, on_gold=()):
    """Everything the rater can get: plain runs pass, gold is answered with these payloads in turn."""
    answers = list(on_gold)
    while True:
        try:
            assignment = claim(actor=rater, queue=queue)
        except NothingToDeal:
            return
        is_gold = GoldPlacement.objects.filter(assignment=assignment).exists()
        payload = answers.pop(0) if is_gold and answers else make.passing()
        submit(actor=rater, uid=assignment.uid, payload=payload, idempotency_key="k")


def standing_of(queue, rater):
    return next(standing for standing in queue_standing(queue) if standing.rater_id == rater.pk)


def test_right_means_equal_gates_and_levels_within_tolerance(project):
    """The label passes all gates, with success 3 and process 2. Equal and one level off are right, else wrong."""
    queue = queue_with_gold(project, gold=4, plain=30)
    alice = make.expert(project, "Alice")
    judge_all(
        queue,
        alice,
        on_gold=[make.passing(3, 2), make.passing(2, 3), make.passing(1, 2), make.failing()],
    )
    standing = standing_of(queue, alice)
    assert (standing.gold_n, standing.gold_right) == (4, 2)
    assert standing.accuracy.value == 0.5
    # Wilson's interval of 2 of 4, Newcombe's formula.
    assert (standing.accuracy.low, standing.accuracy.high) == pytest.approx((0.1500, 0.8500), abs=1e-4)
    assert standing.accuracy.method == "95% Wilson"
    on = {entry.key: (entry.right, entry.n) for entry in standing.criteria}
    assert on == {"authorised": (3, 4), "consent": (4, 4), "success": (2, 3), "process": (3, 3)}
    assert len(standing.missed) == 2
    assert standing.n_judgments == 34


def test_without_tolerance_a_level_off_is_wrong(project):
    queue = queue_with_gold(project, gold=2, plain=12, tolerance=0)
    alice = make.expert(project, "Alice")
    judge_all(queue, alice, on_gold=[make.passing(3, 2), make.passing(2, 2)])
    assert standing_of(queue, alice).gold_right == 1


def test_who_has_met_no_gold_has_the_whole_interval(project):
    queue = make.queue(project, items=2)
    alice = make.expert(project, "Alice")
    standing = standing_of(queue, alice)
    assert (standing.gold_n, standing.accuracy.value) == (0, None)
    assert (standing.accuracy.low, standing.accuracy.high) == (0.0, 1.0)
    assert (standing.median_seconds, standing.with_others, standing.alpha_change) == (None, None, None)


def test_a_gold_item_in_hand_is_not_yet_counted(project):
    queue = queue_with_gold(project, gold=1, plain=12)
    alice = make.expert(project, "Alice")
    while not GoldPlacement.objects.filter(rater=alice).exists():
        assignment = claim(actor=alice, queue=queue)
        if not GoldPlacement.objects.filter(assignment=assignment).exists():
            submit(actor=alice, uid=assignment.uid, payload=make.passing(), idempotency_key="k")
    assert standing_of(queue, alice).gold_n == 0


def test_agreement_leaves_gold_out(project):
    """Alice fails on all gold; agreement rests on what Gwen and George said of those runs, and is full."""
    queue = queue_with_gold(project, gold=10, plain=60)
    alice = make.expert(project, "Alice")
    judge_all(queue, alice, on_gold=[make.failing()] * 10)
    met = GoldPlacement.objects.filter(rater=alice).count()
    assert met >= 5
    agreement = queue_agreement(queue)
    gate = agreement.criteria[0]
    assert agreement.n_left_out == met
    assert (gate.percent.value, gate.n_disagreed, gate.percent.n_units) == (1.0, 0, 10)
    assert standing_of(queue, alice).gold_right == 0


def test_a_retired_gold_item_still_counts(project):
    queue = queue_with_gold(project, gold=1, plain=8)
    alice = make.expert(project, "Alice")
    judge_all(queue, alice)
    GoldItem.objects.filter(queue=queue).update(state="retired")
    assert standing_of(queue, alice).gold_n == 1


def test_leads_see_who_has_met_all_gold(project):
    queue = queue_with_gold(project, gold=1, plain=12)
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob")
    judge_all(queue, alice)
    assert standing_of(queue, alice).all_gold_seen
    assert not standing_of(queue, bob).all_gold_seen


def test_the_list_holds_experts_and_whoever_judged_by_name(project):
    queue = make.queue(project, items=1)
    charlie = make.expert(project, "Charlie", simulated=True)
    alice = make.expert(project, "Alice")
    judge_all(queue, charlie)
    Membership.objects.filter(user=charlie).update(active=False)
    bob = make.expert(project, "Bob")
    Membership.objects.filter(user=bob).update(active=False)
    make.member(project, make.person("Eve"), Role.ENGINEER)
    standings = queue_standing(queue)
    assert [(standing.rater, standing.active, standing.simulated) for standing in standings] == [
        ("Alice", True, False),
        ("Charlie", False, True),
    ]
    assert standings[0].rater_id == alice.pk


def test_the_median_is_of_active_seconds(project):
    queue = make.queue(project, items=3)
    alice = make.expert(project, "Alice")
    for assignment_seconds in (10, 40, 900):
        assignment = claim(actor=alice, queue=queue)
        type(assignment).objects.filter(pk=assignment.pk).update(active_seconds=assignment_seconds)
        submit(actor=alice, uid=assignment.uid, payload=make.passing(), idempotency_key="k")
    seconds = sorted(Judgment.objects.filter(rater=alice).values_list("active_seconds", flat=True))
    median = standing_of(queue, alice).median_seconds
    assert (median.value, median.n_units, median.reason) == (seconds[1], 3, Reason.BELOW_FLOOR)
