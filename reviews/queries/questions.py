"""What raters asked and leads answered, and the notes that stand at the lines of a guideline.

Nothing here says of an item whether it is settled: a lead who does not see it cannot let it slip, and a rater's own
questions look the same whatever becomes of the item.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from reviews.enums import AssignmentState, NotePlace, QuestionAbout, QuestionState, Role
from reviews.models import (
    Assignment,
    ContextDocument,
    Guideline,
    GuidelineNote,
    Item,
    Membership,
    Project,
    Question,
    Queue,
    Trajectory,
)
from reviews.models import Step as StoredStep
from reviews.queries.items import letter_of
from reviews.queries.judging import Context, item_context, run_context
from reviews.queries.masking import read_by_raters
from reviews.queries.payloads import order_of
from reviews.trajectories.guideline import GuidelineLine, guideline_lines, with_notes
from reviews.trajectories.policy import PolicyLine, policy_lines
from reviews.trajectories.render import fields
from reviews.trajectories.schema import decode_step

# An answer stays on the first page for so long.
ANSWER_STAYS = timedelta(days=14)
LINE_SHOWN = 90


# --- Lines and notes --------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Notes:
    """The notes on a guideline version, by the line of the guideline, and of the policy, at which they stand."""

    guideline: dict[int, list[GuidelineNote]]
    policy: dict[int, list[GuidelineNote]]

    @property
    def count(self) -> int:
        return sum(len(notes) for lines in (self.guideline, self.policy) for notes in lines.values())


def notes_of(guideline: Guideline, policy: ContextDocument | None) -> Notes:
    """The notes that somebody reads beside a run with this policy. One query."""
    standing = list(guideline.notes.filter(Q(policy=None) | Q(policy=policy)).order_by("published_at", "pk"))
    for note in standing:
        note.guideline = guideline
    on_policy: dict[int, list[GuidelineNote]] = defaultdict(list)
    for note in standing:
        if note.policy_id:
            on_policy[note.line].append(note)
    return Notes(by_line(standing), on_policy)


def note_row(note: GuidelineNote) -> dict[str, Any]:
    """A note as the API gives it."""
    about = NotePlace.POLICY if note.policy_id else NotePlace.GUIDELINE
    return {
        "uid": note.uid,
        "about": about.value,
        "line": note.line,
        "text": note.text,
        "published_at": note.published_at,
    }


def all_notes(guideline: Guideline) -> list[GuidelineNote]:
    """Every note on a guideline version, those of the guideline's lines first, each with the policy it is on."""
    return list(
        guideline.notes.select_related("policy", "folded_into").order_by(
            F("policy").asc(nulls_first=True), "line", "published_at", "pk"
        )
    )


def notes_to_fold(guideline: Guideline) -> list[GuidelineNote]:
    """Those that no later version has taken in."""
    return [note for note in all_notes(guideline) if note.folded_into_id is None]


def by_line(notes: list[GuidelineNote]) -> dict[int, list[GuidelineNote]]:
    """Those on the guideline itself by their lines."""
    found: dict[int, list[GuidelineNote]] = defaultdict(list)
    for note in notes:
        if note.policy_id is None:
            found[note.line].append(note)
    return found


def folded_text(guideline: Guideline, notes: list[GuidelineNote]) -> str:
    """The guideline's text with these notes in it, to be written on."""
    if not notes:
        return guideline.text
    on_policy = [f"{note.policy.title}, line {note.line}: {note.text}" for note in notes if note.policy]
    return with_notes(guideline.text, [(note.line, note.text) for note in notes if not note.policy], on_policy)


def lines_of(
    queue: Queue, policy: ContextDocument | None, read_by: Item | None = None
) -> dict[str, Sequence[GuidelineLine | PolicyLine]]:
    """The lines that can be asked about beside a run, by what they are lines of; as raters of an item read them."""
    text = policy.text if policy else ""
    text = read_by_raters(read_by, text) if read_by else text
    return {
        QuestionAbout.GUIDELINE.value: guideline_lines(queue.guideline.text),
        QuestionAbout.POLICY.value: [line for line in policy_lines(text) if line.number] if policy else [],
    }


# --- What a rater asked -----------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Asked:
    """A question as its asker reads it, with the words of the line it is about."""

    question: Question
    line: str

    @property
    def place(self) -> str:
        """Where it belongs, in words; candidates are letters as whoever asked sees them."""
        return place_words(self.question, order_of(self.question.assignment))


def place_words(question: Question, order: Sequence[int] = ()) -> str:
    """Candidates are letters in the item's own order, as leads read them, or in the order given."""
    candidate = question.candidate
    place = order.index(candidate) + 1 if candidate and order else candidate
    words = {
        QuestionAbout.ITEM: "The whole run",
        QuestionAbout.STEP: f"Step {question.place}" + (f" of {letter_of(place)}" if place else ""),
        QuestionAbout.GUIDELINE: f"Guideline, line {question.place}",
        QuestionAbout.POLICY: f"Policy, line {question.place}",
    }
    return words[QuestionAbout(question.about)]


def own_questions(person: Any) -> QuerySet[Question]:
    """What somebody asked, the latest first."""
    asked = Question.objects.filter(assignment__rater=person).select_related("assignment", "note", *RUN)
    return asked.order_by("-asked_at", "-pk")


RUN = (
    "queue__project",
    "queue__guideline",
    "assignment__item__trajectory__policy",
    "assignment__item__trajectory__task",
    "assignment__item__task__policy",
)


def asked_on(assignment: Assignment) -> list[Asked]:
    """A rater's own questions about one item, as they were asked."""
    asked = list(Question.objects.filter(assignment=assignment).select_related("note").order_by("asked_at", "pk"))
    for question in asked:
        question.assignment, question.queue = assignment, assignment.queue
    return [with_line(question) for question in asked]


def on_first_page(person: Any) -> list[Asked]:
    """A person's open questions and the answers of the last days, the latest answer first."""
    recent = Q(state=QuestionState.OPEN) | Q(answered_at__gte=timezone.now() - ANSWER_STAYS)
    asked = own_questions(person).filter(recent).order_by(F("answered_at").desc(nulls_last=True), "-asked_at")
    return [with_line(question) for question in asked[:5]]


def with_line(question: Question) -> Asked:
    return Asked(question, line_of(question, read_by=question.assignment.item))


def line_of(question: Question, read_by: Item | None = None) -> str:
    """The words of the line that a question is about, or "" for one about the run."""
    policy = question.assignment.item.policy
    lines = lines_of(question.queue, policy, read_by).get(question.about, [])
    return next((line.text for line in lines if line.number == question.place), "")


@dataclass(frozen=True)
class Asking:
    """What the judge page has of questions and notes."""

    asked: list[Asked]
    notes: Notes
    lines: dict[str, Any]


def asking_of(assignment: Assignment) -> Asking:
    """Two queries."""
    policy = assignment.item.policy
    lines = lines_of(assignment.queue, policy, assignment.item)
    return Asking(asked_on(assignment), notes_of(assignment.queue.guideline, policy), choices_of(lines))


def choices_of(lines: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Lines as they are chosen from a list: ("policy-2", "2 and how it begins")."""

    def cut(text: str) -> str:
        return text if len(text) <= LINE_SHOWN else f"{text[:LINE_SHOWN].rstrip()}…"

    return {
        kind: [(f"{kind}-{line.number}", f"{line.number} {cut(line.text)}") for line in found]
        for kind, found in lines.items()
    }


# --- What leads answer ------------------------------------------------------------------------------------------------
def questions_for(project: Project, lead: Any) -> QuerySet[Question]:
    """The project's questions that this lead may answer: not on what they judge, or have judged, themselves."""
    return questions_of(project).filter(~Exists(_own(lead)))


def questions_of(project: Project) -> QuerySet[Question]:
    return Question.objects.filter(queue__project=project).select_related("assignment", "note__guideline", *RUN)


def _own(lead: Any) -> QuerySet[Assignment]:
    """What of a question's item was dealt to the lead, in any queue; one they skipped will not come to them again."""
    dealt = Assignment.objects.filter(rater=lead, item=OuterRef("assignment__item"))
    return dealt.exclude(state=AssignmentState.SKIPPED)


def is_own(question: Question, lead: Any) -> bool:
    """Whether the lead judges, or has judged, the item of the question."""
    return Question.objects.filter(Exists(_own(lead)), pk=question.pk).exists()


def question_by_uid(uid: Any) -> Question | None:
    return Question.objects.filter(uid=uid).select_related("assignment", "note__guideline", *RUN).first()


@dataclass(frozen=True)
class Inbox:
    """A project's questions: how many wait for this lead, how many for another, and since when the oldest waits."""

    open: list[Question]
    answered: QuerySet[Question]
    for_another: int

    @property
    def after(self) -> Question | None:
        return self.open[0] if self.open else None


def inbox(project: Project, lead: Any) -> Inbox:
    """Unanswered first, the oldest of them first; the answered ones by their answer, the latest first."""
    mine = questions_for(project, lead)
    waiting = questions_of(project).filter(state=QuestionState.OPEN)
    still_open = list(mine.filter(state=QuestionState.OPEN).order_by("asked_at", "pk"))
    return Inbox(
        open=still_open,
        answered=mine.filter(state=QuestionState.ANSWERED).order_by("-answered_at", "-pk"),
        for_another=waiting.count() - len(still_open),
    )


def open_count(project: Project, lead: Any) -> int:
    return questions_for(project, lead).filter(state=QuestionState.OPEN).count()


def waiting_by_project(person: Any, memberships: list[Membership]) -> dict[int, int]:
    """How many questions wait for this person, by the project they lead."""
    leading = [each.project for each in memberships if each.role == Role.LEAD]
    counts = {project.pk: open_count(project, person) for project in leading}
    return {project: count for project, count in counts.items() if count}


@dataclass(frozen=True)
class QuestionPage:
    """One question with what a lead needs to answer it, and nothing of what became of the item.

    An item of several runs is read at its own page, so there is no context here.
    """

    question: Question
    place: str
    line: str
    context: Context | None
    notes: Notes
    lines: dict[str, Any]


def question_page(question: Question) -> QuestionPage:
    item = question.assignment.item
    return QuestionPage(
        question=question,
        place=place_words(question),
        line=line_of(question),
        context=item_context(item, reveal=True),
        notes=notes_of(question.queue.guideline, item.policy),
        lines=choices_of(lines_of(question.queue, item.policy)),
    )


def texts_of_run(question: Question) -> Iterator[str]:
    """Every text of the runs that were asked about, and what the request says, one after the other."""
    item = question.assignment.item
    runs = Trajectory.objects.filter(Q(item=item) | Q(candidacies__item=item))
    for run in runs.select_related("task", "policy").distinct():
        context = run_context(run, reveal=True)
        yield context.request
        yield from (value for _label, value in context.requester)
        steps = StoredStep.objects.filter(trajectory=run).order_by("position")
        for body in steps.values_list("body", flat=True).iterator(chunk_size=50):
            yield from (part.text for part in fields(decode_step(body)))
