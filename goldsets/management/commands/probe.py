"""`manage.py probe GRADER [--version N]`: puts a grader's probes to a version and fails where it is fooled, for CI."""

import json
from argparse import ArgumentParser
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from goldsets.actions.probe_work import import_answers, run_probes, start_probes
from goldsets.actions.probes import promote_version
from goldsets.enums import ProbeRunState
from goldsets.management.acting import acting_member
from goldsets.management.commands.calibrate import find_grader
from goldsets.management.reports import Rows, interval
from goldsets.models import Grader, GraderVersion
from goldsets.queries.probes import WORDS, VersionStood, exported_probes, stood_of
from reviews.enums import Role
from reviews.errors import AssayError


class Command(Rows):
    help = "Puts all approved probes to a version of a grader, and exits with 1 where it does not stand up."

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        """Django's own --version, which says which Django this is, makes way for the grader's."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("grader", help="the grader's name, PROJECT/NAME, or its id")
        parser.add_argument("--version", type=int, help="the version's number; otherwise the latest")
        parser.add_argument("--budget", default="5", help="US dollars for a judging model; 5 if left out")
        parser.add_argument("--export", metavar="FILE", help="write the probes for a grader elsewhere, and ask nobody")
        parser.add_argument("--import", dest="scores", metavar="FILE", help="scores of a grader elsewhere, JSON lines")
        parser.add_argument("--look", action="store_true", help="ask nobody: print how the version stood up last")
        parser.add_argument("--promote", action="store_true", help="promote the version where nothing is missing")
        parser.add_argument("--reason", default="", help="why it is promoted all the same; needs a lead")
        parser.add_argument("--as", dest="email", help="e-mail of who does it; otherwise the project's first lead")
        parser.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, **options: Any) -> None:
        version = self._version(find_grader(options["grader"]), options["version"])
        if options["export"]:
            self._export(version, Path(options["export"]))
            return
        actor = acting_member(version.grader.project, options["email"], Role.LEAD, Role.ENGINEER)
        try:
            ended = "" if options["look"] else self._ask(actor, version, options)
            stood = stood_of(version)
            self._print(stood, as_json=options["json"])
            if ended:
                raise CommandError(f"Not all probes were put to it: {ended}")
            if options["promote"] or options["reason"]:
                promote_version(actor=actor, version=version, reason=options["reason"])
                return
        except AssayError as error:
            raise CommandError(str(error)) from error
        if stood.missing:
            raise CommandError("It did not stand up. " + " ".join(stood.missing))

    def _version(self, grader: Grader, number: int | None) -> GraderVersion:
        versions = grader.versions.select_related("grader__project").order_by("-number")
        found = (versions.filter(number=number) if number else versions).first()
        if found is None:
            raise CommandError(f"The grader has no version{f' {number}' if number else ''}.")
        return found

    def _export(self, version: GraderVersion, path: Path) -> None:
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in exported_probes(version)]
        path.write_text("".join(lines), encoding="utf-8")
        self.stdout.write(f"{len(lines)} probes in {path}")

    def _ask(self, actor: Any, version: GraderVersion, options: dict[str, Any]) -> str:
        """Put the probes to the version; why that did not come to its end, or ""."""
        if options["scores"]:
            import_answers(actor=actor, version=version, scores=_rows(Path(options["scores"])))
            return ""
        try:
            budget = Decimal(options["budget"])
        except InvalidOperation:
            raise CommandError("A budget is a number of US dollars.") from None
        run = run_probes(run_id=start_probes(actor=actor, version=version, budget=budget).pk)
        return "" if run.state == ProbeRunState.FINISHED else run.error or "somebody else is at work on it."

    def _print(self, stood: VersionStood, *, as_json: bool) -> None:
        if as_json:
            self.print_json(stood.as_dict())
            return
        rows = [
            [WORDS[row.kind], f"{row.held} of {row.answered}", interval(row.rate), str(row.probes), str(row.worse)]
            for row in stood.rows
        ]
        self.stdout.write(f"{stood.version}")
        self.print_rows(["Kind", "held", "95% Wilson", "probes", "worse than before"], rows)


def _rows(path: Path) -> list[Any]:
    try:
        text = path.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{path} is not JSON lines.") from error
