"""Gives a signed reviewer out as a bundle, and notes who took it."""

from typing import Any

from django.db import transaction

from goldsets.enums import GoldVerb, ReviewerState
from goldsets.models import Reviewer
from goldsets.queries.reviewers import decision_of
from goldsets.reviewing.bundle import bundle
from goldsets.reviewing.hashing import sha256_of
from reviews.actions.events import record
from reviews.errors import Conflict
from reviews.rules import check


@transaction.atomic
def read_bundle(*, actor: Any, reviewer: Reviewer) -> bytes:
    """The zip with which the reviewer runs elsewhere.

    Raises Forbidden, or Conflict where it is not signed, or is not what was signed.
    """
    check(actor, "export", reviewer.project)
    if reviewer.state != ReviewerState.SIGNED:
        state, why = reviewer.get_state_display().lower(), reviewer.expired_because
        raise Conflict(f"Only a signed reviewer is given out: this one is {state}. {why}".strip())
    if sha256_of(reviewer.artefact) != reviewer.artefact_sha256:
        raise Conflict("What is kept of this reviewer is not what was proven and signed. It is not given out.")
    record(
        project=reviewer.project_id,
        actor=actor,
        verb=GoldVerb.REVIEWER_READ,
        target=reviewer,
        queue=reviewer.queue.name,
        number=reviewer.number,
        artefact_sha256=reviewer.artefact_sha256,
    )
    return bundle(reviewer.artefact or {}, reviewer.assurance or {}, about(reviewer))


def about(reviewer: Reviewer) -> dict[str, Any]:
    """What the bundle says it is."""
    decision = decision_of(reviewer)
    signed = f"Signed by {reviewer.signed_by} on {reviewer.signed_at:%-d %B %Y}." if reviewer.signed_at else ""
    return {
        "title": f"{reviewer.get_rung_display()} {reviewer.number} of {reviewer.queue.name}",
        "decision": f"{decision.title}: {decision.words}",
        "signed": signed,
        "uid": str(reviewer.uid),
        "rung": reviewer.rung,
        "artefact_sha256": reviewer.artefact_sha256,
        "origins_sha256": reviewer.origins_sha256,
        "origins": reviewer.origins,
    }
