"""`manage.py build_contrasts PROJECT [--queue Q] [--most N]`: pairs successes with failures of the same tasks."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from goldsets.actions.contrasting import build_contrasts
from goldsets.management.acting import acting_member, find_project
from reviews.enums import Role
from reviews.errors import AssayError
from reviews.management.finding import find_queue


class Command(BaseCommand):
    help = (
        "Pairs a run that passed with one that failed where they go together the furthest; names are for leads to give."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's address, as in its URL")
        parser.add_argument("--queue", help="address of the queue whose labels count; otherwise those of every queue")
        parser.add_argument("--most", type=int, default=1, help="up to so many pairs of each task")
        parser.add_argument("--as", dest="email", help="e-mail of who builds; otherwise the first engineer or lead")
        parser.add_argument("--json", action="store_true", help="print the receipt as JSON")

    def handle(self, **options: Any) -> None:
        project = find_project(options["project"])
        actor = acting_member(project, options["email"], Role.ENGINEER, Role.LEAD)
        queue = find_queue(f"{project.slug}/{options['queue']}") if options["queue"] else None
        try:
            built = build_contrasts(actor=actor, project=project, queue=queue, most=options["most"])
        except AssayError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(asdict(built)))
            return
        words = f"{built.created} new, {built.already_there} there already, of {built.tasks} tasks with both ends."
        self.stdout.write(f"{words} In {built.apart} no two runs begin alike.")
