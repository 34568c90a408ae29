"""The admin shows the tables and changes none of them."""

import re

import pytest
from django.contrib import admin
from django.urls import reverse

from reviews.models import Invitation
from tests import factories as make
from tests.factories.furnished import desk
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

OURS = [model for model in admin.site._registry if model._meta.app_label in ("reviews", "goldsets")]


@pytest.fixture(scope="module")
def names():
    return [f"admin:{model._meta.app_label}_{model._meta.model_name}" for model in OURS]


def test_every_list_and_every_row_opens_and_nothing_can_be_changed(names):
    desk()
    client = enter(make.person("Ada", is_staff=True, is_superuser=True))
    for model, name in zip(OURS, names, strict=True):
        assert client.get(reverse(f"{name}_changelist"), {"q": "a"}).status_code == 200
        assert client.get(reverse(f"{name}_add")).status_code == 403
        row = model._default_manager.first()
        if row is None:
            continue
        change = reverse(f"{name}_change", args=[row.pk])
        page = client.get(change)
        assert page.status_code == 200
        assert "Save" not in page.content.decode()
        assert client.post(change, {}).status_code == 403
        assert client.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403


def test_tables_are_named_in_english():
    """Django makes a plural by an s, which these do not take."""
    plurals = {str(model._meta.verbose_name_plural) for model in OURS}
    assert {"criteria", "trajectories", "gold policies", "standing policies", "terms of release"} <= plurals
    assert not [plural for plural in plurals if re.search("[^aeiou]ys$|ss$|criterions$", plural)]


def test_the_hash_of_an_invitations_token_is_not_shown():
    made = desk()
    enter(made.lead).post(
        reverse("reviews:people", args=[made.project.slug]), {"role": "expert", "tier": "expert", "days": "7"}
    )
    invitation = Invitation.objects.get()
    client = enter(make.person("Ada", is_staff=True, is_superuser=True))
    page = client.get(reverse("admin:reviews_invitation_change", args=[invitation.pk])).content.decode()
    assert invitation.token_hash not in page


def test_raters_and_leads_do_not_come_in():
    made = desk()
    for person in (made.lead, made.experts[0]):
        assert enter(person).get(reverse("admin:index")).status_code == 302
