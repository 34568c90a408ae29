"""Projects and their people: made, opened, invited, switched off; and who may not."""

import re

import pytest
from django.urls import reverse

from reviews.enums import Role, Verb
from reviews.models import Event, Invitation, Membership, Project
from tests import factories as make
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def lea():
    return make.person("Lea")


@pytest.fixture
def project(lea):
    return make.project(lea)


def people(project):
    return reverse("reviews:people", args=[project.slug])


def test_a_lead_creates_a_project_and_leads_it(lea, project):
    answer = enter(lea).post(reverse("reviews:projects"), {"name": "Refund desk", "description": "Refunds alone."})
    made = Project.objects.get(slug="refund-desk")
    assert answer.url == reverse("reviews:project", args=[made.slug])
    assert Membership.objects.get(project=made).user == lea


def test_a_name_that_is_taken_is_said_and_kept(lea, project):
    client = enter(lea)
    client.post(reverse("reviews:projects"), {"name": "Refund desk"})
    answer = client.post(reverse("reviews:projects"), {"name": "Refund desk", "description": "Another."})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "There is a project with the address “refund-desk” already." in page
    assert "Another." in page


def test_an_expert_creates_no_project(project):
    alice = make.expert(project, "Alice")
    client = enter(alice)
    assert client.post(reverse("reviews:projects"), {"name": "Mine"}).status_code == 403
    assert "New project" not in client.get(reverse("reviews:projects")).content.decode()


def test_the_first_page_says_what_is_worth_doing(lea, project):
    queue = make.queue(project, items=0)
    page = enter(lea).get(reverse("reviews:project", args=[project.slug])).content.decode()
    assert f"{queue.name} has no items yet." in page
    assert "Nobody judges here yet." in page


def test_nobody_is_sent_where_they_may_not_go(project):
    eli = make.person("Eli")
    make.member(project, eli, Role.ENGINEER)
    make.queue(project, items=0)
    page = enter(eli).get(reverse("reviews:project", args=[project.slug])).content.decode()
    assert "has no items yet." in page
    assert "Nobody judges here yet." not in page


def test_an_expert_has_the_first_page_instead(project):
    answer = enter(make.expert(project, "Alice")).get(reverse("reviews:project", args=[project.slug]))
    assert answer.url == reverse("reviews:home")


def test_a_stranger_does_not_learn_that_the_project_exists(project):
    for name in ("project", "people", "items", "labels", "events", "imports", "rubrics"):
        answer = enter(make.person("Mallory")).get(reverse(f"reviews:{name}", args=[project.slug]))
        assert answer.status_code == 404


def test_nobody_sees_a_page_without_signing_in(client, project):
    for name in ("project", "people", "items", "labels", "events", "imports", "rubrics", "guidelines"):
        answer = client.get(reverse(f"reviews:{name}", args=[project.slug]))
        assert answer.status_code == 302
        assert answer.url.startswith("/accounts/login/")


def test_an_invitation_is_shown_once_and_works_once(lea, project):
    client = enter(lea)
    answer = client.post(people(project), {"role": "expert", "tier": "skilled", "note": "for Bob", "days": "7"})
    link = re.search(r"http://testserver(/join/[^\"]+)", answer.content.decode())[1]
    assert "/join/" not in client.get(people(project)).content.decode()
    assert "for Bob" in client.get(people(project)).content.decode()
    bob = make.person("Bob")
    assert enter(bob).post(link).status_code == 302
    assert Membership.objects.get(project=project, user=bob).tier == "skilled"
    assert enter(make.person("Charlie")).post(link).status_code == 409


def test_a_wrong_number_of_days_is_said_at_its_field(lea, project):
    answer = enter(lea).post(people(project), {"role": "expert", "tier": "expert", "days": "900"})
    assert answer.status_code == 422
    assert answer.context["form"].errors["days"]
    assert Invitation.objects.count() == 0


def test_a_member_is_switched_off_and_on_again(lea, project):
    alice = make.expert(project, "Alice")
    membership = Membership.objects.get(user=alice)
    place = reverse("reviews:member", args=[project.slug, membership.pk])
    enter(lea).post(place, {"active": "no"})
    assert enter(alice).get(reverse("reviews:project", args=[project.slug])).status_code == 404
    enter(lea).post(place, {"active": "yes"})
    membership.refresh_from_db()
    assert membership.active
    assert Event.objects.filter(verb=Verb.MEMBER_CHANGED).count() == 2


def test_a_lead_cannot_take_their_own_role_away(lea, project):
    own = Membership.objects.get(user=lea)
    place = reverse("reviews:member", args=[project.slug, own.pk])
    page = enter(lea).post(place, {"role": "expert"}, follow=True).content.decode()
    assert "You cannot take your own role away." in page
    own.refresh_from_db()
    assert own.role == Role.LEAD


def test_a_member_of_another_project_is_not_found(lea, project):
    stranger = Membership.objects.filter(project=make.project()).first()
    answer = enter(lea).post(reverse("reviews:member", args=[project.slug, stranger.pk]), {"active": "no"})
    assert answer.status_code == 404


def test_engineers_and_experts_invite_nobody(project):
    eli = make.person("Eli")
    make.member(project, eli, Role.ENGINEER)
    for person in (eli, make.expert(project, "Alice")):
        assert enter(person).post(people(project), {"role": "lead", "tier": "expert", "days": "7"}).status_code == 403
    assert Invitation.objects.count() == 0


def test_simulated_raters_are_marked(lea, project):
    make.expert(project, "Robo", simulated=True)
    assert "simulated" in enter(lea).get(people(project)).content.decode()


def test_whoever_sets_assay_up_finds_the_way_to_the_first_project():
    page = enter(make.person("Ada", is_staff=True)).get(reverse("reviews:home")).content.decode()
    assert "Create a project" in page
    assert reverse("reviews:projects") in page
