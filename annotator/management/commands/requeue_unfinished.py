"""`manage.py requeue_unfinished`: gives back the tasks of workers that were killed. Run it while no worker runs."""

from typing import Any

from django.core.management.base import BaseCommand

from annotator.tasks import requeue_unfinished


class Command(BaseCommand):
    help = "Puts tasks back into the queue that killed workers had taken. Only while no worker runs."

    def handle(self, *_: Any, **options: Any) -> None:
        self.stdout.write(f"{requeue_unfinished()} tasks put back.")
