"""Probes are made from settled runs, checked blind by an expert, and decide whether a version is promoted."""

import secrets
from collections import Counter
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from goldsets.enums import GoldVerb, ProbeKind, ProbeState
from goldsets.models import Grader, GraderHook, GraderPromotion, GraderVersion, Probe
from goldsets.queries.judges import document_of
from goldsets.queries.probes import ATTACKS, Known, donor_for, known_runs, stood_of
from goldsets.reviewing.attacks import Made, attacks_on
from reviews.actions.events import record
from reviews.actions.payloads import storable
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Queue
from reviews.outgoing import problem_with_url
from reviews.rules import check

MOST_PROBES = 50
LONGEST_NOTE = 2000


@transaction.atomic
def make_probes(*, actor: Any, grader: Grader, queue: Queue, most: int = 5) -> dict[str, int]:
    """Propose up to so many probes of each kind from the settled runs of a queue; how many were made, by kind.

    As many settled runs that pass, and that fail, go along as they are. Raises Forbidden, Invalid, or Conflict where
    nothing could be made.
    """
    check(actor, "manage_graders", grader.project)
    errors = {}
    if queue.project_id != grader.project_id:
        errors["queue"] = "This project has no such queue."
    if type(most) is not int or not 1 <= most <= MOST_PROBES:
        errors["most"] = f"Make 1 to {MOST_PROBES} of each kind."
    if errors:
        raise Invalid(errors)
    # Two who make probes at once would both make the same.
    Grader.objects.select_for_update(no_key=True).get(pk=grader.pk)
    runs = known_runs(grader, queue)
    made = [*_settled(actor, grader, runs, most), *_attacks(actor, grader, runs, most)]
    if not made:
        raise Conflict(
            "No probe could be made: beside those that have probes and those that are kept apart, the queue has no "
            "settled run with a clear verdict that lends itself to one."
        )
    Probe.objects.bulk_create(made, batch_size=50)
    counts = dict(Counter(str(probe.kind) for probe in made))
    record(project=grader.project, actor=actor, verb=GoldVerb.PROBES_MADE, target=grader, name=grader.name, made=counts)
    return counts


def _settled(actor: Any, grader: Grader, runs: list[Known], most: int) -> list[Probe]:
    there = set(Probe.objects.filter(grader=grader, kind=ProbeKind.SETTLED).values_list("parent", flat=True))
    found, left = [], {True: most, False: most}
    for known in runs:
        if known.item.pk not in there and left[known.passes]:
            left[known.passes] -= 1
            probe = _probe(actor, grader, known, ProbeKind.SETTLED, document_of(known.item), passes=known.passes)
            probe.state = ProbeState.APPROVED
            found.append(probe)
    return found


def _attacks(actor: Any, grader: Grader, runs: list[Known], most: int) -> list[Probe]:
    there = set(Probe.objects.filter(grader=grader).values_list("parent", "kind"))
    left = dict.fromkeys((kind.value for kind in ATTACKS), most)
    found = []
    for known in runs:
        if not any(left.values()):
            break
        donor = None if known.passes else donor_for(known, runs)
        shown = document_of(donor.item) if donor else None
        for made in attacks_on(document_of(known.item), passes=known.passes, donor=shown):
            if left[made.attack.value] and (known.item.pk, made.attack.value) not in there:
                left[made.attack.value] -= 1
                found.append(_attack(actor, grader, known, made))
    return found


def _attack(actor: Any, grader: Grader, known: Known, made: Made) -> Probe:
    probe = _probe(actor, grader, known, ProbeKind(made.attack.value), made.document, passes=made.passes)
    probe.changed, probe.steps = made.changed[:300], list(made.steps)
    return probe


def _probe(actor: Any, grader: Grader, known: Known, kind: ProbeKind, document: Any, *, passes: bool) -> Probe:
    return Probe(
        grader=grader,
        kind=kind,
        parent=known.item,
        label=known.row.label,
        document=document,
        passes=passes,
        made_by=actor,
    )


@transaction.atomic
def check_probe(*, actor: Any, probe: Probe, passes: bool | None, note: str = "") -> Probe:
    """What an expert says of a probe without being told what is expected. Only where both agree is it used.

    `passes` is None where they cannot tell. Raises Forbidden, Invalid, or Conflict where it is checked already.
    """
    check(actor, "judge", probe.grader.project)
    if probe.made_by_id == actor.pk:
        raise Forbidden("You had this probe made, so somebody else checks it.")
    note = note.strip()
    if len(note) > LONGEST_NOTE or not storable(note):
        raise Invalid({"note": f"This is text of at most {LONGEST_NOTE:,} characters that can be stored."})
    state = ProbeState.APPROVED if passes is probe.passes else ProbeState.REFUSED
    said = {"said": passes, "note": note, "checked_by": actor, "checked_at": timezone.now()}
    if not Probe.objects.filter(pk=probe.pk, state=ProbeState.PROPOSED).update(state=state, **said):
        raise Conflict("Somebody else has checked this probe already.")
    probe.refresh_from_db()
    record(
        project=probe.grader.project,
        actor=actor,
        verb=GoldVerb.PROBE_CHECKED,
        target=probe,
        name=probe.grader.name,
        kind=probe.kind,
        state=state,
    )
    return probe


@transaction.atomic
def set_hook(*, actor: Any, grader: Grader, url: str) -> GraderHook:
    """Say where a grader is asked. A new address gets a new secret. Raises Forbidden or Invalid."""
    check(actor, "manage_graders", grader.project)
    url = url.strip()
    if problem := problem_with_url(url, private_allowed=settings.WEBHOOKS_MAY_REACH_PRIVATE):
        raise Invalid({"url": problem})
    told = {"url": url, "secret": f"whsec_{secrets.token_urlsafe(32)}", "set_by": actor, "set_at": timezone.now()}
    hook, _made = GraderHook.objects.update_or_create(grader=grader, defaults=told)
    record(project=grader.project, actor=actor, verb=GoldVerb.GRADER_HOOK_SET, target=grader, name=grader.name, url=url)
    return hook


@transaction.atomic
def promote_version(*, actor: Any, version: GraderVersion, reason: str = "") -> GraderPromotion:
    """Promote a version that no kind of attack fooled; a lead passes over what is missing, and says why.

    Raises Forbidden, Invalid, or Conflict with what is missing.
    """
    project = version.grader.project
    check(actor, "manage_graders", project)
    reason = reason.strip()
    if len(reason) > LONGEST_NOTE or not storable(reason):
        raise Invalid({"reason": f"This is text of at most {LONGEST_NOTE:,} characters that can be stored."})
    stood = stood_of(version)
    if stood.missing and not reason:
        words = " ".join(stood.missing)
        raise Conflict(f"This version is not promoted. {words} A lead may promote it all the same, with a reason.")
    if stood.missing:
        check(actor, "override_probes", project)
    try:
        with transaction.atomic():
            made = GraderPromotion.objects.create(
                version=version,
                run=stood.run,
                matrix=stood.as_dict()["kinds"],
                missing=stood.missing,
                reason=reason if stood.missing else "",
                promoted_by=actor,
            )
    except IntegrityError:
        raise Conflict("This version is promoted already.") from None
    record(
        project=project,
        actor=actor,
        verb=GoldVerb.GRADER_PROMOTED,
        target=version,
        name=version.grader.name,
        number=version.number,
        missing=stood.missing,
        reason=made.reason,
    )
    return made
