"""Projects and the people in them: create, invite by link, join, change a membership."""

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from reviews.actions.domains import read_domains
from reviews.actions.events import record
from reviews.enums import Role, Tier, Verb
from reviews.errors import AssayError, Conflict, Forbidden, Invalid
from reviews.models import Invitation, Membership, Project
from reviews.rules import check

EMAIL_LENGTH = 254

MOST_CREDENTIALS = 200


@transaction.atomic
def create_project(*, actor: Any, name: str, description: str = "", slug: str = "") -> Project:
    """A new project with the actor as its lead. Raises Forbidden, Invalid, or Conflict for a slug in use."""
    check(actor, "create_project")
    name, slug = name.strip(), slugify(slug or name)[:60]
    if not name or len(name) > 120:
        raise Invalid({"name": "Give the project a name of 1 to 120 characters."})
    if not slug:
        raise Invalid({"slug": "The address needs at least one letter or digit."})
    try:
        with transaction.atomic():
            project = Project.objects.create(slug=slug, name=name, description=description.strip())
    except IntegrityError:
        raise Conflict(f"There is a project with the address “{slug}” already.", field="slug") from None
    Membership.objects.create(project=project, user=actor, role=Role.LEAD)
    record(project=project, actor=actor, verb=Verb.PROJECT_CREATED, target=project)
    return project


@transaction.atomic
def invite(
    *, actor: Any, project: Project, role: str, tier: str = Tier.EXPERT, note: str = "", days: int = 14
) -> tuple[Invitation, str]:
    """An invitation and its token, which is shown once and not kept. It lasts `days` days and works once."""
    check(actor, "invite", project)
    errors = {}
    if role not in Role.values:
        errors["role"] = f"The role must be one of {', '.join(Role.values)}."
    if tier not in Tier.values:
        errors["tier"] = f"The tier must be one of {', '.join(Tier.values)}."
    if not 1 <= days <= 90:
        errors["days"] = "An invitation lasts from 1 to 90 days."
    if len(note) > 200:
        errors["note"] = "The note has at most 200 characters."
    if errors:
        raise Invalid(errors)
    if role == Role.ADMIN:
        check(actor, "change_admins", project)
    token = secrets.token_urlsafe(24)
    invitation = Invitation.objects.create(
        project=project,
        role=role,
        tier=tier,
        note=note.strip(),
        token_hash=hash_token(token),
        created_by=actor,
        expires_at=timezone.now() + timedelta(days=days),
    )
    record(project=project, actor=actor, verb=Verb.MEMBER_INVITED, target=invitation, role=role)
    return invitation, token


def hash_token(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def open_invitation(*, token: str) -> Invitation:
    """The invitation behind a link, if it can still be used. Raises AssayError with the reason otherwise."""
    invitation = Invitation.objects.select_related("project").filter(token_hash=hash_token(token)).first()
    if invitation is None:
        raise AssayError("This invitation link is not valid. Ask the person who sent it for a new one.")
    if invitation.used_at:
        raise Conflict("This invitation has been used. If that was you, sign in; otherwise ask for a new link.")
    if invitation.expires_at < timezone.now():
        raise Conflict("This invitation has run out. Ask the person who sent it for a new one.")
    return invitation


@transaction.atomic
def accept_invitation(*, token: str, user: Any = None, email: str = "", name: str = "") -> Membership:
    """Make the signed-in user, or a new person with this e-mail and name, a member. The link is then used up.

    A person who has an account must sign in first: a link alone never opens somebody's account.
    """
    invitation = open_invitation(token=token)
    if user is None or not user.is_authenticated:
        user = _new_person(email=email, name=name)
    used = Invitation.objects.filter(pk=invitation.pk, used_at=None).update(used_at=timezone.now(), used_by=user)
    if not used:
        raise Conflict("This invitation has just been used.")
    if Membership.objects.filter(project=invitation.project, user=user).exists():
        raise Conflict("You are a member of this project already. The invitation stays open for somebody else.")
    membership = Membership.objects.create(
        project=invitation.project, user=user, role=invitation.role, tier=invitation.tier
    )
    record(project=invitation.project, actor=user, verb=Verb.MEMBER_JOINED, target=membership, role=invitation.role)
    return membership


def _new_person(*, email: str, name: str) -> Any:

    users = get_user_model().objects
    email, name = email.strip(), name.strip()
    errors = {}
    try:
        validate_email(email)
        MaxLengthValidator(EMAIL_LENGTH)(email)
    except ValidationError:
        errors["email"] = "This is not an email address."
    if not name or len(name) > 100:
        errors["name"] = "Give your name, up to 100 characters."
    if errors:
        raise Invalid(errors)
    taken = Invalid({"email": "Somebody with this email address has an account. Sign in, then open the link again."})
    if users.filter(email__iexact=email).exists():
        raise taken
    try:
        with transaction.atomic():
            return users.create_user(email=email, name=name)
    except IntegrityError:  # two links opened with one address at the same moment
        raise taken from None


@transaction.atomic
def change_membership(
    *,
    actor: Any,
    membership: Membership,
    active: bool | None = None,
    role: str | None = None,
    tier: str | None = None,
    credentials: str | None = None,
    domains: Any = None,
) -> Membership:
    """Change a member's role, tier, credentials or fields, or switch them off or on. Nobody is ever removed."""
    check(actor, "change_members", membership.project)
    if membership.user_id == actor.pk and (active is False or (role and role != membership.role)):
        raise Forbidden("You cannot take your own role away. Ask another lead.")
    if Role.ADMIN in (role, membership.role):
        check(actor, "change_admins", membership.project)
    changes: dict[str, Any] = {}
    for name, value, allowed in (("role", role, Role.values), ("tier", tier, Tier.values)):
        if value is not None and value not in allowed:
            raise Invalid({name: f"The {name} must be one of {', '.join(allowed)}."})
        if value is not None:
            changes[name] = value
    if credentials is not None:
        if len(credentials) > MOST_CREDENTIALS or "\x00" in credentials:
            raise Invalid({"credentials": f"Credentials are plain text of at most {MOST_CREDENTIALS} characters."})
        changes["credentials"] = credentials.strip()
    if domains is not None:
        changes["domains"] = read_domains(domains)
    if active is not None:
        changes["active"] = active
    for name, value in changes.items():
        setattr(membership, name, value)
    if changes:
        membership.save(update_fields=list(changes))
        record(project=membership.project, actor=actor, verb=Verb.MEMBER_CHANGED, target=membership, **changes)
    return membership
