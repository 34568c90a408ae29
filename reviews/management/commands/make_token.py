"""`manage.py make_token EMAIL --name NAME`: makes an API token for a person, such as one that a machine works as."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from reviews.actions.tokens import make_token
from reviews.errors import Invalid
from reviews.management.finding import find_person


class Command(BaseCommand):
    help = "Makes an API token for a person and prints it this once. People make their own under “API tokens”."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="whose it is: it opens what they may open")
        parser.add_argument("--name", required=True, help="what it is for")
        parser.add_argument("--days", type=int, help="how long it works; at most, and without it, API_TOKEN_DAYS")
        parser.add_argument("--json", action="store_true", help="print it with its end as JSON")

    def handle(self, **options: Any) -> None:
        try:
            token, secret = make_token(actor=find_person(options["email"]), name=options["name"], days=options["days"])
        except Invalid as error:
            raise CommandError("\n".join(error.errors.values())) from error
        if options["json"]:
            ends = token.expiry.isoformat() if token.expiry else None
            self.stdout.write(json.dumps({"token": secret, "name": options["name"].strip(), "ends": ends}))
        else:
            self.stdout.write(secret)
            until = f"until {token.expiry:%Y-%m-%d %H:%M} UTC" if token.expiry else "until it is revoked"
            self.stderr.write(f"It works {until}, and is shown only here.")
