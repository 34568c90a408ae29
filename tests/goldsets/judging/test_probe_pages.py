"""Probes on pages and by API: made, checked without being told, put to a version, promoted or not."""

import pytest
from django.urls import reverse

from goldsets.models import GraderHook, GraderPromotion, Probe, ProbeRun
from goldsets.queries.probes import next_to_check, waiting_count
from goldsets.tasks import run_probes
from tests import factories as make
from tests.goldsets.judging.endpoint import saying
from tests.goldsets.judging.test_judges import model  # noqa: F401  a fixture
from tests.goldsets.judging.test_probes import ada, queue, setup, wise  # noqa: F401  fixtures
from tests.reviews.api.talking import by, is_problem
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(setup):  # noqa: F811
    return reverse("goldsets:probes", args=[setup.version.grader.uid])


def test_from_settled_runs_to_a_promoted_version(setup, project, queue, lead, ada, model, page):  # noqa: F811
    client, expert = enter(lead), enter(ada)
    assert client.post(page, {"queue": queue.uid, "most": 0}).status_code == 422
    client.post(page, {"queue": queue.uid, "most": 1})
    assert "7 wait for an expert" in client.get(page).content.decode()

    to_check = reverse("goldsets:probes_to_check", args=[project.slug])
    while probe := next_to_check(project, ada):
        shown = expert.get(to_check).content.decode()
        assert "Does every gate pass?" in shown
        assert probe.get_kind_display() not in shown
        assert probe.changed not in shown
        assert str(probe.parent.uid) not in shown
        verdict = {"verdict": "pass" if probe.passes else "fail", "note": ""}
        expert.post(reverse("goldsets:probe_check", args=[probe.uid]), verdict)
    assert "Nothing waits" in expert.get(to_check).content.decode()
    assert Probe.objects.filter(state="approved").count() == 9

    model.usual = saying(wise)
    client.post(reverse("goldsets:promote", args=[setup.version.grader.uid, 1]))
    assert not GraderPromotion.objects.exists()
    client.post(reverse("goldsets:probes_put", args=[setup.version.grader.uid]), {"version": 1, "budget": "5"})
    run = ProbeRun.objects.get()
    run_probes(run.pk)
    said = client.get(reverse("goldsets:probe_run", args=[run.uid])).content.decode()
    assert said.count("held</span>") == 9
    matrix = client.get(page).content.decode()
    assert "1 of 1" in matrix
    assert "Nothing is missing." in matrix
    client.post(reverse("goldsets:promote", args=[setup.version.grader.uid, 1]))
    assert "promoted" in client.get(page).content.decode()


def test_who_had_probes_made_is_not_sent_to_check_them(setup, project, queue, lead, ada, page):  # noqa: F811
    client = enter(lead)
    client.post(page, {"queue": queue.uid, "most": 1})
    second = make.person("Grace")
    make.member(project, second, "lead")
    to_check = reverse("goldsets:probes_to_check", args=[project.slug])
    assert to_check not in client.get(page).content.decode()
    assert f'<a class="small" href="{to_check}">Check 7</a>' in enter(second).get(page).content.decode()
    assert (waiting_count(project, lead), waiting_count(project, ada)) == (0, 7)


def test_a_lead_hears_what_is_missing_and_a_rater_sees_no_matrix(setup, project, lead, ada, page):  # noqa: F811
    client = enter(lead)
    refused = client.post(reverse("goldsets:promote", args=[setup.version.grader.uid, 1]), follow=True)
    assert "no probe of this kind is approved" in refused.content.decode()
    assert enter(ada).get(page).status_code == 403
    assert enter(make.person("Mallory")).get(page).status_code == 404


def test_the_secret_of_an_address_is_shown_once(setup, lead, page):  # noqa: F811
    client = enter(lead)
    address = reverse("goldsets:grader_hook", args=[setup.version.grader.uid])
    shown = client.post(address, {"url": "https://grader.example.org/score"}, follow=True).content.decode()
    secret = GraderHook.objects.get().secret
    assert secret in shown
    assert secret not in client.get(page).content.decode()
    assert "https://" in client.post(address, {"url": "ftp://x"}, follow=True).content.decode()


def test_by_api_an_expert_is_told_nothing_but_the_run(setup, project, queue, lead, ada):  # noqa: F811
    grader = setup.version.grader.uid
    engineer = make.person("Eve")
    make.member(project, engineer, "engineer")
    api = by(engineer)
    assert api.post(f"/api/v1/graders/{grader}/probes/", {"queue": str(queue.uid), "most": 1}).status_code == 201
    given = by(ada).get(f"/api/v1/projects/{project.slug}/probes/next/").json()
    assert given.keys() == {"uid", "criterion", "questions", "run"}
    assert given["questions"] == ["Only authorised accounts", "Consent before action"]
    said = by(ada).post(f"/api/v1/probes/{given['uid']}/check/", {"passes": None})
    assert said.json()["state"] == "refused"
    is_problem(by(ada).post(f"/api/v1/probes/{given['uid']}/check/", {"passes": True}), 409)
    is_problem(by(ada).post(f"/api/v1/probes/{given['uid']}/check/", {"passes": "yes"}), 422)
    is_problem(api.get(f"/api/v1/projects/{project.slug}/probes/next/"), 403)
    is_problem(api.post(f"/api/v1/graders/{grader}/versions/1/promote/", {}), 409)
    matrix = api.get(f"/api/v1/graders/{grader}/probes/matrix/").json()["versions"]
    assert [(one["version"], one["promoted"], len(one["kinds"])) for one in matrix] == [(1, False, 8)]
