"""What a version says of a run when it is asked again, and what whoever may try until it passes gains by that."""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from goldsets.models import GraderScore, GraderVersion
from goldsets.queries.calibration import question, threshold_of
from goldsets.queries.graded import graded
from goldsets.queries.keeping import Kept, Seen, count_and_keep, seen
from goldsets.queries.verdicts import asked_in
from goldsets.stats.attempts import Regrading, regrading

# So many scores are counted while somebody waits.
FEW_SCORES = 2_000
MOST_LISTED = 50
# Raise it with every change of the classes that are kept.
FORM = 2


@dataclass(frozen=True)
class AskedAgain:
    """One item and everything that was said of it, in the order of the attempts; `truth` is the label's verdict."""

    item: UUID
    task: str
    values: tuple[float, ...]
    passed: int
    truth: bool | None

    @property
    def changes(self) -> bool:
        return 0 < self.passed < len(self.values)


@dataclass(frozen=True)
class Repeats:
    """`times` says how many items were asked about so often; `beyond_cap` are those asked about more than is allowed.

    `listed` are items whose verdict changes, those that come closest to half and half first.
    """

    criterion: str
    against: str
    threshold: str
    calls: int
    items: int
    times: tuple[tuple[int, int], ...]
    cap: int | None
    at_cap: int
    found: Regrading
    listed: tuple[AskedAgain, ...]
    n_changing: int

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        told = {name: getattr(self, name) for name in ("criterion", "against", "threshold", "calls", "items", "cap")}
        return told | {
            "at_cap": self.at_cap,
            "times": [{"attempts": attempts, "items": items} for attempts, items in self.times],
            "n_repeated": self.found.n_repeated,
            "changes": self.found.changes.as_dict(),
            "spread": self.found.spread.as_dict(),
            "best_of": [{"k": k, **share.as_dict()} for k, share in self.found.best_of],
            "n_changing": self.n_changing,
            "changing": [asdict(one) for one in self.listed],
        }


def count_repeats(version: GraderVersion) -> Kept[Repeats]:
    """Count everything anew and keep it. Time grows with the number of scores."""
    return count_and_keep(_key(version), version.grader.project_id, lambda: _repeats(version))


def seen_repeats(version: GraderVersion) -> Seen[Repeats]:
    """What a page shows: a few short queries, unless there are few scores."""
    return seen(
        _key(version),
        version.grader.project_id,
        little=lambda: has_few_scores(version),
        count=lambda: _repeats(version),
    )


def has_few_scores(version: GraderVersion) -> bool:
    return len(GraderScore.objects.filter(version=version).values("pk")[: FEW_SCORES + 1]) <= FEW_SCORES


def _key(version: GraderVersion) -> str:
    return f"repeats-{FORM}-{version.pk}-{version.threshold}-{version.attempts_cap}"


def _repeats(version: GraderVersion) -> Repeats:
    asked = question(version.grader, {"version": version.number})
    rows = graded(version, asked.criterion, asked.held, asked_in(version.grader.project)).rows
    threshold, words = threshold_of(version)
    again = [
        AskedAgain(row.item, row.task, row.attempts, sum(value >= threshold for value in row.attempts), row.truth)
        for row in rows
        if len(row.attempts) > 1
    ]
    changing = sorted(
        (one for one in again if one.changes),
        key=lambda one: (abs(one.passed / len(one.values) - 0.5), -len(one.values), one.task, str(one.item)),
    )
    cap = version.attempts_cap
    return Repeats(
        criterion=asked.criterion,
        against=asked.held.words,
        threshold=words,
        calls=sum(len(row.attempts) for row in rows),
        items=len(rows),
        times=tuple(sorted(Counter(len(row.attempts) for row in rows).items())),
        cap=cap,
        at_cap=sum(len(row.attempts) >= cap for row in rows) if cap else 0,
        found=regrading([row.attempts for row in rows], [row.truth for row in rows], threshold),
        listed=tuple(changing[:MOST_LISTED]),
        n_changing=len(changing),
    )
