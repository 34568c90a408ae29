"""A look at a file before anything of it is written: the format and why, the first run, and what would be refused."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from reviews.actions.importing import cancel_import, confirm_import, run_import
from reviews.actions.previewing import look_at, preview_import
from reviews.actions.queueing import change_queue
from reviews.actions.redacting import set_redaction
from reviews.errors import Conflict, Forbidden
from reviews.models import ContextDocument, Event, ImportJob, Item, Task
from tests import factories as make

pytestmark = pytest.mark.django_db


def chat(number):
    return json.dumps({"messages": [{"role": "user", "content": f"Mail {number} to alice@example.com"}]}) + "\n"


def preview(actor, project, text, **given):
    return preview_import(actor=actor, project=project, name="runs.jsonl", file=ContentFile(text.encode()), **given)


def test_it_says_the_format_and_why_and_writes_no_run(project, lead):
    seen = preview(lead, project, chat(1) + "{broken\n" + chat(2), policy="Be quick.")
    assert seen.format == "openai_chat"
    assert seen.reason.startswith("OpenAI chat")
    assert (seen.rows, seen.runs, seen.refused, seen.whole) == (3, 2, 1, True)
    assert [bad.place for bad in seen.refusals] == ["line 2"]
    assert seen.run.steps[0].text == "Mail 1 to alice@example.com"
    for model in (Item, Task, ContextDocument):
        assert not model.objects.filter(project=project).exists()
    assert not Event.objects.filter(verb__startswith="import").exists()


def test_it_is_confirmed_once_and_then_imported(project, lead):
    job = preview(lead, project, chat(1), policy="Be quick.").job
    assert run_import(job_id=job.pk).state == "preview"
    confirm_import(actor=lead, job=job)
    with pytest.raises(Conflict, match="past its preview"):
        confirm_import(actor=lead, job=job)
    with pytest.raises(Conflict, match="past its preview"):
        look_at(actor=lead, job=job)
    assert run_import(job_id=job.pk).created == 1
    assert Item.objects.get().trajectory.policy.text == "Be quick."
    assert Event.objects.filter(verb="import.started").count() == 1


def test_a_long_file_is_looked_at_in_part(project, lead):
    seen = preview(lead, project, "".join(chat(number) for number in range(80)))
    assert (seen.rows, seen.runs, seen.whole) == (50, 50, False)


def test_a_chosen_format_is_said_and_what_does_not_fit_is_refused(project, lead):
    seen = preview(lead, project, chat(1), format="tau_bench")
    assert seen.run is None
    assert seen.format == "tau_bench"
    assert "was chosen for this file" in seen.reason
    assert seen.refused == 1


def test_what_is_there_already_is_said(project, lead):
    job = preview(lead, project, chat(1)).job
    run_import(job_id=confirm_import(actor=lead, job=job).pk)
    assert preview(lead, project, chat(1)).already_there


def test_the_first_run_is_shown_as_it_would_be_stored(project, lead):
    set_redaction(actor=lead, project=project, kinds=["e-mail"])
    seen = preview(lead, project, chat(1))
    assert seen.run.steps[0].text == "Mail 1 to ⟦e-mail 1⟧"
    assert seen.redactions["e-mail"] >= 1


@pytest.mark.parametrize("text", ["", "\x00\x00", "no json at all"])
def test_a_file_that_is_none_gives_reasons_and_no_run(project, lead, text):
    seen = preview(lead, project, text)
    assert seen.run is None
    assert seen.refused
    assert seen.refusals[0].reason


def test_what_is_cancelled_or_forgotten_takes_its_file_with_it(project, lead, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        job = preview(lead, project, chat(1)).job
        cancel_import(actor=lead, job=job)
    assert not Path(job.path).exists()
    old = preview(lead, project, chat(2)).job
    ImportJob.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=2))
    with django_capture_on_commit_callbacks(execute=True):
        fresh = preview(lead, project, chat(3)).job
    old.refresh_from_db()
    assert old.state == "cancelled"
    assert not Path(old.path).exists()
    assert Path(fresh.path).exists()


def test_a_file_that_went_away_is_said(project, lead):
    job = preview(lead, project, chat(1)).job
    Path(job.path).unlink()
    assert look_at(actor=lead, job=job).problem == "The file is no longer where it was. Send it again."


def test_a_queue_that_closed_meanwhile_is_said(project, lead):
    queue = make.queue(project, items=0)
    job = preview(lead, project, chat(1), queue=queue).job
    change_queue(actor=lead, queue=queue, state="closed")
    job.refresh_from_db()
    with pytest.raises(Conflict, match="The queue is closed"):
        confirm_import(actor=lead, job=ImportJob.objects.get(pk=job.pk))


@pytest.mark.parametrize("role", ["expert", "admin"])
def test_others_neither_preview_nor_confirm(project, lead, role):
    user = make.person("Eve")
    make.member(project, user, role)
    job = preview(lead, project, chat(1)).job
    for attempt in (
        lambda: preview(user, project, chat(1)),
        lambda: look_at(actor=user, job=job),
        lambda: confirm_import(actor=user, job=job),
    ):
        with pytest.raises(Forbidden, match="Only leads and engineers"):
            attempt()
