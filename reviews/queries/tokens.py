"""API tokens that work: a person's own, and those of everybody in a project. Their secret is not kept anywhere."""

from django.db.models import Prefetch, Q, QuerySet
from django.utils import timezone
from knox.models import AuthToken

from reviews.models import Membership, Project
from reviews.queries.projects import members


def tokens_of(user: object) -> QuerySet[AuthToken]:
    """The latest first, with the name each was given."""
    return _working().filter(user=user)


def members_with_tokens(project: Project) -> QuerySet[Membership]:
    """As `members`, each person with `tokens`: none of those who are switched off here. Two queries."""
    theirs = _working().filter(user__in=members(project).filter(active=True).order_by().values("user"))
    return members(project).prefetch_related(Prefetch("user__auth_token_set", queryset=theirs, to_attr="tokens"))


def _working() -> QuerySet[AuthToken]:
    lasting = Q(expiry=None) | Q(expiry__gt=timezone.now())
    return AuthToken.objects.filter(lasting).select_related("named").order_by("-created")
