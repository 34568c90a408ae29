"""API tokens: make one, revoke one.

A token acts as its person in every project, so that making it is a line of the log and in no project's events.
"""

from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from knox.models import AuthToken

from reviews.actions.events import record
from reviews.enums import Role, Verb
from reviews.errors import Forbidden, Invalid, NotFound
from reviews.models import Membership, TokenName
from reviews.queries.tokens import tokens_of
from reviews.rules import check

log = structlog.get_logger(__name__)

LONGEST_NAME = 60
# Where API_TOKEN_DAYS is 0, for whoever wants an end all the same.
MOST_DAYS = 3650


def longest_life() -> int:
    """In days."""
    return settings.API_TOKEN_DAYS or MOST_DAYS


@transaction.atomic
def make_token(*, actor: Any, name: str, days: int | None = None) -> tuple[AuthToken, str]:
    """A token of the actor's own and its secret, which is shown once and not kept. Raises Invalid.

    Without `days` it works as long as the settings let tokens work.
    """
    name, errors = name.strip(), {}
    if not name or len(name) > LONGEST_NAME or "\x00" in name:
        errors["name"] = f"Say in 1 to {LONGEST_NAME} characters what the token is for."
    if days is not None and not 1 <= days <= longest_life():
        errors["days"] = f"A token works for 1 to {longest_life()} days."
    if errors:
        raise Invalid(errors)
    life = {} if days is None else {"expiry": timedelta(days=days)}
    token, secret = AuthToken.objects.create(actor, **life)
    TokenName.objects.create(token=token, name=name)
    log.info("api token made", person=actor.pk, starts=token.token_key, ends=str(token.expiry))
    return token, secret


def revoke_token(*, actor: Any, starts: str) -> None:
    """End the actor's own token that begins with these characters. Raises NotFound."""
    _end(actor, starts, by=actor)


@transaction.atomic
def revoke_token_of(*, actor: Any, membership: Membership, starts: str) -> None:
    """End a member's token, in every project, by whoever may change the membership. Raises Forbidden, NotFound."""
    check(actor, "change_members", membership.project)
    if membership.role == Role.ADMIN:
        check(actor, "change_admins", membership.project)
    if not membership.active:
        raise Forbidden("They are no longer a member of this project, so their tokens are none of its own.")
    _end(membership.user, starts, by=actor)
    record(project=membership.project, actor=actor, verb=Verb.TOKEN_REVOKED, target=membership, starts=starts)


def _end(person: Any, starts: str, *, by: Any) -> None:
    ended, _ = tokens_of(person).filter(token_key=starts).delete()
    if not ended:
        raise NotFound("There is no such token, or it has ended already.")
    log.info("api token revoked", person=person.pk, starts=starts, by=by.pk)
