"""The scores of comparisons of two beside the preferences that experts settled on."""

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, QuerySet, Sum
from django.db.models.functions import Length

from goldsets.enums import FamilySplitName, ScoreOrder
from goldsets.models import GraderScore, GraderVersion
from goldsets.queries.graded import BATCH, Splits, counting_judgments
from goldsets.stats.pairwise import Paired
from reviews.enums import Basis, CriterionKind, ItemKind, Purpose, Scope
from reviews.models import Item, LabelValue, QueueItem, Rating, Step


def paired_rows(version: GraderVersion, criterion: str, *, part: str = "") -> list[Paired]:
    """Every comparison of two that the version scored on this criterion, first attempts alone. A fixed number of
    queries; held-out ones only where `part` asks for them."""
    scored = GraderScore.objects.filter(version=version, criterion=criterion)
    # Which of them have two sides is asked once: grouped again within other queries it misleads the planner.
    items = Item.objects.filter(pk__in=scored.values("item"), kind=ItemKind.COMPARISON)
    about = _within(version, items.annotate(sides=Count("candidates")).filter(sides=2), part)
    if not about:
        return []
    said = _first_scores(scored, about)
    gold = _preferences(_labels(items), "label__item", about)
    answers = Rating.objects.filter(judgment__in=counting_judgments(items).values("pk"))
    raters = _preferences(answers, "judgment__item", about)
    lengths = _lengths(items)
    rows = []
    for pk, uid in about.items():
        shown = said[pk].get(ScoreOrder.AS_SHOWN)
        if shown is None:
            continue
        settled = set(gold.get(pk, ()))
        first, second = lengths.get(pk, (0, 0))
        rows.append(
            Paired(
                item=uid,
                verdict=shown,
                swapped=said[pk].get(ScoreOrder.SWAPPED),
                gold=settled.pop() if len(settled) == 1 else None,
                said=tuple(raters.get(pk, ())),
                first_length=first,
                second_length=second,
            )
        )
    return rows


def _within(version: GraderVersion, items: QuerySet[Item], part: str) -> dict[int, UUID]:
    """The items of the split asked for, or all that are not held out."""
    split_of = Splits(version.grader.project)
    rows = items.order_by("pk").values_list("pk", "uid", "task__key", "task__family", "task__split")
    found = {}
    for pk, uid, *task in rows.iterator(chunk_size=BATCH):
        split = split_of(*task)
        if split == part or (not part and split != FamilySplitName.HELD_OUT):
            found[pk] = uid
    return found


def _first_scores(scored: QuerySet[GraderScore], about: dict[int, Any]) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = defaultdict(dict)
    rows = scored.order_by("item", "attempt").values_list("item", "order", "value")
    for item, order, value in rows.iterator(chunk_size=BATCH):
        if item in about:
            found[item].setdefault(order, (value > 0) - (value < 0))
    return found


def _labels(items: QuerySet[Item]) -> QuerySet[LabelValue]:
    standing = QueueItem.objects.filter(
        item__in=items.values("pk"), label__isnull=False, queue__purpose=Purpose.WORK
    ).exclude(label__basis=Basis.AMBIGUOUS)
    return LabelValue.objects.filter(label__in=standing.values("label"))


def _preferences(values: QuerySet[Any], item: str, about: Container[int]) -> dict[int, list[int]]:
    """By item it is about what each answer prefers, with the first preference that its rubric asks for; 0 where both
    are level."""
    asked = values.filter(
        criterion__kind=CriterionKind.PREFERENCE, criterion__scope=Scope.ITEM, candidate=None
    ).exclude(Exists(_earlier(values)))
    found: dict[int, list[int]] = defaultdict(list)
    for pk, ranks, tie in asked.values_list(item, "ranks", "tie").iterator(chunk_size=BATCH):
        if pk in about and (tie or ranks):
            found[pk].append(0 if tie else _better(ranks))
    return found


def _earlier(values: QuerySet[Any]) -> QuerySet[Any]:
    owner = "label" if values.model is LabelValue else "judgment"
    return values.model.objects.filter(
        **{owner: OuterRef(owner)},
        criterion__kind=CriterionKind.PREFERENCE,
        criterion__position__lt=OuterRef("criterion__position"),
    )


def _better(ranks: Sequence[int]) -> int:
    first, second = ranks
    return (first < second) - (first > second)


def _lengths(items: QuerySet[Item]) -> dict[int, tuple[int, int]]:
    """Of each pair how many characters its runs have, steps that both share counted on either side."""
    steps = Step.objects.filter(trajectory__candidacies__item__in=items.values("pk")).order_by()
    rows: Iterable[tuple[int, int, int]] = (
        steps.values_list("trajectory__candidacies__item", "trajectory__candidacies__position")
        .annotate(characters=Sum(Length("body")))
        .iterator(chunk_size=BATCH)
    )
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for item, position, characters in rows:
        found[item][position] = characters
    return {item: (sides.get(1, 0), sides.get(2, 0)) for item, sides in found.items()}
