"""Scores of graders: posted, in files, or adopted from runs; once, on the scale, within the cap, redacted."""

import json
from decimal import Decimal
from io import BytesIO, StringIO

import pytest
from django.core.management import CommandError, call_command

from goldsets.actions.grader_scores import adopt_scores, import_scores, post_scores
from goldsets.actions.graders import set_version
from goldsets.actions.reading_scores import read_score
from goldsets.models import GraderScore
from goldsets.queries.graders import sources_of, tally
from reviews.actions.importing import run_import, start_import
from reviews.actions.redacting import set_redaction
from reviews.actions.scoring import post_scores as say
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Event
from tests import factories as make
from tests.factories import graders
from tests.factories.furnished import judge
from tests.reviews.api.talking import by, is_problem

pytestmark = pytest.mark.django_db


def post(lead, version, *rows):
    receipts = post_scores(actor=lead, version=version, scores=[read_score(row) for row in rows])
    return [(receipt.status, receipt.reason) for receipt in receipts]


def test_the_same_score_is_kept_once_and_another_needs_another_attempt(project, lead):
    version, item = graders.version(project), make.item(project)
    row = {"item": str(item.uid), "value": True, "explanation": "Refunded.", "cost": 0.0021, "seconds": 1.5}
    assert post(lead, version, row, row) == [("created", ""), ("already_there", "")]
    assert post(lead, version, row) == [("already_there", "")]
    [(status, reason)] = post(lead, version, row | {"value": False})
    assert status == "refused"
    assert reason == "Attempt 1 at this item has another score. Send what it said next as attempt 2."
    assert post(lead, version, row | {"value": False, "attempt": 2}) == [("created", "")]
    first, second = GraderScore.objects.filter(version=version)
    assert (first.value, first.cost, first.seconds, second.value) == (1, Decimal("0.002100"), 1.5, 0)
    counts = {"created": 1, "already_there": 1, "refused": 0, "origin": "api"}
    assert counts.items() <= Event.objects.filter(verb="grader.scored").earliest("pk").data.items()


def test_a_score_that_cannot_be_is_refused_alone(project, lead):
    make.queue(project)
    version, item = graders.version(project, scale="ordinal", highest=4), make.item(project)
    good = {"item": str(item.uid), "value": 3}
    refused = [
        good | {"value": 5},
        good | {"value": 2.5},
        good | {"value": "splendid"},
        good | {"criterion": "taste"},
        good | {"evidence": [{"step": 9, "quote": "It"}]},
        {"item": "00000000-0000-4000-8000-000000000000", "value": 1},
        {"run": "r-9", "value": 1},
    ]
    *nothing, last = post(lead, version, *refused, good | {"criterion": "success", "value": "fail"})
    assert [reason for _, reason in nothing] == [
        "The value is on the grader's scale, 0 to 4.",
        "The value is a whole number: this grader gives levels.",
        "The value is on the grader's scale, 0 to 4.",
        "No rubric of this project has a criterion taste.",
        "The evidence cites a step that is not there: the run has steps 1 to 4.",
        "There is no such item.",
        "The project has no run that its source calls r-9.",
    ]
    assert last == ("created", "")
    assert [(score.criterion, score.value) for score in GraderScore.objects.all()] == [("success", 0)]


def test_a_grader_of_one_criterion_scores_nothing_else(project, lead):
    make.queue(project)
    version, item = graders.version(project, criterion="consent"), make.item(project)
    row = {"item": str(item.uid), "value": 1}
    assert post(lead, version, row, row | {"criterion": "success"}) == [
        ("created", ""),
        ("refused", "This grader judges consent alone."),
    ]
    assert GraderScore.objects.get().criterion == "consent"


def test_beyond_the_cap_nothing_counts(project, lead):
    version, item = graders.version(project), make.item(project)
    set_version(actor=lead, version=version, threshold=None, attempts_cap=2)
    row = {"item": str(item.uid), "value": 1}
    said = post(lead, version, row, row | {"attempt": 2}, row | {"attempt": 3})
    assert said[2] == ("refused", "This version may be asked 2 times of an item.")
    assert [status for status, _ in said] == ["created", "created", "refused"]
    assert Event.objects.filter(verb="grader.scored").get().data["refused"] == 1


def test_a_comparison_is_scored_in_both_orders_and_says_which_run_it_cites(project, lead):
    version = graders.version(project, scale="ordinal", lowest=-1, highest=1)
    pair = make.comparison(project)
    row = {"item": str(pair.uid), "value": 1}
    cited = {"evidence": [{"step": 1, "quote": "My order", "candidate": 2}]}
    said = post(
        lead,
        version,
        row | cited,
        row | {"order": "swapped"},
        row | {"attempt": 2, "evidence": [{"step": 1, "quote": "My order"}]},
    )
    assert [status for status, _ in said] == ["created", "created", "refused"]


def test_what_the_project_redacts_is_redacted_in_scores(project, lead):
    set_redaction(actor=lead, project=project, kinds=["e-mail"])
    version, item = graders.version(project), make.item(project)
    said = {"explanation": "Mailed a@b.example.com.", "evidence": [{"step": 1, "quote": "a@b.example.com"}]}
    post(lead, version, {"item": str(item.uid), "value": 1} | said)
    score = GraderScore.objects.get()
    assert "b.example" not in score.explanation + score.evidence[0]["quote"]


def test_a_row_says_what_is_wrong_with_it():
    row = {"run": "r-1", "value": 1}
    wrong = [
        ({"value": 1}, "item"),
        (row | {"item": "x"}, "item"),
        (row | {"attempt": 0}, "attempt"),
        (row | {"attempt": True}, "attempt"),
        (row | {"order": "backwards"}, "order"),
        (row | {"parts": {"tone": "good"}}, "parts"),
        (row | {"parts": [1]}, "parts"),
        (row | {"evidence": [{"step": "1"}]}, "evidence"),
        (row | {"evidence": [{"step": 1, "page": 2}]}, "evidence"),
        (row | {"cost": "much"}, "cost"),
        (row | {"cost": -1}, "cost"),
        (row | {"seconds": float("inf")}, "seconds"),
        (row | {"tokens": -1}, "tokens"),
        (row | {"meta": {"log": "x" * 5000}}, "meta"),
        (row | {"explanation": 7}, "explanation"),
        (row | {"reward": 1}, "row"),
        ([], "row"),
    ]
    for given, field in wrong:
        with pytest.raises(Invalid) as refused:
            read_score(given)
        assert refused.value.field == field, given


def test_bad_lines_of_a_file_are_refused_with_their_place_and_the_rest_goes_in(project, lead):
    version, items = graders.version(project), [make.item(project) for _ in range(2)]
    lines = [
        json.dumps({"item": str(items[0].uid), "value": 1, "meta": {"checkpoint": "step-200", "kl": 1.5}}),
        "{",
        "",
        json.dumps({"item": str(items[1].uid), "value": 7}),
        json.dumps({"item": str(items[1].uid), "value": "I", "parts": {"state": 0.5}}),
    ]
    file = ("﻿" + "\n".join(lines)).encode()
    receipt = import_scores(actor=lead, version=version, file=BytesIO(file), name="scores.jsonl")
    assert receipt.counts == {"created": 2, "already_there": 0, "refused": 2}
    assert [place for place, _ in receipt.refusals] == ["line 2", "line 4"]
    again = import_scores(actor=lead, version=version, file=BytesIO(file), name="scores.jsonl")
    assert again.counts == {"created": 0, "already_there": 2, "refused": 2}
    kept = {score.item_id: score for score in GraderScore.objects.all()}
    assert kept[items[0].pk].meta == {"checkpoint": "step-200", "kl": 1.5}
    assert (kept[items[1].pk].value, kept[items[1].pk].parts) == (0, {"state": 0.5})


def test_a_csv_is_read_by_its_columns(project, lead):
    version, item = graders.version(project, scale="real"), make.item(project)
    cited = '"[{""step"": 2, ""quote"": ""I am sorry""}]"'
    text = (
        "item,value,attempt,part.state,meta.training_step,evidence,explanation,cost\n"
        f'{item.uid},0.75,1,1,200,{cited},"It said, ""sorry"".",0.01\n'
        f"{item.uid},0.5,2,,,,,\n"
        f"{item.uid},0.5,two,,,,,\n"
        f"{item.uid},0.5,3,,,,,,,\n"
    )
    receipt = import_scores(actor=lead, version=version, file=BytesIO(text.encode()), name="Scores.CSV")
    assert receipt.counts == {"created": 2, "already_there": 0, "refused": 2}
    assert [place for place, _ in receipt.refusals] == ["line 4", "line 5"]
    first, second = GraderScore.objects.order_by("attempt")
    assert (first.value, first.parts, first.meta) == (0.75, {"state": 1.0}, {"training_step": 200})
    assert (first.evidence, first.explanation) == ([{"step": 2, "quote": "I am sorry"}], 'It said, "sorry".')
    assert (second.value, second.parts, second.cost) == (0.5, {}, None)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("scores.jsonl", b"", "no scores"),
        ("scores.csv", b"", "names the columns"),
        ("scores.csv", b"grader,value\nx,1\n", "names the columns"),
        ("scores.csv", b"item,value\n\xff\xfe,1\n", "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_as_a_whole(project, lead, name, content, words):
    version = graders.version(project)
    with pytest.raises(Invalid, match=words):
        import_scores(actor=lead, version=version, file=BytesIO(content), name=name)
    assert not Event.objects.filter(verb="grader.scored").exists()


def test_rewards_and_scores_of_imported_runs_become_a_versions_scores_once(project, lead):
    came = {"scores": [{"grader": "model_graded", "value": "P", "explanation": "Half."}]}
    good, bad = make.item(project, reward=1.0), make.item(project, reward=0.0, result="failure", data=came)
    make.item(project, reward=0.0, result="crash", data=came)
    later = {"item": bad.uid, "grader": "model_graded", "value": 1, "evidence": [{"step": 2, "quote": "I am sorry."}]}
    say(actor=lead, project=project, scores=[later])
    assert sources_of(project) == ["model_graded", "reward"]

    rewards = graders.version(project, kind="deterministic", source="reward")
    assert adopt_scores(actor=lead, version=rewards).counts == {"created": 2, "already_there": 0, "refused": 0}
    assert adopt_scores(actor=lead, version=rewards).counts == {"created": 0, "already_there": 2, "refused": 0}
    assert dict(rewards.scores.values_list("item", "value")) == {good.pk: 1, bad.pk: 0}

    judge = graders.version(project, scale="real", source="model_graded")
    assert adopt_scores(actor=lead, version=judge).created == 2
    first, second = judge.scores.order_by("attempt")
    assert (first.item_id, first.value, first.explanation) == (bad.pk, 0.5, "Half.")
    assert (second.attempt, second.value, second.evidence) == (2, 1, [{"step": 2, "quote": "I am sorry."}])

    binary = graders.version(project, source="model_graded")
    receipt = adopt_scores(actor=lead, version=binary)
    assert (receipt.created, receipt.refusals) == (
        1,
        [(f"item {bad.uid}", "The value is 0 or 1: this grader passes or fails.")],
    )
    with pytest.raises(Conflict, match="names no source"):
        adopt_scores(actor=lead, version=graders.version(project))


ASK, ANSWER = {"role": "user", "content": "What is 2 + 2?"}, {"role": "assistant", "content": "4"}


def inspect_log():
    """Three samples under one scorer: correct, incorrect, half right."""
    samples = [
        {
            "id": n,
            "epoch": 1,
            "input": "",
            "target": "4",
            "messages": [ASK, ANSWER],
            "scores": {"match": {"value": said}},
        }
        for n, said in enumerate(("C", "I", "P"), 1)
    ]
    return {"version": 2, "status": "success", "eval": {"task": "sums", "model": "m"}, "samples": samples}


def rollouts():
    """Two rollouts with their rewards, the second partial."""
    row = {"prompt": [ASK], "completion": [ANSWER], "task": "default"}
    return "\n".join(json.dumps(row | {"id": n, "reward": reward}) for n, reward in ((0, 1.0), (1, 0.25)))


@pytest.mark.parametrize(
    ("name", "content", "source", "values"),
    [
        ("log.json", json.dumps(inspect_log()), "match", [1.0, 0.0, 0.5]),
        ("rollouts.jsonl", rollouts(), "reward", [1.0, 0.25]),
    ],
)
def test_scores_that_came_in_with_a_file_are_adopted_by_their_name(project, lead, name, content, source, values):
    job = run_import(job_id=start_import(actor=lead, project=project, name=name, file=BytesIO(content.encode())).pk)
    assert (job.created, job.refused) == (len(values), 0)
    assert source in sources_of(project)
    version = graders.version(project, scale="real", source=source)
    assert adopt_scores(actor=lead, version=version).created == len(values)
    assert list(version.scores.order_by("item").values_list("value", flat=True)) == values


def test_what_scores_come_to_is_counted(project, lead):
    version = graders.version(project)
    assert tally(version).scores == 0
    items = [make.item(project) for _ in range(4)]
    rows = [{"item": str(item.uid), "value": n > 0, "seconds": n, "cost": 0.5} for n, item in enumerate(items)]
    post(lead, version, *rows, rows[0] | {"attempt": 2, "value": 1, "seconds": 4, "cost": None})
    found = tally(version)
    assert (found.scores, found.items, found.passed, found.most_attempts) == (5, 4, 4, 2)
    assert (found.cost, found.costed, found.cost_each) == (Decimal(2), 4, Decimal("0.5"))
    assert (found.median_seconds, round(found.slow_seconds, 1), found.timed) == (2, 3.8, 5)
    post(lead, version, rows[1] | {"attempt": 2, "value": 0})
    assert tally(version).scores == 6


def test_a_thousand_scores_cost_as_many_queries_as_two(project, lead, django_assert_max_num_queries):
    version, items = graders.version(project), [make.item(project) for _ in range(2)]
    with django_assert_max_num_queries(16):
        post(lead, version, *({"item": str(items[n % 2].uid), "value": 1, "attempt": n // 2 + 1} for n in range(1000)))
    assert version.scores.count() == 1000


def test_nobody_but_leads_and_engineers_sends_scores(project):
    version = graders.version(project)
    with pytest.raises(Forbidden):
        post_scores(actor=make.expert(project), version=version, scores=[])


# --- API and command --------------------------------------------------------------------------------------------------
def test_a_grader_is_registered_and_scored_over_the_api(project, lead):
    client, item = by(lead), make.item(project)
    made = client.post("/api/v1/graders/", {"project": project.slug, "name": "Judge", "kind": "model"}, format="json")
    assert (made.status_code, made.json()["versions"]) == (201, [])
    at = made["Location"]
    score = {"scores": [{"item": str(item.uid), "value": 1, "cost": "0.002"}, {"run": "nobody", "value": 1}]}
    assert "no version yet" in is_problem(client.post(f"{at}scores/", score, format="json"), 404)["detail"]
    version = client.post(f"{at}versions/", {"model": "harrier-2", "scale": "real", "highest": 2}, format="json")
    assert (version.status_code, version.json()["passes_from"]) == (201, None)
    set_to = client.patch(version["Location"], {"threshold": 1.5}, format="json").json()
    assert (set_to["passes_from"], set_to["attempts_cap"]) == (1.5, None)
    told = client.post(f"{at}scores/", score, format="json").json()
    assert [told[name] for name in ("version", "created", "already_there", "refused")] == [1, 1, 0, 1]
    assert told["scores"][0] == {"status": "created", "item": str(item.uid)}
    assert told["scores"][1]["reason"].startswith("The project has no run")
    listed = client.get(f"{at}scores/").json()["results"]
    assert [(row["value"], row["cost"], row["item"]) for row in listed] == [(1, "0.002000", str(item.uid))]
    counted = client.get(version["Location"]).json()["tally"]
    assert (counted["scores"], counted["passed"], counted["cost"]) == (1, 0, "0.002000")


def test_a_malformed_score_is_named_by_its_place(project, lead):
    version, client = graders.version(project), by(lead)
    at = f"/api/v1/graders/{version.grader.uid}/scores/"
    problem = is_problem(client.post(at, {"scores": [{"run": "a", "value": 1}, {"value": 1}]}, format="json"), 422)
    assert list(problem["errors"]) == ["scores.1.item"]
    is_problem(client.post(at, {"version": 9, "scores": [{"run": "a", "value": 1}]}, format="json"), 404)


def test_the_command_brings_in_files_and_what_came_with_runs(project, lead, tmp_path):
    item = make.item(project, reward=1.0)
    version = graders.version(project, source="reward")
    file = tmp_path / "scores.jsonl"
    file.write_text(json.dumps({"item": str(item.uid), "value": 0, "attempt": 2}) + "\nnonsense\n")
    out = StringIO()
    call_command("import_scores", f"{project.slug}/{version.grader.name}", file, "--from-runs", stdout=out)
    assert out.getvalue().splitlines() == [
        f"{file}: 1 created, 0 already there, 1 refused",
        "  line 2: It is not valid JSON: expecting value at column 1.",
        "runs: 1 created, 0 already there, 0 refused",
    ]
    assert sorted(version.scores.values_list("attempt", "value")) == [(1, 1), (2, 0)]
    out = StringIO()
    call_command("import_scores", str(version.grader.uid), "--from-runs", "--json", stdout=out)
    assert json.loads(out.getvalue())[0]["already_there"] == 1
    file.write_text("nonsense\n")
    with pytest.raises(CommandError, match="Nothing could be taken"):
        call_command("import_scores", version.grader.name, file, stdout=StringIO())
    with pytest.raises(CommandError, match="no such version"):
        call_command("import_scores", version.grader.name, file, "--version", "7", stdout=StringIO())
    with pytest.raises(CommandError, match="There is no grader"):
        call_command("import_scores", "Nobody", file, stdout=StringIO())


def test_what_is_counted_of_a_version_is_read_over_the_api(project, lead):
    queue = make.queue(project, items=[make.item(project) for _ in range(2)], overlap=1)
    version, client = graders.version(project), by(lead)
    items = [row.item for row in queue.queue_items.order_by("pk")]
    judge(queue, make.expert(project), make.failing())
    graders.scored(version, (items[0], 1), (items[1], 0))
    graders.scored(version, (items[0], 0), attempt=2)
    at = f"/api/v1/graders/{version.grader.uid}/versions/1/"
    again = client.get(f"{at}again/").json()
    assert [again[name] for name in ("calls", "items", "n_repeated", "n_changing")] == [3, 2, 1, 1]
    assert [(row["k"], row["value"]) for row in again["best_of"]] == [(1, 0.5), (2, 1.0)]
    assert (again["changing"][0]["item"], again["changing"][0]["truth"]) == (str(items[0].uid), False)
    biases = client.get(f"{at}biases/").json()
    assert (biases["runs"]["n"], "pairs" in biases) == (1, False)
    assert biases["runs"]["leanings"][0]["odds"]["reason"] == "below_floor"
    asked = {"name": "Audit", "rubric": str(queue.rubric.uid), "guideline": str(queue.guideline.uid), "which": "all"}
    opened = client.post(f"{at}reasons/", asked, format="json")
    assert opened.status_code == 201, opened.content
    told = client.get(f"{at}reasons/").json()
    assert [(row["queue"], row["items"], row["shown"]) for row in told["queues"]] == [(opened.json()["queue"], 2, 0)]
    assert (told["right"]["value"], told["right"]["n_units"]) == (None, 0)
    nowhere = asked | {"rubric": str(queue.uid)}
    assert list(is_problem(client.post(f"{at}reasons/", nowhere, format="json"), 422)["errors"]) == ["rubric"]
