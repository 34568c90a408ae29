"""Agreement from judgments in the database: what counts, on which scale, and which runs stand behind a number."""

import krippendorff
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from reviews.actions.adjudicating import adjudicate
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.models import Assignment, Item, Judgment, QueueItem, Rating, Step, Trajectory
from reviews.queries.agreement import agreement
from reviews.queries.answers import ratings
from reviews.stats.result import Reason
from tests import factories as make
from tests.reviews.stats.published import KRIPPENDORFF_BINARY

pytestmark = pytest.mark.django_db

# What Alice and Bob give for task success on twelve runs. They differ on four, three times between levels 1 and 2.
ALICE = [0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 1, 0]
BOB = [0, 0, 1, 2, 2, 2, 1, 3, 3, 3, 2, 2]


def judge(queue, rater, payloads):
    """The rater judges run after run as they come, with these payloads."""
    for payload in payloads:
        assignment = claim(actor=rater, queue=queue)
        submit(actor=rater, uid=assignment.uid, payload=payload, idempotency_key="k")


def judged_by_alice_and_bob(project):
    queue = make.queue(project, items=12, overlap=2)
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob")
    judge(queue, alice, [make.passing(success=level) for level in ALICE])
    judge(queue, bob, [make.passing(success=level) for level in BOB])
    return queue, alice, bob


def item_uids(queue, *places):
    """The runs at these places, counted from 0 in the order in which they came in."""
    uids = list(Item.objects.filter(queue_items__queue=queue).order_by("pk").values_list("uid", flat=True))
    return tuple(uids[place] for place in places)


def by_key(found):
    return {entry.key: entry for entry in found.criteria}


def test_krippendorffs_ten_units_as_a_gate(project):
    """The published table: two observers, alpha .095, percent agreement .6."""
    queue = make.queue(project, items=10, overlap=2)
    for name, column in (("Alice", 0), ("Bob", 1)):
        payloads = [make.passing() if row[column] else make.failing() for row in KRIPPENDORFF_BINARY]
        judge(queue, make.expert(project, name), payloads)
    gate = by_key(agreement(queue))["authorised"]
    assert round(gate.alpha.value, 3) == 0.095
    assert gate.percent.value == pytest.approx(0.6)
    assert (gate.alpha.n_units, gate.alpha.n_pairs, gate.alpha.n_raters) == (10, 10, 2)
    assert gate.alpha.low < gate.alpha.value < gate.alpha.high
    assert gate.disagreed == item_uids(queue, 0, 2, 5, 7)
    assert gate.confusions[0].items == gate.disagreed
    assert (gate.confusions[0].first, gate.confusions[0].second) == ("fail", "pass")
    assert gate.level == "Too low to conclude from: raters differ on 4 of 10 items."
    assert gate.reading == "Raters differ on Only authorised accounts in 4 of 10 items."


def test_an_ordinal_has_ordinal_alpha_on_the_declared_scale(project):
    queue, _, _ = judged_by_alice_and_bob(project)
    success = by_key(agreement(queue))["success"]
    theirs = krippendorff.alpha(
        reliability_data=[ALICE, BOB], level_of_measurement="ordinal", value_domain=[0, 1, 2, 3]
    )
    assert success.alpha.value == pytest.approx(theirs)
    assert success.alpha.statistic == "Krippendorff's alpha, ordinal"
    assert success.percent.value == pytest.approx(8 / 12)
    assert success.ac.statistic == "Gwet's AC2, quadratic weights"


def test_the_runs_behind_a_confusion_and_the_sentence_about_it(project):
    queue, _, _ = judged_by_alice_and_bob(project)
    found = agreement(queue)
    success = by_key(found)["success"]
    most, other = success.confusions
    assert (most.first, most.second, most.items) == ("1 · Weak", "2 · Sound", item_uids(queue, 3, 6, 10))
    assert (other.first, other.second, other.n_items) == ("0 · Poor", "2 · Sound", 1)
    assert success.reading == "Raters mix up levels 1 and 2 of Task success in 3 of 4 disagreements."
    assert found.readings == (success.reading,)
    assert found.weakest == success


def test_full_agreement_on_one_answer_is_said_and_not_counted_as_one(project):
    queue, _, _ = judged_by_alice_and_bob(project)
    consent = by_key(agreement(queue))["consent"]
    assert (consent.percent.value, consent.percent.high) == (1.0, 1.0)
    assert consent.percent.low == pytest.approx(0.025 ** (1 / 12))
    assert (consent.alpha.value, consent.alpha.reason) == (None, Reason.NO_VARIATION)
    assert consent.ac.value == 1.0


def test_pairs_and_raters_carry_names_and_runs(project):
    queue, alice, bob = judged_by_alice_and_bob(project)
    found = agreement(queue)
    (pair,) = by_key(found)["success"].pairs
    assert (pair.first, pair.second, pair.first_id, pair.second_id, pair.n) == ("Alice", "Bob", alice.pk, bob.pk, 12)
    assert pair.percent.value == pytest.approx(8 / 12)
    assert pair.items == item_uids(queue, 3, 6, 10, 11)
    on_success = by_key(found)["success"].raters
    assert [(entry.rater, entry.n, entry.with_rest.value) for entry in on_success] == [
        ("Alice", 12, pytest.approx(8 / 12)),
        ("Bob", 12, pytest.approx(8 / 12)),
    ]
    assert on_success[0].alpha_without.reason == Reason.NO_PAIRS
    over_all = {entry.rater: entry for entry in found.raters}
    # Three of the four criteria agree on all runs, the fourth on eight: 44 of 48 answers.
    assert over_all["Alice"].with_others.value == pytest.approx(44 / 48)
    assert over_all["Alice"].n_items == 12


def test_below_ten_shared_runs_only_the_number_is_shown(project):
    queue = make.queue(project, items=4, overlap=2)
    for name in ("Alice", "Bob"):
        judge(queue, make.expert(project, name), [make.passing(), make.passing(1), make.passing(), make.passing(0)])
    success = by_key(agreement(queue))["success"]
    assert (success.alpha.value, success.alpha.reason, success.alpha.n_units) == (None, Reason.BELOW_FLOOR, 4)
    assert success.alpha.words == ("Too few to say: 4 of the 10 items needed with two or more ratings, 6 missing.")
    assert success.level == success.alpha.words
    assert success.pairs[0].n == 4
    assert success.reading == ""


def test_an_empty_queue_says_so(project):
    found = agreement(make.queue(project, items=2))
    assert (found.n_items, found.n_judgments, found.n_pairable, found.weakest, found.readings) == (2, 0, 0, None, ())
    assert {entry.alpha.reason for entry in (*found.criteria, found.step)} == {Reason.NO_RATINGS}
    assert found.raters == ()


def test_one_rater_alone(project):
    queue = make.queue(project, items=2, overlap=2)
    judge(queue, make.expert(project, "Alice"), [make.passing(), make.passing()])
    found = agreement(queue)
    assert by_key(found)["success"].alpha.reason == Reason.ONE_RATER
    assert found.raters[0].with_others.reason == Reason.NO_PAIRS


def test_unsure_is_left_out_and_counted(project):
    queue = make.queue(project, items=10, overlap=2, unsure_allowed=True)
    unsure = {
        "gates": {"authorised": "unsure", "consent": "pass"},
        "rationale": "I cannot tell whose account it is.",
        "confidence": 1,
    }
    judge(queue, make.expert(project, "Alice"), [unsure] * 2 + [make.passing()] * 8)
    judge(queue, make.expert(project, "Bob"), [make.passing()] * 10)
    found = by_key(agreement(queue))
    assert (found["authorised"].n_unsure, found["authorised"].percent.n_units) == (2, 8)
    assert (found["consent"].n_unsure, found["consent"].percent.n_units) == (0, 10)


def test_a_failed_gate_leaves_no_quality_to_compare(project):
    queue = make.queue(project, items=10, overlap=2)
    judge(queue, make.expert(project, "Alice"), [make.failing()] * 3 + [make.passing()] * 7)
    judge(queue, make.expert(project, "Bob"), [make.passing()] * 10)
    assert by_key(agreement(queue))["success"].percent.n_units == 7


def test_who_names_no_step_does_not_differ_in_where_it_is(project):
    """Alice fails all twelve at step 3. Bob passes four and names step 4 in one: all figures are of the same eight."""
    queue = make.queue(project, items=12, overlap=2)
    judge(queue, make.expert(project, "Alice"), [make.failing(step=3)] * 12)
    judge(
        queue, make.expert(project, "Bob"), [make.passing()] * 4 + [make.failing(step=3)] * 7 + [make.failing(step=4)]
    )
    step = agreement(queue).step
    assert (step.percent.n_units, step.distances) == (8, ((0, 7), (1, 1)))
    assert (step.disagreed, step.n_some_name_none) == (item_uids(queue, 11), 4)


def test_the_first_decisive_step(project):
    """Twelve failures: the same step in nine, one apart in two, two apart in one."""
    queue = make.queue(project, items=12, overlap=2)
    bobs = [3] * 9 + [4, 2, 1]
    judge(queue, make.expert(project, "Alice"), [make.failing(step=3)] * 12)
    judge(queue, make.expert(project, "Bob"), [make.failing(step=step) for step in bobs])
    step = agreement(queue).step
    assert step.percent.value == pytest.approx(9 / 12)
    assert step.within_one.value == pytest.approx(11 / 12)
    assert step.distances == ((0, 9), (1, 2), (2, 1))
    assert step.disagreed == item_uids(queue, 9, 10, 11)
    assert step.named.reason == Reason.NO_VARIATION
    assert step.reading == (
        "Raters who both see a failure name the same step in 75% of pairs and are at most one step apart in 92%."
    )


def test_reliable_answers_need_no_sentence(project):
    """Three neighbours mixed up among sixteen runs of all levels: alpha well above .8."""
    queue = make.queue(project, items=16, overlap=2)
    alices = [0, 1, 2, 3] * 4
    bobs = [1, 2, 3, 3, *alices[4:]]
    judge(queue, make.expert(project, "Alice"), [make.passing(level) for level in alices])
    judge(queue, make.expert(project, "Bob"), [make.passing(level) for level in bobs])
    success = by_key(agreement(queue))["success"]
    assert (success.n_disagreed, success.alpha.value > 0.8, success.reading) == (3, True, "")


def test_one_sided_answers_are_explained(project):
    """Three of twenty runs differ, all others pass: percent .85, AC1 .83, alpha about 0; 37 of 40 answers are one."""
    queue = make.queue(project, items=20, overlap=2)
    judge(queue, make.expert(project, "Alice"), [make.failing()] * 2 + [make.passing()] * 18)
    judge(queue, make.expert(project, "Bob"), [make.passing()] * 2 + [make.failing()] + [make.passing()] * 17)
    gate = by_key(agreement(queue))["authorised"]
    assert gate.percent.value == pytest.approx(0.85)
    assert round(gate.ac.value, 2) == 0.83
    assert gate.alpha.value < 0.1
    assert gate.reading.startswith("Nearly all answers to Only authorised accounts are the same")


def test_what_came_after_a_leads_decision_does_not_count(project):
    queue, alice, _ = judged_by_alice_and_bob(project)
    before = by_key(agreement(queue))["success"]
    correct(queue, alice, place=3, success=2)
    corrected = by_key(agreement(queue))["success"]
    assert (before.n_disagreed, corrected.n_disagreed) == (4, 3), "a correction before the decision counts"
    adjudicate(
        actor=make.lead_of(project),
        queue_item=QueueItem.objects.get(queue=queue, item__uid=item_uids(queue, 6)[0]),
        payload={
            "gates": {"authorised": "pass", "consent": "pass"},
            "criteria": {"success": 2, "process": 2},
            "reasons": {"success": "rater_error"},
            "note": "Nearly all was done.",
        },
    )
    correct(queue, alice, place=6, success=1)
    assert by_key(agreement(queue))["success"].n_disagreed == 3, "a correction after it does not"


def correct(queue, rater, *, place, success):
    """A new revision of the rater's judgment on the run at that place."""
    assignment = Assignment.objects.get(queue=queue, rater=rater, item__uid=item_uids(queue, place)[0])
    first = assignment.judgments.get()
    revision = Judgment.objects.create(
        assignment=assignment,
        revision=2,
        queue=queue,
        item=first.item,
        rater=rater,
        rubric=first.rubric,
        guideline=first.guideline,
        confidence=3,
        idempotency_key="again",
    )
    for rating in first.ratings.select_related("criterion"):
        value = success if rating.criterion.key == "success" else rating.value
        Rating.objects.create(judgment=revision, criterion=rating.criterion, value=value)


def test_assignments_can_be_left_out(project):
    queue, alice, _ = judged_by_alice_and_bob(project)
    own = Assignment.objects.filter(queue=queue, rater=alice).order_by("pk")[:2]
    found = agreement(queue, leave_out=[assignment.pk for assignment in own])
    assert (found.n_judgments, found.n_left_out, found.n_pairable) == (22, 2, 10)


def test_runs_of_one_task_are_drawn_together(project):
    """24 runs of twelve tasks: the interval says that tasks are drawn."""
    runs = [make.item(project) for _ in range(12)]
    queue = make.queue(project, items=runs + [another_run(run) for run in runs], overlap=2)
    judge(queue, make.expert(project, "Alice"), [make.passing(level) for level in ALICE * 2])
    judge(queue, make.expert(project, "Bob"), [make.passing(level) for level in BOB * 2])
    success = by_key(agreement(queue))["success"]
    assert success.alpha.method == "95% percentile bootstrap over tasks, 1,000 resamples"


def another_run(item):
    """Another run of the same task."""
    first = item.trajectory
    run = Trajectory.objects.create(
        project=item.project,
        task=first.task,
        content_hash=first.content_hash[::-1],
        source_format="openai_chat",
        source_name="runs.jsonl",
        step_count=first.step_count,
    )
    for step in first.steps.all():
        Step.objects.create(trajectory=run, position=step.position, role=step.role, body=step.body)
    return Item.objects.create(project=item.project, trajectory=run)


def test_the_number_of_queries_does_not_grow(project):
    small, _, _ = judged_by_alice_and_bob(project)
    large = make.queue(project, items=20, overlap=2)
    for name in ("Alice", "Bob", "Charlie"):
        rater = make.expert(project, name)
        judge(large, rater, [make.passing()] * (20 if name != "Charlie" else 0))
    counts = []
    for queue in (small, large):
        with CaptureQueriesContext(
            connection,
        ) as captured:
            agreement(queue)
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 10


def test_nothing_of_other_queues_is_counted(project):
    queue, _, _ = judged_by_alice_and_bob(project)
    other, _, _ = judged_by_alice_and_bob(project)
    assert ratings(queue).n_judgments == ratings(other).n_judgments == 24


def test_as_dict_is_plain(project):
    queue, _, _ = judged_by_alice_and_bob(project)
    found = agreement(queue).as_dict()
    assert found["criteria"][2]["key"] == "success"
    assert found["criteria"][2]["alpha"]["n_units"] == 12
    assert found["criteria"][1]["alpha"]["reason"] == "no_variation"
