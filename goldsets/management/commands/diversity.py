"""`manage.py diversity PROJECT [--by WHAT]`: labelled items of each family, and where there are none."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from goldsets.management.acting import find_project
from goldsets.queries.diversity import matrix
from reviews.errors import Invalid


class Command(BaseCommand):
    help = "Prints labelled items of each family by verdict, failure cause, policy, source, model or slice, with holes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's address, as in its URL")
        parser.add_argument("--by", default="verdict", help="verdict, cause, policy, source, model, or slice:NAME")
        parser.add_argument("--fewest", type=int, default=1, help="a hole has fewer labelled items")
        parser.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, **options: Any) -> None:
        try:
            found = matrix(find_project(options["project"]), by=options["by"], fewest=options["fewest"])
        except Invalid as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps({**asdict(found), "holes": found.holes}, indent=2, ensure_ascii=False))
            return
        for row in found.rows:
            cells = zip(found.columns, row.cells, strict=True)
            said = ", ".join(f"{title} {'none' if cell.count == 0 else cell.count}" for title, cell in cells)
            self.stdout.write(f"{row.family or 'no family'}: {said}")
        self.stdout.write(f"{found.holes} holes")
