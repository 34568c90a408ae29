"""Projects and people: links that work once, roles that hold, nobody removed."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from reviews.actions.projects import accept_invitation, change_membership, create_project, invite
from reviews.enums import Role
from reviews.errors import AssayError, Conflict, Forbidden, Invalid
from reviews.models import Event, Invitation, Membership
from tests import factories as make

pytestmark = pytest.mark.django_db


def test_whoever_leads_one_project_can_start_another_and_leads_it(lead):
    made = create_project(actor=lead, name="Billing runs")
    assert made.slug == "billing-runs"
    assert Membership.objects.get(project=made, user=lead).role == Role.LEAD


@pytest.mark.parametrize("name", ["", "   ", "x" * 121, "…"])
def test_a_project_without_a_usable_name_is_refused(lead, name):
    with pytest.raises(Invalid):
        create_project(actor=lead, name=name)


def test_two_projects_cannot_share_an_address(lead):
    create_project(actor=lead, name="Billing runs")
    with pytest.raises(Conflict) as refused:
        create_project(actor=lead, name="Billing, runs!")
    assert refused.value.field == "slug"


def test_an_expert_starts_no_project(project):
    with pytest.raises(Forbidden):
        create_project(actor=make.expert(project), name="Mine")


def test_an_invitation_makes_a_new_person_an_expert_once(project, lead):
    _, token = invite(actor=lead, project=project, role="expert", tier="skilled")
    membership = accept_invitation(token=token, email="dora@example.com", name="Dora")
    assert (membership.role, membership.tier, membership.user.name) == ("expert", "skilled", "Dora")
    with pytest.raises(Conflict, match="has been used"):
        accept_invitation(token=token, email="eve@example.com", name="Eve")


def test_a_link_alone_never_opens_somebodys_account(project, lead):
    charlie = make.person("Charlie")
    _, token = invite(actor=lead, project=project, role="lead")
    with pytest.raises(Invalid) as refused:
        accept_invitation(token=token, user=AnonymousUser(), email=charlie.email.upper(), name="Mallory")
    assert "Sign in" in refused.value.errors["email"]
    assert accept_invitation(token=token, user=charlie).user == charlie


def test_an_invitation_runs_out(project, lead):
    invitation, token = invite(actor=lead, project=project, role="expert", days=1)
    Invitation.objects.filter(pk=invitation.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(Conflict, match="run out"):
        accept_invitation(token=token, email="dora@example.com", name="Dora")


@pytest.mark.parametrize("token", ["", "nonsense", "\x00", "\ud800", "x" * 10_000])
def test_a_made_up_link_is_refused_in_one_sentence(token):
    with pytest.raises(AssayError, match="not valid"):
        accept_invitation(token=token, email="dora@example.com", name="Dora")


def test_a_member_who_opens_another_link_leaves_it_unused(project, lead):
    alice = make.expert(project, "Alice")
    invitation, token = invite(actor=lead, project=project, role="lead")
    with pytest.raises(Conflict, match="member of this project already"):
        accept_invitation(token=token, user=alice)
    invitation.refresh_from_db()
    assert invitation.used_at is None
    assert Membership.objects.get(project=project, user=alice).role == Role.EXPERT


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"role": "king"}, "role"), ({"tier": "divine"}, "tier"), ({"days": 0}, "days"), ({"note": "x" * 201}, "note")],
)
def test_an_invitation_with_a_mistake_names_its_field(project, lead, fields, field):
    with pytest.raises(Invalid) as refused:
        invite(actor=lead, project=project, **{"role": "expert", **fields})
    assert field in refused.value.errors


def test_the_token_is_not_kept(project, lead):
    invitation, token = invite(actor=lead, project=project, role="expert")
    assert token not in str(vars(invitation))


def test_a_member_is_switched_off_and_on_never_removed(project, lead):
    alice = make.expert(project, "Alice")
    membership = Membership.objects.get(user=alice)
    change_membership(actor=lead, membership=membership, active=False)
    assert Membership.objects.get(user=alice).active is False
    assert Event.objects.filter(verb="member.changed", target_id=membership.pk).count() == 1


def test_a_lead_cannot_lock_themselves_out(project, lead):
    with pytest.raises(Forbidden, match="another lead"):
        change_membership(actor=lead, membership=Membership.objects.get(user=lead), active=False)


def test_a_lead_makes_the_first_admin_and_no_second_one(project, lead):
    """Admins open what was redacted; a lead who could make one, could be one, by a second account."""
    first = Membership.objects.get(project=project, role=Role.ADMIN)
    bob = make.member(project, make.person("Bob"))
    for refused in (
        lambda: invite(actor=lead, project=project, role=Role.ADMIN),
        lambda: change_membership(actor=lead, membership=bob, role=Role.ADMIN),
        lambda: change_membership(actor=lead, membership=first, role=Role.EXPERT),
        lambda: change_membership(actor=lead, membership=first, active=False),
    ):
        with pytest.raises(Forbidden, match="Only admins"):
            refused()
    change_membership(actor=first.user, membership=bob, role=Role.ADMIN)
    change_membership(actor=bob.user, membership=first, role=Role.LEAD)
    assert set(Membership.objects.filter(project=project, role=Role.ADMIN)) == {bob}


def test_where_there_is_no_admin_a_lead_invites_one(project, lead):
    Membership.objects.filter(project=project, role=Role.ADMIN).update(active=False)
    _, token = invite(actor=lead, project=project, role=Role.ADMIN)
    assert accept_invitation(token=token, email="ada@example.com", name="Ada").role == Role.ADMIN
    with pytest.raises(Forbidden, match="Only admins"):
        invite(actor=lead, project=project, role=Role.ADMIN)
