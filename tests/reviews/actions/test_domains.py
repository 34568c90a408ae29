"""Items go to raters who know one of a queue's fields, where it asks for that."""

import pytest

from reviews.actions.dealing import claim
from reviews.actions.projects import change_membership
from reviews.actions.queueing import change_queue
from reviews.errors import Invalid, NothingToDeal
from reviews.models import Event, Membership
from reviews.queries.home import home_page
from tests import factories as make
from tests.reviews.api.talking import by
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


def knowing(project, name, *domains):
    person = make.expert(project, name)
    member = Membership.objects.get(project=project, user=person)
    change_membership(actor=make.lead_of(project), membership=member, domains=list(domains))
    return person


def test_only_who_knows_one_of_the_fields_is_dealt_items(project):
    queue = make.queue(project, domains=["Law", "billing"])
    alice, bob = knowing(project, "Alice", "billing", "physics"), knowing(project, "Bob", "physics")
    assert queue.domains == ["law", "billing"]
    assert claim(actor=alice, queue=queue).item in [row.item for row in queue.queue_items.all()]
    with pytest.raises(NothingToDeal, match="for people who know law or billing"):
        claim(actor=bob, queue=queue)
    assert [card.queue for card in home_page(alice).cards] == [queue]
    assert home_page(bob).cards == []


def test_what_is_in_hand_is_finished_and_without_fields_everybody_judges(project):
    queue = make.queue(project)
    bob = make.expert(project, "Bob")
    mine = claim(actor=bob, queue=queue)
    queue = change_queue(actor=make.lead_of(project), queue=queue, domains="law, law , Tax  Law")
    assert queue.domains == ["law", "tax law"]
    assert claim(actor=bob, queue=queue) == mine
    assert [card.queue for card in home_page(bob).cards] == [queue]


@pytest.mark.parametrize("domains", [["x" * 41], ["a"] * 3 + [7], 5, [f"f{n}" for n in range(21)]])
def test_fields_that_are_none_are_refused(project, domains):
    queue = make.queue(project)
    with pytest.raises(Invalid) as refused:
        change_queue(actor=make.lead_of(project), queue=queue, domains=domains)
    assert list(refused.value.errors) == ["domains"]


def test_leads_note_what_people_know_by_page_and_by_api(project):
    alice = make.expert(project, "Alice")
    member = Membership.objects.get(project=project, user=alice)
    lead = make.lead_of(project)
    place = f"/projects/{project.slug}/people/{member.pk}/"
    enter(lead).post(place, {"credentials": "Attorney, ten years", "domains": "law, Billing"})
    member.refresh_from_db()
    assert (member.credentials, member.domains) == ("Attorney, ten years", ["law", "billing"])
    assert "knows law, billing" in enter(lead).get(f"/projects/{project.slug}/people/").content.decode()
    api = f"/api/v1/projects/{project.slug}/members/{member.pk}/"
    assert by(lead).patch(api, {"domains": ["tax"], "credentials": ""}, format="json").json()["domains"] == ["tax"]
    assert by(lead).patch(api, {"domains": "tax"}, format="json").status_code == 422
    assert by(alice).patch(api, {"domains": ["tax"]}, format="json").status_code == 403
    assert Event.objects.filter(verb="member.changed").order_by("pk").last().data["domains"] == ["tax"]
