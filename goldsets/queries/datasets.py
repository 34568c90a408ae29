"""Data sets and their versions."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from goldsets.enums import DatasetFormat, DuplicatePolicy, NeutralPolicy, RaterPolicy, TiePolicy
from goldsets.models import Dataset, DatasetVersion
from goldsets.stats.proportion import wilson
from goldsets.writers.examples import FIRST, LONGER, PAIRS
from reviews.enums import Basis, CorrectionRule, CriterionKind, ItemKind, Provenance
from reviews.models import Criterion, Project, Queue, Rubric
from reviews.stats.result import Estimate

WORDS: dict[str, Any] = {"kinds": ItemKind, "basis": Basis, "provenance": Provenance}
KINDS: dict[str, str] = {ItemKind.TRAJECTORY: "single runs", ItemKind.COMPARISON: "comparisons", ItemKind.TASK: "tasks"}
NAMES = {"kinds": "Kinds", "basis": "Basis", "provenance": "Source"}
POLICIES: list[tuple[str, str, Any]] = [
    ("ties", "Ties", TiePolicy),
    ("neutral", "Neutral steps", NeutralPolicy),
    ("duplicates", "Labels in several queues", DuplicatePolicy),
    ("raters", "Raters", RaterPolicy),
]


def datasets_of(project: Project) -> QuerySet[Dataset]:
    """The project's data sets, each with its versions, the latest first."""
    versions = DatasetVersion.objects.order_by("-number")
    return (
        Dataset.objects.filter(project=project)
        .select_related("project", "queue")
        .prefetch_related(Prefetch("versions", queryset=versions))
    )


def dataset_by_uid(uid: Any) -> Dataset | None:
    return Dataset.objects.select_related("project", "queue").filter(uid=uid).first()


def dataset_by_name(project: Project, name: str) -> Dataset | None:
    return Dataset.objects.select_related("project", "queue").filter(project=project, name=name).first()


def versions_of(dataset: Dataset) -> QuerySet[DatasetVersion]:
    return DatasetVersion.objects.filter(dataset=dataset).select_related(
        "dataset__project", "dataset__queue", "previous"
    )


def version_by_number(dataset: Dataset, number: int) -> DatasetVersion | None:
    return versions_of(dataset).filter(number=number).first()


def dataset_version_by_id(number: int) -> DatasetVersion:
    """Raises DoesNotExist."""
    return DatasetVersion.objects.select_related("dataset__project").get(pk=number)


def folder_of(version: DatasetVersion) -> Path:
    """Where a finished version's files lie."""
    return Path(settings.MEDIA_ROOT) / "datasets" / str(version.uid)


@dataclass(frozen=True)
class FormatHeld:
    """What a version holds in one format. Of pairs that people decided, how often the longer and the first was better:
    what somebody gets right who looks at nothing else."""

    title: str
    rows: int
    left_out: dict[str, int]
    longer: Estimate | None
    first: Estimate | None


def formats_held(version: DatasetVersion) -> list[FormatHeld]:
    """Its formats in the order in which they are offered."""
    formats = version.manifest.get("formats", {})
    return [_held(form, formats[form.value]) for form in DatasetFormat if form.value in formats]


def _held(form: DatasetFormat, told: dict[str, Any]) -> FormatHeld:
    counts = told.get("counts", {})
    pairs = counts.get(PAIRS, 0)
    longer, first = (wilson(counts.get(name, 0), pairs) if pairs else None for name in (LONGER, FIRST))
    return FormatHeld(str(form.label), told["rows"], told["left_out"], longer, first)


def labels_in_words(project: Project) -> dict[int, str]:
    """By queue, what its labels are of, in the words in which formats say what they are made from."""
    gates = Criterion.objects.filter(rubric=OuterRef("rubric"), kind=CriterionKind.GATE)
    queues = Queue.objects.filter(project=project).annotate(gated=Exists(gates)).select_related("rubric")
    return {queue.pk: _labels_of(queue.rubric, gated=queue.gated) for queue in queues}


def _labels_of(rubric: Rubric, *, gated: bool) -> str:
    words = KINDS[rubric.item_kind] + (" with gates" if gated else "")
    words += ", corrections" if rubric.correction != CorrectionRule.NEVER else ""
    return words + (", labels of steps" if rubric.step_labels else "")


def definition_in_words(dataset: Dataset) -> dict[str, Any]:
    """What the data set asks for as a person reads it: `formats`, `chosen` by its filter, and `policies`."""
    asked = dataset.filter
    chosen = [
        (NAMES[name], ", ".join(WORDS[name](word).label for word in asked[name])) for name in WORDS if name in asked
    ]
    chosen += [("Families", ", ".join(asked["families"]))] if "families" in asked else []
    chosen += [(f"Slice {name}", ", ".join(values)) for name, values in asked.get("slices", {}).items()]
    if rate := asked.get("pass_rate"):
        chosen.append(
            ("Pass rate", f"{rate['model']} solves the task in {rate['low']:.0%} to {rate['high']:.0%} of runs")
        )
    if quotas := asked.get("quotas"):
        most = ", ".join(f"{Provenance(source).label} at most {share:.0%}" for source, share in quotas.items())
        chosen.append(("Shares", most))
    return {
        "formats": [DatasetFormat(name).label for name in dataset.formats],
        "chosen": chosen,
        "policies": [
            (title, words(dataset.policies[name]).label) for name, title, words in POLICIES if name in dataset.policies
        ],
    }
