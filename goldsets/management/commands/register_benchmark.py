"""`manage.py register_benchmark PROJECT FILE --name N --source S --licence L`: texts that nothing comes near."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from goldsets.actions.benchmarks import read_benchmark, register_benchmark
from goldsets.management.acting import acting_member, find_project
from reviews.enums import Role
from reviews.errors import AssayError


class Command(BaseCommand):
    help = "Registers a benchmark's texts, or their hashes, against which every export is held."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's address, as in its URL")
        parser.add_argument("file", type=Path, help="a JSON list, JSON lines, or a text a line")
        parser.add_argument("--name", required=True)
        parser.add_argument("--source", required=True, help="where it was taken from")
        parser.add_argument("--licence", required=True)
        parser.add_argument("--as", dest="email", help="e-mail of who registers; otherwise the first engineer or lead")
        parser.add_argument("--json", action="store_true", help="print the receipt as JSON")

    def handle(self, **options: Any) -> None:
        project = find_project(options["project"])
        actor = acting_member(project, options["email"], Role.ENGINEER, Role.LEAD)
        given = {name: options[name] for name in ("name", "source", "licence")}
        try:
            texts = read_benchmark(options["file"].read_bytes())
            made = register_benchmark(actor=actor, project=project, texts=texts, **given)
        except AssayError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be read: {error.strerror or error}.") from error
        receipt = {"uid": str(made.uid), "name": made.name, "texts": made.text_count}
        self.stdout.write(json.dumps(receipt) if options["json"] else f"“{made.name}”: {made.text_count:,} texts.")
