"""`manage.py stage QUEUE`: the reviewer at work in a queue; starts one, lets it decide, or takes it out."""

from argparse import ArgumentParser
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError

from goldsets.actions.asking_for_stages import ask_for_stage
from goldsets.actions.judge_work import run_judge
from goldsets.actions.staging import let_decide, retire_stage, roll_back, run_stage, start_stage
from goldsets.enums import StageWork
from goldsets.management.acting import acting_member
from goldsets.management.reports import QueueReport, find_queue, interval, value
from goldsets.models import Stage
from goldsets.queries.stages import Live, fit_reviewers, live_of, stages_of
from reviews.enums import Role
from reviews.errors import AssayError
from reviews.models import Queue


class Command(QueueReport):
    help = "Prints what live items say of the reviewer at work in a queue; starts, promotes or ends it first if asked."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        what = parser.add_mutually_exclusive_group()
        what.add_argument(
            "--start", metavar="REVIEWER", help="put this signed reviewer in shadow: its number or its id"
        )
        what.add_argument("--look", action="store_true", help="judge what waits now, as the worker does by itself")
        what.add_argument("--decide", action="store_true", help="let it decide what live items bear out")
        what.add_argument("--roll-back", metavar="WHY", help="stop it; everything open goes to people")
        what.add_argument("--retire", metavar="WHY", help="take it out for good; its labels stay")
        parser.add_argument("--audit-share", type=float, default=0.1, help="with --start: the share that is audited")
        parser.add_argument(
            "--budget", type=Decimal, default=Decimal(0), help="with --start: US dollars that a judge may take here"
        )
        parser.add_argument(
            "--work", choices=StageWork.values, help="with --start or --roll-back: what becomes of its labels"
        )
        parser.add_argument(
            "--as", dest="actor", metavar="EMAIL", help="who acts; the project's first lead if not said"
        )

    def handle(self, **options: Any) -> None:
        queue = find_queue(options["queue"])
        try:
            self._act(queue, options)
        except AssayError as error:
            raise CommandError(error.message) from error
        super().handle(**options)

    def _act(self, queue: Queue, options: dict[str, Any]) -> None:
        if options["start"]:
            self._start(queue, options)
        elif options["look"]:
            _look(_live(queue).pk)
        elif options["decide"]:
            let_decide(actor=_actor(queue, options), stage=_live(queue))
        elif options["roll_back"]:
            why, work = options["roll_back"], options["work"]
            roll_back(actor=_actor(queue, options), stage=_live(queue), why=why, work=work)
        elif options["retire"]:
            retire_stage(actor=_actor(queue, options), stage=_live(queue), why=options["retire"])

    def _start(self, queue: Queue, options: dict[str, Any]) -> None:
        named = options["start"]
        reviewers = [row for row in fit_reviewers(queue) if named in (str(row.number), str(row.uid))]
        if len(reviewers) != 1:
            raise CommandError(f"There is no single signed reviewer “{named}” for this queue.")
        start_stage(
            actor=_actor(queue, options),
            queue=queue,
            reviewer=reviewers[0],
            audit_share=options["audit_share"],
            work=options["work"] or StageWork.KEEP,
            budget=options["budget"],
        )

    def report(self, queue: Queue) -> list[Live]:
        return [live_of(stage) for stage in stages_of(queue)[:1]]

    def as_json(self, report: list[Live]) -> dict[str, Any]:
        for live in report:
            stage = live.stage
            return {
                "stage": str(stage.uid),
                "reviewer": str(stage.reviewer.uid),
                "state": stage.state,
                "why": stage.why,
                "takes": stage.takes,
                "audit_share": stage.audit_share,
                "asking": asdict(live.asking) if live.asking else None,
                "counts": dict(live.counts),
                "agreement": live.agreement.as_dict(),
                "kinds": [
                    {"verdict": kind.verdict, "holds": kind.holds, "words": kind.words, "risk": kind.risk.as_dict()}
                    for kind in live.kinds
                ],
                "why_not": live.why_not,
                "audited": live.watched.audited.as_dict(),
                "on_gold": live.watched.on_gold.as_dict(),
                "chart": live.watched.chart.words,
            }
        return {"stage": None}

    def print_table(self, report: list[Live]) -> None:
        if not report:
            self.stdout.write("No reviewer has been at work in this queue.")
        for live in report:
            stage = live.stage
            self.stdout.write(f"{stage.reviewer}, {stage.get_state_display().lower()}. {stage.why}".strip())
            self.print_rows(
                ["on live items", "settled", "right", "95%", "wrong at most", "promised"],
                [
                    [
                        kind.title.lower(),
                        str(kind.agreement.n_units),
                        value(kind.agreement),
                        interval(kind.agreement) if kind.agreement.n_units else "",
                        f"{kind.risk.high or 0:.3f}",
                        f"{kind.limit:.2f}",
                    ]
                    for kind in live.kinds
                ],
            )
            counted = ", ".join(f"{count} {outcome}" for outcome, count in live.counts.items() if count)
            self.stdout.write(f"Verdicts: {counted or 'none'}. {live.watched.chart.words}")
            if live.asking:
                asked = f"Its judge has taken ${live.asking.spent:.4f} of ${live.asking.budget:.2f}"
                self.stdout.write(
                    f"{asked}; {live.asking.waiting} wait to be asked about. {live.asking.held_up}".strip()
                )
            for sentence in live.why_not if stage.state == "shadow" else ():
                self.stdout.write(sentence)


def _look(stage_id: int) -> None:
    """As the worker does: what a judge has to be asked first is asked here and now."""
    run = ask_for_stage(stage_id=stage_id, at_once=True)
    while run and run_judge(run_id=run.pk):
        pass
    run_stage(stage_id=stage_id)


def _live(queue: Queue) -> Stage:
    stage = stages_of(queue).first()
    if stage is None or not stage.is_live:
        raise CommandError("No reviewer is at work in this queue.")
    return stage


def _actor(queue: Queue, options: dict[str, Any]) -> Any:
    return acting_member(queue.project, options["actor"], Role.LEAD)
