"""Splits: say once how a project's families are dealt, and deal those that have come in since."""

import secrets
from typing import Any

from django.db import IntegrityError, transaction

from goldsets.enums import FamilySplitName, GoldVerb
from goldsets.models import FamilySplit, SplitPlan
from goldsets.queries.splits import plan_of, plans_with_news, split_for, undealt
from reviews.actions.events import record
from reviews.errors import Conflict, Invalid
from reviews.models import Project
from reviews.rules import check

SEED_LENGTH = 64
# Families that are written at once.
BATCH = 2_000


def check_shares(*, train: int, calibration: int, held_out: int, seed: str = "") -> None:
    """Raises Invalid with every field at fault."""
    shares = {"train": train, "calibration": calibration, "held_out": held_out}
    errors = {
        name: "A share is a whole percentage from 0 to 100."
        for name, share in shares.items()
        if type(share) is not int or not 0 <= share <= 100
    }
    if not errors and sum(shares.values()) != 100:
        errors["held_out"] = f"The shares make {sum(shares.values())}%; they must make 100%."
    if len(seed) > SEED_LENGTH or "\x00" in seed:
        errors["seed"] = f"The seed is plain text of at most {SEED_LENGTH} characters."
    if errors:
        raise Invalid(errors)


@transaction.atomic
def seal_splits(
    *, actor: Any, project: Project, train: int, calibration: int, held_out: int, seed: str = ""
) -> SplitPlan:
    """State shares and seed for good, and deal every family there is. Without a seed one is drawn.

    Raises Forbidden, Invalid, or Conflict where it was done before.
    """
    check(actor, "manage_splits", project)
    seed = seed.strip()
    check_shares(train=train, calibration=calibration, held_out=held_out, seed=seed)
    shares = {"train": train, "calibration": calibration, "held_out": held_out}
    seed = seed or secrets.token_hex(8)
    try:
        with transaction.atomic():
            plan = SplitPlan.objects.create(project=project, seed=seed, sealed_by=actor, **shares)
    except IntegrityError:
        raise Conflict("The splits of this project are sealed already. They never change.") from None
    record(project=project, actor=actor, verb=GoldVerb.SPLITS_SEALED, target=plan, seed=seed, **shares)
    _deal(plan, actor)
    return plan


@transaction.atomic
def deal_families(*, project: Project, actor: Any = None) -> int:
    """Deal the families that have come in since, by the rule of the plan, and say how many. None without a plan."""
    if actor is not None:
        check(actor, "export", project)
    plan = plan_of(project)
    return _deal(plan, actor) if plan else 0


def deal_new_families() -> None:
    """The same in every project where it is due."""
    for plan in plans_with_news():
        deal_families(project=plan.project)


def _deal(plan: SplitPlan, actor: Any) -> int:
    # One after the other, so that whoever comes second finds what the first has dealt.
    plan = SplitPlan.objects.select_for_update(of=("self",)).select_related("project").get(pk=plan.pk)
    rows = [
        FamilySplit(
            plan=plan,
            family=family,
            split=split_for(family, marked=marked, seed=plan.seed, shares=plan.shares),
            by_plan=not marked,
        )
        for family, marked in undealt(plan)
    ]
    if not rows:
        return 0
    FamilySplit.objects.bulk_create(rows, batch_size=BATCH)
    counts = {split.value: sum(row.split == split for row in rows) for split in FamilySplitName}
    record(project=plan.project_id, actor=actor, verb=GoldVerb.FAMILIES_DEALT, target=plan, **counts)
    return len(rows)
