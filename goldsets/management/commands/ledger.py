"""`manage.py ledger PROJECT [--queue Q] [--prices N] [--set NAME=DOLLARS …] [--json]`: what judgement costs."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from goldsets.actions.pricing import write_prices
from goldsets.management.acting import acting_member, find_project
from goldsets.queries.ledger import Ledger, Line, ledger, price_list
from reviews.enums import Role
from reviews.errors import AssayError
from reviews.models import Project
from reviews.queries.projects import queue_by_slug
from reviews.stats.result import Estimate


class Command(BaseCommand):
    help = (
        "Prints what judgement cost and what came of it, by kind of work, recipe and week; --set writes prices first."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's address, as in its URL")
        parser.add_argument("--queue", help="only the work of this queue")
        parser.add_argument("--prices", type=int, metavar="N", help="reckon with this list; otherwise with the latest")
        parser.add_argument("--set", action="append", default=[], metavar="NAME=DOLLARS", help="such as expert=90")
        parser.add_argument(
            "--as", dest="email", help="e-mail of who writes prices; otherwise the project's first lead"
        )
        parser.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, **options: Any) -> None:
        project = find_project(options["project"])
        if options["set"]:
            self._write(project, options["set"], options["email"])
        queue = queue_by_slug(project, options["queue"]) if options["queue"] else None
        if options["queue"] and queue is None:
            raise CommandError(f"The project has no queue “{options['queue']}”.")
        prices = price_list(project, options["prices"]) if options["prices"] is not None else None
        if options["prices"] is not None and prices is None:
            raise CommandError(f"The project has no list of prices {options['prices']}.")
        found = ledger(project, queue=queue, prices=prices)
        if options["json"]:
            self.stdout.write(json.dumps(found.as_dict(), indent=2, ensure_ascii=False, default=str))
        else:
            self._print(found)

    def _write(self, project: Project, given: list[str], email: str | None) -> None:
        prices: dict[str, Any] = {}
        for each in given:
            name, _equals, price = each.partition("=")
            try:
                prices[name] = float(price)
            except ValueError as error:
                raise CommandError(f"“{each}” is no NAME=DOLLARS, such as expert=90.") from error
        try:
            write_prices(actor=acting_member(project, email, Role.LEAD), project=project, prices=prices)
        except AssayError as error:
            raise CommandError(str(error)) from error

    def _print(self, found: Ledger) -> None:
        at = f"at prices {found.prices.number}" if found.prices else "no prices are written"
        self.stdout.write(f"US dollars, {at}")
        for row in found.kinds:
            self.stdout.write(f"{row.title:<42} {row.minutes:>9.1f} min  {row.share:>4.0%}  n {row.pieces}")
        for rung in found.rungs:
            took = f"{rung.minutes:.1f} min, {rung.tokens:,} tokens, {rung.seconds:.1f} s of computing"
            self.stdout.write(f"{rung.title}: n {rung.verdicts}, {took}; {rung.cost.statistic}: {_said(rung.cost)}")
        for each in found.forecasts:
            self.stdout.write(f"{each.title}: {each.minutes.ahead.statistic}: {_said(each.minutes.ahead)}")
        for line in (*found.recipes, *found.weeks, found.total):
            self._print_line(line)

    def _print_line(self, line: Line) -> None:
        money = "" if line.money is None else f", ${line.money:,.2f}"
        untimed = f", {line.untimed} without a time" if line.untimed else ""
        self.stdout.write(
            f"{line.title}: {line.minutes:.1f} min{money}, {line.labels} labels, {line.kept} kept{untimed}"
        )
        for estimate in (line.minutes_per_label, line.minutes_per_kept, line.cost_per_kept, line.kept_per_dollar):
            self.stdout.write(f"  {estimate.statistic}: {_said(estimate)}")


def _said(estimate: Estimate) -> str:
    """ "3.20 [2.80, 3.66], n 41", or why not."""
    if estimate.value is None:
        return estimate.words
    ends = "" if estimate.low is None else f" [{estimate.low:.2f}, {estimate.high:.2f}]"
    return f"{estimate.value:.2f}{ends}, n {estimate.n_units}{f'. {estimate.words}' if estimate.words else ''}"
