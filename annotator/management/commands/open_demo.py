"""`manage.py open_demo`: makes fresh one-time links and API tokens for the demo's people and writes them to a file."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.urls import reverse
from knox.models import AuthToken
from sesame.utils import get_query_string

from annotator.demo.people import PEOPLE
from annotator.embedded.folder import write_private
from annotator.models import User


class Command(BaseCommand):
    help = "Writes one-time sign-in links and API tokens, one of each per role, to a file that only you can read."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--base-url", required=True, help="where Assay is reached, without a slash at the end")
        parser.add_argument("--out", required=True, type=Path, help="the file to write")

    def handle(self, *_: Any, base_url: str, out: Path, **options: Any) -> None:
        roles = {}
        for role, (email, _name) in PEOPLE.items():
            user = User.objects.get(email=email)
            # Tokens of earlier starts end here: one file, one set that works.
            AuthToken.objects.filter(user=user).delete()
            _, token = AuthToken.objects.create(user)
            roles[role] = {
                "email": email,
                "sign_in_url": base_url + reverse("enter") + get_query_string(user),
                "api_token": token,
            }
        write_private(out, json.dumps({"base_url": base_url, "roles": roles}, indent=2) + "\n")
