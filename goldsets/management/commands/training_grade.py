"""`manage.py training_grade GRADER [--version N] [--term NAME=NUMBER] [--json]`: may a policy be trained on it."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from goldsets.management.graders import GraderCommand, find_grader
from goldsets.queries.instrument import asked_for, measured
from reviews.errors import AssayError

MARKS = {True: "ok  ", False: "NOT ", None: "    "}


class Command(GraderCommand):
    help = "Prints the training-grade checklist of an environment with its grader; exits with 1 where it does not hold."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--model", help="whose pass rates count; otherwise the one with the most tasks")
        parser.add_argument("--term", action="append", default=[], metavar="NAME=NUMBER", help="hold it to this")

    def handle(self, **options: Any) -> None:
        grader = find_grader(options["grader"])
        given = {name: options[name] for name in ("version", "criterion", "against", "model")}
        given |= dict(term.partition("=")[::2] for term in options["term"])
        try:
            report = measured(asked_for(grader, given))
        except AssayError as error:
            raise CommandError(str(error)) from error
        found = report.found
        if options["json"]:
            self.print_json(report.as_dict())
        else:
            for check in found.checks:
                wanted = f" ({check.wanted})" if check.wanted else ""
                self.stdout.write(f"{MARKS[check.passed]}{check.title}: {check.said}{wanted}")
            self.stdout.write(found.sensitivity.words)
            for one in found.coverage:
                if one.hole:
                    self.stdout.write(f"Hole: {one.family}, {one.hole}.")
            for title, stood in report.attacks:
                if stood.probes:
                    words = f"{stood.held} of {stood.answered} held, {stood.probes} approved"
                    self.stdout.write(f"Probes, {title}: {words}.")
        if not found.holds:
            raise CommandError(f"{found.failing} of {len(found.checks)} checks do not hold.")
