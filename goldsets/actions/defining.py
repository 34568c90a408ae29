"""Data sets are defined: which labels leave, what for, in which formats, and what becomes of the doubtful ones.

`filter` narrows the labels; each name may be absent:
    kinds, families, provenance, basis    lists of words, any of which fits; without `basis`, all but “reviewer”
    slices                                {name: [values]}, every name must fit
    pass_rate                             {"model": str, "low": 0 to 1, "high": 0 to 1}: tasks which it solves so often
    quotas                                {source: 0 to 1}: no more than this share of what leaves is of the source
`policies` has a word for each of `POLICIES`; what is not said is the first of its words.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction

from goldsets.enums import (
    DatasetFormat,
    DatasetPurpose,
    DuplicatePolicy,
    NeutralPolicy,
    RaterPolicy,
    TiePolicy,
)
from goldsets.models import Dataset
from goldsets.writers.catalogue import FORMATS
from reviews.enums import Basis, ItemKind, Provenance
from reviews.errors import Conflict, Invalid
from reviews.models import Project, Queue
from reviews.rules import check

NAME_LENGTH = 120
POLICIES = {"ties": TiePolicy, "neutral": NeutralPolicy, "duplicates": DuplicatePolicy, "raters": RaterPolicy}
SHAPES = ("slices", "pass_rate", "quotas")
WORDS = {"kinds": ItemKind.values, "provenance": Provenance.values, "basis": Basis.values, "families": None}
MOST_WORDS, LONGEST_WORD = 1000, 200


@transaction.atomic
def define_dataset(
    *,
    actor: Any,
    project: Project,
    name: str,
    formats: Sequence[str],
    purpose: str = DatasetPurpose.TRAIN,
    queue: Queue | None = None,
    filter: Mapping[str, Any] | None = None,  # noqa: A002  the word every door uses
    policies: Mapping[str, str] | None = None,
) -> Dataset:
    """What leaves: the labels of a queue, or of the project. Raises Forbidden, Invalid, or Conflict for a name."""
    check(actor, "export", project)
    name, errors = name.strip(), {}
    if not name or len(name) > NAME_LENGTH or "\x00" in name:
        errors["name"] = f"Give the data set a name of 1 to {NAME_LENGTH} characters."
    formats = list(dict.fromkeys(formats))
    unknown = not formats or not set(formats) <= set(DatasetFormat.values)
    if unknown:
        errors["formats"] = f"Choose at least one format of {', '.join(DatasetFormat.values)}."
    if purpose not in DatasetPurpose.values:
        errors["purpose"] = f"The purpose must be one of {', '.join(DatasetPurpose.values)}."
    elif (
        not unknown
        and purpose != DatasetPurpose.TRAIN
        and (wrong := [name for name in formats if FORMATS[name].training])
    ):
        errors["formats"] = f"Formats to train with leave for the purpose “train” alone, not {', '.join(wrong)}."
    if queue and queue.project_id != project.pk:
        errors["queue"] = "The queue belongs to another project."
    if said := _wrong_in_filter(filter or {}):
        errors["filter"] = said
    if said := _wrong_in_policies(policies or {}):
        errors["policies"] = said
    if errors:
        raise Invalid(errors)
    try:
        with transaction.atomic():
            return Dataset.objects.create(
                project=project,
                queue=queue,
                name=name,
                purpose=purpose,
                formats=formats,
                filter=dict(filter or {}),
                policies=complete(policies or {}),
                created_by=actor,
            )
    except IntegrityError:
        raise Conflict(f"This project has a data set called “{name}” already.", field="name") from None


def _to_train_with(formats: Sequence[str]) -> list[str]:
    return [name for name in formats if FORMATS[name].training]


def complete(policies: Mapping[str, str]) -> dict[str, str]:
    """The policies with a word for each."""
    return {name: str(policies.get(name, words.values[0])) for name, words in POLICIES.items()}


def _wrong_in_policies(policies: Mapping[str, Any]) -> str:
    """What is wrong with the policies, or nothing."""
    for name, word in policies.items():
        if name not in POLICIES:
            return f"There is no policy “{str(name)[:80]}”. There are {', '.join(POLICIES)}."
        if word not in POLICIES[name].values:
            return f"The policy for {name} must be one of {', '.join(POLICIES[name].values)}."
    return ""


def _wrong_in_filter(chosen: Mapping[str, Any]) -> str:
    """What is wrong with the filter, or nothing."""
    for name, value in chosen.items():
        if name in WORDS:
            wrong = _wrong_words(name, value, WORDS[name])
        elif name == "slices":
            wrong = _wrong_slices(value)
        elif name == "pass_rate":
            wrong = _wrong_pass_rate(value)
        elif name == "quotas":
            wrong = _wrong_quotas(value)
        else:
            wrong = f"There is no filter “{str(name)[:80]}”. There are {', '.join([*WORDS, *SHAPES])}."
        if wrong:
            return wrong
    return ""


def _wrong_words(name: str, value: Any, known: Sequence[str] | None) -> str:
    if not isinstance(value, list) or not value or len(value) > MOST_WORDS or not all(_is_word(each) for each in value):
        return f"“{name}” must be a list of words."
    if known is not None and not set(value) <= set(known):
        return f"“{name}” must be of {', '.join(known)}."
    return ""


def _wrong_slices(value: Any) -> str:
    if not isinstance(value, dict) or not all(_is_word(name) for name in value):
        return "“slices” must be an object of names and lists of values."
    return next((wrong for name, values in value.items() if (wrong := _wrong_words(name, values, None))), "")


def _wrong_pass_rate(value: Any) -> str:
    right = isinstance(value, dict) and value.keys() == {"model", "low", "high"} and _is_word(value["model"])
    if not right or not all(_is_share(value[end]) for end in ("low", "high")) or value["low"] > value["high"]:
        return "“pass_rate” must have a model and the shares low and high, from 0 to 1, of which low is not above high."
    return ""


def _wrong_quotas(value: Any) -> str:
    known = isinstance(value, dict) and bool(value) and value.keys() <= set(Provenance.values)
    if not known or not all(_is_share(share) for share in value.values()):
        return f"“quotas” must have shares from 0 to 1 for some of {', '.join(Provenance.values)}."
    if value.keys() == set(Provenance.values) and sum(value.values()) < 1:
        return "These “quotas” make less than 1 and leave room for no source, so nothing could leave."
    return ""


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_WORD and "\x00" not in value


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
