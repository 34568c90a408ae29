"""Reads what a judge answered: strictly, and with every quote looked up where the judge says that it stands.

An answer that is no JSON of the form asked for is `Unreadable` and may be asked for once more. A verdict whose quotes
do not all stand, or that has none, does not count: whoever fools a judge from inside a run gains nothing by it alone.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from goldsets.reviewing.judge_prompt import LETTERS, Document, asked_of
from reviews.trajectories.render import misplaced

SHORTEST_QUOTE = 8
MOST_CITED = 20
LONGEST_REASON = 4_000
THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
WRAPPED = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)
APOSTROPHE = r"['\u2019]"
DECLINES = re.compile(
    rf"\A(?:I{APOSTROPHE}m sorry|Sorry|I can(?:no|{APOSTROPHE})t|I won{APOSTROPHE}t|I am (?:not able|unable)|As an AI)",
    re.IGNORECASE,
)
GATE = {"pass": 1.0, "fail": 0.0, "unsure": None}


class Unreadable(ValueError):
    """This is no answer in the form asked for; the message says what is wrong with it, without repeating it."""


@dataclass(frozen=True)
class Citation:
    """A quote at its place in the reading text of a step's field; `candidate` is its position in the item."""

    step: int
    field: str
    start: int
    end: int
    quote: str
    candidate: int | None = None


@dataclass(frozen=True)
class Said:
    """A judge's word on one criterion, of one candidate where it is asked of each.

    `value` is 1 for pass, yes, and the first candidate preferred, 0 for the opposite, .5 for a tie, else a level or
    number; None for “unsure”. `confidence` is how likely that is right, from 0 to 1, where it was said. `problem` says
    why it does not count, `note` what else is to be known.
    """

    criterion: str
    value: float | None
    reason: str
    evidence: tuple[Citation, ...] = ()
    candidate: int | None = None
    problem: str = ""
    note: str = ""
    confidence: float | None = None

    @property
    def counts(self) -> bool:
        return not self.problem and self.value is not None


class _Cited(msgspec.Struct, forbid_unknown_fields=True):
    step: int
    quote: str
    candidate: str | None = None


class _Answer(msgspec.Struct, forbid_unknown_fields=True):
    criterion: str
    answer: str | bool | int | float
    evidence: list[_Cited] = []
    reason: str = ""
    candidate: str | None = None
    confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None


class _Answers(msgspec.Struct, forbid_unknown_fields=True):
    answers: list[_Answer]


def declines(content: str) -> bool:
    """Whether the model says in prose that it will not judge."""
    bare = THOUGHT.sub("", content).strip()
    return "{" not in bare and bool(DECLINES.match(bare))


def read_answer(
    content: str, item: Document, *, rubric: Document, criterion: str = "", order: Sequence[int] = ()
) -> list[Said]:
    """What the judge said on each criterion that counts. Raises Unreadable.

    What it says of quality where a gate fails, or of what is not asked then, is passed over.
    """
    n = len(item.get("candidates", ()))
    reading = _Reading(item, tuple(order) or tuple(range(1, n + 1)), rubric)
    rows = {row["key"]: row for row in asked_of(rubric, criterion, candidates=n)}
    found: dict[tuple[str, int | None], Said] = {}
    for answer in _decoded(content).answers:
        said = reading.said(answer, rows)
        if (said.criterion, said.candidate) in found:
            raise Unreadable(f"The criterion {said.criterion} is answered twice.")
        found[said.criterion, said.candidate] = said
    return _asked(found, rows, n)


def _decoded(content: str) -> _Answers:
    bare = THOUGHT.sub("", content).strip()
    wrapped = WRAPPED.match(bare)
    try:
        return msgspec.json.decode((wrapped[1] if wrapped else bare).encode("utf-8", "replace"), type=_Answers)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise Unreadable(f"It is not the JSON asked for: {str(error)[:200]}.") from None


def _asked(found: Mapping[tuple[str, int | None], Said], rows: Mapping[str, Document], candidates: int) -> list[Said]:
    """Of what was said that which the rubric asks, gates first. Raises Unreadable where one is missing."""
    kept: dict[tuple[str, int | None], Said] = {}
    for row in sorted(rows.values(), key=lambda row: row["kind"] != "gate"):
        for candidate in range(1, candidates + 1) if row["scope"] == "candidate" else (None,):
            if not _is_asked(row, candidate, kept, rows):
                continue
            said = found.get((row["key"], candidate))
            if said:
                kept[row["key"], candidate] = said
            elif row["kind"] == "gate" or row.get("required", True):
                raise Unreadable(f"The criterion {row['key']} is not answered.")
    return list(kept.values())


def _is_asked(
    row: Document, candidate: int | None, kept: Mapping[tuple[str, int | None], Said], rows: Mapping[str, Document]
) -> bool:
    """Whether gates and condition let this be asked. Which of two is better is asked whatever their gates say."""
    if row["kind"] in {"gate", "preference"}:
        return True
    gates = [said for (key, of), said in kept.items() if rows[key]["kind"] == "gate" and of in (None, candidate)]
    if any(said.value != 1 for said in gates):
        return False
    condition = row.get("condition")
    if not condition or condition["criterion"] not in rows:
        return True
    other = kept.get((condition["criterion"], candidate))
    return other is not None and other.value in condition["values"]


class _Reading:
    """Reads answers against the item as the judge saw it."""

    def __init__(self, item: Document, order: tuple[int, ...], rubric: Document):
        self.order, self.unsure = order, rubric.get("unsure_allowed", False)
        runs = [(None, item)] if "candidates" not in item else list(enumerate(item["candidates"], start=1))
        self.steps = {(at, row["number"]): row for at, run in runs for row in run["steps"]["rows"]}

    def said(self, answer: _Answer, rows: Mapping[str, Document]) -> Said:
        row = rows.get(answer.criterion)
        if row is None:
            raise Unreadable(f"The rubric has no criterion {answer.criterion[:40]!r}.")
        if (row["scope"] == "candidate") != (answer.candidate is not None):
            raise Unreadable(f"{row['key']} is asked of {'the whole' if answer.candidate else 'each candidate'}.")
        cited, problems = self._evidence(answer.evidence[:MOST_CITED])
        if not answer.evidence:
            problems = ["It cites nothing."]
        return Said(
            criterion=row["key"],
            value=self._value(row, answer.answer),
            reason=answer.reason[:LONGEST_REASON],
            evidence=tuple(cited),
            candidate=self._position(answer.candidate),
            problem=" ".join(problems),
            confidence=answer.confidence,
        )

    def _position(self, letter: str | None) -> int | None:
        if letter is None:
            return None
        place = LETTERS.find(letter) if len(letter) == 1 else -1
        if not 0 <= place < len(self.order):
            raise Unreadable("There is no such candidate.")
        return self.order[place]

    def _value(self, row: Document, answer: Any) -> float | None:
        """The answer as a number. Raises Unreadable where the criterion takes no such answer."""
        kind = row["kind"]
        if kind == "gate" and answer in GATE and (self.unsure or answer != "unsure"):
            return GATE[answer]
        if kind == "binary" and isinstance(answer, bool):
            return float(answer)
        if kind == "preference" and answer in ("A", "B", "tie"):
            return 0.5 if answer == "tie" else float(self._position(answer) == 1)
        number = isinstance(answer, int | float) and not isinstance(answer, bool)
        if kind == "number" and number and self._within(row.get("settings") or {}, answer):
            return float(answer)
        if kind in {"ordinal", "choice"} and number and answer in [level["value"] for level in row["levels"]]:
            return float(answer)
        raise Unreadable(f"This is no answer to {row['key']}.")

    @staticmethod
    def _within(settings: Mapping[str, Any], number: float) -> bool:
        low, high = settings.get("min"), settings.get("max")
        return (low is None or number >= low) and (high is None or number <= high)

    def _evidence(self, rows: Sequence[_Cited]) -> tuple[list[Citation], list[str]]:
        cited, problems = [], []
        several = len(self.order) > 0
        for row in rows:
            if several and row.candidate is None:
                problems.append("A quote does not say in which candidate it stands.")
                continue
            position = self._position(row.candidate) if several else None
            step = self.steps.get((position, row.step))
            found = standing(row.quote, step["fields"]) if step else None
            if found:
                cited.append(Citation(row.step, *found, candidate=position))
            else:
                problems.append(f"What it quotes does not stand in step {row.step}.")
        return cited, list(dict.fromkeys(problems))


def standing(quote: str, fields: Sequence[Document]) -> tuple[str, int, int, str] | None:
    """Field, start, end and words of a quote that stands in a step; white space may differ. None where it does not."""
    words = quote.split()
    if not words:
        return None
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    for field in fields:
        text = field["text"]
        found = pattern.search(text)
        if found and (len(found[0]) >= SHORTEST_QUOTE or found[0] == text.strip()):
            start, end = found.span()
            if misplaced(text, start, end, found[0]) is None:
                return field["path"], start, end, found[0]
    return None
