"""Who may do what: predicates composed into one table, and `check`, which says why not."""

from typing import Any

import rules

from reviews.enums import ReferralKind, Role
from reviews.errors import AssayError, Conflict, Forbidden, NotFound
from reviews.models import Membership, Project, QueueItem, Referral
from reviews.queries.own_work import own_work
from reviews.queries.statements import ModelStatement

MEMBERSHIP = ModelStatement(
    """
    SELECT {columns} FROM reviews_membership membership
    WHERE project_id = %(project)s AND user_id = %(user)s AND active
    """,
    membership=Membership,
)


def membership_of(user: Any, project: Project) -> Membership | None:
    """The person's active membership, or None. Costs one query."""
    if not user.is_authenticated or not user.is_active:
        return None
    # By hand, because every request asks this several times: built by the ORM it took a third of a claim's time.
    found = MEMBERSHIP.first(project=project.pk, user=user.pk)
    return found[0] if found else None


def has_role(*roles: Role) -> rules.Predicate:
    @rules.predicate(f"has_role:{','.join(roles)}")
    def predicate(user: Any, project: Project) -> bool:
        membership = membership_of(user, project)
        return membership is not None and membership.role in roles

    return predicate


@rules.predicate
def is_staff(user: Any, _project: Project | None = None) -> bool:
    return user.is_authenticated and user.is_active and user.is_staff


@rules.predicate
def leads_anything(user: Any, _project: Project | None = None) -> bool:
    leading = [Role.LEAD, Role.ADMIN]
    return user.is_authenticated and Membership.objects.filter(user=user, active=True, role__in=leading).exists()


@rules.predicate
def has_no_admin(_user: Any, project: Project) -> bool:
    return not Membership.objects.filter(project=project, active=True, role=Role.ADMIN).exists()


is_expert = has_role(Role.EXPERT)
is_lead = has_role(Role.LEAD)
is_engineer = has_role(Role.ENGINEER)
is_admin = has_role(Role.ADMIN)
is_member = is_expert | is_lead | is_engineer | is_admin

# The permission, who has it, and the sentence for whoever has not.
TABLE = {
    "create_project": (is_staff | leads_anything, "Only leads and admins create projects."),
    "view_project": (is_member, "You are not a member of this project."),
    "judge": (is_expert | is_lead, "Only experts and leads judge items."),
    "invite": (is_lead | is_admin, "Only leads and admins invite people."),
    "change_members": (is_lead | is_admin, "Only leads and admins change memberships."),
    # Admins alone may open what was redacted, so a lead does not make one, once there is one who could.
    "change_admins": (
        is_admin | (is_lead & has_no_admin),
        "Only admins make somebody an admin, or change the membership of one.",
    ),
    "write_rubric": (is_lead, "Only leads write rubrics and guidelines."),
    "manage_queue": (is_lead, "Only leads create and change queues."),
    "manage_rules": (is_lead, "Only leads make and change rules on arrival."),
    "manage_redaction": (is_lead | is_admin, "Only leads and admins say what is redacted."),
    "manage_masking": (is_lead, "Only leads say what raters do not read."),
    "read_redacted": (is_admin, "Only admins open the original of a run of which text was replaced."),
    "adjudicate": (is_lead, "Only leads settle disagreements."),
    "ask": (is_expert | is_lead, "Only experts and leads ask about items they judge."),
    "answer_questions": (is_lead, "Only leads answer questions."),
    "manage_digest": (is_lead, "Only leads say whether raters read what was decided."),
    "view_agreement": (is_lead, "Only leads see agreement and standing."),
    "import": (is_lead | is_engineer, "Only leads and engineers import runs."),
    "compare": (is_lead | is_engineer, "Only leads and engineers lay runs beside each other."),
    # Whoever names it knows that one of the two runs passed and the other failed, which raters must not.
    "name_contrast": (is_lead, "Only leads name what contrasting runs differ in."),
    "view_items": (is_lead | is_engineer, "Only leads and engineers browse items."),
    "view_labels": (is_lead | is_engineer, "Only leads and engineers see labels."),
    "export": (is_lead | is_engineer, "Only leads and engineers export labels."),
    "view_leaks": (is_lead | is_engineer | is_admin, "Only leads, engineers and admins see what would leak."),
    "sign": (is_lead | is_admin, "Only leads and admins sign for what leaves."),
    "view_graders": (is_lead | is_engineer, "Only leads and engineers see graders and their scores."),
    "manage_graders": (is_lead | is_engineer, "Only leads and engineers register graders and bring in their scores."),
    "compile": (is_lead | is_engineer, "Only leads and engineers compile reviewers."),
    "view_reviewers": (is_lead | is_engineer | is_admin, "Only leads, engineers and admins see reviewers."),
    "override_probes": (is_lead, "Only leads promote a grader although something is missing."),
    "manage_splits": (is_lead, "Only leads say how families are split."),
    "view_costs": (is_lead | is_engineer | is_admin, "Only leads, engineers and admins see what judgement costs."),
    "manage_prices": (is_lead, "Only leads say what an hour costs."),
    "manage_webhooks": (is_lead | is_engineer, "Only leads and engineers set up webhooks."),
    "view_events": (is_lead | is_admin, "Only leads and admins read the audit log."),
}

for permission, (predicate, _sentence) in TABLE.items():
    rules.add_perm(f"reviews.{permission}", predicate)


def can(user: Any, permission: str, project: Project | None = None) -> bool:
    """The boolean twin of `check`, for buttons."""
    return rules.has_perm(f"reviews.{permission}", user, project)


def check(user: Any, permission: str, project: Project | None = None) -> None:
    """Nothing, or Forbidden with the reason; NotFound for those who may not know that the project exists."""
    if can(user, permission, project):
        return
    if project is not None and not can(user, "view_project", project):
        raise NotFound("There is no such project, or you are not a member of it.")
    raise Forbidden(TABLE[permission][1])


def check_not_own(user: Any, queue_item: QueueItem) -> None:
    """Nothing, or Forbidden where the person judges the item, or has judged it, in this queue or in another."""
    if own_work(user, queue_item.item_id).exists():
        raise Forbidden("You judged this item yourself, so another lead settles it.")


def check_decides(user: Any, referral: Referral | None) -> None:
    """Nothing, or Forbidden or Conflict where an item that was passed on is not for this lead to decide as it is."""
    if referral is None:
        return
    if referral.kind != ReferralKind.SECOND_LEAD:
        raise Conflict("This item is passed on. Take it back before you decide it.")
    if referral.lead_id == user.pk:
        raise Forbidden("You asked a second lead to decide this item. Take it back if you want to decide it after all.")


def decides(user: Any, referral: Referral | None) -> bool:
    """The boolean twin of `check_decides`, for buttons."""
    try:
        check_decides(user, referral)
    except AssayError:
        return False
    return True
