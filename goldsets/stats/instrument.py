"""An environment with its grader as an instrument: whether it can train, and what it measures well and badly.

The grader's first score of each run is its reward. A policy learns from tasks that it passes sometimes; how often is
told model by model, since a task that is too hard for one is too easy for another.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from goldsets.stats.attempts import Band, band, pass_at, pass_hat
from goldsets.stats.calibration import Calibration, Graded, plain
from goldsets.stats.checklist import Check, at_least, lower_end, share_at_least, upper_end
from goldsets.stats.grading import Errors, at_most, errors
from goldsets.stats.proportion import difference, wilson
from reviews.stats.result import Estimate

# What an environment is held to unless somebody says otherwise: what it means, its value, its bounds.
TERMS: dict[str, tuple[str, float, float, float]] = {
    "min_tasks": ("Tasks with two runs or more, at least", 20, 1, 1e9),
    "min_between": ("Tasks passed sometimes, lower end, at least", 0.3, 0, 1),
    "max_false_positive": ("False positives, upper end, at most", 0.05, 0, 1),
    "max_false_negative": ("False negatives, upper end, at most", 0.2, 0, 1),
    "max_changes": ("Verdicts that change when asked again, upper end, at most", 0.05, 0, 1),
    "min_pinned": ("Runs that say their environment's version, at least", 1.0, 0, 1),
    "min_held_out": ("Held-out families, at least", 1, 0, 1e6),
}
TRIES = (1, 2, 4, 8)
# With fewer failures a model's false positives are told and compared with nobody's.
FLOOR = 10
NAMELESS = "no model named"


# --- The band of pass rates -------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class ModelBand:
    """How often one model passes each task: never, always or sometimes; pass@k and pass^k over its tasks."""

    model: str
    runs: int
    tasks: int
    band: Band
    any_of: tuple[Estimate, ...]
    all_of: tuple[Estimate, ...]


def bands_of(rows: Sequence[Graded], threshold: float) -> tuple[ModelBand, ...]:
    """Model by model, the one with the most tasks run twice or more first."""
    by_model: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_model[row.model or NAMELESS][row.task].append(row.score >= threshold)
    found = [_band_of(model, tasks) for model, tasks in by_model.items()]
    return tuple(sorted(found, key=lambda one: (-one.band.tasks, -one.runs, one.model)))


def _band_of(model: str, tasks: dict[str, list[bool]]) -> ModelBand:
    counted = [(len(passes), sum(passes)) for passes in tasks.values()]
    most = max(n for n, _passed in counted)
    tries = [k for k in TRIES if k <= most]
    return ModelBand(
        model=model,
        runs=sum(n for n, _passed in counted),
        tasks=len(counted),
        band=band(counted),
        any_of=tuple(pass_at(counted, k) for k in tries),
        all_of=tuple(pass_hat(counted, k) for k in tries),
    )


# --- Model by model ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class ModelErrors:
    """The errors on one model's runs, and how often experts pass them."""

    model: str
    experts: Estimate
    errors: Errors


@dataclass(frozen=True)
class Sensitivity:
    """Whether the grader errs more the stronger the agent: models from the weakest, by what experts pass, up.

    `change` is false positives on the strongest minus those on the weakest, of models with enough failures.
    """

    models: tuple[ModelErrors, ...]
    change: Estimate
    words: str


def sensitivity(labelled: Sequence[Graded], threshold: float) -> Sensitivity:
    by_model: dict[str, list[Graded]] = defaultdict(list)
    for row in labelled:
        by_model[row.model or NAMELESS].append(row)
    models = [_errors_of(model, rows, threshold) for model, rows in by_model.items()]
    models.sort(key=lambda one: (one.experts.value or 0.0, one.model))
    told = [one for one in models if one.errors.failures >= FLOOR]
    title = "False positives, the strongest model minus the weakest"
    if len(told) < 2:
        nothing = difference(wilson(0, 0), wilson(0, 0), statistic=title)
        words = f"It takes two models with {FLOOR} labelled failures or more."
        return Sensitivity(tuple(models), nothing, words)
    weakest, strongest = told[0], told[-1]
    change = difference(weakest.errors.false_positive_rate, strongest.errors.false_positive_rate, statistic=title)
    return Sensitivity(tuple(models), change, _sensitivity_words(change, weakest.model, strongest.model))


def _errors_of(model: str, rows: Sequence[Graded], threshold: float) -> ModelErrors:
    table = errors([row.score >= threshold for row in rows], [bool(row.truth) for row in rows])
    return ModelErrors(model, wilson(table.successes, table.n, statistic="Experts pass"), table)


def _sensitivity_words(change: Estimate, weakest: str, strongest: str) -> str:
    if change.low is not None and change.low > 0:
        return f"It is fooled more by {strongest} than by {weakest}: expect worse as the policy grows stronger."
    if change.high is not None and change.high < 0:
        return f"It is fooled less by {strongest} than by {weakest}."
    return f"Between {weakest} and {strongest} no difference beyond chance."


# --- Coverage ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class FamilyCoverage:
    """How much of a family the grader was held against experts on."""

    family: str
    scored: int
    passed: int
    failed: int

    @property
    def hole(self) -> str:
        """What nothing is known of, in words; "" where both errors can be told."""
        if not self.passed and not self.failed:
            return "no label"
        return "" if self.passed and self.failed else f"no labelled {'failure' if self.passed else 'success'}"


def coverage_of(rows: Sequence[Graded]) -> tuple[FamilyCoverage, ...]:
    """Families with holes first, then the others, each by how much was scored."""
    counted: dict[str, Counter[Any]] = defaultdict(Counter)
    for row in rows:
        counted[row.family or "no family"][row.truth] += 1
    found = [FamilyCoverage(name, sum(one.values()), one[True], one[False]) for name, one in counted.items()]
    return tuple(sorted(found, key=lambda one: (not one.hole, -one.scored, one.family)))


# --- The checklist ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Circumstances:
    """What is known of the scored runs beside their scores: `shared`, of `compared`, ask what held-out tasks ask."""

    runs: int
    pinned: int
    environments: tuple[tuple[str, int], ...]
    with_reset: int
    grader_pinned: bool
    held_out_families: int
    compared: int
    shared: tuple[str, ...]
    near: str


def checks_of(
    rows: Sequence[Graded],
    found: Calibration,
    bands: Sequence[ModelBand],
    known: Circumstances,
    terms: dict[str, float],
) -> list[Check]:
    """Every check. What cannot be measured does not hold."""
    several = bands[0] if bands else None
    counted = several.band.tasks if several else 0
    within = several.band.within if several else wilson(0, 0, statistic="Tasks passed sometimes")
    said = f"{counted} tasks with two runs or more of {several.model}" if several else "nothing is scored yet"
    misses = at_most(found.errors.false_fails, found.errors.successes, statistic="False negatives at most")
    return [
        at_least("tasks", "Tasks", counted, terms["min_tasks"], said),
        lower_end("band", "Pass rates within reach", within, terms["min_between"]),
        upper_end("false_positives", "False positives", found.bound, terms["max_false_positive"]),
        upper_end("false_negatives", "False negatives", misses, terms["max_false_negative"]),
        upper_end("verdicts", "Same verdict when asked again", _changed(rows, found.threshold), terms["max_changes"]),
        share_at_least(
            "environment", "Environment named", known.pinned, known.runs, terms["min_pinned"], "scored runs"
        ),
        _grader_pinned(known),
        Check("reset", "Reset told", None, f"{known.with_reset:,} of {known.runs:,} runs say how it is put back"),
        at_least(
            "held_out",
            "Held-out families",
            known.held_out_families,
            terms["min_held_out"],
            f"{known.held_out_families} kept for tests",
        ),
        _overlap(known),
    ]


def _changed(rows: Sequence[Graded], threshold: float) -> Estimate:
    """Of runs scored twice or more, how many got both verdicts."""
    several = [row.attempts for row in rows if len(row.attempts) > 1]
    changed = sum(len({score >= threshold for score in scores}) > 1 for scores in several)
    return at_most(changed, len(several), statistic="Runs with both verdicts")


def _grader_pinned(known: Circumstances) -> Check:
    said = "its fingerprint is kept" if known.grader_pinned else "nothing says which prompt or code scored"
    return Check("grader", "Grader named", known.grader_pinned, said, "a fingerprint of its prompt or code")


def _overlap(known: Circumstances) -> Check:
    names = ", ".join(known.shared[:3]) + (f" and {len(known.shared) - 3} more" if len(known.shared) > 3 else "")
    said = f"of {known.compared:,} tasks none asks what a held-out one does"
    if known.shared:
        said = f"held-out tasks ask the same as {names}"
    elif not known.compared:
        said = "no requests of held-out tasks are known to compare with"
    holds = bool(known.compared) and not known.shared
    return Check("overlap", "No overlap", holds, f"{said}; {known.near}", "no request in both")


# --- All of it --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Instrument:
    checks: tuple[Check, ...]
    bands: tuple[ModelBand, ...]
    sensitivity: Sensitivity
    coverage: tuple[FamilyCoverage, ...]
    known: Circumstances
    calibration: Calibration

    @property
    def holds(self) -> bool:
        return not self.failing

    @property
    def failing(self) -> int:
        return sum(check.passed is False for check in self.checks)

    @property
    def holes(self) -> int:
        return sum(bool(one.hole) for one in self.coverage)

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON; the calibration has an address of its own."""
        told = {each.name: plain(getattr(self, each.name)) for each in fields(self) if each.name != "calibration"}
        told["coverage"] = [
            plain_coverage | {"hole": one.hole}
            for plain_coverage, one in zip(told["coverage"], self.coverage, strict=True)
        ]
        return told | {"holds": self.holds, "holes": self.holes}


def instrument(
    rows: Sequence[Graded], found: Calibration, known: Circumstances, terms: dict[str, float], *, model: str = ""
) -> Instrument:
    """`model` is the one whose pass rates are held to the terms; otherwise the one with the most tasks."""
    bands = bands_of(rows, found.threshold)
    first = sorted(bands, key=lambda one: one.model != model) if model else bands
    labelled = [row for row in rows if row.truth is not None]
    return Instrument(
        checks=tuple(checks_of(rows, found, first, known, terms)),
        bands=tuple(first),
        sensitivity=sensitivity(labelled, found.threshold),
        coverage=coverage_of(rows),
        known=known,
        calibration=found,
    )
