"""What the pages about items, labels and events list, and what an item's page shows to whom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import F, Q, QuerySet

from reviews.enums import Basis, GateAnswer, ItemKind, OutcomeResult, Purpose, QueueItemState
from reviews.models import Candidate, Event, Item, Label, LabelValue, Project, Queue, QueueItem, Task, Trajectory
from reviews.queries.judging import Context, item_context
from reviews.queries.listings import about_tasks, events_of, items_of, labels_of, phase_of, viewer_of
from reviews.queries.rubric_view import labels_in_words, step_words_of
from reviews.queries.scores import scores_of
from reviews.visibility import Thing, visible


# --- Items ------------------------------------------------------------------------------------------------------------
def items_found(project: Project, *, reader: Any, sees_outcome: bool, asked: dict[str, str]) -> QuerySet[Item]:
    """The items that fit what was asked; by outcome or model only for who sees these of every item."""
    items = items_of(project, reader=reader).order_by("-pk")
    places = QueueItem.objects.filter(queue__project=project, queue__purpose=Purpose.WORK)
    if asked.get("queue"):
        places = places.filter(queue__slug=asked["queue"])
    if asked.get("state") in QueueItemState.values:
        places = places.filter(state=asked["state"])
    if asked.get("queue") or asked.get("state") in QueueItemState.values:
        items = items.filter(pk__in=places.values("item"))
    if asked.get("kind") in ItemKind.values:
        items = items.filter(kind=asked["kind"])
    if asked.get("family"):
        items = about_tasks(items, family=asked["family"])
    if asked.get("q"):
        tasks = Task.objects.filter(Q(title__icontains=asked["q"]) | Q(key__icontains=asked["q"]), project=project)
        items = items.filter(Q(trajectory__task__in=tasks) | Q(task__in=tasks))
    if sees_outcome and asked.get("result") in OutcomeResult.values:
        items = items.filter(trajectory__outcome__result=asked["result"])
    if sees_outcome and asked.get("model"):
        items = items.filter(trajectory__outcome__model=asked["model"])
    return items


def content_known(project: Project, content_hash: str) -> bool:
    """Whether the project has a run with this content."""
    return Trajectory.objects.filter(project=project, content_hash=content_hash).exists()


def items_by_source_id(project: Project, names: set[str]) -> dict[str, Item]:
    """Items by what their source calls the run; of several by one name the latest."""
    items = Item.objects.filter(project=project, trajectory__project=project, trajectory__source_id__in=names - {""})
    named = items.exclude(trajectory__source_id="").annotate(source_id=F("trajectory__source_id")).order_by("pk")
    return {item.source_id: item for item in named}


def families(project: Project) -> list[str]:
    return list(
        Task.objects.filter(project=project)
        .exclude(family="")
        .values_list("family", flat=True)
        .distinct()
        .order_by("family")
    )


def models_of(project: Project) -> list[str]:
    named = Item.objects.filter(project=project).exclude(trajectory__outcome__model="")
    names = named.values_list("trajectory__outcome__model", flat=True)
    return list(names.distinct().order_by("trajectory__outcome__model"))


def queue_names(project: Project) -> list[tuple[str, str]]:
    return list(Queue.objects.filter(project=project).order_by("name").values_list("slug", "name"))


def queues_to_fill(project: Project) -> QuerySet[Queue]:
    """The queues that still take items."""
    return Queue.objects.filter(project=project).exclude(state="closed").order_by("name")


def queues_for(project: Project, kind: str) -> QuerySet[Queue]:
    """Those of them that take items of this kind."""
    return queues_to_fill(project).filter(rubric__item_kind=kind)


@dataclass(frozen=True)
class ItemRow:
    """An item in a list, with what its reader may see of it."""

    item: Item
    seen: frozenset[Thing]

    @property
    def outcome(self) -> Any:
        """How the run ended; of a comparison see `candidates`."""
        return self.item.trajectory.outcome if self.item.trajectory and Thing.OUTCOME in self.seen else None

    @property
    def candidates(self) -> list[CandidateRow]:
        """The runs of a comparison, in its own order."""
        return candidate_rows(self.item, self.seen)


@dataclass(frozen=True)
class CandidateRow:
    """One run of a comparison as leads name it, with how it ended for who may see that."""

    letter: str
    candidate: Candidate
    outcome: Any

    @property
    def run(self) -> Trajectory:
        return self.candidate.trajectory


def candidate_rows(item: Item, seen: frozenset[Thing]) -> list[CandidateRow]:
    return [
        CandidateRow(
            letter=letter_of(candidate.position),
            candidate=candidate,
            outcome=getattr(candidate.trajectory, "outcome", None) if Thing.OUTCOME in seen else None,
        )
        for candidate in item.candidates.all()
    ]


def family_words(family: str) -> str:
    """A family's name as people read it; addresses, filters and files have it as it is."""
    return family.replace("_", " ")


def letter_of(place: int) -> str:
    """What a candidate is called: by its place on a rater's screen, or for leads by its place in the item."""
    return chr(ord("A") + place - 1)


def seen_of(item: Item, role: Any) -> frozenset[Thing]:
    """What somebody in this role may see of an item that `items_of` gave."""
    return visible(viewer_of(item, role), phase_of(item))


@dataclass(frozen=True)
class ItemPage:
    """One item: its places in queues, and the labels and outcome for who may see them."""

    item: Item
    seen: frozenset[Thing]
    places: list[QueueItem]
    labels: list[Label]
    context: Context
    held: bool

    @property
    def outcome(self) -> Any:
        """How the run ended; of a comparison see `candidates`."""
        return self.item.trajectory.outcome if self.item.trajectory and Thing.OUTCOME in self.seen else None

    @property
    def scores(self) -> list[dict[str, Any]]:
        """What graders and users said of the run. Costs two queries."""
        return scores_of(self.item.run) if self.outcome else []

    @property
    def candidates(self) -> list[CandidateRow]:
        return candidate_rows(self.item, self.seen)

    @property
    def sees_source(self) -> bool:
        return Thing.SOURCE in self.seen


def reveals(item: Any) -> bool:
    """Whether the reader, who is no rater, reads what raters do not: not while they judge the item themselves."""
    return not item.held


def item_page(project: Project, uid: Any, *, reader: Any, role: Any) -> ItemPage | None:
    """None where the project has no such item."""
    item = items_of(project, reader=reader).select_related("trajectory__policy").filter(uid=uid).first()
    if item is None:
        return None
    seen = seen_of(item, role)
    places = list(
        QueueItem.objects.filter(item=item, queue__purpose=Purpose.WORK)
        .select_related("queue__rubric", "queue__guideline", "rule")
        .order_by("pk")
    )
    labels = Label.objects.filter(item=item).select_related("queue", "rubric", "adjudication__lead")
    labels = labels.prefetch_related("values__criterion", "steps").order_by("queue__name", "-revision")
    return ItemPage(
        item=item,
        seen=seen,
        places=places,
        labels=[with_words(label) for label in labels] if Thing.LABEL in seen else [],
        context=item_context(item, reveal=reveals(item)),
        held=bool(item.held),
    )


# --- Labels -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class ValueWords:
    """One value of a label as people read it."""

    title: str
    words: str
    css: str
    basis: str


def with_words(label: Label) -> Label:
    """The label with `lines`, its values in the rubric's order, and `short`, in which gates that pass are one word."""
    values = sorted(label.values.all(), key=lambda value: value.criterion.position)
    label.lines = [_words_of(value) for value in values]
    if label.basis == Basis.AMBIGUOUS:
        label.lines = label.short = [ValueWords("Ambiguous", "no value is right", "unsure", label.get_basis_display())]
        return label
    labelled = {str(step.step): step.value for step in label.steps.all()}
    if words := labels_in_words(step_words_of(label.rubric), labelled):
        label.lines.append(ValueWords("Steps", words, "", label.get_basis_display()))
    telling = [line for line in label.lines if line.css != "pass"]
    passed = not any(line.css in ("fail", "unsure") for line in telling)
    gates = [ValueWords("Gates", "pass", "pass", label.get_basis_display())] if passed else []
    label.short = gates + telling
    return label


def _words_of(value: LabelValue) -> ValueWords:
    criterion, basis = value.criterion, value.get_basis_display()
    title = f"{chr(ord('A') + value.candidate - 1)} {criterion.title}" if value.candidate else criterion.title
    if criterion.is_gate:
        return ValueWords(title, value.words.lower(), GateAnswer(value.value or 0).name.lower(), basis)
    return ValueWords(title, value.words, "", basis)


def labels_found(project: Project, *, reader: Any, asked: dict[str, str]) -> QuerySet[Label]:
    """The labels that stand, the latest first; every revision where `all` is asked for."""
    labels = labels_of(project, reader=reader).select_related("item__trajectory__task").order_by("-pk")
    if asked.get("revisions") != "all":
        labels = labels.filter(stands=True)  # type: ignore[misc]
    if asked.get("queue"):
        labels = labels.filter(queue__slug=asked["queue"])
    if asked.get("basis"):
        labels = labels.filter(basis=asked["basis"])
    return labels


# --- Events -----------------------------------------------------------------------------------------------------------
def events_found(
    project: Project, *, reader: Any, asked: dict[str, str], about: tuple[str, ...] = ()
) -> QuerySet[Event]:
    """The audit log as the reader may see it, the latest first, by what verbs begin with, by person or by day."""
    events = events_of(project, reader=reader).order_by("-pk")
    if about:
        events = events.filter(reduce(or_, (Q(verb__startswith=f"{prefix}.") for prefix in about)))
    if asked.get("actor"):
        events = events.filter(actor__email__iexact=asked["actor"])
    if asked.get("day"):
        events = events.filter(at__date=asked["day"])
    return events
