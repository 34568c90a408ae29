"""Says what raters of a project do not read in its runs."""

from typing import Any

from django.db import transaction

from reviews.actions.events import record
from reviews.actions.payloads import storable
from reviews.enums import Verb
from reviews.errors import Invalid
from reviews.models import Masking, Project
from reviews.queries.masking import Touched, touched_by
from reviews.rules import check
from reviews.trajectories.masking import MAX_WORD_LENGTH, MaskRules
from reviews.trajectories.redaction import problem_with

MOST_RULES = 50


@transaction.atomic
def set_masking(
    *, actor: Any, project: Project, words: Any = (), patterns: Any = (), own_model: bool = False
) -> Masking:
    """What is hidden from now on, in place of what was before, from whoever judges and reads. Runs stay as they are.

    Offsets do not move: a quotation taken before still stands. Raises Forbidden, or Invalid.
    """
    rules = _checked(actor, project, words, patterns, own_model)
    values = {"words": list(rules.words), "patterns": list(rules.patterns), "own_model": rules.own_model}
    masking, _created = Masking.objects.select_for_update().update_or_create(project=project, defaults=values)
    record(project=project, actor=actor, verb=Verb.MASKING_CHANGED, target=masking, **values)
    return masking


def try_masking(
    *, actor: Any, project: Project, words: Any = (), patterns: Any = (), own_model: bool = False
) -> Touched:
    """What such rules would hide in the latest runs. Nothing is written. Raises Forbidden, or Invalid."""
    return touched_by(project, _checked(actor, project, words, patterns, own_model))


def _checked(actor: Any, project: Project, words: Any, patterns: Any, own_model: bool) -> MaskRules:
    check(actor, "manage_masking", project)
    errors = {}
    if problem := _problem_with(words, _word_problem):
        errors["words"] = problem
    if problem := _problem_with(patterns, problem_with):
        errors["patterns"] = problem
    if errors:
        raise Invalid(errors)
    return MaskRules(tuple(dict.fromkeys(words)), tuple(dict.fromkeys(patterns)), bool(own_model))


def _problem_with(given: Any, problem_of: Any) -> str:
    """What is wrong with the first of the texts that cannot be used, or ""."""
    if not isinstance(given, list | tuple) or len(given) > MOST_RULES or any(not isinstance(one, str) for one in given):
        return f"Give a list of at most {MOST_RULES} texts."
    if not all(map(storable, given)):
        return "One of the texts has characters that cannot be stored."
    problems = (f"“{one[:40]}”: {problem}" for one in given if (problem := problem_of(one)))
    return next(problems, "")


def _word_problem(word: str) -> str:
    if not 0 < len(word) <= MAX_WORD_LENGTH:
        return f"A word has 1 to {MAX_WORD_LENGTH} characters."
    return "" if any(character.isalnum() for character in word) else "A word has a letter or a digit."
