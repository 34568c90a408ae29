"""`manage.py splits PROJECT [--seal]`: shows how families are split, or says it once and for good."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from goldsets.actions.splitting import check_shares, deal_families, seal_splits
from goldsets.management.acting import acting_member, find_project
from goldsets.queries.splits import family_rows, plan_of
from reviews.enums import Role
from reviews.errors import AssayError

NAMES = ("train", "calibration", "held_out")


class Command(BaseCommand):
    help = "Shows how the families of a project are split, deals new ones, and with --seal states the shares for good."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's address, as in its URL")
        for name, share in zip(NAMES, (70, 15, 15), strict=True):
            words = f"whole percent of the families; {share} if left out"
            parser.add_argument(f"--{name.replace('_', '-')}", dest=name, type=int, default=share, help=words)
        parser.add_argument("--seed", default="", help="otherwise one is drawn")
        parser.add_argument("--seal", action="store_true", help="state these shares; they can never be changed")
        parser.add_argument("--as", dest="email", help="e-mail of who seals; otherwise the project's first lead")
        parser.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, **options: Any) -> None:
        project = find_project(options["project"])
        shares = {name: options[name] for name in NAMES}
        try:
            if options["seal"]:
                actor = acting_member(project, options["email"], Role.LEAD)
                seal_splits(actor=actor, project=project, seed=options["seed"], **shares)
            deal_families(project=project)
            plan = plan_of(project)
            if plan is None:
                check_shares(seed=options["seed"], **shares)
        except AssayError as error:
            raise CommandError(str(error)) from error
        seed, shares = (plan.seed, plan.shares) if plan else (options["seed"], shares)
        rows = family_rows(project, seed=seed, shares=shares)
        if options["json"]:
            families = [{"family": row.family, "split": row.split, "dealt": row.dealt} for row in rows]
            answer = {"sealed": plan is not None, "seed": seed, **shares, "families": families}
            self.stdout.write(json.dumps(answer, indent=2, ensure_ascii=False))
            return
        self.stdout.write(f"{'Sealed' if plan else 'Not sealed; it would be'}, seed “{seed}”:")
        for row in rows:
            self.stdout.write(f"  {row.words:<12} {row.family}  {row.tasks} tasks, {row.labels} labelled items")
