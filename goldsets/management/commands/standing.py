"""`manage.py standing QUEUE`: where each rater stands, what gold says of them, and what the rule proposes."""

from argparse import ArgumentParser
from dataclasses import dataclass
from typing import Any

from goldsets.actions.standing import review_standings
from goldsets.management.reports import QueueReport, interval, value
from goldsets.models import StandingMove
from goldsets.queries.standing import RaterStanding, proposed_moves, queue_standing
from reviews.management.finding import find_queue
from reviews.models import Queue
from reviews.stats.result import Estimate


@dataclass(frozen=True)
class Report:
    raters: list[RaterStanding]
    proposed: list[StandingMove]


class Command(QueueReport):
    help = (
        "Prints where each rater stands, their accuracy on gold with the test's verdict, and agreement with the others."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--review", action="store_true", help="first put everybody to the test, as the worker does")

    def handle(self, **options: Any) -> None:
        if options["review"]:
            review_standings(queue=find_queue(options["queue"]))
        super().handle(**options)

    def report(self, queue: Queue) -> Report:
        return Report(queue_standing(queue), proposed_moves(queue))

    def as_json(self, report: Report) -> dict[str, Any]:
        proposed = [
            {"rater": str(move.standing.rater), "before": move.before, "after": move.after, "why": move.why}
            for move in report.proposed
        ]
        return {"raters": [standing.as_dict() for standing in report.raters], "proposed": proposed}

    def print_table(self, report: Report) -> None:
        head = ["rater", "standing", "judgments", "gold", "accuracy", "95%", "test", "drift"]
        self.print_rows(
            [*head, "with others", "alpha without", "median s"],
            [
                [
                    standing.rater + (" (simulated)" if standing.simulated else ""),
                    standing.state_words.lower(),
                    f"{standing.n_judgments:,}",
                    f"{standing.gold_right}/{standing.gold_n}",
                    value(standing.accuracy),
                    interval(standing.accuracy) if standing.gold_n else "",
                    str(standing.test.verdict) if standing.gold_n else "",
                    f"{standing.drift.path[-1]}/{standing.drift.limit}" if standing.drift.path else "",
                    value(standing.with_others),
                    _signed(standing),
                    _seconds(standing.median_seconds),
                ]
                for standing in report.raters
            ],
        )
        if report.raters and report.raters[0].criterion_of_change:
            weakest = report.raters[0].criterion_of_change
            words = (
                f"“Alpha without” is how alpha of {weakest}, the weakest criterion, changes when the rater is left out."
            )
            self.stdout.write(words)
        for move in report.proposed:
            words = f"{move.get_before_display().lower()} to {move.get_after_display().lower()}"
            self.stdout.write(f"Proposed: {move.standing.rater}, {words}. {move.why}")


def _seconds(median: Estimate | None) -> str:
    if median is None:
        return ""
    return f"{median.value:.0f}{'' if median.low is None else f' [{median.low:.0f}, {median.high:.0f}]'}"


def _signed(standing: RaterStanding) -> str:
    change = standing.alpha_change
    return "" if change is None or change.value is None else f"{change.value:+.2f}"
