"""Graders as leads and engineers look them up. Raters never receive any of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.db.models import Aggregate, Count, FloatField, Max, Prefetch, Q, QuerySet, Sum

from goldsets.enums import GoldVerb
from goldsets.models import Grader, GraderScore, GraderVersion
from goldsets.queries.alarms import ringing
from reviews.enums import OutcomeResult
from reviews.models import Candidate, Criterion, Event, Item, Project, RunScore
from reviews.queries.listings import items_told_of

# The name of the one number that a run's source gives as its reward, where no score of it is named so.
REWARD = "reward"
CHUNK = 1000
# What an Event says of scores that were taken from imported runs.
FROM_RUNS = "runs"
KEPT_SECONDS = 30 * 86_400
# Raise it with every change of `Tally`.
FORM = 1


def criterion_keys(project: Project) -> set[str]:
    """The keys of every criterion that a rubric of the project has or had."""
    return set(Criterion.objects.filter(rubric__project=project).values_list("key", flat=True).distinct())


def criterion_titles(project: Project) -> list[tuple[str, str]]:
    """Each of these keys with its title in the latest rubric that has it, by title."""
    rows = Criterion.objects.filter(rubric__project=project).order_by("rubric").values_list("key", "title")
    return sorted(dict(rows).items(), key=lambda row: row[1])


def own_criterion_keys(items: set[int]) -> set[tuple[int, str]]:
    """The criteria that came in with items, each beside its item."""
    rows = Criterion.objects.filter(item__in=items).values_list("item", "key")
    return {(item, key) for item, key in rows if item is not None}


def longest_of(items: set[int]) -> dict[tuple[int, int], int]:
    """How many steps each run of these items has: by item and candidate, 0 where the item is a single run."""
    alone = Item.objects.filter(pk__in=items, trajectory__isnull=False).values_list("pk", "trajectory__step_count")
    several = Candidate.objects.filter(item__in=items).values_list("item", "position", "trajectory__step_count")
    return {(item, 0): steps for item, steps in alone} | {(item, at): steps for item, at, steps in several}


# --- What came in with runs -------------------------------------------------------------------------------------------
def said_under(project: Project, source: str) -> Iterator[tuple[UUID, int, dict[str, Any]]]:
    """What was said of each run under this name: item, attempt and {"value", "explanation", "evidence"}, oldest first.

    Runs that crashed are left out, with what their source said of them.
    """
    runs = Item.objects.filter(project=project, trajectory__isnull=False)
    runs = runs.exclude(trajectory__outcome__result=OutcomeResult.CRASH).order_by("pk")
    last = 0
    while chunk := list(
        runs.filter(pk__gt=last).values_list(
            "pk", "uid", "trajectory", "trajectory__outcome__reward", "trajectory__outcome__data__scores"
        )[:CHUNK]
    ):
        last = chunk[-1][0]
        later: dict[int, list[dict[str, Any]]] = {}
        rows = RunScore.objects.filter(trajectory__in=[run for _, _, run, *_ in chunk], grader=source).order_by("pk")
        for run, *said in rows.values_list("trajectory", "value", "explanation", "evidence"):
            later.setdefault(run, []).append(dict(zip(("value", "explanation", "evidence"), said, strict=True)))
        for _pk, uid, run, reward, scores in chunk:
            came = [
                score for score in (scores if isinstance(scores, list) else ())
                if isinstance(score, dict) and score.get("grader") == source
            ]  # fmt: skip
            if not came and source == REWARD and reward is not None:
                came = [{"value": reward}]
            for attempt, said in enumerate([*came, *later.get(run, ())], start=1):
                yield uid, attempt, said


def sources_of(project: Project) -> list[str]:
    """Under which names scores came in with the latest runs, or were said of them later, for a person to choose."""
    latest = Item.objects.filter(project=project, trajectory__isnull=False).order_by("-pk")
    rows = latest.values_list("trajectory__outcome__reward", "trajectory__outcome__data__scores")[:CHUNK]
    names = set()
    for reward, scores in rows:
        names |= {REWARD} if reward is not None else set()
        listed = scores if isinstance(scores, list) else ()
        names |= {
            score["grader"] for score in listed if isinstance(score, dict) and isinstance(score.get("grader"), str)
        }
    runs = list(latest.values_list("trajectory", flat=True)[:CHUNK])
    names |= set(RunScore.objects.filter(trajectory__in=runs).values_list("grader", flat=True).distinct())
    return sorted(name for name in names if name)


# --- Looking up -------------------------------------------------------------------------------------------------------
def graders_of(project: Project) -> QuerySet[Grader]:
    """The project's graders with their versions, the latest first."""
    versions = GraderVersion.objects.order_by("-number")
    graders = Grader.objects.filter(project=project).select_related("project")
    return graders.prefetch_related(Prefetch("versions", queryset=versions))


def grader_by_uid(uid: Any) -> Grader | None:
    return Grader.objects.select_related("project").filter(uid=uid).first()


def grader_by_id(grader_id: int) -> Grader:
    return Grader.objects.select_related("project").get(pk=grader_id)


def grader_by_name(project: Project, name: str) -> Grader | None:
    return Grader.objects.select_related("project").filter(project=project, name=name).first()


def versions_of(grader: Grader) -> QuerySet[GraderVersion]:
    return (
        GraderVersion.objects.filter(grader=grader).select_related("grader__project", "created_by").order_by("-number")
    )


def version_by_number(grader: Grader, number: int | None) -> GraderVersion | None:
    """The version of that number, or the latest."""
    versions = versions_of(grader)
    return versions.first() if number is None else versions.filter(number=number).first()


def version_by_id(version_id: int) -> GraderVersion:
    return GraderVersion.objects.select_related("grader__project").get(pk=version_id)


def version_and_person(version_id: int, person_id: int) -> tuple[GraderVersion, Any]:
    """A version and whoever asked for something of it, for a worker that was told their keys."""
    return version_by_id(version_id), get_user_model().objects.get(pk=person_id)


def scores_of_version(version: GraderVersion, *, reader: Any) -> QuerySet[GraderScore]:
    """Its scores, without those that could sway the reader: see `items_told_of`."""
    told = GraderScore.objects.filter(version=version, item__in=items_told_of(version.grader.project, reader=reader))
    return told.select_related("version", "item__trajectory__task", "item__task")


# --- Counting ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Tally:
    """What a version's scores come to. Cost, seconds and tokens are of the scores that say them."""

    scores: int = 0
    items: int = 0
    passed: int | None = None
    most_attempts: int = 0
    cost: Decimal | None = None
    costed: int = 0
    median_seconds: float | None = None
    slow_seconds: float | None = None
    timed: int = 0
    tokens: int | None = None
    last_at: datetime | None = None

    @property
    def cost_each(self) -> Decimal | None:
        return self.cost / self.costed if self.cost is not None and self.costed else None


def tally(version: GraderVersion) -> Tally:
    """Counted again only where scores have come in since: a version's scores never change."""
    last = GraderScore.objects.filter(version=version).order_by("-pk").values_list("pk", flat=True).first()
    if last is None:
        return Tally()
    key = f"tally-{FORM}-{version.pk}-{last}-{version.passes_from}"
    found: Tally | None = cache.get(key)
    if found is None:
        found = _counted(version)
        cache.set(key, found, KEPT_SECONDS)
    return found


def _counted(version: GraderVersion) -> Tally:
    scores = GraderScore.objects.filter(version=version)
    passes = {} if version.passes_from is None else {"n_passed": Count("pk", filter=Q(value__gte=version.passes_from))}
    row = scores.aggregate(
        n_scores=Count("pk"),
        n_items=Count("item", distinct=True),
        most=Max("attempt"),
        total_cost=Sum("cost"),
        n_cost=Count("cost"),
        median=Percentile("seconds", 0.5),
        slow=Percentile("seconds", 0.95),
        n_seconds=Count("seconds"),
        all_tokens=Sum("tokens"),
        last=Max("created_at"),
        **passes,
    )
    return Tally(
        scores=row["n_scores"],
        items=row["n_items"],
        passed=row.get("n_passed"),
        most_attempts=row["most"],
        cost=row["total_cost"],
        costed=row["n_cost"],
        median_seconds=row["median"],
        slow_seconds=row["slow"],
        timed=row["n_seconds"],
        tokens=row["all_tokens"],
        last_at=row["last"],
    )


class Percentile(Aggregate):
    """The value below which this share of the rows lies."""

    function = "PERCENTILE_CONT"
    template = "%(function)s(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()

    def __init__(self, expression: str, share: float) -> None:
        super().__init__(expression, share=share)


@dataclass(frozen=True)
class VersionRow:
    """A version with what its scores come to."""

    version: GraderVersion
    tally: Tally


def version_rows(grader: Grader) -> list[VersionRow]:
    """The latest first. A query, and two for each version unless it was counted before."""
    return [VersionRow(version, tally(version)) for version in versions_of(grader)]


def last_adopted(version: GraderVersion) -> Event | None:
    """When scores were last taken from imported runs, and what came of it."""
    said = Event.objects.filter(target_type=GraderVersion._meta.model_name, target_id=version.pk)
    return said.filter(verb=GoldVerb.GRADER_SCORED, data__origin=FROM_RUNS).order_by("-pk").first()


@dataclass(frozen=True)
class GraderRow:
    """A grader in a list: its latest version, what that one's scores come to, and those of all versions together.

    `parted` is the Event with which the alarm of its latest version began.
    """

    grader: Grader
    latest: GraderVersion | None
    tally: Tally
    versions: int
    scores: int
    parted: Event | None


def grader_rows(project: Project) -> list[GraderRow]:
    """The project's graders. Three queries, and two for each version unless it was counted before."""
    rows, alarms = [], ringing(project)
    for grader in graders_of(project):
        versions = list(grader.versions.all())
        tallies = [tally(version) for version in versions]
        rows.append(
            GraderRow(
                grader=grader,
                latest=versions[0] if versions else None,
                tally=tallies[0] if tallies else Tally(),
                versions=len(versions),
                scores=sum(each.scores for each in tallies),
                parted=alarms.get(versions[0].pk) if versions else None,
            )
        )
    return rows
