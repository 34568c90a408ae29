"""Tasks are reviewed with their runs: what comes in, once; what raters say of them; what is refused."""

import json
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews.actions import tasks as actions
from reviews.actions.dealing import claim
from reviews.actions.importing import run_import, start_import
from reviews.actions.judging import submit
from reviews.actions.payloads import subject_of_assignment
from reviews.actions.payloads.evidence import read_evidence
from reviews.actions.redacting import set_redaction
from reviews.actions.routing import create_rule
from reviews.actions.rubrics import write_rubric
from reviews.enums import ItemKind
from reviews.errors import Forbidden, Invalid
from reviews.models import Candidate, Evidence, Item, Outcome, QueueItem, TaskVersion, Trajectory
from reviews.queries.payloads import payload_of
from reviews.task_review import TO_VERIFIER, task_review
from reviews.trajectories.detect import read_runs
from reviews.trajectories.schema import ReadOptions, RowError
from tests import factories as make
from tests.factories import tasks

pytestmark = pytest.mark.django_db

WHOLE = task_review()


def review_queue(project: Any, items: list[Item]) -> Any:
    return make.queue(
        project,
        items=items,
        criteria=WHOLE["criteria"],
        rubric={"item_kind": "task", "marks": WHOLE["marks"]},
        overlap=1,
    )


def answers(**changes: Any) -> dict[str, Any]:
    """What Alice says of the task: it goes back to its verifier, because admins pass."""
    of_run = {"why_failed": 5, "hack": False}
    hint = tasks.PROMPT.index("with restore_right")
    admin = "You are an admin"
    return {
        "criteria": {
            "prompt_verifier": 2,
            "verifier_intent": 0,
            "prompt_intent": 1,
            "decision": TO_VERIFIER,
            "reason": "Check that the owner said yes.",
            "world_realism": 2,
            "artificial": False,
        },
        "candidates": [{"criteria": of_run}, {"criteria": of_run}],
        "evidence": [
            {"criterion": "verifier_intent", "part": "verifier", "start": 0, "end": 10, "quote": "def verify"},
            {
                "criterion": None,
                "part": "prompt",
                "start": hint,
                "end": hint + 18,
                "quote": "with restore_right",
                "mark": "hint",
            },
            {"criterion": None, "candidate": 1, "step": 2, "mark": "loophole"},
        ],
        "rationale": admin,
        "confidence": 3,
        **changes,
    }


# --- In ---------------------------------------------------------------------------------------------------------------
def test_a_task_comes_in_with_its_runs_and_what_the_verifier_said():
    project = make.project()
    item = tasks.task(project)
    assert (item.kind, item.subject.key, item.task_version.number) == (ItemKind.TASK, "T-4417", 1)
    assert item.task_version.intent == "Asks the owner before a right is given back."
    assert [(row.role, row.result["passed"]) for row in item.candidates.all()] == [("solver", True), ("hacker", True)]
    assert item.candidates.all()[1].result["checks"] == [{"name": "can read", "passed": True}]
    assert Outcome.objects.filter(trajectory__candidacies__item=item, model="secret-model-9").count() == 2


def test_the_same_task_again_is_the_item_that_is_there():
    project = make.project()
    first, again = tasks.task(project), tasks.task(project)
    assert first == again
    assert TaskVersion.objects.count() == 1
    assert Trajectory.objects.filter(project=project).count() == 2


def test_another_verifier_is_the_next_version_and_an_older_one_stays_what_it_was():
    project = make.project()
    first = tasks.task(project)
    second = tasks.task(project, verifier="def verify(world): return False")
    assert (second.task_version.number, second.subject) == (2, first.subject)
    assert tasks.task(project) == first


def test_other_runs_of_the_same_version_are_another_item():
    project = make.project()
    first = tasks.task(project)
    second = tasks.task(project, runs=[tasks.SOLVER])
    assert second != first
    assert second.task_version == first.task_version


def test_a_run_that_is_there_is_attached():
    project = make.project()
    there = make.item(project)
    item = tasks.task(project, runs=[{"item": str(there.uid), "role": "solver", "result": {"passed": False}}])
    assert [row.trajectory for row in item.candidates.all()] == [there.run]


def test_from_a_file_it_is_the_same_item_as_posted(tmp_path):
    project = make.project()
    posted = tasks.task(project)
    file = tmp_path / "tasks.jsonl"
    other = {**tasks.TASK, "key": "T-1"}
    rows = [{"task": tasks.TASK, "runs": [tasks.SOLVER, tasks.HACKER]}, {"task": other, "runs": [tasks.SOLVER]}]
    file.write_text("\n".join(json.dumps(row) for row in rows))
    lead = make.lead_of(project)
    job = run_import(job_id=start_import(actor=lead, project=project, name="tasks.jsonl", path=file).pk)
    assert (job.state, job.created, job.refused) == ("finished", 0, 0)
    found = Item.objects.filter(project=project, kind=ItemKind.TASK).order_by("pk")
    assert [item.subject.key for item in found] == ["T-4417", "T-1"]
    assert found[0] == posted


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"intent": "  "}, "no intent"),
        ({"prompt": ""}, "no prompt"),
        ({"verifier": 4}, "verifier is no text"),
        ({"verifiability": "surely"}, "one of exact, partly, judged"),
        ({"production_prompts": ["a", 1]}, "production_prompts"),
        ({"recipe": "x" * 101}, "longer than 100"),
    ],
)
def test_a_task_that_cannot_be_taken_says_why(changes, words):
    project = make.project()
    with pytest.raises(Invalid, match=words):
        tasks.task(project, **changes)
    row = json.dumps({"task": {**tasks.TASK, **changes}, "runs": [tasks.SOLVER]}).encode()
    with pytest.raises(RowError, match=words):
        read_runs(row, ReadOptions(format="assay_task"))


@pytest.mark.parametrize(
    ("runs", "field"),
    [
        ([], "runs"),
        ([tasks.SOLVER, tasks.SOLVER], "runs.1"),
        ([{**tasks.SOLVER, "role": "boss"}], "runs.0"),
        ([{**tasks.SOLVER, "result": {"passed": "yes"}}], "runs.0"),
        ([{**tasks.SOLVER, "result": {"won": True}}], "runs.0"),
        ([{"role": "solver", "what": "nothing"}], "runs.0"),
        ([{"item": "5b2f7d8e-7a53-4f5c-9d3a-0a3b3c4d5e6f"}], "runs.0"),
    ],
)
def test_runs_that_cannot_be_taken_are_named(runs, field):
    project = make.project()
    with pytest.raises(Invalid) as refused:
        tasks.task(project, runs=runs)
    assert list(refused.value.errors) == [field]
    assert not Item.objects.filter(project=project).exists()


def test_only_leads_and_engineers_post_tasks():
    project = make.project()
    with pytest.raises(Forbidden):
        actions.post_task(actor=make.expert(project), project=project, task=tasks.TASK, runs=[tasks.SOLVER])


def test_the_database_wants_an_intent():
    item = tasks.task(make.project())
    with pytest.raises(IntegrityError), transaction.atomic():
        TaskVersion.objects.create(task=item.subject, number=9, prompt="p", intent="", content_hash="x")


def test_what_a_project_redacts_is_replaced_in_every_part():
    project = make.project()
    set_redaction(actor=make.lead_of(project), project=project, kinds=["e-mail"])
    item = tasks.task(project, intent="Ask d.marsh@example.com first.", verifier="# d.marsh@example.com")
    assert "example.com" not in item.task_version.intent + item.task_version.verifier


def test_a_rule_on_arrival_sends_a_task_where_its_verifiability_says():
    project = make.project()
    queue = review_queue(project, [])
    condition = {"field": "verifiability", "op": "=", "value": "partly"}
    create_rule(actor=make.lead_of(project), project=project, name="Partly", queue=queue, conditions=[condition])
    here, other = tasks.task(project), tasks.task(project, verifiability="exact")
    assert [place.item for place in QueueItem.objects.filter(queue=queue)] == [here]
    assert other != here


# --- Judged -----------------------------------------------------------------------------------------------------------
def test_alice_reviews_a_task_and_what_she_said_comes_back_as_she_sent_it():
    project = make.project()
    queue = review_queue(project, [tasks.task(project)])
    alice = make.expert(project)
    mine = claim(actor=alice, queue=queue)
    judgment = submit(actor=alice, uid=mine.uid, payload=answers(), idempotency_key="1").judgment
    back = payload_of(judgment)
    assert back["evidence"] == answers()["evidence"]
    assert back["criteria"] == answers()["criteria"]
    assert [(row.part, row.mark) for row in Evidence.objects.order_by("position")] == [
        ("verifier", ""),
        ("prompt", "hint"),
        ("", "loophole"),
    ]


@pytest.mark.parametrize(
    ("citation", "words"),
    [
        ({"part": "prompt", "start": 0, "end": 6, "quote": "ticket"}, "not what stands there"),
        ({"part": "prompt", "start": 0, "end": 9_999, "quote": tasks.PROMPT}, "not what stands there"),
        ({"part": "prompt", "start": -6, "end": 0, "quote": "Ticket"}, "not what stands there"),
        ({"part": "weather", "start": 0, "end": 6, "quote": "Ticket"}, "parts of a task"),
        ({"part": "prompt", "candidate": 1, "start": 0, "end": 6, "quote": "Ticket"}, "in no candidate"),
        ({"part": "prompt", "start": 0, "end": 6, "quote": "Ticket", "mark": "lovely"}, "no such mark"),
        ({"part": "prompt"}, "needs start, end and quote"),
        ({"part": "prompt", "start": "0", "end": 6, "quote": "Ticket"}, "needs start, end and quote"),
    ],
)
def test_a_mark_that_stands_nowhere_is_refused(citation, words):
    project = make.project()
    queue = review_queue(project, [tasks.task(project)])
    alice = make.expert(project)
    mine = claim(actor=alice, queue=queue)
    sent = answers(evidence=[answers()["evidence"][0], {"criterion": None, **citation}])
    with pytest.raises(Invalid) as refused:
        submit(actor=alice, uid=mine.uid, payload=sent, idempotency_key="1")
    assert words in refused.value.errors["evidence.1"]


def test_a_run_that_is_judged_alone_has_no_parts_to_cite():
    project = make.project()
    alice = make.expert(project)
    mine = claim(actor=alice, queue=make.queue(project, items=1))
    cited = [{"criterion": "success", "part": "prompt", "start": 0, "end": 1, "quote": "T"}]
    with pytest.raises(Invalid, match="no task"):
        submit(actor=alice, uid=mine.uid, payload=make.passing(evidence=cited), idempotency_key="1")


def test_everything_but_keep_asks_for_a_reason_and_a_hack_for_its_kind_with_evidence():
    project = make.project()
    queue = review_queue(project, [tasks.task(project)])
    alice = make.expert(project)
    mine = claim(actor=alice, queue=queue)
    sent = answers()
    del sent["criteria"]["reason"]
    sent["candidates"][1] = {"criteria": {"why_failed": 5, "hack": True}}
    with pytest.raises(Invalid) as refused:
        submit(actor=alice, uid=mine.uid, payload=sent, idempotency_key="1")
    assert set(refused.value.errors) == {"criteria.reason", "candidates.2.criteria.hack_kind"}
    sent["criteria"]["decision"] = 1
    sent["candidates"][1]["criteria"]["hack_kind"] = [5]
    with pytest.raises(Invalid, match="asks for evidence"):
        submit(actor=alice, uid=mine.uid, payload=sent, idempotency_key="1")
    sent["evidence"].append({"criterion": "hack_kind", "candidate": 2, "step": 2})
    assert submit(actor=alice, uid=mine.uid, payload=sent, idempotency_key="1").created


@pytest.fixture
def reviewed():
    project = make.project()
    return claim(actor=make.expert(project), queue=review_queue(project, [tasks.task(project)]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=st.integers(-3, 80), length=st.integers(-2, 80))
def test_a_quote_is_taken_exactly_where_it_stands(reviewed, start, length):
    """Places count characters as people see them, an emoji as one."""
    subject = subject_of_assignment(reviewed)
    quote = tasks.PROMPT[max(start, 0) : max(start, 0) + max(length, 0)]
    errors: dict[str, str] = {}
    row = {"criterion": None, "part": "prompt", "start": start, "end": start + length, "quote": quote}
    found = read_evidence([row], subject=subject, errors=errors)
    stands = start >= 0 and length > 0 and start + length <= len(tasks.PROMPT)
    assert bool(found) == stands == (not errors)


# --- The rubric -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["trajectory", "comparison"])
def test_marks_are_for_tasks_alone(kind):
    with pytest.raises(Invalid) as error:
        make.queue(make.project(), items=0, rubric={"item_kind": kind, "marks": WHOLE["marks"]}, criteria=make.CRITERIA)
    assert set(error.value.errors) == {"marks"}


def test_marks_are_checked_as_a_rubric_is_written():
    project = make.project()
    marks = [{"key": "hint", "name": "Hint"}, {"key": "hint", "name": ""}]
    with pytest.raises(Invalid) as refused:
        write_rubric(actor=make.lead_of(project), project=project, **{**WHOLE, "marks": marks})
    assert set(refused.value.errors) == {"marks.1.key", "marks.1.name"}
    rubric = write_rubric(actor=make.lead_of(project), project=project, **WHOLE)
    assert [mark["key"] for mark in rubric.marks][:2] == ["hint", "unrealistic"]


def test_candidates_are_never_changed():
    item = tasks.task(make.project())
    with pytest.raises(Exception, match="Cannot update"), transaction.atomic():
        Candidate.objects.filter(item=item).update(role="reviewer")
