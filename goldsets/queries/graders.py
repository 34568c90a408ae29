"""Graders as leads and engineers look them up. Raters never receive any of it."""

from __future__ import annotations

from reviews.models import Criterion, Project


def criterion_keys(project: Project) -> set[str]:
    """The keys of every criterion that a rubric of the project has or had."""
    return set(Criterion.objects.filter(rubric__project=project).values_list("key", flat=True).distinct())
