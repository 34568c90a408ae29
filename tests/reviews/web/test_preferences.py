"""What a person sets for themselves: other keys on the judge page, and not to be coached again."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from reviews.actions.dealing import claim
from reviews.actions.preferences import choose_keys, remember_coached, reset_keys
from reviews.errors import Invalid
from reviews.models import Preferences
from reviews.queries.preferences import habits_of
from tests import factories as make
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return make.person("Alice")


def enter(person):
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def test_keys_are_kept_per_person_and_only_what_differs(alice):
    bob = make.person("Bob")
    assert choose_keys(actor=alice, keys={"cite": "%", "pass": "p"})["cite"] == "%"
    assert Preferences.objects.get(user=alice).keys == {"cite": "%"}
    assert habits_of(alice).keys["cite"] == "%"
    assert habits_of(bob).keys["cite"] == "e"
    choose_keys(actor=alice, keys={"skip": "e"})
    assert (habits_of(alice).keys["cite"], habits_of(alice).keys["skip"]) == ("%", "e")
    assert reset_keys(actor=alice) == habits_of(bob).keys == habits_of(alice).keys


@pytest.mark.parametrize("keys", [None, "cite", ["cite"], {"cite": "j"}, {"cite": None}, {"dance": "d"}])
def test_what_cannot_be_is_refused_and_changes_nothing(alice, keys):
    choose_keys(actor=alice, keys={"why": "y"})
    with pytest.raises(Invalid):
        choose_keys(actor=alice, keys=keys)
    assert Preferences.objects.get(user=alice).keys == {"why": "y"}


def test_the_page_saves_refuses_with_what_was_entered_and_sets_back(alice):
    client, address = enter(alice), reverse("reviews:keys")
    taken = client.post(address, {"cite": "j", "why": "y"})
    assert taken.status_code == 422
    text = taken.content.decode()
    assert "j is taken: it is for “next step”." in text
    assert 'name="why" value="y"' in text
    assert habits_of(alice).keys["why"] == "r"
    assert client.post(address, {"cite": "%", "why": "y"}).status_code == 302
    assert (habits_of(alice).keys["cite"], habits_of(alice).keys["why"]) == ("%", "y")
    assert "Set all back" in client.get(address).content.decode()
    client.post(address, {"cite": "x", "reset": "yes"})
    assert habits_of(alice).keys["cite"] == "e"


def test_the_api_reads_chooses_and_sets_back(alice):
    client = by(alice)
    assert client.get("/api/v1/me/keys/").json()["keys"]["cite"] == "e"
    assert client.put("/api/v1/me/keys/", {"keys": {"cite": "%"}}, format="json").json()["keys"]["cite"] == "%"
    refused = client.put("/api/v1/me/keys/", {"keys": {"cite": "F5"}}, format="json")
    assert refused.status_code == 422
    assert "stay with the browser" in refused.json()["errors"]["cite"]
    assert client.delete("/api/v1/me/keys/").json()["keys"]["cite"] == "e"


def test_the_judge_page_says_the_readers_own_keys(alice):
    project = make.project()
    make.member(project, alice)
    mine = claim(actor=alice, queue=make.queue(project))
    choose_keys(actor=alice, keys={"pass": "y", "cite": "%"})
    text = enter(alice).get(reverse("reviews:assignment", kwargs={"uid": mine.uid})).content.decode()
    assert re.search('name="gates.authorised" value="pass"[^>]* aria-keyshortcuts="y"', text)
    assert '<kbd aria-hidden="true">%</kbd> cite' in text
    assert '<kbd aria-hidden="true">e</kbd>' not in text


def test_having_seen_the_first_steps_is_remembered_for_every_machine(alice):
    assert not habits_of(alice).coached
    assert enter(alice).post(reverse("reviews:coached")).status_code == 204
    assert habits_of(alice).coached
    choose_keys(actor=alice, keys={"cite": "%"})
    remember_coached(actor=alice)
    assert habits_of(alice).coached
    assert habits_of(alice).keys["cite"] == "%"


def test_nobody_sets_anything_without_signing_in():
    for name in ("keys", "coached"):
        assert Client().post(reverse(f"reviews:{name}"), {"cite": "%"}).status_code == 302
    assert not Preferences.objects.exists()
