"""`manage.py licences PROJECT [--source S --licence L]`: under which licence runs of each source may be used."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from goldsets.actions.releasing import state_licence
from goldsets.management.acting import acting_member, find_project
from goldsets.queries.releases import licences_of
from reviews.enums import Role
from reviews.errors import AssayError


class Command(BaseCommand):
    help = "Prints the licence of each source, by the latest word; --source and --licence state one first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's address, as in its URL")
        parser.add_argument("--source", help="the name of the file or system that runs came from")
        parser.add_argument("--licence", help="such as CC-BY-4.0")
        parser.add_argument("--as", dest="email", help="e-mail of who states it; otherwise the first lead or engineer")
        parser.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, **options: Any) -> None:
        project = find_project(options["project"])
        source, licence = options["source"], options["licence"]
        if (source is None) != (licence is None):
            raise CommandError("Say both --source and --licence, or neither.")
        if source is not None:
            actor = acting_member(project, options["email"], Role.LEAD, Role.ENGINEER)
            try:
                state_licence(actor=actor, project=project, source=source, licence=licence)
            except AssayError as error:
                raise CommandError(str(error)) from error
        found = licences_of(project)
        if options["json"]:
            self.stdout.write(json.dumps(found, indent=2, ensure_ascii=False))
            return
        for name, stated in sorted(found.items()):
            self.stdout.write(f"{name}: {stated}")
        if not found:
            self.stdout.write("No licence is stated of any source.")
