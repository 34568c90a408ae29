"""Who may approve gold: never who proposed it; a second lead, or an admin where a project has only one lead."""

from typing import Any

import rules
from django.db.models import Count, Q, QuerySet

from reviews.enums import Role
from reviews.errors import Forbidden
from reviews.models import Membership, Project
from reviews.rules import can


def _with_one_lead() -> QuerySet[Membership, int]:
    """The keys of the projects that have a single lead."""
    leads = Membership.objects.filter(role=Role.LEAD, active=True, user__is_active=True).order_by()
    return leads.values("project").annotate(leads=Count("pk")).filter(leads=1).values_list("project", flat=True)


def approved_by(user: Any) -> QuerySet[Project]:
    """The projects in which the person decides on gold that others propose."""
    if not user.is_authenticated or not user.is_active:
        return Project.objects.none()
    deciding = Q(role=Role.LEAD) | Q(role=Role.ADMIN, project__in=_with_one_lead())
    return Project.objects.filter(pk__in=Membership.objects.filter(deciding, user=user, active=True).values("project"))


def has_one_lead(project: Project) -> bool:
    return _with_one_lead().filter(project=project).exists()


@rules.predicate
def approves_gold(user: Any, project: Project) -> bool:
    return approved_by(user).filter(pk=project.pk).exists()


rules.add_perm("goldsets.approve_gold", approves_gold)


def can_approve(user: Any, project: Project) -> bool:
    """Whether the person decides on gold that others propose in this project."""
    return rules.has_perm("goldsets.approve_gold", user, project)


def may_decide(user: Any, proposed_by: int) -> bool:
    """Nobody decides on what they proposed themselves; `can_approve` says who else does."""
    return bool(user.pk != proposed_by)


def check_approval(user: Any, project: Project, proposed_by: int) -> None:
    """Nothing, or Forbidden with the reason. Who may not know of the project is stopped where the row is loaded."""
    if not can_approve(user, project):
        one = can(user, "view_project", project) and not has_one_lead(project)
        sentence = "Only leads approve gold."
        raise Forbidden(f"{sentence} An admin does where there is a single lead." if one else sentence)
    if not may_decide(user, proposed_by):
        raise Forbidden(
            "You proposed this yourself, so somebody else approves it: another lead, or an admin where there is a "
            "single lead."
        )
