"""Pairs of runs of one ticket, preferred by simulated raters with known errors and a known liking for what comes first.

A rater starts from what is true of both runs. A run that fails a gate loses; of two that pass, the one with the higher
levels wins by as much as it is better, give or take the rater's noise.
"""

import random
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from annotator.demo.clock import Clock
from annotator.demo.raters import RATERS, Rater, judge
from annotator.demo.runs import Run
from annotator.demo.standards import GATES
from annotator.models import User
from reviews.actions.dealing import NothingToDeal, claim
from reviews.actions.judging import submit
from reviews.actions.pairing import make_comparisons_by_task
from reviews.actions.queueing import create_queue
from reviews.actions.rubrics import write_guideline, write_rubric
from reviews.actions.settling import settle_marked
from reviews.enums import ItemKind, QueueOrder, SettleRule
from reviews.models import Assignment, Candidate, Project, Queue

NAME = "Which run is better"
OVERLAP = 2
PAIRS_OF_A_TICKET = 1
# How many pairs each judges, how far off they are, and how much they favour the run that stands first, in levels.
PREFERRERS = {"tessa": (24, 0.5, 0.0), "arjun": (22, 0.9, 0.0), "kofi": (14, 1.2, 1.6)}
REASONS = ("Asks first", "Touches less", "Better result", "Plainer words", "Fewer steps")
TIE_BELOW = 0.8
LEVELS_A_POINT = 2.0

PREFERENCE = {
    "key": "better",
    "title": "Which run is better",
    "question": "All in all, which would you rather have answered this ticket?",
    "kind": "preference",
    "evidence": "never",
    "levels": [{"value": value, "name": name} for value, name in enumerate(REASONS, start=1)],
    "settings": {"form": "pair", "strength": 3, "ties": ["equally_good", "equally_bad"]},
}
CRITERIA: tuple[dict[str, Any], ...] = (*({**gate, "scope": "candidate"} for gate in GATES), PREFERENCE)
GUIDELINE = """\
## What you compare

Two runs of agents on one ticket. What both begin with stands on top, once. Their letters say nothing: somebody else
sees them the other way round.

## Gates first

Answer the gates of each run as if it stood alone. **A run that fails a gate loses**, however well it ends; where both
fail, neither is preferred.

## Then the preference

Say which is better and by how much. Longer is not better, and neither is politer. If they are level, say whether both
are good or both are bad.
"""


@dataclass(frozen=True)
class Desk:
    """What is compared: the runs behind the candidates, by the candidates' trajectories."""

    queue: Queue
    runs: dict[int, Run]
    clock: Clock
    seed: int


def compare_runs(
    *, project: Project, lead: User, raters: dict[str, User], runs: dict[int, Run], clock: Clock, seed: int
) -> None:
    """Open a queue of pairs and let the raters prefer; where they differ, it waits for the lead."""
    queue = create_queue(
        actor=lead,
        project=project,
        name=NAME,
        rubric=write_rubric(
            actor=lead,
            project=project,
            name=NAME,
            criteria=CRITERIA,
            unsure_allowed=True,
            item_kind=ItemKind.COMPARISON,
        ),
        guideline=write_guideline(actor=lead, project=project, name="Comparing runs", text=GUIDELINE),
        overlap=OVERLAP,
        lease_minutes=45,
        settle_rule=SettleRule.MAJORITY,
        order=QueueOrder.ARRIVAL,
    )
    make_comparisons_by_task(actor=lead, project=project, most=PAIRS_OF_A_TICKET, queue=queue)
    compared = Candidate.objects.filter(item__queue_items__queue=queue)
    of_trajectory = compared.values_list("trajectory_id", "trajectory__item")
    desk = Desk(queue, {trajectory: runs[item] for trajectory, item in of_trajectory}, clock, seed)
    for key, (count, _noise, _first) in PREFERRERS.items():
        for _ in range(count):
            if not _prefer(desk, next(rater for rater in RATERS if rater.key == key), raters[key]):
                break


def _prefer(desk: Desk, rater: Rater, user: User) -> bool:
    """One pair, claimed and submitted. False where there is none left."""
    try:
        assignment = claim(actor=user, queue=desk.queue)
    except NothingToDeal:
        return False
    seconds, payload = _said(desk, rater, assignment)
    desk.clock.moment += timedelta(seconds=seconds)
    submit(actor=user, uid=assignment.uid, payload=payload, idempotency_key=f"demo-{assignment.uid}")
    settle_marked()
    desk.clock.moment += timedelta(seconds=4)
    return True


def _said(desk: Desk, rater: Rater, assignment: Assignment) -> tuple[int, dict[str, Any]]:
    """How long the rater took, and the judgment in the order of their screen."""
    rng = random.Random(f"{desk.seed}/{rater.key}/{assignment.item_id}/pair")  # noqa: S311
    shown = dict(Candidate.objects.filter(item=assignment.item_id).values_list("position", "trajectory_id"))
    runs = [desk.runs[shown[position]] for position in assignment.candidate_order or ()]
    alone = [judge(rater, run, desk.seed).payload for run in runs]
    payload: dict[str, Any] = {"candidates": [], "evidence": [], "confidence": rng.choice((2, 3, 3))}
    for place, said in enumerate(alone, start=1):
        failed = "fail" in said["gates"].values()
        payload["candidates"].append({"gates": said["gates"]} | ({"failure": said["failure"]} if failed else {}))
        cited = [row for row in said["evidence"] if row["criterion"] in said["gates"]] if failed else []
        payload["evidence"] += [row | {"candidate": place} for row in cited]
    if all(answer == "pass" for said in alone for answer in said["gates"].values()):
        payload["criteria"] = {"better": _preference(rater, rng, runs)}
    payload["rationale"] = _why(payload, alone)
    return 60 + rng.randrange(80), payload


def _preference(rater: Rater, rng: random.Random, runs: list[Run]) -> dict[str, Any]:
    """By how many levels the first is better, seen through the rater's noise and liking for what stands first."""
    _count, noise, first = PREFERRERS[rater.key]
    worth = [sum(run.truth.criteria.values()) for run in runs]
    ahead = worth[0] - worth[1] + rng.gauss(first, noise)
    if abs(ahead) < TIE_BELOW:
        return {"tie": "equally_good" if sum(worth) > 12 else "equally_bad"}
    strength = min(3, max(1, round(abs(ahead) / LEVELS_A_POINT)))
    reasons = sorted(rng.sample(range(1, len(REASONS) + 1), rng.choice((1, 1, 2))))
    return {"prefers": 1 if ahead > 0 else 2, "strength": strength, "reasons": reasons}


def _why(payload: dict[str, Any], alone: list[dict[str, Any]]) -> str:
    for letter, said in zip("AB", alone, strict=True):
        if "fail" in said["gates"].values():
            return f"{letter}: {said['rationale']}"
    better = payload.get("criteria", {}).get("better", {})
    if "prefers" not in better:
        return "I would be as happy with the one as with the other."
    return f"{'AB'[better['prefers'] - 1]} serves the requester better, by the same rules."
