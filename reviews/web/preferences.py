"""A person's own settings: the keys of the judge page, and that the first steps were seen."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from reviews.actions import preferences as actions
from reviews.errors import Invalid
from reviews.keymap import ACTS, GROUPS, Act
from reviews.queries.preferences import habits_of


@dataclass(frozen=True)
class Row:
    """One act on the page, with the key it has or was given, and what is wrong with that."""

    act: Act
    key: str
    error: str

    @property
    def changed(self) -> bool:
        return self.key != self.act.key


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def keys(request: HttpRequest) -> HttpResponse:
    """The keys of the judge page, to be changed or set back."""
    if request.method != "POST":
        return _page(request, habits_of(request.user).keys)
    if "reset" in request.POST:
        actions.reset_keys(actor=request.user)
        messages.success(request, "All keys are as everybody begins with.")
        return redirect("reviews:keys")
    given = {act.name: request.POST[act.name].strip() for act in ACTS if act.name in request.POST}
    try:
        actions.choose_keys(actor=request.user, keys=given)
    except Invalid as error:
        return _page(request, {**habits_of(request.user).keys, **given}, errors=error.errors, status=422)
    messages.success(request, "Your keys are saved.")
    return redirect("reviews:keys")


def _page(
    request: HttpRequest, keys: dict[str, str], *, errors: dict[str, str] | None = None, status: int = 200
) -> HttpResponse:
    found = errors or {}
    rows = [Row(act, keys[act.name], found.get(act.name, "")) for act in ACTS]
    groups = [(group, [row for row in rows if row.act.group == group]) for group in GROUPS]
    context: dict[str, Any] = {"groups": groups, "wrong": len(found), "any_changed": any(row.changed for row in rows)}
    return render(request, "reviews/keys.html", context, status=status)


@login_required
@require_POST
def coached(request: HttpRequest) -> HttpResponse:
    actions.remember_coached(actor=request.user)
    return HttpResponse(status=204)
