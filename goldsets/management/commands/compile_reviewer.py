"""`manage.py compile_reviewer QUEUE [--criterion KEY] …`: compiles a reviewer now; exits with 1 where it is refused."""

import json
from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from goldsets.actions.compiling import run_compile, start_compile
from goldsets.enums import ReviewerState, Rung
from goldsets.management.acting import acting_member
from goldsets.management.reports import find_queue
from goldsets.models import GraderVersion, Reviewer
from goldsets.queries.judges import judge_by_name
from goldsets.queries.reviewers import decision_of
from goldsets.reviewing.rule_lines import WrongRules, rules_from_lines
from reviews.enums import Role
from reviews.errors import AssayError
from reviews.models import Project

DONE = (ReviewerState.PROVEN, ReviewerState.SIGNED)


class Command(BaseCommand):
    help = "Compiles a reviewer from the labels of a queue, with its proof, or says what is missing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("queue", help="the queue's address: its slug, PROJECT/SLUG, or its id")
        parser.add_argument("--criterion", default="", help="its key; without one, whether every gate passes")
        parser.add_argument(
            "--at-least", type=int, help="of levels the lowest that passes, of options the one that does"
        )
        parser.add_argument("--rung", default=Rung.CLASSIFIER, choices=Rung.values)
        parser.add_argument(
            "--rule", action="append", default=[], dest="rules", help="such as “fail: contains unapproved”, in order"
        )
        parser.add_argument(
            "--judge", metavar="NAME", help="of the rung of the judge: the grader that is a judging model"
        )
        parser.add_argument("--budget", default=0, type=Decimal, help="US dollars for asking the judge anew")
        parser.add_argument("--as", dest="email", help="e-mail of who compiles; otherwise the first engineer or lead")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, **options: Any) -> None:
        queue = find_queue(options["queue"])
        actor = acting_member(queue.project, options["email"], Role.ENGINEER, Role.LEAD)
        try:
            reviewer = start_compile(
                actor=actor,
                queue=queue,
                criterion=options["criterion"],
                at_least=options["at_least"],
                rung=options["rung"],
                rules=rules_from_lines("\n".join(options["rules"])),
                judge=self._judge(queue.project, options["judge"]) if options["judge"] else None,
                budget=options["budget"],
            )
            reviewer = run_compile(reviewer_id=reviewer.pk)
        except (AssayError, WrongRules) as error:
            raise CommandError(str(error)) from error
        except OperationalError as error:
            raise CommandError(f"The database cannot be reached: {error}") from error
        if options["json"]:
            self.stdout.write(json.dumps(as_json(reviewer), indent=2, ensure_ascii=False))
        else:
            self._print(reviewer)
        if reviewer.state not in DONE:
            missing = "; ".join(reviewer.assurance["missing"]) if reviewer.assurance else reviewer.error
            raise CommandError(f"{reviewer.get_state_display()}. What is missing: {missing}.")

    def _judge(self, project: Project, name: str) -> GraderVersion:
        found = judge_by_name(project, name, None)
        if found is None:
            raise CommandError(f"The project has no judging model called “{name}”.")
        return found.version

    def _print(self, reviewer: Reviewer) -> None:
        decision = decision_of(reviewer)
        self.stdout.write(
            f"{reviewer.get_rung_display()} {reviewer.number} of {reviewer.queue}, {decision.title}: {decision.words}; "
            f"from {reviewer.labels_total:,} labels"
        )
        for proof in (reviewer.assurance or {}).get("proofs", ()):
            word = {True: "ok  ", False: "NOT ", None: "    "}[proof["holds"]]
            self.stdout.write(f"{word} {proof['title']}: {proof['words']}")
        self.stdout.write(f"{reviewer.get_state_display()}  {reviewer.uid}")


def as_json(reviewer: Reviewer) -> dict[str, Any]:
    return {
        "uid": str(reviewer.uid),
        "number": reviewer.number,
        "rung": reviewer.rung,
        "state": reviewer.state,
        "labels": reviewer.labels_total,
        "artefact_sha256": reviewer.artefact_sha256,
        "origins_sha256": reviewer.origins_sha256,
        "origins": reviewer.origins,
        "families": reviewer.families,
        "assurance": reviewer.assurance,
    }
