"""How well a grader's version judges as the experts do: one report behind page, API and command."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from goldsets.enums import FamilySplitName
from goldsets.models import Grader, GraderScore, GraderVersion
from goldsets.models.grader import OVERALL
from goldsets.queries.graded import first_scores, graded, scores_of
from goldsets.queries.keeping import Seen, count_and_keep, fresh, seen
from goldsets.queries.paired import paired_rows
from goldsets.queries.verdicts import GATES, VERDICT, Against, Asked, against, asked_behind, asked_in
from goldsets.stats.calibration import LIMIT, Calibration, calibrated, plain
from goldsets.stats.grading import Errors, errors
from goldsets.stats.pairwise import PairCalibration, paired
from goldsets.stats.watching import Watch, watch
from reviews.enums import UNANSWERED, Basis, CriterionKind, GateAnswer, ItemKind, Purpose
from reviews.errors import Invalid
from reviews.models import Item, Label, LabelValue, Project, QueueItem
from reviews.queries.listings import held_by

# So many scores are counted while somebody waits.
FEW_SCORES = 2_000
# Raise it with every change of the classes that are kept.
FORM = 5


@dataclass(frozen=True)
class Question:
    """What a report is asked for: the version, on which criterion, held against what, on which runs, beside whom."""

    version: GraderVersion
    criterion: str
    held: Against
    # What labels of its runs answer.
    answered: Mapping[int, Asked]
    part: str = ""
    limit: float = LIMIT
    other: GraderVersion | None = None

    @property
    def key(self) -> str:
        other = self.other.pk if self.other else 0
        said = f"{self.version.pk}|{self.criterion}|{self.held.key}|{self.part}|{self.limit}|{other}"
        return f"calibration-{FORM}-{sha256(said.encode()).hexdigest()[:32]}"

    @property
    def reads_sealed(self) -> bool:
        return self.part == FamilySplitName.HELD_OUT

    @property
    def asked(self) -> dict[str, Any]:
        """As `question` reads it, for an address or a worker."""
        return {
            "version": self.version.number,
            "criterion": self.criterion,
            "against": self.held.key,
            "part": self.part,
            "limit": self.limit,
            "other": self.other.number if self.other else None,
        }


@dataclass(frozen=True)
class Watching:
    """What is watched: a version on one criterion; with `sealed`, held-out runs beside those of training."""

    question: Question
    sealed: bool = False

    @property
    def version(self) -> GraderVersion:
        return self.question.version

    @property
    def criterion(self) -> str:
        return self.question.criterion

    @property
    def held(self) -> Against:
        return self.question.held

    @property
    def key(self) -> str:
        said = f"{self.version.pk}|{self.criterion}|{self.held.key}|{self.sealed}"
        return f"watch-{FORM}-{sha256(said.encode()).hexdigest()[:32]}"

    @property
    def asked(self) -> dict[str, Any]:
        return {
            "version": self.version.number,
            "criterion": self.criterion,
            "against": self.held.key,
            "sealed": self.sealed,
        }


@dataclass(frozen=True)
class WatchReport:
    """What is watched, in words, and what was found."""

    grader: str
    version: int
    criterion: str
    against_words: str
    sealed: bool
    found: Watch

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        told = {name: getattr(self, name) for name in ("grader", "version", "criterion", "against_words", "sealed")}
        return told | self.found.as_dict()


@dataclass(frozen=True)
class CriterionErrors:
    """The errors on one criterion that the version scores."""

    key: str
    title: str
    errors: Errors


@dataclass(frozen=True)
class Report:
    """The calibration of a version with what it is about, in words, and what was left out."""

    grader: str
    version: int
    label: str
    criterion: str
    against: str
    against_words: str
    part: str
    limit: float
    threshold_words: str
    found: Calibration
    pairs: PairCalibration | None
    criteria: tuple[CriterionErrors, ...]
    n_contradicted: int
    n_held_out: int
    n_shown: int
    n_not_scored: int

    @property
    def missing(self) -> list[str]:
        said = [] if self.pairs and not self.found.n_scored else self.found.missing
        if self.pairs and not self.pairs.n_labelled:
            said.append("No scored pair has a settled preference yet.")
        if self.n_not_scored:
            said.append(f"{_count(self.n_not_scored, 'labelled run')} without a score of this version.")
        return said

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        told = {
            name: getattr(self, name)
            for name in (
                "grader",
                "version",
                "label",
                "criterion",
                "against",
                "against_words",
                "part",
                "limit",
                "threshold_words",
                "n_contradicted",
                "n_held_out",
                "n_shown",
                "n_not_scored",
            )
        }
        return told | {
            "criteria": plain(self.criteria),
            "pairs": plain(self.pairs),
            **self.found.as_dict(),
            "missing": self.missing,
        }


def _count(n: int, words: str) -> str:
    return f"{n:,} {words}{'' if n == 1 else 's'}"


# --- What is asked ----------------------------------------------------------------------------------------------------
def question(grader: Grader, asked: Mapping[str, Any]) -> Question:
    """Reads "version", "criterion", "against", "part", "limit" and "other", each of them optional.

    Raises Invalid with the field at fault. Without a version the latest is meant; without another, the one before it.
    """
    version = _version(grader, asked.get("version"), "version")
    if version is None:
        raise Invalid({"version": "This grader has no version yet."})
    criterion = _criterion(version, asked.get("criterion"))
    answered = asked_behind(version)
    held = against(str(asked.get("against") or _usual(criterion, answered)), answered)
    part = str(asked.get("part") or "")
    if part and part not in FamilySplitName.values:
        raise Invalid({"part": f"The runs of a split are those of {', '.join(FamilySplitName.values)}."})
    limit, other = _limit(asked.get("limit")), _other(version, asked.get("other"))
    return Question(version, criterion, held, answered, part, limit, other)


def watching(grader: Grader, asked: Mapping[str, Any]) -> Watching:
    """Reads "version", "criterion", "against" and "sealed". Raises Invalid with the field at fault."""
    usual = question(grader, {name: asked.get(name) for name in ("version", "criterion", "against")})
    return Watching(usual, bool(asked.get("sealed")))


def _version(grader: Grader, number: Any, field: str) -> GraderVersion | None:
    versions = GraderVersion.objects.filter(grader=grader).select_related("grader__project").order_by("-number")
    if number in (None, ""):
        return versions.first()
    text = str(number)
    found = versions.filter(number=int(text)).first() if text.isascii() and text.isdigit() and len(text) < 10 else None
    if found is None:
        raise Invalid({field: "This grader has no such version."})
    return found


def _other(version: GraderVersion, number: Any) -> GraderVersion | None:
    if number not in (None, ""):
        return _version(version.grader, number, "other")
    before = GraderVersion.objects.filter(grader=version.grader, number__lt=version.number)
    return before.order_by("-number").first()


def criteria_scored(version: GraderVersion) -> list[str]:
    """The criteria of its scores, the whole run first."""
    scores = GraderScore.objects.filter(version=version).order_by("criterion")
    return list(scores.values_list("criterion", flat=True).distinct())


def _criterion(version: GraderVersion, key: Any) -> str:
    scored = criteria_scored(version)
    usual = [version.grader.criterion, OVERALL, *scored]
    if key is None:
        return next((one for one in usual if one in scored), version.grader.criterion)
    if key not in usual:
        raise Invalid({"criterion": f"The version scores {', '.join(one or 'the run as a whole' for one in scored)}."})
    return str(key)


def _usual(criterion: str, known: Mapping[int, Asked]) -> str:
    """A criterion's scores are held against that criterion, where labels answer it with yes or no.

    Of a number nobody has said from which one on it passes.
    """
    kinds = {one.key: one.kind for one in known.values()}
    return "" if kinds.get(criterion, CriterionKind.NUMBER) == CriterionKind.NUMBER else criterion


def _limit(given: Any) -> float:
    if given in (None, ""):
        return LIMIT
    try:
        limit = float(given)
    except (TypeError, ValueError):
        limit = 0.0
    if not 0.0001 <= limit <= 0.5:
        raise Invalid({"limit": "The rate to stay under is a number from 0.0001 to 0.5."})
    return limit


@dataclass(frozen=True)
class Choices:
    """What can be asked for: versions, criteria that are scored, and what they can be held against, by their titles."""

    versions: list[GraderVersion]
    criteria: list[tuple[str, str]]
    against: list[tuple[str, str]]


def choices(asked: Question) -> Choices:
    version = asked.version
    answered = {one.key: one.title for one in asked.answered.values()}
    titles = {one.key: one.title for one in asked_in(version.grader.project).values()} | answered
    criteria = [(key, titles.get(key, key) or "The run as a whole") for key in criteria_scored(version)]
    held = [(VERDICT, "The verdict on the run"), (GATES, "The gates alone"), *answered.items()]
    if asked.held.key not in dict(held):
        held.append((asked.held.key, asked.held.words))
    versions = GraderVersion.objects.filter(grader=version.grader).order_by("-number")
    return Choices(list(versions), criteria, held)


# --- The report -------------------------------------------------------------------------------------------------------
def calibration(asked: Question) -> Report:
    """The report, counted now. Time grows with the number of scores."""
    version, known = asked.version, asked_in(asked.version.grader.project)
    pairs = graded(version, asked.criterion, asked.held, known, part=asked.part)
    threshold, words = threshold_of(version)
    other = asked.other
    beside = None
    if other is not None:
        beside = (other.number, first_scores(other, asked.criterion), threshold_of(other)[0])
    return Report(
        grader=version.grader.name,
        version=version.number,
        label=version.label,
        criterion=asked.criterion,
        against=asked.held.key,
        against_words=asked.held.words,
        part=asked.part,
        limit=asked.limit,
        threshold_words=words,
        found=calibrated(pairs.rows, threshold, limit=asked.limit, other=beside),
        pairs=_pairs(asked),
        criteria=_by_criterion(asked, known),
        n_contradicted=pairs.n_contradicted,
        n_held_out=0 if asked.reads_sealed else pairs.n_held_out,
        n_shown=pairs.n_shown,
        n_not_scored=_not_scored(version, asked.criterion),
    )


def _pairs(asked: Question) -> PairCalibration | None:
    """Of a version that scored comparisons of two."""
    rows = paired_rows(asked.version, asked.criterion, part=asked.part)
    return paired(rows) if rows else None


def threshold_of(version: GraderVersion) -> tuple[float, str]:
    """From which score on the version passes, with a sentence where nobody has decided that."""
    if version.passes_from is not None:
        return version.passes_from, f"It passes from {version.passes_from:g} on."
    middle = (version.lowest + version.highest) / 2
    return middle, f"Nobody has decided from which score on it passes, so the middle of its scale is taken: {middle:g}."


def _by_criterion(asked: Question, known: Mapping[int, Asked]) -> tuple[CriterionErrors, ...]:
    """Where the version scores several criteria, the errors on each against its own answers, the worst first."""
    keys = criteria_scored(asked.version)
    if len(keys) < 2:
        return ()
    answered = asked.answered
    titles = {one.key: one.title for one in (*known.values(), *answered.values())}
    threshold, _words = threshold_of(asked.version)
    found = []
    for key in keys:
        rows = graded(asked.version, key, against(_usual(key, answered), answered), known, part=asked.part).rows
        labelled = [row for row in rows if row.truth is not None]
        table = errors([row.score >= threshold for row in labelled], [bool(row.truth) for row in labelled])
        found.append(CriterionErrors(key, titles.get(key, key) or "The run as a whole", table))
    return tuple(sorted(found, key=lambda one: -(one.errors.false_positive_rate.low or 0.0)))


def _not_scored(version: GraderVersion, criterion: str) -> int:
    scored = scores_of(version, criterion).filter(item=OuterRef("item"))
    standing = QueueItem.objects.filter(
        queue__project=version.grader.project_id,
        queue__purpose=Purpose.WORK,
        label__isnull=False,
        item__kind=ItemKind.TRAJECTORY,
    ).exclude(label__basis__in=UNANSWERED)
    return standing.exclude(Exists(scored)).values("item").distinct().count()


def watched(asked: Watching) -> WatchReport:
    """How the version parts from the experts over checkpoints and weeks, counted now."""
    version, known = asked.version, asked_in(asked.version.grader.project)
    rows = graded(version, asked.criterion, asked.held, known).rows
    if asked.sealed:
        held_out = graded(version, asked.criterion, asked.held, known, part=FamilySplitName.HELD_OUT).rows
        rows = [*rows, *held_out]
    found = watch(rows, threshold_of(version)[0])
    return WatchReport(version.grader.name, version.number, asked.criterion, asked.held.words, asked.sealed, found)


# --- Kept -------------------------------------------------------------------------------------------------------------
def seen_calibration(asked: Question) -> Seen[Report]:
    """The report as a page shows it: a few short queries, unless there are few scores."""
    project = asked.version.grader.project_id
    return seen(asked.key, project, little=lambda: has_few_scores(asked.version), count=lambda: calibration(asked))


def count_calibration(asked: Question) -> None:
    """Count everything anew and keep it."""
    count_and_keep(asked.key, asked.version.grader.project_id, lambda: calibration(asked))


def has_few_scores(version: GraderVersion) -> bool:
    return len(GraderScore.objects.filter(version=version).values("pk")[: FEW_SCORES + 1]) <= FEW_SCORES


def seen_watch(asked: Watching) -> Seen[WatchReport]:
    project = asked.version.grader.project_id
    return seen(asked.key, project, little=lambda: has_few_scores(asked.version), count=lambda: watched(asked))


def fresh_watch(asked: Watching) -> WatchReport:
    """The report as of now, counted where nothing is kept or something has happened since."""
    return fresh(asked.key, asked.version.grader.project_id, lambda: watched(asked)).found


def count_watch(asked: Watching) -> None:
    count_and_keep(asked.key, asked.version.grader.project_id, lambda: watched(asked))


# --- The runs behind it -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class RewardedRun:
    """A run that the grader passed and experts fail, as the gallery shows it: what the label says of it."""

    item: UUID
    task: str
    title: str
    family: str
    failed: tuple[str, ...]
    cause: str
    step: int | None
    note: str
    result: str
    explanation: str


def rewarded_runs(asked: Question, uids: Iterable[UUID], *, reader: Any) -> list[RewardedRun]:
    """These runs in their order, but those that the reader is judging just now. Four queries."""
    uids = list(uids)
    project = asked.version.grader.project
    items = Item.objects.filter(project=project, uid__in=uids).exclude(held_by(reader))
    items = items.select_related("trajectory__task", "trajectory__outcome")
    standing = QueueItem.objects.filter(
        item__in=items.values("pk"), label__isnull=False, queue__purpose=Purpose.WORK
    ).exclude(label__basis=Basis.REVIEWER)
    standing = standing.select_related("label")
    label_of = {row.item_id: row.label for row in standing.order_by("label__failure_step", "pk")}
    gates = LabelValue.objects.filter(
        label__in=[label.pk for label in label_of.values() if label],
        criterion__kind=CriterionKind.GATE,
        value=GateAnswer.FAIL,
    )
    failed: dict[int, list[str]] = defaultdict(list)
    for label, title in gates.order_by("criterion__position").values_list("label", "criterion__title"):
        failed[label].append(title)
    first = scores_of(asked.version, asked.criterion).filter(item__in=items.values("pk"))
    said = dict(first.order_by("item", "attempt").distinct("item").values_list("item", "explanation"))
    rows = {item.uid: _rewarded(item, label_of.get(item.pk), failed, said.get(item.pk, "")) for item in items}
    return [rows[uid] for uid in uids if uid in rows]


def _rewarded(item: Item, label: Label | None, failed: Mapping[int, list[str]], explanation: str) -> RewardedRun:
    run = item.run
    outcome = getattr(run, "outcome", None)
    return RewardedRun(
        item=item.uid,
        task=run.task.key,
        title=run.task.title or run.task.key,
        family=run.task.family,
        failed=tuple(failed.get(label.pk, ())) if label else (),
        cause=label.get_failure_cause_display() if label else "",
        step=label.failure_step if label else None,
        note=label.failure_note if label else "",
        result=outcome.get_result_display().lower() if outcome else "",
        explanation=explanation,
    )


def readable(uids: Iterable[UUID], *, reader: Any, project: Project) -> set[UUID]:
    """Those of the items that the reader is not judging just now."""
    items = Item.objects.filter(project=project, uid__in=list(uids)).exclude(held_by(reader))
    return set(items.values_list("uid", flat=True))
