"""API tokens: Erin makes one, it works until its day or until somebody revokes it, and its secret is shown once."""

import io
import json
from datetime import timedelta

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from knox.models import AuthToken

from reviews.actions.projects import change_membership
from reviews.actions.tokens import make_token
from reviews.enums import Role, Verb
from reviews.errors import Invalid
from reviews.models import Event
from tests import factories as make
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

PAGE = "/settings/tokens/"


@pytest.fixture
def erin(project):
    person = make.person("Erin")
    make.member(project, person, Role.ENGINEER)
    return person


def status(secret: str) -> int:
    return Client().get("/api/v1/projects/", headers={"Authorization": f"Token {secret}"}).status_code


def test_a_token_is_shown_once_and_works_until_its_day(erin):
    client = enter(erin)
    made = client.post(PAGE, {"name": "nightly import", "days": "30"})
    secret = made.context["secret"]
    assert secret.startswith("assay_")
    assert secret in made.content.decode()
    again = client.get(PAGE).content.decode()
    assert secret not in again
    assert "nightly import" in again
    assert f"{secret[:15]}…" in again
    assert status(secret) == 200
    with time_machine.travel(timezone.now() + timedelta(days=29)):
        assert status(secret) == 200
    with time_machine.travel(timezone.now() + timedelta(days=31)):
        assert "nightly import" not in enter(erin).get(PAGE).content.decode()
        assert status(secret) == 401


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": "", "days": "30"}, "name"),
        ({"name": "x" * 61, "days": "30"}, "name"),
        ({"name": "import", "days": "91"}, "days"),
        ({"name": "import", "days": "0"}, "days"),
        ({"name": "import", "days": ""}, "days"),
    ],
)
def test_a_token_has_a_name_and_an_end(erin, given, field):
    refused = enter(erin).post(PAGE, given)
    assert refused.status_code == 422
    assert list(refused.context["form"].errors) == [field]
    assert not AuthToken.objects.exists()


def test_the_action_itself_refuses_what_the_form_would(erin):
    with pytest.raises(Invalid) as refused:
        make_token(actor=erin, name=" ", days=91)
    assert set(refused.value.errors) == {"name", "days"}


def test_where_tokens_may_live_for_ever_a_day_may_be_left_out(erin, settings):
    settings.API_TOKEN_DAYS = 0
    settings.REST_KNOX = {**settings.REST_KNOX, "TOKEN_TTL": None}
    page = enter(erin).post(PAGE, {"name": "import", "days": ""})
    assert page.status_code == 200
    assert "It works until you revoke it" in page.content.decode()
    assert AuthToken.objects.get().expiry is None


def test_a_revoked_token_opens_nothing_and_nobody_revokes_another_persons(erin):
    token, secret = make_token(actor=erin, name="lost laptop")
    _, kept = make_token(actor=erin, name="server")
    address = reverse("reviews:token_revoke")
    enter(make.person("Bob")).post(address, {"starts": token.token_key})
    assert status(secret) == 200
    answer = enter(erin).post(address, {"starts": token.token_key}, follow=True)
    assert "The token is revoked" in answer.content.decode()
    assert (status(secret), status(kept)) == (401, 200)


def test_a_lead_sees_and_revokes_the_tokens_of_the_projects_people(project, lead, erin):
    token, secret = make_token(actor=erin, name="lost laptop")
    people = enter(lead).get(reverse("reviews:people", args=[project.slug])).content.decode()
    assert "lost laptop" in people
    assert secret not in people
    member = erin.memberships.get()
    address = reverse("reviews:member_token_revoke", args=[project.slug, member.pk])
    assert enter(erin).post(address, {"starts": token.token_key}).status_code == 403
    assert status(secret) == 200
    enter(lead).post(address, {"starts": token.token_key})
    assert status(secret) == 401
    event = Event.objects.get(verb=Verb.TOKEN_REVOKED)
    assert (event.actor, event.target_id, event.data) == (lead, member.pk, {"starts": token.token_key})


def test_the_tokens_of_somebody_who_is_switched_off_are_none_of_the_projects(project, lead, erin):
    token, secret = make_token(actor=erin, name="my other team")
    member = erin.memberships.get()
    change_membership(actor=lead, membership=member, active=False)
    assert "my other team" not in enter(lead).get(reverse("reviews:people", args=[project.slug])).content.decode()
    address = reverse("reviews:member_token_revoke", args=[project.slug, member.pk])
    page = enter(lead).post(address, {"starts": token.token_key}, follow=True).content.decode()
    assert "no longer a member of this project" in page
    assert status(secret) == 200


def test_a_lead_does_not_revoke_an_admins_token(project, lead):
    admin = project.memberships.get(role=Role.ADMIN)
    token, secret = make_token(actor=admin.user, name="backup")
    address = reverse("reviews:member_token_revoke", args=[project.slug, admin.pk])
    page = enter(lead).post(address, {"starts": token.token_key}, follow=True)
    assert "Only admins" in page.content.decode()
    assert status(secret) == 200


def test_the_admin_site_shows_and_revokes_tokens_and_makes_none(erin):
    token, secret = make_token(actor=erin, name="nightly import")
    client = enter(make.person("Ada", is_staff=True, is_superuser=True))
    listed = client.get(reverse("admin:knox_authtoken_changelist")).content.decode()
    assert token.token_key in listed
    assert "nightly import" in listed
    row = reverse("admin:knox_authtoken_change", args=[token.digest])
    assert client.get(row).status_code == 200
    assert client.get(reverse("admin:knox_authtoken_add")).status_code == 403
    client.post(reverse("admin:knox_authtoken_delete", args=[token.digest]), {"post": "yes"})
    assert status(secret) == 401


def test_the_command_makes_a_token_for_a_machine(erin, settings):
    out = io.StringIO()
    call_command("make_token", erin.email, name="CI", days=7, json=True, stdout=out)
    told = json.loads(out.getvalue())
    assert status(told["token"]) == 200
    assert told["name"] == "CI"
    assert AuthToken.objects.get().expiry.isoformat() == told["ends"]
    with pytest.raises(CommandError, match="1 to 90 days"):
        call_command("make_token", erin.email, name="CI", days=91)
    with pytest.raises(CommandError, match="nobody with the e-mail"):
        call_command("make_token", "nobody@example.org", name="CI")


def test_nobody_makes_or_revokes_without_signing_in():
    for address in (PAGE, reverse("reviews:token_revoke")):
        assert Client().post(address, {"name": "x", "days": "1"}).status_code == 302
    assert not AuthToken.objects.exists()
