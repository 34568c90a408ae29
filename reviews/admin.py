"""Django's admin over the tables of reviews: to look at and to search. What changes, changes through the actions."""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from knox import admin as knox_admin  # noqa: F401 - registers first what is registered anew below
from knox.models import AuthToken

from reviews import models


class LookOnly(admin.ModelAdmin):
    """Nothing is added, changed or deleted here: an action would know the rules and write the Event, this does not."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(models.Project)
class ProjectAdmin(LookOnly):
    list_display = ["name", "slug", "created_at"]
    search_fields = ["name", "slug"]


@admin.register(models.Membership)
class MembershipAdmin(LookOnly):
    list_display = ["user", "project", "role", "tier", "simulated", "active"]
    list_filter = ["role", "tier", "simulated", "active"]
    list_select_related = ["user", "project"]
    search_fields = ["user__email", "user__name", "pseudonym"]


@admin.register(models.Invitation)
class InvitationAdmin(LookOnly):
    list_display = ["project", "role", "note", "created_by", "expires_at", "used_at"]
    list_select_related = ["project", "created_by"]
    exclude = ["token_hash"]


@admin.register(models.Guideline, models.Rubric)
class VersionAdmin(LookOnly):
    list_display = ["name", "version", "project", "created_by", "created_at"]
    list_select_related = ["project", "created_by"]
    search_fields = ["name"]


@admin.register(models.Criterion)
class CriterionAdmin(LookOnly):
    list_display = ["title", "key", "kind", "rubric", "position"]
    list_filter = ["kind", "block"]
    list_select_related = ["rubric"]


@admin.register(models.Task)
class TaskAdmin(LookOnly):
    list_display = ["key", "title", "family", "split", "project"]
    list_filter = ["split"]
    list_select_related = ["project"]
    search_fields = ["key", "title", "family"]


@admin.register(models.Trajectory)
class TrajectoryAdmin(LookOnly):
    list_display = ["uid", "task", "step_count", "source_format", "source_name", "created_at"]
    list_select_related = ["task"]
    search_fields = ["uid", "content_hash", "source_name"]


@admin.register(models.Item)
class ItemAdmin(LookOnly):
    list_display = ["uid", "project", "provenance", "created_at"]
    list_select_related = ["project"]
    search_fields = ["uid"]


@admin.register(models.ImportJob)
class ImportJobAdmin(LookOnly):
    list_display = ["name", "project", "state", "created", "already_there", "refused", "created_at"]
    list_filter = ["state"]
    list_select_related = ["project"]
    search_fields = ["name"]


@admin.register(models.RaterPause)
class RaterPauseAdmin(LookOnly):
    list_display = ["queue", "rater", "since", "ended_at"]
    list_select_related = ["queue", "rater"]


@admin.register(models.Queue)
class QueueAdmin(LookOnly):
    list_display = ["name", "project", "rubric", "overlap", "settle_rule", "state"]
    list_filter = ["state"]
    list_select_related = ["project", "rubric"]
    search_fields = ["name", "slug"]


@admin.register(models.QueueItem)
class QueueItemAdmin(LookOnly):
    list_display = ["uid", "queue", "state", "waits_for", "waiting_since"]
    list_filter = ["state", "waits_for"]
    list_select_related = ["queue"]
    search_fields = ["uid"]
    raw_id_fields = ["item", "label"]


@admin.register(models.Assignment)
class AssignmentAdmin(LookOnly):
    list_display = ["uid", "queue", "rater", "state", "leased_at", "ended_at"]
    list_filter = ["state"]
    list_select_related = ["queue", "rater"]
    search_fields = ["uid", "rater__email"]


@admin.register(models.Judgment)
class JudgmentAdmin(LookOnly):
    list_display = ["uid", "queue", "rater", "revision", "confidence", "submitted_at"]
    list_select_related = ["queue", "rater"]
    search_fields = ["uid", "rater__email"]


@admin.register(models.Adjudication)
class AdjudicationAdmin(LookOnly):
    list_display = ["uid", "queue_item", "number", "lead", "created_at"]
    list_select_related = ["queue_item__queue", "queue_item__item", "lead"]
    search_fields = ["uid", "lead__email"]


@admin.register(models.Label)
class LabelAdmin(LookOnly):
    list_display = ["uid", "queue", "revision", "basis", "judgment_count", "created_at"]
    list_filter = ["basis"]
    list_select_related = ["queue"]
    search_fields = ["uid"]


@admin.register(models.Event)
class EventAdmin(LookOnly):
    list_display = ["at", "project", "actor", "verb", "target_type", "target_id"]
    list_select_related = ["project", "actor"]
    search_fields = ["verb", "actor__email"]

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).order_by("-pk")


# The library's own page would take a person by number, show what hashes to a token, and make tokens that never end.
admin.site.unregister(AuthToken)


@admin.register(AuthToken)
class TokenAdmin(LookOnly):
    """Deleting a token revokes it. None is made here: people do on their page, `manage.py make_token` for machines."""

    list_display = ["token_key", "named", "user", "created", "expiry"]
    list_select_related = ["named", "user"]
    search_fields = ["token_key", "named__name", "user__email", "user__name"]
    exclude = ["digest"]

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.has_perm("knox.delete_authtoken")
