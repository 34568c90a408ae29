"""One label with everything it rests on, as the database hands it to the writers: every format is made from this alone.

Structs that are `array_like` have their fields in the order of the query in `goldsets.queries.label_documents`.
"""

from datetime import datetime
from typing import Any

import msgspec

from reviews.trajectories.schema import Step

GATE, PREFERENCE, TEXT, ORDINAL, CHOICE, BINARY, MULTI_CHOICE, NUMBER = (
    "gate",
    "preference",
    "text",
    "ordinal",
    "choice",
    "binary",
    "multi_choice",
    "number",
)
PASS = 1


class Row(msgspec.Struct, array_like=True):
    """A row of the query."""


class Failure(Row):
    step: int | None
    who: str
    cause: str
    note: str
    candidate: int | None = None

    @property
    def known(self) -> bool:
        return bool(self.step or self.who or self.cause or self.note)


class Said(Row):
    """What was answered to one criterion, see `reviews.models.base.AnyValue`. Of a label also what it rests on."""

    criterion: int
    candidate: int | None
    value: int | None
    basis: str = ""
    reason: str = ""
    number: float | None = None
    text: str = ""
    choices: list[int] | None = None
    ranks: list[int] | None = None
    tie: str = ""
    note: str = ""


class StepSaid(Row):
    step: int
    value: int
    basis: str = ""


class Cited(Row):
    criterion: int | None
    candidate: int | None
    step: int | None
    field: str
    start: int | None
    end: int | None
    quote: str
    policy_line: int | None
    part: str
    mark: str


class Corrected(Row):
    """What a rater says should have been done at a step."""

    step: int
    kind: str
    steps: list[Step]
    reason: str


class Judged(Row):
    """One rater's judgment behind the label."""

    rater: str
    tier: str
    simulated: bool
    revision: int
    rubric: int
    confidence: int
    rationale: str
    active_seconds: int
    prelabel: Any
    submitted_at: datetime
    failure: Failure
    values: list[Said]
    steps: list[StepSaid]
    evidence: list[Cited]
    failures: list[Failure]
    corrections: list[Corrected]


class Scored(Row):
    """What a grader or a user said of the run after it had come in."""

    grader: str
    value: Any
    explanation: str


class Graded(Row):
    """What a version of a registered grader or judge said of the item. `source` is the name of it in files of runs."""

    grader: str
    version: int
    source: str
    criterion: str
    attempt: int
    order: str
    value: float
    explanation: str


class Group(Row):
    """The runs of the label's task that leave along: where the first stands, how many, and how many of them pass."""

    first: int
    size: int
    passing: int


class Outcome(Row):
    result: str
    reward: float | None
    model: str
    data: Any


class Run(Row):
    """One run; in a comparison a candidate, whose first `shared` steps all candidates have in common."""

    position: int
    shared: int
    role: str
    result: dict[str, Any]
    content_hash: str
    source_format: str
    source_name: str
    source_place: str
    tools: list[Any]
    versions: dict[str, Any]
    outcome: Outcome | None
    steps: list[Step]
    scores: list[Scored]
    redactions: dict[str, int] | None


class TaskText(Row):
    number: int
    prompt: str
    world: str
    verifier: str
    intent: str


class Task(Row):
    key: str
    family: str
    split: str
    slices: Any
    context: Any
    policy_title: str
    policy: str


class Trusted(Row):
    """The label itself."""

    uid: str
    revision: int
    basis: str
    judgment_count: int
    certainty: float | None
    created_at: datetime
    rationale: str
    adjudicator: str | None
    versions: dict[str, Any]
    rubric: int
    guideline: int
    failure: Failure
    values: list[Said]
    steps: list[StepSaid]


class Document(Row):
    position: int
    kind: str
    item: str
    queue: str
    content_hash: str
    provenance: str
    differs_in: str
    task: Task
    task_version: TaskText | None
    label: Trusted
    judgments: list[Judged]
    runs: list[Run]
    graded: list[Graded]
    group: Group | None


class Question(msgspec.Struct, frozen=True):
    """A criterion as far as writers need it. `place` is its turn: the rubric's own first, then those of an item."""

    key: str
    title: str
    kind: str
    scope: str
    block: str
    place: tuple[bool, int]
    names: dict[int, str]
    unit: str = ""


class RubricText(msgspec.Struct, frozen=True):
    """`criteria` is the rubric as a reader of an export needs it, `step_words` the names of its step labels."""

    name: str
    version: int
    step_words: dict[int, str]
    criteria: list[dict[str, Any]]


class GuidelineText(msgspec.Struct, frozen=True):
    name: str
    version: int
    text: str


class Words(msgspec.Struct):
    """What the numbers in documents stand for, by their keys in the database.

    `asked` are the keys of the criteria in the rubrics of the labels to be read, in their order. `drawn` is of each
    source how many labels fit and how many of them were drawn; it is empty where all that fit leave.
    `told` keeps what `label_row` made of answers that come again and again.
    """

    questions: dict[int, Question]
    rubrics: dict[int, RubricText]
    guidelines: dict[int, GuidelineText]
    asked: list[str]
    drawn: dict[str, dict[str, int]] = {}
    told: dict[Any, Any] = {}

    def of_kind(self, values: list[Said], kind: str) -> list[Said]:
        return [value for value in values if self.questions[value.criterion].kind == kind]

    def gates_pass(self, values: list[Said], candidate: int | None = None) -> bool | None:
        """Whether every gate passes, of the item or of one candidate; None where no gate was asked."""
        gates = [
            value.value
            for value in values
            if value.candidate == candidate and self.questions[value.criterion].kind == GATE
        ]
        return all(value == PASS for value in gates) if gates else None
