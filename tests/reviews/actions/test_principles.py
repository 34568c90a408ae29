"""Principles: why something is asked, in versions, named by criteria and read by raters beside them."""

import json

import pytest
from django.urls import reverse

from reviews.actions.rubrics import read_rubric_file, write_principle, write_rubric
from reviews.errors import Invalid
from reviews.models import Principle
from reviews.queries.rubric_view import rubric_view
from reviews.queries.rubrics import rubric_as_written
from tests import factories as make
from tests.reviews.api.talking import by
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

WITH = [{**make.CRITERIA[0], "principle": {"name": "Consent", "version": 1}}, *make.CRITERIA[1:]]


@pytest.fixture
def consent(project):
    return write_principle(
        actor=make.lead_of(project), project=project, name="Consent", text="Money moves only with a yes."
    )


def test_a_change_is_a_new_version_and_criteria_keep_theirs(project, consent):
    queue = make.queue(project, criteria=WITH)
    later = write_principle(actor=make.lead_of(project), project=project, name="Consent", text="Nothing without a yes.")
    assert (consent.version, later.version) == (1, 2)
    assert queue.rubric.criteria.get(key="authorised").principle == consent
    assert rubric_view(queue.rubric, {}).gates[0].because == "Money moves only with a yes."


def test_a_rater_reads_why_on_the_page_and_over_the_api(project, consent):
    queue = make.queue(project, criteria=WITH)
    alice = make.expert(project, "Alice")
    claimed = by(alice).post(f"/api/v1/queues/{queue.uid}/claim/").json()
    asked = claimed["item"]["rubric"]["criteria"][0]
    assert asked["principle"] == {"name": "Consent", "version": 1, "text": "Money moves only with a yes."}
    page = enter(alice).get(reverse("reviews:assignment", args=[claimed["uid"]])).content.decode()
    assert page.count("because: Money moves only with a yes.") == 1


@pytest.mark.parametrize("named", [{"name": "Consent", "version": 9}, {"name": "Other", "version": 1}, "Consent"])
def test_a_principle_that_is_not_there_is_named_at_its_field(project, consent, named):
    rows = [{**make.CRITERIA[0], "principle": named}]
    with pytest.raises(Invalid) as refused:
        write_rubric(actor=make.lead_of(project), project=project, name="R", criteria=rows)
    assert list(refused.value.errors) == ["criteria.0.principle"]


def test_it_stays_with_the_rubric_over_a_file(project, consent):
    rubric = make.queue(project, criteria=WITH).rubric
    written = rubric_as_written(rubric)
    again = write_rubric(actor=make.lead_of(project), project=project, **read_rubric_file(json.dumps(written)))
    assert rubric_as_written(again) == written


def test_a_lead_writes_one_on_the_page_and_mistakes_are_named(project):
    lea = enter(make.lead_of(project))
    place = reverse("reviews:principles", args=[project.slug])
    assert lea.post(place, {"name": "Consent", "text": "Ask first."}).status_code == 302
    answer = lea.post(place, {"name": "Consent", "text": " "})
    assert (answer.status_code, list(answer.context["errors"])) == (422, ["text"])
    assert "Ask first." in lea.get(place).content.decode()
    assert enter(make.expert(project, "Alice")).post(place, {"name": "A", "text": "B"}).status_code == 403
    assert Principle.objects.filter(project=project).count() == 1
