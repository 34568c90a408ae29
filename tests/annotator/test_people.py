"""People are known by their email address, whatever its case."""

import pytest
from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction

User = get_user_model()
pytestmark = pytest.mark.django_db


def test_alice_is_one_person_however_she_writes_her_address():
    alice = User.objects.create_user("Alice@Example.org", name="Alice")
    assert alice.email == "alice@example.org"
    assert User.objects.get_by_natural_key("ALICE@example.org") == alice
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user("ALICE@EXAMPLE.ORG")


def test_even_sql_cannot_make_a_second_alice():
    User.objects.create_user("alice@example.org")
    bob = User.objects.create_user("bob@example.org")
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.filter(pk=bob.pk).update(email="Alice@example.org")


def test_a_person_needs_an_address():
    with pytest.raises(ValueError, match="needs an email address"):
        User.objects.create_user("")


def test_people_show_their_name_or_else_their_address():
    assert str(User(email="bob@example.org", name="Bob")) == "Bob"
    assert str(User(email="bob@example.org")) == "bob@example.org"
