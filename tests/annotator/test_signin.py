"""Coming in: by a one-time link or a password, never by signing oneself up."""

from datetime import timedelta

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.helpers import complete_social_login
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth import get_user, get_user_model
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.test import Client, RequestFactory
from django.utils import timezone
from knox.models import AuthToken
from sesame.utils import get_query_string

from annotator import signin
from reviews.actions.projects import accept_invitation, invite
from tests import factories as make

User = get_user_model()
pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return User.objects.create_user("alice@example.org", "a long password", name="Alice")


def link(user) -> str:
    return "/enter/" + get_query_string(user)


def test_a_link_signs_alice_in_once(client, alice):
    address = link(alice)
    answer = client.get(address)
    assert answer.status_code == 302
    assert answer.url == "/"
    assert get_user(client) == alice
    client.logout()
    again = client.get(address)
    assert again.status_code == 403
    assert "This link does not work any more" in again.content.decode()
    assert get_user(client).is_anonymous


def test_of_two_at_once_only_one_comes_in(client, alice):
    # A second request has already passed the check of the link when the first uses it up.
    second = User.objects.get(pk=alice.pk)
    assert client.get(link(alice)).status_code == 302
    assert signin._use_up(second) is False


def test_a_link_ends_with_its_time(client, alice, settings):
    address = link(alice)
    with time_machine.travel(timezone.now() + timedelta(seconds=settings.SIGN_IN_LINK_SECONDS + 60)):
        assert client.get(address).status_code == 403


def test_nobody_comes_in_by_a_made_up_link_or_without_an_account_in_use(client, alice):
    assert client.get("/enter/").status_code == 403
    assert client.get("/enter/?sesame=AAAAAAAAAAENATChSOZrS0Q8ZfiLsQ").status_code == 403
    address = link(alice)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert client.get(address).status_code == 403


def test_a_mail_scanner_that_only_looks_does_not_use_the_link_up(client, alice):
    address = link(alice)
    assert client.head(address).status_code == 405
    assert client.get(address).status_code == 302


def test_a_link_does_not_pass_by_the_second_factor(client, alice):
    TOTP.activate(alice, generate_totp_secret())
    answer = client.get(link(alice))
    assert answer.status_code == 302
    assert answer.url == "/accounts/2fa/authenticate/"
    assert get_user(client).is_anonymous


def test_alice_signs_in_by_password_whatever_the_case_of_her_address(client, alice):
    answer = client.post("/accounts/login/", {"login": "Alice@Example.ORG", "password": "a long password"})
    assert answer.status_code == 302
    assert get_user(client) == alice


def test_a_wrong_password_and_an_unknown_address_sound_the_same(client, alice):
    wrong = client.post("/accounts/login/", {"login": "alice@example.org", "password": "not this"})
    unknown = client.post("/accounts/login/", {"login": "bob@example.org", "password": "not this"})
    sentence = "The email address and/or password you specified are not correct."
    assert sentence in wrong.content.decode()
    assert sentence in unknown.content.decode()


def test_nobody_signs_up_by_themselves(client):
    form = {"email": "bob@example.org", "password1": "a long password", "password2": "a long password"}
    client.post("/accounts/signup/", form)
    assert not User.objects.filter(email="bob@example.org").exists()


def test_an_api_token_opens_the_api_and_nothing_is_open_without(client, alice):
    _, token = AuthToken.objects.create(alice)
    assert client.get("/api/v1/projects/").status_code == 401
    assert client.get("/api/v1/projects/", headers={"Authorization": f"Token {token}"}).status_code == 200


@pytest.mark.parametrize(
    ("action", "address"),
    [
        ("action_add", "bob@example.org"),
        ("action_add", "not-mine@example.org"),
        ("action_add", "a@" + "b" * 60 + ".example" * 30),
        ("action_primary", "bob@example.org"),
        ("action_remove", "alice@example.org"),
    ],
)
def test_nobody_takes_another_address(client, alice, action, address):
    """Neither Bob's nor one that nobody verified: the audit log and single sign-on know people by it."""
    User.objects.create_user("bob@example.org", name="Bob")
    client.force_login(alice, backend="allauth.account.auth_backends.AuthenticationBackend")
    assert client.get("/accounts/email/").status_code == 403
    assert client.post("/accounts/email/", {action: "", "email": address}).status_code == 403
    alice.refresh_from_db()
    assert alice.email == "alice@example.org"
    assert not EmailAddress.objects.exclude(email="alice@example.org").exists()


# --- Single sign-on ---------------------------------------------------------------------------------------------------
@pytest.fixture
def provider(settings):
    app = {"provider_id": "openid", "name": "Desk", "client_id": "assay", "secret": "s"}
    app["settings"] = {"server_url": "https://id.example.org"}
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [app]}}


def signed_on(email, *, verified=True, uid="boss-1"):
    """Who is signed in once the provider has said this of somebody."""
    request = RequestFactory().get("/accounts/oidc/openid/login/callback/")
    for middleware in (SessionMiddleware, MessageMiddleware):
        middleware(lambda _request: None).process_request(request)
    request.user = get_user(Client())
    with context.request_context(request):
        told = {"userinfo": {"sub": uid, "email": email, "email_verified": verified}}
        login = get_adapter(request).get_provider(request, "openid").sociallogin_from_response(request, told)
        complete_social_login(request, login)
    return request.user


@pytest.fixture
def squatter(project):
    """Mallory opens an invitation as the boss, who has no account yet, and sets up every way to come back."""
    _, token = invite(actor=make.lead_of(project), project=project, role="expert")
    boss = accept_invitation(token=token, email="boss@example.org", name="The Boss").user
    boss.set_password("a password of Mallory's")
    boss.save()
    TOTP.activate(boss, generate_totp_secret())
    SocialAccount.objects.create(user=boss, provider="openid", uid="mallory-1")
    return boss


def test_who_the_provider_knows_has_an_account_to_themselves(squatter, provider):
    mallory, (_, secret), address = Client(), AuthToken.objects.create(squatter), link(squatter)
    mallory.force_login(squatter, backend="allauth.account.auth_backends.AuthenticationBackend")
    assert get_user(mallory) == squatter
    assert signed_on("boss@example.org") == squatter
    assert get_user(mallory).is_anonymous
    assert Client().get("/api/v1/projects/", headers={"Authorization": f"Token {secret}"}).status_code == 401
    assert Client().get(address).status_code == 403
    Client().post("/accounts/login/", {"login": "boss@example.org", "password": "a password of Mallory's"})
    squatter.refresh_from_db()
    assert not squatter.has_usable_password()
    assert not Authenticator.objects.filter(user=squatter).exists()
    assert signed_on("mallory@example.org", uid="mallory-1").is_anonymous


def test_what_they_set_up_themselves_later_stays(squatter, provider):
    signed_on("boss@example.org")
    _, secret = AuthToken.objects.create(squatter)
    assert signed_on("boss@example.org") == squatter
    assert Client().get("/api/v1/projects/", headers={"Authorization": f"Token {secret}"}).status_code == 200


def test_an_address_that_the_provider_does_not_vouch_for_opens_nothing(squatter, provider):
    assert signed_on("boss@example.org", verified=False).is_anonymous
    assert signed_on("nobody@example.org").is_anonymous
    squatter.refresh_from_db()
    assert squatter.has_usable_password()
