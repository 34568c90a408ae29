"""Values on gold as people read them: "pass", "3 Strong", "2 Sound ±1 (or 0 Poor)"."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from goldsets.queries.answers import GoldAnswer
from goldsets.queries.questions import STEPS_KIND
from goldsets.queries.values import criterion_of
from goldsets.stats.matching import Expected, Value
from reviews.enums import CriterionKind, GateAnswer, Tie
from reviews.models import Criterion

NOTHING = "–"  # noqa: RUF001  a dash where there is no value


@dataclass(frozen=True)
class Said:
    """One criterion of an answer: what was said and what is expected, in words; `right` is None where nothing is."""

    key: str
    title: str
    said: str
    expected: str
    right: bool | None


def said_and_expected(criteria: Iterable[Criterion], answer: GoldAnswer) -> tuple[Said, ...]:
    """Every criterion that was answered or of which something is expected, in the rubric's order."""
    return tuple(
        Said(
            key=key,
            title=title_of(criterion, key),
            said=value_words(criterion, answer.said.get(key)),
            expected=expected_words(criterion, answer.expected.get(key)),
            right=answer.right.get(key),
        )
        for criterion, key in in_order(criteria, {**answer.expected, **answer.said})
    )


def in_order(criteria: Iterable[Criterion], found: Mapping[str, Any]) -> Iterator[tuple[Criterion, str]]:
    """Every key of `found` with its criterion, in the rubric's order, one candidate after the other."""
    for criterion in criteria:
        for key in sorted(key for key in found if criterion_of(key) == criterion.key):
            yield criterion, key


def title_of(criterion: Criterion, key: str) -> str:
    """The criterion's title, with the candidate's letter where it is of one."""
    _criterion, _slash, candidate = key.partition("/")
    return f"{criterion.title}, {letter(int(candidate))}" if candidate else criterion.title


def letter(candidate: int) -> str:
    return chr(ord("A") + candidate - 1)


def value_words(criterion: Criterion, value: Value | None) -> str:
    """The value's name in the rubric; a dash where there is none."""
    if value is None:
        return NOTHING
    if criterion.is_gate:
        return str(GateAnswer(value).label).lower() if value in GateAnswer.values else str(value)
    if criterion.kind == CriterionKind.BINARY:
        return "yes" if value else "no"
    if criterion.kind == CriterionKind.PREFERENCE:
        return _preference_words(value)
    if isinstance(value, Mapping):
        return _words_of_steps(criterion, value)
    if isinstance(value, int):
        name = criterion.level_name(value)
        return name if criterion.kind == CriterionKind.CHOICE else f"{value} {name}"
    if isinstance(value, float):
        return f"{value:g} {criterion.settings.get('unit', '')}".strip()
    return value if isinstance(value, str) else ", ".join(criterion.level_name(part) for part in value) or "none"


def _words_of_steps(criterion: Criterion, labels: Mapping[str, int]) -> str:
    """Like "Correct 2, 3; Incorrect 4"."""
    steps = defaultdict(list)
    for step, value in sorted(labels.items(), key=lambda pair: int(pair[0])):
        steps[value].append(step)
    return "; ".join(
        f"{criterion.level_name(value)} {', '.join(steps[value])}" for value in sorted(steps, reverse=True)
    )


def _preference_words(value: Value) -> str:
    """Like "B > A = C"."""
    if isinstance(value, str):
        return str(Tie(value).label).lower() if value in Tie.values else value
    ranks = value if not isinstance(value, int | float | Mapping) else []
    places = sorted(set(ranks))
    groups = [" = ".join(letter(n) for n, rank in enumerate(ranks, start=1) if rank == place) for place in places]
    return " > ".join(groups)


def expected_words(criterion: Criterion, expected: Expected | None) -> str:
    """The expected value, with what else is right in brackets."""
    if expected is None:
        return NOTHING
    others = [value_words(criterion, value) for value in expected.also]
    off = _off(criterion, expected.tolerance) if expected.tolerance else ""
    return value_words(criterion, expected.value) + off + (f" (or {', '.join(others)})" if others else "")


def _off(criterion: Criterion, tolerance: float) -> str:
    if criterion.kind != STEPS_KIND:
        return f" ±{tolerance:g}"
    return f" ({tolerance:g} may differ)"


def short_words(criteria: Iterable[Criterion], expected: Mapping[str, Expected]) -> list[Said]:
    """What a gold item expects, in the rubric's order; gates that pass are one word."""
    rows = [(criterion, key, expected[key]) for criterion, key in in_order(criteria, expected)]
    gates = [entry.value for criterion, _key, entry in rows if criterion.is_gate]
    lines = [
        Said(key, title_of(criterion, key), "", expected_words(criterion, entry), None)
        for criterion, key, entry in rows
        if not (criterion.is_gate and entry.value == GateAnswer.PASS)
    ]
    if gates and all(value == GateAnswer.PASS for value in gates):
        lines.insert(0, Said("gates", "Gates", "", "pass", True))
    return lines
