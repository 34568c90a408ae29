"""Leaks: look for them before a version is written, refuse what leaks, and let pass what two people sign for."""

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from goldsets.enums import DatasetPurpose, GoldVerb
from goldsets.models import DatasetVersion, LeakReport, LeakSignature
from goldsets.queries.leaks import SIGNATURES, WITHIN, Findings, LetPass, find_leaks, latest_report, let_pass, runs_of
from goldsets.queries.splits import tasks_apart_from
from reviews.actions.events import record
from reviews.actions.payloads import storable
from reviews.errors import Conflict, Invalid, NotFound
from reviews.models import QueueItem
from reviews.rules import check

REASON_LENGTH = 1000
# What is meant for tests may hold benchmarks; what trains or calibrates may not.
HELD_AGAINST_BENCHMARKS = {DatasetPurpose.TRAIN, DatasetPurpose.CALIBRATION}


def check_for_leaks(version: DatasetVersion, rows: QuerySet[QueueItem]) -> dict[str, Any]:
    """Look for leaks among the rows that are to leave, keep what was found, and return it for the manifest.

    Raises Conflict where something leaks that two people have not signed for.
    """
    dataset = version.dataset
    signed_for = let_pass(dataset)
    found = find_leaks(
        project=dataset.project,
        runs=runs_of(rows),
        sealed=tasks_apart_from(dataset.project, dataset.purpose),
        benchmarks=dataset.purpose in HELD_AGAINST_BENCHMARKS,
        let_pass={key for each in signed_for for key in each.keys},
    )
    LeakReport.objects.create(version=version, findings=found.as_dict(), leaks=found.leaks)
    if found.leaks:
        raise Conflict(refusal(found))
    return for_manifest(found, signed_for)


def for_manifest(found: Findings, signed_for: list[LetPass]) -> dict[str, Any]:
    """What travels with the files: numbers, and what was let pass by whom. Never a text of another split."""
    used = {pair.key: pair for pair in found.pairs if pair.let_pass}
    return {
        "runs": found.runs,
        "against_runs": found.against_runs,
        "against_benchmark_texts": found.against_texts,
        "threshold": found.threshold,
        "near": found.counts,
        "searched_within": found.searched_within,
        "overridden": [
            {
                "refused_version": each.version,
                "signed": each.signed,
                "pairs": [
                    {"ours": pair.ours.name, "theirs": pair.theirs.name, "similarity": pair.similarity, "key": key}
                    for key, pair in used.items()
                    if key in each.keys
                ],
            }
            for each in signed_for
            if used.keys() & each.keys
        ],
    }


def refusal(found: Findings) -> str:
    """The sentence with the nearest pair named."""
    pair = next(pair for pair in found.pairs if pair.kind != WITHIN and not pair.let_pass)
    many = "1 text is" if found.leaks == 1 else f"{found.leaks} pairs of texts are"
    return (
        f"The leak check refused this version: {many} nearly the same as what lies in another split or on a benchmark "
        f"list. The nearest: {pair.ours.part} of “{pair.ours.name}” ({pair.ours.split}) and {pair.theirs.part} of "
        f"“{pair.theirs.name}” ({pair.theirs.split}), {pair.similarity:.0%} the same."
    )


@transaction.atomic
def read_report(*, actor: Any, version: DatasetVersion) -> LeakReport:
    """What was found, once it is noted that the actor reads it: it shows texts of other splits. Raises NotFound."""
    check(actor, "view_leaks", version.dataset.project)
    report = latest_report(version)
    if report is None:
        raise NotFound("Nothing was looked for in this version.")
    record(
        project=version.dataset.project_id,
        actor=actor,
        verb=GoldVerb.LEAKS_READ,
        target=version,
        dataset=version.dataset.name,
        version=version.number,
    )
    return report


@transaction.atomic
def sign_leak(*, actor: Any, report: LeakReport, reason: str) -> LeakSignature:
    """One person's word that these pairs may leave all the same. With the second, the next version lets them pass.

    Raises Forbidden, Invalid, or Conflict where there is nothing to sign or the person has signed.
    """
    dataset = report.version.dataset
    check(actor, "sign", dataset.project)
    reason = reason.strip()
    if not reason or len(reason) > REASON_LENGTH or not storable(reason):
        raise Invalid({"reason": f"Say why it may leave all the same, in 1 to {REASON_LENGTH} characters."})
    report = LeakReport.objects.select_for_update(of=("self",)).get(pk=report.pk)
    if not report.leaks:
        raise Conflict("Nothing leaked there, so there is nothing to sign.")
    there = report.signatures.count()
    if there >= SIGNATURES:
        raise Conflict("Two people have signed already. The next version lets these pairs pass.")
    try:
        with transaction.atomic():
            signature = LeakSignature.objects.create(report=report, person=actor, reason=reason)
    except IntegrityError:
        raise Conflict("You have signed. It takes somebody else besides.") from None
    record(
        project=dataset.project_id,
        actor=actor,
        verb=GoldVerb.LEAK_SIGNED,
        target=report,
        dataset=dataset.name,
        version=report.version.number,
        leaks=report.leaks,
        signature=there + 1,
        reason=reason,
    )
    return signature
