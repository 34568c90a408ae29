"""Releases: terms are written, a version is held to them, two people sign, and what was wrong is withdrawn."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max

from goldsets.enums import DatasetState, GoldVerb
from goldsets.models import (
    Dataset,
    DatasetVersion,
    Release,
    ReleaseSignature,
    ReleaseTerms,
    SourceLicence,
    Withdrawal,
)
from goldsets.queries.releases import SIGNATURES, checklist, readers_of, terms_for
from goldsets.stats.checklist import complete, wrong_terms
from reviews.actions.events import record
from reviews.actions.payloads import storable
from reviews.errors import Conflict, Invalid
from reviews.models import Project
from reviews.rules import check

REASON_LENGTH = 1000


@transaction.atomic
def write_terms(*, actor: Any, dataset: Dataset, terms: Mapping[str, Any]) -> ReleaseTerms:
    """What a version must reach, for versions that are begun from now on. What is not said is as the defaults have it.

    Raises Forbidden, or Invalid with every threshold at fault.
    """
    check(actor, "sign", dataset.project)
    if errors := wrong_terms(terms):
        raise Invalid(errors)
    Dataset.objects.select_for_update(of=("self",)).get(pk=dataset.pk)
    latest = ReleaseTerms.objects.filter(dataset=dataset).aggregate(latest=Max("number"))["latest"] or 0
    said = complete(terms)
    made = ReleaseTerms.objects.create(dataset=dataset, number=latest + 1, terms=said, written_by=actor)
    record(
        project=dataset.project_id,
        actor=actor,
        verb=GoldVerb.TERMS_WRITTEN,
        target=made,
        dataset=dataset.name,
        number=made.number,
        terms=said,
    )
    return made


@transaction.atomic
def sign_release(*, actor: Any, version: DatasetVersion) -> Release:
    """One person's signature. The first keeps the checklist as it is then; with the second the version is released.

    Raises Forbidden, or Conflict with what is missing: it is not finished, terms were not written before it, a check
    does not hold, it is withdrawn, or this person has signed.
    """
    dataset = version.dataset
    check(actor, "sign", dataset.project)
    version = (
        DatasetVersion.objects.select_for_update(of=("self",)).select_related("dataset__project").get(pk=version.pk)
    )
    _refuse_what_is_over(version)
    release = Release.objects.filter(version=version).first() or _hold_to_terms(version)
    there = release.signatures.count()
    if there >= SIGNATURES:
        raise Conflict("This version is released: two people have signed.")
    try:
        with transaction.atomic():
            ReleaseSignature.objects.create(release=release, person=actor)
    except IntegrityError:
        raise Conflict("You have signed. It takes somebody else besides.") from None
    told = {"dataset": dataset.name, "version": version.number, "checklist_sha256": release.checklist_sha256}
    record(
        project=dataset.project_id,
        actor=actor,
        verb=GoldVerb.RELEASE_SIGNED,
        target=release,
        signature=there + 1,
        **told,
    )
    if there + 1 == SIGNATURES:
        record(project=dataset.project_id, actor=actor, verb=GoldVerb.RELEASE_COMPLETE, target=release, **told)
    return release


def _refuse_what_is_over(version: DatasetVersion) -> None:
    if version.state != DatasetState.FINISHED:
        raise Conflict(f"Only a finished version is signed: this one is {version.get_state_display().lower()}.")
    if Withdrawal.objects.filter(version=version).exists():
        raise Conflict("This version is withdrawn. Sign the next one.")


def _hold_to_terms(version: DatasetVersion) -> Release:
    terms = terms_for(version)
    if terms is None:
        raise Conflict(
            "No terms were written before this version was begun. Write them, then the next version, and sign that."
        )
    checks = checklist(version, terms.terms)
    failing = [row.title for row in checks if row.passed is False]
    if failing:
        raise Conflict(f"The checklist does not hold: {', '.join(failing)}.")
    said = [row.as_dict() for row in checks]
    return Release.objects.create(
        version=version, terms=terms, checklist=said, checklist_sha256=hash_of(said, terms.terms)
    )


def hash_of(checks: list[dict[str, Any]], terms: dict[str, Any]) -> str:
    """What a signature stands for: the SHA-256 of checklist and terms as JSON with sorted keys and no white space."""
    text = json.dumps({"checklist": checks, "terms": terms}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


@transaction.atomic
def withdraw_version(*, actor: Any, version: DatasetVersion, reason: str) -> Withdrawal:
    """Give the version out no more, and note who has it: whoever downloaded from it must be told.

    Raises Forbidden, Invalid without a reason, or Conflict where it is not finished or is withdrawn.
    """
    dataset = version.dataset
    check(actor, "sign", dataset.project)
    reason = reason.strip()
    if not reason or len(reason) > REASON_LENGTH or not storable(reason):
        raise Invalid({"reason": f"Say what is wrong with it, in 1 to {REASON_LENGTH} characters."})
    _refuse_what_is_over(version)
    try:
        with transaction.atomic():
            made = Withdrawal.objects.create(version=version, reason=reason, withdrawn_by=actor)
    except IntegrityError:
        raise Conflict("This version is withdrawn already.") from None
    record(
        project=dataset.project_id,
        actor=actor,
        verb=GoldVerb.VERSION_WITHDRAWN,
        target=version,
        dataset=dataset.name,
        version=version.number,
        reason=reason,
        readers=[reader.person for reader in readers_of(version)],
    )
    return made


@transaction.atomic
def state_licence(*, actor: Any, project: Project, source: str, licence: str) -> SourceLicence:
    """Under which licence runs of a source may be used. Stated again, the later holds; both are kept."""
    check(actor, "export", project)
    given = {"source": (source.strip(), 300), "licence": (licence.strip(), 120)}
    errors = {
        field: f"Say the {field} in 1 to {most} characters."
        for field, (text, most) in given.items()
        if not text or len(text) > most or not storable(text)
    }
    if errors:
        raise Invalid(errors)
    made = SourceLicence.objects.create(
        project=project, source=source.strip(), licence=licence.strip(), stated_by=actor
    )
    record(
        project=project,
        actor=actor,
        verb=GoldVerb.LICENCE_STATED,
        target=made,
        source=made.source,
        licence=made.licence,
    )
    return made
