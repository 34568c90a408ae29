"""A rubric as it is asked: gates, groups of questions of every kind, step labels, with what was answered so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from reviews.enums import Block, CriterionKind, EvidenceRule, FailureCause, FailureWho, GateAnswer, Scope
from reviews.models import Criterion, Item, Rubric
from reviews.queries.criteria import criteria_asked
from reviews.queries.payloads import roles_labelled, steps_labelled

GATE_CHOICES = (
    (GateAnswer.PASS, "pass", "p"),
    (GateAnswer.FAIL, "fail", "f"),
    (GateAnswer.UNSURE, "unsure", "u"),
)
CONFIDENCE = ((1, "Low"), (2, "Medium"), (3, "High"))
# A longer list of options gets no digits but a field that narrows it down.
MOST_DIGITS = 10
OWN_GROUP = "About this item"


# --- What is asked ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Choice:
    """One answer to choose. `number` is what a condition knows it by."""

    value: str
    name: str
    key: str = ""
    css: str = ""
    anchor: str = ""
    example: str = ""
    checked: bool = False
    number: int | None = None


class Answerable:
    """What `components/_answer.html` asks of a question besides its title, name, choices and text."""

    kind: str
    choices: tuple[Choice, ...]

    @property
    def wraps(self) -> bool:
        return len(self.choices) > 5 or sum(len(choice.name) for choice in self.choices) > 40

    @property
    def is_long(self) -> bool:
        """Whether the options are a list that can be narrowed down."""
        return len(self.choices) > MOST_DIGITS and self.kind in (CriterionKind.CHOICE, CriterionKind.MULTI_CHOICE)

    @property
    def several(self) -> bool:
        return self.kind == CriterionKind.MULTI_CHOICE


@dataclass(frozen=True)
class Question(Answerable):
    """One criterion with its choices or its text, its evidence so far and what is wrong with it.

    `when` says in words after which answers it is asked, `asked` whether the answers so far are such.
    """

    key: str
    title: str
    question: str
    hint: str
    kind: str
    evidence_rule: str
    choices: tuple[Choice, ...] = ()
    text: str = ""
    unit: str = ""
    limits: str = ""
    required: bool = True
    condition: Mapping[str, Any] | None = None
    when: str = ""
    asked: bool = True
    note: str = ""
    because: str = ""
    error: str = ""
    evidence: tuple[dict[str, Any], ...] = ()

    @property
    def gate(self) -> bool:
        return self.kind == CriterionKind.GATE

    @property
    def ident(self) -> str:
        return self.key

    @property
    def name(self) -> str:
        return f"{'gates' if self.gate else 'criteria'}.{self.key}"

    @property
    def asks(self) -> bool:
        """Whether evidence is wanted for whatever is answered."""
        return self.evidence_rule == EvidenceRule.ALWAYS

    @property
    def worst(self) -> Choice | None:
        """The answer that asks for evidence where the rubric wants some for failures."""
        if self.gate:
            return next(choice for choice in self.choices if choice.value == "fail")
        if self.kind == CriterionKind.MULTI_CHOICE or not self.choices:
            return None
        return min(self.choices, key=lambda choice: choice.number or 0)

    @property
    def evidence_words(self) -> str:
        """When evidence is asked for."""
        if self.asks:
            return "evidence is asked for"
        if self.evidence_rule == EvidenceRule.NEVER or not self.worst:
            return ""
        return "evidence is asked for if it fails" if self.gate else f"evidence is asked for with “{self.worst.name}”"

    @property
    def has_anchors(self) -> bool:
        return any(choice.anchor or choice.example for choice in self.choices)

    @property
    def words(self) -> str:
        """The answer as a person reads it."""
        if self.kind == CriterionKind.NUMBER:
            return f"{self.text} {self.unit}".strip() if self.text else ""
        return self.text or ", ".join(choice.name for choice in self.choices if choice.checked)


@dataclass(frozen=True)
class Group:
    """Some questions under a heading, which is empty where it would only repeat the question's title."""

    title: str
    questions: tuple[Question, ...]

    @property
    def heading(self) -> str:
        alone = len(self.questions) == 1 and self.questions[0].title == self.title
        return "" if alone else self.title


@dataclass(frozen=True)
class StepWord:
    """One of the words by which steps are labelled; `css` says of what kind: good, even or bad."""

    value: int
    name: str
    key: str

    @property
    def css(self) -> str:
        return "good" if self.value > 0 else "bad" if self.value < 0 else "even"


@dataclass(frozen=True)
class StepLabelling:
    """How the steps of a run are labelled, and how far that is done.

    `wanted` are the numbers of the steps, which the page knows as the lengths of `runs`: so many steps that are not
    labelled, so many that are, and so on.
    """

    words: tuple[StepWord, ...]
    until_first: bool
    wanted: tuple[int, ...]
    given: dict[str, int]
    errors: tuple[str, ...] = ()

    @property
    def runs(self) -> str:
        lengths, at, labelled = [], 1, False
        last = self.wanted[-1] if self.wanted else 0
        wanted = set(self.wanted)
        for number in range(1, last + 2):
            if (number in wanted) != labelled:
                lengths.append(number - at)
                at, labelled = number, not labelled
        return " ".join(map(str, lengths))

    @property
    def first_wrong(self) -> int | None:
        return min((int(number) for number, value in self.given.items() if value < 0), default=None)

    @property
    def needed(self) -> list[int]:
        """The steps that must have a label: up to the first error where the rubric says so."""
        if self.until_first and self.first_wrong:
            return [number for number in self.wanted if number <= self.first_wrong]
        return list(self.wanted)

    @property
    def done(self) -> int:
        return sum(str(number) in self.given for number in self.needed)

    @property
    def is_complete(self) -> bool:
        return self.done == len(self.needed)


@dataclass(frozen=True)
class RubricView:
    gates: list[Question]
    qualities: list[Question]
    groups: list[Group]
    steps: StepLabelling | None
    who: tuple[Choice, ...]
    causes: tuple[Choice, ...]
    confidence: tuple[Choice, ...]
    failure: dict[str, Any]
    failure_evidence: tuple[dict[str, Any], ...]
    rationale: str
    evidence: list[dict[str, Any]]
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def failure_errors(self) -> dict[str, str]:
        """What is wrong with the failure point, by its part."""
        names = {"failure": "step", "evidence.failure": "step"}
        named = {names.get(name, name): words for name, words in self.errors.items()}
        return {name.removeprefix("failure."): words for name, words in named.items()}

    @property
    def general_errors(self) -> list[str]:
        """What no field on the page is to blame for."""
        keys = {question.key for question in (*self.gates, *self.qualities)}
        shown = {f"{group}.{key}" for key in keys for group in ("gates", "criteria", "evidence", "notes")}
        shown |= {"confidence", "rationale", "failure", "evidence.failure"}
        shown |= {f"failure.{part}" for part in ("step", "who", "cause", "note")}
        return [
            words for name, words in self.errors.items() if name not in shown and not (self.steps and _of_steps(name))
        ]

    @property
    def field_errors(self) -> int:
        return len(self.errors) - len(self.general_errors)


def rubric_view(
    rubric: Rubric, payload: dict[str, Any], errors: dict[str, str] | None = None, item: Item | None = None
) -> RubricView:
    """The rubric with the answers of a payload and the errors found in it, and what the item brings along.

    The payload is a draft, or what was just sent: anything of it may have another shape than a judgment has.
    """
    evidence = cited_in(payload)
    errors = _at_their_criterion(errors or {}, evidence)
    failure: Any = payload.get("failure")
    failure = failure if isinstance(failure, dict) else {}
    asked = _Asking(rubric.unsure_allowed, payload, evidence, errors)
    asked_of_it = criteria_asked(rubric, item) if item else rubric.criteria.all()
    criteria = [criterion for criterion in asked_of_it if criterion.scope == Scope.ITEM]
    own = [criterion for criterion in criteria if criterion.item_id]
    whole = [criterion for criterion in criteria if not criterion.item_id]
    of_rubric, of_item = asked.questions(whole), asked.questions(own)
    qualities = [question for question in of_rubric if not question.gate]
    own_qualities = [question for question in of_item if not question.gate]
    blocks = {criterion.key: criterion.block for criterion in whole}
    return RubricView(
        gates=[question for question in (*of_rubric, *of_item) if question.gate],
        qualities=[*qualities, *own_qualities],
        groups=[*_groups(qualities, blocks), *([Group(OWN_GROUP, tuple(own_qualities))] if own_qualities else [])],
        steps=_step_labelling(rubric, item, payload, errors),
        who=_numbered(FailureWho.choices, failure.get("who")),
        causes=_numbered(FailureCause.choices, failure.get("cause")),
        confidence=_numbered(CONFIDENCE, payload.get("confidence")),
        failure=failure,
        failure_evidence=tuple(cited for cited in evidence if cited.get("criterion") is None),
        rationale=str(payload.get("rationale") or ""),
        evidence=evidence,
        errors=errors,
    )


def _groups(questions: Sequence[Question], blocks: Mapping[str, str]) -> list[Group]:
    """The questions by block, the blocks in the order in which they come first; those of none are one more."""
    order = list(dict.fromkeys(blocks[question.key] for question in questions))
    ordered = sorted(questions, key=lambda question: order.index(blocks[question.key]))
    titles = dict(Block.choices)
    found = [
        Group(titles.get(block, ""), tuple(group))
        for block, group in groupby(ordered, key=lambda question: blocks[question.key])
    ]
    return [Group(group.title or ("Other questions" if len(found) > 1 else ""), group.questions) for group in found]


def cited_in(payload: dict[str, Any]) -> list[dict[str, Any]]:
    """What a draft cites, as far as it has the shape of a citation."""
    rows: Any = payload.get("evidence")
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _at_their_criterion(errors: dict[str, str], evidence: list[dict[str, Any]]) -> dict[str, str]:
    """The errors with those of a citation ("evidence.3") moved to the criterion that it was cited for."""
    placed: dict[str, str] = {}
    for name, sentence in errors.items():
        group, _, number = name.partition(".")
        if group == "evidence" and number.isdigit() and int(number) < len(evidence):
            name = f"evidence.{evidence[int(number)].get('criterion') or 'failure'}"
        placed[name] = f"{placed[name]} {sentence}" if name in placed else sentence
    return placed


# --- Questions --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Asking:
    """Makes questions of criteria, given what was answered."""

    unsure_allowed: bool
    payload: Mapping[str, Any]
    evidence: Sequence[dict[str, Any]]
    errors: Mapping[str, str]

    def questions(self, criteria: Sequence[Criterion]) -> list[Question]:
        made: dict[str, Question] = {}
        for criterion in criteria:
            if criterion.kind != CriterionKind.PREFERENCE:
                made[criterion.key] = self._question(criterion, made)
        return list(made.values())

    def _question(self, criterion: Criterion, before: Mapping[str, Question]) -> Question:
        given = self._given("gates" if criterion.is_gate else "criteria", criterion.key)
        said = (self.errors.get(f"{group}.{criterion.key}") for group in ("gates", "criteria", "evidence", "notes"))
        depends_on = before.get(criterion.condition["criterion"]) if criterion.condition else None
        return Question(
            key=criterion.key,
            title=criterion.title,
            question=criterion.question,
            hint=criterion.hint,
            kind=criterion.kind,
            evidence_rule=criterion.evidence,
            choices=choices_of(criterion, given, self.unsure_allowed),
            text=_text(criterion, given),
            unit=str(criterion.settings.get("unit", "")),
            limits=limits_of(criterion),
            required=criterion.required,
            condition=criterion.condition,
            when=_when(criterion, depends_on),
            asked=_is_asked(criterion, depends_on),
            note=str(self._given("notes", criterion.key) or ""),
            because=criterion.principle.text if criterion.principle else "",
            error=" ".join(filter(None, said)),
            evidence=tuple(cited for cited in self.evidence if cited.get("criterion") == criterion.key),
        )

    def _given(self, group: str, key: str) -> Any:
        answers = self.payload.get(group)
        return answers.get(key) if isinstance(answers, dict) else None


def choices_of(criterion: Criterion, given: Any = None, unsure_allowed: bool = False) -> tuple[Choice, ...]:
    """The answers that there are; none where one writes."""
    if criterion.is_gate:
        return tuple(
            Choice(word, answer.label, key=key, css=word, checked=given == word, number=int(answer))
            for answer, word, key in GATE_CHOICES
            if unsure_allowed or answer != GateAnswer.UNSURE
        )
    if criterion.kind == CriterionKind.BINARY:
        return (
            Choice("yes", "Yes", key="y", checked=given is True, number=1),
            Choice("no", "No", key="n", checked=given is False, number=0),
        )
    ordinal = criterion.kind == CriterionKind.ORDINAL
    chosen = given if isinstance(given, list) else [given]
    return tuple(
        Choice(
            str(level["value"]),
            level["name"],
            key=_digit(level["value"] if ordinal else place, len(criterion.levels), ordinal=ordinal),
            anchor=level.get("anchor", ""),
            example=level.get("example", ""),
            checked=any(type(value) is int and value == level["value"] for value in chosen),
            number=level["value"],
        )
        for place, level in enumerate(criterion.levels, start=1)
    )


def _digit(number: int, count: int, *, ordinal: bool) -> str:
    """The key of a level is its own number, that of an option its place, where 0 is the tenth."""
    if ordinal:
        return str(number) if 0 <= number <= 9 else ""
    return str(number % 10) if count <= MOST_DIGITS else ""


def _text(criterion: Criterion, given: Any) -> str:
    """What was written, also where it is no number yet."""
    if criterion.kind == CriterionKind.NUMBER and type(given) in (int, float):
        return f"{given:.15g}"
    if criterion.kind in (CriterionKind.NUMBER, CriterionKind.TEXT) and isinstance(given, str):
        return given
    return ""


def limits_of(criterion: Criterion) -> str:
    """Like "0 to 60", of a number."""
    if criterion.kind != CriterionKind.NUMBER:
        return ""
    least, most = criterion.settings.get("min"), criterion.settings.get("max")
    if least is not None and most is not None:
        return f"{least:.15g} to {most:.15g}"
    return f"{least:.15g} or more" if least is not None else f"{most:.15g} or less" if most is not None else ""


def _when(criterion: Criterion, depends_on: Question | None) -> str:
    """After which answers a question is asked, in words."""
    if not criterion.condition or not depends_on:
        return ""
    names = [choice.name for choice in depends_on.choices if choice.number in criterion.condition["values"]]
    listed = " or ".join(
        filter(None, [", ".join(f"“{name}”" for name in names[:-1]), f"“{names[-1]}”" if names else ""])
    )
    return f"Asked where “{depends_on.title}” is {listed}."


def _is_asked(criterion: Criterion, depends_on: Question | None) -> bool:
    if not criterion.condition:
        return True
    if not depends_on or not depends_on.asked:
        return False
    return any(choice.checked and choice.number in criterion.condition["values"] for choice in depends_on.choices)


def _numbered(options: Iterable[tuple[Any, str]], given: Any) -> tuple[Choice, ...]:
    return tuple(
        Choice(str(value), name, key=str(number), checked=given == value)
        for number, (value, name) in enumerate(options, start=1)
    )


# --- Step labels ------------------------------------------------------------------------------------------------------
def step_words_of(rubric: Rubric) -> tuple[StepWord, ...]:
    """The words for steps, () where steps are not labelled. Ten at most, and each has a digit."""
    return tuple(
        StepWord(word["value"], word["name"], str(place % 10))
        for place, word in enumerate(rubric.step_labels.get("words", ()), start=1)
    )


@dataclass(frozen=True)
class Labelling:
    """What the steps on a page need to be labelled: the words, whose steps, and what was chosen so far.

    `form` is where it is sent; `said` has what others said of each step, for a lead.
    """

    words: tuple[StepWord, ...]
    roles: list[str]
    given: Mapping[int, int]
    form: str = "judgment"
    said: Mapping[int, Any] = field(default_factory=dict)


def labelling_of(rubric: Rubric, so_far: StepLabelling | None = None) -> Labelling | None:
    """None where steps are not labelled."""
    if not rubric.step_labels:
        return None
    given = {int(number): value for number, value in so_far.given.items()} if so_far else {}
    return Labelling(step_words_of(rubric), roles_labelled(rubric), given)


def _step_labelling(
    rubric: Rubric, item: Item | None, payload: dict[str, Any], errors: dict[str, str]
) -> StepLabelling | None:
    if not rubric.step_labels:
        return None
    given: Any = payload.get("steps")
    given = given if isinstance(given, dict) else {}
    return StepLabelling(
        words=step_words_of(rubric),
        until_first=bool(rubric.step_labels.get("until_first")),
        wanted=tuple(steps_labelled(rubric, item.trajectory)) if item and item.trajectory else (),
        given={number: value for number, value in given.items() if number.isdecimal() and type(value) is int},
        errors=tuple(words for name, words in errors.items() if _of_steps(name)),
    )


def _of_steps(name: str) -> bool:
    return name.partition(".")[0] == "steps"


def labels_in_words(words: Sequence[StepWord], given: Mapping[str, int]) -> str:
    """Like "Correct 2 to 4, 6; Incorrect 7"."""
    numbers = {word.value: sorted(int(n) for n, value in given.items() if value == word.value) for word in words}
    return "; ".join(f"{word.name} {_spans(numbers[word.value])}" for word in words if numbers[word.value])


def _spans(numbers: Sequence[int]) -> str:
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in spans)
