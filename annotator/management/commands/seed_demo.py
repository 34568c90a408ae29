"""`manage.py seed_demo`: the people of the demo and three weeks of their work. Running it again changes nothing."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from annotator.demo.people import PEOPLE
from annotator.demo.seed import seed
from annotator.models import User


class Command(BaseCommand):
    help = "Makes the demo's people, project, runs and judgments where they are missing."

    def handle(self, *_: Any, **options: Any) -> None:
        for role, (email, name) in PEOPLE.items():
            if not User.objects.filter(email=email).exists():
                admin = role == "admin"
                User.objects.create_user(email, name=name, is_staff=admin, is_superuser=admin)
        seed(now=timezone.now())
