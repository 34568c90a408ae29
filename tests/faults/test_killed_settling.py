"""A worker that settles is killed with -9, and a real one comes when the clock asks: every item settles once."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connection

from annotator.celery import app
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.settling import settle_marked
from reviews.models import Event, Label, QueueItem, SettlingMark
from tests import factories as make
from tests.reviews.test_importing import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker_away]


def judged(count):
    """So many items that one person has judged and nobody has settled."""
    project = make.project()
    queue = make.queue(project, items=count, overlap=1)
    alice = make.expert(project, "Alice")
    for _ in range(count):
        mine = claim(actor=alice, queue=queue)
        submit(actor=alice, uid=mine.uid, payload=make.passing(), idempotency_key="k")
    assert SettlingMark.objects.count() == count
    return queue


def settled_once(queue, count):
    assert QueueItem.objects.filter(queue=queue, state="settled").count() == count
    assert Label.objects.filter(queue=queue).count() == Event.objects.filter(verb="item.settled").count() == count
    assert not SettlingMark.objects.exists()


def test_nothing_is_lost_or_doubled_when_the_process_is_killed():
    queue = judged(80)
    database_url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    work = "from reviews.actions.settling import settle_marked; settle_marked()"
    process = subprocess.Popen(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", work],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "DATABASE_URL": database_url},
    )
    wait_until(Label.objects.exists)
    process.kill()
    process.wait()
    assert Label.objects.count() + SettlingMark.objects.count() == 80
    settle_marked()
    settled_once(queue, 80)


def test_a_worker_settles_when_the_clock_asks(worker):
    queue = judged(2)
    app.send_task(settings.CELERY_BEAT_SCHEDULE["settle-marked"]["task"])
    wait_until(lambda: not SettlingMark.objects.exists())
    settled_once(queue, 2)
