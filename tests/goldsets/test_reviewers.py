"""Reviewers in the app: what came out of a compile stays as it is, and somebody else signs it."""

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from goldsets.enums import ReviewerState
from goldsets.models import Reviewer
from tests import factories as make
from tests.factories.reviewers import reviewer

pytestmark = pytest.mark.django_db


def refused_by_the_database(row, **changes):
    try:
        with transaction.atomic():
            Reviewer.objects.filter(pk=row.pk).update(**changes)
    except DatabaseError as error:
        return str(error)
    return ""


@pytest.fixture
def queue():
    return make.queue(make.project(), items=1)


@pytest.mark.parametrize("state", [ReviewerState.REFUSED, ReviewerState.PROVEN, ReviewerState.SIGNED])
def test_what_came_out_never_changes(queue, state):
    row = reviewer(queue, state)
    assert "never changes" in refused_by_the_database(row, artefact={"kind": "rules", "rules": []})
    assert "never changes" in refused_by_the_database(row, assurance={"holds": True})
    assert "never changes" in refused_by_the_database(row, labels_sha256="2" * 64)


def test_nothing_is_deleted(queue):
    row = reviewer(queue)
    with pytest.raises(DatabaseError, match="Cannot delete"), transaction.atomic():
        row.delete()


def test_a_refusal_is_never_signed_and_an_expired_one_never_returns(queue):
    lead = make.lead_of(queue.project)
    signed = {"state": "signed", "signed_by": lead, "signed_at": timezone.now()}
    assert "Invalid transition" in refused_by_the_database(reviewer(queue, ReviewerState.REFUSED), **signed)
    proven = reviewer(queue)
    assert refused_by_the_database(proven, **signed) == ""
    assert (
        refused_by_the_database(proven, state="expired", expired_at=timezone.now(), expired_because="New rubric") == ""
    )
    assert "Invalid transition" in refused_by_the_database(proven, state="signed")


def test_nobody_signs_what_they_compiled_and_no_signature_changes(queue):
    row = reviewer(queue)
    own = {"state": "signed", "signed_by": row.created_by, "signed_at": timezone.now()}
    assert "nobody_signs_what_they_compiled" in refused_by_the_database(row, **own)
    assert "says_who_signed" in refused_by_the_database(row, state="signed")
    signed = reviewer(queue, ReviewerState.SIGNED)
    assert "A signature never changes" in refused_by_the_database(signed, signed_by=make.person("Mallory"))
