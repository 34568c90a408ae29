"""The Python client in docs against a live server: runs in, an item judged, its label out, and refusals in words."""

import ast
import importlib.util
import sys
from pathlib import Path
from urllib.request import Request

import pytest
from knox.models import AuthToken

from reviews.enums import Role
from reviews.models import Item, Judgment
from tests import factories as make

pytestmark = pytest.mark.django_db(transaction=True)

PATH = Path(__file__).resolve().parents[3] / "docs" / "assay_client.py"
spec = importlib.util.spec_from_file_location("assay_client", PATH)
client_module = importlib.util.module_from_spec(spec)
sys.modules["assay_client"] = client_module
spec.loader.exec_module(client_module)
Assay, NothingToDo, Refused = client_module.Assay, client_module.NothingToDo, client_module.Refused


def run(number):
    return {"messages": [{"role": "user", "content": f"Ticket {number} 👋"}], "task_id": f"t-{number}"}


@pytest.fixture
def engineer(project):
    user = make.person("Enno")
    make.member(project, user, Role.ENGINEER)
    return user


@pytest.fixture
def by(live_server):
    def client(person, **options):
        return Assay(live_server.url, token=AuthToken.objects.create(person)[1], pause=0.01, **options)

    return client


def test_a_loop_posts_runs_an_expert_judges_and_the_label_comes_back(project, engineer, by):
    queue = make.queue(project, items=0, overlap=1)
    loop = by(engineer)
    (receipt,) = loop.post_runs(project.slug, [run(1)], queue=str(queue.uid), model="secret-model-1")
    assert receipt["status"] == "created"
    assert receipt["queues"] == [{"queue": str(queue.uid)}]
    alice = by(make.expert(project, "Alice"))
    assignment = alice.claim(str(queue.uid))
    assert assignment["item"]["steps"]["rows"][0]["fields"][0]["text"] == "Ticket 1 👋"
    first = alice.submit_judgment(assignment["uid"], make.passing())
    assert alice.submit_judgment(assignment["uid"], make.passing()) == first
    assert Judgment.objects.count() == 1
    (label,) = loop.labels(project.slug, queue=str(queue.uid))
    assert label["item"] == receipt["item"]
    with pytest.raises(NothingToDo, match="Nothing is waiting for you"):
        alice.claim(str(queue.uid))


def test_more_runs_than_one_request_takes_go_in_parts_and_come_back_in_order(project, engineer, by, monkeypatch):
    monkeypatch.setattr(client_module, "MOST_RUNS", 3)
    receipts = list(by(engineer).post_runs(project.slug, (run(number) for number in range(8))))
    assert [receipt["status"] for receipt in receipts] == ["created"] * 8
    again = list(by(engineer).post_runs(project.slug, (run(number) for number in range(8))))
    assert [receipt["item"] for receipt in again] == [receipt["item"] for receipt in receipts]
    assert {receipt["status"] for receipt in again} == {"already_there"}
    assert Item.objects.count() == 8


def test_one_run_that_is_none_is_refused_alone(project, engineer, by):
    receipts = list(by(engineer).post_runs(project.slug, [{"a": 1}, run(1)]))
    assert [receipt["status"] for receipt in receipts] == ["refused", "created"]
    assert receipts[0]["reason"] == "It fits no known format. Its members are: a."


def test_refusals_are_raised_with_status_and_sentence(project, engineer, by):
    with pytest.raises(Refused, match="Only leads and engineers") as refused:
        list(by(make.expert(project, "Alice")).post_runs(project.slug, [run(1)]))
    assert refused.value.status == 403
    with pytest.raises(Refused) as refused:
        list(by(engineer).post_runs(project.slug, [run(1)], family="x" * 101))
    assert set(refused.value.errors) == {"family"}
    with pytest.raises(Refused) as refused:
        list(by(make.person("Sam")).labels(project.slug))
    assert refused.value.status == 404


def test_what_fails_on_the_way_is_tried_again(project, engineer, by, monkeypatch):
    sent = client_module.urlopen
    failures = [ConnectionResetError("lost"), client_module.HTTPException("lost")]

    def lossy(request: Request, timeout: float):
        answer = sent(request, timeout=timeout)
        if failures:  # the server did its work and its answer is lost
            answer.close()
            raise failures.pop()
        return answer

    monkeypatch.setattr(client_module, "urlopen", lossy)
    (receipt,) = by(engineer).post_runs(project.slug, [run(1)])
    assert receipt["status"] == "already_there"
    assert Item.objects.count() == 1


def test_a_server_that_is_not_there_is_said_after_the_last_attempt():
    nobody = Assay("http://127.0.0.1:9", token="assay_x", attempts=2, pause=0.01)
    with pytest.raises(OSError, match="refused"):
        nobody.claim("0" * 32)


def test_the_token_is_sent_to_no_other_server():
    with pytest.raises(ValueError, match="not sent to"):
        Assay("https://assay.example.org", token="assay_x")._ask("GET", "https://elsewhere.example.org/api/v1/labels/")


def test_it_needs_nothing_but_pythons_own_library():
    named = set()
    for node in ast.walk(ast.parse(PATH.read_text())):
        if isinstance(node, ast.Import):
            named |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            named.add((node.module or "").partition(".")[0])
    assert named <= sys.stdlib_module_names
