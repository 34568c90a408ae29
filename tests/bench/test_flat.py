"""Claiming and submitting cost the same whatever a queue's size and a rater's past, and gold the same as plain.

Statements are counted exactly; of times only ratios are held, with room for a busy machine. `make bench` measures them.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from goldsets.models import GoldPlacement, GoldPolicy, GoldSchedule
from reviews.actions.dealing import NothingToDeal, claim
from reviews.models import Queue
from tests.bench.raters import ByAction
from tests.bench.seeding import World, fill

# The worker works in a process of its own.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker_away]

CLAIM_STATEMENTS = 5  # membership, cursor with the lease held, schedule, next slot, lease
SUBMIT_STATEMENTS = 15


def statements_of(function: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What it returned, and the statements it sent."""
    sent: list[str] = []

    def note(execute: Any, sql: str, *arguments: Any) -> Any:
        sent.append(sql)
        return execute(sql, *arguments)

    with connection.execute_wrapper(note):
        return function(), sent


def seconds_of_claims(world: World, rater: int, number: int = 15) -> float:
    """The median of some claims of one rater, each followed by a submit."""
    alice = ByAction(world.queue, rater)
    alice.submit(alice.claim())
    times = []
    for _ in range(number):
        start = time.perf_counter()
        assignment = alice.claim()
        times.append(time.perf_counter() - start)
        alice.submit(assignment)
    return statistics.median(times)


def test_a_claim_costs_the_same_on_two_hundred_and_on_five_thousand_items():
    small, large = fill(200, gold=10), fill(5_000, gold=10, first=1_000)
    ratios = [
        seconds_of_claims(large, a) / seconds_of_claims(small, b)
        for a, b in zip(large.raters[:3], small.raters[:3], strict=True)
    ]
    assert statistics.median(ratios) < 3


def test_a_claim_costs_the_same_with_three_thousand_judgments_behind_the_rater():
    world = fill(5_000, veteran_judgments=3_000)
    ratios = [seconds_of_claims(world, world.veteran) / seconds_of_claims(world, new) for new in world.raters[:3]]
    assert statistics.median(ratios) < 3


def test_gold_and_plain_send_the_same_number_of_statements():
    world = fill(200, gold=40)
    GoldPolicy.objects.filter(queue=world.queue).update(rate="0.500")
    alice = ByAction(world.queue, world.raters[0])
    alice.submit(alice.claim())
    seen = set()
    for _ in range(20):
        assignment, claimed = statements_of(alice.claim)
        _, submitted = statements_of(lambda given=assignment: alice.submit(given))
        seen.add((GoldPlacement.objects.filter(assignment=assignment).exists(), len(claimed), len(submitted)))
    assert seen == {(True, CLAIM_STATEMENTS, SUBMIT_STATEMENTS), (False, CLAIM_STATEMENTS, SUBMIT_STATEMENTS)}


def plan_of_claim(alice: ByAction, part: str) -> str:
    """How the database goes about the one statement of a claim that has this in it."""
    plans = []

    def explain(execute: Any, sql: str, *arguments: Any) -> Any:
        if part in sql:
            with connection.connection.cursor() as cursor:
                plans.append("\n".join(row[0] for row in cursor.execute(f"EXPLAIN {sql}", arguments[0])))
        return execute(sql, *arguments)

    with connection.execute_wrapper(explain):
        alice.claim()
    (plan,) = plans
    return plan


def test_the_next_slot_is_found_by_index_even_before_the_planner_knows_of_a_large_import():
    fill(200)
    world = fill(5_000, veteran_judgments=3_000, first=1_000, analyze=False)
    alice = ByAction(world.queue, world.veteran)
    alice.submit(alice.claim())
    plan = plan_of_claim(alice, "SKIP LOCKED")
    assert "Index Scan using open_slots" in plan
    assert "item_id = slot.item_id" in plan
    assert "Seq Scan" not in plan
    assert "Sort" not in plan


def test_gold_is_picked_without_going_through_all_that_the_rater_ever_judged():
    fill(200)
    world = fill(5_000, gold=40, veteran_judgments=3_000, first=1_000, analyze=False)
    alice = ByAction(world.queue, world.veteran)
    GoldSchedule.objects.create(queue_id=world.queue, rater_id=world.veteran, plain_left=0)
    plan = plan_of_claim(alice, "FOR UPDATE OF gold")
    assert "assignments_by_rater" not in plan
    assert "Seq Scan on reviews_assignment" not in plan
    assert "Seq Scan on reviews_queueitem" not in plan


def test_a_connection_keeps_the_statements_of_a_claim_prepared():
    world = fill(200, gold=10)
    alice = ByAction(world.queue, world.raters[0])
    for _ in range(12):
        alice.submit(alice.claim())
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement, generic_plans FROM pg_prepared_statements")
        plans = dict(cursor.fetchall())
    for part in ("goldsets_goldpolicy", "SKIP LOCKED", "WITH slot AS"):
        assert any(part in statement and used > 0 for statement, used in plans.items()), part


def test_asking_again_when_nothing_is_left_passes_each_open_slot_once():
    world = fill(1_000, veteran_judgments=1_000)
    queue = Queue.objects.select_related("project").get(pk=world.queue)
    veteran = get_user_model().objects.get(pk=world.veteran)

    def ask() -> None:
        with pytest.raises(NothingToDeal):
            claim(actor=veteran, queue=queue)

    _, sent = statements_of(ask)
    assert len(sent) <= CLAIM_STATEMENTS + 4
