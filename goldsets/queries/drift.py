"""How criteria drift: per key over the versions of a rubric, when it changed, what was answered and how raters agreed.

What counts is each rater's latest revision, with what was set aside and gold left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
from django.db.models import Count, QuerySet

from goldsets.models import GoldPlacement
from reviews.enums import AssignmentState, CriterionKind, Scope
from reviews.models import Criterion, Judgment, Project, Rating, Rubric
from reviews.models.base import in_words
from reviews.queries.agreement import FLOOR
from reviews.queries.compared import codes_on, scale_of
from reviews.queries.rubric_versions import Change, changes_between, versions_of
from reviews.stats.agreement import Level, krippendorff_alpha, percent_agreement
from reviews.stats.counts import from_codes
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Estimate, refuse_below

# Kinds whose answers are one of a few values, so that two raters can say the same by more than chance.
AGREED_ON = (CriterionKind.GATE, CriterionKind.ORDINAL, CriterionKind.BINARY, CriterionKind.CHOICE)
SAID = ("value", "number", "tie", "choices", "ranks")


@dataclass(frozen=True)
class InVersion:
    """A criterion in one version: what changed to it there, its answers with how often each was given, and agreement.

    `same` is the share of pairs that say the same, `alpha` Krippendorff's at the criterion's level. Both are refused
    below the floor of items, and None for kinds of which no two answers are compared here.
    """

    version: int
    changes: tuple[Change, ...]
    n: int
    answers: tuple[tuple[str, int], ...]
    same: Estimate | None
    alpha: Estimate | None

    @property
    def one_answer(self) -> bool:
        """Whether nobody ever answered otherwise: a gap in what was seen, or a question that tells nothing."""
        return self.n > 0 and len(self.answers) == 1


@dataclass(frozen=True)
class CriterionLog:
    """A key over the versions that have it, the latest first."""

    key: str
    title: str
    versions: tuple[InVersion, ...]


def criterion_logs(project: Project, name: str) -> list[CriterionLog]:
    """Every key that some version of this rubric has, as the latest orders them. Two queries for each criterion asked
    about, and three more."""
    versions = versions_of(project, name)
    counts = _counts(versions)
    changed = _changes(versions)
    logs: dict[str, list[InVersion]] = {}
    titles: dict[str, str] = {}
    for rubric in versions:
        for criterion in rubric.criteria.all():
            answers = counts.get(criterion.pk, [])
            titles.setdefault(criterion.key, criterion.title)
            same, alpha = _agreement(criterion, rubric) if answers else (None, None)
            logs.setdefault(criterion.key, []).append(
                InVersion(
                    version=rubric.version,
                    changes=tuple(changed.get((rubric.version, criterion.key), ())),
                    n=sum(number for _words, number in answers),
                    answers=tuple(answers),
                    same=same,
                    alpha=alpha,
                )
            )
    return [CriterionLog(key, titles[key], tuple(rows)) for key, rows in logs.items()]


def _judgments(versions: Sequence[Rubric]) -> QuerySet[Judgment]:
    counting = Judgment.objects.filter(rubric__in=versions, assignment__state=AssignmentState.SUBMITTED)
    counting = counting.exclude(assignment__in=GoldPlacement.objects.values("assignment"))
    latest = counting.order_by("assignment", "-revision").distinct("assignment")
    return Judgment.objects.filter(pk__in=latest.values("pk"))


def _counts(versions: Sequence[Rubric]) -> dict[int, list[tuple[str, int]]]:
    """The answers of each criterion in words, the most frequent first. Texts are counted, not told."""
    criteria = {criterion.pk: criterion for rubric in versions for criterion in rubric.criteria.all()}
    rows = Rating.objects.filter(judgment__in=_judgments(versions).values("pk"), criterion__in=criteria)
    found: dict[int, list[tuple[str, int]]] = {}
    for row in rows.order_by().values("criterion", *SAID).annotate(times=Count("pk")).order_by("-times"):
        criterion = criteria[row["criterion"]]
        said = SimpleNamespace(criterion=criterion, text="", **{name: row[name] for name in SAID})
        words = "a text" if criterion.kind == CriterionKind.TEXT else in_words(said)
        found.setdefault(criterion.pk, []).append((words, row["times"]))
    return found


def _changes(versions: Sequence[Rubric]) -> dict[tuple[int, str], list[Change]]:
    """By version and key, what changed since the version before."""
    found: dict[tuple[int, str], list[Change]] = {}
    for after, before in pairwise(versions):
        for change in changes_between(before, after):
            found.setdefault((after.version, change.criterion), []).append(change)
    return found


def _agreement(criterion: Criterion, rubric: Rubric) -> tuple[Estimate | None, Estimate | None]:
    """Same and alpha over items that two or more have answered, on the declared scale, with intervals over items."""
    if criterion.kind not in AGREED_ON or criterion.scope != Scope.ITEM:
        return None, None
    rows: list[Any] = list(
        Rating.objects.filter(judgment__in=_judgments([rubric]).values("pk"), criterion=criterion).values_list(
            "judgment__queue", "judgment__item", "judgment__rater", "value"
        )
    )
    given = np.array(rows, dtype=np.int64).reshape(-1, 4)
    units = np.unique(given[:, :2], axis=0, return_inverse=True)[1]
    raters = np.unique(given[:, 2], return_inverse=True)[1]
    scale = np.array(scale_of(criterion))
    rated = from_codes(units.ravel(), raters.ravel(), codes_on(scale, given[:, 3]), scores=scale)
    level: Level = "ordinal" if criterion.kind == CriterionKind.ORDINAL else "nominal"
    found = (
        percent_agreement(rated, bootstrap=Bootstrap()),
        krippendorff_alpha(rated, level=level, bootstrap=Bootstrap()),
    )
    return refuse_below(found[0], FLOOR), refuse_below(found[1], FLOOR)
