"""Says what a project replaces in the text of runs as they come in."""

from typing import Any

from django.db import transaction

from reviews.actions.events import record
from reviews.enums import RedactionKind, Verb
from reviews.errors import Invalid
from reviews.models import Project, Redaction
from reviews.rules import check
from reviews.trajectories.redaction import MAX_NAME_LENGTH, REGIONS, problem_with

MOST_PATTERNS = 50


@transaction.atomic
def set_redaction(
    *, actor: Any, project: Project, kinds: list[str], own: list[dict[str, str]] | None = None, region: str = ""
) -> Redaction:
    """What is replaced from now on, in place of what was before. Runs that are in stay as they are.

    `own` is the project's own expressions as [{"name": …, "pattern": …}]. Raises Forbidden, or Invalid.
    """
    check(actor, "manage_redaction", project)
    own = own or []
    errors = {}
    if not isinstance(kinds, list) or any(kind not in RedactionKind.values for kind in kinds):
        errors["kinds"] = f"The kinds are some of {', '.join(RedactionKind.values)}."
    if region and region not in REGIONS:
        errors["region"] = "The region is a country by its two letters, such as US."
    if problem := _problem_with(own):
        errors["own"] = problem
    if errors:
        raise Invalid(errors)
    values = {"kinds": [kind for kind in RedactionKind.values if kind in kinds], "own": own, "region": region}
    redaction, _created = Redaction.objects.select_for_update().update_or_create(project=project, defaults=values)
    names = [each["name"] for each in own]
    record(
        project=project,
        actor=actor,
        verb=Verb.REDACTION_CHANGED,
        target=redaction,
        kinds=values["kinds"],
        own=names,
        region=region,
    )
    return redaction


def _problem_with(own: Any) -> str:
    """What is wrong with the first of a project's own expressions that cannot be used, or ""."""
    if not isinstance(own, list) or len(own) > MOST_PATTERNS:
        return f"Give a list of at most {MOST_PATTERNS} expressions."
    names = set(RedactionKind.values)
    for each in own:
        if not isinstance(each, dict) or set(each) != {"name", "pattern"}:
            return "Each expression has a name and a pattern."
        name, pattern = each["name"], each["pattern"]
        if not isinstance(name, str) or not 0 < len(name.strip()) <= MAX_NAME_LENGTH or set(name) & set("⟦⟧\x00"):
            return f"A name has 1 to {MAX_NAME_LENGTH} characters, without ⟦ and ⟧."
        if name in names:
            return f"The name “{name}” is taken."
        if not isinstance(pattern, str):
            return f"{name}: The pattern is a text."
        if problem := problem_with(pattern):
            return f"{name}: {problem}"
        names.add(name)
    return ""
