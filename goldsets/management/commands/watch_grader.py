"""`manage.py watch_grader GRADER [--version N] [--sealed] [--json]`: whether a grader parts from the experts."""

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError

from goldsets.management.graders import GraderCommand, find_grader
from goldsets.management.reports import interval, value
from goldsets.queries.calibration import WatchReport, watched, watching
from goldsets.stats.parting import Parting
from reviews.errors import AssayError


class Command(GraderCommand):
    help = "Prints grader minus experts by checkpoint and week; exits with 1 where the alarm rings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--sealed", action="store_true", help="held-out runs beside those of training; logged")

    def handle(self, **options: Any) -> None:
        grader = find_grader(options["grader"])
        try:
            asked = watching(grader, {name: options[name] for name in ("version", "criterion", "against", "sealed")})
            if asked.sealed:
                self.log_reading(asked.version, asked.criterion, options["email"])
            report = watched(asked)
        except AssayError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.print_json(report.as_dict())
        else:
            self._print(report)
        for alarm in (report.found.checkpoints.alarm, report.found.weeks.alarm):
            if alarm.rang:
                raise CommandError(alarm.words)

    def _print(self, report: WatchReport) -> None:
        found = report.found
        for name, series in (("checkpoint", found.checkpoints), ("week", found.weeks)):
            self._print_parts(name, series.parts)
            self.stdout.write(series.alarm.words)
        for one in found.apart:
            self._print_parts(one.name, one.parts)
            self.stdout.write(one.words)

    def _print_parts(self, name: str, parts: Sequence[Parting]) -> None:
        self.print_rows(
            [name, "grader passes", "experts pass", "gap", "95%", "n"],
            [
                [
                    part.name,
                    value(part.proxy),
                    value(part.gold),
                    value(part.gap),
                    interval(part.gap),
                    f"{part.gap.n_units:,}",
                ]
                for part in parts
            ],
        )
