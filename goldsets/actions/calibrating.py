"""Reading how a grader does on held-out runs is logged each time: a test that is read often is a test no more."""

from typing import Any

from django.db import transaction

from goldsets.enums import GoldVerb
from goldsets.models import GraderVersion
from reviews.actions.events import record
from reviews.models import Event
from reviews.rules import check


@transaction.atomic
def read_sealed(*, actor: Any, version: GraderVersion, criterion: str = "") -> Event:
    """Log that somebody reads figures of held-out runs. Raises Forbidden."""
    grader = version.grader
    check(actor, "view_graders", grader.project)
    return record(
        project=grader.project_id,
        actor=actor,
        verb=GoldVerb.SEALED_READ,
        target=version,
        name=grader.name,
        number=version.number,
        criterion=criterion,
    )
