"""Scores that come after their run: posted, or in a file of feedback; stored once, hidden, and seen by the rules."""

import json

import pytest

from reviews.actions.dealing import claim
from reviews.actions.importing import receipt_of, run_import, start_import
from reviews.actions.judging import submit
from reviews.actions.previewing import preview_import
from reviews.actions.redacting import set_redaction
from reviews.actions.routing import create_rule
from reviews.actions.scoring import post_scores
from reviews.arrival import read_conditions
from reviews.errors import Forbidden, Invalid
from reviews.models import Event, Item, QueueItem, RunScore
from tests import factories as make
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db


def bring(actor, project, rows, tmp_path, **options):
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return run_import(job_id=start_import(actor=actor, project=project, name="rows.jsonl", path=file, **options).pk)


def run(number, **members):
    messages = [{"role": "user", "content": f"Ticket {number}"}, {"role": "assistant", "content": "Done."}]
    return {"run_id": f"r-{number}", "messages": messages, **members}


def trace(number):
    said = {"messages": [{"type": "human", "content": f"Is it raining in Bonn, {number}?"}]}
    answer = {"generations": [[{"message": {"type": "ai", "content": "No."}}]]}
    return {"id": f"t-{number}", "trace_id": f"t-{number}", "run_type": "llm", "inputs": said, "outputs": answer}


def rule(lead, project, queue, lines, name="Low"):
    return create_rule(actor=lead, project=project, queue=queue, conditions=read_conditions(lines), name=name)


def say(actor, project, run, value, grader="helpful", **more):
    return post_scores(actor=actor, project=project, scores=[{"run": run, "grader": grader, "value": value, **more}])[0]


def test_a_score_that_comes_later_brings_the_item_by_the_rule_once(project, lead, tmp_path):
    queue = make.queue(project, items=0, overlap=1)
    low = rule(lead, project, queue, "score.helpful < 0.5")
    bring(lead, project, [run(1), run(2)], tmp_path)
    assert not QueueItem.objects.exists()
    receipt = say(lead, project, "r-1", 0.2)
    assert (receipt.status, receipt.rules) == ("created", (low,))
    placed = QueueItem.objects.get()
    assert (placed.item, placed.rule) == (receipt.item, low)
    again = say(lead, project, "r-1", 0.2)
    assert (again.status, again.rules) == ("already_there", ())
    assert say(lead, project, "r-1", 0.1).rules == ()  # another word, and it is in its queue already
    assert QueueItem.objects.count() == 1
    assert Event.objects.filter(verb="queue.filled").count() == 1


def test_the_item_stays_settled_when_another_score_comes(project, lead, tmp_path):
    queue = make.queue(project, items=0, overlap=1)
    rule(lead, project, queue, "score.helpful < 0.5")
    bring(lead, project, [run(1)], tmp_path)
    say(lead, project, "r-1", 0)
    alice = make.expert(project, "Alice")
    submit(actor=alice, uid=claim(actor=alice, queue=queue).uid, payload=make.passing(), idempotency_key="k")
    say(lead, project, "r-1", 0.3)
    assert QueueItem.objects.get().state == "settled"


def test_rules_that_do_not_ask_for_the_grader_are_not_tried_again(project, lead, tmp_path):
    bring(lead, project, [run(1)], tmp_path)
    queue = make.queue(project, items=0)
    rule(lead, project, queue, "family != x", name="Everything from now on")
    rule(lead, project, queue, "score.polite exists", name="Other grader")
    say(lead, project, "r-1", 1)
    assert not QueueItem.objects.exists()


def test_of_a_grader_who_speaks_twice_the_last_word_counts_also_over_what_came_with_the_run(project, lead, tmp_path):
    queue = make.queue(project, items=0)
    rule(lead, project, queue, "score.helpful < 0.5")
    bring(lead, project, [run(1, outcome={"data": {"scores": [{"grader": "helpful", "value": 1}]}})], tmp_path)
    say(lead, project, "r-1", 0.9)
    assert not QueueItem.objects.exists()
    say(lead, project, "r-1", 0.1)
    assert QueueItem.objects.count() == 1


def test_two_graders_who_part_later_bring_the_item(project, lead, tmp_path):
    queue = make.queue(project, items=0)
    parted = rule(lead, project, queue, "score.a parts score.b 0.3", name="They part")
    bring(lead, project, [run(1, outcome={"data": {"scores": [{"grader": "a", "value": 1}]}})], tmp_path)
    assert say(lead, project, "r-1", 0.2, grader="b").rules == (parted,)


def test_a_file_of_feedback_becomes_scores_of_the_runs_it_names(project, lead, tmp_path):
    queue = make.queue(project, items=0)
    rule(lead, project, queue, "score.user_score = 0", name="Unhappy")
    bring(lead, project, [[trace(1)], [trace(2)]], tmp_path)
    feedback = [
        {"id": "f1", "run_id": "t-1", "key": "user_score", "score": 0, "value": None, "comment": "Wrong city."},
        {"id": "f2", "run_id": "child", "trace_id": "t-2", "key": "tone", "score": None, "value": "kind"},
        {"id": "f3", "run_id": "nobody", "key": "user_score", "score": 1, "comment": None},
        {"id": "f4", "run_id": "t-1", "key": "user_score"},
    ]
    seen = preview_import(actor=lead, project=project, name="f.jsonl", path=write(tmp_path, feedback))
    assert (seen.scores, seen.runs, seen.refused) == (3, 0, 1)
    job = bring(lead, project, feedback, tmp_path)
    assert (job.ending, job.created, job.scored, job.refused) == ("finished, 2 refused", 0, 2, 2)
    assert [(score.grader, score.value, score.explanation) for score in RunScore.objects.order_by("pk")] == [
        ("user_score", 0, "Wrong city."),
        ("tone", "kind", ""),
    ]
    places = {refusal["place"]: refusal["reason"] for refusal in receipt_of(job)["refusals"]}
    assert places["line 3"] == "The project has no run that its source calls nobody."
    assert places["line 4"].startswith("It fits no known format.")
    assert QueueItem.objects.get().rule.name == "Unhappy"
    again = bring(lead, project, feedback, tmp_path)
    assert (again.ending, again.scored, again.already_there) == ("nothing new, 2 refused", 0, 2)


def write(tmp_path, rows):
    file = tmp_path / "looked-at.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


def test_what_is_said_is_redacted_as_runs_are(project, lead, tmp_path):
    set_redaction(actor=lead, project=project, kinds=["e-mail"])
    bring(lead, project, [run(1)], tmp_path)
    say(lead, project, "r-1", "mail a@b.org", explanation="or c@d.org")
    score = RunScore.objects.get()
    assert (score.value, score.explanation) == ("mail ⟦e-mail 1⟧", "or ⟦e-mail 1⟧")


def test_over_the_api_each_score_has_its_receipt_and_raters_have_no_part(project, lead, tmp_path):
    queue = make.queue(project, items=0)
    rule(lead, project, queue, "score.helpful = false")
    bring(lead, project, [run(1)], tmp_path)
    item = Item.objects.get(project=project)
    place = f"/api/v1/projects/{project.slug}/scores/"
    body = {
        "scores": [
            {"item": str(item.uid), "grader": "helpful", "value": False},
            {"run": "?", "grader": "g", "value": 1},
        ]
    }
    answer = by(lead).post(place, body, format="json")
    assert answer.json() == {
        "created": 1,
        "already_there": 0,
        "refused": 1,
        "scores": [
            {"status": "created", "item": str(item.uid), "queues": [{"queue": str(queue.uid), "rule": "Low"}]},
            {"status": "refused", "reason": "The project has no run that its source calls ?.", "queues": []},
        ],
    }
    for wrong in ({"scores": []}, {"scores": [{"grader": "g", "value": 1}]}, {"scores": [{"run": "r", "value": 1}]}):
        assert by(lead).post(place, wrong, format="json").status_code == 422
    refused = by(lead).post(place, {"scores": [{"run": "r-1", "grader": "g", "value": [1]}]}, format="json").json()
    assert refused["scores"][0]["reason"] == "The value is a number, true or false, or a text."


def test_an_item_of_another_project_is_no_item(project, lead, tmp_path):
    bring(lead, project, [run(1)], tmp_path)
    item = Item.objects.get(project=project)
    other = make.project()
    scores = [{"item": item.uid, "grader": "g", "value": 1}]
    receipts = post_scores(actor=make.lead_of(other), project=other, scores=scores)
    assert (receipts[0].status, receipts[0].reason) == ("refused", "There is no such item.")


def test_raters_say_nothing_and_too_many_are_refused(project, lead):
    scores = [{"run": "r", "grader": "g", "value": 1}]
    with pytest.raises(Forbidden):
        post_scores(actor=make.expert(project, "Alice"), project=project, scores=scores)
    with pytest.raises(Invalid):
        post_scores(actor=lead, project=project, scores=scores * 501)
