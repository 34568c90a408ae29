"""An environment with its grader as an instrument: its checklist for training, and what it measures well and badly."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTextTransform

from goldsets.enums import DatasetPurpose, FamilySplitName
from goldsets.models import DatasetVersion, FamilySplit, Grader, GraderVersion
from goldsets.queries.agreement import current_agreement
from goldsets.queries.calibration import FORM, Question, has_few_scores, question, threshold_of
from goldsets.queries.graded import graded, scores_of
from goldsets.queries.keeping import Seen, count_and_keep, seen
from goldsets.queries.leaks import latest_report
from goldsets.queries.leaving import held_out_families
from goldsets.queries.probes import WORDS, stood_of
from goldsets.queries.splits import tasks_apart_from
from goldsets.queries.verdicts import asked_in
from goldsets.stats.calibration import calibrated, plain
from goldsets.stats.checklist import complete, wrong_terms
from goldsets.stats.instrument import TERMS, Circumstances, Instrument, instrument
from goldsets.stats.near import text_hash
from goldsets.stats.probing import Stood
from reviews.errors import Invalid
from reviews.models import Project, Queue, QueueItem, Task, Trajectory
from reviews.stats.result import Estimate

# Agreement of so many queues is told, those with the most of the scored runs.
MOST_QUEUES = 6
MOST_ENVIRONMENTS = 8
MOST_SHARED = 50


@dataclass(frozen=True)
class QueueAlpha:
    """How raters agree in a queue that labels come from: on its weakest criterion."""

    queue: str
    uid: str
    items: int
    criterion: str
    alpha: Estimate | None


@dataclass(frozen=True)
class InstrumentReport:
    """The instrument with what it is about, the terms it is held to, the raters behind its labels, and how it stood up
    to each kind of probe."""

    grader: str
    version: int
    against_words: str
    model: str
    terms: dict[str, float]
    queues: tuple[QueueAlpha, ...]
    probes: tuple[Stood, ...]
    found: Instrument

    @property
    def attacks(self) -> list[tuple[str, Stood]]:
        """Each kind of probe in words, with how the version stood up to it."""
        return [(WORDS[one.kind], one) for one in self.probes]

    @property
    def is_probed(self) -> bool:
        return any(one.probes for one in self.probes)

    @property
    def weakest(self) -> QueueAlpha | None:
        """The queue behind the labels in which raters agree least, where that is defined of any."""
        known = [one for one in self.queues if one.alpha and one.alpha.value is not None]
        return min(known, key=lambda one: one.alpha.value or 0.0 if one.alpha else 0.0, default=None)

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        told = {name: getattr(self, name) for name in ("grader", "version", "against_words", "model", "terms")}
        probes = [one.as_dict() for one in self.probes]
        return told | {"queues": plain(self.queues), "probes": probes} | self.found.as_dict()


@dataclass(frozen=True)
class Asked:
    """What is asked for: as a calibration, with the terms to hold it to and the model whose pass rates count."""

    question: Question
    terms: Mapping[str, float]
    model: str = ""

    @property
    def version(self) -> GraderVersion:
        return self.question.version

    @property
    def key(self) -> str:
        said = f"{self.question.key}|{sorted(self.terms.items())}|{self.model}"
        return f"instrument-{FORM}-{sha256(said.encode()).hexdigest()[:32]}"

    @property
    def asked(self) -> dict[str, Any]:
        """As `asked_for` reads it."""
        asked = self.question.asked
        return {name: asked[name] for name in ("version", "criterion", "against")} | {"model": self.model, **self.terms}


def asked_for(grader: Grader, given: Mapping[str, Any]) -> Asked:
    """Reads "version", "criterion", "against", "model" and any of TERMS. Raises Invalid with the field at fault."""
    if unknown := set(given) - {"version", "criterion", "against", "model", *TERMS}:
        raise Invalid({name: f"There is no such term. There are {', '.join(TERMS)}." for name in unknown})
    usual = question(grader, {name: given.get(name) for name in ("version", "criterion", "against")})
    terms = {name: _number(given[name]) for name in TERMS if given.get(name) not in (None, "")}
    if wrong := wrong_terms(terms, TERMS):
        raise Invalid(wrong)
    return Asked(usual, terms, str(given.get("model") or "")[:200])


def _number(given: Any) -> Any:
    try:
        return float(given)
    except (TypeError, ValueError):
        return given


def measured(asked: Asked) -> InstrumentReport:
    """The report, counted now. Held-out runs are left out."""
    version, held = asked.version, asked.question.held
    rows = graded(version, asked.question.criterion, held, asked_in(version.grader.project)).rows
    terms = complete(asked.terms, TERMS)
    threshold, _words = threshold_of(version)
    found = instrument(
        rows,
        calibrated(rows, threshold, limit=terms["max_false_positive"] or 0.0001),
        circumstances(version, asked.question.criterion),
        terms,
        model=asked.model,
    )
    return InstrumentReport(
        grader=version.grader.name,
        version=version.number,
        against_words=held.words,
        model=found.bands[0].model if found.bands else "",
        terms=terms,
        queues=_queues(version, asked.question.criterion),
        probes=tuple(stood_of(version).rows),
        found=found,
    )


# --- What is known of the runs ----------------------------------------------------------------------------------------
def circumstances(version: GraderVersion, criterion: str) -> Circumstances:
    project = version.grader.project
    sealed = tasks_apart_from(project, DatasetPurpose.ONLINE)
    scored = Trajectory.objects.filter(item__in=scores_of(version, criterion).values("item"))
    runs = scored.exclude(task__in=sealed.values("pk"))
    named = KeyTextTransform("environment", "versions")
    compared, shared = _shared(sealed, runs)
    environments = Counter(runs.annotate(named=named).order_by().values_list("named", flat=True))
    pinned = {name: n for name, n in environments.items() if name}
    most = sorted(pinned.items(), key=lambda one: (-one[1], one[0]))[:MOST_ENVIRONMENTS]
    return Circumstances(
        runs=sum(environments.values()),
        pinned=sum(pinned.values()),
        environments=tuple(most),
        with_reset=runs.filter(versions__has_key="reset").count(),
        grader_pinned=bool(version.fingerprint),
        held_out_families=_held_out(project),
        compared=compared,
        shared=shared,
        near=_near(project),
    )


def _held_out(project: Project) -> int:
    dealt = FamilySplit.objects.filter(plan__project=project, split=FamilySplitName.HELD_OUT).values_list(
        "family", flat=True
    )
    return len({*dealt, *held_out_families(project)})


def _shared(sealed: QuerySet[Task], runs: QuerySet[Trajectory]) -> tuple[int, tuple[str, ...]]:
    """How many tasks of the scored runs were compared, and those of which a held-out one asks the same words."""
    asked = {_request_hash(context) for context in sealed.values_list("context", flat=True).iterator()} - {None}
    if not asked:
        return 0, ()
    here = Task.objects.filter(trajectories__in=runs).distinct()
    rows = here.order_by("key").values_list("key", "context").iterator()
    requests = {key: _request_hash(context) for key, context in rows}
    known = {key: request for key, request in requests.items() if request}
    return len(known), tuple(key for key, request in known.items() if request in asked)[:MOST_SHARED]


def _request_hash(context: Any) -> str | None:
    request = context.get("request") if isinstance(context, dict) else None
    return text_hash(request) if isinstance(request, str) and request.strip() else None


def _near(project: Project) -> str:
    """What the last leak check of an export found, in a sentence."""
    version = DatasetVersion.objects.filter(dataset__project=project).order_by("-created_at").first()
    report = latest_report(version) if version else None
    if version is None or report is None:
        return "no export was searched for near texts yet"
    found = f"{report.leaks} near texts" if report.leaks else "no near text"
    return f"the last export searched, {version.dataset.name} {version.number}, has {found} in other splits"


# --- The raters behind the labels -------------------------------------------------------------------------------------
def _queues(version: GraderVersion, criterion: str) -> tuple[QueueAlpha, ...]:
    items = scores_of(version, criterion).values("item")
    counted: dict[int, int] = defaultdict(int)
    places = QueueItem.objects.filter(item__in=items, label__isnull=False).order_by()
    for queue in places.values_list("queue", flat=True).iterator():
        counted[queue] += 1
    found = []
    for row in Queue.objects.filter(pk__in=counted).select_related("project", "rubric", "guideline"):
        weakest = current_agreement(row).found.weakest
        alpha = weakest.alpha if weakest else None
        found.append(QueueAlpha(row.name, str(row.uid), counted[row.pk], weakest.title if weakest else "", alpha))
    return tuple(sorted(found, key=lambda one: -one.items)[:MOST_QUEUES])


# --- Kept -------------------------------------------------------------------------------------------------------------
def seen_instrument(asked: Asked) -> Seen[InstrumentReport]:
    project = asked.version.grader.project_id
    return seen(asked.key, project, little=lambda: has_few_scores(asked.version), count=lambda: measured(asked))


def count_instrument(asked: Asked) -> None:
    count_and_keep(asked.key, asked.version.grader.project_id, lambda: measured(asked))
