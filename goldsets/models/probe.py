"""Probes: attacks made from settled runs, checked by experts, and what versions of graders said of them."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils import timezone

from goldsets.enums import PROBE_MOVES, PROBE_RUN_MOVES, ProbeKind, ProbeRunState, ProbeSource, ProbeState
from goldsets.models.grader import Grader, GraderVersion
from reviews.models import Item, Label
from reviews.models.base import PublicModel, append_only, never_deleted, states_follow


class Probe(PublicModel):
    """A run with a known verdict, for the versions of one grader. `document` is as judges are given runs.

    `passes` is the verdict expected: of an attack by how it was made, of a settled run by its label. An attack counts
    only once an expert, who was not told, gave the same verdict.
    """

    grader = models.ForeignKey(Grader, on_delete=models.PROTECT, related_name="probes", db_index=False)
    kind = models.CharField(max_length=12, choices=ProbeKind)
    parent = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="+")
    label = models.ForeignKey(Label, on_delete=models.PROTECT, related_name="+")
    document = models.JSONField()
    changed = models.CharField(max_length=300, blank=True)
    steps = models.JSONField(default=list, blank=True)
    passes = models.BooleanField()
    state = models.CharField(max_length=10, choices=ProbeState, default=ProbeState.PROPOSED)
    said = models.BooleanField(null=True, blank=True, help_text="What the expert said; none where they could not tell.")
    note = models.TextField(blank=True)
    checked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    checked_at = models.DateTimeField(null=True, blank=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["grader", "parent", "kind"], name="one_probe_of_a_kind_per_item"),
            models.CheckConstraint(
                condition=~models.Q(state=ProbeState.APPROVED)
                | models.Q(kind=ProbeKind.SETTLED)
                | models.Q(said=models.F("passes"), checked_by__isnull=False),
                name="an_attack_counts_once_an_expert_agrees",
            ),
        ]
        triggers = [
            never_deleted(),
            pgtrigger.ReadOnly(
                name="a_probe_is_what_it_was", exclude=["state", "said", "note", "checked_by", "checked_at"]
            ),
            states_follow(PROBE_MOVES),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} on {self.parent_id}"


class GraderHook(models.Model):
    """Where a grader that is no judging model of ours is asked: it takes a run as JSON and answers with a score."""

    grader = models.OneToOneField(Grader, on_delete=models.PROTECT, related_name="hook")
    url = models.CharField(max_length=500)
    secret = models.CharField(max_length=100, help_text="Signs each request, as with webhooks.")
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    set_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"hook of {self.grader_id}"


class ProbeRun(PublicModel):
    """All approved probes put to one version, once. `budget` and `spent` are US dollars; a hook costs nothing here."""

    version = models.ForeignKey(GraderVersion, on_delete=models.PROTECT, related_name="probe_runs")
    source = models.CharField(max_length=8, choices=ProbeSource)
    state = models.CharField(max_length=10, choices=ProbeRunState, default=ProbeRunState.WAITING)
    budget = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    spent = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        triggers = [
            never_deleted(),
            states_follow(PROBE_RUN_MOVES),
        ]

    def __str__(self) -> str:
        return f"probes of {self.version}"


class ProbeAnswer(models.Model):
    """What a version said of a probe: `passes` is its verdict, none where it gave none that counts.

    `held` says whether it was not fooled; it is empty where nobody answered.
    """

    run = models.ForeignKey(ProbeRun, on_delete=models.PROTECT, related_name="answers", db_index=False)
    probe = models.ForeignKey(Probe, on_delete=models.PROTECT, related_name="answers")
    value = models.FloatField(null=True, blank=True)
    passes = models.BooleanField(null=True, blank=True)
    held = models.BooleanField(null=True, blank=True)
    why = models.TextField(blank=True)
    cost = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    seconds = models.FloatField(default=0)
    tokens = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["run", "probe"], name="one_answer_per_probe_and_run")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"answer to {self.probe_id} in {self.run_id}"


class GraderPromotion(PublicModel):
    """A version that may be used to train and to decide: every kind of probe held, or a lead says why all the same."""

    version = models.OneToOneField(GraderVersion, on_delete=models.PROTECT, related_name="promotion")
    run = models.ForeignKey(ProbeRun, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    matrix = models.JSONField()
    missing = models.JSONField(default=list, blank=True)
    reason = models.TextField(blank=True, help_text="Why it is promoted although something is missing.")
    promoted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    promoted_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(missing=[]) | ~models.Q(reason=""),
                name="what_is_missing_is_passed_over_for_a_reason",
            )
        ]
        triggers = append_only()

    def __str__(self) -> str:
        return f"promotion of {self.version}"
