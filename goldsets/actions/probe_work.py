"""Puts the approved probes of a grader to one of its versions: asked from here, at its own address, or elsewhere.

A run asks about each probe once; whoever takes up a run that was killed goes on behind what is answered.
"""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import OperationalError, transaction
from django.db.models import F
from django.utils import timezone

from goldsets.actions.judge_work import alone_in, dollars
from goldsets.actions.judges import OVERLOOKED_AFTER, check_can_ask, wrong_budget
from goldsets.enums import PROBE_RUN_MOVES, GoldVerb, ProbeRunState, ProbeSource
from goldsets.models import GraderVersion, JudgeSetup, Probe, ProbeAnswer, ProbeRun
from goldsets.queries.calibration import threshold_of
from goldsets.queries.judges import cannot_ask, endpoint, judge_of, prices_of, setup_of
from goldsets.queries.probes import approved_probes, asked_about, hook_of
from goldsets.reviewing.chat import NoAnswer
from goldsets.reviewing.hook import ask_hook
from goldsets.reviewing.judge_scores import scores_from
from goldsets.reviewing.judging import Ending, Verdict, ask_judge, cost_of, most_cost
from goldsets.stats.probing import holds
from reviews.actions.events import record
from reviews.errors import Conflict, Invalid
from reviews.rules import check

# The name space of the lock of runs of probes.
LOCKS = 0x70726F62
MOST_IMPORTED = 10_000
LONGEST_WHY = 2_000


@transaction.atomic
def start_probes(*, actor: Any, version: GraderVersion, budget: Decimal = Decimal(0)) -> ProbeRun:
    """A run of all approved probes, waiting for `run_probes`. A judging model needs a budget in US dollars.

    Raises Forbidden, Invalid, or Conflict where nothing is approved or nobody can be asked.
    """
    grader = version.grader
    check(actor, "manage_graders", grader.project)
    setup = JudgeSetup.objects.filter(version=version).first()
    source = ProbeSource.JUDGE if setup else ProbeSource.HOOK
    if setup:
        if words := wrong_budget(budget):
            raise Invalid({"budget": words})
        check_can_ask(setup)
    elif hook_of(grader) is None:
        raise Conflict(
            "Nobody can be asked: the version is no judge that runs from here, and its grader has no address of its "
            "own. Set one, or take the probes out and bring their scores in."
        )
    return _started(actor, version, source, budget)


@transaction.atomic
def import_answers(*, actor: Any, version: GraderVersion, scores: Sequence[Mapping[str, Any]]) -> ProbeRun:
    """A finished run from scores given elsewhere: rows of {"probe": id, "value": number or null, "why": text}.

    Raises Forbidden, Conflict, or Invalid with every row at fault.
    """
    check(actor, "manage_graders", version.grader.project)
    run = _started(actor, version, ProbeSource.IMPORT, Decimal(0))
    known = {str(probe.uid): probe for probe in approved_probes(version.grader)}
    errors: dict[str, str] = {}
    found: dict[str, Mapping[str, Any]] = {}
    if len(scores) > MOST_IMPORTED:
        raise Invalid({"scores": f"Send at most {MOST_IMPORTED:,} scores."})
    for number, row in enumerate(scores, start=1):
        problem = _wrong_row(row, known, found)
        if problem:
            errors[f"scores.{number}"] = problem
        else:
            found[str(row["probe"])] = row
    if errors:
        raise Invalid(dict(list(errors.items())[:50]))
    answers = [
        _answered(run, known[uid], _Came(_value(row), str(row.get("why") or ""), given=row.get("value") is not None))
        for uid, row in found.items()
    ]
    ProbeAnswer.objects.bulk_create(answers)
    _moved(run, ProbeRunState.RUNNING)
    _end(run, ProbeRunState.FINISHED)
    return run


def _wrong_row(row: Any, known: Mapping[str, Probe], found: Mapping[str, Any]) -> str:
    if not isinstance(row, Mapping) or str(row.get("probe")) not in known:
        return "There is no such approved probe of this grader."
    if str(row["probe"]) in found:
        return "This probe has a score already."
    value = row.get("value")
    if value is not None and (isinstance(value, bool | str) or not isinstance(value, int | float) or value != value):
        return "A value is a number, or null where the grader gave none."
    return ""


def _value(row: Mapping[str, Any]) -> float | None:
    return None if row.get("value") is None else float(row["value"])


def _started(actor: Any, version: GraderVersion, source: ProbeSource, budget: Decimal) -> ProbeRun:
    count = approved_probes(version.grader).count()
    if not count:
        raise Conflict("This grader has no approved probe. Make some, and have an expert check them.")
    run = ProbeRun.objects.create(version=version, source=source, budget=budget, created_by=actor)
    told = {"name": version.grader.name, "number": version.number, "probes": count, "source": source}
    record(project=version.grader.project, actor=actor, verb=GoldVerb.PROBES_STARTED, target=run, **told)
    return run


def overlooked_probes(*, now: datetime) -> list[int]:
    """Ids of runs that wait or are at work for long."""
    unfinished = ProbeRun.objects.filter(state__in=[ProbeRunState.WAITING, ProbeRunState.RUNNING])
    return list(unfinished.filter(created_at__lt=now - OVERLOOKED_AFTER).values_list("pk", flat=True))


# --- The work ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Came:
    """What came of asking about a probe. `given` is false where nobody answered at all; `hopeless` ends the run."""

    value: float | None
    why: str = ""
    given: bool = True
    cost: float = 0.0
    seconds: float = 0.0
    tokens: int = 0
    hopeless: bool = False


def run_probes(*, run_id: int) -> ProbeRun:
    """Ask about every approved probe that the run has no answer to. Nothing happens to a run that is over."""
    run = ProbeRun.objects.select_related("version__grader__project", "created_by").get(pk=run_id)
    with alone_in(LOCKS, run.pk) as alone:
        if not alone or (run.state == ProbeRunState.WAITING and not _moved(run, ProbeRunState.RUNNING)):
            return run
        if run.state != ProbeRunState.RUNNING:
            return run
        try:
            problem = _work_off(run)
        except OperationalError:
            raise
        except Exception:
            _end(run, ProbeRunState.FAILED, "It stopped because of an error inside Assay. The log has it.")
            raise
        _end(run, ProbeRunState.FAILED if problem else ProbeRunState.FINISHED, problem)
    return run


def _work_off(run: ProbeRun) -> str:
    """Ask in small groups; why it could not go on, or ""."""
    asking = _Judging(run) if run.source == ProbeSource.JUDGE else _Hook(run)
    left = approved_probes(run.version.grader).exclude(answers__run=run).select_related("grader")
    size = max(1, settings.JUDGE_CONCURRENCY)
    with ThreadPoolExecutor(size) as threads:
        while group := list(left[:size]):
            if problem := asking.cannot(group):
                return problem
            came = list(threads.map(asking.ask, group))
            with transaction.atomic():
                answers = [
                    _answered(run, probe, one) for probe, one in zip(group, came, strict=True) if not one.hopeless
                ]
                ProbeAnswer.objects.bulk_create(answers)
                spent = dollars(sum(one.cost for one in came))
                ProbeRun.objects.filter(pk=run.pk).update(spent=F("spent") + spent)
            run.refresh_from_db(fields=["spent"])
            if hopeless := next((one.why for one in came if one.hopeless), ""):
                return hopeless
    return ""


class _Judging:
    """Asks a judging model from here."""

    def __init__(self, run: ProbeRun):
        setup = setup_of(run.version)
        self.run, self.judge, self.prices = run, judge_of(setup), prices_of(setup)
        self.server, self.problem = endpoint(setup.protocol), cannot_ask(setup)

    def cannot(self, group: Sequence[Probe]) -> str:
        if self.problem:
            return self.problem
        most = sum(most_cost(self.judge, self.judge.prompt(probe.document), self.prices) for probe in group)
        if most > float(self.run.budget - self.run.spent):
            return f"The next probes could take it over its budget: they can cost {most:.4f} US dollars at most."
        return ""

    def ask(self, probe: Probe) -> _Came:
        """In a thread: touches no database."""
        judge, prompt = self.judge, self.judge.prompt(probe.document)
        try:
            verdict = ask_judge(judge, probe.document, self.server, wait=time.sleep)  # type: ignore[arg-type]
        except NoAnswer as error:
            cost = cost_of(Verdict(Ending.UNREADABLE, lost=error.lost), judge, prompt, self.prices)
            return _Came(None, str(error), given=False, cost=cost, hopeless=error.hopeless)
        scores = scores_from(verdict.said, rubric=judge.rubric, criterion=judge.criterion)
        value = next((one.value for one in scores if one.criterion == judge.criterion), None)
        why = " ".join(dict.fromkeys(f"{one.criterion}: {one.problem}" for one in verdict.said if one.problem))
        reason = " ".join(one.reason for one in verdict.said)
        return _Came(
            value,
            verdict.problem or why or reason,
            cost=cost_of(verdict, judge, prompt, self.prices),
            seconds=verdict.seconds,
            tokens=(verdict.tokens_in or 0) + (verdict.tokens_out or 0),
        )


class _Hook:
    """Asks a grader at its own address."""

    def __init__(self, run: ProbeRun):
        self.hook = hook_of(run.version.grader)
        self.version = run.version.number

    def cannot(self, _group: Sequence[Probe]) -> str:
        return "" if self.hook else "The grader has no address any more."

    def ask(self, probe: Probe) -> _Came:
        """In a thread: touches no database."""
        score = ask_hook(
            self.hook.url,  # type: ignore[union-attr]
            {**asked_about(probe), "version": self.version},
            secret=self.hook.secret,  # type: ignore[union-attr]
            private_allowed=settings.WEBHOOKS_MAY_REACH_PRIVATE,
            patience=settings.JUDGE_TIMEOUT_SECONDS,
            tries=max(1, settings.JUDGE_TRIES),
            back_off=settings.JUDGE_BACK_OFF_SECONDS,
            wait=time.sleep,
        )
        return _Came(score.value, score.why, given=score.value is not None, seconds=score.seconds)


def _answered(run: ProbeRun, probe: Probe, came: _Came) -> ProbeAnswer:
    least, _words = threshold_of(run.version)
    passes = None if came.value is None else came.value >= least
    return ProbeAnswer(
        run=run,
        probe=probe,
        value=came.value,
        passes=passes,
        held=holds(probe.passes, passes) if came.given else None,
        why=came.why[:LONGEST_WHY],
        cost=dollars(came.cost),
        seconds=came.seconds,
        tokens=came.tokens,
    )


def _moved(run: ProbeRun, state: ProbeRunState, **changes: Any) -> bool:
    before = [one for one, following in PROBE_RUN_MOVES.items() if state in following]
    found = ProbeRun.objects.filter(pk=run.pk, state__in=before).update(state=state, **changes)
    run.refresh_from_db(fields=["state", "spent", "error", "finished_at"])
    return bool(found)


@transaction.atomic
def _end(run: ProbeRun, state: ProbeRunState, error: str = "") -> None:
    if _moved(run, state, error=error, finished_at=timezone.now()):
        told = {"name": run.version.grader.name, "number": run.version.number, "state": state}
        record(project=run.version.grader.project, actor=run.created_by, verb=GoldVerb.PROBES_ENDED, target=run, **told)
