"""Who may approve gold: never who proposed it; a second lead, or an admin where a project has only one lead."""

from typing import Any

import rules

from reviews.enums import Role
from reviews.errors import Forbidden
from reviews.models import Membership, Project
from reviews.rules import can, has_role


def lead_count(project: Project) -> int:
    return Membership.objects.filter(project=project, role=Role.LEAD, active=True, user__is_active=True).count()


@rules.predicate
def has_one_lead(_user: Any, project: Project) -> bool:
    return lead_count(project) == 1


rules.add_perm("goldsets.approve_gold", has_role(Role.LEAD) | (has_role(Role.ADMIN) & has_one_lead))


def can_approve(user: Any, project: Project) -> bool:
    """Whether the person decides on gold that others propose in this project."""
    return rules.has_perm("goldsets.approve_gold", user, project)


def may_decide(user: Any, proposed_by: int) -> bool:
    """Nobody decides on what they proposed themselves; `can_approve` says who else does."""
    return bool(user.pk != proposed_by)


def check_approval(user: Any, project: Project, proposed_by: int) -> None:
    """Nothing, or Forbidden with the reason. Who may not know of the project is stopped where the row is loaded."""
    if not can_approve(user, project):
        one = can(user, "view_project", project) and not has_one_lead(user, project)
        sentence = "Only leads approve gold."
        raise Forbidden(f"{sentence} An admin does where there is a single lead." if one else sentence)
    if not may_decide(user, proposed_by):
        raise Forbidden(
            "You proposed this yourself, so somebody else approves it: another lead, or an admin where there is a "
            "single lead."
        )
