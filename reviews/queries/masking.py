"""What raters of a project do not read, and where it stands in its runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from functools import reduce
from typing import Any

from reviews.models import Assignment, Item, Masking, Outcome, Project, Trajectory
from reviews.models import Step as StoredStep
from reviews.queries.statements import ModelStatement
from reviews.trajectories.masking import Mask, MaskRules
from reviews.trajectories.render import fields
from reviews.trajectories.schema import decode_step

# A preview looks at so many of the latest runs, and at so many steps of each.
MOST_RUNS = 200
MOST_STEPS = 100
MOST_EXAMPLES = 5


MASKING = ModelStatement(
    "SELECT {columns} FROM reviews_masking masking WHERE project_id = %(project)s", masking=Masking
)


def masking_of(project: Project) -> Masking:
    """What is hidden in the project; nothing, as long as nobody has said."""
    return Masking.objects.filter(project=project).first() or Masking(project=project)


def mask_of(trajectory: Trajectory, *, reveal: bool = False) -> Mask:
    """How a run is read: as raters do, or, with `reveal`, whole with what they do not see marked.

    One query; the rules that hold now are asked for once for each run that is loaded.
    """
    known = trajectory.__dict__.get("_mask")
    if known is None:
        (masking,) = MASKING.first(project=trajectory.project_id) or (None,)
        known = trajectory.__dict__["_mask"] = Mask(_rules(masking), model=_model_of(trajectory, masking))
    if not reveal:
        return known
    revealing = copy(known)
    revealing.reveal = True
    return revealing


def _rules(masking: Masking | None) -> MaskRules:
    if masking is None:
        return MaskRules()
    return MaskRules(tuple(masking.words), tuple(masking.patterns), masking.own_model)


def _model_of(trajectory: Trajectory, masking: Masking | None) -> str:
    if masking is None or not masking.own_model:
        return ""
    return Outcome.objects.filter(trajectory=trajectory).values_list("model", flat=True).first() or ""


def read_by_raters(item: Item, text: str) -> str:
    """A text that stands beside an item as raters read it; of several runs the masks of all are laid on it."""
    return reader_of(item)(text)


def reader_of(item: Item) -> Callable[[str], str]:
    """What raters read of each text that stands beside an item. A few queries, however many texts follow."""
    if item.trajectory:
        runs = [item.trajectory]
    else:
        runs = [each.trajectory for each in item.candidates.select_related("trajectory")]
    masks = [mask_of(run) for run in runs] or [Mask(_rules(masking_of(item.project)))]
    return lambda text: reduce(lambda read, mask: mask.text(read), masks, text) if text else text


def title_of(item: Item) -> str:
    """What a rater reads as the title of an item."""
    return read_by_raters(item, item.subject.title) or "A run"


def masked_payload(payload: dict[str, Any], assignment: Assignment) -> dict[str, Any]:
    """What a rater sent, with quotations, and what they wrote in the agent's place, as they may read them now."""
    masked = dict(payload)
    if isinstance(cited := payload.get("evidence"), list):
        masked["evidence"] = [_masked_row(row, assignment) for row in cited]
    if isinstance(rows := payload.get("corrections"), list) and assignment.item.trajectory:
        masked["corrections"] = [_masked_correction(row, mask_of(assignment.item.trajectory)) for row in rows]
    return masked


def _masked_correction(row: Any, mask: Mask) -> Any:
    if not mask or not isinstance(row, Mapping) or not isinstance(row.get("steps"), list):
        return row
    steps = [
        {name: mask.value(part) for name, part in step.items()} if isinstance(step, Mapping) else step
        for step in row["steps"]
    ]
    return {**row, "steps": steps}


def _masked_row(row: Any, assignment: Assignment) -> Any:
    if not isinstance(row, Mapping) or not isinstance(row.get("quote"), str):
        return row
    if row.get("part"):
        return {**row, "quote": read_by_raters(assignment.item, row["quote"])}
    run = _run_cited(row, assignment)
    mask = mask_of(run) if run else None
    if not run or not mask:
        return row
    start, end, number = row.get("start"), row.get("end"), row.get("step")
    if not isinstance(start, int) or not isinstance(end, int) or not isinstance(number, int):
        return {**row, "quote": mask.text(row["quote"])}
    body = StoredStep.objects.filter(trajectory=run, position=number).values_list("body", flat=True).first()
    seen = zip(fields(decode_step(body)), mask.fields(decode_step(body)), strict=True) if body else ()
    for field, shown in seen:
        if row.get("field") in (field.path, shown.path):
            return {**row, "field": shown.path, "quote": shown.text[start:end]}
    return {**row, "quote": mask.text(row["quote"])}


def _run_cited(row: Mapping[str, Any], assignment: Assignment) -> Trajectory | None:
    item, place, order = assignment.item, row.get("candidate"), assignment.candidate_order or []
    if item.trajectory:
        return item.trajectory
    if not isinstance(place, int) or not 1 <= place <= len(order):
        return None
    return next((each.trajectory for each in item.candidates.all() if each.position == order[place - 1]), None)


# --- The preview ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Touched:
    """What rules would hide in the latest runs: in how many, at how many places, and a few of the words."""

    looked_at: int
    runs: int
    places: int
    examples: list[str]


def touched_by(project: Project, rules: MaskRules) -> Touched:
    """Of at most `MOST_RUNS` runs, the latest, the first `MOST_STEPS` steps of each."""
    looked_at = runs = places = 0
    examples: dict[str, None] = {}
    found = Trajectory.objects.filter(project=project).select_related("outcome", "task", "policy").order_by("-pk")
    for run in found[:MOST_RUNS]:
        mask = Mask(rules, model=run.outcome.model)
        looked_at += 1
        here = 0
        for text in _texts_of(run) if mask else ():
            for start, end in mask.places(text):
                here += 1
                if len(examples) < MOST_EXAMPLES:
                    examples[text[start:end][:60]] = None
        runs, places = runs + bool(here), places + here
    return Touched(looked_at, runs, places, list(examples))


def _texts_of(run: Trajectory) -> Iterator[str]:
    yield run.task.title
    yield from (str(value) for value in run.task.context.values() if isinstance(value, str))
    if run.policy:
        yield run.policy.text
    bodies = StoredStep.objects.filter(trajectory=run, position__lte=MOST_STEPS).order_by("position")
    for body in bodies.values_list("body", flat=True):
        step = decode_step(body)
        yield from (field.text for field in fields(step))
        if step.call:
            yield step.call.name
