"""Graders as they would stand in a project, and what their versions said of items."""

import itertools
from typing import Any

from goldsets.actions.graders import add_version, register_grader
from goldsets.models import GraderScore, GraderVersion
from reviews.models import Item, Project
from tests import factories as make

_numbers = itertools.count(1)


def version(project: Project, *, kind: str = "model", criterion: str = "", **fields: Any) -> GraderVersion:
    """The first version of a new grader: pass or fail on the whole run, unless said otherwise."""
    lead = make.lead_of(project)
    grader = register_grader(
        actor=lead, project=project, name=f"Judge {next(_numbers)}", kind=kind, criterion=criterion
    )
    return add_version(actor=lead, grader=grader, **fields)


def scored(version: GraderVersion, *values: tuple[Item, float], **fields: Any) -> list[GraderScore]:
    """What it said of each item, kept without asking any action."""
    return GraderScore.objects.bulk_create(
        GraderScore(version=version, item=item, value=value, **fields) for item, value in values
    )
