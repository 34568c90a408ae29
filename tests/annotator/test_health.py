"""What Assay says about itself, to machines and to people."""

import re
import time

import pytest
from django.contrib.auth import get_user_model
from django.core.cache import cache

from annotator import tasks

User = get_user_model()
pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client):
    admin = User.objects.create_user("alice@example.org", name="Alice", is_staff=True)
    client.force_login(admin)
    return admin


def test_without_a_worker_assay_is_not_well_and_says_which_part(client):
    answer = client.get("/healthz")
    assert answer.status_code == 503
    body = answer.json()
    assert body["status"] == "failing"
    assert {name: part["live"] for name, part in body["parts"].items()} == {
        "web": True,
        "database": True,
        "cache": True,
        "worker": False,
    }
    assert body["parts"]["worker"]["detail"] == "No worker has been seen yet. Is one running, and beat beside it?"


def test_a_round_done_by_the_worker_makes_it_well(client):
    tasks.heartbeat()
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"
    assert answer.json()["parts"]["worker"]["seconds"] < 5


def test_a_worker_busy_with_long_work_is_alive(client):
    cache.set(tasks.ROUND_KEY, time.time() - 3600)
    tasks.pulse()
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert "busy with long work" in answer.json()["parts"]["worker"]["detail"]


def test_a_worker_not_seen_for_long_is_dead(client):
    cache.set(tasks.ROUND_KEY, time.time() - 3600)
    cache.set(tasks.PULSE_KEY, time.time() - 90)
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert "No worker has been seen for 9" in answer.json()["parts"]["worker"]["detail"]


def test_a_cache_that_does_not_answer_is_told_and_not_raised(client, settings):
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": "unix:///nowhere.sock"}}
    answer = client.get("/healthz")
    assert answer.status_code == 503
    parts = answer.json()["parts"]
    assert parts["cache"]["live"] is False
    assert parts["database"]["live"] is True
    assert "Nobody knows" in parts["worker"]["detail"]


@pytest.mark.django_db(transaction=True)
def test_a_real_worker_does_the_round(worker, client):
    tasks.heartbeat.delay()
    deadline = time.monotonic() + 60
    while tasks.seconds_since_round() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert client.get("/healthz").status_code == 200


def test_the_page_tells_admins_the_state_in_words(client, admin):
    tasks.heartbeat()
    page = client.get("/health/")
    assert page.status_code == 200
    assert re.search(r"It did its last round \d+ seconds ago\.", page.content.decode())
    assert "Nothing waits for a worker." in page.content.decode()


def test_the_page_is_for_leads_and_admins_only(client):
    assert client.get("/health/").url == "/accounts/login/?next=/health/"
    client.force_login(User.objects.create_user("bob@example.org"))
    assert client.get("/health/").status_code == 403


def test_metrics_go_to_this_machine_and_to_admins(client):
    assert b"django_http_requests" in client.get("/metrics").content
    assert client.get("/metrics", REMOTE_ADDR="203.0.113.7").status_code == 403
    assert client.get("/metrics", headers={"X-Forwarded-For": "203.0.113.7"}).status_code == 403


def test_an_admin_reads_metrics_from_anywhere(client, admin):
    assert client.get("/metrics", REMOTE_ADDR="203.0.113.7").status_code == 200
