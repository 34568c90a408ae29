"""Imports from the page: sent, watched, finished with a receipt, cancelled, refused."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from reviews.actions.importing import run_import
from reviews.enums import ImportState, Role
from reviews.models import ImportJob, Item
from tests import factories as make
from tests.factories.furnished import RUN
from tests.reviews.api.talking import by
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead(project):
    return enter(make.lead_of(project))


def imports(project):
    return reverse("reviews:imports", args=[project.slug])


def send(client, project, content=RUN, **fields):
    file = SimpleUploadedFile("runs.jsonl", content)
    return client.post(imports(project), {"file": file, "format": "auto", **fields})


def test_a_file_is_sent_watched_and_ends_with_a_receipt(project, lead):
    queue = make.queue(project, items=0)
    answer = send(lead, project, RUN + b"{broken\n", queue=queue.pk, model="secret-model-1", policy="Be quick.")
    job = ImportJob.objects.get()
    page = lead.get(answer.url).content.decode()
    assert "hx-get" in page
    assert "Cancel" in page
    run_import(job_id=job.pk)
    page = lead.get(answer.url).content.decode()
    assert "hx-get" not in page
    assert "line 2" in page
    assert queue.queue_items.count() == 1
    assert Item.objects.get(queue_items__queue=queue).trajectory.outcome.model == "secret-model-1"


def test_an_import_is_cancelled_once(project, lead):
    send(lead, project)
    job = ImportJob.objects.get()
    cancel = reverse("reviews:import_cancel", args=[project.slug, job.uid])
    assert "What had come in stays." in lead.post(cancel, follow=True).content.decode()
    assert "This import is over" in lead.post(cancel, follow=True).content.decode()
    job.refresh_from_db()
    assert job.state == ImportState.CANCELLED


def test_without_a_file_the_rest_of_the_form_stays(project, lead):
    answer = lead.post(imports(project), {"format": "auto", "family": "late refunds"})
    assert answer.status_code == 422
    assert answer.context["form"].errors["file"]
    assert "late refunds" in answer.content.decode()


def test_a_queue_of_another_project_takes_nothing(project, lead):
    other = make.queue(make.project(), items=0)
    answer = send(lead, project, queue=other.pk)
    assert answer.status_code == 422
    assert answer.context["form"].errors["queue"]


def test_engineers_import_and_experts_do_not(project):
    eli = make.person("Eli")
    make.member(project, eli, Role.ENGINEER)
    assert send(enter(eli), project).status_code == 302
    assert send(enter(make.expert(project, "Alice")), project).status_code == 403
    assert ImportJob.objects.count() == 1


def test_an_import_of_another_project_is_not_found(project, lead):
    other = make.project()
    send(enter(make.lead_of(other)), other)
    place = reverse("reviews:import", args=[project.slug, ImportJob.objects.get().uid])
    assert lead.get(place).status_code == 404


NOTED = b'{"id": 7, "prompt": "2+2?", "completion": "4", "reward": 1.0}\n'


def test_a_row_that_was_taken_with_a_doubt_is_listed_with_its_note(project, lead):
    answer = send(lead, project, RUN + NOTED)
    job = run_import(job_id=ImportJob.objects.get().pk)
    assert (job.created, job.noted, job.notes.get().place) == (2, 1, "line 2")
    page = lead.get(answer.url).content.decode()
    assert "Taken, with a note" in page
    assert job.notes.get().note in page
    receipt = by(make.lead_of(project)).get(f"/api/v1/projects/{project.slug}/imports/{job.uid}/").json()
    assert receipt["notes"] == [{"place": "line 2", "note": job.notes.get().note}]
    assert receipt["ending"] == "finished"


@pytest.mark.parametrize(
    ("content", "times", "ending", "tone", "words"),
    [
        (RUN, 1, "finished", "ok", "Every row went in or was there."),
        (RUN + b"{broken\n", 1, "finished, 1 refused", "watch", "Refused"),
        (RUN, 2, "nothing new", "info", "No run was created: 1 was there already."),
        (RUN + b"{broken\n", 2, "nothing new, 1 refused", "watch", "1 was there already, 1 row was refused."),
        (b"{broken\n", 1, "nothing taken, all refused", "bad", "every row was refused"),
    ],
)
def test_an_import_that_brought_nothing_does_not_look_like_success(project, lead, content, times, ending, tone, words):
    for _ in range(times):
        answer = send(lead, project, content)
        job = run_import(job_id=ImportJob.objects.latest("pk").pk)
    assert (job.ending, job.tone) == (ending, tone)
    page = lead.get(answer.url).content.decode()
    assert f'<span class="state {tone}">{ending}</span>' in page
    assert words in page
    assert f'<span class="state {tone}">{ending}</span>' in lead.get(imports(project)).content.decode()
