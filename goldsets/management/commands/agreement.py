"""`manage.py agreement QUEUE`: how far raters agree with each other, gold left out, and with themselves.

With `--report` a report in Markdown, with `--consensus CRITERION` what is probable of every item.
"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from goldsets.management.reports import QueueReport, interval, value
from goldsets.queries.agreement import Kept, current_agreement
from goldsets.queries.agreement_report import as_markdown, current_report
from reviews.management.finding import find_queue
from reviews.models import Queue
from reviews.queries.agreement import QueueAgreement
from reviews.queries.repeats import Within


class Command(QueueReport):
    help = "Prints the agreement of a queue's raters before adjudication, gold left out."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--report", action="store_true", help="print a report in Markdown, with its methods")

        parser.add_argument("--consensus", metavar="CRITERION", help="print what is probable of each item, as JSON")

    def handle(self, **options: Any) -> None:
        if options["consensus"]:
            self.print_json(consensus_of(find_queue(options["queue"]), options["consensus"]))
        elif options["report"]:
            self.stdout.write(as_markdown(current_report(find_queue(options["queue"]))), ending="")
        else:
            super().handle(**options)

    def report(self, queue: Queue) -> Kept:
        return current_agreement(queue)

    def as_json(self, report: Kept) -> dict[str, Any]:
        return {**report.found.as_dict(), "within": report.within.as_dict()}

    def print_table(self, report: Kept) -> None:
        self.print_between(report.found)
        if report.within.n_repeats:
            self.print_within(report.within)

    def print_within(self, report: Within) -> None:
        self.stdout.write(f"\nRaters with themselves, on {report.n_repeats:,} items that came to them again:")
        self.print_rows(
            ["question", "n", "same", "95%", "alpha"],
            [
                [
                    entry.title,
                    f"{entry.percent.n_units:,}",
                    value(entry.percent),
                    interval(entry.percent),
                    value(entry.alpha),
                ]
                for entry in report.criteria
            ],
        )

    def print_between(self, report: QueueAgreement) -> None:
        self.stdout.write(
            f"{report.n_pairable:,} of {report.n_items:,} items have two or more judgments; "
            f"{report.n_judgments:,} judgments count, {report.n_left_out:,} on gold are left out."
        )
        entries = report.entries
        self.print_rows(
            ["criterion", "n", "percent", "alpha", "95%", "AC", "differ"],
            [
                [
                    entry.title,
                    f"{entry.percent.n_units:,}",
                    value(entry.percent),
                    value(entry.alpha),
                    interval(entry.alpha),
                    value(entry.ac),
                    f"{entry.n_disagreed:,}",
                ]
                for entry in entries
            ],
        )
        for entry in entries:
            if entry.alpha.words:
                self.stdout.write(f"{entry.title}: {entry.alpha.words}")
        for reading in report.readings:
            self.stdout.write(reading)


def consensus_of(queue: Queue, key: str) -> dict[str, Any]:
    """What the answers to one criterion probably are, item by item."""
    entries = [entry for entry in current_agreement(queue).found.entries if entry.consensus]
    found = next((entry.consensus for entry in entries if entry.key == key), None)
    if found is None:
        known = ", ".join(entry.key for entry in entries) or "this rubric has none"
        raise CommandError(f"Name a criterion with a declared scale: {known}.")
    return found.as_dict()
