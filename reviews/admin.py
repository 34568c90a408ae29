"""What operators see of reviews on the admin site: to look at and to search. What changes, changes by the actions."""

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


@admin.register(models.ImportJob)
class ImportJobAdmin(LookOnly):
    list_display = ["name", "project", "state", "created", "already_there", "refused", "created_at"]
    list_filter = ["state"]
    list_select_related = ["project"]
    search_fields = ["name"]


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
