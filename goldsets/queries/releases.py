"""A version's checklist, computed from what it was made of; who downloaded it; and licences of sources."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, F, Max, OuterRef, QuerySet

from goldsets.enums import DatasetState, FamilySplitName, GoldVerb
from goldsets.models import (
    Dataset,
    DatasetVersion,
    FamilySplit,
    Release,
    ReleaseSignature,
    ReleaseTerms,
    SourceLicence,
    Withdrawal,
)
from goldsets.queries.agreement import queue_agreement
from goldsets.queries.answers import gold_answers
from goldsets.queries.keeping import Seen, count_and_keep, fresh, seen
from goldsets.queries.leaks import latest_report, runs_of
from goldsets.queries.leaving import rows_of, supporting_judgments
from goldsets.queries.values import criterion_of
from goldsets.stats.checklist import (
    Check,
    at_least,
    complete,
    lower_end,
    share_at_least,
    share_at_most,
    upper_end,
)
from goldsets.stats.proportion import clopper_pearson, wilson
from reviews.enums import Basis, CriterionKind, GateAnswer, ImportState, Provenance, Split
from reviews.models import (
    Criterion,
    Event,
    Evidence,
    ImportJob,
    Judgment,
    LabelValue,
    Membership,
    Project,
    Queue,
    Task,
)

SIGNATURES = 2
# What is kept in another form is counted anew.
FORM = 2
# With so many in its queues a version's checklist is counted while somebody waits.
FEW_JUDGMENTS = 200


# --- Terms ------------------------------------------------------------------------------------------------------------
def terms_of(dataset: Dataset) -> QuerySet[ReleaseTerms]:
    return ReleaseTerms.objects.filter(dataset=dataset).select_related("written_by").order_by("-number")


def terms_for(version: DatasetVersion) -> ReleaseTerms | None:
    """What was written before the version was begun, the latest."""
    return terms_of(version.dataset).filter(written_at__lt=version.created_at).first()


# --- The checklist ----------------------------------------------------------------------------------------------------
def checklist(version: DatasetVersion, terms: dict[str, float]) -> list[Check]:
    """Every check of a finished version. Agreement and gold are those of the queues its labels come from."""
    rows = rows_of(version)
    project = version.dataset.project
    labels = rows.order_by().values("label")
    queues = list(Queue.objects.filter(pk__in=rows.order_by().values("queue")).select_related("rubric", "guideline"))
    return [
        at_least("rows", "Labels", rows.count(), terms["min_rows"], f"{rows.count():,} labels"),
        _gates(labels),
        _several_scores(queues),
        _evidence(rows, terms["min_evidence"]),
        _agreement(queues, terms["min_alpha"]),
        *_gold(queues, terms),
        _held_out(project, terms["min_held_out_families"]),
        _leaks(version),
        *_synthetic(rows, terms),
        _licences(project, rows),
        _redactions(rows, terms["min_redacted"]),
        _simulated(rows, project),
    ]


def _gates(labels: QuerySet[Any]) -> Check:
    """No label passes quality beside a failed gate, and every label answers its gates."""
    values = LabelValue.objects.filter(label=OuterRef("label"))
    gates = values.filter(criterion__kind=CriterionKind.GATE)
    open_gates = labels.filter(~Exists(gates)).count()
    failed = labels.filter(Exists(gates.exclude(value=GateAnswer.PASS)))
    beside = failed.filter(Exists(values.exclude(criterion__kind=CriterionKind.GATE))).count()
    total = labels.count()
    said = f"{total - failed.count() - open_gates:,} of {total:,} pass every gate"
    said += f", {open_gates:,} answer none" if open_gates else ""
    said += f", {beside:,} have quality beside a failed gate" if beside else ""
    return Check(
        "gates", "Gates before quality", not open_gates and not beside, said, "every gate answered, none bought back"
    )


def _several_scores(queues: list[Queue]) -> Check:
    """One scalar only is the weak practice: a rubric must ask at least a gate and one more question."""
    asked = {queue.name: Criterion.objects.filter(rubric=queue.rubric).count() for queue in queues}
    fewest = min(asked.values(), default=0)
    return Check(
        "scores", "More than one number", fewest >= 2, f"{fewest} questions in the shortest rubric", "at least 2"
    )


def _evidence(rows: QuerySet[Any], wanted: float) -> Check:
    """Answers judged with the run before one's eyes say where in it: some judgment behind a label cites a step."""
    judged = _behind(rows)
    items = judged.values("queue", "item").distinct().count()
    cited = judged.filter(Exists(Evidence.objects.filter(judgment=OuterRef("pk")))).values("queue", "item").distinct()
    return share_at_least("evidence", "Evidence", cited.count(), items, wanted, "labelled items cite the run")


def _behind(rows: QuerySet[Any]) -> QuerySet[Judgment]:
    found = rows.order_by()
    return supporting_judgments(found.values("queue"), found.values("item"))


def _agreement(queues: list[Queue], wanted: float) -> Check:
    """Alpha of the weakest criterion of the weakest queue, its interval's lower end."""
    title = "Agreement"
    found = [(criterion.alpha, queue, criterion) for queue in queues for criterion in queue_agreement(queue).criteria]
    known = [row for row in found if row[0].low is not None]
    if not known:
        words = found[0][0].words if found else "Nothing was judged twice."
        return Check("agreement", title, False, words, f"alpha, lower end at least {wanted:.2f}")
    alpha, queue, criterion = min(known, key=lambda row: row[0].low or 0)
    check = lower_end("agreement", title, alpha, wanted)
    unknown = len(found) - len(known)
    said = f"alpha {check.said}: {criterion.title}, the weakest, in {queue.name}"
    said += f"; {unknown} more undefined" if unknown else ""
    return Check("agreement", title, check.passed, said, f"alpha, {check.wanted}", alpha)


def _gold(queues: list[Queue], terms: dict[str, float]) -> list[Check]:
    """How often raters are right on gold, and how often they pass a gate that gold fails."""
    right = answered = passed = failing = 0
    for queue in queues:
        gates = {criterion.key for criterion in Criterion.objects.filter(rubric=queue.rubric) if criterion.is_gate}
        for answer in gold_answers(queue):
            answered += bool(answer.right)
            right += answer.all_right
            for key, expected in answer.expected.items():
                if criterion_of(key) in gates and expected.value == GateAnswer.FAIL and key in answer.said:
                    failing += 1
                    passed += answer.said[key] == GateAnswer.PASS
    return [
        lower_end("gold", "Right on gold", wilson(right, answered), terms["min_gold_accuracy"]),
        upper_end(
            "false_positives", "False positives on gold", clopper_pearson(passed, failing), terms["max_false_positive"]
        ),
    ]


def _held_out(project: Project, wanted: float) -> Check:
    dealt = FamilySplit.objects.filter(plan__project=project, split=FamilySplitName.HELD_OUT).values("family")
    marked = Task.objects.filter(project=project, split=Split.HELD_OUT).exclude(family="").values("family")
    n = dealt.union(marked).count()
    return at_least(
        "held_out", "Held-out families", n, wanted, f"{n} {'family is' if n == 1 else 'families are'} kept for tests"
    )


def _leaks(version: DatasetVersion) -> Check:
    report = latest_report(version)
    if report is None:
        return Check("leaks", "Leak check", False, "Nothing was looked for.", "no near texts")
    found = report.findings
    said = f"{found['runs']:,} runs against {found['against_runs']:,} and {found['against_texts']:,} benchmark texts"
    said += f"; {found['let_pass']} pairs let pass by two people" if found["let_pass"] else "; none near"
    return Check("leaks", "Leak check", report.leaks == 0, said, "no near texts but those two people let pass")


def _synthetic(rows: QuerySet[Any], terms: dict[str, float]) -> list[Check]:
    """Volume that a generator made is no quality: its share is bounded, and people look at some of it."""
    synthetic = rows.filter(item__provenance=Provenance.SYNTHETIC)
    n = synthetic.count()
    people = Membership.objects.filter(project=OuterRef("queue__project"), user=OuterRef("rater"), simulated=False)
    judged = _behind(synthetic).filter(Exists(people)).values("queue", "item").distinct().count() if n else 0
    adjudicated = synthetic.filter(label__basis=Basis.ADJUDICATED).count()
    wanted = terms["min_spot_checked"]
    checks = [share_at_most("synthetic", "Synthetic share", n, rows.count(), terms["max_synthetic"], "labels")]
    if n:
        seen = max(judged, adjudicated)
        checks.append(
            share_at_least("spot_checks", "Spot checks", seen, n, wanted, "synthetic labels judged by people")
        )
    return checks


def _licences(project: Project, rows: QuerySet[Any]) -> Check:
    known = licences_of(project)
    without = [source for source in sources_of(rows) if source not in known]
    names = ", ".join(without[:3]) + (f" and {len(without) - 3} more" if len(without) > 3 else "")
    said = (
        f"No licence is stated for {names}."
        if without
        else f"{len(known)} stated: {', '.join(sorted(set(known.values())))}"
    )
    return Check("licences", "Licence per source", not without, said, "one for every source")


def _redactions(rows: QuerySet[Any], wanted: float) -> Check:
    runs = runs_of(rows)
    return share_at_least(
        "redactions", "Redaction", runs.filter(redactions__isnull=False).count(), runs.count(), wanted, "runs redacted"
    )


def _simulated(rows: QuerySet[Any], project: Project) -> Check:
    played = Membership.objects.filter(project=project, user=OuterRef("rater"), simulated=True)
    n = _behind(rows).filter(Exists(played)).count()
    said = f"{n:,} judgments are by simulated raters" if n else "all judgments are by people"
    return Check("simulated", "Judged by people", n == 0, said, "no simulated rater")


# --- Licences of sources ----------------------------------------------------------------------------------------------
def sources_of(rows: QuerySet[Any]) -> list[str]:
    return sorted(runs_of(rows).order_by().values_list("source_name", flat=True).distinct())


def licences_of(project: Project) -> dict[str, str]:
    """By source, the latest that was stated, be it with the file as it came in or of its source later."""
    stated = SourceLicence.objects.filter(project=project).values_list("stated_at", "source", "licence")
    brought = ImportJob.objects.filter(project=project, options__has_key="licence").exclude(state=ImportState.PREVIEW)
    of_files = brought.values_list("created_at", "name", "options__licence")
    return {source: licence for _at, source, licence in sorted([*of_files, *stated], key=lambda row: row[0])}


# --- Who read ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Reader:
    """Somebody who downloaded from a version."""

    person: str
    times: int
    last: datetime


def readers_of(version: DatasetVersion) -> list[Reader]:
    """Who downloaded from the version and how often, the latest first."""
    read = Event.objects.filter(
        project=version.dataset.project_id,
        verb=GoldVerb.DATASET_READ,
        target_type="datasetversion",
        target_id=version.pk,
    )
    counted = read.order_by().values("actor").annotate(times=Count("pk"), last=Max("at"), name=F("actor__name"))
    return [Reader(row["name"], row["times"], row["last"]) for row in counted.order_by("-last")]


def reading_words(readers: Iterable[Reader]) -> str:
    """ "read 3 times, last by Erin on 3 May 2026", or "never read"."""
    found = list(readers)
    if not found:
        return "never read"
    times = sum(reader.times for reader in found)
    return f"read {times} time{'' if times == 1 else 's'}, last by {found[0].person} on {found[0].last:%-d %b %Y}"


def withdrawal_of(version: DatasetVersion) -> Withdrawal | None:
    return Withdrawal.objects.filter(version=version).select_related("withdrawn_by").first()


def release_of(version: DatasetVersion) -> Release | None:
    return Release.objects.filter(version=version).select_related("terms__written_by").first()


# --- Kept: what is not signed yet -------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Counted:
    """The checklist of a finished version as plain types, held to its terms or to the usual ones, and its sources."""

    checks: list[Any]
    sources: list[str]


def counted_now(version: DatasetVersion) -> Counted:
    terms = terms_for(version)
    checks = checklist(version, terms.terms if terms else complete({}))
    return Counted([row.as_dict() for row in checks], sources_of(rows_of(version)))


def is_counted(version: DatasetVersion) -> bool:
    """Whether the checklist is as things stand: of a finished version that nobody has signed."""
    return version.state == DatasetState.FINISHED and not Release.objects.filter(version=version).exists()


def seen_checks(version: DatasetVersion) -> Seen[Counted]:
    """The checklist as a page shows it: a few short queries, unless there are few judgments in its queues."""
    project = version.dataset.project_id
    return seen(key_of(version), project, little=lambda: _has_few(version), count=lambda: counted_now(version))


def current_checks(version: DatasetVersion) -> Seen[Counted]:
    """The checklist as things stand, however long it takes to count."""
    return Seen(fresh(key_of(version), version.dataset.project_id, lambda: counted_now(version)), stale=False)


def count_checks(version: DatasetVersion) -> None:
    """Count everything anew and keep it."""
    count_and_keep(key_of(version), version.dataset.project_id, lambda: counted_now(version))


def key_of(version: DatasetVersion) -> str:
    return f"release-checks-{FORM}-{version.pk}"


def _has_few(version: DatasetVersion) -> bool:
    judgments = Judgment.objects.filter(queue__in=rows_of(version).order_by().values("queue"))
    return len(judgments.values("pk")[: FEW_JUDGMENTS + 1]) <= FEW_JUDGMENTS


# --- The page ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class ReleasePage:
    """How a version stands. `checks` are as signed where somebody has signed, and of `counted_at` otherwise."""

    terms: ReleaseTerms | None
    release: Release | None
    checks: list[Any]
    counted_at: datetime | None
    stale: bool
    signatures: list[ReleaseSignature]
    withdrawal: Withdrawal | None
    readers: list[Reader]
    unlicensed: list[str]

    @property
    def state(self) -> str:
        if self.withdrawal:
            return "withdrawn"
        if len(self.signatures) >= SIGNATURES:
            return "released"
        return "signed once" if self.signatures else "not released"

    @property
    def holds(self) -> bool:
        return self.terms is not None and bool(self.checks) and not self.failing

    @property
    def failing(self) -> int:
        return sum(row["passed"] is False for row in self.checks)

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return {
            "state": self.state,
            "holds": self.holds,
            "terms": self.terms.terms if self.terms else None,
            "checks": self.checks,
            "signed": [str(signature.person) for signature in self.signatures],
            "withdrawn": self.withdrawal.reason if self.withdrawal else None,
            "readers": [asdict(reader) for reader in self.readers],
        }

    @property
    def read_words(self) -> str:
        return reading_words(self.readers)


def release_page(version: DatasetVersion, seen: Seen[Counted] | None) -> ReleasePage:
    """`seen` is what is known of its checklist, where `is_counted` says that there is one to be counted."""
    release, kept = release_of(version), seen.kept if seen else None
    counted = kept.found if kept and not release else Counted([], [])
    known = licences_of(version.dataset.project)
    return ReleasePage(
        terms=release.terms if release else terms_for(version),
        release=release,
        checks=release.checklist if release else counted.checks,
        counted_at=kept.counted_at if kept and not release else None,
        stale=bool(seen and seen.stale and not release),
        signatures=list(release.signatures.select_related("person")) if release else [],
        withdrawal=withdrawal_of(version),
        readers=readers_of(version),
        unlicensed=[source for source in counted.sources if source not in known],
    )
