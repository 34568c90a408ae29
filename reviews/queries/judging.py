"""What a rater's pages show: the run in windows of steps, its context, the rubric with what was answered so far.

Everything here is what `reviews.visibility` lets a rater see. Outcome, model, source, peers and dates never come in.
"""

from __future__ import annotations

import datetime as dt
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec
import zstandard
from django.db.models import Q
from django.utils import timezone

from reviews.enums import AssignmentState, Purpose
from reviews.errors import NotFound
from reviews.models import (
    Assignment,
    ContextDocument,
    Draft,
    Guideline,
    Item,
    Judgment,
    Original,
    Project,
    Queue,
    QueueItem,
    Rubric,
    Task,
    Trajectory,
)
from reviews.models import Step as StoredStep
from reviews.queries.correcting import CorrectionCard, correction_cards
from reviews.queries.masking import mask_of, masked_payload
from reviews.queries.payloads import payload_of
from reviews.queries.prelabels import prelabel_of
from reviews.queries.rubric_view import Question, RubricView, cited_in, labels_in_words, rubric_view
from reviews.queries.statements import ModelStatement
from reviews.trajectories.diffs import PAIRS, pair_html
from reviews.trajectories.display import as_seen, is_tree, prose_html, verbatim_html
from reviews.trajectories.images import Source, picture, picture_at, sources
from reviews.trajectories.marks import Span
from reviews.trajectories.masking import NOTHING, Mask
from reviews.trajectories.outline import ONLY, Outline, outline_from, outline_of
from reviews.trajectories.policy import PolicyLine, policy_lines
from reviews.trajectories.prose import fence_at
from reviews.trajectories.render import Field, size_of, window
from reviews.trajectories.schema import Attachment, Spent, Step, decode_step
from reviews.trajectories.spent import spent_words
from reviews.trajectories.tools import Tool, tags_of, tools_of, writers_of
from reviews.visibility import Phase, Thing, Viewer, visible

# The first look at a run: so many bytes of its text or so many steps, whichever comes first.
WINDOW_BYTES = 32_000
WINDOW_STEPS = 40
# Whoever jumps to a step sees so many before it; whoever comes from below sees a whole window.
STEPS_BEFORE = 3
# What one field shows before it is folded, as lines and characters.
PROSE = (80, 6_000)
RESULT = (14, 1_500)
TREE = (40, 3_000)
PROSE_FIELDS = ("text", "reasoning")
# How much each "more" of a folded field brings.
PIECE_CHARACTERS = 60_000
MOST_HITS = 300
# Where the database's upper case is not Python's case folding: letters that some texts write as one character, and two
# letters that others look like.
_LIGATURES = re.compile("ff|fi|fl|ft|st|ss", re.IGNORECASE)
_LOOK_ALIKE = {"k": "\u212a", "s": "\u017f"}

Tags = dict[str, tuple[tuple[str, str], ...]]

WHO = {"system": "System", "user": "Requester", "agent": "Agent", "tool": "Tool"}


# --- Steps ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class FieldView:
    """One field as far as it is shown: `next` is where the rest begins; `spans` are raters' citations, for a lead.

    `fence` is what opened a block of code that the text begins in; `drawn` is its HTML where another field has a say
    in it, as the old text has in how the new one is shown. `mask` marks what raters do not see, for those who see it.
    """

    path: str
    label: str
    text: str
    size: str = ""
    next: int | None = None
    spans: tuple[Span, ...] = ()
    tree: bool = False
    fence: str = ""
    drawn: str = ""
    mask: Mask = NOTHING

    @cached_property
    def html(self) -> str:
        """The text as a page shows it, escaped, every character in its place."""
        if self.drawn:
            return self.drawn
        html = prose_html(self.text, fence=self.fence) if self.is_prose else verbatim_html(self.text, tree=self.tree)
        return self.mask.marked(html, self.text)

    @property
    def is_prose(self) -> bool:
        return self.path in PROSE_FIELDS


@dataclass(frozen=True)
class StepView:
    """One step as it is read. `tags` are (words, css class); `images` are the places of its pictures.

    Each of `pairs` are two arguments that say which text is replaced by which; `arguments` are the others.
    """

    number: int
    role: str
    who: str
    name: str = ""
    tags: tuple[tuple[str, str], ...] = ()
    text: FieldView | None = None
    reasoning: FieldView | None = None
    arguments: tuple[FieldView, ...] = ()
    pairs: tuple[tuple[FieldView, ...], ...] = ()
    result: tuple[FieldView, ...] = ()
    result_words: str = ""
    has_call: bool = False
    attachments: tuple[Attachment, ...] = ()
    images: tuple[int, ...] = ()
    note: str = ""
    spent: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        return self.name or self.who

    @property
    def every_argument(self) -> tuple[FieldView, ...]:
        """All of them in one list, each drawn by itself."""
        return (*self.arguments, *(replace(part, drawn="") for pair in self.pairs for part in pair))

    @property
    def arguments_table(self) -> bool:
        return all(argument.path.startswith("arguments/") for argument in self.arguments)

    @property
    def result_table(self) -> bool:
        return all(part.path.startswith("result/") for part in self.result)


@dataclass(frozen=True)
class Gap:
    """Steps that are not on the page yet."""

    first: int
    last: int
    count: int

    def __len__(self) -> int:
        return self.count

    def __str__(self) -> str:
        if self.count < self.last - self.first + 1:
            return f"Show {self.count:,} more, from step {self.first} to {self.last}"
        return f"Show steps {self.first} to {self.last}"


@dataclass(frozen=True)
class StepWindow:
    """Some steps of a run; `only` is the kind of steps it was asked for, or empty for all."""

    steps: list[StepView]
    before: Gap | None = None
    after: Gap | None = None
    only: str = ""

    @property
    def asked(self) -> str:
        """What addresses of more steps have to say of it."""
        return f"&only={self.only}" if self.only else ""


def steps_window(
    trajectory: Trajectory,
    *,
    first: int = 1,
    last: int | None = None,
    at: int | None = None,
    only: str = "",
    budget: int = WINDOW_BYTES,
    reveal: bool = False,
) -> StepWindow:
    """The steps from `first` (or shortly before `at`) as far as the budget goes, with the gaps on both sides.

    With `only`, one of `outline.ONLY`, the others are passed over; any other word means all steps. Read as raters do,
    unless all is revealed, as in every function here.
    """
    only = only if only in ONLY else ""
    last = min(last or trajectory.step_count, trajectory.step_count)
    numbers = _numbers(trajectory, max(1, min(first, last)), last, only)
    place = min(bisect_left(numbers, at), len(numbers) - 1) if at and numbers else None
    start = max(0, place - (STEPS_BEFORE if numbers[place] < last else WINDOW_STEPS - 1)) if place is not None else 0
    tools, mask = tags_of(trajectory.tools), mask_of(trajectory, reveal=reveal)
    views: list[StepView] = []
    spent = 0
    for position, step in _stored_steps(trajectory, numbers[start : start + WINDOW_STEPS]):
        view = replace(step_view(position, step, tools, mask), images=tuple(range(len(_sources(trajectory, step)))))
        spent += _bytes_shown(view)
        if views and spent > budget and not (place is not None and position <= numbers[place]):
            break
        views.append(view)
    return StepWindow(
        steps=views,
        before=gap_over(numbers[:start]),
        after=gap_over(numbers[start + len(views) :]),
        only=only,
    )


def _numbers(trajectory: Trajectory, first: int, last: int, only: str) -> Sequence[int]:
    if not only:
        return range(first, last + 1)
    return [number for number in _outline(trajectory).numbers(only) if first <= number <= last]


def gap_over(numbers: Sequence[int]) -> Gap | None:
    """The gap that these steps, in their order, leave; None where there are none."""
    return Gap(numbers[0], numbers[-1], len(numbers)) if numbers else None


def _stored_steps(trajectory: Trajectory, numbers: Sequence[int]) -> Iterator[tuple[int, Step]]:
    """Some steps, no more than a window of them."""
    rows = StoredStep.objects.filter(trajectory=trajectory, position__in=numbers).order_by("position")
    for position, body in rows.values_list("position", "body"):
        yield position, decode_step(body)


def step_view(number: int, step: Step, tools: Tags, mask: Mask = NOTHING) -> StepView:
    """A step as it is read; `tools` gives each tool's tags by its name."""
    parts = {part.path: part for part in mask.fields(step)}
    pairs = _pairs(parts, mask)
    paired = {view.path for pair in pairs for view in pair}
    arguments = tuple(
        _shown(part, RESULT, mask)
        for path, part in parts.items()
        if path.partition("/")[0] == "arguments" and path not in paired
    )
    result = tuple(_shown(part, RESULT, mask) for path, part in parts.items() if path.partition("/")[0] == "result")
    name = mask.text(step.call.name) if step.call else ""
    return StepView(
        number=number,
        role=step.role,
        who=WHO[step.role],
        name=name,
        tags=tuple(_tags(step, tools)),
        text=_shown(parts["text"], PROSE, mask) if "text" in parts else None,
        reasoning=_shown(parts["reasoning"], PROSE, mask) if "reasoning" in parts else None,
        arguments=arguments,
        pairs=pairs,
        result=result,
        result_words=_result_words(result) if step.result else "",
        has_call=step.call is not None or step.result is not None,
        attachments=mask.attachments(step.attachments),
        note=mask.text(step.note),
        spent=tuple(spent_words(step.spent)) if step.spent else (),
    )


def _pairs(parts: dict[str, Field], mask: Mask) -> tuple[tuple[FieldView, ...], ...]:
    """The arguments that replace one text by another, drawn beside each other; none where they are long.

    Of a tool that takes one replacement, texts of one line stand among the other arguments.
    """
    found = []
    for folder in dict.fromkeys(path.rpartition("/")[0] for path in parts if path.startswith("arguments/")):
        for names in PAIRS:
            old, new = (parts.get(f"{folder}/{name}") for name in names)
            if not (old and new) or (folder == "arguments" and "\n" not in old.text + new.text):
                continue
            if drawn := pair_html(old.text, new.text):
                found.append(
                    tuple(
                        FieldView(part.path, part.label, part.text, drawn=mask.marked(html, part.text), mask=mask)
                        for part, html in zip((old, new), drawn, strict=True)
                    )
                )
                break
    return tuple(found)


def _shown(part: Field, limits: tuple[int, int], mask: Mask) -> FieldView:
    tree = is_tree(part.text)
    cut = window(part.text, *(TREE if tree else limits))
    if not cut.rest:
        return FieldView(part.path, part.label, part.text, size=str(cut.size), tree=tree, mask=mask)
    head = _whole_lines(cut.head) if part.path in PROSE_FIELDS else cut.head
    return FieldView(part.path, part.label, head, size=str(cut.size), next=len(head), tree=tree, mask=mask)


def _whole_lines(text: str) -> str:
    """A message is cut behind a line, so that what follows does not begin inside a heading or a row."""
    end = text.rfind("\n", len(text) // 2) + 1
    return text[:end] if end else text


def _result_words(result: tuple[FieldView, ...]) -> str:
    if not result:
        return "Result, empty"
    if result[0].path.startswith("result/"):
        return f"Result, {len(result)} field{'' if len(result) == 1 else 's'}"
    return f"Result, {result[0].size}" if "\n" in result[0].text or result[0].next else "Result"


def _tags(step: Step, tools: Tags) -> Iterator[tuple[str, str]]:
    if step.call:
        yield from tools.get(step.call.name, ())
    if step.result and step.result.error:
        yield ("error", "error")
    if step.call and not step.result:
        yield ("no result", "error")


def _bytes_shown(view: StepView) -> int:
    shown = [view.text, view.reasoning, *view.arguments, *(part for pair in view.pairs for part in pair), *view.result]
    texts = [part.html for part in shown if part] + [attachment.raw for attachment in view.attachments]
    return sum(len(text.encode()) for text in texts)


def field_piece(trajectory: Trajectory, *, number: int, path: str, start: int, reveal: bool = False) -> FieldView:
    """More of a folded field, from `start` on. Raises NotFound where there is no such step or field."""
    for _position, step in _stored_steps(trajectory, [number]):
        if piece := piece_of(step, path=path, start=start, mask=mask_of(trajectory, reveal=reveal)):
            return piece
    raise NotFound("There is no such step or field in this run.")


def piece_of(step: Step, *, path: str, start: int, mask: Mask = NOTHING) -> FieldView | None:
    """More of a folded field of a step, from `start` on."""
    for part in mask.fields(step):
        if part.path == path:
            prose = path in PROSE_FIELDS
            piece = part.text[start : start + PIECE_CHARACTERS]
            if prose and start + len(piece) < len(part.text):
                piece = _whole_lines(piece)
            stop = start + len(piece)
            return FieldView(
                path,
                part.label,
                piece,
                size=str(size_of(part.text)),
                next=stop if stop < len(part.text) else None,
                tree=is_tree(part.text),
                fence=fence_at(part.text[:start]) if prose else "",
                mask=mask,
            )
    return None


# --- Pictures ---------------------------------------------------------------------------------------------------------
def _sources(trajectory: Trajectory, step: Step) -> list[Source]:
    """Nothing is taken from an original where the project redacts: that is for admins alone."""
    return sources(step, original=trajectory.redactions is None)


def picture_of(trajectory: Trajectory, *, number: int, place: int) -> tuple[str, bytes]:
    """The media type and bytes of one picture of a step. Raises NotFound where it is none after all."""
    for _position, step in _stored_steps(trajectory, [number]):
        for source in _sources(trajectory, step)[place : place + 1]:
            found = picture_at(_original(trajectory), source.pointer) if source.pointer else picture(source.data)
            if found:
                return found
    raise NotFound("There is no such picture in this run.")


def _original(trajectory: Trajectory) -> bytes:
    compressed = Original.objects.values_list("compressed", flat=True).get(trajectory=trajectory)
    return zstandard.ZstdDecompressor().decompressobj().decompress(bytes(compressed))


# --- The map and the search -------------------------------------------------------------------------------------------
def run_map(trajectory: Trajectory, *, reveal: bool = False) -> Outline:
    """All steps as marks; read from the steps only where a run was stored before its outline was kept."""
    return mask_of(trajectory, reveal=reveal).outline(_outline(trajectory))


def _outline(trajectory: Trajectory) -> Outline:
    if trajectory.outline:
        return outline_from(trajectory.outline)
    return outline_of((step for _position, step in _every_step(trajectory)), writers_of(trajectory.tools))


def tools_shown(trajectory: Trajectory, *, reveal: bool = False) -> list[Tool]:
    """What the agent could use, as it is read."""
    return tools_of(mask_of(trajectory, reveal=reveal).value(trajectory.tools))


@dataclass(frozen=True)
class Kind:
    """A kind of steps that can be read alone: its name in addresses, how many there are, and whether it is on."""

    name: str
    label: str
    count: int
    on: bool


def kinds_of(trajectory: Trajectory, only: str) -> list[Kind]:
    """What of the run can be read alone, all of it first."""
    outline = _outline(trajectory)
    labels = {"writes": "Writes", "errors": "Errors", "agent": "Agent"}
    kinds = [Kind(name, label, outline.count(name), name == only) for name, label in labels.items()]
    return [Kind("", "All", trajectory.step_count, only not in labels), *kinds]


def spent_by(trajectory: Trajectory) -> list[str]:
    """What the whole run took, in words; nothing where its source does not say it."""
    return spent_words(msgspec.convert(trajectory.spent, Spent)) if trajectory.spent else []


def _every_step(trajectory: Trajectory) -> Iterator[tuple[int, Step]]:
    """Window after window, so that a long run is never in memory as a whole."""
    for first in range(1, trajectory.step_count + 1, WINDOW_STEPS):
        yield from _stored_steps(trajectory, range(first, first + WINDOW_STEPS))


@dataclass(frozen=True)
class Hit:
    number: int
    label: str
    count: int


def find(trajectory: Trajectory, text: str, *, reveal: bool = False) -> list[Hit]:
    """The steps in which the text stands as it is read, whatever its case, with how often."""
    mask = mask_of(trajectory, reveal=reveal)
    wanted = text.casefold().strip()
    hits: list[Hit] = []
    if not wanted:
        return hits
    for position, step in _steps_that_may_hold(trajectory, wanted):
        count = sum(_count(part, wanted) for part in mask.fields(step))
        if step.call:
            count += mask.text(step.call.name).casefold().count(wanted)
        if count:
            hits.append(Hit(position, mask.text(step.call.name) if step.call else WHO[step.role], count))
        if len(hits) >= MOST_HITS:
            break
    return hits


def _steps_that_may_hold(trajectory: Trajectory, wanted: str) -> Iterator[tuple[int, Step]]:
    """Those that the database cannot rule out, window after window: it looks for the longest of the words that stand
    in a step's JSON as they are read. Without such a word every step is read."""
    words = [word for word in wanted.split() if word.isascii() and word.isalnum() and not _LIGATURES.search(word)]
    if not words:
        yield from _every_step(trajectory)
        return
    word = max(words, key=len)
    may_hold = Q(body__icontains=word) | Q(body__contains="\\\\u")  # a letter may be written by its number
    for letter, other in _LOOK_ALIKE.items():
        may_hold |= Q(body__contains=other) if letter in word else Q()
    places = StoredStep.objects.filter(may_hold, trajectory=trajectory).order_by("position")
    numbers = list(places.values_list("position", flat=True))
    for first in range(0, len(numbers), WINDOW_STEPS):
        yield from _stored_steps(trajectory, numbers[first : first + WINDOW_STEPS])


def _count(part: Field, wanted: str) -> int:
    """How often the words stand in a field as its source has it, or else as it is read, without its marks."""
    text = part.text.casefold()
    if (count := text.count(wanted)) or not all(word in text for word in wanted.split()):
        return count
    return as_seen(part.text, prose=part.path in PROSE_FIELDS).casefold().count(wanted)


# --- Context ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Context:
    """What stands beside the run."""

    request: str = ""
    requester: tuple[tuple[str, str], ...] = ()
    policy: tuple[PolicyLine, ...] = ()
    policy_title: str = ""
    versions: tuple[tuple[str, str], ...] = ()


def context_of(assignment: Assignment | QueueItem, *, reveal: bool = False) -> Context:
    """What stands beside an item in a queue: with the versions of rubric and guideline."""
    context, queue = item_context(assignment.item, reveal=reveal), assignment.queue
    in_force = (("Rubric", str(queue.rubric)), ("Guideline", str(queue.guideline)))
    return replace(context, versions=(*context.versions, *in_force))


def item_context(item: Item, *, reveal: bool = False) -> Context:
    """What stands beside an item: of its run, or of the first of several, with the versions that all of them have.

    A version that only some have would tell the runs of one agent from those of another.
    """
    if item.trajectory:
        return run_context(item.trajectory, reveal=reveal)
    candidates = item.candidates.select_related("trajectory__task", "trajectory__policy")
    contexts = [run_context(candidate.trajectory, reveal=reveal) for candidate in candidates]
    common = [version for version in contexts[0].versions if all(version in other.versions for other in contexts)]
    return replace(contexts[0], versions=tuple(common))


def run_context(trajectory: Trajectory, *, reveal: bool = False) -> Context:
    """What stands beside a run wherever it is read."""
    mask = mask_of(trajectory, reveal=reveal)
    seen = visible(Viewer.RATER, Phase.JUDGING)
    task, policy = trajectory.task, trajectory.policy
    given = task.context if Thing.CONTEXT in seen and isinstance(task.context, dict) else {}
    requester = given.get("requester")
    versions = trajectory.versions if Thing.ENVIRONMENT in seen else {}
    return Context(
        request=mask.text(str(given.get("request") or "")),
        requester=tuple(_facts(mask.value(requester))) if isinstance(requester, dict) else (),
        policy=tuple(policy_lines(mask.text(policy.text))) if policy and Thing.CONTEXT in seen else (),
        policy_title=mask.text(policy.title) if policy and Thing.CONTEXT in seen else "",
        versions=tuple(_facts(mask.value(versions) if isinstance(versions, dict) else {})),
    )


# JSON from the database comes without an order of its own.
FACTS_FIRST = ("signed_in_as", "name", "email", "role", "owns", "may", "environment", "tools", "data", "reset")


def _facts(pairs: dict[str, Any]) -> Iterator[tuple[str, str]]:
    known = {label: place for place, label in enumerate(FACTS_FIRST)}
    for label, value in sorted(pairs.items(), key=lambda pair: (known.get(pair[0].casefold(), len(known)), pair[0])):
        words = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield str(label).replace("_", " ").capitalize(), words


# --- Pages ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class JudgePage:
    """Everything on the page of one assignment."""

    assignment: Assignment
    context: Context
    window: StepWindow
    map: Outline
    rubric: RubricView
    version: int
    judged_today: int
    step_count: int
    kinds: list[Kind]
    tool_count: int
    corrections: list[CorrectionCard]
    spent: list[str]
    prelabel: list[dict[str, Any]] | None = None

    @property
    def corrections_given(self) -> list[dict[str, Any]]:
        return [card.given for card in self.corrections]


def judge_page(
    assignment: Assignment,
    *,
    payload: dict[str, Any],
    version: int,
    errors: dict[str, str] | None = None,
    first: int = 1,
    only: str = "",
) -> JudgePage:
    trajectory = assignment.item.run
    at = min(first + STEPS_BEFORE, trajectory.step_count - 1) if first > 1 else None
    return JudgePage(
        assignment=assignment,
        context=context_of(assignment),
        window=steps_window(trajectory, at=at, only=only),
        map=run_map(trajectory),
        rubric=rubric_view(assignment.queue.rubric, payload, errors, assignment.item),
        version=version,
        judged_today=judged_today(assignment.rater_id),
        step_count=trajectory.step_count,
        kinds=kinds_of(trajectory, only),
        tool_count=len(tools_of(trajectory.tools)),
        corrections=correction_cards(trajectory, payload, errors),
        spent=spent_by(trajectory),
        prelabel=prelabel_of(assignment),
    )


PAGE = ModelStatement(
    """
    SELECT {columns}
    FROM reviews_assignment assignment
    LEFT JOIN reviews_draft draft ON draft.assignment_id = assignment.id
    JOIN reviews_queue queue ON queue.id = assignment.queue_id
    JOIN reviews_project project ON project.id = queue.project_id
    JOIN reviews_rubric rubric ON rubric.id = queue.rubric_id
    JOIN reviews_guideline guideline ON guideline.id = queue.guideline_id
    JOIN reviews_item item ON item.id = assignment.item_id
    LEFT JOIN reviews_trajectory trajectory ON trajectory.id = item.trajectory_id
    LEFT JOIN reviews_task task ON task.id = trajectory.task_id
    LEFT JOIN reviews_contextdocument policy ON policy.id = trajectory.policy_id
    WHERE assignment.id = %(assignment)s
    """,
    assignment=Assignment,
    draft=Draft,
    queue=Queue,
    project=Project,
    rubric=Rubric,
    guideline=Guideline,
    item=Item,
    trajectory=Trajectory,
    task=Task,
    policy=ContextDocument,
)


def for_page(assignment: Assignment) -> Assignment:
    """The same assignment with everything its page shows, in one query."""
    found = PAGE.first(assignment=assignment.pk)
    assert found  # noqa: S101  assignments are never deleted
    fresh: Assignment
    fresh, draft, queue, project, rubric, guideline, item, trajectory, task, policy = found
    fresh.queue, fresh.item, item.trajectory = queue, item, trajectory
    queue.project, queue.rubric, queue.guideline = project, rubric, guideline
    if trajectory:
        trajectory.task, trajectory.policy = task, policy
    # Also that there is none is then known.
    Draft._meta.get_field("assignment").remote_field.set_cached_value(fresh, draft)
    return fresh


def judged_today(rater: Any, queue: Queue | None = None) -> int:
    """How many items the rater judged since midnight, in all queues or one. Neither practice nor corrections count."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    today = (midnight, midnight + dt.timedelta(days=1))
    work = Judgment.objects.filter(rater=rater, submitted_at__range=today, queue__purpose=Purpose.WORK, revision=1)
    return (work.filter(queue=queue) if queue else work).count()


def draft_of(assignment: Assignment) -> tuple[dict[str, Any], int]:
    """What the rater has entered so far, and the draft's version (0 where there is none yet)."""
    draft = getattr(assignment, "draft", None)
    if not draft or not isinstance(draft.data, dict):
        return {}, 0
    return masked_payload(draft.data, assignment), draft.version


def answers_so_far(assignment: Assignment) -> tuple[dict[str, Any], int]:
    """The draft and its version or, where a judgment is being corrected and no draft was begun, that judgment."""
    data, version = draft_of(assignment)
    submitted = None if version else latest_judgment(assignment)
    return (masked_payload(payload_of(submitted), assignment), 0) if submitted else (data, version)


def latest_judgment(assignment: Assignment) -> Judgment | None:
    """What the rater submitted last, None where nothing was."""
    if assignment.state not in (AssignmentState.SUBMITTED, AssignmentState.SET_ASIDE):
        return None
    return Judgment.objects.filter(assignment=assignment).select_related("assignment", "rubric").latest("revision")


@dataclass(frozen=True)
class Said:
    """One line of an answer in words: what was asked, what was said, and where it stands in the payload."""

    label: str
    words: str
    key: str


def in_words(rubric: Rubric, payload: dict[str, Any], item: Item | None = None) -> list[Said]:
    """A payload as a person reads it, one line per question that was answered; `item` for those that it brought."""
    view = rubric_view(rubric, payload, item=item)
    lines = [
        Said(question.title, _question_words(question), question.name) for question in (*view.gates, *view.qualities)
    ]
    if view.steps:
        lines.append(Said("Steps", labels_in_words(view.steps.words, view.steps.given), "steps"))
    failure = [f"step {view.failure['step']}"] if view.failure.get("step") else []
    failure += [choice.name for choice in (*view.who, *view.causes) if choice.checked]
    failure += [str(view.failure["note"])] if view.failure.get("note") else []
    lines.append(Said("Failure point", ", ".join(failure), "failure"))
    corrections = payload.get("corrections")
    if isinstance(corrections, list) and corrections:
        at = ", ".join(f"step {row.get('step')}" for row in corrections if isinstance(row, dict))
        lines.append(Said("Corrections", at, "corrections"))
    sure = next((choice.name for choice in view.confidence if choice.checked), "")
    lines.append(Said("Confidence", sure, "confidence"))
    lines.append(Said("Rationale", view.rationale, "rationale"))
    return lines


def _question_words(question: Question) -> str:
    """The answer with what is cited for it, and the note."""
    cited = ", ".join(_cited_words(row) for row in question.evidence)
    words = f"{question.words} ({cited})" if question.words and cited else question.words or cited
    return f"{words}. Note: {question.note}" if words and question.note else words or question.note


def _cited_words(row: dict[str, Any]) -> str:
    if row.get("policy_line"):
        return f"policy {row['policy_line']}"
    return f"step {row.get('step')} “{row['quote']}”" if row.get("quote") else f"step {row.get('step')}"


@dataclass(frozen=True)
class TwoTexts:
    """One line of two drafts beside each other; `key` as in `Said`."""

    key: str
    label: str
    here: str
    there: str

    @property
    def differs(self) -> bool:
        return self.here != self.there


def two_texts(assignment: Assignment, here: dict[str, Any], there: dict[str, Any]) -> list[TwoTexts]:
    """Two drafts line by line; lines that neither fills are left out."""
    rubric, item = assignment.queue.rubric, assignment.item
    pairs = zip(in_words(rubric, here, item), in_words(rubric, there, item), strict=True)
    return [
        TwoTexts(mine.key, mine.label, mine.words, other.words) for mine, other in pairs if mine.words or other.words
    ]


def merged(mine: dict[str, Any], other: dict[str, Any], *, take: Iterable[str]) -> dict[str, Any]:
    """`mine` with the lines to `take` from the other draft, each with its note and citations. Keys as in `Said`."""
    taken = list(take)
    whole = dict(mine)
    for key in taken:
        group, _, name = key.partition(".")
        if name:
            whole[group] = _with(whole.get(group), other.get(group), name)
            if notes := _with(whole.get("notes"), other.get("notes"), name):
                whole["notes"] = notes
            else:
                whole.pop("notes", None)
        else:
            whole = _with(whole, other, group)
    criteria = {key.partition(".")[2] or None for key in taken if "." in key or key == "failure"}
    mine_stays = [row for row in cited_in(mine) if row.get("criterion") not in criteria]
    return {**whole, "evidence": mine_stays + [row for row in cited_in(other) if row.get("criterion") in criteria]}


def _with(mine: Any, other: Any, name: str) -> dict[str, Any]:
    """`mine` with what the other has under a name, or without it where the other has nothing."""
    values = {key: value for key, value in mine.items() if key != name} if isinstance(mine, dict) else {}
    return {**values, name: other[name]} if isinstance(other, dict) and name in other else values


@dataclass(frozen=True)
class ReceiptView:
    submitted_at: dt.datetime
    revision: int
    lines: list[Said]


def receipt(assignment: Assignment) -> ReceiptView | None:
    """What the rater submitted, in words; None where nothing was."""
    judgment = Judgment.objects.filter(assignment=assignment).order_by("-revision").first()
    if judgment is None:
        return None
    payload = masked_payload(payload_of(judgment), assignment)
    lines = [line for line in in_words(judgment.rubric, payload, assignment.item) if line.words]
    return ReceiptView(submitted_at=judgment.submitted_at, revision=judgment.revision, lines=lines)
