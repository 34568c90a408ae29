"""Leads' pages of comparisons: tick runs, see them laid out, make one or many, and read what became of it."""

import pytest
from django.urls import reverse

from reviews.actions.pairing import make_comparison
from reviews.models import Item, QueueItem
from reviews.trajectories.schema import Step
from tests import factories as make
from tests.factories.furnished import judge
from tests.factories.runs import another_run
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

ENDING = Step(role="agent", text="You will hear from us.")
COMPARING = [{"key": "better", "title": "Better", "kind": "preference", "settings": {"form": "pair"}}]


@pytest.fixture
def runs():
    first = make.item(make.project())
    return [first, another_run(first, (*make.STEPS[:2], ENDING))]


@pytest.fixture
def lead(runs):
    return enter(make.lead_of(runs[0].project))


def builder(runs):
    ticked = "&".join(f"run={run.uid}" for run in runs)
    return f"{reverse('reviews:comparison_new', args=[runs[0].project.slug])}?{ticked}"


def test_ticked_runs_are_shown_as_they_will_stand_and_made_into_a_comparison(lead, runs):
    queue = make.queue(runs[0].project, items=0, criteria=COMPARING, rubric={"item_kind": "comparison"})
    page = lead.get(builder(runs)).content.decode()
    assert "begin with the same 2 steps" in page
    assert "You will hear from us." in page
    assert "secret-model" not in page
    said = {"differs_in": "whether it pays", "provenance": "contrastive", "queue": queue.pk}
    answer = lead.post(builder(runs), said, follow=True)
    item = Item.objects.get(kind="comparison")
    assert answer.redirect_chain[-1][0] == reverse("reviews:item", args=[item.project.slug, item.uid])
    assert "whether it pays" in answer.content.decode()
    assert QueueItem.objects.get(queue=queue).item == item
    again = lead.post(builder(runs), said, follow=True).content.decode()
    assert "stood beside each other already" in again


def test_what_is_no_comparison_is_said_on_the_page(lead, runs):
    page = lead.post(builder(runs[:1]), {"provenance": "model"})
    assert page.status_code == 422
    assert "has 2 to 8 candidates" in page.content.decode()


def test_pairs_of_every_task_are_made_from_one_form(lead, runs):
    place = reverse("reviews:comparison_new", args=[runs[0].project.slug])
    assert lead.get(place).status_code == 200
    page = lead.post(place, {"size": 2, "most": 3}, follow=True).content.decode()
    assert "1 made, 0 there already." in page
    assert "2 beside each other" in page
    assert lead.post(place, {"size": 1, "most": 3}).status_code == 422


def test_an_expert_finds_no_builder(runs):
    alice = make.expert(runs[0].project)
    assert enter(alice).get(builder(runs)).status_code == 403


def test_how_candidates_ended_is_hidden_until_the_comparison_is_settled(runs, lead):
    project = runs[0].project
    item = make_comparison(actor=make.lead_of(project), project=project, items=runs).item
    engineer = make.person("Eli")
    make.member(project, engineer, "engineer")
    place = reverse("reviews:item", args=[project.slug, item.uid])
    assert "secret-model" in enter(engineer).get(place).content.decode()
    assert "secret-model" not in lead.get(place).content.decode()
    # A run that is settled alone says nothing while a comparison with it is open.
    queue = make.queue(project, items=[runs[0]], overlap=1)
    settle(queue, make.passing())
    alone = reverse("reviews:item", args=[project.slug, runs[0].uid])
    assert "secret-model-9" in lead.get(alone).content.decode()
    comparing = make.queue(project, items=[item], criteria=COMPARING, rubric={"item_kind": "comparison"}, overlap=1)
    assert "secret-model-9" not in lead.get(alone).content.decode()
    settle(comparing, {"criteria": {"better": {"prefers": 1}}, "confidence": 3})
    assert "secret-model-9" in lead.get(alone).content.decode()
    assert "secret-model-9" in lead.get(place).content.decode()


def settle(queue, payload):

    judge(queue, make.expert(queue.project), payload)
