"""`manage.py split_out QUEUE ITEM… --into NAME --because TEXT`: items that wait for a lead go into another queue."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from reviews.actions.referring import refer
from reviews.enums import ReferralKind
from reviews.errors import AssayError, Invalid
from reviews.management.finding import find_person, find_queue, find_queue_item


class Command(BaseCommand):
    help = (
        "Splits items that wait for a lead out into another queue of the project, which is opened where there is none; "
        "all of them or none."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("queue", help="the queue in which they wait: its slug, PROJECT/SLUG, or its id")
        parser.add_argument("items", nargs="+", metavar="ITEM", help="ids of its items")
        parser.add_argument("--into", required=True, metavar="NAME", help="the name of the other queue")
        parser.add_argument("--because", required=True, metavar="TEXT", help="why, for whoever looks for them")
        parser.add_argument("--as", dest="email", required=True, metavar="EMAIL", help="the lead who does it")
        parser.add_argument("--json", action="store_true", help="print where they are now as JSON")

    def handle(self, **options: Any) -> None:
        queue, lead = find_queue(options["queue"]), find_person(options["email"])
        rows = [find_queue_item(queue, uid) for uid in options["items"]]
        given = {"kind": ReferralKind.OWN_QUEUE, "text": options["because"], "queue": options["into"]}
        try:
            with transaction.atomic():
                for row in rows:
                    refer(actor=lead, queue_item=row, **given)
        except Invalid as error:
            raise CommandError("\n".join(error.errors.values())) from error
        except AssayError as error:
            raise CommandError(error.message) from error
        if options["json"]:
            self.stdout.write(json.dumps({"queue": options["into"], "items": len(rows)}))
        else:
            self.stdout.write(f"{len(rows)} item{'' if len(rows) == 1 else 's'} split out into {options['into']}.")
