"""Judges: what a judging version asks by, its runs over a queue item by item, and the answers that are kept."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils import timezone

from goldsets.enums import JUDGE_RUN_MOVES, JudgedState, JudgeProtocol, JudgeRunState, JudgeScope
from goldsets.models.grader import GraderVersion
from reviews.models import Guideline, Item, Queue, Rubric
from reviews.models.base import PublicModel, append_only, never_deleted, states_follow


class JudgeSetup(models.Model):
    """By what a version of a judging model asks: it is run from here.

    Prices are US dollars: of a model for a million tokens, of a service that answers typed decisions for each answer.
    `examples` says which settled runs every question carries: [{"item", "label", "family", "passes"}], a task of no
    family as in `FamilySplit`. `shown` is what the model reads of each: [{"document", "answers"}].
    """

    version = models.OneToOneField(GraderVersion, on_delete=models.PROTECT, related_name="judge")
    rubric = models.ForeignKey(Rubric, on_delete=models.PROTECT, related_name="+")
    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="+")
    price_in = models.DecimalField(max_digits=10, decimal_places=4)
    price_out = models.DecimalField(max_digits=10, decimal_places=4)
    protocol = models.CharField(
        max_length=10, choices=JudgeProtocol, default=JudgeProtocol.CHAT, db_default=JudgeProtocol.CHAT
    )
    price_each = models.DecimalField(max_digits=12, decimal_places=6, default=0, db_default=0)
    examples = models.JSONField(default=list, blank=True, db_default=[])
    shown = models.JSONField(default=list, blank=True, db_default=[])

    class Meta:
        triggers = append_only()

    def __str__(self) -> str:
        return f"judge {self.version}"


class JudgeRun(PublicModel):
    """A judge's way through items of a queue, which ends before a request that could take `spent` over `budget`.

    Both are US dollars. What an answer cost that got lost on its way is not known: it counts at the most that it can
    have been, and all of that together is `lost`. A run of a `stage` asks about what came in, for its judge.
    """

    version = models.ForeignKey(GraderVersion, on_delete=models.PROTECT, related_name="judge_runs")
    queue = models.ForeignKey(Queue, on_delete=models.PROTECT, related_name="judge_runs")
    scope = models.CharField(max_length=10, choices=JudgeScope)
    stage = models.ForeignKey("goldsets.Stage", on_delete=models.PROTECT, null=True, blank=True, related_name="asking")
    attempt = models.PositiveIntegerField(default=1, help_text="The so manieth score that it gives to these items.")
    budget = models.DecimalField(max_digits=12, decimal_places=6)
    state = models.CharField(max_length=10, choices=JudgeRunState, default=JudgeRunState.WAITING)
    items_total = models.PositiveIntegerField()
    spent = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    lost = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(condition=models.Q(budget__gt=0), name="a_judge_has_a_budget"),
            models.UniqueConstraint(
                fields=["version", "queue"],
                condition=models.Q(state__in=[JudgeRunState.WAITING, JudgeRunState.RUNNING]),
                name="one_run_of_a_judge_in_a_queue_at_a_time",
            ),
        ]
        triggers = [
            never_deleted(),
            states_follow(JUDGE_RUN_MOVES),
        ]

    def __str__(self) -> str:
        return f"{self.version} over {self.queue}"


class JudgedItem(models.Model):
    """An item of a run and what came of asking: how it ended, why, and what it took. Scores are `GraderScore`.

    `cost` counts what is known, `lost` what answers that never came can have cost at most.
    """

    run = models.ForeignKey(JudgeRun, on_delete=models.PROTECT, related_name="items", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="judged")
    state = models.CharField(max_length=10, choices=JudgedState, default=JudgedState.WAITING)
    why = models.TextField(blank=True)
    said = models.JSONField(default=list, blank=True, help_text="Each word of the judge, also what does not count.")
    inconsistent = models.BooleanField(default=False, help_text="It says otherwise the other way round.")
    remembered = models.BooleanField(default=False, help_text="The answers were there from before.")
    cost = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    lost = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    seconds = models.FloatField(default=0)
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["run", "item"], name="one_judged_item_per_run")]
        triggers = [
            never_deleted(),
            pgtrigger.Protect(
                name="judged_once", operation=pgtrigger.Update, condition=~pgtrigger.Q(old__state=JudgedState.WAITING)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} in run {self.run_id}: {self.state}"


class JudgeAnswer(models.Model):
    """A readable answer of a model, kept by the hash of all that it was asked: the same question is not paid twice."""

    key = models.CharField(max_length=64, unique=True)
    content = models.TextField()
    model = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        triggers = append_only()

    def __str__(self) -> str:
        return f"answer {self.key[:8]}"
