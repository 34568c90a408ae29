"""Work that runs in the background: each task takes ids and hands over to an action."""

from typing import Any

from celery import shared_task
from django.db import OperationalError
from django.utils import timezone

from reviews.actions import importing, settling, webhooks
from reviews.actions.dealing import expire_leases
from reviews.actions.labelling import weigh
from reviews.queries.consensus import queues_to_weigh


@shared_task
def expire_overdue_leases() -> int:
    """End leases that ran out. Beat asks for it every minute."""
    return expire_leases(now=timezone.now())


@shared_task
def settle_marked() -> int:
    """Settle what raters have judged. Beat asks for it every second, whether anybody judges or not."""
    return settling.settle_marked()


@shared_task
def weigh_answers() -> None:
    """Look how probable the answers are that raters agree on, where queues ask for that."""
    for queue in queues_to_weigh():
        weigh(queue=queue)


@shared_task(bind=True, max_retries=30)
def run_import(self: Any, job_id: int) -> None:
    """Work an import off. While the database is away, the task waits and goes on where it was."""
    try:
        importing.run_import(job_id=job_id)
    except OperationalError as error:
        raise self.retry(exc=error, countdown=min(60, 2**self.request.retries)) from error


@shared_task
def queue_overlooked_imports() -> None:
    """Queue imports that nobody took up. One that is in the queue all the same is worked off once."""
    for job_id in importing.overlooked_imports(now=timezone.now()):
        run_import.delay(job_id)


@shared_task
def deliver_due() -> None:
    """Send what is due to webhooks. One worker at a time does, so that receivers hold up nothing but each other."""
    webhooks.send_due()
