"""What a payload speaks of: the rubric with its criteria, and the runs in the order in which the rater sees them."""

from dataclasses import dataclass, field
from functools import cached_property

from reviews.enums import ItemKind, Scope
from reviews.models import Assignment, Candidate, Criterion, Item, Rubric, Trajectory
from reviews.queries.criteria import criteria_asked


@dataclass
class Subject:
    """`order` has the position of the candidate at each place on the rater's screen; () where one run is judged."""

    rubric: Rubric
    item: Item
    order: tuple[int, ...] = ()
    criteria: list[Criterion] = field(default_factory=list)

    @property
    def has_candidates(self) -> bool:
        return self.item.kind != ItemKind.TRAJECTORY

    @cached_property
    def runs(self) -> dict[int | None, Trajectory]:
        """The runs by the candidate's position, the only one under None."""
        if self.item.trajectory:
            return {None: self.item.trajectory}
        candidates = Candidate.objects.filter(item=self.item).select_related("trajectory__policy")
        return {candidate.position: candidate.trajectory for candidate in candidates}

    def step_count(self, candidate: int | None = None) -> int:
        return self.runs[candidate].step_count

    def candidate_at(self, place: int) -> int:
        """The position of the candidate at a place, from 1, on the rater's screen."""
        return self.order[place - 1]

    def place_of(self, candidate: int) -> int:
        return self.order.index(candidate) + 1

    def of(self, scope: Scope, *, gate: bool) -> list[Criterion]:
        return [c for c in self.criteria if c.scope == scope and c.is_gate == gate]


def subject_of(*, rubric: Rubric, item: Item, order: list[int] | None = None) -> Subject:
    """The subject with its criteria: the rubric's, then those that the item brought along. At most two queries.

    Without `order`, as for a lead, candidates stand in their own.
    """
    criteria = criteria_asked(rubric, item)
    if item.kind == ItemKind.TRAJECTORY:
        return Subject(rubric=rubric, item=item, criteria=criteria)
    positions = tuple(order or Candidate.objects.filter(item=item).values_list("position", flat=True))
    return Subject(rubric=rubric, item=item, order=positions, criteria=criteria)


def subject_of_assignment(assignment: Assignment) -> Subject:
    return subject_of(rubric=assignment.queue.rubric, item=assignment.item, order=assignment.candidate_order)
