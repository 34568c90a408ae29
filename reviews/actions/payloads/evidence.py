"""Reads evidence: each citation must stand where it says, and every value that asks for one must have it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reviews.enums import EvidenceRule, GateAnswer, TaskPart
from reviews.models import Criterion, Step
from reviews.queries.masking import mask_of, read_by_raters
from reviews.trajectories.masking import agrees
from reviews.trajectories.policy import policy_lines
from reviews.trajectories.schema import decode_step

from .subject import Subject
from .values import Answer

MAX_EVIDENCE = 100
NO_PARTS = "This item is no task, and has no parts to cite."


@dataclass(frozen=True)
class Pointer:
    """One citation; `criterion` is None where it shows the failure point or is only a mark.

    `candidate` is None where one run is judged, and where it is in a `part` of the task.
    """

    criterion: Criterion | None
    candidate: int | None = None
    step: int | None = None
    field: str = ""
    start: int | None = None
    end: int | None = None
    quote: str = ""
    policy_line: int | None = None
    part: str = ""
    mark: str = ""


def read_evidence(evidence: Any, *, subject: Subject, errors: dict[str, str]) -> list[Pointer]:
    """The citations that hold, with what is wrong with the others in `errors`."""
    if evidence is None:
        return []
    if not isinstance(evidence, Sequence) or isinstance(evidence, str) or len(evidence) > MAX_EVIDENCE:
        errors["evidence"] = f"Evidence is a list of at most {MAX_EVIDENCE} citations."
        return []
    return _Citations(subject, errors).read(evidence)


class _Citations:
    """Reads citations against the runs they point into."""

    def __init__(self, subject: Subject, errors: dict[str, str]):
        self.criteria = {criterion.key: criterion for criterion in subject.criteria}
        self.marks = {mark["key"] for mark in subject.rubric.marks}
        self.subject = subject
        self.errors = errors

    def read(self, evidence: Sequence[Any]) -> list[Pointer]:
        self.steps = self._steps_named_in(evidence)
        pointers = (self._read_one(number, row) for number, row in enumerate(evidence))
        return [pointer for pointer in pointers if pointer]

    def _candidate(self, row: Mapping[str, Any]) -> int | None:
        """The position of the candidate that the citation is in; None where one run is judged. Raises ValueError."""
        place = row.get("candidate")
        if row.get("part"):
            if place is not None:
                raise ValueError("A part of the task is in no candidate: name one of both.")
            return None
        if not self.subject.has_candidates:
            if place is not None:
                raise ValueError("There is one run here, and no candidate to name.")
            return None
        if type(place) is not int or not 1 <= place <= len(self.subject.order):
            raise ValueError(f"Name the candidate by its place, from 1 to {len(self.subject.order)}.")
        return self.subject.candidate_at(place)

    def _steps_named_in(self, evidence: Sequence[Any]) -> dict[tuple[int | None, int], Any]:
        named: dict[int | None, set[int]] = {}
        for row in evidence:
            if not isinstance(row, Mapping) or type(row.get("step")) is not int:
                continue
            try:
                candidate = self._candidate(row)
            except ValueError:
                continue
            if 1 <= row["step"] <= self.subject.step_count(candidate):
                named.setdefault(candidate, set()).add(row["step"])
        return {
            (candidate, step.position): decode_step(step.body)
            for candidate, numbers in named.items()
            for step in Step.objects.filter(trajectory=self.subject.runs[candidate], position__in=numbers)
        }

    def _read_one(self, number: int, row: Any) -> Pointer | None:
        name = f"evidence.{number}"
        if not isinstance(row, Mapping):
            self.errors[name] = "A citation is an object."
            return None
        key = row.get("criterion")
        criterion = self.criteria.get(key) if isinstance(key, str) else None
        if key is not None and criterion is None:
            self.errors[name] = "The rubric has no such criterion."
            return None
        try:
            candidate = self._candidate(row)
        except ValueError as reason:
            self.errors[name] = str(reason)
            return None
        mark = row.get("mark") or ""
        if mark and not (isinstance(mark, str) and mark in self.marks):
            self.errors[name] = f"The rubric has no such mark. Known are: {', '.join(sorted(self.marks)) or 'none'}."
            return None
        pointer = self._place(name, criterion, candidate, row)
        return replace(pointer, mark=mark) if pointer else None

    def _place(
        self, name: str, criterion: Criterion | None, candidate: int | None, row: Mapping[str, Any]
    ) -> Pointer | None:
        """Where the citation points, if it stands there."""
        if row.get("part"):
            return self._part(name, criterion, row)
        if row.get("policy_line") is not None:
            return self._policy_line(name, criterion, candidate, row["policy_line"])
        step = row.get("step")
        if type(step) is not int or (candidate, step) not in self.steps:
            self.errors[name] = f"Cite a step from 1 to {self.subject.step_count(candidate)}, or a line of the policy."
            return None
        if not row.get("quote"):
            return Pointer(criterion=criterion, candidate=candidate, step=step)
        return self._quote(name, criterion, candidate, step, row)

    def _part(self, name: str, criterion: Criterion | None, row: Mapping[str, Any]) -> Pointer | None:
        """A span of a part of the task, in code points of its text."""
        version, part = self.subject.item.task_version, row["part"]
        if version is None or part not in TaskPart.values:
            self.errors[name] = f"The parts of a task are {', '.join(TaskPart.values)}." if version else NO_PARTS
            return None
        quote, start, end = row.get("quote"), row.get("start"), row.get("end")
        if not isinstance(quote, str) or not quote or type(start) is not int or type(end) is not int:
            self.errors[name] = "A quotation from a part needs start, end and quote."
            return None
        text = version.part(part)
        seen = read_by_raters(self.subject.item, text)
        if not 0 <= start < end <= len(text) or not agrees(quote, seen[start:end]):
            self.errors[name] = f"This is not what stands there. ({part})"
            return None
        return Pointer(criterion, start=start, end=end, quote=text[start:end], part=part)

    def _policy_line(self, name: str, criterion: Criterion | None, candidate: int | None, line: Any) -> Pointer | None:
        policy = self.subject.runs[candidate].policy
        known = {entry.number for entry in policy_lines(policy.text)} if policy else set()
        if type(line) is not int or line not in known:
            self.errors[name] = "The policy has no line with this number."
            return None
        return Pointer(criterion=criterion, candidate=candidate, policy_line=line)

    def _quote(
        self, name: str, criterion: Criterion | None, candidate: int | None, step: int, row: Mapping[str, Any]
    ) -> Pointer | None:
        path, quote, start, end = row.get("field"), row["quote"], row.get("start"), row.get("end")
        if not isinstance(path, str) or not isinstance(quote, str) or type(start) is not int or type(end) is not int:
            self.errors[name] = "A quotation needs field, start, end and quote."
            return None
        mask = mask_of(self.subject.runs[candidate])
        path, quote, reason = mask.cited(self.steps[candidate, step], path, start, end, quote)
        if reason:
            self.errors[name] = f"{reason} (step {step})"
            return None
        return Pointer(criterion, candidate, step, field=path, start=start, end=end, quote=quote)


def ask_for_evidence(
    values: Sequence[Answer], evidence: list[Pointer], subject: Subject, errors: dict[str, str]
) -> None:
    """Name every value that asks for a citation and has none."""
    cited = {(pointer.criterion, pointer.candidate) for pointer in evidence}
    of_item = {criterion for criterion, _candidate in cited}
    for answer in values:
        criterion = answer.criterion
        # Of a task's candidate, what is cited from the task's parts counts for it too.
        of_this = {(criterion, answer.candidate), (criterion, None)}
        shown = bool(of_this & cited) if answer.candidate else criterion in of_item
        if not shown and _asks(answer):
            group = "gates" if criterion.is_gate else "criteria"
            at = f"candidates.{subject.place_of(answer.candidate)}." if answer.candidate else ""
            errors[f"{at}{group}.{criterion.key}"] = f"Cite what shows it: “{criterion.title}” asks for evidence."


def _asks(answer: Answer) -> bool:
    """Whether the rubric wants a citation for this value: always, or for a failed gate, a no, the lowest level."""
    rule = answer.criterion.evidence
    if rule != EvidenceRule.ON_FAIL:
        return rule == EvidenceRule.ALWAYS
    worst = GateAnswer.FAIL if answer.criterion.is_gate else min(answer.criterion.level_values, default=0)
    return answer.value == worst
