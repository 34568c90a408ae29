"""What scores a judge's words come to: only what counts, on the scale of what the judge is for.

A judge of one criterion gives that one. A judge of the whole gives, of a run, whether every gate passes, beside each
gate, with what it says of quality as parts; of two candidates which is better, gates first, as `GraderScore` has it:
above 0 for the first as shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from goldsets.reviewing.judge_answer import Said
from goldsets.reviewing.judge_prompt import Document, asked_of


@dataclass(frozen=True)
class Scored:
    criterion: str
    value: float
    explanation: str
    evidence: tuple[Mapping[str, Any], ...]
    parts: Mapping[str, float] = field(default_factory=dict)
    confidence: float | None = None

    @property
    def meta(self) -> dict[str, Any]:
        """What is kept of it beside its value."""
        return {} if self.confidence is None else {"confidence": self.confidence}


def likelihood(value: float, confidence: Any) -> float:
    """How likely a pass is by a score of 1 or 0; the score itself where its confidence was not said."""
    if confidence is None:
        return value
    return float(confidence if value else 1 - confidence)


def decided_by(rubric: Document, criterion: str, *, candidates: int) -> Document | None:
    """The criterion that a judge's score is about; None where it is about all gates of a run."""
    key = criterion or next((row["key"] for row in asked_of(rubric, candidates=candidates) if _prefers(row)), "")
    return next((row for row in rubric["criteria"] if row["key"] == key), None)


def scores_from(
    said: Sequence[Said], *, rubric: Document, criterion: str = "", order: Sequence[int] = ()
) -> list[Scored]:
    """The scores in what was said when candidates stood in this order; none for what does not count."""
    kinds = {row["key"]: row for row in rubric["criteria"]}
    row = decided_by(rubric, criterion, candidates=len(order))
    if row is not None and _prefers(row):
        return [replace(one, criterion=criterion) for one in _preferred(said, row["key"], kinds, order)]
    if row is not None:
        return [_scored(one, one.criterion) for one in said if one.criterion == row["key"] and one.counts]
    gates = [one for one in said if kinds[one.criterion]["kind"] == "gate"]
    found = [_scored(gate, gate.criterion) for gate in gates if gate.counts]
    failed = next((gate for gate in gates if gate.counts and gate.value == 0), None)
    if failed or (gates and all(gate.counts for gate in gates)):
        parts = {one.criterion: one.value for one in said if one.counts and one not in gates and one.value is not None}
        shown = failed or gates[-1]
        whole = Scored("", 0.0 if failed else 1.0, _words(said), _evidence(shown if failed else gates), parts)
        return [whole, *found]
    return found


def _preferred(said: Sequence[Said], key: str, kinds: Mapping[str, Document], order: Sequence[int]) -> list[Scored]:
    """Which is better, as one score or none: a candidate that fails a gate alone is the worse one."""
    failing = {
        one.candidate for one in said if kinds[one.criterion]["kind"] == "gate" and one.counts and one.value == 0
    }
    preference = next((one for one in said if one.criterion == key and one.counts), None)
    if preference is None or len(failing) > 1:
        return []
    value = 0.0 if 1 in failing else 1.0 if 2 in failing else preference.value or 0.0
    as_item = 2 * value - 1
    parts = {
        f"{one.criterion}.{one.candidate}": one.value
        for one in said
        if one.candidate is not None and one.counts and one.value is not None
    }
    shown = as_item if tuple(order) == (1, 2) else -as_item
    return [Scored("", shown + 0.0, _words(said), _evidence(preference), parts)]


def _prefers(row: Document) -> bool:
    return bool(row["kind"] == "preference")


def _scored(said: Said, criterion: str) -> Scored:
    return Scored(criterion, said.value or 0.0, said.reason, _evidence(said), confidence=said.confidence)


def _words(said: Sequence[Said]) -> str:
    return "\n".join(f"{one.criterion}: {one.reason}" for one in said if one.reason)


def _evidence(shown: Said | Sequence[Said]) -> tuple[Mapping[str, Any], ...]:
    """The quotes with their steps, each once; "candidate" only where there are several runs."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in [shown] if isinstance(shown, Said) else shown:
        for cited in one.evidence:
            row = {name: value for name, value in asdict(cited).items() if value is not None}
            found[tuple(row.values())] = row
    return tuple(found.values())
