"""Pages of graders: registered and scored in the browser, asked again, their reasons checked, their biases shown."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from goldsets.actions.auditing_graders import open_audit
from goldsets.actions.graders import add_version
from goldsets.models import Grader, GraderAudit
from goldsets.queries.audits import audit_name, reasons_of
from goldsets.queries.biases import count_biases
from goldsets.queries.repeats import count_repeats
from goldsets.tasks import adopt_run_scores
from reviews.actions.auditing import audit_verdicts, show_verdicts
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Event, Queue, RunScore, Task, VerdictsShown
from reviews.trajectories.schema import Step
from tests import factories as make
from tests.factories import graders
from tests.factories.furnished import judge

pytestmark = pytest.mark.django_db


def browser(person):
    client = Client()
    client.force_login(person)
    return client


def settled(project, *payloads, **fields):
    """Items that Alice judged so, each settled by her word."""
    items = [make.item(project, **fields) for _ in payloads]
    queue = make.queue(project, items=items, overlap=1)
    alice = make.expert(project, "Alice")
    for payload in payloads:
        judge(queue, alice, payload)
    return items


# --- The registry -----------------------------------------------------------------------------------------------------
def test_a_lead_registers_a_grader_and_brings_its_scores_in(project, lead):
    client, item = browser(lead), make.item(project, reward=1.0)
    listed = f"/projects/{project.slug}/graders/"
    assert "No graders yet" in client.get(listed).content.decode()
    made = client.post(listed, {"name": "State check", "kind": "deterministic", "criterion": "", "note": ""})
    grader = Grader.objects.get()
    assert made["Location"] == f"/graders/{grader.uid}/"
    assert "No version yet" in client.get(made["Location"]).content.decode()
    form = {"scale": "real", "lowest": "0", "highest": "2", "source": "reward", "parameters": '{"strict": true}'}
    page = client.post(made["Location"], form, follow=True).content.decode()
    assert "Version 1 is there" in page
    assert "not decided" in page
    at = f"/graders/{grader.uid}/versions/1/"
    rows = f'{{"item": "{item.uid}", "value": 1.5, "explanation": "<b>paid</b>"}}\n{{"item": "{item.uid}"}}\n'
    file = SimpleUploadedFile("scores.jsonl", rows.encode())
    page = client.post(f"{at}scores/", {"file": file}).content.decode()
    assert "&lt;b&gt;paid&lt;/b&gt;" in page
    assert "The value is on the grader&#x27;s scale, 0 to 2." in page
    assert "line 2" in page
    page = client.post(f"{at}set/", {"threshold": "1.5", "attempts_cap": "3"}, follow=True).content.decode()
    assert "at most 3 times" in page
    refused = client.post(f"{at}set/", {"threshold": "7", "attempts_cap": ""})
    assert (refused.status_code, "It passes from a value on its scale, 0 to 2." in refused.content.decode()) == (
        422,
        True,
    )
    assert "State check" in client.get(listed).content.decode()


def test_what_is_wrong_with_a_form_is_said_beside_it(project, lead):
    client, version = browser(lead), graders.version(project)
    at = f"/graders/{version.grader.uid}/"
    taken = client.post(f"/projects/{project.slug}/graders/", {"name": version.grader.name, "kind": "model"})
    assert (taken.status_code, "already" in taken.content.decode()) == (422, True)
    wrong = client.post(at, {"scale": "binary", "lowest": "1", "highest": "0", "parameters": "[1]"})
    assert wrong.status_code == 422
    assert "a JSON object of names" in wrong.content.decode()
    empty = client.post(f"{at}versions/1/scores/", {"file": SimpleUploadedFile("scores.csv", b"grader\nx\n")})
    assert (empty.status_code, "names the columns" in empty.content.decode()) == (422, True)
    assert client.post(f"{at}versions/1/adopt/").status_code == 409
    assert client.get(f"{at}?version=9").status_code == 404


def test_raters_and_strangers_are_told_nothing_of_graders(project):
    version = graders.version(project)
    at = f"/graders/{version.grader.uid}/"
    places = [
        f"/projects/{project.slug}/graders/",
        at,
        f"{at}versions/1/again/",
        f"{at}versions/1/reasons/",
        f"{at}versions/1/biases/",
    ]
    rater, stranger = browser(make.expert(project)), browser(make.person("Sam"))
    assert {rater.get(place).status_code for place in places} == {403}
    assert {stranger.get(place).status_code for place in places} == {404}
    assert "Graders" not in rater.get(f"/projects/{project.slug}/").content.decode()


def test_the_worker_takes_rewards_from_imported_runs(project, lead):
    version = graders.version(project, source="reward")
    make.item(project, reward=1.0)
    at = f"/graders/{version.grader.uid}/"
    assert "The worker takes them now" in browser(lead).post(f"{at}versions/1/adopt/", follow=True).content.decode()
    adopt_run_scores(version.pk, lead.pk)
    assert "1 created, 0 already there, 0 refused" in browser(lead).get(at).content.decode()


# --- Asked again ------------------------------------------------------------------------------------------------------
def test_trying_until_it_passes_is_counted(project, lead):
    good, bad, worse = settled(project, make.passing(), make.failing(), make.failing())
    version = graders.version(project, attempts_cap=4)
    graders.scored(version, (good, 1), (bad, 0), (worse, 0))
    graders.scored(version, (good, 1), (bad, 1), (worse, 0), attempt=2)
    graders.scored(version, (bad, 0), attempt=3)
    graders.scored(version, (bad, 0), attempt=4)
    found = count_repeats(version).found
    assert (found.calls, found.items, found.times, found.at_cap) == (8, 3, ((2, 2), (4, 1)), 1)
    shares = {k: share.value for k, share in found.found.best_of}
    # One of the two failed runs passes 1 of its 4 tries; the other never.
    assert shares[1] == pytest.approx(1 / 8)
    assert shares[2] == pytest.approx((1 - 3 / 6 + 0) / 2)
    assert shares[4] == 1
    assert [(one.values, one.passed, one.truth) for one in found.listed] == [((0, 1, 0, 0), 1, False)]
    json.dumps(found.as_dict(), default=str)
    page = browser(lead).get(f"/graders/{version.grader.uid}/versions/1/again/").content.decode()
    assert "Best of 4" in page
    assert "1 of 4" in page


def test_a_version_that_was_asked_once_says_so(project, lead):
    version = graders.version(project)
    graders.scored(version, (make.item(project), 1))
    assert (
        "Nothing was asked twice"
        in browser(lead).get(f"/graders/{version.grader.uid}/versions/1/again/").content.decode()
    )


# --- Its reasons ------------------------------------------------------------------------------------------------------
@pytest.fixture
def cited(project):
    """It passes two runs, one of them with evidence, and fails a third."""
    version, items = graders.version(project), [make.item(project) for _ in range(3)]
    places = [{"step": 3, "quote": "A-5071"}, {"step": 4, "quote": "A refund"}]
    graders.scored(version, (items[0], 1), evidence=places, explanation="It was their own account.")
    graders.scored(version, (items[1], 1), (items[2], 0))
    return version, items


def opened(lead, version, **fields):
    queue = make.queue(version.grader.project, items=0)
    return open_audit(
        actor=lead, version=version, name="Check it", rubric=queue.rubric, guideline=queue.guideline, **fields
    )


def test_raters_judge_blind_and_then_check_verdict_and_evidence(project, lead, cited):
    version, items = cited
    queue = opened(lead, version, most=1)
    assert queue.rubric.audits
    assert [row.item for row in queue.queue_items.all()] == [items[0]]
    assert GraderAudit.objects.get().version == version
    alice = make.expert(project, "Alice")
    mine = claim(actor=alice, queue=queue)
    assert "own account" not in browser(alice).get(f"/assignments/{mine.uid}/").content.decode()
    submit(actor=alice, uid=mine.uid, payload=make.passing(), idempotency_key="k")
    shown = show_verdicts(actor=alice, uid=mine.uid)
    assert [(said["grader"], said["value"], len(said["evidence"])) for said in shown.verdicts] == [
        (audit_name(version), "pass", 2)
    ]
    told = {"grader": audit_name(version), "right": True, "evidence": [True, False], "note": "Step 4 is no proof."}
    audit_verdicts(actor=alice, uid=mine.uid, payload={"verdicts": [told]})
    found = reasons_of(version, reader=lead)
    assert (found.checked.right.value, found.checked.right.n_units) == (1, 1)
    assert (found.checked.valid.value, found.checked.valid.n_units) == (0.5, 2)
    assert (found.reasoned.value, found.reasoned.n_units) == (0, 1)
    assert "Wilson" in found.checked.right.method
    assert [(row.items, row.shown) for row in found.queues] == [(1, 1)]
    page = browser(lead).get(f"/graders/{version.grader.uid}/versions/1/reasons/").content.decode()
    assert "Step 4 is no proof." in page
    assert "1 of 1 shown" in page


def test_another_version_of_the_grader_is_not_taken_for_it(project, lead, cited):
    version, _items = cited
    opened(lead, version)
    later = add_version(actor=lead, grader=version.grader)
    assert audit_name(later) != audit_name(version)
    assert reasons_of(later, reader=lead).queues == ()


def test_what_is_checked_is_drawn_those_with_evidence_first(project, lead, cited):
    version, items = cited
    assert {row.item for row in opened(lead, version).queue_items.all()} == set(items[:2])
    failed = open_audit(
        actor=lead,
        version=version,
        name="Fails",
        rubric=Queue.objects.get(name="Check it").rubric,
        guideline=Queue.objects.get(name="Check it").guideline,
        which="failed",
    )
    assert [row.item for row in failed.queue_items.all()] == [items[2]]
    assert RunScore.objects.count() == 3
    assert Event.objects.filter(verb="grader.audited").count() == 2


def test_nothing_to_check_and_nonsense_are_refused(project, lead, cited):
    version, _ = cited
    with pytest.raises(Conflict, match="nothing to check"):
        opened(lead, graders.version(project))
    with pytest.raises(Invalid) as refused:
        opened(lead, version, which="best", most=0)
    assert refused.value.errors.keys() == {"which", "most"}
    with pytest.raises(Forbidden):
        opened(make.expert(project), version)


def test_a_lead_opens_the_queue_from_the_page(project, lead, cited):
    version, _ = cited
    queue = make.queue(project, items=0)
    at = f"/graders/{version.grader.uid}/versions/1/reasons/"
    form = {"name": "Audit", "which": "all", "most": "10", "overlap": "1"}
    form |= {"rubric": str(queue.rubric.uid), "guideline": str(queue.guideline.uid)}
    page = browser(lead).post(at, form, follow=True).content.decode()
    assert "is open" in page
    assert Queue.objects.get(name="Audit").queue_items.count() == 3
    assert not VerdictsShown.objects.exists()
    assert browser(lead).post(at, form | {"most": "0"}).status_code == 422


# --- Its biases -------------------------------------------------------------------------------------------------------
def saying(words):
    return (Step(role="user", text="Where is it?"), Step(role="agent", text=words))


def test_a_grader_that_passes_what_is_long_is_found_out(project, lead):
    """Experts pass every second run; the grader passes whatever is long, and fails what its own family did not make."""
    items = []
    for number in range(24):
        text = "It is on its way. " * (1 + number) + ("**Done**\n- yes\n" if number % 3 else "")
        items.append(make.item(project, steps=saying(text), model="openai/gpt-4o" if number % 2 else "tern-large"))
    queue = make.queue(project, items=items, overlap=1)
    alice = make.expert(project, "Alice")
    for number in range(24):
        judge(queue, alice, make.passing(success=3 if number % 4 < 2 else 0))
    version = graders.version(project, model="gpt-4.1-mini")
    graders.scored(version, *((item, float(number > 11 or number == 3)) for number, item in enumerate(items)))
    found = count_biases(version).found
    runs = found.runs
    assert (found.family, runs.n, found.pairs) == ("gpt", 24, None)
    length, formatting = runs.leans
    assert length.odds.value > 2
    assert length.test.p < 0.05
    assert (formatting.name, formatting.odds.n_units) == ("formatting", 24)
    areas = dict(runs.areas)
    assert areas["Length alone"].value == pytest.approx(0.5, abs=0.15)
    assert runs.own[0].n_units + runs.own[1].n_units == 12
    told = json.loads(json.dumps(found.as_dict(), default=str))
    assert told["runs"]["leanings"][0]["name"] == "length"
    page = browser(lead).get(f"/graders/{version.grader.uid}/versions/1/biases/").content.decode()
    assert "Length alone" in page
    assert "Its own family: gpt" in page


def test_held_out_runs_tell_nothing_of_biases(project):
    items = settled(project, make.passing(), make.failing())
    version = graders.version(project)
    graders.scored(version, *((item, 1) for item in items))
    assert count_biases(version).found.runs.n == 2
    Task.objects.filter(trajectories__item=items[0]).update(split="held_out", family="apart")
    assert count_biases(version).found.runs.n == 1


def test_a_judge_that_follows_the_place_is_found_out(project, lead):
    pairs = [make.comparison(project) for _ in range(6)]
    version = graders.version(project, scale="ordinal", lowest=-1, highest=1, model="harrier-2")
    graders.scored(version, *((pair, 1) for pair in pairs))
    # Swapped, four times the first place wins again; twice the verdict goes with the run.
    graders.scored(version, *((pair, 1 if n < 4 else -1) for n, pair in enumerate(pairs)), order="swapped")
    found = count_biases(version).found.pairs
    assert (found.n, found.n_swapped, found.always_first, found.always_second) == (6, 6, 4, 0)
    assert found.consistent.value == pytest.approx(2 / 6)
    assert found.place.p == pytest.approx(0.125)
    assert [one.first for one in found.follows] == [True] * 4
    shares = {key: share for key, _, share in found.shares}
    assert (shares["shown"].value, shares["longest"].value) == (None, None)
    page = browser(lead).get(f"/graders/{version.grader.uid}/versions/1/biases/").content.decode()
    assert "the first place won both times in 4" in page


def test_a_project_without_labels_is_told_what_it_takes(project, lead):
    version = graders.version(project)
    page = browser(lead).get(f"/graders/{version.grader.uid}/versions/1/biases/").content.decode()
    assert "Nothing to hold it against" in page
