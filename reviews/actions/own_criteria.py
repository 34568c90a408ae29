"""Criteria that a run brought along, for its item alone: checked before anything of the row is stored."""

from collections.abc import Mapping, Sequence
from typing import Any

from reviews.actions.criteria import read_criteria
from reviews.enums import CriterionKind, Scope
from reviews.models import Criterion, Item


def read_own(criteria: Any) -> list[dict[str, Any]]:
    """The fields of each `Criterion`, gates first. Raises ValueError with every mistake in one sentence each."""
    errors: dict[str, str] = {}
    rows = read_criteria(criteria, errors)
    for number, row in enumerate(rows):
        if row["scope"] == Scope.CANDIDATE:
            errors[f"criteria.{number}.scope"] = "A run has no candidates to ask of."
        if row["kind"] == CriterionKind.PREFERENCE:
            errors[f"criteria.{number}.kind"] = "A preference is asked where candidates are compared."
        if row.pop("principle"):
            errors[f"criteria.{number}.principle"] = "Principles are referred to by rubrics."
    if errors:
        raise ValueError(" ".join(f"assay.{field}: {sentence}" for field, sentence in errors.items()))
    return sorted(rows, key=lambda row: row["kind"] != CriterionKind.GATE)


def mistakes_in(criteria: Sequence[Any] | None) -> str:
    """What is wrong with the criteria of a run, "" where nothing is or there are none."""
    try:
        if criteria is not None:
            read_own(criteria)
    except ValueError as error:
        return str(error)
    return ""


def keep_own(brought: Mapping[int, Sequence[Any]]) -> None:
    """Store the criteria of items that are new, by the items' ids. They were read before and are right."""
    Criterion.objects.bulk_create(
        Criterion(item_id=item, position=position, **row)
        for item, criteria in brought.items()
        for position, row in enumerate(read_own(criteria), start=1)
    )


def clashing(items: Sequence[Item], keys: Sequence[str]) -> set[int]:
    """The ids of items that bring a criterion along under one of these keys."""
    found = Criterion.objects.filter(item__in=items, key__in=keys)
    return set(found.values_list("item_id", flat=True))
