"""`manage.py rationales QUEUE [--hear] [--json]`: judgments whose words speak for the other verdict."""

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from goldsets.actions.rationales import hear
from goldsets.management.reports import QueueReport, find_queue, interval, value
from goldsets.queries.rationales import Rationales, rationales_page
from reviews.models import Queue


class Command(QueueReport):
    help = "Prints judgments whose rationale speaks for the other verdict, the most striking first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--hear", action="store_true", help="first listen to what was judged, as the worker does")

    def handle(self, **options: Any) -> None:
        if options["hear"]:
            hear(queue=find_queue(options["queue"]))
        super().handle(**options)

    def report(self, queue: Queue) -> Rationales:
        return rationales_page(queue, None)

    def as_json(self, report: Rationales) -> Any:
        watch = report.watch
        return {
            "rows": [asdict(row) for row in report.rows],
            "listed_of": report.listed_of,
            "kept_back": report.kept_back,
            "precision": report.precision.as_dict(),
            "fitted": watch.fitted if watch else 0,
            "families": watch.families if watch else 0,
            "words": watch.words if watch else "",
        }

    def print_table(self, report: Rationales) -> None:
        if report.watch is None:
            self.stdout.write("Nothing was listened to yet; --hear does.")
        elif report.watch.words:
            self.stdout.write(report.watch.words)
        for row in report.rows:
            who = row.rater or "a rater"
            self.stdout.write(f"{row.probability:.2f}  {row.verdict:<4}  {row.title} ({who}): {row.rationale[:100]}")
        said = f"{value(report.precision)} {interval(report.precision)}, n {report.precision.n_units}"
        self.stdout.write(f"{report.listed_of} wait to be looked at; right among those looked at: {said}")
