"""`manage.py calibrate GRADER [--version N] [--json]`: how well a grader judges as the experts do."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from goldsets.management.graders import GraderCommand, find_grader
from goldsets.management.reports import interval, value
from goldsets.queries.calibration import Report, calibration, question
from goldsets.stats.checklist import in_words
from reviews.errors import AssayError
from reviews.stats.result import Estimate

OPTIONS = ("version", "criterion", "against", "part", "limit", "other")


class Command(GraderCommand):
    help = "Prints how a version of a grader judges beside the experts' labels; with a limit, exits with 1 above it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--part", default="", help="train, calibration or held_out; all that is not held out")
        parser.add_argument("--limit", type=float, help="the rate of false positives to stay under; 0.05")
        parser.add_argument("--other", type=int, help="another version to hold it against; the one before")
        parser.add_argument("--check", action="store_true", help="fail unless false positives are bounded at the limit")

    def handle(self, **options: Any) -> None:
        grader = find_grader(options["grader"])
        try:
            asked = question(grader, {name: options[name] for name in OPTIONS})
            if asked.reads_sealed:
                self.log_reading(asked.version, asked.criterion, options["email"])
            report = calibration(asked)
        except AssayError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.print_json(report.as_dict())
        else:
            self._print(report)
        if options["check"] and (report.found.bound.high or 1.0) > report.limit:
            raise CommandError(f"False positives are not bounded at {report.limit:.0%}. {report.found.more.words}")

    def _print(self, report: Report) -> None:
        found = report.found
        self.stdout.write(
            f"{report.grader}, version {report.version}{f' ({report.label})' if report.label else ''}: "
            f"{found.n_scored:,} runs scored, {found.n_labelled:,} of them labelled; a pass is right where "
            f"{report.against_words}. {report.threshold_words}"
        )
        table = found.errors
        self.print_rows(
            ["", "experts pass", "experts fail"],
            [
                ["grader passes", f"{table.true_passes:,}", f"{table.false_passes:,}"],
                ["grader fails", f"{table.false_fails:,}", f"{table.true_fails:,}"],
            ],
        )
        for estimate in self._estimates(report):
            self.stdout.write(f"{estimate.statistic}: {in_words(estimate)}")
        self.stdout.write(f"Threshold: {found.certified.words}")
        self.print_rows(
            ["part, worst first", "false positives", "95%", "n", "false negatives", "95%", "n"],
            [
                [
                    cut.title,
                    value(cut.errors.false_positive_rate),
                    interval(cut.errors.false_positive_rate),
                    f"{cut.errors.failures:,}",
                    value(cut.errors.false_negative_rate),
                    interval(cut.errors.false_negative_rate),
                    f"{cut.errors.successes:,}",
                ]
                for cut in found.cuts
            ],
        )
        if found.beside:
            both, test = found.beside.all, found.beside.all.test
            self.stdout.write(
                f"Beside version {found.beside.other} on {both.n:,} runs: this one alone is right on "
                f"{both.first_only:,}, that one on {both.second_only:,}; "
                + (f"McNemar p {test.p:.3g}." if test.p is not None else test.words)
            )
        if report.pairs:
            pairs = report.pairs
            self.stdout.write(f"Pairs: {pairs.n_scored:,} scored, {pairs.n_labelled:,} settled")
            for one in (pairs.agrees, pairs.same, pairs.kappa, pairs.ceiling, pairs.longest, pairs.first):
                self.stdout.write(f"{one.statistic}: {in_words(one)}")
            if pairs.position.n:
                self.stdout.write(f"{pairs.both_orders.statistic}: {in_words(pairs.both_orders)}")
        for sentence in report.missing:
            self.stdout.write(f"Missing: {sentence}")

    @staticmethod
    def _estimates(report: Report) -> list[Estimate]:
        found = report.found
        return [
            found.errors.false_positive_rate,
            found.bound,
            found.errors.false_negative_rate,
            found.errors.accuracy,
            found.ceiling.accuracy,
            found.ceiling.decided,
            found.curve.roc_area,
            found.reliability.brier,
            found.reliability.ece,
            found.rates.apparent,
            found.rates.corrected,
            found.rates.powered.estimate,
            found.rewarded.breaking,
            found.rewarded.successes,
            found.regrading.changes,
        ]
