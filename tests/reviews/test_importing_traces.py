"""Rows that hold several runs, and traces over several lines, imported from start to receipt."""

import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from reviews.actions.importing import receipt_of, run_import, start_import
from reviews.enums import Role
from reviews.models import Outcome, Step, Task, Trajectory
from tests import factories

pytestmark = pytest.mark.django_db

SAMPLES = Path(__file__).parent / "trajectories" / "samples"


@pytest.fixture
def alice(project):
    """Alice, an engineer of the project."""
    user = factories.person("Alice")
    factories.member(project, user, Role.ENGINEER)
    return user


def imported(project, alice, name, content):
    job = start_import(actor=alice, project=project, name=name, file=SimpleUploadedFile(name, content))
    job = run_import(job_id=job.pk)
    return job.created, job.already_there, job.refused


def test_a_preference_pair_is_two_items_of_one_task_and_the_file_goes_in_once(project, alice):
    content = (SAMPLES / "preference.json").read_bytes()
    assert imported(project, alice, "pairs.json", content) == (2, 0, 0)
    assert imported(project, alice, "again.json", content) == (0, 2, 0)
    task = Task.objects.get(project=project)
    assert task.title == "Two plus two?"
    outcomes = Outcome.objects.filter(trajectory__task=task)
    assert {outcome.data["preference"] for outcome in outcomes} == {"chosen", "rejected"}


def test_a_trace_over_two_lines_is_one_item_and_a_broken_line_is_refused_alone(project, alice):
    trace = json.loads((SAMPLES / "otlp.json").read_text())
    (resource,) = trace["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    lines = [
        json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
        for spans in (scope["spans"][:2], scope["spans"][2:])
    ]
    content = f"{lines[0]}\n{{broken\n{lines[1]}\n".encode()
    assert imported(project, alice, "traces.jsonl", content) == (1, 0, 1)
    run = Trajectory.objects.get(project=project)
    roles = Step.objects.filter(trajectory=run).order_by("position").values_list("role", flat=True)
    assert list(roles) == ["system", "user", "agent", "tool", "agent", "tool"]
    assert run.outcome.data["scores"][0]["value"] == 0.75


def test_prior_labels_come_along_with_their_authors_and_hidden(project, alice):
    assert imported(project, alice, "export.json", (SAMPLES / "label_studio.json").read_bytes()) == (1, 0, 0)
    run = Trajectory.objects.get(project=project)
    assert [label["author"] for label in run.outcome.data["prior_labels"]] == ["12", "13"]
    assert "SECRET" not in "".join(Step.objects.filter(trajectory=run).values_list("body", flat=True))


def test_the_receipt_says_why_a_trace_was_refused(project, alice):
    asked = {"id": "o", "type": "GENERATION", "name": "ask", "input": {"n": 1}, "output": "Ho"}
    trace = {"trace": {}, "observations": [asked]}
    job = start_import(
        actor=alice, project=project, name="t.json", file=SimpleUploadedFile("t.json", json.dumps(trace).encode())
    )
    run_import(job_id=job.pk)
    job.refresh_from_db()
    (refusal,) = receipt_of(job)["refusals"]
    assert refusal["reason"] == "No generation has messages that can be read: ask (an object in, a text out)."
