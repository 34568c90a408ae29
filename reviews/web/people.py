"""Who belongs to a project: members with role and tier, and invitations by link."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from reviews.actions.projects import change_membership, invite
from reviews.actions.tokens import revoke_token_of
from reviews.enums import Role, Tier
from reviews.errors import Forbidden, Invalid, NotFound
from reviews.forms import InvitationForm, attempt
from reviews.models import Membership, Project
from reviews.queries.projects import member_by_id, open_invitations
from reviews.queries.tokens import members_with_tokens
from reviews.web.access import project_for, project_page

CHANGEABLE = ("role", "tier", "credentials", "domains")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:
    """The members. A new invitation's link is in the answer to its POST and nowhere else: it is not kept."""
    project = project_for(request, slug, "change_members")
    form = InvitationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = attempt(form, invite, actor=request.user, project=project, **form.cleaned_data)
        if made:
            invitation, token = made
            link = request.build_absolute_uri(reverse("reviews:join", kwargs={"token": token}))
            return _page(request, project, InvitationForm(), link=link, invitation=invitation)
    return _page(request, project, form)


@login_required
@require_POST
def change_member(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Another role, tier, credentials or fields, or off and on again."""
    membership = _member(project_for(request, slug, "change_members"), number)
    changes: dict[str, Any] = {name: request.POST[name] for name in CHANGEABLE if name in request.POST}
    if "active" in request.POST:
        changes["active"] = request.POST["active"] == "yes"
    try:
        change_membership(actor=request.user, membership=membership, **changes)
    except (Invalid, Forbidden) as error:
        messages.error(request, error.message)
    else:
        messages.success(request, _said(membership))
    return redirect("reviews:people", slug=slug)


@login_required
@require_POST
def revoke_members_token(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """End an API token that a member lost, or should not have any more."""
    membership = _member(project_for(request, slug, "change_members"), number)
    try:
        revoke_token_of(actor=request.user, membership=membership, starts=request.POST.get("starts", ""))
    except (Forbidden, NotFound) as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"That token of {membership.user} is revoked.")
    return redirect("reviews:people", slug=slug)


def _member(project: Project, number: int) -> Membership:
    membership = member_by_id(project, number)
    if membership is None:
        raise NotFound("There is no such member in this project.")
    return membership


def _said(membership: Membership) -> str:
    if not membership.active:
        return f"{membership.user} can no longer work here. What they judged stays."
    return (
        f"{membership.user} is {membership.get_role_display().lower()}, tier {membership.get_tier_display().lower()}."
    )


def _page(request: HttpRequest, project: Project, form: InvitationForm, **context: object) -> HttpResponse:
    return project_page(
        request,
        "reviews/people.html",
        project=project,
        at="people",
        status=422 if form.errors else 200,
        form=form,
        members=members_with_tokens(project),
        invitations=open_invitations(project),
        roles=Role.choices,
        tiers=Tier.choices,
        **context,
    )
