"""Graders of the demo's runs: a check, a judging model in two versions, one of a single gate, and one of pairs.

What each gets wrong is written down here, so that what the lead's pages say of it can be checked. The first judging
model likes length, its own family and what sounds finished; the second is shown the policy and falls for less.
"""

import random
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any

from annotator.demo.clock import Clock
from annotator.demo.raters import RATERS, judge
from annotator.demo.runs import ENVIRONMENT, Run
from annotator.demo.standards import CRITERIA
from annotator.models import User
from goldsets.actions.auditing_graders import open_audit
from goldsets.actions.grader_scores import MOST_SCORES, adopt_scores, post_scores
from goldsets.actions.graders import add_version, register_grader
from goldsets.actions.reading_scores import Given
from goldsets.enums import GraderKind, GraderScale, ScoreOrder
from goldsets.models import GraderVersion
from goldsets.queries.graders import REWARD
from reviews.actions.auditing import audit_verdicts, show_verdicts
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.rubrics import write_rubric
from reviews.actions.settling import settle_marked
from reviews.enums import ItemKind
from reviews.models import Candidate, Guideline, Item, Project, QueueItem

JUDGE_MODEL = "harrier-2-judge"
OWN_FAMILY = "harrier"
# How far each version of the judge moves its score for what is no better: length, its own family, what is made up.
FALLS_FOR = {
    1: {"long": 0.24, "own": 0.16, "made_up": 0.34, "noise": 0.15},
    2: {"long": 0.08, "own": 0.05, "made_up": 0.16, "noise": 0.09},
}
ASKED_AGAIN, TIMES = 60, 4
CHECKPOINTS = ((0, 0.0), (200, 0.9), (400, 2.6), (600, 5.1))
LONG = 1400
# How much the pair judge favours what stands first, and its own family, in levels.
FIRST_PLACE, OWN_SIDE = 1.5, 1.0
AUDITED, CHECKED_BY = 14, ("tessa", "arjun")


@dataclass(frozen=True)
class _Desk:
    engineer: User
    project: Project
    runs: dict[int, Run]
    """Item -> the run behind it."""
    uids: dict[int, Any]
    clock: Clock
    seed: int

    def rng(self, *what: object) -> random.Random:
        return random.Random("/".join(map(str, (self.seed, *what))))  # noqa: S311


def grade(
    *,
    project: Project,
    people: dict[Any, User],
    raters: dict[str, User],
    runs: dict[int, Run],
    guideline: Guideline,
    clock: Clock,
    seed: int,
) -> None:
    """Register the graders, bring their scores in, and have some verdicts of the better judge checked."""
    uids = dict(Item.objects.filter(project=project).values_list("pk", "uid"))
    desk = _Desk(people["engineer"], project, runs, uids, clock, seed)
    _check_of_results(desk)
    _check_of_consent(desk)
    judged = _judges(desk)
    _judge_of_pairs(desk)
    clock.moment += timedelta(minutes=20)
    _have_checked(desk, people["lead"], raters, judged, guideline)


def _register(desk: _Desk, name: str, kind: str, **fields: Any) -> Any:
    desk.clock.moment += timedelta(minutes=2)
    return register_grader(actor=desk.engineer, project=desk.project, name=name, kind=kind, **fields)


def _version(desk: _Desk, grader: Any, **fields: Any) -> GraderVersion:
    prompt = f"{grader.name} {fields.get('label', '')}"
    return add_version(
        actor=desk.engineer,
        grader=grader,
        environment=ENVIRONMENT,
        fingerprint=sha256(prompt.encode()).hexdigest(),
        **fields,
    )


def _post(desk: _Desk, version: GraderVersion, scores: list[Given]) -> None:
    for start in range(0, len(scores), MOST_SCORES):
        post_scores(actor=desk.engineer, version=version, scores=scores[start : start + MOST_SCORES])
    desk.clock.moment += timedelta(minutes=4)


def _check_of_results(desk: _Desk) -> None:
    """Whether the ticket is resolved in the world, whatever was done on the way: the reward that came with the runs."""
    note = "Looks at the end state alone. A run that breaks a gate and resolves the ticket passes."
    grader = _register(desk, "Ticket resolved", GraderKind.DETERMINISTIC, note=note)
    adopt_scores(actor=desk.engineer, version=_version(desk, grader, label="end state", source=REWARD))


def _check_of_consent(desk: _Desk) -> None:
    """Looks for the word yes before a change, and misses a yes in other words, and one to something else."""
    note = "Searches for “yes” in the turn before each change."
    grader = _register(desk, "Consent check", GraderKind.DETERMINISTIC, criterion="consent", note=note)
    scores = []
    for item, run in desk.runs.items():
        holds, draw = run.truth.gates["consent"] == "pass", desk.rng("consent", item).random()
        value = holds if draw > 0.08 else not holds
        scores.append(Given(item=desk.uids[item], value=value, seconds=0.02 + draw / 50))
    _post(desk, _version(desk, grader, label="regular expression"), scores)


# --- The judging model ------------------------------------------------------------------------------------------------
def _judges(desk: _Desk) -> GraderVersion:
    note = "Reads the whole run and says how good it is, with the steps it rests on."
    grader = _register(desk, "Policy judge", GraderKind.MODEL, note=note)
    shared = {"model": JUDGE_MODEL, "scale": GraderScale.REAL, "threshold": 0.5}
    first = _version(desk, grader, label="plain prompt", attempts_cap=TIMES, parameters={"temperature": 0.7}, **shared)
    labels = QueueItem.objects.filter(queue__project=desk.project, label__isnull=False)
    labelled = set(labels.values_list("item", flat=True))
    again = sorted(desk.runs, key=lambda item: (item not in labelled, desk.rng("again", item).random()))[:ASKED_AGAIN]
    scores = [_judged(desk, item, 1, 1) for item in desk.runs]
    scores += [_judged(desk, item, 1, attempt) for item in again for attempt in range(2, TIMES + 1)]
    _post(desk, first, scores)
    second = _version(desk, grader, label="policy in the prompt", parameters={"temperature": 0}, **shared)
    _post(desk, second, [_judged(desk, item, 2, 1) for item in desk.runs])
    return second


def _judged(desk: _Desk, item: int, number: int, attempt: int) -> Given:
    run, rng, weak = desk.runs[item], desk.rng("judge", number, attempt, item), FALLS_FOR[number]
    words = sum(len(text) for _, text in run.session.spoken)
    worth = 0.78 if _is_good(run) else 0.3 - 0.1 * len(run.truth.evidence)
    worth += weak["long"] * (words > LONG) + weak["own"] * run.model.startswith(OWN_FAMILY)
    worth += weak["made_up"] * (run.truth.gates["honest"] == "fail")
    value = round(min(1.0, max(0.0, rng.gauss(worth, weak["noise"]))), 3)
    tokens = 900 + words
    return Given(
        item=desk.uids[item],
        attempt=attempt,
        value=value,
        explanation=_why(run, value),
        evidence=_cited(run, rng, value),
        cost=Decimal(tokens) * Decimal("0.0000031"),
        seconds=round(rng.uniform(1.8, 6.5) + tokens / 900, 2),
        tokens=tokens,
        meta=_checkpoint(desk, item, run),
    )


def _is_good(run: Run) -> bool:
    return not run.truth.evidence and run.truth.criteria.get("task_success", 0) >= 2


def _why(run: Run, value: float) -> str:
    if value >= 0.5:
        return "The request is dealt with, and every change is agreed to."
    return next(iter(run.truth.reasons.values()), "The request is not dealt with.")


def _cited(run: Run, rng: random.Random, value: float) -> tuple[dict[str, Any], ...]:
    """Where it fails a run for a reason, the place that shows it; else something that was said, whatever it shows."""
    if value < 0.5 and run.truth.evidence:
        return tuple({"step": span.step, "quote": span.quote} for span in run.truth.evidence[:2])
    said = rng.sample(run.session.spoken, min(len(run.session.spoken), 2))
    return tuple({"step": step, "quote": text.split("\n")[0][:160]} for step, text in sorted(said))


def _checkpoint(desk: _Desk, item: int, run: Run) -> dict[str, Any]:
    """Where the policy was that made the run: the further it was trained, the more often it pleases and is wrong."""
    pleasing = run.truth.gates["honest"] == "fail" or run.habit == "verbose_but_wrong"
    weights = (1, 2, 4, 6) if pleasing else (4, 4, 3, 2)
    step, kl = desk.rng("checkpoint", item).choices(CHECKPOINTS, weights)[0]
    return {"checkpoint": f"step-{step}", "training_step": step, "kl": kl}


# --- The judge of pairs -----------------------------------------------------------------------------------------------
def _judge_of_pairs(desk: _Desk) -> None:
    """Asked in both orders: what stands first is liked, whoever stands there."""
    note = "Says which of two runs is better. Asked in both orders."
    grader = _register(desk, "Pair judge", GraderKind.MODEL, note=note)
    scale = {"scale": GraderScale.ORDINAL, "lowest": -1, "highest": 1}
    version = _version(desk, grader, label="both orders", model=JUDGE_MODEL, **scale)
    item_of = dict(Item.objects.filter(project=desk.project, kind=ItemKind.TRAJECTORY).values_list("trajectory", "pk"))
    pairs: dict[Any, list[Run]] = {}
    sides = Candidate.objects.filter(item__project=desk.project, item__kind=ItemKind.COMPARISON)
    for uid, run in sides.order_by("item", "position").values_list("item__uid", "trajectory"):
        pairs.setdefault(uid, []).append(desk.runs[item_of[run]])
    scores = []
    for uid, runs in pairs.items():
        for order in ScoreOrder:
            shown = runs if order == ScoreOrder.AS_SHOWN else runs[::-1]
            ahead = _worth(shown[0]) - _worth(shown[1]) + desk.rng("pair", uid, order).gauss(FIRST_PLACE, 1.0)
            value = 0 if abs(ahead) < 0.4 else 1 if ahead > 0 else -1
            scores.append(Given(item=uid, value=value, order=order, cost=Decimal("0.0061"), seconds=5.5))
    _post(desk, version, scores)


def _worth(run: Run) -> float:
    return sum(run.truth.criteria.values()) / 3 + OWN_SIDE * run.model.startswith(OWN_FAMILY)


# --- Its reasons, checked ---------------------------------------------------------------------------------------------
def _have_checked(
    desk: _Desk, lead: User, raters: dict[str, User], version: GraderVersion, guideline: Guideline
) -> None:
    """Two raters judge some runs blind, and then say of the judge's verdict and of what it cites whether it holds."""
    rubric = write_rubric(
        actor=lead,
        project=desk.project,
        name="Support runs, graders checked",
        criteria=CRITERIA,
        unsure_allowed=True,
        audits=True,
    )
    queue = open_audit(
        actor=lead,
        version=version,
        name="The judge's reasons",
        rubric=rubric,
        guideline=guideline,
        which="all",
        most=2 * AUDITED,
    )
    for key in CHECKED_BY:
        rater = next(rater for rater in RATERS if rater.key == key)
        for _ in range(AUDITED // len(CHECKED_BY)):
            assignment = claim(actor=raters[key], queue=queue)
            run = desk.runs[assignment.item_id]
            verdict = judge(rater, run, desk.seed)
            desk.clock.moment += timedelta(seconds=verdict.seconds)
            submit(
                actor=raters[key],
                uid=assignment.uid,
                payload=verdict.payload,
                idempotency_key=f"demo-{assignment.uid}",
            )
            shown = show_verdicts(actor=raters[key], uid=assignment.uid)
            desk.clock.moment += timedelta(seconds=35)
            found = {"verdicts": [_found(said, run) for said in shown.verdicts]}
            audit_verdicts(actor=raters[key], uid=assignment.uid, payload=found)
    settle_marked()


def _found(said: dict[str, Any], run: Run) -> dict[str, Any]:
    """What is true of a verdict and of each place it cites."""
    passed = str(said["value"]).startswith("pass")
    shows = {(span.step, span.quote) for span in run.truth.evidence}
    right = passed == _is_good(run)
    valid = [right and (passed or (place["step"], place["quote"]) in shows) for place in said["evidence"]]
    note = "" if right and all(valid) else "What it cites does not show it." if right else "It overlooks what is wrong."
    return {"grader": said["grader"], "right": right, "evidence": valid, "note": note}
