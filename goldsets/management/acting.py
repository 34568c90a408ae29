"""What commands that change something share: which project is meant, and who is taken to act."""

from typing import Any

from django.core.management.base import CommandError

from reviews.enums import Role
from reviews.management.finding import find_person
from reviews.models import Membership, Project


def find_project(slug: str) -> Project:
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(f"There is no project with the address “{slug}”.")
    return project


def acting_member(project: Project, email: str | None, *roles: Role) -> Any:
    """The person with that e-mail, or the project's first active member of the first of these roles it has."""
    if email:
        return find_person(email)
    members = Membership.objects.filter(project=project, active=True).select_related("user").order_by("pk")
    for role in roles:
        member = members.filter(role=role).first()
        if member:
            return member.user
    wanted = " and no ".join(str(role.label).lower() for role in roles)
    raise CommandError(f"The project has no {wanted}. Name somebody who may with --as EMAIL.")
