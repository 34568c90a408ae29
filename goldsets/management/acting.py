"""What commands that change something share: which project is meant, and who is taken to act."""

from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError

from goldsets.models import Grader
from reviews.enums import Role
from reviews.models import Membership, Project


def find_project(slug: str) -> Project:
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(f"There is no project with the address “{slug}”.")
    return project


def acting_member(project: Project, email: str | None, *roles: Role) -> Any:
    """The person with that e-mail, or the project's first active member of the first of these roles it has."""
    if email:
        actor = get_user_model().objects.filter(email__iexact=email).first()
        if actor is None:
            raise CommandError(f"There is nobody with the e-mail {email}.")
        return actor
    members = Membership.objects.filter(project=project, active=True).select_related("user").order_by("pk")
    for role in roles:
        member = members.filter(role=role).first()
        if member:
            return member.user
    wanted = " and no ".join(str(role.label).lower() for role in roles)
    raise CommandError(f"The project has no {wanted}. Name somebody who may with --as EMAIL.")


def find_grader(name: str) -> Grader:
    """The grader of that PROJECT/NAME, name or id. Raises CommandError when there is none, or more than one."""
    graders = Grader.objects.select_related("project")
    project, slash, own = name.partition("/")
    found = list(graders.filter(project__slug=project, name=own)) if slash else []
    found = found or list(graders.filter(uid=name) if _is_uid(name) else graders.filter(name=name))
    if not found:
        raise CommandError(f"There is no grader “{name}”.")
    if len(found) > 1:
        choices = ", ".join(f"{grader.project.slug}/{grader.name}" for grader in found)
        raise CommandError(f"More than one grader is called “{name}”. Say which: {choices}.")
    return found[0]


def _is_uid(name: str) -> bool:
    try:
        UUID(name)
    except ValueError:
        return False
    return True
