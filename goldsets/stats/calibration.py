"""One grader version held against experts' labels: everything that its report says, from plain rows.

A row is a run that the version scored. What counts is its first score, never its best; whoever may try again until the
verifier passes is counted apart. What the label says is `truth`, None where the run has no trusted label.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from hashlib import sha256
from itertools import islice
from typing import Any
from uuid import UUID

from goldsets.stats.attempts import Regrading, regrading
from goldsets.stats.corrected import Powered, ppi, rogan_gladen
from goldsets.stats.grading import Compared, Errors, More, clustered_share, compared, errors, more_to_bound
from goldsets.stats.proportion import wilson
from goldsets.stats.reliability import Reliability, reliability
from goldsets.stats.thresholds import Certified, Curve, certify, curve
from reviews.stats.result import Estimate

# What a rate of false positives is to be bounded at, unless somebody says otherwise.
LIMIT = 0.05
# More items nobody looks through; the report says how many there are.
MOST_ITEMS = 500
# Of each dimension the parts with the most labelled runs.
MOST_PARTS = 20


@dataclass(frozen=True, slots=True)
class Graded:
    """One run: the version's first score and all of them, the label's verdict, and what the reports are cut by.

    `failed` names the gates that the label does not pass; `succeeded` is how the run itself ended, where known.
    `said` has what each rater said before anybody decided, and `decided` whether a lead did. `meta` is what came with
    the score, such as the checkpoint, and `week` when it was given.
    """

    item: UUID
    task: str
    score: float
    truth: bool | None
    attempts: tuple[float, ...] = ()
    family: str = ""
    model: str = ""
    slices: Mapping[str, str] = field(default_factory=dict)
    split: str = ""
    failed: tuple[str, ...] = ()
    succeeded: bool | None = None
    said: tuple[bool, ...] = ()
    decided: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)
    week: str = ""


@dataclass(frozen=True)
class Cut:
    """The errors on one part of the runs: of a family, a slice, a model, or those that fail one gate."""

    dimension: str
    part: str
    errors: Errors
    items: tuple[UUID, ...]

    @property
    def title(self) -> str:
        return f"{self.dimension} {self.part}"

    @property
    def key(self) -> str:
        return f"{self.dimension}:{self.part}"


@dataclass(frozen=True)
class Ceiling:
    """People on the same runs, each against the label: no grader can be held to more than that.

    A label that nobody had to decide rests on these very answers, which flatters; `decided` is of those that a lead
    decided. Answers on one run belong together.
    """

    n_items: int
    accuracy: Estimate
    false_positives: Estimate
    false_negatives: Estimate
    decided: Estimate
    grader: Estimate


@dataclass(frozen=True)
class PassRates:
    """How many of all scored runs pass: as the grader says, and corrected by those that experts judged too."""

    apparent: Estimate
    labelled: Estimate
    corrected: Estimate
    powered: Powered


@dataclass(frozen=True)
class Rewarded:
    """Runs that break a gate: how often the grader passes them, among all and among those that ended in success.

    `items` are those it passed, successes first: in training each would have been rewarded.
    """

    breaking: Estimate
    successes: Estimate
    items: tuple[UUID, ...]
    n_items: int


@dataclass(frozen=True)
class Beside:
    """Another version on the same labelled runs: on all of them, and on those that experts fail."""

    other: int
    all: Compared
    failures: Compared


@dataclass(frozen=True)
class Calibration:
    """The report of one version on one question. `missing` says what it takes to say more, in sentences.

    Of runs that are named, at most `MOST_ITEMS` are.
    """

    threshold: float
    n_scored: int
    n_labelled: int
    errors: Errors
    false_positives: tuple[UUID, ...]
    false_negatives: tuple[UUID, ...]
    bound: Estimate
    more: More
    cuts: tuple[Cut, ...]
    curve: Curve
    certified: Certified
    reliability: Reliability
    ceiling: Ceiling
    rates: PassRates
    rewarded: Rewarded
    regrading: Regrading
    beside: Beside | None

    @property
    def missing(self) -> list[str]:
        return list(_missing(self))

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        best_of = [{"k": k, "passes": plain(passes)} for k, passes in self.regrading.best_of]
        told = {each.name: plain(getattr(self, each.name)) for each in fields(self)}
        return told | {"regrading": told["regrading"] | {"best_of": best_of}, "missing": self.missing}


def calibrated(
    rows: Sequence[Graded],
    threshold: float,
    *,
    limit: float = LIMIT,
    other: tuple[int, Mapping[UUID, float], float] | None = None,
) -> Calibration:
    """The report. `other` is another version's number, its first scores by item, and its threshold."""
    labelled = [row for row in rows if row.truth is not None]
    table = errors(*_passes_and_truth(labelled, threshold))
    return Calibration(
        threshold=threshold,
        n_scored=len(rows),
        n_labelled=len(labelled),
        errors=table,
        false_positives=_named(row for row in labelled if not row.truth and row.score >= threshold),
        false_negatives=_named(row for row in labelled if row.truth and row.score < threshold),
        bound=table.bound(),
        more=more_to_bound(table.false_passes, table.failures, limit),
        cuts=cuts_of(labelled, threshold),
        curve=curve([row.score for row in labelled], [bool(row.truth) for row in labelled]),
        certified=certified(labelled, limit),
        reliability=reliability([row.score for row in labelled], [bool(row.truth) for row in labelled]),
        ceiling=ceiling_of(labelled, threshold),
        rates=pass_rates(rows, threshold, table),
        rewarded=rewarded(labelled, threshold),
        regrading=regrading([row.attempts for row in rows], [row.truth for row in rows], threshold),
        beside=_beside(labelled, threshold, *other) if other else None,
    )


def _passes_and_truth(labelled: Iterable[Graded], threshold: float) -> tuple[list[bool], list[bool]]:
    rows = list(labelled)
    return [row.score >= threshold for row in rows], [bool(row.truth) for row in rows]


def _named(rows: Iterable[Graded]) -> tuple[UUID, ...]:
    return tuple(row.item for row in islice(rows, MOST_ITEMS))


# --- By part ----------------------------------------------------------------------------------------------------------
def cuts_of(labelled: Sequence[Graded], threshold: float) -> tuple[Cut, ...]:
    """Every part of every dimension that has two or more, the worst first.

    Worst is what is shown to be bad: the order is that of the lower end of the false positives' interval, so that one
    false positive among one failure does not stand above thirty among a hundred.
    """
    found = []
    for dimension, parts in _dimensions(labelled).items():
        if len(parts) < 2 and dimension != "gate":
            continue
        most = sorted(parts, key=lambda part: (-len(parts[part]), part))[:MOST_PARTS]
        for part in most:
            table = errors(*_passes_and_truth(parts[part], threshold))
            passed = _named(row for row in parts[part] if row.score >= threshold and not row.truth)
            found.append(Cut(dimension, part, table, passed))
    return tuple(sorted(found, key=_badness))


def _dimensions(labelled: Sequence[Graded]) -> dict[str, dict[str, list[Graded]]]:
    found: dict[str, dict[str, list[Graded]]] = defaultdict(lambda: defaultdict(list))
    for row in labelled:
        for dimension, part in (("family", row.family), ("model", row.model), ("split", row.split)):
            if part:
                found[dimension][part].append(row)
        for name, part in row.slices.items():
            found[f"slice {name}"][part].append(row)
        for gate in row.failed:
            found["gate"][gate].append(row)
    return found


def _badness(cut: Cut) -> tuple[float, float, str]:
    rate = cut.errors.false_positive_rate
    return (-(rate.low if rate.low is not None else -1.0), -(rate.value or 0.0), cut.title)


# --- A threshold that was not chosen on what it is tried on -----------------------------------------------------------
def certified(labelled: Sequence[Graded], limit: float) -> Certified:
    """Chosen on one half of the tasks and tried on the other. A task's half is drawn by its key, for good."""
    scores, truth = [row.score for row in labelled], [bool(row.truth) for row in labelled]
    return certify(scores, truth, [in_first_half(row.task) for row in labelled], limit)


def in_first_half(task: str) -> bool:
    return sha256(task.encode()).digest()[0] < 128


# --- People on the same runs ------------------------------------------------------------------------------------------
def ceiling_of(labelled: Sequence[Graded], threshold: float) -> Ceiling:
    rated = [row for row in labelled if row.said]
    failed, passed = [row for row in rated if not row.truth], [row for row in rated if row.truth]
    right = sum((row.score >= threshold) == row.truth for row in rated)
    return Ceiling(
        n_items=len(rated),
        accuracy=_said_right(rated, "A rater is right"),
        false_positives=_said_wrong(failed, "A rater passes what fails"),
        false_negatives=_said_wrong(passed, "A rater fails what passes"),
        decided=_said_right([row for row in rated if row.decided], "A rater is right where a lead decided"),
        grader=wilson(right, len(rated), statistic="The grader is right on the same runs"),
    )


def _said_right(rows: Sequence[Graded], statistic: str) -> Estimate:
    hits = [sum(one == row.truth for one in row.said) for row in rows]
    return clustered_share(hits, [len(row.said) for row in rows], statistic=statistic)


def _said_wrong(rows: Sequence[Graded], statistic: str) -> Estimate:
    hits = [sum(one != row.truth for one in row.said) for row in rows]
    return clustered_share(hits, [len(row.said) for row in rows], statistic=statistic)


# --- Rates ------------------------------------------------------------------------------------------------------------
def pass_rates(rows: Sequence[Graded], threshold: float, table: Errors) -> PassRates:
    """The labelled runs are taken for a random sample of all; where a rule chose them, the correction is off."""
    passed = sum(row.score >= threshold for row in rows)
    labelled = [row for row in rows if row.truth is not None]
    return PassRates(
        apparent=wilson(passed, len(rows), statistic="Passed by the grader"),
        labelled=wilson(table.successes, table.n, statistic="Passed by experts, labelled runs"),
        corrected=rogan_gladen(
            passed,
            len(rows),
            specificity=(table.true_fails, table.failures),
            sensitivity=(table.true_passes, table.successes),
        ),
        powered=ppi(
            [float(bool(row.truth)) for row in labelled],
            [float(row.score >= threshold) for row in labelled],
            [float(row.score >= threshold) for row in rows if row.truth is None],
        ),
    )


def rewarded(labelled: Sequence[Graded], threshold: float) -> Rewarded:
    breaking = [row for row in labelled if row.failed]
    successes = [row for row in breaking if row.succeeded]
    passed = [row for row in breaking if row.score >= threshold]
    passed.sort(key=lambda row: not row.succeeded)
    return Rewarded(
        breaking=wilson(len(passed), len(breaking), statistic="Passed though a gate fails"),
        successes=wilson(
            sum(row.score >= threshold for row in successes),
            len(successes),
            statistic="Passed though a gate fails, of runs that ended in success",
        ),
        items=_named(passed),
        n_items=len(passed),
    )


def _beside(
    labelled: Sequence[Graded], threshold: float, number: int, scores: Mapping[UUID, float], its_threshold: float
) -> Beside:
    both = [row for row in labelled if row.item in scores]

    def held(rows: Sequence[Graded]) -> Compared:
        first, truth = _passes_and_truth(rows, threshold)
        return compared(first, [scores[row.item] >= its_threshold for row in rows], truth)

    return Beside(number, held(both), held([row for row in both if not row.truth]))


# --- What is missing --------------------------------------------------------------------------------------------------
def _missing(found: Calibration) -> Iterable[str]:
    table = found.errors
    if not found.n_labelled:
        yield "No scored run has a trusted label yet: settle some, or score settled ones."
        return
    if found.more.caught:
        yield found.more.words
    if not table.successes:
        yield "No labelled run passes, so nothing is known of false negatives, and no rate can be corrected."
    if not found.ceiling.n_items:
        yield "Nobody's own answers stand behind these labels, so there is no human ceiling to hold the grader to."
    elif not found.ceiling.decided.defined:
        yield "No lead had to decide on these runs, so raters are held against labels that rest on their own answers."
    if not found.regrading.n_repeated:
        yield "No run was scored twice by this version, so it is not known how steady its verdicts are."


# --- As plain types ---------------------------------------------------------------------------------------------------
def plain(value: Any) -> Any:
    """Anything of a report as JSON can hold it."""
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, UUID) else value
