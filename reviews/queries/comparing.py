"""Two runs side by side: which two, how their steps answer each other, and a window of rows as the page shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any
from uuid import UUID

import msgspec
from django.core.cache import cache

from reviews.errors import Invalid, NotFound
from reviews.models import Item, Project, Step, Trajectory
from reviews.queries.items import ItemRow, seen_of
from reviews.queries.judging import Context, StepView, Tags, run_context, step_view
from reviews.queries.listings import items_of
from reviews.queries.masking import mask_of
from reviews.trajectories.alignment import Alignment, Change, Relation, Row, Span, align, changes
from reviews.trajectories.masking import Mask
from reviews.trajectories.schema import Step as StepBody
from reviews.trajectories.schema import decode_step
from reviews.trajectories.tools import tags_of
from reviews.visibility import Thing

# The first look at two runs: so many rows or so many bytes, counting what a step costs beside its text.
WINDOW_ROWS = 60
WINDOW_BYTES = 60_000
STEP_BYTES, PART_BYTES, MARK_BYTES, MORE_BYTES = 1_100, 150, 26, 600
# Of a long stretch that is the same in both runs, so many rows are shown at each end.
ROWS_AT_ENDS = 3
GIST_CHARACTERS = 140
OTHER_RUNS = 20
API_ROWS = 100
# As many steps as are told to differ, where somebody has what differs marked.
MOST_MARKED = 400
KEPT_SECONDS = 24 * 3600


# --- Which two --------------------------------------------------------------------------------------------------------
def pair_of(project: Project, left: Any, right: Any, *, reader: Any) -> tuple[Item, Item]:
    """The two items of the project. Raises NotFound or, for one and the same, Invalid."""
    uids = [UUID(str(left)), UUID(str(right))]
    items = items_of(project, reader=reader).select_related("trajectory__policy")
    found = {item.uid: item for item in items.filter(uid__in=uids)}
    if not all(uid in found for uid in uids):
        raise NotFound("There is no such item in this project.")
    if len(found) < 2:
        raise Invalid({"right": "This is one and the same run. Choose another to set beside it."})
    return found[uids[0]], found[uids[1]]


def other_runs(item: Item, *, reader: Any, role: Any) -> list[ItemRow]:
    """The task's other runs, as far as a list goes, each with what the reader may see of it."""
    items = items_of(item.project, reader=reader).filter(trajectory__task=item.subject.pk)
    found = items.exclude(pk=item.pk).order_by("pk")[:OTHER_RUNS]
    return [ItemRow(other, seen_of(other, role)) for other in found]


# --- How their steps answer each other --------------------------------------------------------------------------------
def alignment_of(left: Trajectory, right: Trajectory) -> Alignment:
    """Both runs in rows. Runs never change, so what was found once is kept for a day."""
    key = f"alignment-{left.pk}-{right.pk}"
    kept = cache.get(key)
    if kept is None:
        kept = msgspec.msgpack.encode(align(_every_step(left), _every_step(right)))
        cache.set(key, kept, KEPT_SECONDS)
    return msgspec.msgpack.decode(kept, type=Alignment)


def _every_step(trajectory: Trajectory) -> Iterator[StepBody]:
    bodies = Step.objects.filter(trajectory=trajectory).order_by("position").values_list("body", flat=True)
    return map(decode_step, bodies.iterator(chunk_size=50))


def _steps(trajectory: Trajectory, positions: Collection[int | None]) -> dict[int, StepBody]:
    rows = Step.objects.filter(trajectory=trajectory, position__in=[place for place in positions if place])
    return {position: decode_step(body) for position, body in rows.values_list("position", "body")}


def rows_from(left: Item, right: Item, *, first: int) -> dict[str, Any]:
    """The alignment as the API gives it: a window of rows that begins at row `first`."""
    alignment = alignment_of(left.run, right.run)
    rows = alignment.rows[first - 1 : first - 1 + API_ROWS]
    if first > max(1, len(alignment.rows)):
        raise NotFound(f"These runs have {len(alignment.rows)} rows.")
    ours = _steps(left.run, [row.left for row in rows if row.relation == Relation.DIFFERS])
    theirs = _steps(right.run, [row.right for row in rows if row.relation == Relation.DIFFERS])
    window: dict[str, Any] = {
        "left": {"uid": left.uid, "step_count": left.run.step_count},
        "right": {"uid": right.uid, "step_count": right.run.step_count},
        "count": len(alignment.rows),
        "relations": relations_of(alignment),
        "rows": [_row_of(number, row, ours, theirs) for number, row in enumerate(rows, start=first)],
    }
    if alignment.diverges is not None:
        window["diverges"] = alignment.diverges + 1
    following = first + len(rows)
    return window | {"next": following} if following <= len(alignment.rows) else window


def changes_in(
    left: Trajectory, right: Trajectory, alignment: Alignment
) -> tuple[dict[int, dict[str, Any]], dict[int, dict[str, Any]]]:
    """For each side, its steps that differ from the other's: the characters that do by field, {} where all is new."""
    rows = [row for row in alignment.rows if row.relation != Relation.SAME][:MOST_MARKED]
    both = [row for row in rows if row.relation == Relation.DIFFERS]
    ours, theirs = _steps(left, [row.left for row in both]), _steps(right, [row.right for row in both])
    here: dict[int, dict[str, Any]] = {row.left: {} for row in rows if row.left}
    there: dict[int, dict[str, Any]] = {row.right: {} for row in rows if row.right}
    for row in both:
        found = changes(ours[row.left or 0], theirs[row.right or 0])
        here[row.left or 0] = {change.path: msgspec.to_builtins(change.left) for change in found}
        there[row.right or 0] = {change.path: msgspec.to_builtins(change.right) for change in found}
    return here, there


def relations_of(alignment: Alignment) -> dict[str, int]:
    """How many rows there are of each kind."""
    often = Counter(row.relation for row in alignment.rows)
    return {relation.value: often[relation] for relation in Relation}


def _row_of(number: int, row: Row, ours: dict[int, StepBody], theirs: dict[int, StepBody]) -> dict[str, Any]:
    told: dict[str, Any] = {"number": number, "relation": row.relation.value}
    told |= {side: place for side, place in (("left", row.left), ("right", row.right)) if place}
    if row.relation == Relation.DIFFERS and row.left and row.right:
        told["changes"] = msgspec.to_builtins(changes(ours[row.left], theirs[row.right]))
    return told


# --- The page ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Side:
    """One of the two runs, with what its reader may see of it."""

    letter: str
    item: Item
    seen: frozenset[Thing]

    @property
    def outcome(self) -> Any:
        return self.item.run.outcome if Thing.OUTCOME in self.seen else None


@dataclass(frozen=True)
class SideStep:
    """A step on its side of a row: `changed` gives the spans that changed, by the path of the field."""

    letter: str
    view: StepView
    changed: dict[str, tuple[Span, ...]]

    @property
    def result_same(self) -> bool:
        return not any(path.partition("/")[0] in ("result", "error") for path in self.changed)

    @property
    def gist(self) -> str:
        """The beginning of what the step says, on one line."""
        parts = (
            [self.view.text, *self.view.every_argument]
            if self.view.text or self.view.every_argument
            else self.view.result
        )
        words = " ".join(" ".join(part.text[: 2 * GIST_CHARACTERS].split()) for part in parts if part)
        return words if len(words) <= GIST_CHARACTERS else words[: GIST_CHARACTERS - 1] + "…"


@dataclass(frozen=True)
class RowView:
    number: int
    relation: Relation
    left: SideStep | None
    right: SideStep | None
    differs_in: tuple[str, ...] = ()
    parts_here: bool = False

    @property
    def same(self) -> bool:
        return self.relation == Relation.SAME

    @property
    def numbers(self) -> str:
        """The numbers of a step that both runs have: one where it is the same in both."""
        ours, theirs = (side.view.number if side else 0 for side in (self.left, self.right))
        return str(ours) if ours == theirs else f"{ours} · {theirs}"


@dataclass(frozen=True)
class RowGap:
    """Rows that are not on the page yet; `same` where they are the same in both runs."""

    first: int
    last: int
    same: bool = False

    def __len__(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True)
class RowWindow:
    """What is on the page, in order, with the gap behind it."""

    entries: list[RowView | RowGap]
    before: RowGap | None
    after: RowGap | None

    @property
    def numbers(self) -> set[int]:
        return {entry.number for entry in self.entries if isinstance(entry, RowView)}


@dataclass(frozen=True)
class Comparison:
    left: Side
    right: Side
    context: Context
    relations: dict[str, int]
    diverges: int | None
    parted: tuple[int | None, int | None]
    window: RowWindow

    @property
    def differences(self) -> int:
        return sum(self.relations.values()) - self.relations[Relation.SAME]

    @property
    def one_task(self) -> bool:
        return self.left.item.subject.pk == self.right.item.subject.pk

    @property
    def held(self) -> bool:
        return any(side.item.held for side in (self.left, self.right))


def comparison(left: Item, right: Item, *, role: Any, first: int, open_to: int) -> Comparison:
    """The two runs from row `first` on; behind row `open_to`, long stretches that are the same are shortened."""
    # Who judges one of them just now learns nothing of how the other ended either.
    held = left.held or right.held
    alignment = alignment_of(left.run, right.run)
    parted = alignment.rows[alignment.diverges] if alignment.diverges is not None else None
    return Comparison(
        left=Side("A", left, frozenset() if held else seen_of(left, role)),
        right=Side("B", right, frozenset() if held else seen_of(right, role)),
        context=run_context(left.run, reveal=not held),
        relations=relations_of(alignment),
        diverges=alignment.diverges + 1 if alignment.diverges is not None else None,
        parted=(parted.left, parted.right) if parted else (None, None),
        window=_window(left.run, right.run, alignment, first=first, open_to=open_to, reveal=not held),
    )


def more_rows(left: Item, right: Item, *, first: int, last: int) -> RowWindow:
    """Rows `first` to `last` with nothing shortened, or, where `last` is 0, all that follow."""
    alignment = alignment_of(left.run, right.run)
    reveal = not (left.held or right.held)
    return _window(left.run, right.run, alignment, first=first, open_to=last, last=last, reveal=reveal)


def _window(
    left: Trajectory,
    right: Trajectory,
    alignment: Alignment,
    *,
    first: int,
    open_to: int,
    last: int = 0,
    reveal: bool,
) -> RowWindow:
    """Rows `first` to `last` as far as the budget goes; stretches of the same are shortened behind row `open_to`."""
    total = len(alignment.rows)
    first, last = max(1, min(first, total)), min(last or total, total)
    chosen = list(_chosen(alignment, first, last, open_to))
    wanted = [alignment.rows[entry - 1] for entry in chosen if isinstance(entry, int)][:WINDOW_ROWS]
    ours, theirs = _steps(left, [row.left for row in wanted]), _steps(right, [row.right for row in wanted])
    tools = tags_of(left.tools) | tags_of(right.tools)
    masks = (mask_of(left, reveal=reveal), mask_of(right, reveal=reveal))
    entries: list[RowView | RowGap] = []
    spent = rows = 0
    for entry in chosen:
        if isinstance(entry, RowGap):
            entries.append(entry)
            continue
        if rows == WINDOW_ROWS:
            break
        view = _row_view(entry, alignment, ours, theirs, tools, masks)
        spent += _bytes_shown(view)
        if rows and spent > WINDOW_BYTES:
            break
        entries.append(view)
        rows += 1
    stop = _last_of(entries[-1]) if entries else last
    return RowWindow(
        entries=entries,
        before=RowGap(1, first - 1) if first > 1 else None,
        after=RowGap(stop + 1, last) if stop < last else None,
    )


def _last_of(entry: RowView | RowGap) -> int:
    return entry.number if isinstance(entry, RowView) else entry.last


def _chosen(alignment: Alignment, first: int, last: int, open_to: int) -> Iterator[int | RowGap]:
    def foldable(number: int) -> bool:
        return number > open_to and alignment.rows[number - 1].relation == Relation.SAME

    for folds, group in groupby(range(first, last + 1), key=foldable):
        numbers = list(group)
        if folds and len(numbers) > 2 * ROWS_AT_ENDS + 1:
            yield from numbers[:ROWS_AT_ENDS]
            yield RowGap(numbers[ROWS_AT_ENDS], numbers[-ROWS_AT_ENDS - 1], same=True)
            yield from numbers[-ROWS_AT_ENDS:]
        else:
            yield from numbers


def _row_view(
    number: int,
    alignment: Alignment,
    ours: dict[int, StepBody],
    theirs: dict[int, StepBody],
    tools: Tags,
    masks: tuple[Mask, Mask],
) -> RowView:
    row = alignment.rows[number - 1]
    one, other = ours.get(row.left or 0), theirs.get(row.right or 0)
    found = changes(one, other) if one and other and row.relation == Relation.DIFFERS else []
    return RowView(
        number=number,
        relation=row.relation,
        left=_side("A", row.left, one, {change.path: change.left for change in found}, tools, masks[0]),
        right=_side("B", row.right, other, {change.path: change.right for change in found}, tools, masks[1]),
        differs_in=tuple(_word_for(change) for change in found),
        parts_here=alignment.diverges == number - 1,
    )


def _side(
    letter: str,
    number: int | None,
    step: StepBody | None,
    changed: dict[str, tuple[Span, ...]],
    tools: Tags,
    mask: Mask,
) -> SideStep | None:
    if step is None or number is None:
        return None
    return SideStep(letter, step_view(number, step, tools, mask), changed)


WORDS = {"text": "wording", "reasoning": "reasoning", "arguments": "arguments", "result": "result"}


def _word_for(change: Change) -> str:
    """What differs, in a word or two: an argument by its name, a field of the result with that before it."""
    if change.path.startswith("result/"):
        return f"result: {change.label}"
    return WORDS.get(change.path, change.label)


def _bytes_shown(row: RowView) -> int:
    return sum(_side_bytes(side) for side in (row.left, None if row.same else row.right) if side)


def _side_bytes(side: SideStep) -> int:
    """About what a step costs on the page: its text as HTML, and what stands around each part, mark and link."""
    view = side.view
    parts = [part for part in (view.text, view.reasoning, *view.every_argument, *view.result) if part]
    shown = [escape(part.text, quote=False) if part.path in side.changed else part.html for part in parts]
    size = STEP_BYTES + sum(PART_BYTES + len(html.encode()) for html in shown)
    size += sum(MARK_BYTES * len(side.changed.get(part.path, ())) for part in parts)
    return size + sum(MORE_BYTES for part in parts if part.next is not None)
