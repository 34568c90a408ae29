"""A service that answers typed decisions as a judge: posted the run as JSON, read as strictly as a model is."""

import json
from decimal import Decimal
from io import BytesIO
from zipfile import ZipFile

import pytest
from django.urls import reverse

from goldsets.actions.compiling import run_compile, start_compile
from goldsets.actions.judges import define_judge
from goldsets.actions.probe_work import run_probes, start_probes
from goldsets.actions.probes import make_probes
from goldsets.models import GraderScore, JudgedItem, JudgeRun, JudgeSetup, ProbeAnswer
from goldsets.queries.judges import judge_of
from goldsets.queries.reviewers import said_by
from goldsets.reviewing.bundle import bundle
from goldsets.reviewing.bundle import prompt as bundled
from goldsets.reviewing.judging import remembered
from goldsets.tasks import run_judge
from reviews.errors import Conflict, Invalid
from reviews.models import LabelValue, QueueItem
from tests import factories as make
from tests.factories import judges
from tests.factories.furnished import judge as submit
from tests.factories.settled import labelled_queue
from tests.goldsets.judging import endpoint as served
from tests.goldsets.judging.items import run
from tests.goldsets.judging.test_answer import SHOWN
from tests.goldsets.judging.test_judges import runs
from tests.goldsets.reviewing.made import labelled
from tests.reviews.api.talking import by, is_problem
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db
ABOUT = {"title": "Consent 1", "decision": "Consent", "signed": "Signed.", "artefact_sha256": "0" * 64}
KEY = "dk-a-key-that-nobody-may-read-0815"


@pytest.fixture
def service(settings):
    with served.model() as server:
        settings.DECISIONS_URL, settings.DECISIONS_API_KEY = f"{server.url}/decide", KEY
        settings.JUDGE_TIMEOUT_SECONDS, settings.JUDGE_BACK_OFF_SECONDS, settings.JUDGE_TRIES = 5.0, 0.0, 2
        server.usual = deciding("pass", confidence=0.9)
        yield server


@pytest.fixture
def queue(project):
    return make.queue(project, items=runs(project, 3))


def deciding(answer, *, quote="", **more):
    """Decides `authorised` so, with the first words of the run unless others are to be quoted."""

    def behave(answers, body):
        rows = body["item"]["steps"]["rows"]
        first = rows[0]["fields"][0]["text"] if rows else ""
        said = {"criterion": "authorised", "answer": answer, "evidence": [{"step": 1, "quote": quote or first}], **more}
        answers.send(json.dumps({"answers": [said]}).encode())

    return behave


def decider(queue, **more):
    asked = {"criterion": "authorised", "protocol": "decisions", "price_in": None, "price_out": None}
    return judges.judge(queue, **{**asked, "price_each": Decimal("0.002"), "model": "house-rules-2", **more})


def test_a_service_is_posted_the_run_and_its_decision_is_kept(queue, service):
    run = judges.work_off(judges.start(decider(queue), queue, budget="1"))
    assert (run.state, run.spent) == ("finished", Decimal("0.006"))
    asked = service.heard[0]
    assert (asked["path"], asked["model"], service.keys[0]) == ("/v1/decide", "house-rules-2", f"Bearer {KEY}")
    assert [row["key"] for row in asked["criteria"]] == ["authorised"]
    assert asked["guideline"] == "Judge what was done, not the tone."
    assert asked["item"]["request"] == "I want my money back."
    assert "secret-model-9" not in json.dumps(asked)
    score = GraderScore.objects.filter(version=run.version).order_by("item").first()
    assert (score.value, score.meta["confidence"], score.cost) == (1, 0.9, Decimal("0.002"))
    assert score.evidence[0]["quote"] == "My order 0 came a week late."


@pytest.mark.parametrize(
    ("behaviour", "state", "why"),
    [
        (deciding("pass", quote="All is verified."), "unproven", "does not stand in step 1"),
        (deciding("perhaps"), "unreadable", "no answer to authorised"),
        (deciding("pass", confidence=1.5), "unreadable", "not the JSON asked for"),
        (deciding("pass", score=1), "unreadable", "not the JSON asked for"),
        (served.sending(b'{"answers": []}'), "unreadable", "is not answered"),
        (served.sending(b"pass"), "no_answer", "not of the form"),
        (served.failing(503), "no_answer", "Tried 2 times"),
        (served.dropping, "no_answer", "No answer"),
    ],
)
def test_what_is_no_decision_is_written_down_as_what_it_is(queue, service, behaviour, state, why):
    service.usual = behaviour
    run = judges.work_off(judges.start(decider(queue), queue, budget="1"))
    row = JudgedItem.objects.filter(run=run).first()
    assert row.state == state
    assert why in row.why
    assert not GraderScore.objects.filter(version=run.version).exists()
    assert KEY not in row.why


def test_nothing_is_asked_that_could_go_over_the_budget(queue, service):
    run = judges.work_off(judges.start(decider(queue), queue, budget="0.006"))
    assert (run.state, len(service.heard)) == ("stopped", 2), "an answer may be lost once, and counts then too"


def test_how_sure_it_is_is_what_a_reviewer_is_calibrated_on(queue, service):
    service.script = [deciding("fail", confidence=0.8), deciding("fail")]
    run = judges.work_off(judges.start(decider(queue), queue, budget="1"))
    assert sorted(said_by(run.version, "authorised").values()) == [0, pytest.approx(0.2), 0.9]


def test_how_sure_a_model_says_it_is_without_being_asked_counts_for_nothing(queue):
    """What a bundle says of a judge is pass or fail; here it would be calibrated on something else."""
    version = judges.judge(queue, criterion="authorised").version
    item = run()
    answer = {"criterion": "authorised", "answer": "fail", "confidence": 0.8, "evidence": SHOWN, "reason": "Seen."}
    verdict = remembered(judge_of(version.judge), item, json.dumps({"answers": [answer]}))
    assert [(one.value, one.confidence) for one in verdict.said] == [(0, None)]
    row = QueueItem.objects.filter(queue=queue).first()
    GraderScore.objects.create(
        version=version, item=row.item, criterion="authorised", value=0, meta={"confidence": 0.8}
    )
    assert list(said_by(version, "authorised").values()) == [0]


def test_a_reviewer_is_compiled_of_a_service(project, service):
    queue = labelled_queue(project, labelled(300))
    version = decider(queue).version
    values = LabelValue.objects.filter(label__queue=queue, criterion__key="authorised").order_by("pk")
    GraderScore.objects.bulk_create(
        GraderScore(version=version, item_id=item, criterion="authorised", value=value, meta={"confidence": 0.9})
        for item, value in values.values_list("label__item", "value")
    )
    service.usual = deciding("fail", confidence=0.95)
    engineer = make.person("Erin")
    make.member(project, engineer, "engineer")
    asked = {"criterion": "authorised", "rung": "judge", "judge": version, "budget": 1}
    reviewer = run_compile(reviewer_id=start_compile(actor=engineer, queue=queue, **asked).pk)
    probes = next(proof for proof in reviewer.assurance["proofs"] if proof["key"] == "probes")
    assert (probes["holds"], len(service.heard) > 50) == (True, True)
    question = bundled(reviewer.artefact["judge"])["question"]
    assert (question["model"], question["criteria"][0]["key"]) == ("house-rules-2", "authorised")
    assert "item" not in question
    readme = ZipFile(BytesIO(bundle(reviewer.artefact, reviewer.assurance, ABOUT))).read("README.md").decode()
    assert "1 or 0 where it said no\nconfidence; of levels it is the level" in readme


def test_probes_are_put_to_a_service(project, lead, alice, service):
    queue = make.queue(project, items=runs(project, 2), overlap=1)
    submit(queue, alice, make.passing())
    submit(queue, alice, make.failing())
    version = decider(queue).version
    make_probes(actor=lead, grader=version.grader, queue=queue)
    run_probes(run_id=start_probes(actor=lead, version=version, budget=Decimal(1)).pk)
    assert list(ProbeAnswer.objects.filter(probe__kind="settled").values_list("held", flat=True)) == [True, False]


def test_without_a_service_or_a_price_nothing_is_asked(project, lead, queue, settings):
    setup = decider(queue)
    settings.DECISIONS_URL = ""
    with pytest.raises(Conflict, match="sets DECISIONS_URL"):
        judges.start(setup, queue)
    grader = setup.version.grader
    asked = {"actor": lead, "grader": grader, "rubric": queue.rubric, "guideline": queue.guideline, "model": "m"}
    with pytest.raises(Invalid) as wrong:
        define_judge(**asked, protocol="decisions", price_in=Decimal(3))
    assert sorted(wrong.value.errors) == ["price_each", "price_in"]
    with pytest.raises(Invalid) as wrong:
        define_judge(**asked, price_in=Decimal(3))
    assert list(wrong.value.errors) == ["price_out"]
    with pytest.raises(Invalid, match="Choose one of chat, decisions"):
        define_judge(**asked, protocol="mail")


def test_it_is_defined_on_the_page_and_by_api(project, lead, queue, service):
    asked = {
        "name": "House rules",
        "criterion": "authorised",
        "protocol": "decisions",
        "rubric": str(queue.rubric.uid),
        "guideline": str(queue.guideline.uid),
        "model": "house-rules-2",
    }
    client, new = enter(lead), reverse("goldsets:judge_new", args=[project.slug])
    assert client.post(new, asked).status_code == 422
    assert client.post(new, {**asked, "price_each": "0.002"}).status_code == 302
    page = client.get(reverse("goldsets:judges", args=[project.slug])).content.decode()
    assert "0.002" in page
    assert "runs are sent to localhost" in page
    wrong = by(lead).post("/api/v1/judges/", {"project": project.slug, **asked}, format="json")
    assert is_problem(wrong, 422)["field"] == "price_each"
    made = by(lead).post("/api/v1/judges/", {"project": project.slug, **asked, "price_each": 0.003}, format="json")
    assert (made.json()["protocol"], made.json()["price_each"]) == ("decisions", "0.003000")
    version = JudgeSetup.objects.get(version__number=2).version
    told = {"queue": str(queue.uid), "budget": 1, "scope": "all"}
    assert by(lead).post(f"/api/v1/judges/{version.uid}/runs/", told).status_code == 202
    run = JudgeRun.objects.get()
    run_judge(run.pk)
    run.refresh_from_db()
    assert (run.state, run.spent) == ("finished", Decimal("0.009"))
