"""How commands are told which queue, item and person is meant, and a sentence where there is no such one."""

from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError

from reviews.models import Queue, QueueItem


def find_queue(name: str) -> Queue:
    """The queue of that slug, PROJECT/SLUG or id. Raises CommandError when there is none, or more than one."""
    queues = Queue.objects.select_related("project", "rubric")
    project, slash, slug = name.rpartition("/")
    if slash:
        found = list(queues.filter(project__slug=project, slug=slug))
    else:
        found = list(queues.filter(uid=name) if is_uid(name) else queues.filter(slug=name))
    if not found:
        raise CommandError(f"There is no queue with the address “{name}”.")
    if len(found) > 1:
        choices = ", ".join(f"{queue.project.slug}/{queue.slug}" for queue in found)
        raise CommandError(f"More than one queue has the address “{name}”. Say which: {choices}.")
    return found[0]


def find_queue_item(queue: Queue, uid: str) -> QueueItem:
    """The queue's item by its own id or the run's. Raises CommandError when there is none."""
    rows = QueueItem.objects.filter(queue=queue).select_related("queue__project")
    found = (rows.filter(uid=uid).first() or rows.filter(item__uid=uid).first()) if is_uid(uid) else None
    if found is None:
        raise CommandError(f"There is no item “{uid}” in this queue.")
    return found


def find_person(email: str) -> Any:
    """The person with that e-mail. Raises CommandError when there is none."""
    person = get_user_model().objects.filter(email__iexact=email).first()
    if person is None:
        raise CommandError(f"There is nobody with the e-mail {email}.")
    return person


def is_uid(name: str) -> bool:
    try:
        UUID(name)
    except ValueError:
        return False
    return True
