"""The alarm of the watch over graders: told once as a grader begins to part from the experts, and once as it ends."""

from django.db import transaction

from goldsets.enums import GoldVerb
from goldsets.models import GraderVersion
from goldsets.queries.alarms import rings
from goldsets.queries.calibration import Watching, fresh_watch, watching
from reviews.actions.events import record
from reviews.models import Event


def look_at_alarm(*, version: GraderVersion) -> Event | None:
    """The Event of an alarm that has begun or ended since the last look; None where it is as it was.

    Held-out runs are not read.
    """
    asked = watching(version.grader, {"version": version.number})
    return None if fresh_watch(asked).found.rang == rings(version) else _tell(asked)


@transaction.atomic
def _tell(asked: Watching) -> Event | None:
    # One after the other, so that two workers do not tell the same. Who waited looks again.
    version = asked.version
    GraderVersion.objects.select_for_update(no_key=True).get(pk=version.pk)
    found = fresh_watch(asked).found
    if found.rang == rings(version):
        return None
    alarm = found.checkpoints.alarm if found.checkpoints.alarm.rang else found.weeks.alarm
    return record(
        project=version.grader.project_id,
        actor=None,
        verb=GoldVerb.GRADER_PARTED if found.rang else GoldVerb.GRADER_REJOINED,
        target=version,
        grader=str(version.grader.uid),
        name=version.grader.name,
        number=version.number,
        why=alarm.words,
    )
