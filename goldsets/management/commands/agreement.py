"""`manage.py agreement QUEUE [--report]`: how far raters agree, criterion by criterion, with gold left out."""

from argparse import ArgumentParser
from typing import Any

from goldsets.management.reports import QueueReport, interval, value
from goldsets.queries.agreement import queue_agreement
from goldsets.queries.agreement_report import as_markdown, current_report
from reviews.management.finding import find_queue
from reviews.models import Queue
from reviews.queries.agreement import QueueAgreement


class Command(QueueReport):
    help = "Prints the agreement of a queue's raters before adjudication, gold left out."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--report", action="store_true", help="print a report in Markdown, with its methods")

    def handle(self, **options: Any) -> None:
        if options["report"]:
            self.stdout.write(as_markdown(current_report(find_queue(options["queue"]))), ending="")
        else:
            super().handle(**options)

    def report(self, queue: Queue) -> QueueAgreement:
        return queue_agreement(queue)

    def as_json(self, report: QueueAgreement) -> dict[str, Any]:
        return report.as_dict()

    def print_table(self, report: QueueAgreement) -> None:
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
