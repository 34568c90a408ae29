"""Reviewers expire by rule, with the reason, when what they were compiled from no longer holds."""

import pytest
from django.core.management import CommandError, call_command

from goldsets.actions.bundling import read_bundle
from goldsets.actions.compiling import sign_reviewer
from goldsets.actions.staging import run_stage, start_stage
from goldsets.models import JudgeSetup
from goldsets.queries.assurance_report import report_of
from goldsets.tasks import expire_outdated_reviewers
from reviews.actions.guideline_changes import draft_change, try_change
from reviews.actions.queueing import create_queue
from reviews.actions.rubrics import write_guideline, write_rubric
from reviews.errors import Conflict, Invalid
from reviews.models import Event, QueueItem, Task
from reviews.queries.rubrics import rubric_as_written
from tests import factories as make
from tests.factories import graders, stages
from tests.factories.reviewers import reviewer

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(project):
    return stages.keeping_queue(project)


@pytest.fixture
def signed(queue):
    return stages.signed(queue)


def after_a_look(found):
    """State and reason once the worker has looked."""
    expire_outdated_reviewers()
    found.refresh_from_db()
    return found.state, found.expired_because


def next_guideline(queue, text="Judge otherwise."):
    lead = make.lead_of(queue.project)
    return write_guideline(actor=lead, project=queue.project, name=queue.guideline.name, text=text)


def next_rubric(queue, **changes):
    lead = make.lead_of(queue.project)
    return write_rubric(actor=lead, project=queue.project, **rubric_as_written(queue.rubric) | changes)


def test_nothing_expires_while_nothing_has_changed(signed):
    assert after_a_look(signed) == ("signed", "")
    assert not Event.objects.filter(verb="reviewer.expired").exists()


def test_a_newer_guideline_expires_what_was_compiled_under_the_older(queue, signed):
    newer = next_guideline(queue)
    because = f"The guideline has another version by now: {newer}, where it was compiled under {queue.guideline}."
    assert after_a_look(signed) == ("expired", because)
    assert signed.expired_at is not None
    assert report_of(signed).headline == f"Expired. {because}"
    told = Event.objects.get(verb="reviewer.expired")
    assert (told.actor, told.data["why"], told.data["number"]) == (None, because, signed.number)
    expire_outdated_reviewers()
    assert Event.objects.filter(verb="reviewer.expired").count() == 1


def test_a_newer_rubric_expires_a_proven_one_too_which_then_nobody_can_sign(queue):
    proven = reviewer(queue)
    newer = next_rubric(queue, unsure_allowed=True)
    state, why = after_a_look(proven)
    assert (state, str(newer) in why) == ("expired", True)
    with pytest.raises(Conflict, match="Only a proven reviewer is signed: this one is expired"):
        sign_reviewer(actor=make.lead_of(queue.project), reviewer=proven)


def test_a_rubric_that_only_has_graders_checked_besides_changes_nothing(queue, signed):
    next_rubric(queue, audits=True)
    assert after_a_look(signed)[0] == "signed"


def test_a_guideline_that_is_being_tried_changes_nothing(queue, signed):
    lead = make.lead_of(queue.project)
    touched = [QueueItem.objects.get(queue=queue).uid]
    change = draft_change(actor=lead, guideline=queue.guideline, text="Judge otherwise.", touched=touched)
    tried = try_change(actor=lead, change=change, sample=1).guideline
    assert after_a_look(signed)[0] == "signed"
    create_queue(actor=lead, project=queue.project, name="By the next", rubric=queue.rubric, guideline=tried)
    assert after_a_look(signed)[0] == "expired"


def test_examples_that_are_held_out_by_now_expire_a_judge(project, queue):
    version = graders.version(project)
    family = Task.objects.filter(project=project).values_list("family", flat=True)[0]
    item = str(QueueItem.objects.get(queue=queue).item.uid)
    example = {"item": item, "label": "1", "family": family, "passes": True}
    by = {"rubric": queue.rubric, "guideline": queue.guideline, "price_in": 3, "price_out": 15}
    JudgeSetup.objects.create(version=version, examples=[example], shown=[{"document": "", "answers": {}}], **by)
    judge = stages.signed(queue, rung="judge", judge=version)
    Task.objects.filter(project=project).update(split="held_out")
    state, why = after_a_look(judge)
    assert state == "expired"
    assert why.startswith(f"The family “{family}” of its examples is held out by now.")


def test_its_stage_expired_so_it_is_put_to_work_given_out_and_run_no_more(queue, tmp_path):
    stage = stages.deciding(queue)
    stages.more(queue, stages.REFUND, model="next-model-1")
    run_stage(stage_id=stage.pk)
    found = stage.reviewer
    state, why = after_a_look(found)
    assert state == "expired"
    assert why.startswith(f"Its stage in “{queue.name}” expired. An item came with another agent model: “next-model-1”")
    lead = make.lead_of(queue.project)
    with pytest.raises(Invalid, match="Choose a signed reviewer"):
        start_stage(actor=lead, queue=queue, reviewer=found)
    with pytest.raises(Conflict, match=r"this one is expired\. Its stage"):
        read_bundle(actor=lead, reviewer=found)
    items = tmp_path / "items.jsonl"
    items.write_text('{"id": "1", "text": "A refund."}\n')
    with pytest.raises(CommandError, match=r"it is expired\. Its stage"):
        call_command("score", str(found.uid), str(items))
