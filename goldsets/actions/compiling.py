"""Compiles reviewers: labels are frozen, a worker fits and proves, and a lead who did not compile it signs.

How a compile survives (`run_compile`):
1. Which labels it rests on is written down in the transaction that starts it; a later try reads the same ones.
2. The same labels, demands and seed give the same reviewer, so whoever takes up a killed one begins anew.
3. A lock on a folder, which the system lets go of when its process dies, keeps a second worker away.
4. What came out is written in one transaction with its Event, once; the database refuses any change to it.
"""

import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import OperationalError, transaction
from django.db.models import Max
from django.utils import timezone

from goldsets.actions.alone import alone_in
from goldsets.actions.probing import Probing
from goldsets.actions.splitting import deal_families
from goldsets.enums import REVIEWER_MOVES, RULED, GoldVerb, ReviewerState, Rung
from goldsets.models import GraderVersion, Reviewer, ReviewerLabel
from goldsets.queries.judges import cannot_show
from goldsets.queries.label_documents import documents, words_of
from goldsets.queries.reviewers import (
    Decision,
    calibration_families,
    cost_of_asking,
    criteria_of,
    decision_of,
    earlier_readings,
    families_shown_to,
    judges_for,
    labelled,
    said_by,
    sealed_families,
    target_of,
    values_of,
    worth_of_a_person,
)
from goldsets.reviewing import scoring
from goldsets.reviewing.assurance import Demands
from goldsets.reviewing.examples import Example, examples_from
from goldsets.reviewing.hashing import sha256_of
from goldsets.reviewing.rule_lines import WrongRules, check_rules
from goldsets.writers.document import Document
from goldsets.writers.label_row import label_row
from reviews.actions.events import record
from reviews.enums import CriterionKind
from reviews.errors import AssayError, Conflict, Invalid
from reviews.models import Criterion, Queue
from reviews.rules import check

OVERLOOKED_AFTER = timedelta(minutes=10)
BATCH = 5_000
MOST_BUDGET = 10_000
UNFINISHED = [ReviewerState.WAITING, ReviewerState.COMPILING]


class _Stopped(Exception):
    """Somebody cancelled the compile."""


# --- Starting and stopping --------------------------------------------------------------------------------------------
@transaction.atomic
def start_compile(
    *,
    actor: Any,
    queue: Queue,
    criterion: str = "",
    at_least: int | None = None,
    rung: str = Rung.CLASSIFIER,
    rules: Sequence[dict[str, Any]] = (),
    judge: GraderVersion | None = None,
    budget: Decimal | float = 0,
) -> Reviewer:
    """A reviewer that waits for `run_compile`. Without a criterion it decides whether every gate passes.

    Raises Forbidden, Invalid, or Conflict where nothing is labelled or the same is being compiled.
    """
    check(actor, "compile", queue.project)
    decision = _decision(queue, criterion, at_least)
    checked = _checked_rules(rung, rules)
    money = _checked_judge(queue, decision, rung, judge, budget)
    deal_families(project=queue.project)
    # One after the other, so that each gets its own number and sees what is being compiled.
    queue = (
        Queue.objects.select_for_update(no_key=True, of=("self",))
        .select_related("project", "rubric", "guideline")
        .get(pk=queue.pk)
    )
    same = Reviewer.objects.filter(
        queue=queue, criterion=decision.criterion, at_least=decision.at_least, rung=rung, state__in=UNFINISHED
    )
    if same.exists():
        raise Conflict(
            f"The {Rung(rung).label.lower()} for “{decision.title}” is being compiled. Wait, or cancel that."
        )
    frozen = list(labelled(queue).order_by("pk").values_list("pk", "label_id", "label__uid"))
    if not frozen:
        raise Conflict("There is nothing to compile: no item of this queue has a label yet.")
    latest = Reviewer.objects.filter(queue=queue).aggregate(latest=Max("number"))["latest"] or 0
    reviewer = Reviewer.objects.create(
        project=queue.project,
        queue=queue,
        criterion=decision.criterion,
        at_least=decision.at_least,
        rung=rung,
        number=latest + 1,
        rubric=queue.rubric,
        guideline=queue.guideline,
        # Not to be chosen: whoever could choose it could go on until a split flatters.
        seed=f"{queue.uid} {decision.key}"[:64],
        demands=asdict(Demands(epsilon=worth_of_a_person(queue))),
        rules=checked,
        judge=judge,
        budget=money,
        labels_sha256=hashlib.sha256("\n".join(str(uid) for _row, _label, uid in frozen).encode()).hexdigest(),
        labels_total=len(frozen),
        created_by=actor,
    )
    ReviewerLabel.objects.bulk_create(
        (
            ReviewerLabel(reviewer=reviewer, position=position, queue_item_id=row, label_id=label)
            for position, (row, label, _uid) in enumerate(frozen, start=1)
        ),
        batch_size=BATCH,
    )
    _record(reviewer, GoldVerb.COMPILE_STARTED, actor=actor, rung=rung, labels=len(frozen))
    return reviewer


def _decision(queue: Queue, key: str, at_least: int | None) -> Decision:
    criteria = criteria_of(queue)
    if not key:
        if not any(criterion.kind == CriterionKind.GATE for criterion in criteria):
            raise Invalid({"criterion": "This queue asks no gates of single items. Name a criterion."})
        return Decision(None)
    found = next((criterion for criterion in criteria if criterion.key == key), None)
    if found is None:
        known = ", ".join(criterion.key for criterion in criteria)
        raise Invalid(
            {
                "criterion": f"“{key}” cannot be compiled. Those that can: {known}."
                if known
                else "Nothing of this queue can be compiled: no criterion divides single items into pass and fail."
            }
        )
    return Decision(found, _value(found, at_least))


def _value(criterion: Criterion, at_least: int | None) -> int:
    """The value it passes from. A gate and a yes or no pass by themselves; of levels and options it must be said."""
    values = values_of(criterion)
    if at_least is None and values == [1]:
        return 1
    if at_least not in values:
        named = ", ".join(f"{value} ({criterion.level_name(value)})" for value in values) if values != [1] else "1"
        raise Invalid({"at_least": f"Say from which value it passes: {named}."})
    return at_least


def _checked_rules(rung: str, rules: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    if rung not in Rung.values:
        raise Invalid({"rung": f"“{rung}” cannot be compiled. Those that can: {', '.join(Rung.values)}."})
    if rung not in RULED:
        if rules:
            raise Invalid({"rules": "Only the rung of rules and a cascade take rules."})
        return []
    try:
        checked = check_rules(list(rules))
    except WrongRules as error:
        raise Invalid({"rules": str(error)}) from error
    if not checked:
        raise Invalid({"rules": "Write at least one rule, such as “fail: contains unapproved”."})
    return checked


def _checked_judge(
    queue: Queue, decision: Decision, rung: str, judge: GraderVersion | None, budget: Decimal | float
) -> Decimal:
    """The budget for asking the judge about runs that are dressed up."""
    if rung != Rung.JUDGE:
        if judge is not None or budget:
            raise Invalid({"judge": "Only the rung of the judge takes a judge and a budget."})
        return Decimal(0)
    known = judges_for(queue).get(decision.form_key, [])
    if judge is None or judge not in known:
        names = ", ".join(str(version) for version in known) or "none yet, define one"
        raise Invalid({"judge": f"Name a judge of this decision. There is: {names}."})
    money = Decimal(str(budget))
    if not money.is_finite() or not 0 <= money <= MOST_BUDGET:
        raise Invalid({"budget": f"A budget is from 0 to {MOST_BUDGET} US dollars."})
    if not said_by(judge, decision.form_key):
        raise Conflict(f"{judge} has said nothing of this decision yet. Run it over the queue first.")
    if why := cannot_show(judge.judge):
        raise Conflict(why)
    return money


@transaction.atomic
def cancel_compile(*, actor: Any, reviewer: Reviewer) -> Reviewer:
    """Stop one that waits or is being compiled; its worker sees it at its next step.

    Raises Forbidden, or Conflict where it has ended.
    """
    check(actor, "compile", reviewer.project)
    stoppable = [state for state, following in REVIEWER_MOVES.items() if ReviewerState.CANCELLED in following]
    moved = Reviewer.objects.filter(pk=reviewer.pk, state__in=stoppable).update(
        state=ReviewerState.CANCELLED, stage="", finished_at=timezone.now()
    )
    reviewer.refresh_from_db()
    if not moved:
        raise Conflict(f"This compile cannot be stopped: it is {reviewer.get_state_display().lower()}.")
    _record(reviewer, GoldVerb.COMPILE_CANCELLED, actor=actor)
    return reviewer


def overlooked_compiles(*, now: datetime) -> list[int]:
    """Ids of those that wait or run for long: their task was perhaps never queued, or their worker was killed."""
    unfinished = Reviewer.objects.filter(state__in=UNFINISHED)
    return list(unfinished.filter(created_at__lt=now - OVERLOOKED_AFTER).values_list("pk", flat=True))


# --- The work ---------------------------------------------------------------------------------------------------------
def run_compile(*, reviewer_id: int, progress: Callable[[Reviewer], None] = lambda reviewer: None) -> Reviewer:
    """Compile and return the reviewer with its end. Nothing happens to one that is over, or that another compiles.

    An error of the database that may pass (a server going down) is raised, so that the task is tried again.
    """
    begun = Reviewer.objects.filter(pk=reviewer_id, state__in=UNFINISHED).update(state=ReviewerState.COMPILING)
    reviewer = Reviewer.objects.select_related(
        "project", "queue", "criterion", "rubric", "guideline", "created_by"
    ).get(pk=reviewer_id)
    if not begun:
        return reviewer
    folder = Path(settings.MEDIA_ROOT) / "reviewers" / f".{reviewer.uid}"
    with alone_in(folder) as alone:
        if alone:
            _compile(reviewer, progress)
    if alone:
        shutil.rmtree(folder, ignore_errors=True)
    reviewer.refresh_from_db()
    return reviewer


def _compile(reviewer: Reviewer, progress: Callable[[Reviewer], None]) -> None:
    try:
        _work(reviewer, lambda **told: _tell(reviewer, progress, **told))
    except _Stopped:
        pass
    except OperationalError:
        raise
    except AssayError as error:
        _fail(reviewer, error.message)
    except Exception:
        _fail(reviewer, "It stopped because of an error inside Assay. The log has it.")
        raise


def _work(reviewer: Reviewer, tell: Callable[..., None]) -> None:
    # scikit-learn takes a hundred megabytes: it is there in the worker while something is compiled, and nowhere else.
    from goldsets.reviewing.compiling import compile_reviewer

    if reviewer.judge and (why := cannot_show(reviewer.judge.judge)):
        raise Conflict(why)
    read = _Read(reviewer)
    probing = Probing(reviewer.judge, reviewer.budget) if reviewer.judge else None
    for batch in documents(reviewer, read.words, after=0, last=reviewer.labels_total):
        read.add(batch)
        tell(labels_done=batch[-1].position, stage="Reading labels")
    sealed = sealed_families(reviewer.project)

    def told(stage: str) -> None:
        tell(stage=stage)
        if stage == "Proving":
            _log_reading(reviewer, read.examples, set(sealed))

    compiled = compile_reviewer(
        read.examples,
        read.target,
        demands=Demands(**reviewer.demands),
        seed=reviewer.seed,
        sealed=sealed,
        certifying=calibration_families(reviewer.project),
        rules=reviewer.rules,
        cascade=reviewer.rung == Rung.CASCADE,
        judge=probing.told if probing else None,
        shown=families_shown_to(reviewer.judge) if reviewer.judge else (),
        asking=probing.asking if probing else None,
        tell=told,
    )
    _finish(reviewer, compiled, read)


class _Read:
    """What was read of the labels: the rows reduced to examples a batch at a time, and what they came from."""

    def __init__(self, reviewer: Reviewer):
        self.words = words_of(reviewer.project, reviewer)
        self.target = target_of(reviewer)
        self.examples: list[Example] = []
        self.said = said_by(reviewer.judge, self.target.criterion) if reviewer.judge else {}
        self.contents = hashlib.sha256()
        self.versions: dict[str, Counter[str]] = {}
        self.rubrics: Counter[str] = Counter()
        self.guidelines: Counter[str] = Counter()
        self.raters: dict[str, bool] = {}

    def add(self, batch: list[Document]) -> None:
        rows = [label_row(document, self.words) for document in batch]
        examples = examples_from(rows, self.target, first=batch[0].position)
        self.examples += [replace(example, said=self.said.get(example.key)) for example in examples]
        for row in rows:
            self.contents.update(f"{row['content_hash']}\n".encode())
            for named in row["versions"]:
                self.versions.setdefault(named["name"], Counter())[named["value"]] += 1
            self.rubrics[f"{row['rubric']['name']} {row['rubric']['version']}"] += 1
            self.guidelines[f"{row['guideline']['name']} {row['guideline']['version']}"] += 1
            self.raters.update({judgment["rater"]: judgment["simulated"] for judgment in row["judgments"]})

    def origins(self, reviewer: Reviewer) -> dict[str, Any]:
        """Everything it came from, hash by hash."""
        return {
            "labels": {"n": reviewer.labels_total, "sha256": reviewer.labels_sha256},
            "items": {"sha256": self.contents.hexdigest()},
            "rubric": {"name": str(reviewer.rubric), "labels": dict(self.rubrics)},
            "guideline": {
                "name": str(reviewer.guideline),
                "sha256": hashlib.sha256(reviewer.guideline.text.encode()).hexdigest(),
                "labels": dict(self.guidelines),
            },
            "versions": {name: dict(found) for name, found in sorted(self.versions.items())},
            "raters": {"people": len(self.raters), "simulated": sum(self.raters.values())},
            "decision": {
                "criterion": self.target.criterion,
                "at_least": self.target.at_least,
                "gates": self.target.gates,
            },
            "demands": reviewer.demands,
            "rules_sha256": sha256_of(reviewer.rules),
            **({"judge": self._judge(reviewer.judge)} if reviewer.judge else {}),
            "seed": reviewer.seed,
            "scoring_sha256": hashlib.sha256(Path(scoring.__file__).read_bytes()).hexdigest(),
            "earlier_readings": earlier_readings(reviewer),
        }

    def _judge(self, version: GraderVersion) -> dict[str, Any]:
        """Which judge said it, and what an item costs."""
        return {
            "name": str(version),
            "model": version.model,
            "fingerprint": version.fingerprint,
            "said": len(self.said),
            "example_families": families_shown_to(version),
            "dollars": cost_of_asking(version).as_dict(),
        }


def _tell(reviewer: Reviewer, progress: Callable[[Reviewer], None], **told: Any) -> None:
    """How far it is. Raises _Stopped once it is cancelled."""
    if not Reviewer.objects.filter(pk=reviewer.pk, state=ReviewerState.COMPILING).update(**told):
        raise _Stopped
    for name, value in told.items():
        setattr(reviewer, name, value)
    progress(reviewer)


@transaction.atomic
def _log_reading(reviewer: Reviewer, examples: Sequence[Example], sealed: set[str]) -> None:
    held_out = [example for example in examples if example.family in sealed]
    _record(
        reviewer,
        GoldVerb.SEALED_TEST_READ,
        actor=reviewer.created_by,
        held_out_families=len({example.family for example in held_out}),
        held_out_items=len(held_out),
    )


@transaction.atomic
def _finish(reviewer: Reviewer, compiled: Any, read: _Read) -> None:
    """Write what came out, with its Event, both or neither."""
    holds, origins = compiled.assurance.holds, _plain(read.origins(reviewer))
    assurance = _plain(compiled.assurance.as_dict())
    moved = Reviewer.objects.filter(pk=reviewer.pk, state=ReviewerState.COMPILING).update(
        state=ReviewerState.PROVEN if holds else ReviewerState.REFUSED,
        stage="",
        labels_done=reviewer.labels_total,
        families={part.value: families for part, families in compiled.families.items()},
        artefact=compiled.reviewer,
        artefact_sha256=sha256_of(compiled.reviewer) if compiled.reviewer else "",
        origins=origins,
        origins_sha256=sha256_of(origins),
        assurance=assurance,
        finished_at=timezone.now(),
    )
    if not moved:
        return
    if holds:
        _record(reviewer, GoldVerb.REVIEWER_PROVEN, actor=reviewer.created_by)
    else:
        _record(reviewer, GoldVerb.REVIEWER_REFUSED, actor=reviewer.created_by, missing=assurance["missing"])


def _plain(value: Any) -> Any:
    """The same in types that JSON has: numpy's numbers are none."""
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value.item() if hasattr(value, "item") else value


@transaction.atomic
def _fail(reviewer: Reviewer, reason: str) -> None:
    moved = Reviewer.objects.filter(pk=reviewer.pk, state=ReviewerState.COMPILING).update(
        state=ReviewerState.FAILED, stage="", error=reason, finished_at=timezone.now()
    )
    if moved:
        _record(reviewer, GoldVerb.COMPILE_FAILED, actor=reviewer.created_by, error=reason)


# --- The signature ----------------------------------------------------------------------------------------------------
@transaction.atomic
def sign_reviewer(*, actor: Any, reviewer: Reviewer) -> Reviewer:
    """A lead or admin who did not compile it says that they have read the proof. From then on it may be put to work.

    Raises Forbidden, or Conflict with the reason: it is refused, or signed, or this person compiled it.
    """
    check(actor, "sign", reviewer.project)
    reviewer = (
        Reviewer.objects.select_for_update(of=("self",))
        .select_related("project", "queue", "criterion")
        .get(pk=reviewer.pk)
    )
    if reviewer.state != ReviewerState.PROVEN:
        raise Conflict(_not_to_be_signed(reviewer))
    if reviewer.created_by_id == actor.pk:
        raise Conflict("You compiled this yourself, so somebody else signs it.")
    Reviewer.objects.filter(pk=reviewer.pk, state=ReviewerState.PROVEN).update(
        state=ReviewerState.SIGNED, signed_by=actor, signed_at=timezone.now()
    )
    _record(reviewer, GoldVerb.REVIEWER_SIGNED, actor=actor, artefact_sha256=reviewer.artefact_sha256)
    reviewer.refresh_from_db()
    return reviewer


def _not_to_be_signed(reviewer: Reviewer) -> str:
    if reviewer.state == ReviewerState.REFUSED:
        missing = "; ".join(reviewer.assurance["missing"] if reviewer.assurance else [])
        return f"It is refused, and nobody can sign it. What is missing: {missing}."
    return f"Only a proven reviewer is signed: this one is {reviewer.get_state_display().lower()}."


def _record(reviewer: Reviewer, verb: GoldVerb, *, actor: Any, **data: Any) -> None:
    record(
        project=reviewer.project_id,
        actor=actor,
        verb=verb,
        target=reviewer,
        queue=reviewer.queue.name,
        number=reviewer.number,
        decision=decision_of(reviewer).title,
        **data,
    )
