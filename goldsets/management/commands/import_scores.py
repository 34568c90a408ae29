"""`manage.py import_scores GRADER FILE… [--version N]`: keeps the scores of files, JSON lines or CSV, for a version."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from goldsets.actions.grader_scores import ScoresReceipt, adopt_scores, import_scores
from goldsets.management.acting import acting_member
from goldsets.management.graders import find_grader
from goldsets.queries.graders import version_by_number
from reviews.enums import Role
from reviews.errors import AssayError

REFUSALS_SHOWN = 20


class Command(BaseCommand):
    help = "Brings scores of a grader in. The same file twice changes nothing; a bad row is refused alone."

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        """Django's own --version, which says which Django this is, makes way for the grader's."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("grader", help="PROJECT/NAME of the grader, its name where it is the only one, or its id")
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="JSON lines, or CSV by its name")
        parser.add_argument("--version", type=int, help="the version's number; otherwise the latest")
        parser.add_argument("--from-runs", action="store_true", help="keep what came in with runs under its source")
        parser.add_argument("--as", dest="email", help="e-mail of who brings them in; otherwise the first engineer")
        parser.add_argument("--json", action="store_true", help="print the receipts as JSON")

    def handle(self, **options: Any) -> None:
        grader = find_grader(options["grader"])
        version = version_by_number(grader, options["version"])
        if version is None:
            raise CommandError(f"“{grader}” has no such version.")
        if not options["files"] and not options["from_runs"]:
            raise CommandError("Name a file, or say --from-runs.")
        actor = acting_member(grader.project, options["email"], Role.ENGINEER, Role.LEAD)
        receipts: list[tuple[str, ScoresReceipt]] = []
        try:
            for path in options["files"]:
                with path.open("rb") as file:
                    receipts.append((str(path), import_scores(actor=actor, version=version, file=file, name=path.name)))
            if options["from_runs"]:
                receipts.append(("runs", adopt_scores(actor=actor, version=version)))
        except AssayError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror or error}.") from error
        self._print(receipts, as_json=options["json"])
        if empty := [name for name, each in receipts if each.refused and not each.created and not each.already_there]:
            raise CommandError(f"Nothing could be taken from {', '.join(empty)}.")

    def _print(self, receipts: list[tuple[str, ScoresReceipt]], *, as_json: bool) -> None:
        if as_json:
            told = [
                {"file": name, **each.counts, "refusals": [{"place": at, "reason": why} for at, why in each.refusals]}
                for name, each in receipts
            ]
            self.stdout.write(json.dumps(told, indent=2, ensure_ascii=False))
            return
        for name, each in receipts:
            self.stdout.write(
                f"{name}: {each.created:,} created, {each.already_there:,} already there, {each.refused:,} refused"
            )
            for place, reason in each.refusals[:REFUSALS_SHOWN]:
                self.stdout.write(f"  {place}: {reason}")
            if each.refused > REFUSALS_SHOWN:
                self.stdout.write(f"  and {each.refused - REFUSALS_SHOWN:,} more")
