"""Makes a comparison of the answers that one imported row holds. Which was preferred stays in each answer's outcome."""

import hashlib
from collections.abc import Sequence

from reviews.enums import ItemKind
from reviews.models import Candidate, Item, Project, Trajectory
from reviews.trajectories.preparing import ReadyRun


def store_comparisons(*, project: Project, runs: Sequence[ReadyRun], provenance: str) -> tuple[list[Item], list[Item]]:
    """The comparisons that are new and those that were there, inside the caller's transaction, once its runs are in.

    Candidates stand in the order of their row's runs, which follows from their words.
    """
    asked = {_hash_of(run.candidates): run for run in runs if run.candidates}
    if not asked:
        return [], []
    there = list(Item.objects.filter(project=project, content_hash__in=asked))
    new = {key: run for key, run in asked.items() if key not in {item.content_hash for item in there}}
    names = {name for run in new.values() for name in run.candidates}
    stored = {row.content_hash: row for row in Trajectory.objects.filter(project=project, content_hash__in=names)}
    made = Item.objects.bulk_create(
        Item(
            project=project,
            kind=ItemKind.COMPARISON,
            task_id=stored[run.candidates[0]].task_id,
            content_hash=key,
            provenance=provenance,
        )
        for key, run in new.items()
    )
    Candidate.objects.bulk_create(
        Candidate(item=item, position=position, trajectory=stored[name], shared=run.shared)
        for item, run in zip(made, new.values(), strict=True)
        for position, name in enumerate(run.candidates, start=1)
    )
    return made, there


def _hash_of(candidates: Sequence[str]) -> str:
    # The same as `actions.pairing` gives, so that what somebody lays beside each other by hand is there already.
    return hashlib.sha256("\n".join(sorted(candidates)).encode()).hexdigest()
