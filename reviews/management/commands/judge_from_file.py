"""`manage.py judge_from_file QUEUE FILE --as EMAIL`: submits a person's answers from a file, as the judge page would.

The queue deals in an order of its own, as ever. It ends where nothing is left to deal, or where the item dealt has no
answers in the file; that item stays with the person.
"""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.errors import AssayError, Invalid, NothingToDeal
from reviews.management.finding import find_person, find_queue
from reviews.models import Assignment, Queue
from reviews.trajectories import jsontext
from reviews.trajectories.schema import RowError


class Command(BaseCommand):
    help = 'Judges items of a queue from JSON lines {"item": ID, "answers": {…}}; answers as the API takes a judgment.'

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("queue", help="the queue's address: its slug, PROJECT/SLUG, or its id")
        parser.add_argument("file", type=Path, metavar="FILE", help="JSON lines")
        parser.add_argument("--as", dest="email", required=True, metavar="EMAIL", help="whose answers these are")
        parser.add_argument("--json", action="store_true", help="print the receipt as JSON")

    def handle(self, **options: Any) -> None:
        queue, rater = find_queue(options["queue"]), find_person(options["email"])
        answers, refused = _read(options["file"])
        judged, ending = self._judge(queue, rater, answers, refused)
        receipt = {"judged": judged, "refused": refused, "ended": ending}
        if options["json"]:
            self.stdout.write(json.dumps(receipt, indent=2, ensure_ascii=False))
        else:
            self.stdout.write(f"{len(judged)} judged. {ending}")
            for row in refused:
                self.stdout.write(f"  line {row['line']}: {row['reason']}")
        if refused:
            raise CommandError(f"{len(refused)} of the file's lines were refused; the rest is in.")

    def _judge(
        self, queue: Queue, rater: Any, answers: dict[str, tuple[int, Any]], refused: list[dict[str, Any]]
    ) -> tuple[list[str], str]:
        """The items judged, and in a sentence why it ended."""
        judged: list[str] = []
        while True:
            try:
                assignment = claim(actor=rater, queue=queue)
            except NothingToDeal as ended:
                return judged, ended.message
            except AssayError as error:
                raise CommandError(error.message) from error
            item = str(assignment.item.uid)
            if item not in answers:
                return judged, f"The next item, {item}, has no answers in the file; it waits for {rater}."
            line, said = answers[item]
            if sentence := _submitted(rater, assignment, said):
                refused.append({"line": line, "item": item, "reason": sentence})
                return judged, f"Item {item} waits for {rater}: its answers were refused."
            judged.append(item)


def _submitted(rater: Any, assignment: Assignment, said: Any) -> str:
    """Why the answers were refused, a sentence per field; nothing where they are in."""
    try:
        submit(actor=rater, uid=assignment.uid, payload=said, idempotency_key=str(assignment.uid))
    except Invalid as error:
        return " ".join(f"{field}: {sentence}" for field, sentence in error.errors.items())
    except AssayError as error:
        return error.message
    return ""


def _read(path: Path) -> tuple[dict[str, tuple[int, Any]], list[dict[str, Any]]]:
    """Line and answers of each item, and the lines that are none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}.") from error
    answers: dict[str, tuple[int, Any]] = {}
    refused: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        item, said, reason = _row(line)
        if not reason and item in answers:
            reason = f"Line {answers[item][0]} has answers for this item already."
        if reason:
            refused.append({"line": number, "reason": reason})
        else:
            answers[item] = (number, said)
    return answers, refused


def _row(line: str) -> tuple[str, Any, str]:
    """Item, answers and what is wrong with the line."""
    try:
        row = jsontext.parse(line.encode())
    except RowError as error:
        return "", None, f"This is not JSON: {error}."
    if not isinstance(row, dict) or not isinstance(row.get("item"), str) or not isinstance(row.get("answers"), dict):
        return "", None, 'A line is {"item": the item\'s id, "answers": {…}}.'
    return row["item"], row["answers"], ""
