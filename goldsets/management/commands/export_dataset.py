"""`manage.py export_dataset PROJECT --format F --out DIR`: writes labels to files, as the Datasets page does."""

import json
import shutil
import uuid
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError

from goldsets.actions.defining import POLICIES, define_dataset
from goldsets.actions.exporting import run_export, start_export
from goldsets.enums import DatasetFormat, DatasetPurpose, DatasetState
from goldsets.models import DatasetVersion
from goldsets.queries.datasets import dataset_by_name, folder_of
from reviews.enums import Role
from reviews.errors import AssayError
from reviews.management.finding import find_person
from reviews.models import Membership, Project, Queue
from reviews.trajectories import jsontext
from reviews.trajectories.schema import RowError


class Command(BaseCommand):
    help = "Exports the labels of a project, or of one queue, with a manifest."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's address, as in its URL")
        parser.add_argument("--format", required=True, choices=DatasetFormat.values, action="append", dest="formats")
        parser.add_argument("--purpose", default=DatasetPurpose.TRAIN, choices=DatasetPurpose.values)
        parser.add_argument(
            "--filter", type=Path, metavar="FILE", help="a file with the filter as the API takes it, a JSON object"
        )
        for policy, words in POLICIES.items():
            parser.add_argument(f"--{policy}", default=words.values[0], choices=words.values)
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="a folder that is made, or is empty")
        parser.add_argument("--queue", help="address of the queue whose labels leave; otherwise those of every queue")
        parser.add_argument("--name", help="name of the data set; otherwise made from queue and format")
        parser.add_argument("--as", dest="email", help="e-mail of who exports; otherwise the project's first engineer")
        parser.add_argument("--json", action="store_true", help="print the receipt as JSON")

    def handle(self, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project with the address “{options['project']}”.")
        out = self._empty(options["out"])
        queue = self._queue(project, options["queue"])
        wanted = self._wanted(options, queue)
        try:
            version = self._export(self._actor(project, options["email"]), project, wanted)
        except AssayError as error:
            raise CommandError(str(error)) from error
        except OperationalError as error:
            raise CommandError(f"The database cannot be reached: {error}") from error
        if version.state != DatasetState.FINISHED:
            raise CommandError(f"The export {version.state}. {version.error}")
        self._copy(folder_of(version), out)
        receipt = {"out": str(out), **version.manifest}
        self.stdout.write(json.dumps(receipt, indent=2, ensure_ascii=False) if options["json"] else _table(receipt))

    def _wanted(self, options: dict[str, Any], queue: Queue | None) -> dict[str, Any]:
        """The definition; what is not the default stands in the name, where none is given."""
        policies = {policy: options[policy] for policy in POLICIES}
        words = [queue.slug if queue else "all queues", *options["formats"]]
        words += [options["purpose"]] if options["purpose"] != DatasetPurpose.TRAIN else []
        words += [f"{policy} {word}" for policy, word in policies.items() if word != POLICIES[policy].values[0]]
        words += [f"filter {options['filter'].stem}"] if options["filter"] else []
        return {
            "name": options["name"] or ", ".join(words),
            "queue": queue,
            "purpose": options["purpose"],
            "formats": options["formats"],
            "filter": self._filter(options["filter"]) if options["filter"] else {},
            "policies": policies,
        }

    def _export(self, actor: Any, project: Project, wanted: dict[str, Any]) -> DatasetVersion:
        dataset = dataset_by_name(project, wanted["name"])
        if dataset is None:
            dataset = define_dataset(actor=actor, project=project, **wanted)
        elif any(getattr(dataset, name) != value for name, value in wanted.items()):
            raise CommandError(f"The data set “{wanted['name']}” is defined otherwise. Choose another --name.")
        version = start_export(actor=actor, dataset=dataset)
        return run_export(version_id=version.pk)

    def _actor(self, project: Project, email: str | None) -> Any:
        if email:
            return find_person(email)
        members = Membership.objects.filter(project=project, active=True, role__in=[Role.ENGINEER, Role.LEAD])
        # "engineer" sorts before "lead".
        member = members.select_related("user").order_by("role", "pk").first()
        if member is None:
            raise CommandError("The project has no engineer and no lead. Name somebody who may export with --as EMAIL.")
        return member.user

    def _queue(self, project: Project, slug: str | None) -> Queue | None:
        if not slug:
            return None
        queue = Queue.objects.filter(project=project, slug=slug).first()
        if queue is None:
            raise CommandError(f"The project has no queue with the address “{slug}”.")
        return queue

    def _filter(self, path: Path) -> dict[str, Any]:
        try:
            found = jsontext.parse(path.read_bytes())
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror or error}.") from error
        except RowError as error:
            raise CommandError(f"{path} is no JSON: {error}") from error
        if not isinstance(found, dict):
            raise CommandError(f"{path} holds no filter: that is a JSON object.")
        return found

    def _empty(self, out: Path) -> Path:
        """The folder, looked at before the work, so that nothing is ever overwritten."""
        try:
            if out.exists() and (not out.is_dir() or any(out.iterdir())):
                raise CommandError(f"{out} is not an empty folder. Choose another --out.")
        except OSError as error:
            raise CommandError(f"{out} cannot be used: {error.strerror or error}.") from error
        return out

    def _copy(self, folder: Path, out: Path) -> None:
        """The files, copied beside their place first, so that the folder appears with all of them or not at all."""
        half = out.with_name(f".{out.name}-{uuid.uuid4().hex[:8]}")
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(folder, half)
            half.replace(out)
        except OSError as error:
            shutil.rmtree(half, ignore_errors=True)
            raise CommandError(f"The files could not be written to {out}: {error.strerror or error}.") from error


def _table(receipt: dict[str, Any]) -> str:
    counts, left_out = receipt["counts"], receipt["left_out"]
    lines = [f"{receipt['out']}: version {receipt['dataset']['version']} of “{receipt['dataset']['name']}”"]
    lines += [f"  {file['name']:<16} {file['bytes']:>12,} bytes  sha256 {file['sha256']}" for file in receipt["files"]]
    lines += [f"  {counts['rows']:,} labels on {counts['judgments']:,} judgments"]
    lines += [f"    {basis:<14} {count:>8,}" for basis, count in counts["labels_by_basis"].items()]
    for name, told in receipt["formats"].items():
        lines += [f"  {name:<24} {told['rows']:>8,} rows"]
        lines += [f"    {why:<34} {count:>8,} left out" for why, count in told["left_out"].items()]
    if difference := receipt["difference"]:
        counts = ", ".join(f"{difference[what]:,} {what}" for what in ("added", "removed", "changed"))
        lines += [f"  since version {difference['since']}: {counts}"]
    lines += ["  left out"] + [f"    {why.replace('_', ' '):<22} {count:>8,}" for why, count in left_out.items()]
    return "\n".join([*lines, f"  {receipt['leak_check']['words']}"])
