"""`manage.py guards PROJECT [--set-up] [--json]`: guards over tasks, held against experts."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from goldsets.actions.guarding import set_up_guards
from goldsets.management.acting import acting_member, find_project
from goldsets.management.reports import interval, value
from goldsets.queries.guards import axes
from reviews.enums import Role
from reviews.errors import AssayError


class Command(BaseCommand):
    help = "Prints how each guard over tasks agrees with experts, and which tasks it fails."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's address, as in its URL")
        parser.add_argument(
            "--set-up", action="store_true", help="first set up what is missing, and look at every task"
        )
        parser.add_argument("--as", dest="email", help="e-mail of who sets up; otherwise the project's first lead")
        parser.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, **options: Any) -> None:
        project = find_project(options["project"])
        if options["set_up"]:
            try:
                set_up_guards(actor=acting_member(project, options["email"], Role.LEAD), project=project)
            except AssayError as error:
                raise CommandError(str(error)) from error
        found = axes(project, None)
        if options["json"]:
            rows = [axis.as_dict() for axis in found]
            self.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False, default=str))
            return
        for axis in found:
            self.stdout.write(f"{axis.title}: {axis.settled} tasks settled")
            for row in axis.guards:
                agreed = row.errors.accuracy
                said = f"{value(agreed)} {interval(agreed)}, n {agreed.n_units}" if agreed.defined else agreed.words
                self.stdout.write(f"  {row.grader} {row.number}: agrees {said}; fails {row.flagged_of} of {row.scored}")
                for one in row.flagged:
                    self.stdout.write(f"    {one.title}: {one.why}")
