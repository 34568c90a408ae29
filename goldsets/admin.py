"""Django's admin over the tables of goldsets: to look at and to search."""

from django.contrib import admin

from goldsets import models
from reviews.admin import LookOnly


@admin.register(models.GoldPolicy)
class GoldPolicyAdmin(LookOnly):
    list_display = ["queue", "rate"]
    list_select_related = ["queue"]


@admin.register(models.GoldItem)
class GoldItemAdmin(LookOnly):
    list_display = ["queue_item", "queue", "state", "times_used", "added_by", "added_at"]
    list_filter = ["state"]
    list_select_related = ["queue_item__queue", "queue_item__item", "queue", "added_by"]


@admin.register(models.GoldPlacement)
class GoldPlacementAdmin(LookOnly):
    list_display = ["assignment", "gold_item", "rater"]
    list_select_related = ["assignment", "gold_item__queue_item__queue", "gold_item__queue_item__item", "rater"]


@admin.register(models.GoldSchedule)
class GoldScheduleAdmin(LookOnly):
    list_display = ["queue", "rater", "plain_left", "used_up_at"]
    list_select_related = ["queue", "rater"]


@admin.register(models.Dataset)
class DatasetAdmin(LookOnly):
    list_display = ["name", "project", "queue", "purpose", "formats", "created_by"]
    list_filter = ["purpose"]
    list_select_related = ["project", "queue", "created_by"]
    search_fields = ["name"]


@admin.register(models.DatasetVersion)
class DatasetVersionAdmin(LookOnly):
    list_display = ["dataset", "number", "state", "rows_done", "created_at", "finished_at"]
    list_filter = ["state"]
    list_select_related = ["dataset"]


@admin.register(models.DatasetRow)
class DatasetRowAdmin(LookOnly):
    list_display = ["version", "position", "queue_item", "label"]
    list_select_related = ["version__dataset", "queue_item__queue", "queue_item__item", "label"]


@admin.register(models.GoldKey)
class GoldKeyAdmin(LookOnly):
    list_display = ["gold_item", "number", "state", "source", "proposed_by", "decided_by", "proposed_at"]
    list_filter = ["state", "source"]
    list_select_related = [
        "gold_item__queue_item__queue",
        "gold_item__queue_item__item",
        "proposed_by",
        "decided_by",
    ]


@admin.register(models.GoldChallenge)
class GoldChallengeAdmin(LookOnly):
    list_display = ["placement", "key", "state", "created_at", "decided_by"]
    list_filter = ["state"]
    list_select_related = [
        "placement__gold_item__queue_item__queue",
        "placement__gold_item__queue_item__item",
        "key",
        "decided_by",
    ]


@admin.register(models.StandingPolicy)
class StandingPolicyAdmin(LookOnly):
    list_display = ["queue", "p0", "p1", "alpha", "beta", "run_length", "automatic", "work"]
    list_select_related = ["queue"]


@admin.register(models.Standing)
class StandingAdmin(LookOnly):
    list_display = ["queue", "rater", "state", "since"]
    list_filter = ["state"]
    list_select_related = ["queue", "rater"]


@admin.register(models.StandingMove)
class StandingMoveAdmin(LookOnly):
    list_display = ["standing", "before", "after", "by_rule", "state", "proposed_at", "decided_by"]
    list_filter = ["state", "by_rule"]
    list_select_related = ["standing", "decided_by"]


@admin.register(models.SplitPlan)
class SplitPlanAdmin(LookOnly):
    list_display = ["project", "train", "calibration", "held_out", "seed", "sealed_by", "sealed_at"]
    list_select_related = ["project", "sealed_by"]


@admin.register(models.FamilySplit)
class FamilySplitAdmin(LookOnly):
    list_display = ["family", "split", "by_plan", "plan", "dealt_at"]
    list_filter = ["split"]
    list_select_related = ["plan"]
    search_fields = ["family"]


@admin.register(models.Contrast)
class ContrastAdmin(LookOnly):
    list_display = ["item", "passing", "failing", "shared", "made_at"]
    list_select_related = ["item", "passing", "failing"]


@admin.register(models.BenchmarkList)
class BenchmarkListAdmin(LookOnly):
    list_display = ["name", "project", "text_count", "source", "licence", "added_by", "added_at"]
    list_select_related = ["project", "added_by"]
    search_fields = ["name"]


@admin.register(models.LeakReport)
class LeakReportAdmin(LookOnly):
    list_display = ["version", "leaks", "made_at"]
    list_select_related = ["version__dataset"]


@admin.register(models.LeakSignature)
class LeakSignatureAdmin(LookOnly):
    list_display = ["report", "person", "signed_at"]
    list_select_related = ["report", "person"]


@admin.register(models.ReleaseTerms)
class ReleaseTermsAdmin(LookOnly):
    list_display = ["dataset", "number", "written_by", "written_at"]
    list_select_related = ["dataset", "written_by"]


@admin.register(models.Release)
class ReleaseAdmin(LookOnly):
    list_display = ["version", "terms", "checklist_sha256", "made_at"]
    list_select_related = ["version__dataset", "terms"]


@admin.register(models.ReleaseSignature)
class ReleaseSignatureAdmin(LookOnly):
    list_display = ["release", "person", "signed_at"]
    list_select_related = ["release__version__dataset", "person"]


@admin.register(models.Withdrawal)
class WithdrawalAdmin(LookOnly):
    list_display = ["version", "reason", "withdrawn_by", "withdrawn_at"]
    list_select_related = ["version__dataset", "withdrawn_by"]


@admin.register(models.SourceLicence)
class SourceLicenceAdmin(LookOnly):
    list_display = ["source", "licence", "project", "stated_by", "stated_at"]
    list_select_related = ["project", "stated_by"]


@admin.register(models.JudgeSetup)
class JudgeSetupAdmin(LookOnly):
    list_display = ["version", "rubric", "guideline", "price_in", "price_out"]
    list_select_related = ["version__grader", "rubric", "guideline"]


@admin.register(models.JudgeRun)
class JudgeRunAdmin(LookOnly):
    list_display = ["version", "queue", "scope", "attempt", "state", "items_total", "spent", "budget", "created_at"]
    list_filter = ["state"]
    list_select_related = ["version__grader", "queue"]


@admin.register(models.JudgedItem)
class JudgedItemAdmin(LookOnly):
    list_display = ["run", "item", "state", "cost", "lost", "tokens_in", "tokens_out", "done_at"]
    list_filter = ["state"]
    list_select_related = ["run__version__grader", "run__queue", "item"]


@admin.register(models.JudgeAnswer)
class JudgeAnswerAdmin(LookOnly):
    list_display = ["key", "model", "created_at"]


@admin.register(models.Probe)
class ProbeAdmin(LookOnly):
    list_display = ["grader", "kind", "parent", "passes", "state", "checked_by", "made_at"]
    list_filter = ["kind", "state"]
    list_select_related = ["grader", "parent", "checked_by"]


@admin.register(models.GraderHook)
class GraderHookAdmin(LookOnly):
    list_display = ["grader", "url", "set_by", "set_at"]
    list_select_related = ["grader", "set_by"]
    exclude = ["secret"]


@admin.register(models.ProbeRun)
class ProbeRunAdmin(LookOnly):
    list_display = ["version", "source", "state", "spent", "budget", "created_at", "finished_at"]
    list_filter = ["state", "source"]
    list_select_related = ["version__grader"]


@admin.register(models.ProbeAnswer)
class ProbeAnswerAdmin(LookOnly):
    list_display = ["run", "probe", "value", "passes", "held", "cost", "created_at"]
    list_filter = ["held"]
    list_select_related = ["run__version__grader", "probe"]


@admin.register(models.GraderPromotion)
class GraderPromotionAdmin(LookOnly):
    list_display = ["version", "reason", "promoted_by", "promoted_at"]
    list_select_related = ["version__grader", "promoted_by"]


@admin.register(models.Reviewer)
class ReviewerAdmin(LookOnly):
    list_display = ["queue", "number", "rung", "decision", "state", "created_by", "created_at", "signed_by"]
    list_filter = ["state", "rung"]
    list_select_related = ["queue", "criterion", "created_by", "signed_by"]


@admin.register(models.ReviewerLabel)
class ReviewerLabelAdmin(LookOnly):
    list_display = ["reviewer", "position", "queue_item", "label"]
    list_select_related = ["reviewer__queue", "queue_item__queue", "queue_item__item", "label"]


@admin.register(models.Grader)
class GraderAdmin(LookOnly):
    list_display = ["name", "kind", "criterion", "project", "created_by", "created_at"]
    list_filter = ["kind"]
    list_select_related = ["project", "created_by"]
    search_fields = ["name"]


@admin.register(models.GraderVersion)
class GraderVersionAdmin(LookOnly):
    list_display = ["grader", "number", "label", "model", "scale", "threshold", "source", "created_at"]
    list_filter = ["scale"]
    list_select_related = ["grader"]


@admin.register(models.GraderScore)
class GraderScoreAdmin(LookOnly):
    list_display = ["version", "item", "criterion", "attempt", "order", "value", "created_at"]
    list_select_related = ["version__grader", "item"]


@admin.register(models.GraderAudit)
class GraderAuditAdmin(LookOnly):
    list_display = ["version", "queue", "opened_by", "opened_at"]
    list_select_related = ["version__grader", "queue", "opened_by"]
