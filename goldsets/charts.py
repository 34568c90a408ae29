"""Plain geometry for dot-and-whisker figures: where each mark stands. Templates draw them as inline SVG with links."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import floor, log, log10
from uuid import UUID

from goldsets.queries.biases import Biases, Lean
from goldsets.queries.biases import Runs as BiasesOfRuns
from goldsets.queries.ledger import Line
from goldsets.queries.pace import QueuePace
from goldsets.queries.repeats import Repeats
from goldsets.queries.standing import RaterStanding
from goldsets.stats.calibration import Calibration, Cut
from goldsets.stats.instrument import Sensitivity
from goldsets.stats.parting import Watched
from reviews.queries.agreement import TENTATIVE, CriterionAgreement, QueueAgreement
from reviews.queries.items import family_words
from reviews.stats.result import Estimate, HypothesisTest

WIDTH = 680
NAME_X = 200
AXIS_LEFT, AXIS_RIGHT = 210, 590
VALUE_X, N_X = 600, 640
TOP = 8
ROW = 31
FIRST_ROW = 24
# Text stands on its base line, a little below the middle of a mark.
BASE_LINE = 4
TICK_STEP = 0.2
NAME_LENGTH = 28


@dataclass(frozen=True)
class Tick:
    x: float
    text: str


@dataclass(frozen=True)
class Mark:
    """One row: the dot at `x`, its whisker from `low_x` to `high_x`. Each is None where there is nothing to draw.

    `key` says what the row is about, for its link; `name` is `title` as far as it fits; `value` is empty where there is
    none. `words` says the row in a sentence.
    """

    key: str
    title: str
    name: str
    y: float
    text_y: float
    x: float | None
    low_x: float | None
    high_x: float | None
    value: str
    n: int
    weak: bool
    words: str


@dataclass(frozen=True)
class Figure:
    """Everything in the units of the view box (0 0 width height)."""

    width: int
    height: int
    name_x: int
    value_x: int
    n_x: int
    axis_top: int
    axis_bottom: int
    tick_y: int
    reference_x: float | None
    ticks: tuple[Tick, ...]
    marks: tuple[Mark, ...]
    label: str


def agreement_figure(agreement: QueueAgreement) -> Figure:
    """Alpha of every criterion and of the first decisive step; the reference is the least for tentative conclusions."""
    entries = agreement.entries
    weakest = min((entry.alpha.value for entry in entries if entry.alpha.value is not None), default=None)
    return dot_and_whisker(
        [(entry.key, entry.title, entry.alpha) for entry in entries],
        label="Krippendorff's alpha per criterion with 95% intervals; the table below has the same numbers",
        reference=TENTATIVE,
        weak_below=TENTATIVE if weakest is None else min(TENTATIVE, weakest + 1e-9),
    )


def parts_figure(criterion: CriterionAgreement) -> Figure:
    """Alpha on one criterion within each part of the answers that says enough."""
    return dot_and_whisker(
        [(cut.key, cut.title, cut.alpha) for cut in criterion.cuts if cut.alpha.defined],
        label=f"Alpha on {criterion.title} by part with 95% intervals; the table below has the same numbers",
        reference=TENTATIVE,
        weak_below=TENTATIVE,
    )


def models_figure(criterion: CriterionAgreement) -> Figure | None:
    """How often each model is preferred to an average one; None where models were not compared."""
    if criterion.models is None:
        return None
    return dot_and_whisker(
        [(model.model, model.model, model.wins) for model in criterion.models.models],
        label=f"Wins of each model on {criterion.title} with 95% intervals; the table below has the same numbers",
        reference=0.5,
    )


def accuracy_figure(standings: Iterable[RaterStanding]) -> Figure:
    """How often each rater is right on gold."""
    return dot_and_whisker(
        [(str(standing.rater_id), standing.rater, standing.accuracy) for standing in standings],
        label="Right on gold per rater with Wilson's 95% intervals; the table below has the same numbers",
    )


def dot_and_whisker(
    entries: list[tuple[str, str, Estimate]],
    *,
    label: str,
    reference: float | None = None,
    weak_below: float = float("-inf"),
    to: float = 1.0,
) -> Figure:
    """One row per (key, title, estimate). The axis runs from 0 to `to`, and below where a value or whisker does."""
    bottom = min(
        [0.0, *(end / to for _, _, estimate in entries for end in (estimate.value, estimate.low) if end is not None)]
    )
    steps_below = -floor(round(bottom / TICK_STEP, 6))
    first = -steps_below * TICK_STEP

    def x(value: float) -> float:
        return round(AXIS_LEFT + (value / to - first) / (1 - first) * (AXIS_RIGHT - AXIS_LEFT), 1)

    marks = []
    for row, (key, title, estimate) in enumerate(entries):
        drawn = estimate.value is not None
        y = FIRST_ROW + row * ROW
        marks.append(
            Mark(
                key=key,
                title=title,
                name=_shortened(title, NAME_LENGTH),
                y=y,
                text_y=y + BASE_LINE,
                x=x(estimate.value) if estimate.value is not None else None,
                low_x=x(estimate.low) if drawn and estimate.low is not None else None,
                high_x=x(estimate.high) if drawn and estimate.high is not None else None,
                value=f"{estimate.value:.2f}" if estimate.value is not None else "",
                n=estimate.n_units,
                weak=estimate.value is not None and estimate.value < weak_below,
                words=in_words(title, estimate),
            )
        )
    axis_bottom = FIRST_ROW + max(0, len(entries) - 1) * ROW + 17
    # Every second tick is enough where the axis reaches far down.
    every = 1 if steps_below <= 2 else 2
    values = [round(first + step * TICK_STEP, 1) for step in range(0, steps_below + 6, every)]
    return Figure(
        width=WIDTH,
        height=axis_bottom + 30,
        name_x=NAME_X,
        value_x=VALUE_X,
        n_x=N_X,
        axis_top=TOP,
        axis_bottom=axis_bottom,
        tick_y=axis_bottom + 18,
        reference_x=x(reference) if reference is not None else None,
        ticks=tuple(Tick(x(value * to), f"{value * to:.4g}") for value in values),
        marks=tuple(marks),
        label=label,
    )


def yield_figure(recipes: Sequence[Line]) -> Figure | None:
    """How much is kept for a dollar, by recipe; None where nothing can be said of any."""
    rows = [(line.key, line.title, line.kept_per_dollar) for line in recipes]
    return _on_own_scale(rows, "Kept items per US dollar by recipe with 95% intervals; the table has the same numbers")


def minutes_figure(weeks: Sequence[Line]) -> Figure | None:
    """Experts' minutes per kept item, week by week; None where nothing can be said of any."""
    rows = [(line.key, line.title, line.minutes_per_kept) for line in weeks]
    return _on_own_scale(rows, "Minutes per kept item by week with 95% intervals; the table has the same numbers")


def _on_own_scale(rows: list[tuple[str, str, Estimate]], label: str) -> Figure | None:
    """From 0 to the next of 1, 2 or 5 times a power of ten, past every value and whisker."""
    ends = [end for _, _, estimate in rows for end in (estimate.value, estimate.high) if end]
    if not ends:
        return None
    power = 10.0 ** floor(log10(max(ends)))
    to = next(step * power for step in (1, 2, 5, 10) if step * power >= max(ends))
    return dot_and_whisker(rows, label=label, to=to)


def repeats_figure(repeats: Repeats) -> Figure:
    """How often a run that experts fail passes when it may try so often, the first try first."""
    tries = [(str(k), "The first time" if k == 1 else f"Best of {k}", share) for k, share in repeats.found.best_of]
    return dot_and_whisker(
        [*tries, ("changes", "Changes when asked again", repeats.found.changes)],
        label="How often runs that experts fail pass in so many tries, and how often a verdict changes, with intervals",
    )


OWN_RUNS = ("On its own family", "False positives on runs of its own family and on others, with intervals")
OWN_PAIRS = ("Preferred by it", "How often its own family is preferred, by it and by experts, with intervals")
RIGHT_ON_PAIRS = "How often it is right on pairs, and judges that see one thing; the table below has the same numbers"


@dataclass(frozen=True)
class BiasFigures:
    """Pictures of what a version leans on; each is None where there is nothing of it."""

    areas: Figure | None
    leans: Figure | None
    own: Figure | None
    pairs: Figure | None
    pair_rows: tuple[tuple[str, Estimate], ...]
    pair_leans: Figure | None
    pair_own: Figure | None


def bias_figures(found: Biases) -> BiasFigures:
    shares: list[tuple[str, str, Estimate]] = []
    if found.pairs:
        shares = [("consistent", "Same winner in both orders", found.pairs.consistent), *found.pairs.shares]
    return BiasFigures(
        areas=_areas(found.runs) if found.runs else None,
        leans=_leans(found.runs.leans) if found.runs else None,
        own=_own(found.runs.own if found.runs else None, OWN_RUNS, "On others"),
        pairs=dot_and_whisker(shares, label=RIGHT_ON_PAIRS, reference=0.5) if shares else None,
        pair_rows=tuple((title, share) for _key, title, share in shares),
        pair_leans=_leans(found.pairs.leans) if found.pairs else None,
        pair_own=_own(found.pairs.own if found.pairs else None, OWN_PAIRS, "Preferred by experts"),
    )


def _areas(runs: BiasesOfRuns) -> Figure:
    rows = [(name, name, area) for name, area in runs.areas]
    return dot_and_whisker(rows, label="Areas under ROC of the grader and of one feature alone", reference=0.5)


def _leans(leans: Sequence[Lean]) -> Figure:
    rows = [(one.name, one.name.capitalize(), one.odds) for one in leans]
    return odds_figure(rows, label="Odds of a pass per standard deviation of a feature, on a log axis, with intervals")


def _own(own: tuple[Estimate, Estimate, HypothesisTest] | None, words: tuple[str, str], other: str) -> Figure | None:
    if own is None:
        return None
    title, label = words
    return dot_and_whisker([("own", title, own[0]), ("others", other, own[1])], label=label)


ODDS_TICKS = {0.125: "1/8", 0.25: "1/4", 0.5: "1/2", 1.0: "1", 2.0: "2", 4.0: "4", 8.0: "8"}


def odds_figure(entries: list[tuple[str, str, Estimate]], *, label: str) -> Figure:
    """One row per (key, title, odds ratio) on a log axis from an eighth to eight; what lies beyond ends at its ends."""
    first, last = min(ODDS_TICKS), max(ODDS_TICKS)

    def x(odds: float) -> float:
        along = log(min(max(odds, first), last) / first) / log(last / first)
        return round(AXIS_LEFT + along * (AXIS_RIGHT - AXIS_LEFT), 1)

    drawn = dot_and_whisker(entries, label=label)
    marks = tuple(
        replace(
            mark,
            x=None if odds.value is None else x(odds.value),
            low_x=None if odds.value is None or odds.low is None else x(odds.low),
            high_x=None if odds.value is None or odds.high is None else x(odds.high),
        )
        for mark, (_key, _title, odds) in zip(drawn.marks, entries, strict=True)
    )
    ticks = tuple(Tick(x(odds), words) for odds, words in ODDS_TICKS.items())
    return replace(drawn, marks=marks, ticks=ticks, reference_x=x(1.0))


def in_words(title: str, estimate: Estimate) -> str:
    """ "Task success: 0.78 [0.72, 0.83], n 398", or why there is no value."""
    if estimate.value is None:
        return f"{title}: {estimate.words}"
    if estimate.low is None or estimate.high is None:
        return f"{title}: {estimate.value:.2f}, n {estimate.n_units}. {estimate.words}"
    return f"{title}: {estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}], n {estimate.n_units}"


# --- Paths: what a test made of one answer after the other ------------------------------------------------------------
PATH_HEIGHT = 210
PATH_LEFT, PATH_RIGHT = 44, 560
PATH_TOP, PATH_BOTTOM = 14, 176
MAX_LABELS = 12


@dataclass(frozen=True)
class PathMark:
    """One answer: where it stands, which gold item or item it was of, whether it was wrong, and a sentence."""

    x: float
    y: float
    key: int | UUID
    wrong: bool
    words: str


@dataclass(frozen=True)
class Bound:
    """A level across the figure and what it means."""

    y: float
    text_y: float
    words: str
    css: str


@dataclass(frozen=True)
class PathFigure:
    width: int
    height: int
    left: int
    right: int
    text_x: int
    zero_x: int
    axis_y: float
    axis_text_y: float
    points: str
    marks: tuple[PathMark, ...]
    bounds: tuple[Bound, ...]
    ticks: tuple[Tick, ...]
    tick_y: int
    label: str


def path_figure(
    path: Sequence[float],
    answers: Sequence[tuple[int | UUID, bool, str]],
    *,
    bounds: Sequence[tuple[float, str, str]],
    label: str,
) -> PathFigure:
    """`path` after each of `answers` (gold item or item, right, words), from 0.

    It goes between `bounds` (level, words, css class).
    """
    levels = [0.0, *path, *(level for level, _words, _css in bounds)]
    low, high = min(levels), max(levels)
    room = (high - low) or 1.0

    def y(level: float) -> float:
        return round(PATH_BOTTOM - (level - low) / room * (PATH_BOTTOM - PATH_TOP), 1)

    def x(number: int) -> float:
        return round(PATH_LEFT + number / max(1, len(path)) * (PATH_RIGHT - PATH_LEFT), 1)

    every = max(1, -(-len(path) // MAX_LABELS))
    marks = tuple(
        PathMark(x(number), y(level), gold, not right, f"{number}. {words}: {'right' if right else 'wrong'}")
        for number, (level, (gold, right, words)) in enumerate(zip(path, answers, strict=True), start=1)
    )
    return PathFigure(
        width=WIDTH,
        height=PATH_HEIGHT,
        left=PATH_LEFT,
        right=PATH_RIGHT,
        text_x=PATH_RIGHT + 8,
        zero_x=PATH_LEFT - 8,
        axis_y=y(0),
        axis_text_y=y(0) + BASE_LINE,
        points=" ".join([f"{x(0)},{y(0)}", *(f"{mark.x},{mark.y}" for mark in marks)]),
        marks=marks,
        bounds=tuple(Bound(y(level), y(level) + BASE_LINE, words, css) for level, words, css in bounds),
        ticks=tuple(Tick(x(number), str(number)) for number in range(every, len(path) + 1, every)),
        tick_y=PATH_BOTTOM + 20,
        label=label,
    )


# --- How long judgments take ------------------------------------------------------------------------------------------
# On the log scale, as far as it is needed.
SECONDS_TICKS = {
    1: "1 s", 4: "4 s", 15: "15 s", 60: "1 min", 240: "4 min", 900: "15 min", 3_600: "1 h", 14_400: "4 h", 86_400: "1 d"
}  # fmt: skip
STRIP_NAME_LENGTH = 26
MOST_DOTS = 120


@dataclass(frozen=True)
class Strip:
    """One rater's judgments as dots, with their quartiles as a bar and their median as a line."""

    name: str
    y: float
    text_y: float
    dots: tuple[float, ...]
    low_x: float
    median_x: float
    high_x: float
    n: int
    words: str


@dataclass(frozen=True)
class PaceFigure:
    width: int
    height: int
    name_x: int
    n_x: int
    axis_top: int
    axis_bottom: int
    tick_y: int
    median_x: float
    ticks: tuple[Tick, ...]
    strips: tuple[Strip, ...]
    label: str


def pace_figure(found: QueuePace) -> PaceFigure:
    """A strip for each rater on one log axis. Of many judgments some are drawn, evenly by rank, the ends among them."""
    everything = [seconds for row in found.raters for seconds in row.seconds]
    bounds = list(SECONDS_TICKS)
    first = max((at for at in bounds if at <= min(everything)), default=bounds[0])
    last = min((at for at in bounds if at >= max(everything) and at > first), default=bounds[-1])

    def x(seconds: float) -> float:
        along = log(max(seconds, first) / first) / log(last / first)
        return round(AXIS_LEFT + min(along, 1) * (AXIS_RIGHT - AXIS_LEFT), 1)

    strips = []
    for place, row in enumerate(found.raters):
        y = FIRST_ROW + place * ROW
        median = row.pace.median.value or 1
        strips.append(
            Strip(
                name=_shortened(row.rater, STRIP_NAME_LENGTH),
                y=y,
                text_y=y + BASE_LINE,
                dots=tuple(x(seconds) for seconds in _evenly(row.seconds, MOST_DOTS)),
                low_x=x(row.pace.low),
                median_x=x(median),
                high_x=x(row.pace.high),
                n=row.pace.n,
                words=f"{row.rater}: half of {row.pace.n} took {row.pace.low:.0f} to {row.pace.high:.0f} s, "
                f"the median {median:.0f} s",
            )
        )
    axis_bottom = FIRST_ROW + max(0, len(strips) - 1) * ROW + 17
    return PaceFigure(
        width=WIDTH,
        height=axis_bottom + 30,
        name_x=NAME_X,
        n_x=VALUE_X,
        axis_top=TOP,
        axis_bottom=axis_bottom,
        tick_y=axis_bottom + 18,
        median_x=x(found.pace.median.value or 1),
        ticks=tuple(Tick(x(at), words) for at, words in SECONDS_TICKS.items() if first <= at <= last),
        strips=tuple(strips),
        label="Seconds per judgment and rater on a log scale; the table below has the same numbers",
    )


def _evenly(values: tuple[int, ...], most: int) -> list[int]:
    """At most so many of the ordered values, evenly by rank, with the first and the last."""
    if len(values) <= most:
        return list(values)
    return [values[round(place * (len(values) - 1) / (most - 1))] for place in range(most)]


def _shortened(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most - 1].rstrip() + "…"


# --- Calibration: curves in a square, and parts of the runs by their false positives ----------------------------------
SQUARE = 300
SQUARE_LEFT, SQUARE_RIGHT = 46, 290
SQUARE_TOP, SQUARE_BOTTOM = 10, 254
# A figure of parts is to be read at a glance; the table below has all.
MOST_CUTS = 16


@dataclass(frozen=True)
class Dot:
    """A dot with its whisker, both in the figure's units, and what it says in a sentence."""

    x: float
    y: float
    low_y: float | None
    high_y: float | None
    words: str


@dataclass(frozen=True)
class SquareFigure:
    """A curve over two shares from 0 to 1. `diagonal` is where chance lies, or a score that means what it says."""

    size: int
    left: int
    right: int
    top: int
    bottom: int
    diagonal: str
    points: str
    marks: tuple[Dot, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    x_title: str
    y_title: str
    label: str


def square_figure(
    points: Sequence[tuple[float, float]],
    *,
    titles: tuple[str, str],
    label: str,
    marks: Sequence[tuple[float, float, Estimate | None, str]] = (),
    diagonal: bool = True,
) -> SquareFigure:
    """`marks` are (x, y, estimate whose interval is the whisker, words)."""
    reach = range(0, 11, 2)
    return SquareFigure(
        size=SQUARE,
        left=SQUARE_LEFT,
        right=SQUARE_RIGHT,
        top=SQUARE_TOP,
        bottom=SQUARE_BOTTOM,
        diagonal=f"{SQUARE_LEFT},{SQUARE_BOTTOM} {SQUARE_RIGHT},{SQUARE_TOP}" if diagonal else "",
        points=" ".join(f"{_across(x)},{_up(y)}" for x, y in points),
        marks=tuple(
            Dot(
                x=_across(x),
                y=_up(y),
                low_y=_up(estimate.low) if estimate and estimate.low is not None else None,
                high_y=_up(estimate.high) if estimate and estimate.high is not None else None,
                words=words,
            )
            for x, y, estimate, words in marks
        ),
        x_ticks=tuple(Tick(_across(tenth / 10), f"{tenth / 10:g}") for tenth in reach),
        y_ticks=tuple(Tick(_up(tenth / 10), f"{tenth / 10:g}") for tenth in reach),
        x_title=titles[0],
        y_title=titles[1],
        label=label,
    )


def _across(share: float) -> float:
    return round(SQUARE_LEFT + share * (SQUARE_RIGHT - SQUARE_LEFT), 1)


def _up(share: float) -> float:
    return round(SQUARE_BOTTOM - share * (SQUARE_BOTTOM - SQUARE_TOP), 1)


def roc_figure(found: Calibration) -> SquareFigure | None:
    """None where one kind of label is missing. The dot is the threshold that holds."""
    if not found.curve.points:
        return None
    table = found.errors
    here = (table.false_positive_rate.value or 0.0, 1 - (table.false_negative_rate.value or 0.0))
    return square_figure(
        [(0.0, 0.0), *((point.false_positive_rate, point.true_positive_rate) for point in found.curve.points)],
        titles=("false positives", "passed, of what experts pass"),
        label="ROC curve; the dot is the threshold of this report",
        marks=[
            (*here, None, f"From {found.threshold:g} on: false positives {here[0]:.2f}, passed rightly {here[1]:.2f}")
        ],
    )


def precision_figure(found: Calibration) -> SquareFigure | None:
    """What of its passes experts pass, by how many of their passes it finds."""
    told = [(point.true_positive_rate, point.precision) for point in found.curve.points if point.precision is not None]
    if not told:
        return None
    return square_figure(
        told,
        titles=("passed, of what experts pass", "of its passes, right"),
        label="Precision and recall over thresholds",
        diagonal=False,
    )


def reliability_figure(found: Calibration) -> SquareFigure | None:
    """Bins of scores by their mean, with the share experts pass. None where scores are no probabilities."""
    told = [
        (each.mean, each.passes) for each in found.reliability.bins if each.mean is not None and each.passes.defined
    ]
    if len(told) < 2:
        return None
    return square_figure(
        [(mean, passes.value or 0.0) for mean, passes in told],
        titles=("mean score", "experts pass"),
        label="Reliability: the mean score of ten bins against the share that experts pass",
        marks=[(mean, passes.value or 0.0, passes, in_words(f"Score {mean:.2f}", passes)) for mean, passes in told],
    )


def cuts_figure(found: Calibration) -> Figure | None:
    """False positives of each part that has failures, the worst first."""
    told = [cut for cut in found.cuts if cut.errors.failures][:MOST_CUTS]
    if not told:
        return None
    overall = found.errors.false_positive_rate.value
    return dot_and_whisker(
        [(cut.key, _cut_title(cut), cut.errors.false_positive_rate) for cut in told],
        label="False positives by part with Wilson's 95% intervals; the table below has the same numbers",
        reference=overall,
    )


def _cut_title(cut: Cut) -> str:
    return f"family {family_words(cut.part)}" if cut.dimension == "family" else cut.title


# --- Parting: what the grader says and what experts say, part by part -------------------------------------------------
PARTING_TOP, PARTING_BOTTOM = 14, 190
PARTING_HEIGHT = 236
LONGEST_PART_NAME = 12


@dataclass(frozen=True)
class PartingFigure:
    """Two lines over the same parts, from 0 to 1. Where both hold the same, they lie on each other."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    tick_y: int
    title_y: int
    proxy: str
    gold: str
    proxy_marks: tuple[Dot, ...]
    gold_marks: tuple[Dot, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    x_title: str
    label: str


def parting_figure(found: Watched, *, by: str = "") -> PartingFigure | None:
    """Parts at their distance where each has one, else at even steps. None with fewer than two."""
    parts = found.parts
    if len(parts) < 2:
        return None
    places = _places([part.distance for part in parts])

    def marks(estimates: Sequence[Estimate]) -> tuple[Dot, ...]:
        return tuple(
            Dot(
                x=x,
                y=_height(estimate.value or 0.0),
                low_y=_height(estimate.low) if estimate.low is not None else None,
                high_y=_height(estimate.high) if estimate.high is not None else None,
                words=in_words(f"{estimate.statistic}, {part.name}", estimate),
            )
            for x, part, estimate in zip(places, parts, estimates, strict=True)
        )

    proxy, gold = marks([part.proxy for part in parts]), marks([part.gold for part in parts])
    every = -(-len(parts) // MAX_LABELS)
    return PartingFigure(
        width=WIDTH,
        height=PARTING_HEIGHT,
        left=PATH_LEFT,
        right=PATH_RIGHT,
        top=PARTING_TOP,
        bottom=PARTING_BOTTOM,
        tick_y=PARTING_BOTTOM + 17,
        title_y=PARTING_BOTTOM + 38,
        proxy=" ".join(f"{mark.x},{mark.y}" for mark in proxy),
        gold=" ".join(f"{mark.x},{mark.y}" for mark in gold),
        proxy_marks=proxy,
        gold_marks=gold,
        x_ticks=tuple(
            Tick(x, _shortened(part.name, LONGEST_PART_NAME))
            for x, part in list(zip(places, parts, strict=True))[::every]
        ),
        y_ticks=tuple(Tick(_height(tenth / 10), f"{tenth / 10:g}") for tenth in range(0, 11, 2)),
        x_title={"kl": "by the square root of KL", "step": "by training step"}.get(by, ""),
        label="Share passed by the grader and by experts; the table below has the same numbers",
    )


def _places(distances: Sequence[float | None]) -> list[float]:
    known = [distance for distance in distances if distance is not None]
    spread = max(known) - min(known) if len(known) == len(distances) else 0.0
    if not spread:
        shares = [place / (len(distances) - 1) for place in range(len(distances))]
    else:
        shares = [(distance - min(known)) / spread for distance in known]
    # A little room on either side, so that whiskers do not stand on the frame.
    room = (PATH_RIGHT - PATH_LEFT) * 0.04
    return [round(PATH_LEFT + room + share * (PATH_RIGHT - PATH_LEFT - 2 * room), 1) for share in shares]


def _height(share: float) -> float:
    return round(PARTING_BOTTOM - share * (PARTING_BOTTOM - PARTING_TOP), 1)


def models_errors_figure(found: Sensitivity) -> Figure | None:
    """False positives on each model's runs, the weakest model first. None where no model has failures."""
    told = [one for one in found.models if one.errors.failures]
    if not told:
        return None
    return dot_and_whisker(
        [(f"model:{one.model}", one.model, one.errors.false_positive_rate) for one in told],
        label="False positives by model, from the weakest to the strongest; the table below has the same numbers",
    )
