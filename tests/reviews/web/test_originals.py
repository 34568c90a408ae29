"""The page on which admins find what was redacted: where it came from and its original, and nothing to anybody else."""

import json

import pytest
from django.urls import reverse

from reviews.actions.importing import run_import, start_import
from reviews.actions.redacting import set_redaction
from reviews.models import Event, Item
from tests import factories as make
from tests.reviews.api.talking import by
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

ROW = {"messages": [{"role": "user", "content": "I am ada@example.org, help me."}], "reward": 0.25}


@pytest.fixture
def project(tmp_path):
    project = make.project()
    lead = make.lead_of(project)
    for kinds, row in (([], {**ROW, "n": 1}), (["e-mail"], ROW)):
        set_redaction(actor=lead, project=project, kinds=kinds)
        file = tmp_path / "runs.jsonl"
        file.write_text(json.dumps(row))
        run_import(job_id=start_import(actor=lead, project=project, name="runs.jsonl", path=file).pk)
    return project


def admin_of(project):
    ada = make.person("Ada")
    make.member(project, ada, "admin")
    return ada


def test_an_admin_finds_the_redacted_run_and_opens_its_original(project):
    ada = admin_of(project)
    client = enter(ada)
    page = client.get(reverse("reviews:redacted", args=[project.slug])).content.decode()
    item = Item.objects.filter(project=project).latest("pk")
    original = reverse("reviews:original", args=[project.slug, item.uid])
    assert page.count("/original/") == 1
    assert original in page
    assert "e-mail" in page
    assert "help me" not in page
    assert "0.25" not in page
    assert client.get(original).content == json.dumps(ROW).encode()
    assert Event.objects.get(verb="original.read").actor == ada


def test_over_the_api_too(project):
    rows = by(admin_of(project)).get(f"/api/v1/projects/{project.slug}/redacted/").json()["results"]
    item = Item.objects.filter(project=project).latest("pk")
    assert [(row["item"], row["redactions"]) for row in rows] == [(str(item.uid), {"e-mail": 2})]


@pytest.mark.parametrize("role", ["lead", "engineer", "expert"])
def test_nobody_else_opens_the_page(project, role):
    person = make.person("Eve")
    make.member(project, person, role)
    assert enter(person).get(reverse("reviews:redacted", args=[project.slug])).status_code == 403
