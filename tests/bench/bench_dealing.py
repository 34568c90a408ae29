"""Claim and submit: eight raters at once against the bare SQL of a claim, and whether the cost stays flat.

Compared are always times taken in turn in the same rounds on the same server, each size in a database of its own.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connection

from annotator.embedded.servers import Servers
from goldsets.models import GoldPlacement, GoldPolicy
from reviews.actions.dealing import NothingToDeal, claim
from reviews.models import Queue
from tests.bench.figures import Figure, milliseconds, ratio
from tests.bench.raters import ByAction, Crew, Turn
from tests.bench.seeding import World, fill
from tests.bench.servers import drop_database, in_process, make_database

SIZES = (1_000, 10_000, 100_000)
RATERS = 8
GOLD = 200
ROUNDS = 6
CLAIMS, TURNS = 10, 5
# Judgments that lie behind the veteran of the largest queue. The one of the middle queue has judged all of it.
BEHIND = 20_000


def run(servers: Servers, *, sizes: tuple[int, ...] = SIZES) -> list[Figure]:
    worlds = {}
    for size in sizes:
        database = make_database(servers, f"bench_{size}")
        behind = size if size == 10_000 else BEHIND if size > BEHIND else 0
        worlds[size] = (database, in_process(database, fill, size, 3, RATERS, GOLD, behind))
    figures = eight_at_once(worlds)
    largest = max(sizes)
    if largest > BEHIND:
        figures += veteran_against_newcomer(*worlds[largest])
    if 10_000 in worlds:
        figures += in_process(worlds[10_000][0], nothing_left, worlds[10_000][1])
    database, world = worlds[min(sizes)]
    figures += in_process(database, statements_sent, world)
    figures += in_process(database, gold_against_plain, world)
    for database, _world in worlds.values():
        drop_database(servers, database)
    return figures


def eight_at_once(worlds: dict[int, tuple[str, World]]) -> list[Figure]:
    crews = {size: Crew(database, world, world.raters) for size, (database, world) in worlds.items()}
    times: dict[tuple[int, str], list[list[Turn]]] = {}
    for round_ in range(ROUNDS + 1):
        for size, crew in crews.items():
            for way, number in (
                ("claims by SQL", CLAIMS),
                ("claims by action", CLAIMS),
                ("turns by SQL", TURNS),
                ("turns by action", TURNS),
            ):
                turns = crew.turns(way, number)
                if round_:  # the first round warms up
                    times.setdefault((size, way), []).append(turns)
    for crew in crews.values():
        crew.dismiss()
    figures = []
    claims = {key: [_median(turn.claim for turn in turns) for turns in rounds] for key, rounds in times.items()}
    submits = {key: [_median(turn.submit for turn in turns) for turns in rounds] for key, rounds in times.items()}
    for size in worlds:
        bare, action = claims[size, "claims by SQL"], claims[size, "claims by action"]
        figures += [
            ratio(f"claim: action / bare SQL, {size:,} items", action, bare, at_most=3),
            milliseconds(f"  claim by action, {RATERS} raters at once", action),
            milliseconds(f"  claim by bare SQL, {RATERS} raters at once", bare),
            ratio(
                f"submit: action / bare inserts, {size:,} items",
                submits[size, "turns by action"],
                submits[size, "turns by SQL"],
            ),
            milliseconds(f"  submit by action, {RATERS} raters at once", submits[size, "turns by action"]),
        ]
    smallest = min(worlds)
    for size in worlds:
        if size != smallest:
            figures += [
                ratio(
                    f"claim: {size:,} items / {smallest:,} items",
                    claims[size, "claims by action"],
                    claims[smallest, "claims by action"],
                    at_most=1.5,
                ),
                ratio(
                    f"submit: {size:,} items / {smallest:,} items",
                    submits[size, "turns by action"],
                    submits[smallest, "turns by action"],
                    at_most=1.5,
                ),
            ]
    return figures


def veteran_against_newcomer(database: str, world: World) -> list[Figure]:
    veteran, newcomer = Crew(database, world, (world.veteran,)), Crew(database, world, world.raters[:1])
    pairs = [(veteran.turns("turns by action", 10), newcomer.turns("turns by action", 10)) for _ in range(ROUNDS + 1)]
    veteran.dismiss()
    newcomer.dismiss()
    sides = [([turn.claim for turn in old], [turn.claim for turn in new]) for old, new in pairs[1:]]
    name = f"claim: {BEHIND:,} judgments behind / none"
    return [ratio(name, [_median(old) for old, _ in sides], [_median(new) for _, new in sides], at_most=1.5)]


def nothing_left(world: World) -> list[Figure]:
    """A rater who has judged everything asks again: the walk passes each open slot once."""
    queue = Queue.objects.select_related("project").get(pk=world.queue)
    rater = get_user_model().objects.get(pk=world.veteran)
    open_slots = queue.slots.filter(state="open").count()
    times = []
    for _ in range(8):
        start = time.perf_counter()
        try:
            claim(actor=rater, queue=queue)
        except NothingToDeal:
            times.append(time.perf_counter() - start)
    note = f"{1e6 * _median(times) / open_slots:.1f} µs for each of {open_slots:,} open slots"
    return [milliseconds("claim with nothing left for the rater", times, note=note)]


def statements_sent(world: World) -> list[Figure]:
    """How many statements a claim and a submit send, BEGIN and COMMIT not counted."""
    GoldPolicy.objects.filter(queue=world.queue).update(rate="0.500")
    rater = ByAction(world.queue, world.veteran)
    rater.submit(rater.claim())  # the first claim of a rater also makes their cursor
    seen: dict[str, set[int]] = {}
    for _ in range(30):
        assignment, claimed = _counted(rater.claim)
        _, submitted = _counted(lambda given=assignment: rater.submit(given))
        kind = "gold" if GoldPlacement.objects.filter(assignment=assignment).exists() else "plain"
        seen.setdefault(f"claim, {kind}", set()).add(claimed)
        seen.setdefault(f"submit, {kind}", set()).add(submitted)
    return [
        Figure(f"statements: {name}", max(numbers), min(numbers), max(numbers), unit="statements")
        for name, numbers in sorted(seen.items())
    ]


def _counted(function: Callable[[], Any]) -> tuple[Any, int]:
    statements = []

    def note(execute: Any, sql: str, *arguments: Any) -> Any:
        statements.append(sql)
        return execute(sql, *arguments)

    with connection.execute_wrapper(note):
        answer = function()
    return answer, len(statements)


def gold_against_plain(world: World) -> list[Figure]:
    """Whether an answer's time gives gold away: medians of groups of claims and submits, as they were dealt."""
    GoldPolicy.objects.filter(queue=world.queue).update(rate="0.500")
    times: dict[bool, list[Turn]] = {True: [], False: []}
    for pk in world.raters[:3]:
        rater = ByAction(world.queue, pk)
        rater.submit(rater.claim())
        for _ in range(60):
            start = time.perf_counter()
            assignment = rater.claim()
            middle = time.perf_counter()
            rater.submit(assignment)
            turn = Turn(middle - start, time.perf_counter() - middle)
            times[GoldPlacement.objects.filter(assignment=assignment).exists()].append(turn)
    groups = min(len(times[True]), len(times[False])) // 10
    sides = {kind: [turns[10 * group : 10 * group + 10] for group in range(groups)] for kind, turns in times.items()}
    return [
        ratio(
            f"{part}: gold / plain",
            *([_median(getattr(turn, part) for turn in group) for group in sides[kind]] for kind in (True, False)),
            note="1 means that time gives nothing away",
        )
        for part in ("claim", "submit")
    ]


def _median(numbers: Any) -> float:
    return statistics.median(numbers)
