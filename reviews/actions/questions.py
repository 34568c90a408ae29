"""Questions from raters to leads: asked without leaving the item, answered to the asker, or noted for everybody."""

import re
from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.utils import timezone

from reviews.actions.dealing import ended_sentence, lease_end, own_assignment
from reviews.actions.events import record
from reviews.actions.payloads import storable
from reviews.enums import AssignmentState, NotePlace, QuestionAbout, QuestionState, Verb
from reviews.errors import Conflict, Forbidden, Invalid, NotFound
from reviews.models import Assignment, ContextDocument, Guideline, GuidelineNote, Project, Question
from reviews.queries.payloads import order_of
from reviews.queries.questions import is_own, lines_of, question_by_uid, texts_of_run
from reviews.rules import check
from reviews.trajectories.quoting import quoted

TEXT_LENGTH = 2000
MOST_QUESTIONS = 20


@transaction.atomic
def ask(
    *, actor: Any, uid: Any, about: str, text: str, place: int | None = None, candidate: int | None = None
) -> Question:
    """Ask the leads about an item in hand. Asking the same again gives the same question. The lease runs on from now.

    `candidate` says whose step is meant where the item has several runs: its place on the rater's screen, from 1.
    Raises Invalid with a sentence per field; Conflict when the item is no longer in the rater's hands.
    """
    assignment = own_assignment(actor=actor, uid=uid, lock=True)
    check(actor, "ask", assignment.queue.project)
    if assignment.state not in (AssignmentState.LEASED, AssignmentState.EXPIRED):
        raise Conflict(ended_sentence(assignment))
    text, errors = _read_text(text, "text", "Write your question"), {}
    if about not in QuestionAbout.values:
        errors["about"] = f"A question is about one of {', '.join(QuestionAbout.values)}."
    elif problem := _problem_with_candidate(assignment, about, candidate):
        errors["candidate"] = problem
    elif problem := _problem_with_place(assignment, about, place, candidate):
        errors["place"] = problem
    if errors:
        raise Invalid(errors)
    position = order_of(assignment)[candidate - 1] if candidate else None
    earlier = assignment.questions.all()
    same = earlier.filter(about=about, place=place, candidate=position, text=text).first()
    if same:
        return same
    if earlier.count() >= MOST_QUESTIONS:
        raise Conflict(f"You have asked {MOST_QUESTIONS} questions about this item. Skip it if it stays unclear.")
    question = Question.objects.create(
        assignment=assignment, queue=assignment.queue, about=about, place=place, candidate=position, text=text
    )
    if assignment.state == AssignmentState.LEASED:
        assignment.expires_at = lease_end(assignment.queue, question.asked_at)
        assignment.save(update_fields=["expires_at"])
    record(project=assignment.queue.project, actor=actor, verb=Verb.QUESTION_ASKED, target=question, about=about)
    return question


@transaction.atomic
def answer(*, actor: Any, uid: Any, text: str) -> Question:
    """Answer whoever asked, and nobody else. Raises Forbidden, Invalid, or Conflict when somebody answered before."""
    question = _for_answer(actor, uid)
    text = _read_text(text, "text", "Write the answer")
    _answer(actor, question, text)
    return question


@transaction.atomic
def publish(*, actor: Any, uid: Any, text: str, about: str, line: int) -> GuidelineNote:
    """Answer for everybody: a note at a line of the guideline or the policy, from now on. Answers the question as well.

    Raises Invalid where the note gives away who asked or repeats the run: everybody reads it beside other runs.
    """
    question = _for_answer(actor, uid)
    text, errors = " ".join(_read_text(text, "text", "Write the note").split()), {}
    lines = lines_of(question.queue, question.assignment.item.policy)
    if about not in NotePlace.values or line not in [each.number for each in lines[about]]:
        errors["line"] = "Choose the line of the guideline or of the policy at which the note stands."
    if problem := _given_away(question, text):
        errors["text"] = problem
    if errors:
        raise Invalid(errors)
    standing = GuidelineNote.objects.filter(question=question).first()
    if standing and (standing.text, standing.line, standing.published_by_id) == (text, line, actor.pk):
        return standing
    if standing:
        raise Conflict("There is a note on this question already.")
    if question.state == QuestionState.OPEN:
        _answer(actor, question, text)
    note = GuidelineNote.objects.create(
        guideline=question.queue.guideline,
        policy=question.assignment.item.policy if about == NotePlace.POLICY else None,
        line=line,
        text=text,
        question=question,
        published_by=actor,
    )
    record(project=question.queue.project, actor=actor, verb=Verb.NOTE_PUBLISHED, target=note, about=about, line=line)
    return note


def fold(*, actor: Any, notes: Iterable[Any], guideline: Guideline) -> int:
    """Say of notes, by their ids, that this new version takes them in. Part of writing it: see `write_guideline`."""
    wanted = set(notes)
    standing = GuidelineNote.objects.filter(
        uid__in=wanted, guideline__project=guideline.project_id, guideline__name=guideline.name
    )
    if standing.count() != len(wanted):
        raise Invalid({"notes": "Some of these are no notes on an earlier version of this guideline."})
    if standing.filter(folded_into=None).update(folded_into=guideline) != len(wanted):
        raise Conflict("Some of these notes have gone into another version meanwhile.", field="notes")
    record(project=guideline.project_id, actor=actor, verb=Verb.NOTES_FOLDED, target=guideline, notes=len(wanted))
    return len(wanted)


@transaction.atomic
def set_digest(*, actor: Any, project: Project, shown: bool) -> Project:
    """Say whether raters of the project read where leads decided otherwise."""
    check(actor, "manage_digest", project)
    if Project.objects.filter(pk=project.pk, digest=not shown).update(digest=shown):
        record(project=project, actor=actor, verb=Verb.DIGEST_CHANGED, target=project, shown=shown)
    project.digest = shown
    return project


# --- Helpers ----------------------------------------------------------------------------------------------------------
def question_for(*, actor: Any, uid: Any) -> Question:
    """The question, for a lead who may answer it. Raises NotFound or Forbidden."""
    question = question_by_uid(uid)
    if question is None:
        raise NotFound(NOTHING)
    try:
        check(actor, "answer_questions", question.queue.project)
    except NotFound:
        raise NotFound(NOTHING) from None
    if is_own(question, actor):
        raise Forbidden("You judge this item yourself, or have judged it, so another lead answers.")
    return question


NOTHING = "There is no such question, or you are not in its project."


def _for_answer(actor: Any, uid: Any) -> Question:
    question = question_for(actor=actor, uid=uid)
    Question.objects.select_for_update().get(pk=question.pk)
    question.refresh_from_db(fields=["state", "answer", "answered_at", "answered_by"])
    return question


def _answer(actor: Any, question: Question, text: str) -> None:
    """Nothing happens when this person has given this very answer before."""
    if question.state == QuestionState.ANSWERED:
        if (question.answer, question.answered_by_id) == (text, actor.pk):
            return
        raise Conflict("Somebody answered this question while you wrote.")
    question.state, question.answer = QuestionState.ANSWERED, text
    question.answered_at, question.answered_by = timezone.now(), actor
    question.save(update_fields=["state", "answer", "answered_at", "answered_by"])
    record(project=question.queue.project, actor=actor, verb=Verb.QUESTION_ANSWERED, target=question)


def _read_text(text: Any, name: str, wanted: str) -> str:
    read = text.strip().replace("\r\n", "\n") if isinstance(text, str) else ""
    if not 0 < len(read) <= TEXT_LENGTH or not storable(read):
        raise Invalid({name: f"{wanted}, in 1 to {TEXT_LENGTH:,} characters."})
    return read


def _problem_with_candidate(assignment: Assignment, about: str, candidate: Any) -> str:
    """What is wrong with whose step it is, or ""."""
    if about != QuestionAbout.STEP or assignment.item.trajectory:
        return "" if candidate is None else "Only a step of one of several runs is a candidate's."
    count = len(order_of(assignment))
    return "" if type(candidate) is int and 1 <= candidate <= count else f"Say which run you mean, from 1 to {count}."


def _problem_with_place(assignment: Assignment, about: str, place: Any, candidate: int | None) -> str:
    """What is wrong with the place of a question, or ""."""
    if about == QuestionAbout.ITEM:
        return "" if place is None else "A question about the whole run has no place."
    if type(place) is not int:
        return "Say which step or line you mean, by its number."
    if about == QuestionAbout.STEP:
        last = assignment.item.runs[order_of(assignment)[candidate - 1] - 1 if candidate else 0].step_count
        return "" if 1 <= place <= last else f"This run has the steps 1 to {last}."
    lines = lines_of(assignment.queue, assignment.item.policy)[about]
    return "" if place in [line.number for line in lines] else f"The {about} has {len(lines)} lines."


def _given_away(question: Question, text: str) -> str:
    """Why this text may not stand before everybody, or ""."""
    name = question.assignment.rater.name.strip()
    if name and re.search(rf"\b{re.escape(name)}\b", text):
        return "The note names who asked. Leave the name out: nobody else knows of the question."
    policy: ContextDocument | None = question.assignment.item.policy
    known = [question.queue.guideline.text, policy.text if policy else ""]
    if found := quoted(text, texts_of_run(question), known):
        return f"The note repeats this run (“{found}”). Everybody reads it beside other runs: say it without the run."
    return ""
