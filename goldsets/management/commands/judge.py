"""`manage.py judge PROJECT NAME QUEUE --budget DOLLARS`: a judging model over a queue, here and now."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from goldsets.actions.judge_work import run_judge
from goldsets.actions.judges import resume_judge, start_judge, with_examples
from goldsets.enums import JudgeRunState, JudgeScope
from goldsets.management.acting import acting_member, find_project
from goldsets.management.reports import find_queue
from goldsets.models import JudgeRun
from goldsets.queries.judges import judge_by_name, receipt_of, run_by_uid
from reviews.enums import Role
from reviews.errors import AssayError


class Command(BaseCommand):
    help = "Asks a judge about the items of a queue within a budget, and exits with 1 where it did not come to the end."

    def create_parser(self, prog_name: str, subcommand: str, **options: Any) -> CommandParser:
        """Django's own --version, which says which Django this is, makes way for the judge's."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **options)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's address, as in its URL")
        parser.add_argument("name", help="the judge's name")
        parser.add_argument("queue", help="the queue's slug or id")
        parser.add_argument("--budget", required=True, help="US dollars; nothing is asked that could go over")
        parser.add_argument("--scope", choices=JudgeScope.values, default=JudgeScope.SETTLED.value)
        parser.add_argument("--attempt", type=int, default=1, help="2 asks a second time")
        parser.add_argument(
            "--examples", type=int, help="give it so many examples first, half pass and half fail: its next version"
        )
        parser.add_argument("--version", dest="number", type=int, help="the version's number; otherwise the latest")
        parser.add_argument("--resume", metavar="RUN", help="the id of a run that was stopped, to go on with")
        parser.add_argument("--as", dest="email", help="e-mail of who starts it; otherwise the first lead")
        parser.add_argument("--json", action="store_true", help="print the receipt as JSON")

    def handle(self, **options: Any) -> None:
        project = find_project(options["project"])
        actor = acting_member(project, options["email"], Role.LEAD, Role.ENGINEER)
        try:
            run = self._run(project, actor, options)
        except AssayError as error:
            raise CommandError(str(error)) from error
        while run_judge(run_id=run.pk):
            pass
        run.refresh_from_db()
        self._tell(run, as_json=options["json"])
        if run.state != JudgeRunState.FINISHED:
            why = run.error or "Somebody else is at work on it, or stopped it."
            raise CommandError(f"Not finished: {why} Go on with --resume {run.uid}.")

    def _run(self, project: Any, actor: Any, options: dict[str, Any]) -> JudgeRun:
        try:
            budget = Decimal(options["budget"])
        except InvalidOperation:
            raise CommandError("A budget is a number of US dollars.") from None
        if options["resume"]:
            found = run_by_uid(options["resume"])
            if found is None or found.queue.project_id != project.pk:
                raise CommandError("The project has no such run.")
            return resume_judge(actor=actor, run=found, budget=budget)
        setup = judge_by_name(project, options["name"], options["number"])
        if setup is None:
            raise CommandError(f"The project has no judge “{options['name']}” of that version.")
        if options["examples"] is not None:
            setup = with_examples(actor=actor, setup=setup, examples=options["examples"])
        queue = find_queue(options["queue"])
        told = {"scope": options["scope"], "attempt": options["attempt"]}
        return start_judge(actor=actor, setup=setup, queue=queue, budget=budget, **told)

    def _tell(self, run: JudgeRun, *, as_json: bool) -> None:
        receipt = receipt_of(run)
        if as_json:
            told = {"run": str(run.uid), "state": run.state, "error": run.error, **asdict(receipt)}
            self.stdout.write(json.dumps(told, indent=2, ensure_ascii=False, default=str))
            return
        self.stdout.write(f"{run}: {receipt.done} of {receipt.total} items, {receipt.scores} scores")
        for _state, words, count in receipt.rows:
            self.stdout.write(f"  {count:>6}  {words}")
        lost = f", of it at most ${receipt.lost:.4f} for answers that never came" if receipt.lost else ""
        self.stdout.write(f"Spent ${receipt.spent:.4f} of ${receipt.budget:.2f}{lost}")
