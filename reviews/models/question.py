"""What raters ask while they judge, what leads answer, and the notes on a guideline that come of it."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from reviews.enums import QuestionAbout, QuestionState

from .assignment import Assignment
from .base import PublicModel
from .queue import Queue
from .rubric import Guideline
from .trajectory import ContextDocument


class Question(PublicModel):
    """A question about an item in hand. Only its asker and leads ever read it.

    `place` is a step or a line; `candidate`, of an item with several runs, the position of the one whose step it is.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="questions")
    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="questions", db_index=False)
    about = models.CharField(max_length=10, choices=QuestionAbout)
    place = models.PositiveIntegerField(null=True, blank=True)
    candidate = models.PositiveSmallIntegerField(null=True, blank=True)
    text = models.TextField()
    state = models.CharField(max_length=10, choices=QuestionState, default=QuestionState.OPEN)
    asked_at = models.DateTimeField(default=timezone.now)
    answer = models.TextField(blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["asked_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(about=QuestionAbout.ITEM, place__isnull=True)
                | (~Q(about=QuestionAbout.ITEM) & Q(place__isnull=False)),
                name="a_question_has_its_place",
            ),
            models.CheckConstraint(
                condition=Q(candidate__isnull=True) | Q(about=QuestionAbout.STEP), name="a_step_may_be_of_a_candidate"
            ),
            models.CheckConstraint(
                condition=Q(state=QuestionState.OPEN, answer="", answered_at__isnull=True)
                | (Q(state=QuestionState.ANSWERED, answered_at__isnull=False) & ~Q(answer="")),
                name="an_answered_question_has_an_answer",
            ),
        ]
        indexes = [models.Index(fields=["queue", "state", "asked_at"], name="questions_by_state")]

    def __str__(self) -> str:
        return self.text


class GuidelineNote(PublicModel):
    """A lead's answer as everybody reads it, at a line of the guideline, or of the policy where `policy` is set.

    It belongs to the guideline's version for good; `folded_into` is the later version that took it in.
    """

    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="notes")
    policy = models.ForeignKey(ContextDocument, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    line = models.PositiveIntegerField()
    text = models.TextField()
    question = models.OneToOneField(Question, on_delete=models.PROTECT, related_name="note")
    published_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    published_at = models.DateTimeField(default=timezone.now)
    folded_into = models.ForeignKey(
        Guideline, on_delete=models.PROTECT, null=True, blank=True, related_name="folded_notes"
    )

    class Meta:
        ordering = ["published_at", "pk"]

    def __str__(self) -> str:
        return self.text
