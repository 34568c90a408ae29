"""Work of goldsets that runs in the background: each task takes ids and hands over to an action."""

import logging
from typing import Any

from celery import shared_task
from django.db import OperationalError
from django.utils import timezone

from goldsets.actions import compiling, exporting, judge_work, judges, probe_work
from goldsets.actions.alarming import look_at_alarm
from goldsets.actions.asking_for_stages import ask_for_stage
from goldsets.actions.calibrating import read_sealed
from goldsets.actions.expiring import expire_reviewers
from goldsets.actions.grader_scores import adopt_scores
from goldsets.actions.guarding import guard_tasks
from goldsets.actions.rationales import hear
from goldsets.actions.splitting import deal_new_families
from goldsets.actions.staging import run_stage
from goldsets.actions.standing import review_standings
from goldsets.models import DatasetVersion, GraderVersion
from goldsets.queries.agreement import (
    Seen,
    agreement_key,
    count_alone,
    queue_by_id,
    seen_agreement,
    watched_queues,
)
from goldsets.queries.alarms import watched_versions
from goldsets.queries.biases import Biases, count_biases, seen_biases
from goldsets.queries.calibration import (
    Question,
    Report,
    Watching,
    WatchReport,
    count_calibration,
    count_watch,
    question,
    seen_calibration,
    seen_watch,
    watching,
)
from goldsets.queries.datasets import dataset_version_by_id
from goldsets.queries.doubts import count_doubts
from goldsets.queries.graders import grader_by_id, version_and_person, version_by_id
from goldsets.queries.guards import guarded_projects
from goldsets.queries.instrument import Asked, InstrumentReport, asked_for, count_instrument, seen_instrument
from goldsets.queries.keeping import Seen as SeenFigures
from goldsets.queries.keeping import takes_the_count
from goldsets.queries.rationales import queues_to_hear
from goldsets.queries.releases import Counted, count_checks, is_counted, key_of, seen_checks
from goldsets.queries.repeats import Repeats, count_repeats, seen_repeats
from goldsets.queries.stages import live_stages
from goldsets.queries.standing import measured_queues
from reviews.errors import AssayError
from reviews.models import Queue

log = logging.getLogger(__name__)


@shared_task(bind=True, max_retries=30)
def run_export(self: Any, version_id: int) -> None:
    """Write a version of a data set. While the database is away, the task waits and begins anew."""
    try:
        exporting.run_export(version_id=version_id)
    except OperationalError as error:
        raise self.retry(exc=error, countdown=min(60, 2**self.request.retries)) from error


@shared_task
def queue_overlooked_exports() -> None:
    """Queue exports that nobody took up. One that is in the queue all the same is finished once."""
    for version_id in exporting.overlooked_exports(now=timezone.now()):
        run_export.delay(version_id)


@shared_task(bind=True, max_retries=30)
def run_judge(self: Any, run_id: int) -> None:
    """Ask a judge about items of a run for a while, and hand over to another task where there are more."""
    try:
        more = judge_work.run_judge(run_id=run_id)
    except OperationalError as error:
        raise self.retry(exc=error, countdown=min(60, 2**self.request.retries)) from error
    if more:
        run_judge.delay(run_id)


@shared_task(bind=True, max_retries=30)
def run_probes(self: Any, run_id: int) -> None:
    """Put probes to a version of a grader. While the database is away, the task waits and goes on where it was."""
    try:
        probe_work.run_probes(run_id=run_id)
    except OperationalError as error:
        raise self.retry(exc=error, countdown=min(60, 2**self.request.retries)) from error


@shared_task
def queue_overlooked_judges() -> None:
    """Queue runs of judges and probes that nobody took up. One that is at work all the same is left alone."""
    for run_id in judges.overlooked_judges(now=timezone.now()):
        run_judge.delay(run_id)
    for run_id in probe_work.overlooked_probes(now=timezone.now()):
        run_probes.delay(run_id)


@shared_task(bind=True, max_retries=30)
def run_compile(self: Any, reviewer_id: int) -> None:
    """Compile a reviewer. While the database is away, the task waits and begins anew."""
    try:
        compiling.run_compile(reviewer_id=reviewer_id)
    except OperationalError as error:
        raise self.retry(exc=error, countdown=min(60, 2**self.request.retries)) from error


@shared_task
def queue_overlooked_compiles() -> None:
    """Queue compiles that nobody took up. One that is in the queue all the same is finished once."""
    for reviewer_id in compiling.overlooked_compiles(now=timezone.now()):
        run_compile.delay(reviewer_id)


@shared_task
def count_queue_agreement(queue_id: int) -> None:
    """Count a queue's agreement anew for whoever looks at it."""
    count_alone(queue_by_id(queue_id))


def look_at_agreement(queue: Queue, *, with_items: bool = False, waits: bool = True) -> Seen:
    """What is known of a queue's agreement; where that is not the latest, a worker is asked to count."""
    seen = seen_agreement(queue, with_items=with_items, waits=waits)
    if seen.stale and takes_the_count(agreement_key(queue)):
        count_queue_agreement.delay(queue.pk)
    return seen


@shared_task
def count_version_calibration(grader_id: int, asked: dict[str, Any]) -> None:
    """Count a version's calibration anew for whoever looks at it."""
    count_calibration(question(grader_by_id(grader_id), asked))


def look_at_calibration(actor: Any, asked: Question) -> SeenFigures[Report]:
    """What is known of a version's calibration; where that is not the latest, a worker is asked to count.

    Whoever sees figures of held-out runs has it logged.
    """
    seen = seen_calibration(asked)
    if seen.stale and takes_the_count(asked.key):
        count_version_calibration.delay(asked.version.grader_id, asked.asked)
    if asked.reads_sealed and seen.kept:
        read_sealed(actor=actor, version=asked.version, criterion=asked.criterion)
    return seen


@shared_task
def count_version_watch(grader_id: int, asked: dict[str, Any]) -> None:
    """Count anew how a version parts from the experts, for whoever looks at it."""
    count_watch(watching(grader_by_id(grader_id), asked))


def look_at_watch(actor: Any, asked: Watching) -> SeenFigures[WatchReport]:
    """The same for how a version parts from the experts over time."""
    seen = seen_watch(asked)
    if seen.stale and takes_the_count(asked.key):
        count_version_watch.delay(asked.version.grader_id, asked.asked)
    if asked.sealed and seen.kept:
        read_sealed(actor=actor, version=asked.version, criterion=asked.criterion)
    return seen


@shared_task
def count_version_instrument(grader_id: int, asked: dict[str, Any]) -> None:
    """Count anew what an environment's grader is worth as an instrument, for whoever looks at it."""
    count_instrument(asked_for(grader_by_id(grader_id), asked))


def look_at_instrument(asked: Asked) -> SeenFigures[InstrumentReport]:
    """The same for the environment as an instrument, which leaves held-out runs out."""
    seen = seen_instrument(asked)
    if seen.stale and takes_the_count(asked.key):
        count_version_instrument.delay(asked.version.grader_id, asked.asked)
    return seen


@shared_task
def count_watched_agreement() -> None:
    """Count ahead for those who look: queues whose agreement was opened lately and where something happened since."""
    for queue in watched_queues():
        count_alone(queue)


@shared_task
def review_all_standings() -> None:
    """Put the raters of every open queue that mixes in gold to the test, and the gold itself, away from requests."""
    for queue in measured_queues():
        review_standings(queue=queue)
        count_doubts(queue)


@shared_task
def run_stages() -> None:
    """Let every reviewer that works in a queue look at what has come in; a judge is asked about it."""
    for stage_id in live_stages():
        run_stage(stage_id=stage_id)
        if run := ask_for_stage(stage_id=stage_id):
            run_judge.delay(run.pk)


@shared_task
def expire_outdated_reviewers() -> None:
    """Let reviewers expire whose rubric, guideline, examples or surroundings are others by now."""
    expire_reviewers()


@shared_task
def watch_graders() -> None:
    """Look whether graders that gave scores lately have parted from the experts, and tell where that has changed."""
    for version in watched_versions():
        try:
            look_at_alarm(version=version)
        except AssayError as error:
            # What keeps one from being looked at keeps no other.
            log.warning("%s was not looked at: %s", version, error.message)


@shared_task
def run_guards() -> None:
    """Let the guards of every project that has them say what they think of tasks they have not seen."""
    for project in guarded_projects():
        guard_tasks(project=project)


@shared_task
def hear_rationales() -> None:
    """Listen to the rationales of every queue in which something was judged since."""
    for queue in queues_to_hear():
        hear(queue=queue)


@shared_task
def deal_families() -> None:
    """Deal families that have come in since to their splits, in every project that has said how."""
    deal_new_families()


@shared_task
def count_version_repeats(version_id: int) -> None:
    """Count anew what a version says when it is asked again."""
    count_repeats(version_by_id(version_id))


def look_at_repeats(version: GraderVersion) -> SeenFigures[Repeats]:
    """What is known of it; where that is not the latest, a worker is asked to count."""
    seen = seen_repeats(version)
    if seen.stale and takes_the_count(f"repeats-{version.pk}"):
        count_version_repeats.delay(version.pk)
    return seen


@shared_task
def count_version_biases(version_id: int) -> None:
    """Count anew what a version leans on."""
    count_biases(version_by_id(version_id))


def look_at_biases(version: GraderVersion) -> SeenFigures[Biases]:
    """What is known of it; where that is not the latest, a worker is asked to count."""
    seen = seen_biases(version)
    if seen.stale and takes_the_count(f"biases-{version.pk}"):
        count_version_biases.delay(version.pk)
    return seen


@shared_task(bind=True, max_retries=30)
def adopt_run_scores(self: Any, version_id: int, person_id: int) -> None:
    """Keep the scores that came in with runs. While the database is away, the task waits; twice changes nothing."""
    try:
        version, person = version_and_person(version_id, person_id)
        adopt_scores(actor=person, version=version)
    except OperationalError as error:
        raise self.retry(exc=error, countdown=min(60, 2**self.request.retries)) from error


@shared_task
def count_release_checks(version_id: int) -> None:
    """Go through a version's checklist anew for whoever looks at it."""
    count_checks(dataset_version_by_id(version_id))


def look_at_release(version: DatasetVersion) -> SeenFigures[Counted] | None:
    """The same for the checklist of a version; None where it is signed, or not finished.

    Signing goes through it at that moment, whatever a page shows.
    """
    if not is_counted(version):
        return None
    seen = seen_checks(version)
    if seen.stale and takes_the_count(key_of(version)):
        count_release_checks.delay(version.pk)
    return seen
