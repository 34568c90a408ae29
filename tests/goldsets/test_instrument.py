"""An environment with its grader: a checklist on a page, by API and in the shell, that counts what is stored."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from goldsets.queries.instrument import asked_for, measured
from reviews.enums import Split
from reviews.models import Task
from tests import factories as make
from tests.factories import graders, labelled
from tests.reviews.api.talking import by, is_problem
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

GOOD, BAD = {"authorised": 1, "consent": 1, "success": 3}, {"authorised": 1, "consent": 0}


@pytest.fixture
def version(project):
    """Six tasks with two runs each, one of them passed; a held-out task asks the same as the first."""
    rows = [{"task": f"task {n // 2}", "family": "refunds", "model": "swift"} for n in range(12)]
    items = labelled.runs(project, [*rows, {"task": "sealed", "family": "kept", "split": Split.HELD_OUT}])
    for number, key in enumerate(["task 0", "sealed", "task 1"]):
        Task.objects.filter(project=project, key=key).update(context={"request": f"Refund me, number {number // 2}."})
    labelled.settled(project, items[:12], [GOOD, BAD] * 6)
    made = graders.version(project, fingerprint="sha256:1")
    graders.scored(made, *((item, (number + 1) % 2) for number, item in enumerate(items)))
    return made


def test_the_report_counts_what_is_stored(version):
    report = measured(asked_for(version.grader, {"min_tasks": "6"}))
    said = {check.key: (check.passed, check.said) for check in report.found.checks}
    assert said["tasks"] == (True, "6 tasks with two runs or more of swift")
    assert said["overlap"][0] is False
    assert said["overlap"][1].startswith("held-out tasks ask the same as task 0; no export was searched")
    assert said["environment"] == (False, "0 of 12 scored runs")
    assert said["held_out"][0] is True
    assert said["grader"][0] is True
    assert report.found.bands[0].any_of[1].value == 1
    assert (report.model, len(report.queues)) == ("swift", 1)


def test_page_api_and_command_tell_the_same(lead, version):
    at = (version.grader.uid, 1)
    page = enter(lead).get(reverse("goldsets:checklist", args=at)).content.decode()
    assert "6 tasks with two runs or more of swift" in page
    assert "held-out tasks ask the same as task 0" in page
    page = enter(lead).get(reverse("goldsets:instrument", args=at), {"max_changes": "7"}).content.decode()
    assert "It is a number from 0 to 1." in page
    assert "Nobody has attacked it yet" in page
    told = by(lead).get(f"/api/v1/graders/{version.grader.uid}/instrument/", {"min_tasks": "6"}).json()
    assert (told["holds"], told["known"]["shared"], told["terms"]["min_tasks"]) == (False, ["task 0"], 6)
    wrong = by(lead).get(f"/api/v1/graders/{version.grader.uid}/instrument/", {"min_tasks": "-6"})
    assert "min_tasks" in is_problem(wrong, 422)["errors"]
    out = StringIO()
    with pytest.raises(CommandError, match="checks do not hold"):
        call_command("training_grade", version.grader.name, "--json", "--term", "min_tasks=6", stdout=out)
    assert json.loads(out.getvalue())["bands"][0]["band"]["between"] == 6
    with pytest.raises(CommandError, match="no such term"):
        call_command("training_grade", version.grader.name, "--term", "colour=6")


def test_raters_see_nothing_of_it(project, version):
    at = (version.grader.uid, 1)
    alice = make.expert(project, "Alice")
    assert enter(alice).get(reverse("goldsets:checklist", args=at)).status_code == 403
    is_problem(by(alice).get(f"/api/v1/graders/{version.grader.uid}/instrument/"), 403)
