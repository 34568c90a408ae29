"""`manage.py import_items PROJECT FILE…`: brings files of runs in, as the Imports page does, and prints receipts."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from reviews.actions.importing import cancel_import, receipt_of, run_import, start_import
from reviews.enums import ImportState, Role
from reviews.errors import AssayError
from reviews.management.finding import find_person
from reviews.models import ImportJob, Membership, Project, Queue
from reviews.trajectories.detect import AUTO, FORMATS

REFUSALS_SHOWN = 20


class Command(BaseCommand):
    help = "Imports files of runs into a project. The same file twice changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's address, as in its URL")
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a file, an archive or a folder")
        parser.add_argument("--format", default=AUTO, choices=[AUTO, *FORMATS])
        parser.add_argument("--queue", help="address of a queue that the runs are put into")
        parser.add_argument("--family", default="", help="family of tasks that name none")
        parser.add_argument("--domain", default="", help="domain of a tau-bench file, such as retail")
        parser.add_argument("--model", default="", help="the agent's model, hidden from raters")
        parser.add_argument("--policy", type=Path, help="policy text shown beside runs that bring none")
        parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="pairs")
        parser.add_argument("--as", dest="email", help="e-mail of who imports; otherwise the project's first engineer")
        parser.add_argument("--json", action="store_true", help="print the receipts as JSON")

    def handle(self, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project with the address “{options['project']}”.")
        actor = self._actor(project, options["email"])
        queue = self._queue(project, options["queue"])
        shared = {name: options[name] for name in ("format", "family", "domain", "model")}
        shared |= {"policy": self._text(options["policy"]), "settings": self._settings(options["pairs"])}
        receipts = []
        for path in options["files"]:
            try:
                job = start_import(actor=actor, project=project, queue=queue, name=path.name, path=path, **shared)
                receipts.append(receipt_of(self._run(job, quiet=options["json"])))
            except AssayError as error:
                raise CommandError(f"{path}: {error}") from error
            if not options["json"]:
                self._print(receipts[-1])
        if options["json"]:
            self.stdout.write(json.dumps(receipts, indent=2, ensure_ascii=False))
        self._complain(receipts)

    def _actor(self, project: Project, email: str | None) -> Any:
        if email:
            return find_person(email)
        members = Membership.objects.filter(project=project, active=True, role__in=[Role.ENGINEER, Role.LEAD])
        # "engineer" sorts before "lead".
        member = members.select_related("user").order_by("role", "pk").first()
        if member is None:
            raise CommandError("The project has no engineer and no lead. Name somebody who may import with --as EMAIL.")
        return member.user

    def _queue(self, project: Project, slug: str | None) -> Queue | None:
        if not slug:
            return None
        queue = Queue.objects.filter(project=project, slug=slug).first()
        if queue is None:
            raise CommandError(f"The project has no queue with the address “{slug}”.")
        return queue

    def _text(self, path: Path | None) -> str:
        if path is None:
            return ""
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"The policy {path} cannot be read: {error}.") from error

    def _settings(self, pairs: list[str]) -> dict[str, str]:
        for pair in pairs:
            if "=" not in pair:
                raise CommandError(f"--set takes KEY=VALUE, not “{pair}”.")
        return dict(pair.split("=", 1) for pair in pairs)

    def _run(self, job: ImportJob, *, quiet: bool) -> ImportJob:
        """Work the job off in this process, with a line that tells how far it is where somebody watches."""
        watched = not quiet and sys.stderr.isatty()

        def progress(job: ImportJob) -> None:
            if watched:
                counts = f"{job.created} created, {job.already_there} already there, {job.refused} refused"
                self.stderr.write(f"\r{job.name}: {job.percent} %, {counts}", ending="")

        try:
            return run_import(job_id=job.pk, progress=progress)
        except KeyboardInterrupt:
            job.refresh_from_db()
            cancel_import(actor=job.created_by, job=job)
            raise CommandError(
                f"Stopped. {job.created} runs are in; the same command again brings in the rest."
            ) from None
        except OperationalError as error:
            raise CommandError(f"The database cannot be reached: {error}Run the same command again.") from error
        finally:
            if watched:
                self.stderr.write("")

    def _print(self, receipt: dict[str, Any]) -> None:
        self.stdout.write(
            f"{receipt['file']}: {receipt['created']} created, {receipt['already_there']} already there, "
            f"{receipt['refused']} refused{self._ending(receipt)}"
        )
        if receipt["comparisons"]:
            self.stdout.write(f"  {receipt['comparisons']} comparisons of answers to one prompt")
        if receipt["tasks"]:
            self.stdout.write(f"  {receipt['tasks']} tasks to be reviewed")
        if receipt["scored"]:
            self.stdout.write(f"  {receipt['scored']} scores of runs that were there")
        if receipt["redactions"]:
            replaced = ", ".join(f"{kind} {count}" for kind, count in receipt["redactions"].items())
            self.stdout.write(f"  replaced in new runs: {replaced}")
        for refusal in receipt["refusals"][:REFUSALS_SHOWN]:
            self.stdout.write(f"  {refusal['place']}: {refusal['reason']}")
        if receipt["refused"] > REFUSALS_SHOWN:
            self.stdout.write(f"  and {receipt['refused'] - REFUSALS_SHOWN} more")
        for note in receipt["notes"][:REFUSALS_SHOWN]:
            self.stdout.write(f"  {note['place']}: note: {note['note']}")
        if (more := len(receipt["notes"]) + receipt["notes_not_listed"] - REFUSALS_SHOWN) > 0:
            self.stdout.write(f"  and {more} more notes")

    def _ending(self, receipt: dict[str, Any]) -> str:
        """Said only where it is not plain success."""
        return "" if receipt["created"] or receipt["scored"] else f" ({receipt['ending'].partition(',')[0]})"

    def _complain(self, receipts: list[dict[str, Any]]) -> None:
        """Fail when a file did not come through, or gave nothing but refusals."""
        for receipt in receipts:
            if receipt["state"] != ImportState.FINISHED:
                raise CommandError(
                    f"{receipt['file']}: the import {receipt['state']}. {receipt['error'] or ''}".strip()
                )
        taken = ("created", "already_there", "scored")
        empty = [each["file"] for each in receipts if each["refused"] and not any(each[name] for name in taken)]
        if empty:
            raise CommandError(f"Nothing could be taken from {', '.join(empty)}.")
