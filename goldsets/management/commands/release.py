"""`manage.py release PROJECT DATASET VERSION [--sign | --withdraw REASON]`: the checklist of a version, and its end."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from goldsets.actions.releasing import sign_release, withdraw_version
from goldsets.management.acting import acting_member, find_project
from goldsets.queries.datasets import dataset_by_name, version_by_number
from goldsets.queries.releases import current_checks, is_counted, release_page
from reviews.enums import Role
from reviews.errors import AssayError


class Command(BaseCommand):
    help = "Prints the release checklist of a version; exits with 1 where it does not hold."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's address, as in its URL")
        parser.add_argument("dataset", help="the data set's name")
        parser.add_argument("version", type=int)
        parser.add_argument("--sign", action="store_true", help="sign it; needs --as")
        parser.add_argument("--withdraw", metavar="REASON", help="give it out no more")
        parser.add_argument("--as", dest="email", help="e-mail of who signs or withdraws")
        parser.add_argument("--json", action="store_true", help="print everything as JSON")

    def handle(self, **options: Any) -> None:
        project = find_project(options["project"])
        dataset = dataset_by_name(project, options["dataset"])
        version = version_by_number(dataset, options["version"]) if dataset else None
        if version is None:
            raise CommandError(f"The project has no version {options['version']} of “{options['dataset']}”.")
        try:
            if options["sign"] or options["withdraw"]:
                if not options["email"]:
                    raise CommandError("Say whose signature it is with --as EMAIL.")
                actor = acting_member(project, options["email"], Role.LEAD)
                if options["sign"]:
                    sign_release(actor=actor, version=version)
                else:
                    withdraw_version(actor=actor, version=version, reason=options["withdraw"])
        except AssayError as error:
            raise CommandError(str(error)) from error
        page = release_page(version, current_checks(version) if is_counted(version) else None)
        if options["json"]:
            self.stdout.write(json.dumps(page.as_dict(), indent=2, ensure_ascii=False, default=str))
        else:
            self._print(page)
        if not page.holds and not page.withdrawal:
            why = "It does not hold." if page.terms else "No terms were written before the version was begun."
            raise CommandError(why)

    def _print(self, page: Any) -> None:
        for row in page.checks:
            self.stdout.write(f"{'ok  ' if row['passed'] else 'NOT '} {row['title']}: {row['said']} ({row['wanted']})")
        signed = ", ".join(str(signature.person) for signature in page.signatures)
        self.stdout.write(f"{page.state}{f', signed by {signed}' if signed else ''}; {page.read_words}")
