"""What the API gives a rater to judge: the same as the judge page shows, as plain JSON types.

Both stand on `context_of` and on `trajectories.render.fields`, so neither can show what the other hides. Ids of rows,
dates, outcome, model, source and peers never come in; whatever item it is, the answer has the same shape.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from reviews.errors import Invalid, NotFound
from reviews.models import Assignment, ContextDocument, Criterion, Judgment, Queue, Rubric, Trajectory
from reviews.models import Step as StoredStep
from reviews.queries.comparison_page import part_at, parts_of
from reviews.queries.criteria import criteria_asked
from reviews.queries.judging import context_of
from reviews.queries.masking import mask_of
from reviews.queries.payloads import order_of
from reviews.queries.prelabels import prelabel_of
from reviews.queries.questions import note_row, notes_of
from reviews.queries.reviewing import roles_and_results, task_given
from reviews.trajectories.masking import NOTHING, Mask
from reviews.trajectories.schema import Step, decode_step

# One window of steps: as many as fit, at least one however long it is.
WINDOW_STEPS = 100
WINDOW_CHARACTERS = 200_000


def blind_item(assignment: Assignment) -> dict[str, Any]:
    """The run with its context, guideline and rubric, and the first window of its steps; or the candidates in place.

    Candidates stand in this rater's order and are named by their places alone.
    """
    item, queue = assignment.item, assignment.queue
    context, mask = context_of(assignment), mask_of(item.trajectory or parts_of(assignment)[0].trajectory)
    told: dict[str, Any] = {
        "title": mask.text(item.subject.title),
        "request": context.request,
        "requester": dict(context.requester),
        "policy": {
            "title": context.policy_title,
            "lines": [{"number": line.number, "text": line.text} for line in context.policy],
        },
        "versions": dict(context.versions),
        "guideline": guideline_of(queue, item.policy),
        "rubric": rubric_of(queue.rubric, criteria_asked(queue.rubric, item)),
        **({"prelabel": shown} if (shown := prelabel_of(assignment)) is not None else {}),
    }
    if item.trajectory:
        return told | {"tools": _tools(item.trajectory), **run_of(item.trajectory)}
    shared, *parts = parts_of(assignment)
    window = max(1, WINDOW_CHARACTERS // len(parts))
    candidates = [{"shared": shared.count, **run_of(part.trajectory, most=window)} for part in parts]
    if item.task_version:
        order = order_of(assignment)
        told["task"] = task_given(item, order)
        said = roles_and_results(item, order)
        candidates = [{**run, **role} for run, role in zip(candidates, said, strict=True)]
    return told | {"tools": _tools(shared.trajectory), "candidates": candidates}


def _tools(trajectory: Trajectory) -> list[Any]:
    return mask_of(trajectory).value(trajectory.tools) if isinstance(trajectory.tools, list) else []


def run_of(trajectory: Trajectory, *, most: int = 0) -> dict[str, Any]:
    """A run's first window of steps, with what all of it took where its source says so."""
    spent = {"spent": trajectory.spent} if trajectory.spent else {}
    return {**spent, "steps": steps_from(trajectory, first=1, most=most or WINDOW_CHARACTERS)}


def steps_of(assignment: Assignment, *, first: int, candidate: int | None) -> dict[str, Any]:
    """A window of steps of the run, or of the candidate at a place. Raises NotFound or Invalid."""
    if assignment.item.trajectory:
        if candidate is not None:
            raise Invalid({"candidate": "This item is one run, and there is no candidate to name."})
        return steps_from(assignment.item.trajectory, first=first)
    if candidate is None:
        raise Invalid({"candidate": "This item has several runs: name the candidate by its place, from 1."})
    return steps_from(part_at(assignment, candidate).trajectory, first=first)


def steps_from(
    trajectory: Trajectory, *, first: int, most: int = WINDOW_CHARACTERS, reveal: bool = False
) -> dict[str, Any]:
    """The window of steps that begins at `first`; `next` is where the next begins, absent at the end of the run.

    As raters read it, unless all is revealed.
    """
    if not 1 <= first <= max(trajectory.step_count, 1):
        raise NotFound(f"This run has {trajectory.step_count} steps.")
    rows: list[dict[str, Any]] = []
    size, mask = 0, mask_of(trajectory, reveal=reveal)
    for number, step in _stored(trajectory, first):
        row = step_of(number, step, mask)
        size += sum(len(field["text"]) for field in row["fields"])
        if rows and size > most:
            break
        rows.append(row)
    window: dict[str, Any] = {"count": trajectory.step_count, "rows": rows}
    last = rows[-1]["number"] if rows else 0
    return window | {"next": last + 1} if last < trajectory.step_count else window


def _stored(trajectory: Trajectory, first: int) -> Iterator[tuple[int, Step]]:
    rows = StoredStep.objects.filter(trajectory=trajectory, position__range=(first, first + WINDOW_STEPS - 1))
    for position, body in rows.order_by("position").values_list("position", "body").iterator(chunk_size=10):
        yield position, decode_step(body)


def step_of(number: int, step: Step, mask: Mask = NOTHING) -> dict[str, Any]:
    """A step by its citable fields; evidence points into their texts, in code points."""
    row: dict[str, Any] = {
        "number": number,
        "role": step.role,
        "fields": [{"path": field.path, "label": field.label, "text": field.text} for field in mask.fields(step)],
    }
    if step.call:
        row["tool"] = mask.text(step.call.name)
        row["has_result"] = step.result is not None
    if step.result:
        row["error"] = step.result.error
    if step.attachments:
        row["attachments"] = [{"kind": each.kind, "note": each.note} for each in mask.attachments(step.attachments)]
    if step.note:
        row["note"] = mask.text(step.note)
    if step.spent:
        row["spent"] = msgspec.to_builtins(step.spent)
    return row


def own_judgment(assignment: Assignment) -> Judgment | None:
    """What the rater submitted last on this assignment."""
    return Judgment.objects.filter(assignment=assignment).select_related("assignment").order_by("-revision").first()


def guideline_of(queue: Queue, policy: ContextDocument | None) -> dict[str, Any]:
    """The guideline with the notes that stand beside a run with this policy."""
    guideline, notes = queue.guideline, notes_of(queue.guideline, policy)
    rows = [note_row(note) for lines in (notes.guideline, notes.policy) for at in lines.values() for note in at]
    return {"name": guideline.name, "version": guideline.version, "text": guideline.text, "notes": rows}


def rubric_of(rubric: Rubric, criteria: Iterable[Criterion] | None = None) -> dict[str, Any]:
    """The rubric version with its criteria, gates first, or with all `criteria` that are asked of an item."""
    criteria = rubric.criteria.all() if criteria is None else criteria
    return {
        "name": rubric.name,
        "version": rubric.version,
        "item_kind": rubric.item_kind,
        "unsure_allowed": rubric.unsure_allowed,
        "correction": rubric.correction,
        "audits": rubric.audits,
        **({"step_labels": rubric.step_labels} if rubric.step_labels else {}),
        **({"marks": rubric.marks} if rubric.marks else {}),
        "criteria": [criterion_of(criterion) for criterion in criteria],
    }


def criterion_of(criterion: Criterion) -> dict[str, Any]:
    row = {name: getattr(criterion, name) for name in ("key", "title", "question", "hint", "kind", "evidence")}
    row["scope"] = criterion.scope
    if criterion.principle:
        row["principle"] = {name: getattr(criterion.principle, name) for name in ("name", "version", "text")}
    if criterion.is_gate:
        return row
    row |= {"block": criterion.block, "levels": criterion.levels, "required": criterion.required}
    row |= {"settings": criterion.settings} if criterion.settings else {}
    return row | ({"condition": criterion.condition} if criterion.condition else {})
