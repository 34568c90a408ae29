"""Guards over tasks: registered as graders of their axis, and asked about every task that comes in."""

from time import perf_counter
from typing import Any

from django.db import transaction

from goldsets.actions.graders import add_version, register_grader
from goldsets.enums import GoldVerb, GraderKind
from goldsets.models import Grader, GraderScore
from goldsets.queries.graders import criterion_keys
from goldsets.queries.guards import guard_versions, tasks_unseen
from goldsets.reviewing.guards import AXES, GUARDS
from reviews.actions.events import record
from reviews.errors import Conflict
from reviews.models import Project
from reviews.rules import check

BATCH = 500


@transaction.atomic
def set_up_guards(*, actor: Any, project: Project) -> list[Grader]:
    """A grader for each axis that some rubric of the project asks about; a rule that changed is a further version.

    Raises Forbidden, or Conflict where no rubric asks about any. What is there already stays as it is.
    """
    check(actor, "manage_graders", project)
    asked = criterion_keys(project) & set(AXES)
    if not asked:
        raise Conflict("No rubric of this project asks about the axes of tasks. Write one from the start “A task”.")
    there, made = guard_versions(project), []
    for guard in GUARDS:
        if guard.criterion not in asked or guard.fingerprint in there:
            continue
        name = f"Guard: {guard.title}"
        grader = Grader.objects.filter(project=project, name=name).first() or register_grader(
            actor=actor,
            project=project,
            name=name,
            kind=GraderKind.DETERMINISTIC,
            criterion=guard.criterion,
            note=guard.rule,
        )
        add_version(actor=actor, grader=grader, label=f"rule {guard.version}", fingerprint=guard.fingerprint)
        made.append(grader)
    if made:
        names = [grader.name for grader in made]
        record(project=project, actor=actor, verb=GoldVerb.GUARDS_SET_UP, target=project, guards=names)
    guard_tasks(project=project)
    return made


def guard_tasks(*, project: Project) -> int:
    """Let each guard say what it thinks of every task it has not seen; how many scores that made.

    Where its rule has nothing to go by it is asked again next time, for runs may have come by then.
    """
    versions, made = guard_versions(project), 0
    for guard in GUARDS:
        version = versions.get(guard.fingerprint)
        if version is None:
            continue
        rows = []
        for item, task in tasks_unseen(version):
            began = perf_counter()
            opinion = guard.judge(task)
            if opinion is not None:
                rows.append(
                    GraderScore(
                        version=version,
                        item_id=item,
                        criterion=guard.criterion,
                        value=float(opinion.holds),
                        explanation=opinion.why,
                        seconds=perf_counter() - began,
                    )
                )
        # Another worker may have written the same meanwhile: a rule says the same every time.
        GraderScore.objects.bulk_create(rows, batch_size=BATCH, ignore_conflicts=True)
        made += len(rows)
    return made
