"""The one query that pairs a version's scores with trusted labels, run by run.

1. Of a run asked about several times the first attempt counts; the others come along to tell what trying again does.
2. A label counts where it stands, in a queue of work, was made by people, and does not say that the run is ambiguous. A
   run on which queues come to different verdicts has none.
3. What raters said counts before any decision of a lead, without what was set aside and without answers on gold.
4. Held-out runs are left out unless they are asked for, and whoever asks has it logged, see
   `goldsets.actions.calibrating`.
5. Runs of families that stand in the examples of a judge are left out: it was told what to say of such.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Coalesce

from goldsets.enums import FamilySplitName, ScoreOrder
from goldsets.models import FamilySplit, GoldPlacement, GraderScore, GraderVersion, JudgeSetup
from goldsets.queries.judges import shown_families
from goldsets.queries.leaving import held_out_families
from goldsets.queries.splits import dealt_name
from goldsets.queries.verdicts import Against, Asked, failed_gates, verdict
from goldsets.stats.calibration import Graded
from reviews.enums import UNANSWERED, AssignmentState, Basis, ItemKind, OutcomeResult, Purpose, Split
from reviews.models import Adjudication, Item, Judgment, LabelValue, Project, QueueItem, Rating

BATCH = 10_000
# How a run ended says whether it succeeded; of a timeout or a crash it does not.
ENDED = {OutcomeResult.SUCCESS.value: True, OutcomeResult.FAILURE.value: False}


@dataclass(frozen=True)
class Pairs:
    """The rows, and what did not become one: runs on which queues differ, held-out ones that were left out, and those
    of families that stand in the examples of a judge."""

    rows: list[Graded]
    n_contradicted: int
    n_held_out: int
    n_shown: int


@dataclass(slots=True)
class _Labelled:
    """What the labels of one item come to."""

    truths: set[bool]
    failed: tuple[str, ...]
    decided: bool


def graded(
    version: GraderVersion, criterion: str, held: Against, asked: Mapping[int, Asked], *, part: str = ""
) -> Pairs:
    """The version's scores on one criterion beside labels. A number of queries that does not grow.

    `part` is the split whose runs are meant, or "" for every run that is not held out.
    """
    scored = scores_of(version, criterion)
    items = Item.objects.filter(pk__in=scored.values("item"), kind=ItemKind.TRAJECTORY)
    scores = _scores(scored)
    labelled = _labels(items, held, asked)
    said = _said(items, held, asked)
    split_of = Splits(version.grader.project)
    shown = shown_families(JudgeSetup.objects.filter(version=version))
    rows, left_out, n_shown = [], 0, 0
    for pk, uid, task, family, slices, marked, model, result in _about(items):
        if dealt_name(task, family) in shown:
            n_shown += 1
            continue
        split = split_of(task, family, marked)
        if split != part and (part or split == FamilySplitName.HELD_OUT):
            left_out += split == FamilySplitName.HELD_OUT
            continue
        label = labelled.get(pk)
        first, *_ = mine = scores[pk]
        rows.append(
            Graded(
                item=uid,
                task=task,
                score=first.value,
                truth=next(iter(label.truths)) if label and len(label.truths) == 1 else None,
                attempts=tuple(one.value for one in mine),
                family=family,
                model=model or "",
                slices={name: str(value) for name, value in slices.items()} if isinstance(slices, dict) else {},
                split=split,
                failed=label.failed if label else (),
                succeeded=ENDED.get(result),
                said=tuple(said.get(pk, ())),
                decided=bool(label and label.decided),
                meta=first.meta,
                week=first.week,
            )
        )
    contradicted = sum(len(label.truths) > 1 for label in labelled.values())
    return Pairs(rows, contradicted, left_out, n_shown)


# --- Scores -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Score:
    value: float
    meta: dict[str, Any]
    week: str


def scores_of(version: GraderVersion, criterion: str) -> QuerySet[GraderScore]:
    """One run has no other order than its own."""
    return GraderScore.objects.filter(version=version, criterion=criterion, order=ScoreOrder.AS_SHOWN)


def _scores(scored: QuerySet[GraderScore]) -> dict[int, list[_Score]]:
    """By item, in the order of the attempts."""
    found: dict[int, list[_Score]] = defaultdict(list)
    rows = scored.order_by("item", "attempt")
    for item, value, meta, at in rows.values_list("item", "value", "meta", "created_at").iterator(chunk_size=BATCH):
        year, week, _day = at.isocalendar()
        found[item].append(_Score(value, meta if isinstance(meta, dict) else {}, f"{year}-W{week:02}"))
    return found


def first_scores(version: GraderVersion, criterion: str) -> dict[UUID, float]:
    """Of each item what the version said first."""
    first = scores_of(version, criterion).order_by("item", "attempt").distinct("item")
    return dict(first.values_list("item__uid", "value").iterator(chunk_size=BATCH))


def _about(items: QuerySet[Item]) -> Iterable[tuple[Any, ...]]:
    columns = items.order_by("pk").values_list(
        "pk",
        "uid",
        "trajectory__task__key",
        "trajectory__task__family",
        "trajectory__task__slices",
        "trajectory__task__split",
        "trajectory__outcome__model",
        "trajectory__outcome__result",
    )
    return columns.iterator(chunk_size=BATCH)


class Splits:
    """Where a task's runs lie: in the split its family was dealt to, in none, or held out. Two queries."""

    def __init__(self, project: Project) -> None:
        dealt = FamilySplit.objects.filter(plan__project=project)
        self.dealt = dict(dealt.values_list("family", "split"))
        self.held_out = set(held_out_families(project))

    def __call__(self, task: str, family: str, marked: str) -> str:
        if marked == Split.HELD_OUT or family in self.held_out:
            return FamilySplitName.HELD_OUT.value
        return str(self.dealt.get(dealt_name(task, family), ""))


# --- Labels and what raters said --------------------------------------------------------------------------------------
def _labels(items: QuerySet[Item], held: Against, asked: Mapping[int, Asked]) -> dict[int, _Labelled]:
    standing = QueueItem.objects.filter(
        item__in=items.values("pk"), label__isnull=False, queue__purpose=Purpose.WORK
    ).exclude(label__basis__in=UNANSWERED)
    answers = _answers(LabelValue.objects.filter(label__in=standing.values("label")), "label", asked)
    found: dict[int, _Labelled] = {}
    for item, label, basis in standing.values_list("item", "label", "label__basis").iterator(chunk_size=BATCH):
        given = answers.get(label, [])
        truth = verdict(given, held)
        one = found.setdefault(item, _Labelled(set(), (), False))
        if truth is not None:
            one.truths.add(truth)
        one.failed = tuple(dict.fromkeys((*one.failed, *failed_gates(given))))
        one.decided |= basis == Basis.ADJUDICATED
    return found


def counting_judgments(items: QuerySet[Item]) -> QuerySet[Judgment]:
    """Each rater's first answer to these items, as it stood before any decision of a lead."""
    decided = Adjudication.objects.filter(
        queue_item__queue=OuterRef("queue"), queue_item__item=OuterRef("item"), created_at__lte=OuterRef("submitted_at")
    )
    return (
        Judgment.objects.filter(
            item__in=items.values("pk"),
            queue__purpose=Purpose.WORK,
            assignment__state=AssignmentState.SUBMITTED,
            occasion=1,
        )
        .exclude(Exists(GoldPlacement.objects.filter(assignment=OuterRef("assignment"))))
        .exclude(Exists(decided))
        .order_by("assignment", "-revision")
        .distinct("assignment")
    )


def _said(items: QuerySet[Item], held: Against, asked: Mapping[int, Asked]) -> dict[int, list[bool]]:
    """By item what each rater's answers come to."""
    counting = counting_judgments(items)
    answers = _answers(Rating.objects.filter(judgment__in=counting.values("pk")), "judgment", asked)
    found: dict[int, list[bool]] = defaultdict(list)
    for judgment, item in counting.values_list("pk", "item").iterator(chunk_size=BATCH):
        said = verdict(answers.get(judgment, []), held)
        if said is not None:
            found[item].append(said)
    return found


def _answers(rows: QuerySet[Any], of: str, asked: Mapping[int, Asked]) -> dict[int, list[tuple[Asked, float]]]:
    """By label or judgment its answers that can decide."""
    found: dict[int, list[tuple[Asked, float]]] = defaultdict(list)
    columns = rows.filter(candidate=None, criterion__in=list(asked)).values_list(
        of, "criterion", Coalesce("number", "value", output_field=rows.model._meta.get_field("number"))
    )
    for answered, criterion, value in columns.iterator(chunk_size=BATCH):
        if value is not None:
            found[answered].append((asked[criterion], value))
    return found
