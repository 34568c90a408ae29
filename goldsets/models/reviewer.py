"""Reviewers: what was compiled from a queue's labels for one decision, its proof, and who signed it."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils import timezone

from goldsets.enums import REVIEWER_MOVES, REVIEWER_RESULTS, ReviewerState, Rung
from goldsets.models.grader import GraderVersion
from reviews.models import Criterion, Guideline, Label, Project, Queue, QueueItem, Rubric
from reviews.models.base import PublicModel, append_only, never_deleted, states_follow

# All that may still change once it is known what came out.
AFTER_THE_RESULT = ["state", "signed_by", "signed_at", "expired_at", "expired_because"]
WHY_LENGTH = 300
_RESULTS = ", ".join(f"'{state.value}'" for state in REVIEWER_RESULTS)


class Reviewer(PublicModel):
    """One compile of one rung for one decision of a queue, and the substitute that came of it, or why none did.

    The decision: `criterion` passes from `at_least` on (a choice: with that option alone); without a criterion, every
    gate of the rubric passes. `demands` is what had to hold (`goldsets.reviewing.assurance.Demands`), `rules` the
    conditions of the rung of rules, `judge` whose scores the rung of the judge rests on. `artefact` is plain JSON that
    `goldsets.reviewing.scoring` reads, `origins` says what it came from, hash by hash; the `_sha256` are of their JSON
    with sorted keys and no white space. `families` has the families of each part, `assurance` the proofs, as
    `goldsets.reviewing` gives them.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="reviewers")
    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="reviewers", db_index=False)
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, null=True, blank=True, related_name="reviewers")
    at_least = models.SmallIntegerField(default=1)
    rung = models.CharField(max_length=10, choices=Rung)
    number = models.PositiveIntegerField(help_text="Counted from 1 in each queue.")
    state = models.CharField(max_length=10, choices=ReviewerState, default=ReviewerState.WAITING)
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="+")
    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="+")
    seed = models.CharField(max_length=64, help_text="Draws the order in which families are split.")
    demands = models.JSONField(default=dict)
    rules = models.JSONField(default=list, blank=True)
    judge = models.ForeignKey(GraderVersion, on_delete=models.PROTECT, null=True, blank=True, related_name="reviewers")
    budget = models.DecimalField(
        max_digits=12, decimal_places=6, default=0, db_default=0, help_text="US dollars for asking the judge anew."
    )
    labels_sha256 = models.CharField(max_length=64, help_text="Of the ids of the labels it rests on, a line each.")
    labels_total = models.PositiveIntegerField()
    labels_done = models.PositiveIntegerField(default=0)
    stage = models.CharField(max_length=80, blank=True, help_text="What is being done now, in words.")
    families = models.JSONField(default=dict, blank=True)
    artefact = models.JSONField(null=True, blank=True)
    artefact_sha256 = models.CharField(max_length=64, blank=True)
    origins = models.JSONField(default=dict, blank=True)
    origins_sha256 = models.CharField(max_length=64, blank=True)
    assurance = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    signed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    signed_at = models.DateTimeField(null=True, blank=True)
    expired_at = models.DateTimeField(null=True, blank=True)
    expired_because = models.CharField(max_length=WHY_LENGTH, blank=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["queue", "number"], name="one_reviewer_per_number"),
            models.CheckConstraint(
                condition=~models.Q(state=ReviewerState.SIGNED)
                | models.Q(signed_by__isnull=False, signed_at__isnull=False),
                name="a_signed_reviewer_says_who_signed",
            ),
            models.CheckConstraint(
                condition=models.Q(rung=Rung.JUDGE, judge__isnull=False)
                | (~models.Q(rung=Rung.JUDGE) & models.Q(judge__isnull=True)),
                name="a_judge_stands_on_its_rung_alone",
            ),
            models.CheckConstraint(
                condition=models.Q(signed_by__isnull=True) | ~models.Q(signed_by=models.F("created_by")),
                name="nobody_signs_what_they_compiled",
            ),
        ]
        triggers = [
            never_deleted(),
            states_follow(REVIEWER_MOVES),
            pgtrigger.Trigger(
                name="result_is_final",
                operation=pgtrigger.Update,
                when=pgtrigger.Before,
                condition=pgtrigger.AnyChange(exclude=AFTER_THE_RESULT),
                func=f"""
                    IF OLD.state IN ({_RESULTS}) THEN
                        RAISE EXCEPTION 'What came out of a compile never changes';
                    END IF;
                    RETURN NEW;
                """,
            ),
            pgtrigger.Trigger(
                name="signature_is_final",
                operation=pgtrigger.Update,
                when=pgtrigger.Before,
                condition=pgtrigger.AnyChange("signed_by", "signed_at"),
                func="""
                    IF OLD.signed_at IS NOT NULL THEN RAISE EXCEPTION 'A signature never changes'; END IF;
                    RETURN NEW;
                """,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.queue} {self.number}"

    @property
    def decision(self) -> str:
        """What it decides, in words."""
        criterion = self.criterion
        return criterion.title if criterion else "Every gate"


class ReviewerLabel(models.Model):
    """One label that a reviewer rests on, chosen before any is read. Keys go unchecked, as with `DatasetRow`."""

    reviewer = models.ForeignKey(Reviewer, on_delete=models.PROTECT, related_name="labels", db_index=False)
    position = models.PositiveIntegerField(help_text="Counted from 1.")
    queue_item = models.ForeignKey(
        QueueItem, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    label = models.ForeignKey(Label, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["reviewer", "position"], name="one_reviewer_label_per_position"),
            models.UniqueConstraint(fields=["reviewer", "queue_item"], name="one_reviewer_label_per_item"),
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"label {self.position} of reviewer {self.reviewer_id}"
