"""`manage.py score REVIEWER FILE`: a verdict on each item of a file, the same that a bundle's `score.py` gives."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from goldsets.enums import ReviewerState
from goldsets.queries.reviewers import reviewer_by_uid
from goldsets.reviewing.scoring import Unreadable, read_reviewer, verdicts


class Command(BaseCommand):
    help = "Reads items, a JSON object a line, and writes verdict, confidence, deferral and evidence of each."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("reviewer", help="the reviewer's id, or a reviewer.json from a bundle")
        parser.add_argument("file", help="items as exported in the format jsonl, or “-” for standard input")

    def handle(self, **options: Any) -> None:
        try:
            reviewer = self._reviewer(options["reviewer"])
            if options["file"] == "-":
                self._write(reviewer, sys.stdin)
            else:
                with Path(options["file"]).open(encoding="utf-8") as lines:
                    self._write(reviewer, lines)
        except Unreadable as error:
            raise CommandError(str(error)) from error
        except UnicodeDecodeError:
            raise CommandError(f"{options['file']} is not text in UTF-8.") from None
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}.") from error

    def _write(self, reviewer: dict[str, Any], lines: Any) -> None:
        for line in verdicts(reviewer, lines):
            self.stdout.write(line, ending="")

    def _reviewer(self, name: str) -> dict[str, Any]:
        try:
            uid = UUID(name)
        except ValueError:
            return read_reviewer(Path(name).read_bytes())
        found = reviewer_by_uid(uid)
        if found is None:
            raise CommandError("There is no such reviewer.")
        if found.state not in (ReviewerState.PROVEN, ReviewerState.SIGNED) or found.artefact is None:
            state, why = found.get_state_display().lower(), found.expired_because
            raise CommandError(f"This reviewer judges nothing: it is {state}. {why}".strip())
        return dict(found.artefact)
