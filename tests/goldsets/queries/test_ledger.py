"""What judgement costs: everybody's time, at the prices that a lead wrote, against what came of it."""

from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import run_export, start_export
from goldsets.actions.pricing import write_prices
from goldsets.actions.releasing import withdraw_version
from goldsets.actions.staging import run_stage, start_stage
from goldsets.models import Grader, GraderScore, GraderVersion, Reviewer
from goldsets.queries.ledger import ledger, price_lists
from reviews.actions.adjudicating import adjudicate
from reviews.actions.dealing import claim, release
from reviews.actions.queueing import add_items
from reviews.errors import Forbidden, Invalid
from reviews.models import Assignment, QueueItem
from reviews.stats.proportion import wilson
from reviews.task_review import task_review
from tests import factories as make
from tests.factories import stages
from tests.factories.furnished import judge
from tests.factories.golden import on_gold, queue_with_gold
from tests.factories.tasks import task

pytestmark = pytest.mark.django_db

PRICES = {"expert": 60, "skilled": 30, "lead": 120}
REVIEW = {"rationale": "Seen.", "confidence": 3}


def took(judgment, seconds):
    """As if the rater had worked so long on what they judged."""
    Assignment.objects.filter(pk=judgment.assignment_id).update(active_seconds=seconds)


def test_every_minute_is_counted_against_what_came_of_it():
    project = make.project()
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob", tier="skilled")
    queue = make.queue(project, items=5, overlap=2)
    for _ in range(5):
        took(judge(queue, alice, make.passing()), 60)
        took(judge(queue, bob, make.passing()), 120)
    write_prices(actor=make.lead_of(project), project=project, prices=PRICES)
    total = ledger(project).total
    assert (total.minutes, total.labels, total.kept, total.untimed) == (15, 5, 0, 0)
    # Alice's 5 minutes at 60 an hour, Bob's 10 at 30.
    assert total.money == pytest.approx(10.0)
    assert (total.minutes_per_label.value, total.minutes_per_label.n_units) == (3.0, 5)
    assert (total.minutes_per_label.low, total.minutes_per_label.high) == pytest.approx((3.0, 3.0))
    assert total.cost_per_label.value == pytest.approx(2.0)
    assert total.minutes_per_kept.words == "Nothing of it is kept."
    assert (total.checked.value, total.checked.n_units) == (1.0, 5)


def test_without_prices_there_are_minutes_and_no_money():
    project = make.project()
    alice = make.expert(project, "Alice")
    took(judge(make.queue(project, items=1, overlap=1), alice, make.passing()), 90)
    total = ledger(project).total
    assert (total.minutes, total.money) == (1.5, None)
    assert total.cost_per_label.words == "No lead has written what an hour costs."
    write_prices(actor=make.lead_of(project), project=project, prices={"crowd": 10})
    assert ledger(project).total.unpriced == "No price is written for an hour of a rater of the tier Expert."


def test_gold_what_was_given_back_and_decisions_cost_too():
    lead = make.person("Lea")
    project = make.project(lead)
    queue = queue_with_gold(project, gold=1, plain=4, overlap=1)
    alice = make.expert(project, "Alice")
    took(on_gold(queue, alice, make.passing(success=3, process=2))[0], 60)
    given_back = claim(actor=alice, queue=queue)
    release(actor=alice, uid=given_back.uid)
    Assignment.objects.filter(pk=given_back.pk).update(active_seconds=30)
    kinds = {row.kind: row for row in ledger(project).kinds}
    assert {kind: (row.minutes, row.pieces) for kind, row in kinds.items()} == {
        "judging": (0, 1),
        "gold": (1, 1),
        "unfinished": (0.5, 1),
    }
    assert kinds["judging"].untimed == 1
    assert kinds["gold"].share == pytest.approx(2 / 3)


def test_a_decision_takes_the_time_since_the_one_before_unless_there_was_a_break():
    lead = make.person("Lea")
    project = make.project(lead)
    queue = make.queue(project, items=3, overlap=1, settle_rule="lead")
    alice = make.expert(project, "Alice")
    for _ in range(3):
        judge(queue, alice, make.passing())
    rows = list(QueueItem.objects.filter(queue=queue).order_by("pk"))
    now = timezone.now()
    decision = {name: make.passing()[name] for name in ("gates", "criteria")}
    for row, minutes in zip(rows, (0, 2, 40), strict=True):
        with time_machine.travel(now + timedelta(minutes=minutes), tick=False):
            adjudicate(actor=lead, queue_item=row, payload=decision)
    deciding = next(row for row in ledger(project).kinds if row.kind == "deciding")
    assert (deciding.minutes, deciding.pieces, deciding.untimed) == (2, 3, 2)


def test_a_task_is_kept_by_its_review_and_a_run_by_leaving():
    lead = make.person("Lea")
    project = make.project(lead)
    alice = make.expert(project, "Alice")
    given = task_review()
    items = [task(project, key="a", recipe="desk 1"), task(project, key="b", recipe="desk 2", prompt="Other.")]
    reviews = make.queue(
        project,
        items=items,
        overlap=1,
        criteria=given["criteria"],
        rubric={"item_kind": "task", "marks": given["marks"]},
    )
    for decision, more in ((1, {}), (2, {"reason": "Nobody asks so."})):
        took(judge(reviews, alice, reviewed(decision, **more)), 300)
    runs = make.queue(project, items=2, overlap=1)
    took(judge(runs, alice, make.passing()), 60)
    dataset = define_dataset(actor=lead, project=project, name="Runs", formats=["jsonl"], queue=runs)
    version = run_export(version_id=start_export(actor=lead, dataset=dataset).pk)
    found = ledger(project)
    assert (found.total.labels, found.total.kept) == (3, 2)
    assert [(line.title, line.labels, line.kept, line.minutes) for line in found.recipes] == [
        ("no recipe named", 1, 1, 1),
        ("desk 1", 1, 1, 5),
        ("desk 2", 1, 0, 5),
    ]
    withdraw_version(actor=lead, version=version, reason="Wrong runs.")
    assert ledger(project).total.kept == 1
    assert (ledger(project, queue=runs).total.labels, ledger(project, queue=runs).total.minutes) == (1, 1)


def reviewed(decision, **more):
    """A task review with this decision; both of its runs did not fail and are no hacks."""
    fits = {"prompt_verifier": 3, "verifier_intent": 3, "prompt_intent": 3, "world_realism": 2, "artificial": False}
    run = {"criteria": {"why_failed": 5, "hack": False}}
    return {**REVIEW, "criteria": {**fits, "decision": decision, **more}, "candidates": [run, run]}


def test_weeks_hold_the_work_done_in_them_and_the_labels_made_in_them():
    project = make.project()
    alice = make.expert(project, "Alice")
    queue = make.queue(project, items=2, overlap=1)
    monday = timezone.now().replace(hour=12) - timedelta(days=timezone.now().weekday() + 7)
    for weeks, seconds in ((0, 240), (1, 120)):
        with time_machine.travel(monday + timedelta(weeks=weeks), tick=False):
            took(judge(queue, alice, make.passing()), seconds)
    lines = ledger(project).weeks
    assert [(line.key, line.minutes, line.labels) for line in lines] == [
        (f"{monday:%Y-%m-%d}", 4, 1),
        (f"{monday + timedelta(weeks=1):%Y-%m-%d}", 2, 1),
    ]
    assert [line.minutes_per_label.value for line in lines] == [4, 2]


def test_prices_are_a_leads_to_write_and_every_list_stays():
    lead = make.person("Lea")
    project = make.project(lead)
    write_prices(actor=lead, project=project, prices=PRICES)
    second = write_prices(actor=lead, project=project, prices={"expert": 80})
    assert [(row.number, row.prices) for row in price_lists(project)] == [(2, {"expert": 80.0}), (1, PRICES)]
    assert ledger(project).prices == second
    with pytest.raises(Forbidden):
        write_prices(actor=make.expert(project), project=project, prices=PRICES)
    with pytest.raises(Invalid) as refused:
        write_prices(actor=lead, project=project, prices={"expert": -1, "boss": 3})
    assert set(refused.value.errors) == {"expert", "boss"}
    with pytest.raises(Invalid):
        write_prices(actor=lead, project=project, prices={})


def test_it_asks_as_little_of_the_database_however_much_was_judged():
    project = make.project()
    alice = make.expert(project, "Alice")
    queue = make.queue(project, items=1, overlap=1)
    judge(queue, alice, make.passing())
    with CaptureQueriesContext(connection) as few:
        ledger(project)
    add_items(actor=make.lead_of(project), queue=queue, items=[make.item(project) for _ in range(5)])
    for _ in range(5):
        judge(queue, alice, make.passing())
    with CaptureQueriesContext(connection) as many:
        ledger(project)
    assert len(many) == len(few)


def scored(project, item, kind, **took):
    """A score of a grader of this kind, which took so much."""
    lead = make.lead_of(project)
    grader, _ = Grader.objects.get_or_create(project=project, name=kind, kind=kind, defaults={"created_by": lead})
    version, _ = GraderVersion.objects.get_or_create(grader=grader, number=1, defaults={"created_by": lead})
    return GraderScore.objects.create(version=version, item=item, value=1, **took)


def test_each_rung_says_what_it_took_and_what_a_verdict_costs():
    project = make.project()
    alice = make.expert(project, "Alice")
    queue = make.queue(project, items=5, overlap=1)
    for row in QueueItem.objects.filter(queue=queue):
        took(judge(queue, alice, make.passing()), 60)
        scored(project, row.item, "model", tokens=10_000, seconds=7.2)
        scored(project, row.item, "deterministic")
    scored(project, make.item(project), "model", cost="0.5", tokens=99, seconds=1.0)
    write_prices(actor=make.lead_of(project), project=project, prices={"expert": 60, "million_tokens": 5})
    experts, judges, rules = ledger(project).rungs
    assert (experts.rung, experts.minutes, experts.cost.value) == ("experts", 5, 1.0)
    # What says its own cost is not reckoned again by its tokens and seconds.
    assert (judges.verdicts, judges.tokens, judges.seconds, judges.money) == (6, 50_000, 36.0, None)
    assert judges.unpriced == "No price is written for an hour of computing."
    assert (rules.verdicts, rules.untold, rules.unpriced) == (5, 5, "No score says what it took.")
    write_prices(
        actor=make.lead_of(project),
        project=project,
        prices={"expert": 60, "million_tokens": 5, "machine_hour": 1},
    )
    found = ledger(project)
    # 5 cents of tokens and .2 of seconds for each of five, and half a dollar for the sixth.
    assert found.rungs[1].money == pytest.approx(5 * (0.05 + 0.002) + 0.5)
    assert found.rungs[1].cost.value == pytest.approx(found.rungs[1].money / 6 * 1000)
    assert found.total.money == pytest.approx(5 + found.rungs[1].money)
    assert (found.total.minutes, found.total.pieces) == (5, 5)


def test_a_proven_reviewer_is_forecast_to_save_what_it_decides_of_what_waits():
    project = make.project()
    alice = make.expert(project, "Alice")
    queue = make.queue(project, items=16, overlap=1)
    for _ in range(6):
        took(judge(queue, alice, make.passing()), 120)
    reviewer = proven(queue, coverage=wilson(60, 100, statistic="Coverage"))
    proven(queue, coverage=wilson(90, 100), state="refused", number=2)
    (each,) = ledger(project).forecasts
    assert (each.reviewer, each.title) == (reviewer.uid, f"Classifier for every gate in {queue}")
    # 60% of two minutes, ten times.
    assert each.minutes.waiting == 10
    assert each.minutes.per_item.value == pytest.approx(1.2)
    assert each.minutes.ahead.value == pytest.approx(12.0)
    assert (each.minutes.ahead.low, each.minutes.ahead.high) == pytest.approx((10.04, 13.81), abs=0.01)
    assert each.money.ahead.words == "No lead has written what an hour costs."


def proven(queue, *, coverage, state="proven", number=1):
    """A reviewer as a compile leaves it, whose proof says what share it decides alone."""
    proof = {"key": "selective", "figures": {"coverage": coverage.as_dict()}}
    return Reviewer.objects.create(
        project=queue.project,
        queue=queue,
        rung="classifier",
        number=number,
        state=state,
        rubric=queue.rubric,
        guideline=queue.guideline,
        seed="s",
        labels_sha256="0" * 64,
        labels_total=6,
        assurance={"proofs": [proof]},
        created_by=make.lead_of(queue.project),
    )


def test_a_reviewer_at_work_costs_what_a_verdict_took_when_it_was_proven():
    project = make.project()
    queue = stages.keeping_queue(project)
    proof = {"key": "cost", "figures": {"seconds": 3.6}}
    signed = stages.signed(queue, assurance={"holds": True, "missing": [], "proofs": [proof], "demands": {}})
    stage = start_stage(actor=make.lead_of(project), queue=queue, reviewer=signed)
    stages.more(queue, *["A refund, as asked."] * 3)
    run_stage(stage_id=stage.pk)
    write_prices(actor=make.lead_of(project), project=project, prices={"lead": 60, "machine_hour": 2})
    rules = next(row for row in ledger(project, queue=queue).rungs if row.rung == "rules")
    assert (rules.verdicts, rules.untold, rules.minutes) == (3, 0, 0)
    assert rules.seconds == pytest.approx(10.8)
    # A thousand verdicts are an hour of computing.
    assert rules.cost.value == pytest.approx(2.0)
