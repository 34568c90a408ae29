"""What a bench finds: figures with their goals, printed as a table and written as JSON."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """One finding: a value with the spread it was seen in, and the goal it is held against ("" for none)."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    unit: str = "x"
    goal: str = ""
    met: bool | None = None
    note: str = ""


def ratio(
    name: str,
    above: Sequence[float],
    below: Sequence[float],
    *,
    at_most: float | None = None,
    at_least: float | None = None,
    note: str = "",
) -> Figure:
    """The median of the pairwise ratios, one pair per round, with the smallest and largest."""
    ratios = [a / b for a, b in zip(above, below, strict=True)]
    value = statistics.median(ratios)
    goal, met = _against(value, at_most, at_least)
    return Figure(name, value, min(ratios), max(ratios), goal=goal, met=met, note=note)


def _against(value: float, at_most: float | None, at_least: float | None = None) -> tuple[str, bool | None]:
    """A goal as it is printed, and whether it is met; neither where there is none."""
    if at_most is not None:
        return f"<= {at_most:g}", value <= at_most
    if at_least is not None:
        return f">= {at_least:g}", value >= at_least
    return "", None


def milliseconds(name: str, seconds: Sequence[float], note: str = "") -> Figure:
    """The median of some times, with the fastest and slowest."""
    times = [1000 * second for second in seconds]
    return Figure(name, statistics.median(times), min(times), max(times), unit="ms", note=note)


def count(
    name: str,
    number: float,
    *,
    unit: str,
    at_most: float | None = None,
    at_least: float | None = None,
    note: str = "",
) -> Figure:
    goal, met = _against(number, at_most, at_least)
    return Figure(name, number, unit=unit, goal=goal, met=met, note=note)


def table(figures: Sequence[Figure]) -> str:
    """The figures as lines of a table; a goal that was missed says so."""
    rows = [("what", "median", "min", "max", "", "goal", "")]
    for figure in figures:
        verdict = {None: "", True: "met", False: "MISSED"}[figure.met]
        numbers = (_short(figure.value), _short(figure.low), _short(figure.high))
        rows.append((figure.name, *numbers, figure.unit, figure.goal, verdict))
    widths = [max(len(row[column]) for row in rows) for column in range(7)]
    lines = []
    for row, figure in zip(rows, [None, *figures], strict=True):
        left = row[0].ljust(widths[0])
        middle = "  ".join(row[column].rjust(widths[column]) for column in (1, 2, 3))
        right = "  ".join(row[column].ljust(widths[column]) for column in (4, 5, 6))
        note = figure.note if figure else ""
        lines.append(f"{left}  {middle}  {right}  {note}".rstrip())
    return "\n".join(lines)


def _short(number: float | None) -> str:
    if number is None:
        return ""
    return f"{number:,.0f}" if abs(number) >= 100 or number == int(number) else f"{number:.2f}"


def write_json(path: Path, results: dict[str, list[Figure]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    found = {name: [asdict(figure) for figure in figures] for name, figures in results.items()}
    path.write_text(json.dumps(found, indent=2))
