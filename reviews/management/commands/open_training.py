"""`manage.py open_training QUEUE FILE --name NAME`: opens a practice set or a qualification from labels that stand."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reviews.actions.training import Pick, open_training
from reviews.enums import Purpose
from reviews.errors import AssayError, Invalid
from reviews.management.finding import find_person, find_queue
from reviews.models import Queue
from reviews.queries.training import fit_to_train
from reviews.trajectories import jsontext
from reviews.trajectories.schema import RowError

LINES = ("guideline_line", "policy_line")


class Command(BaseCommand):
    help = (
        'Opens a practice set or, with --mark, a qualification, from JSON lines {"label": ID, "guideline_line": N, '
        '"policy_line": N, "why": "…"}; only "label" is needed.'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("queue", help="the queue it is for: its slug, PROJECT/SLUG, or its id")
        parser.add_argument("file", type=Path, metavar="FILE", help="JSON lines")
        parser.add_argument("--name", required=True, help="what raters see it called")
        parser.add_argument("--mark", type=float, metavar="SHARE", help="makes it a qualification; between 0 and 1")
        parser.add_argument("--as", dest="email", required=True, metavar="EMAIL", help="the lead who opens it")
        parser.add_argument("--json", action="store_true", help="print what was opened as JSON")

    def handle(self, **options: Any) -> None:
        queue, lead = find_queue(options["queue"]), find_person(options["email"])
        purpose = Purpose.PRACTICE if options["mark"] is None else Purpose.QUALIFICATION
        try:
            made = open_training(
                actor=lead,
                queue=queue,
                purpose=purpose,
                name=options["name"],
                picks=_picks(options["file"], queue),
                mark=options["mark"],
            )
        except Invalid as error:
            raise CommandError("\n".join(f"{field}: {said}" for field, said in error.errors.items())) from error
        except AssayError as error:
            raise CommandError(error.message) from error
        if options["json"]:
            self.stdout.write(json.dumps({"uid": str(made.uid), "name": made.name, "purpose": made.purpose}))
        else:
            self.stdout.write(f"{made.name} is open: {made.get_purpose_display().lower()} for {queue.name}.")


def _picks(path: Path, queue: Queue) -> list[Pick]:
    """The labels the file names, in its order. Raises CommandError with each line that is wrong."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}.") from error
    fit = {str(label.uid): label for label in fit_to_train(queue)}
    picks, wrong = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        row, reason = _row(line)
        if not reason and row["label"] not in fit:
            reason = "There is no such label to train with: it must stand, and its item be in no other set."
        if reason:
            wrong.append(f"line {number}: {reason}")
        else:
            picks.append(Pick(**{**row, "label": fit[row["label"]]}))
    if wrong:
        raise CommandError("\n".join(wrong))
    return picks


def _row(line: str) -> tuple[dict[str, Any], str]:
    """A pick as it is written, and what is wrong with it."""
    try:
        row = jsontext.parse(line.encode())
    except RowError as error:
        return {}, f"This is not JSON: {error}."
    if not isinstance(row, dict) or not isinstance(row.get("label"), str):
        return {}, 'A line is {"label": the label\'s id, …}.'
    if unknown := set(row) - {"label", "why", *LINES}:
        return {}, f"“{min(unknown)}” is not known here."
    if any(not isinstance(row.get(name, 1), int) or isinstance(row.get(name), bool) for name in LINES):
        return {}, "The lines of guideline and policy are whole numbers."
    if not isinstance(row.get("why", ""), str):
        return {}, "“why” is a text."
    return row, ""
