"""People on the admin site: to find, and to switch off."""

from typing import Any

import structlog
from django.contrib import admin
from django.http import HttpRequest

from annotator.models import User
from reviews.admin import LookOnly

log = structlog.get_logger(__name__)


@admin.register(User)
class PersonAdmin(LookOnly):
    """Switching somebody off ends their access. Nothing else of a person changes here: others know them by it."""

    list_display = ["email", "name", "is_active", "is_staff", "last_login", "date_joined"]
    list_filter = ["is_active", "is_staff"]
    search_fields = ["email", "name"]
    fields = ["email", "name", "is_active", "is_staff", "is_superuser", "last_login", "date_joined"]
    readonly_fields = ["email", "name", "is_staff", "is_superuser", "last_login", "date_joined"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("annotator.change_user")

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        log.info("person switched", person=obj.pk, active=obj.is_active, by=request.user.pk)
