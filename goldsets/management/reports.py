"""What commands that report on one queue share: JSON or a table."""

import json
from abc import ABC, abstractmethod
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand

from reviews.management.finding import find_queue
from reviews.models import Queue
from reviews.stats.result import Estimate


class Rows(BaseCommand):
    """A command that prints tables, or JSON."""

    def print_json(self, report: Any) -> None:
        self.stdout.write(json.dumps(report, indent=2, ensure_ascii=False, default=str))

    def print_rows(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Columns as wide as their widest cell; the first flush left, the others flush right."""
        widths = [max(len(cell) for cell in column) for column in zip(head, *rows, strict=True)]
        for row in (head, *rows):
            first, *others = (
                cell.ljust(width) if at == 0 else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            self.stdout.write("  ".join([first, *others]).rstrip())


class QueueReport(Rows, ABC):
    """A command `NAME QUEUE [--json]`. Subclasses make the report and print it as a table."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("queue", help="the queue's address: its slug, PROJECT/SLUG, or its id")
        parser.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, **options: Any) -> None:
        report = self.report(find_queue(options["queue"]))
        if options["json"]:
            self.print_json(self.as_json(report))
        else:
            self.print_table(report)

    @abstractmethod
    def report(self, queue: Queue) -> Any:
        """What the command reports."""

    @abstractmethod
    def as_json(self, report: Any) -> Any:
        """The report as JSON can hold it."""

    @abstractmethod
    def print_table(self, report: Any) -> None:
        """The report as a person reads it."""


def value(estimate: Estimate | None) -> str:
    """0.52, or nothing."""
    return "" if estimate is None or estimate.value is None else f"{estimate.value:.2f}"


def interval(estimate: Estimate | None) -> str:
    """[0.44, 0.60], or nothing."""
    if estimate is None or estimate.low is None or estimate.high is None:
        return ""
    return f"[{estimate.low:.2f}, {estimate.high:.2f}]"
