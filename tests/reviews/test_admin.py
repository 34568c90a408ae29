"""The admin site: people, memberships, invitations, imports and tokens; nothing that was judged or is hidden."""

import re

import pytest
from django.apps import apps
from django.contrib import admin
from django.urls import reverse

from annotator.models import User
from reviews.models import Invitation
from tests import factories as make
from tests.factories.furnished import desk
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

OURS = [model for app in ("reviews", "goldsets") for model in apps.get_app_config(app).get_models()]
SHOWN = {"Project", "Membership", "Invitation", "ImportJob"}


@pytest.fixture
def operator():
    return enter(make.person("Ada", is_staff=True, is_superuser=True))


def name_of(model) -> str:
    return f"admin:{model._meta.app_label}_{model._meta.model_name}"


def test_nothing_that_is_judged_or_hidden_and_no_way_of_signing_in_as_another_is_there():
    shown = {model._meta.label for model in admin.site._registry}
    assert shown == {"annotator.User", "knox.AuthToken", *(f"reviews.{name}" for name in SHOWN)}


def test_every_list_and_every_row_opens_and_nothing_can_be_changed(operator):
    made = desk()
    token = {"role": "expert", "tier": "expert", "days": "7"}
    enter(made.lead).post(reverse("reviews:people", args=[made.project.slug]), token)
    for model in (model for model in OURS if model.__name__ in SHOWN):
        name = name_of(model)
        assert operator.get(reverse(f"{name}_changelist"), {"q": "a"}).status_code == 200
        assert operator.get(reverse(f"{name}_add")).status_code == 403
        row = model._default_manager.first()
        if row is None:
            continue
        change = reverse(f"{name}_change", args=[row.pk])
        page = operator.get(change)
        assert page.status_code == 200
        assert "Save" not in page.content.decode()
        assert operator.post(change, {}).status_code == 403
        assert operator.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403


def test_an_operator_switches_somebody_off_and_changes_nothing_else_of_them(operator):
    alice = make.person("Alice")
    page = reverse("admin:annotator_user_change", args=[alice.pk])
    assert alice.email in operator.get(page).content.decode()
    operator.post(page, {"email": "mallory@example.org", "is_superuser": "on"})
    before = alice.email
    alice.refresh_from_db()
    assert (alice.is_active, alice.email, alice.is_superuser) == (False, before, False)
    assert operator.get(reverse("admin:annotator_user_add")).status_code == 403
    assert operator.post(reverse("admin:annotator_user_delete", args=[alice.pk]), {"post": "yes"}).status_code == 403
    assert User.objects.filter(pk=alice.pk).exists()


def test_tables_are_named_in_english():
    """Django makes a plural by an s, which these do not take."""
    plurals = {str(model._meta.verbose_name_plural) for model in OURS}
    assert {"criteria", "trajectories", "gold policies", "standing policies", "terms of release"} <= plurals
    assert not [plural for plural in plurals if re.search("[^aeiou]ys$|ss$|criterions$", plural)]


def test_the_hash_of_an_invitations_token_is_not_shown(operator):
    made = desk()
    enter(made.lead).post(
        reverse("reviews:people", args=[made.project.slug]), {"role": "expert", "tier": "expert", "days": "7"}
    )
    invitation = Invitation.objects.get()
    page = operator.get(reverse("admin:reviews_invitation_change", args=[invitation.pk])).content.decode()
    assert invitation.token_hash not in page


def test_raters_and_leads_do_not_come_in():
    made = desk()
    for person in (made.lead, made.experts[0]):
        assert enter(person).get(reverse("admin:index")).status_code == 302
