"""Raters at work, each in a process with its own connection: by Assay's actions, or by bare SQL on the same tables."""

import time
from dataclasses import dataclass
from typing import Any

import psycopg
from django.contrib.auth import get_user_model
from django.db import connection

from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.models import Assignment, Queue
from tests import factories as make
from tests.bench.seeding import World
from tests.bench.servers import FORK, use_database


@dataclass(frozen=True)
class Turn:
    """Seconds that one claim and the submit after it took; no submit where only claims are measured."""

    claim: float
    submit: float = 0


class Crew:
    """Rater processes on one database that work only when told, all at once."""

    def __init__(self, database: str, world: World, raters: tuple[int, ...]) -> None:
        self.pipes = []
        for rater in raters:
            ours, theirs = FORK.Pipe()
            FORK.Process(target=_work, args=(theirs, database, world, rater), daemon=True).start()
            theirs.close()
            self.pipes.append(ours)
        for pipe in self.pipes:
            pipe.recv()

    def turns(self, way: str, number: int) -> list[Turn]:
        """`number` turns of each rater, done in one of the `WAYS`."""
        for pipe in self.pipes:
            pipe.send((way, number))
        return [turn for pipe in self.pipes for turn in pipe.recv()]

    def dismiss(self) -> None:
        for pipe in self.pipes:
            pipe.close()


def _work(pipe: Any, database: str, world: World, rater: int) -> None:
    use_database(database)
    action, sql = ByAction(world.queue, rater), BySql(world.bare, rater)
    ways = {
        "claims by action": lambda: claim_only(action),
        "claims by SQL": lambda: claim_only(sql),
        "turns by action": lambda: claim_and_submit(action),
        "turns by SQL": lambda: claim_and_submit(sql),
    }
    pipe.send("ready")
    while True:
        try:
            way, number = pipe.recv()
        except EOFError:
            return
        pipe.send([ways[way]() for _ in range(number)])


def claim_and_submit(rater: "ByAction | BySql") -> Turn:
    start = time.perf_counter()
    claimed = rater.claim()
    middle = time.perf_counter()
    rater.submit(claimed)
    return Turn(middle - start, time.perf_counter() - middle)


def claim_only(rater: "ByAction | BySql") -> Turn:
    """The claim is timed; that the rater may claim again is seen to by the same short statement either way."""
    start = time.perf_counter()
    claimed = rater.claim()
    turn = Turn(time.perf_counter() - start)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE reviews_assignment SET state = 'submitted' WHERE id = %s", [rater.assignment_id(claimed)]
        )
    return turn


class ByAction:
    """Claims and submits as pages do. Queue and person are loaded once: a request has them before it acts."""

    def __init__(self, queue: int, rater: int) -> None:
        self.queue = Queue.objects.select_related("project", "rubric", "guideline").get(pk=queue)
        self.rater = get_user_model().objects.get(pk=rater)
        quote = {"step": 3, "field": "arguments/account_id", "start": 0, "end": 6, "quote": "A-5071"}
        evidence = [{"criterion": "success", **quote}, {"criterion": "authorised", "policy_line": 1}]
        self.payload = make.passing(evidence=evidence)

    def claim(self) -> Assignment:
        return claim(actor=self.rater, queue=self.queue)

    def submit(self, assignment: Assignment) -> None:
        submit(actor=self.rater, uid=assignment.uid, payload=self.payload, idempotency_key=str(assignment.uid))

    def assignment_id(self, assignment: Assignment) -> int:
        return assignment.pk


CLAIM = """
    SELECT id, item_id FROM reviews_slot WHERE queue_id = %s AND state = 'open'
    ORDER BY place, id LIMIT 1 FOR UPDATE SKIP LOCKED
"""
LEASE = """
    INSERT INTO reviews_assignment (uid, queue_id, item_id, slot_id, rater_id, state, leased_at, expires_at, seen_at,
        active_seconds, skip_reason, skip_note)
    VALUES (gen_random_uuid(), %s, %s, %s, %s, 'leased', now(), now() + interval '30 minutes', now(), 0, '', '')
    RETURNING id
"""
JUDGE = """
    INSERT INTO reviews_judgment (uid, assignment_id, revision, queue_id, item_id, rater_id, rubric_id, guideline_id,
        confidence, rationale, active_seconds, idempotency_key, submitted_at, failure_who, failure_cause, failure_note)
    SELECT gen_random_uuid(), %s, 1, id, %s, %s, rubric_id, guideline_id, 3, '', 0, 'k', now(), '', '', ''
    FROM reviews_queue WHERE id = %s RETURNING id
"""
RATE = """
    INSERT INTO reviews_rating (judgment_id, criterion_id, value)
    SELECT %s, criterion.id, 1
    FROM reviews_criterion criterion JOIN reviews_queue queue USING (rubric_id) WHERE queue.id = %s
"""


class BySql:
    """The least a claim and a submit can be: no rights, no gold, no check of anything, no audit, no settling.

    The statements are kept prepared, as those of an action are.
    """

    def __init__(self, queue: int, rater: int) -> None:
        self.queue, self.rater = queue, rater
        connection.ensure_connection()
        self.driver = connection.connection

    def claim(self) -> tuple[int, int, int]:
        """Assignment, slot and item."""
        with psycopg.Cursor(self.driver) as cursor:
            cursor.execute("BEGIN")
            slot, item = cursor.execute(CLAIM, [self.queue]).fetchone()
            cursor.execute("UPDATE reviews_slot SET state = 'leased' WHERE id = %s", [slot])
            assignment = cursor.execute(LEASE, [self.queue, item, slot, self.rater]).fetchone()[0]
            cursor.execute("COMMIT")
        return assignment, slot, item

    def submit(self, claimed: tuple[int, int, int]) -> None:
        assignment, slot, item = claimed
        with psycopg.Cursor(self.driver) as cursor:
            cursor.execute("BEGIN")
            judgment = cursor.execute(JUDGE, [assignment, item, self.rater, self.queue]).fetchone()[0]
            cursor.execute(RATE, [judgment, self.queue])
            cursor.execute("UPDATE reviews_assignment SET state = 'submitted' WHERE id = %s", [assignment])
            cursor.execute("UPDATE reviews_slot SET state = 'done' WHERE id = %s", [slot])
            cursor.execute("COMMIT")

    def assignment_id(self, claimed: tuple[int, int, int]) -> int:
        return claimed[0]
