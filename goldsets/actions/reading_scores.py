"""Reads scores as they are sent: one row, or a file of JSON lines or CSV. What is wrong with a row is said beside it.

A row is {"item": the item's id, or "run": the source's id of the run, "value", "criterion", "attempt", "order",
"parts": {name: number}, "explanation", "evidence": [{"step", "quote", "candidate"}], "cost", "seconds", "tokens",
"meta": {…}}. Of a CSV these are the columns, with `part.NAME` and `meta.NAME` for what is inside, and JSON in
`evidence`.
"""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from io import TextIOWrapper
from math import isfinite
from typing import IO, Any
from uuid import UUID

from goldsets.enums import GraderScale, ScoreOrder
from goldsets.models import GraderVersion
from reviews.errors import Invalid
from reviews.trajectories import jsontext
from reviews.trajectories.schema import RowError

FIELDS = {
    "item", "run", "value", "criterion", "attempt", "order", "parts", "explanation", "evidence", "cost", "seconds",
    "tokens", "meta",
}  # fmt: skip
LONGEST_TEXT = 20_000
LONGEST_NAME = 100
MOST_ATTEMPTS = 1_000_000
MOST_PARTS, MOST_CITED, MOST_META = 100, 100, 50
LONGEST_META = 4000
LONGEST_LINE = 1024 * 1024
DEAREST = 100_000
MOST_TOKENS = 2**31 - 1
# What graders say in words or letters, as a share of the way from the lowest value to the highest.
WORDS = {
    "pass": 1.0, "fail": 0.0, "passed": 1.0, "failed": 0.0, "true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0,
    "correct": 1.0, "incorrect": 0.0, "c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0,
}  # fmt: skip


@dataclass(frozen=True)
class Given:
    """One score as it was sent. Without a `criterion`, it is of what its grader judges."""

    value: Any
    item: UUID | None = None
    run: str = ""
    criterion: str | None = None
    attempt: int = 1
    order: str = ScoreOrder.AS_SHOWN
    parts: dict[str, float] = field(default_factory=dict)
    explanation: str = ""
    evidence: tuple[dict[str, Any], ...] = ()
    cost: Decimal | None = None
    seconds: float | None = None
    tokens: int | None = None
    meta: dict[str, Any] = field(default_factory=dict)


# --- One row ----------------------------------------------------------------------------------------------------------
def read_score(row: Any) -> Given:
    """The row, or Invalid with the first thing that is wrong with it."""
    if not isinstance(row, Mapping):
        raise Invalid({"row": "A score is a JSON object."})
    if unknown := sorted(str(name) for name in row.keys() - FIELDS):
        raise Invalid({"row": f"A score has no field “{unknown[0][:60]}”. It may have {', '.join(sorted(FIELDS))}."})
    item, run = _item(row.get("item")), _text(row, "run", LONGEST_NAME)
    if item is None and not run:
        raise Invalid({"item": "Name the item by its id, or the run as its source calls it."})
    criterion = row.get("criterion")
    return Given(
        item=item,
        run=run,
        value=row.get("value"),
        criterion=None if criterion is None else _text(row, "criterion", LONGEST_NAME),
        attempt=_whole(row, "attempt", 1, MOST_ATTEMPTS) or 1,
        order=_order(row.get("order")),
        parts=_parts(row.get("parts")),
        explanation=_text(row, "explanation", LONGEST_TEXT),
        evidence=_evidence(row.get("evidence")),
        cost=_cost(row.get("cost")),
        seconds=_seconds(row.get("seconds")),
        tokens=_whole(row, "tokens", 0, MOST_TOKENS),
        meta=_meta(row.get("meta")),
    )


def value_on(version: GraderVersion, value: Any) -> float:
    """The value as a number on the version's scale, or Invalid with what it may be."""
    number = _number_of(version, value)
    low, high = version.lowest, version.highest
    if number is None or not isfinite(number) or not low <= number <= high:
        raise Invalid({"value": f"The value is on the grader's scale, {low:g} to {high:g}."})
    if version.scale == GraderScale.BINARY and number not in (low, high):
        raise Invalid({"value": f"The value is {low:g} or {high:g}: this grader passes or fails."})
    if version.scale == GraderScale.ORDINAL and number != int(number):
        raise Invalid({"value": "The value is a whole number: this grader gives levels."})
    return number


def _number_of(version: GraderVersion, value: Any) -> float | None:
    if isinstance(value, bool):
        value = "true" if value else "false"
    if isinstance(value, str):
        share = WORDS.get(value.strip().lower())
        return _float(value) if share is None else version.lowest + share * (version.highest - version.lowest)
    return jsontext.number(value)


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _item(value: Any) -> UUID | None:
    if value is None or value == "":
        return None
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except (ValueError, TypeError, AttributeError):
        raise Invalid({"item": "The item is named by its id."}) from None


def _text(row: Mapping[str, Any], name: str, longest: int) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > longest:
        raise Invalid({name: f"“{name}” is text of at most {longest:,} characters."})
    return jsontext.clean(value)


def _whole(row: Mapping[str, Any], name: str, least: int, most: int) -> int | None:
    value = row.get(name)
    if value is None:
        return None
    if type(value) is not int or not least <= value <= most:
        raise Invalid({name: f"“{name}” is a whole number from {least} to {most:,}."})
    return value


def _order(value: Any) -> str:
    if value is None or value == "":
        return ScoreOrder.AS_SHOWN
    if value not in ScoreOrder.values:
        raise Invalid({"order": f"The order is {' or '.join(ScoreOrder.values)}."})
    return str(value)


def _parts(value: Any) -> dict[str, float]:
    if value is None:
        return {}
    right = isinstance(value, Mapping) and len(value) <= MOST_PARTS
    numbers = {str(name): jsontext.number(part) for name, part in value.items()} if right else {}
    if not right or any(
        part is None or not isfinite(part) or not 0 < len(name) <= LONGEST_NAME for name, part in numbers.items()
    ):
        raise Invalid({"parts": f"Partial credit is an object of at most {MOST_PARTS} names with numbers."})
    return {jsontext.clean(name): part for name, part in numbers.items() if part is not None}


def _evidence(value: Any) -> tuple[dict[str, Any], ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or len(value) > MOST_CITED:
        raise Invalid({"evidence": f"Evidence is a list of at most {MOST_CITED} places."})
    cited = []
    for place in value:
        known = isinstance(place, Mapping) and place.keys() <= {"step", "quote", "candidate"}
        quote = place.get("quote", "") if known else None
        numbers = [place.get("step"), place.get("candidate", 1)] if known else []
        if not isinstance(quote, str) or len(quote) > LONGEST_TEXT or any(type(each) is not int for each in numbers):
            raise Invalid(
                {"evidence": "Each place has the number of a step, its quote, and of several runs which one."}
            )
        cited.append({**place, "quote": jsontext.clean(quote)})
    return tuple(cited)


def _cost(value: Any) -> Decimal | None:
    if value is None:
        return None
    try:
        cost = Decimal(str(value)) if isinstance(value, int | float | str | Decimal) else Decimal("NaN")
    except InvalidOperation:
        cost = Decimal("NaN")
    if isinstance(value, bool) or not cost.is_finite() or not 0 <= cost <= DEAREST:
        raise Invalid({"cost": "The cost is a number of US dollars."})
    return cost.quantize(Decimal("0.000001"))


def _seconds(value: Any) -> float | None:
    if value is None:
        return None
    seconds = jsontext.number(value)
    if seconds is None or not isfinite(seconds) or seconds < 0:
        raise Invalid({"seconds": "“seconds” is a number of seconds."})
    return seconds


def _meta(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or len(value) > MOST_META or len(jsontext.dump(value)) > LONGEST_META:
        raise Invalid({"meta": f"“meta” is an object of at most {MOST_META} names and {LONGEST_META:,} characters."})
    cleaned: dict[str, Any] = jsontext.clean_value(dict(value))
    return cleaned


# --- A file -----------------------------------------------------------------------------------------------------------
def rows_of(file: IO[bytes], name: str) -> Iterator[tuple[str, Given | str]]:
    """Every row of a file with its place, as it was given or why it cannot be read. CSV goes by its name."""
    rows = _csv(file) if name.lower().endswith(".csv") else _json_lines(file)
    for place, row in rows:
        if isinstance(row, str):
            yield place, row
            continue
        try:
            yield place, read_score(row)
        except Invalid as error:
            yield place, error.message


def _json_lines(file: IO[bytes]) -> Iterator[tuple[str, Any]]:
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            yield f"line {number}", f"The line has more than {LONGEST_LINE // 1024**2} MB."
            while line and not line.endswith(b"\n"):
                line = file.readline(LONGEST_LINE)
            continue
        line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if line.strip():
            yield f"line {number}", _parsed(line)


def _parsed(line: bytes) -> Any:
    try:
        value = jsontext.parse(line)
    except RowError as error:
        return str(error)
    return value if isinstance(value, Mapping) else "A score is a JSON object on a line of its own."


def _csv(file: IO[bytes]) -> Iterator[tuple[str, Any]]:
    reader = csv.DictReader(TextIOWrapper(file, encoding="utf-8-sig", newline=""))
    try:
        if reader.fieldnames is None or not {"item", "run"} & set(reader.fieldnames):
            raise Invalid({"file": "The first line names the columns: item or run, and value."})
        for row in reader:
            yield f"line {reader.line_num}", _from_columns(row)
    except UnicodeDecodeError:
        raise Invalid({"file": "The file is not UTF-8 text."}) from None
    except csv.Error as error:
        raise Invalid({"file": f"The file is no CSV that can be read: {error}."}) from None


def _from_columns(columns: dict[Any, Any]) -> Any:
    """The row as JSON would have it; empty cells say nothing."""
    if None in columns:
        return "The line has more cells than there are columns."
    row: dict[str, Any] = {}
    for name, cell in columns.items():
        if cell is None or not cell.strip():
            continue
        whole, dot, inner = name.partition(".")
        if dot and whole in ("part", "meta"):
            row.setdefault("parts" if whole == "part" else "meta", {})[inner] = _typed(cell)
        elif name == "evidence":
            row[name] = jsontext.parse_text(cell)
        elif name in ("attempt", "tokens", "cost", "seconds"):
            row[name] = _typed(cell)
        else:
            row[name] = cell
    return row


def _typed(cell: str) -> Any:
    """A number where the cell is one."""
    try:
        return int(cell)
    except ValueError:
        number = _float(cell)
        return cell if number is None or not isfinite(number) else number
