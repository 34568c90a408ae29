"""A project in which everything has happened once: judged, waiting, settled, gold, imported, exported."""

import io
from dataclasses import dataclass
from typing import Any

from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import run_export, start_export
from goldsets.actions.gold import set_gold_rate
from goldsets.models import Dataset
from reviews.actions.dealing import claim
from reviews.actions.importing import run_import, start_import
from reviews.actions.judging import submit
from reviews.enums import QueueItemState
from reviews.models import ImportJob, Project, Queue, QueueItem
from tests import factories as make

RUN = b'{"messages": [{"role": "user", "content": "Where is it?"}, {"role": "assistant", "content": "On its way."}]}\n'


@dataclass(frozen=True)
class Desk:
    project: Project
    queue: Queue
    lead: Any
    engineer: Any
    experts: list[Any]
    job: ImportJob
    dataset: Dataset

    @property
    def waiting(self) -> list[QueueItem]:
        return list(QueueItem.objects.filter(queue=self.queue, state=QueueItemState.WAITING).order_by("pk"))

    @property
    def settled(self) -> list[QueueItem]:
        return list(QueueItem.objects.filter(queue=self.queue, state=QueueItemState.SETTLED).order_by("pk"))


def judge(queue: Queue, rater: Any, payload: dict[str, Any]) -> Any:
    """Take the next item and submit this judgment of it."""
    assignment = claim(actor=rater, queue=queue)
    receipt = submit(actor=rater, uid=assignment.uid, payload=payload, idempotency_key=f"test-{assignment.uid}")
    return receipt.judgment


def desk(*, items: int = 9) -> Desk:
    """Three raters on nine items: five agreed, two differ by a level, one by a gate, one still open."""
    lead = make.person("Lea")
    project = make.project(lead)
    engineer = make.person("Eli")
    make.member(project, engineer, "engineer")
    experts = [make.expert(project, name) for name in ("Alice", "Bob", "Charlie")]
    queue = make.queue(project, items=items, overlap=3, unsure_allowed=True)
    for number in range(items - 1):
        for place, expert in enumerate(experts):
            judge(queue, expert, _said(number, place))
    judge(queue, experts[0], make.passing())
    settled = QueueItem.objects.filter(queue=queue, state=QueueItemState.SETTLED).order_by("pk")
    for row in settled[:2]:
        make.gold(row)
    set_gold_rate(actor=lead, queue=queue, rate="0.2")
    dataset = define_dataset(actor=lead, project=project, name="Settled labels", formats=["jsonl"], queue=queue)
    run_export(version_id=start_export(actor=lead, dataset=dataset).pk)
    return Desk(project, queue, lead, engineer, experts, imported(project, lead), dataset)


def _said(number: int, place: int) -> dict[str, Any]:
    if number in (0, 1):
        return make.passing(process=place)
    if number == 2:
        return make.failing() if place == 0 else make.passing(rationale="The account was the requester's own.")
    if number == 3:
        return make.failing()
    return make.passing()


def imported(project: Project, lead: Any) -> ImportJob:
    """A file of which one row is taken, one is there already and one is refused."""
    content = io.BytesIO(RUN + RUN + b'{"messages": \n')
    job = start_import(actor=lead, project=project, name="runs.jsonl", file=content, policy="Be quick.")
    return run_import(job_id=job.pk)
