"""What commands about one version of a grader share: how it is named, and against what it is held."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError, CommandParser

from goldsets.actions.calibrating import read_sealed
from goldsets.management.acting import acting_member
from goldsets.management.reports import Rows
from goldsets.models import Grader, GraderVersion
from reviews.enums import Role
from reviews.management.finding import is_uid


class GraderCommand(Rows):
    """A command `NAME GRADER [--version N] [--json]`."""

    def log_reading(self, version: GraderVersion, criterion: str, email: str | None) -> None:
        """Log that held-out runs are read, by who has that e-mail, or by the project's first lead or engineer."""
        reader = acting_member(version.grader.project, email, Role.LEAD, Role.ENGINEER)
        read_sealed(actor=reader, version=version, criterion=criterion)

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        """Django's own --version, which says which Django this is, makes way for the grader's."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("grader", help="the grader's name, PROJECT/NAME, or its id")
        parser.add_argument("--version", type=int, help="the version's number; otherwise the latest")
        parser.add_argument("--criterion", help="the criterion whose scores are meant, empty for the run as a whole")
        parser.add_argument("--against", default="", help="verdict, gates, KEY or KEY>=NUMBER")
        parser.add_argument("--as", dest="email", help="e-mail of who reads held-out runs; otherwise the first lead")
        parser.add_argument("--json", action="store_true", help="print everything as JSON")


def find_grader(name: str) -> Grader:
    """The grader of that name, PROJECT/NAME or id. Raises CommandError when there is none, or more than one."""
    graders = Grader.objects.select_related("project")
    slug, slash, rest = name.partition("/")
    found = list(graders.filter(project__slug=slug, name=rest)) if slash else []
    found = found or list(graders.filter(uid=name) if is_uid(name) else graders.filter(name=name))
    if not found:
        raise CommandError(f"There is no grader called “{name}”.")
    if len(found) > 1:
        choices = ", ".join(f"{grader.project.slug}/{grader.name}" for grader in found)
        raise CommandError(f"More than one grader is called “{name}”. Say which: {choices}.")
    return found[0]
