"""The page of a version's calibration: what it tells whom, and the runs behind each number."""

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from goldsets.actions.graders import add_version
from tests import factories as make
from tests.factories import graders, labelled
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

GOOD = {"authorised": 1, "consent": 1, "success": 3, "process": 2}
BAD = {"authorised": 1, "consent": 0}


@pytest.fixture
def version(project):
    """Of ten failures of one family two are passed, of ten successes of another nine; five runs have no label."""
    rows = [{"task": f"bad {n}", "family": "takeovers", "result": "success"} for n in range(10)]
    rows += [{"task": f"good {n}", "family": "refunds", "slices": {"depth": "2"}} for n in range(10)]
    rows += [{"task": f"new {n}"} for n in range(5)]
    items = labelled.runs(project, rows)
    labelled.settled(project, items, [BAD] * 10 + [GOOD] * 10 + [{}] * 5)
    made = graders.version(project, scale="real", threshold=0.5)
    graders.scored(made, *zip(items, [0.9, 0.8] + [0.1] * 8 + [0.7] * 9 + [0.2] + [0.5] * 5, strict=True))
    return made


def address(version, **asked):
    at = reverse("goldsets:calibration", args=[version.grader.uid, version.number])
    return at + "?" + "&".join(f"{name}={value}" for name, value in asked.items())


def read(user, *where, status=200):
    response = enter(user).get(*where)
    assert response.status_code == status
    return " ".join(response.content.decode().split())


def test_the_page_tells_both_errors_the_bound_and_what_is_missing(lead, version):
    page = read(lead, address(version))
    assert "<b>0.20</b>" in page
    assert "[0.06, 0.51]: 2 of 10 failures passed" in page
    assert "<b>≤ 0.51</b>" in page
    assert "114 more labelled failures to bound false positives at 5%" in page
    assert "20 labelled of 25 scored runs" in page
    assert "family takeovers: 0.20 [0.06, 0.51], n 10" in page
    assert page.count('class="plot square"') == 3


@pytest.mark.parametrize("name", ["calibration", "watch"])
def test_a_page_looks_once_at_what_labels_answer(lead, version, name):
    """That goes through the labels of all its scores."""
    with CaptureQueriesContext(connection) as caught:
        read(lead, reverse(f"goldsets:{name}", args=[version.grader.uid, version.number]))
    asked = [str(query["sql"]) for query in caught]
    assert sum('FROM "reviews_criterion"' in sql and "goldsets_graderscore" in sql for sql in asked) == 1


def test_every_number_opens_the_runs_behind_it(lead, version):
    gallery = read(lead, reverse("goldsets:calibration_behind", args=[version.grader.uid, 1]))
    assert "Passed though a gate fails" in gallery
    assert gallery.count("Fails <b>Consent before action</b>") == 2
    assert "run: success" in gallery
    behind = reverse("goldsets:calibration_behind", args=[version.grader.uid, 1])
    assert "2 runs" in read(lead, behind + "?which=passes")
    assert "False negatives" in read(lead, behind + "?which=fails")
    assert "False positives, family takeovers" in read(lead, behind + "?cut=family:takeovers")


def test_another_version_and_another_question_can_be_chosen(lead, version):
    second = add_version(actor=lead, grader=version.grader, label="stricter")
    page = read(lead, address(second))
    assert "No scored run has a trusted label yet" in page
    assert "20 labelled runs without a score of this version." in page
    page = read(lead, address(version, against="gates", limit="0.3", other="2"))
    assert "A pass is right where every gate passes." in page
    assert "Beside version 2" in page


def test_what_is_asked_wrongly_is_said_and_the_usual_stands_below(lead, version):
    page = read(lead, address(version, against="colour", limit="x"))
    assert "Scores can be held against verdict, gates, authorised" in page
    assert "<b>0.20</b>" in page


def test_it_is_for_leads_and_engineers(project, lead, version):
    engineer = make.person("Eli")
    make.member(project, engineer, "engineer")
    read(engineer, address(version))
    read(make.expert(project, "Alice"), address(version), status=403)
    read(make.person("Mallory"), address(version), status=404)
    read(lead, reverse("goldsets:calibration", args=[version.grader.uid, 7]), status=404)
    read(lead, reverse("goldsets:calibration", args=[uuid4(), 1]), status=404)
