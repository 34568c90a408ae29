"""Judges on pages, by API and by command: one action behind all three, and the key in none of them."""

import io
import json
import logging

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse

from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import run_export, start_export
from goldsets.models import GraderVersion, JudgeRun
from goldsets.queries.datasets import folder_of
from goldsets.tasks import run_judge
from tests import factories as make
from tests.factories import judges
from tests.factories.furnished import judge as submit
from tests.goldsets.judging import endpoint as served
from tests.goldsets.judging.endpoint import KEY, failing, saying
from tests.goldsets.judging.test_judges import model, runs  # noqa: F401  a fixture
from tests.reviews.api.talking import by, is_problem
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(project):
    return make.queue(project, items=runs(project, 2))


def asked(queue, **more):
    return {
        "name": "House judge",
        "rubric": str(queue.rubric.uid),
        "guideline": str(queue.guideline.uid),
        "model": "judge-1",
        "price_in": "3",
        "price_out": "15",
        **more,
    }


def test_a_lead_defines_a_judge_starts_it_and_reads_its_receipt(project, queue, lead, model):  # noqa: F811
    client = enter(lead)
    new = reverse("goldsets:judge_new", args=[project.slug])
    assert client.post(new, asked(queue, price_in="free")).status_code == 422
    assert client.post(new, asked(queue, temperature="0")).status_code == 302
    version = GraderVersion.objects.get(grader__name="House judge")
    assert version.parameters == {"temperature": 0}

    page = reverse("goldsets:judges", args=[project.slug])
    assert "House judge 1" in client.get(page).content.decode()
    told = {"judge": version.uid, "queue": queue.uid, "scope": "all", "budget": "5", "attempt": "1"}
    assert client.post(page, {**told, "budget": "0"}).status_code == 422
    started = client.post(page, told)
    run = JudgeRun.objects.get()
    assert started.headers["Location"] == reverse("goldsets:judge_run", args=[run.uid])

    run_judge(run.pk)
    receipt = client.get(started.headers["Location"]).content.decode()
    assert "2 of 2" in receipt
    assert "$0.0090 of $5.00" in receipt
    client.post(new, asked(queue, label="Colder"))
    assert list(GraderVersion.objects.values_list("number", flat=True)) == [2, 1]


def test_a_judge_of_one_criterion_is_listed_by_its_title(project, queue, lead, model):  # noqa: F811
    client = enter(lead)
    new = reverse("goldsets:judge_new", args=[project.slug])
    client.post(new, asked(queue, temperature="0", criterion="authorised"))
    page = client.get(reverse("goldsets:judges", args=[project.slug])).content.decode()
    assert "<td>Only authorised accounts</td>" in page


def test_a_run_is_stopped_and_let_go_on_from_its_page(queue, lead, model):  # noqa: F811
    run = judges.start(judges.judge(queue), queue, budget="0.1")
    client, page = enter(lead), reverse("goldsets:judge_run", args=[run.uid])
    assert "Stop" in client.get(page).content.decode()
    client.post(reverse("goldsets:judge_cancel", args=[run.uid]))
    assert "cancelled" in client.get(page).content.decode()
    client.post(reverse("goldsets:judge_resume", args=[run.uid]), {"budget": "5"})
    run_judge(run.pk)
    assert "finished" in client.get(page).content.decode()


def test_raters_and_strangers_see_nothing_of_judges(project, queue, model):  # noqa: F811
    run = judges.start(judges.judge(queue), queue)
    for person, status in ((make.expert(project), 403), (make.person("Mallory"), 404)):
        client = enter(person)
        assert client.get(reverse("goldsets:judges", args=[project.slug])).status_code == status
        assert client.get(reverse("goldsets:judge_run", args=[run.uid])).status_code == status


def test_an_engineer_does_it_all_by_api(project, queue, model):  # noqa: F811
    eve = make.person("Eve")
    make.member(project, eve, "engineer")
    client = by(eve)
    made = client.post("/api/v1/judges/", {"project": project.slug, **asked(queue)}, format="json")
    assert made.status_code == 201
    assert made.json()["fingerprint"]
    wrong = client.post(f"/api/v1/judges/{made.json()['version']}/runs/", {"queue": str(queue.uid), "budget": 0})
    assert is_problem(wrong, 422)["field"] == "budget"
    started = client.post(
        f"/api/v1/judges/{made.json()['version']}/runs/", {"queue": str(queue.uid), "budget": 1, "scope": "all"}
    )
    assert started.status_code == 202
    run_judge(JudgeRun.objects.get().pk)
    run = client.get(f"/api/v1/judge-runs/{started.json()['uid']}/").json()
    assert (run["state"], run["receipt"]["by_state"]) == ("finished", {"scored": 2})
    items = client.get(f"/api/v1/judge-runs/{started.json()['uid']}/items/").json()["results"]
    assert items[0]["said"][0]["evidence"][0]["step"] == 1
    is_problem(client.post(f"/api/v1/judge-runs/{run['uid']}/cancel/"), 409)


def command(*words, **options):
    out = io.StringIO()
    call_command("judge", *words, stdout=out, **options)
    return out.getvalue()


def test_the_command_works_a_run_off_and_says_when_it_did_not_come_to_its_end(project, queue, model):  # noqa: F811
    judges.judge(queue, name="House judge")
    words = (project.slug, "House judge", str(queue.uid))
    with pytest.raises(CommandError, match=r"Not finished: The next item .* --resume") as stopped:
        command(*words, budget="0.1", scope="all")
    run = str(stopped.value).rpartition(" ")[2].rstrip(".")
    told = json.loads(command(*words, budget="5", resume=run, json=True))
    assert (told["state"], told["done"], told["by_state"]) == ("finished", 2, {"scored": 2})
    with pytest.raises(CommandError, match="no judge"):
        command(project.slug, "Nobody", str(queue.uid), budget="5")
    with pytest.raises(CommandError, match="nothing to judge"):
        command(*words, budget="5", scope="all")


@pytest.fixture
def logged():
    """Everything that is logged, as it is written."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)


def test_the_key_is_in_no_log_table_page_answer_or_export(project, lead, model, logged):  # noqa: F811
    """The endpoint repeats the key in an error, in prose, in a verdict's reason, and in a refusal."""
    queue = make.queue(project, items=runs(project, 5), overlap=1)
    submit(queue, make.expert(project), make.passing())

    def telling(prompt):
        said = served.passing(prompt)
        said["answers"][0]["reason"] = f"The key is {KEY}."
        return said

    model.script = [failing(500), saying(lambda _prompt: f"{KEY}"), failing(400), saying(telling)]
    model.usual = saying(telling)
    run = judges.work_off(judges.start(judges.judge(queue), queue))
    assert run.state == "finished"
    model.usual = failing(401)
    other = judges.work_off(judges.start(judges.judge(queue, name="Other"), queue, attempt=2))
    assert other.state == "failed"
    assert all(KEY in said for said in model.keys), "it was sent where it belongs"

    client, api = enter(lead), by(lead)
    pages = [
        client.get(reverse("goldsets:judges", args=[project.slug])),
        client.get(reverse("goldsets:judge_new", args=[project.slug])),
        *(client.get(reverse("goldsets:judge_run", args=[each.uid])) for each in (run, other)),
        client.get(reverse("reviews:events", args=[project.slug])),
        api.get(f"/api/v1/judges/?project={project.slug}"),
        api.get(f"/api/v1/judge-runs/{run.uid}/"),
        api.get(f"/api/v1/judge-runs/{run.uid}/items/"),
    ]
    for response in pages:
        assert response.status_code == 200
        assert KEY not in response.content.decode()

    dataset = define_dataset(actor=lead, project=project, name="All", formats=["jsonl", "csv"], queue=queue)
    version = run_export(version_id=start_export(actor=lead, dataset=dataset).pk)
    for path in folder_of(version).iterdir():
        assert KEY.encode() not in path.read_bytes(), path.name

    with connection.cursor() as cursor:
        cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
        for (table,) in cursor.fetchall():
            cursor.execute(f'SELECT count(*) FROM "{table}" row WHERE row::text LIKE %s', [f"%{KEY}%"])  # noqa: S608
            assert cursor.fetchone() == (0,), table
    assert KEY not in logged.getvalue()
