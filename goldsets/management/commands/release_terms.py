"""`manage.py release_terms PROJECT DATASET [--set NAME=NUMBER …]`: what versions of a data set must reach."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from goldsets.actions.releasing import write_terms
from goldsets.management.acting import acting_member, find_project
from goldsets.models import Dataset
from goldsets.queries.datasets import dataset_by_name
from goldsets.queries.releases import terms_of
from goldsets.stats.checklist import TERMS
from reviews.enums import Role
from reviews.errors import AssayError


class Command(BaseCommand):
    help = (
        "Prints the terms of release of a data set, the latest first; --set writes new ones for versions begun later."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's address, as in its URL")
        parser.add_argument("dataset", help="the data set's name")
        words = f"what is not said is as the defaults have it; names are {', '.join(TERMS)}"
        parser.add_argument("--set", action="append", default=[], metavar="NAME=NUMBER", help=words)
        parser.add_argument("--as", dest="email", help="e-mail of who writes; otherwise the project's first lead")
        parser.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, **options: Any) -> None:
        project = find_project(options["project"])
        dataset = dataset_by_name(project, options["dataset"])
        if dataset is None:
            raise CommandError(f"The project has no data set “{options['dataset']}”.")
        if options["set"]:
            self._write(dataset, options["set"], options["email"])
        rows = [{"number": row.number, "terms": row.terms, "by": str(row.written_by)} for row in terms_of(dataset)]
        if options["json"]:
            self.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False))
            return
        for row in rows:
            self.stdout.write(f"Terms {row['number']}, by {row['by']}")
            for name, number in row["terms"].items():
                self.stdout.write(f"  {TERMS[name][0]}: {number:g}")
        if not rows:
            self.stdout.write("No terms are written, so no version can be released.")

    def _write(self, dataset: Dataset, given: list[str], email: str | None) -> None:
        terms: dict[str, Any] = {}
        for each in given:
            name, _equals, number = each.partition("=")
            try:
                terms[name] = float(number)
            except ValueError as error:
                raise CommandError(f"“{each}” is no NAME=NUMBER, such as min_rows=500.") from error
        try:
            write_terms(actor=acting_member(dataset.project, email, Role.LEAD), dataset=dataset, terms=terms)
        except AssayError as error:
            raise CommandError(str(error)) from error
