"""`manage.py put_first QUEUE ITEM… --as EMAIL`: items are decided before others, should they wait for a lead."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from reviews.actions.referring import put_first
from reviews.errors import AssayError
from reviews.management.finding import find_person, find_queue, find_queue_item


class Command(BaseCommand):
    help = "Puts items before the others in a queue's inbox, should they wait for a lead; all of them or none."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("queue", help="their queue: its slug, PROJECT/SLUG, or its id")
        parser.add_argument("items", nargs="+", metavar="ITEM", help="ids of its items")
        parser.add_argument("--no-longer", action="store_true", help="take them back to their place")
        parser.add_argument("--as", dest="email", required=True, metavar="EMAIL", help="the lead who does it")
        parser.add_argument("--json", action="store_true", help="print what was done as JSON")

    def handle(self, **options: Any) -> None:
        queue, lead, first = find_queue(options["queue"]), find_person(options["email"]), not options["no_longer"]
        rows = [find_queue_item(queue, uid) for uid in options["items"]]
        try:
            with transaction.atomic():
                for row in rows:
                    put_first(actor=lead, queue_item=row, first=first)
        except AssayError as error:
            raise CommandError(error.message) from error
        if options["json"]:
            self.stdout.write(json.dumps({"queue": queue.slug, "items": len(rows), "first": first}))
        else:
            items = "1 item is" if len(rows) == 1 else f"{len(rows)} items are"
            self.stdout.write(f"{items} decided {'before the others' if first else 'in their turn'}.")
