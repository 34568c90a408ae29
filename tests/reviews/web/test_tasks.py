"""Leads' pages of tasks: write one with runs that are there, read its parts and what became of each version."""

import pytest
from django.urls import reverse

from reviews.models import Item
from tests import factories as make
from tests.factories import tasks
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


def test_a_lead_writes_a_task_with_a_run_that_is_there_and_then_its_next_version():
    project = make.project()
    lead, run = enter(make.lead_of(project)), make.item(project)
    address = reverse("reviews:task_new", args=[project.slug])
    fields = {"key": "T-1", "title": "Rights", "prompt": "Give it back.", "intent": "Asks first.", "verifier": "pass"}
    answer = lead.post(address, {**fields, "runs": f"/items/{run.uid}/ solver failed"}, follow=True)
    item = Item.objects.get(kind="task")
    assert answer.status_code == 200
    assert [(row.trajectory, row.role, row.result) for row in item.candidates.all()] == [
        (run.run, "solver", {"passed": False})
    ]
    page = answer.content.decode()
    assert "Asks first." in page
    assert "0.00" in page  # of one solver none passed
    begun = lead.get(address + f"?from={item.task_version.uid}").content.decode()
    assert "Give it back." in begun


def test_what_is_missing_is_said_at_its_field_and_nothing_is_lost():
    project = make.project()
    lead = enter(make.lead_of(project))
    address = reverse("reviews:task_new", args=[project.slug])
    answer = lead.post(address, {"prompt": "Give it back.", "runs": "nothing solver"})
    assert answer.status_code == 422
    assert "Give it back." in answer.content.decode()
    answer = lead.post(address, {"prompt": "P", "intent": "I", "runs": "nothing solver"})
    assert answer.status_code == 422
    assert not Item.objects.filter(kind="task").exists()


def test_the_list_names_versions_and_experts_are_kept_out():
    project = make.project()
    item = tasks.task(project)
    tasks.task(project, verifier="def verify(world): ...")
    address = reverse("reviews:tasks", args=[project.slug])
    page = enter(make.lead_of(project)).get(address).content.decode()
    assert "version 1 not decided" in page
    assert "version 2 not decided" in page
    assert enter(make.expert(project)).get(address).status_code == 403
    one = reverse("reviews:task", args=[project.slug, item.task_version.uid])
    assert enter(make.lead_of(project)).get(one).status_code == 200
    assert enter(make.lead_of(make.project())).get(one).status_code == 404
