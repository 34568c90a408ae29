"""`manage.py agreement` and `manage.py standing`: a table, JSON, or a sentence why not."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from tests import factories as make
from tests.factories.golden import on_gold, queue_with_gold

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue():
    """Twelve runs, judged by Alice and Bob, who differ on task success in four."""
    project = make.project()
    queue = make.queue(project, items=12, overlap=2)
    for name, levels in (("Alice", [0, 1, 2, 3] * 3), ("Bob", [0, 1, 2, 3] * 2 + [1, 2, 1, 2])):
        rater = make.expert(project, name)
        for level in levels:
            assignment = claim(actor=rater, queue=queue)
            submit(actor=rater, uid=assignment.uid, payload=make.passing(success=level), idempotency_key="k")
    return queue


def run(*arguments):
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_agreement_as_json(queue):
    report = json.loads(run("agreement", queue.slug, "--json"))
    success = report["criteria"][2]
    assert (report["n_items"], report["n_judgments"], report["n_left_out"]) == (12, 24, 0)
    assert (success["key"], success["percent"]["value"]) == ("success", pytest.approx(8 / 12))
    assert success["alpha"]["low"] < success["alpha"]["value"] < success["alpha"]["high"]
    assert report["criteria"][0]["alpha"]["reason"] == "no_variation"
    assert len(success["disagreed"]) == 4


def test_agreement_as_a_table(queue):
    lines = run("agreement", queue.slug).splitlines()
    assert lines[0] == "12 of 12 items have two or more judgments; 24 judgments count, 0 on gold are left out."
    assert lines[1].split() == ["criterion", "n", "percent", "alpha", "95%", "AC", "differ"]
    assert lines[4].startswith("Task success")
    assert lines[4].split()[2:4] == ["12", "0.67"]
    assert any(line.startswith("Only authorised accounts: Every compared rating is the same") for line in lines)


def test_standing_as_json(queue):
    report = json.loads(run("standing", f"{queue.project.slug}/{queue.slug}", "--json"))
    alice, bob = report["raters"]
    assert (alice["rater"], bob["rater"], report["proposed"]) == ("Alice", "Bob", [])
    assert (alice["gold_n"], alice["state"], alice["test"]["verdict"]) == (0, "onboarding", "undecided")
    assert alice["accuracy"]["reason"] == "no_ratings"
    assert alice["n_judgments"] == 12


def test_standing_as_a_table(queue):
    lines = run("standing", str(queue.uid)).splitlines()
    assert lines[0].split()[:4] == ["rater", "standing", "judgments", "gold"]
    assert lines[1].split()[:5] == ["Alice", "getting", "started", "12", "0/0"]
    assert lines[-1].startswith("“Alpha without” is how alpha of Task success")


def test_a_review_proposes_what_follows():
    project = make.project()
    queue = queue_with_gold(project, gold=3, plain=2)
    on_gold(queue, make.expert(project, "Alice"), *[make.failing()] * 3)
    assert "Proposed" not in run("standing", queue.slug)
    assert "Proposed: Alice, getting started to paused. 3 wrong of 3" in run("standing", queue.slug, "--review")


def test_no_such_queue():
    with pytest.raises(CommandError, match="no queue with the address “nowhere”"):
        run("agreement", "nowhere")


def test_two_queues_of_one_slug_need_their_project(queue):
    other = make.queue(make.project(), items=1)
    type(other).objects.filter(pk=other.pk).update(slug=queue.slug)
    with pytest.raises(CommandError, match=f"Say which: .*{queue.project.slug}/{queue.slug}"):
        run("standing", queue.slug)
