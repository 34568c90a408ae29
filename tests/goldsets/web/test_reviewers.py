"""Reviewers by page, API and command: who may do what, what a lead reads, and who signs."""

import io
import json
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from goldsets.actions.compiling import run_compile, start_compile
from goldsets.actions.staging import start_stage
from goldsets.models import GraderScore, Reviewer
from goldsets.queries.reviewers import cost_of_asking
from reviews.models import Event
from tests import factories as make
from tests.factories import judges
from tests.factories.reviewers import ARTEFACT, reviewer
from tests.factories.settled import labelled_queue
from tests.goldsets.reviewing.made import labelled
from tests.reviews.api.talking import by, is_problem
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def engineer(project):
    person = make.person("Erin")
    make.member(project, person, "engineer")
    return person


@pytest.fixture
def few(project):
    """A queue with too few labels for anything."""
    return labelled_queue(project, labelled(60, families=5))


def page(person, name, uid, status=200):
    answer = enter(person).get(reverse(f"goldsets:{name}", args=[uid]))
    assert answer.status_code == status
    return answer.content.decode()


def test_the_ladder_says_of_each_decision_what_there_is_and_what_is_missing(few, lead, engineer):
    text = page(engineer, "ladder", few.uid)
    assert "Only authorised accounts" in text
    assert "37 pass, 23 fail" in text
    assert "Too few labels yet: 3 more passes, 17 more fails." in text
    answer = enter(engineer).post(
        reverse("goldsets:ladder", args=[few.uid]),
        {"criterion": "authorised", "rung": "rules", "rules": "fail: contains skipped\npass: always"},
    )
    made = Reviewer.objects.get()
    assert (answer.status_code, answer.url) == (302, reverse("goldsets:reviewer", args=[made.uid]))
    assert [rule["verdict"] for rule in made.rules] == [0, 1]
    run_compile(reviewer_id=made.pk)
    text = page(lead, "ladder", few.uid)
    assert "Missing: 3 more passes; 17 more fails, and more." in text


def test_the_ladder_says_what_each_rung_decides_and_takes_and_which_is_at_work(few, lead):
    proofs = [
        {"key": "selective", "figures": {"coverage": {"value": 0.61, "low": 0.55, "high": 0.67, "n_units": 240}}},
        {"key": "cost", "figures": {"seconds": 0.0003, "n": 240}},
    ]
    assurance = {"holds": True, "missing": [], "proofs": proofs, "demands": {}}
    signed = reviewer(few, "signed", assurance=assurance)
    start_stage(actor=lead, queue=few, reviewer=signed)
    reviewer(few, "refused", assurance={**assurance, "missing": ["40 more fails"]})
    text = page(lead, "ladder", few.uid)
    assert "6.0 minutes [6.00, 6.00], n 60 tasks" in text, "every run took two raters three minutes each"
    assert "61% [55%, 67%], n 240" in text
    assert "0.3 ms, mean of n 240, timed once" in text
    assert "is right about in at least 90%" in text
    assert "in shadow, number 1" in text, "the one at work stays in sight when a later one is refused"
    places = [text.index(f"<h3>{rung}</h3>") for rung in ("Experts", "LLM judge", "Classifier", "Rules")]
    assert places == sorted(places)


def test_what_a_judge_costs_stands_with_its_interval_and_tasks(few, lead):
    """Twelve runs, each of a task of its own, were asked about for one to four tenths of a cent."""
    version = judges.judge(few, criterion="authorised").version
    for row, tenths in zip(few.queue_items.order_by("pk")[:12], (1, 2, 3, 4) * 3, strict=True):
        GraderScore.objects.create(
            version=version, item=row.item, criterion="authorised", value=1, cost=Decimal(tenths) / 1000
        )
    dollars = cost_of_asking(version).as_dict()
    reviewer(few, "refused", rung="judge", judge=version, origins={"judge": {"dollars": dollars}})
    assert (round(dollars["value"], 4), dollars["n_units"]) == (0.0025, 12)
    assert f"$0.0025 [{dollars['low']:.4f}, {dollars['high']:.4f}], n 12 tasks" in page(lead, "ladder", few.uid)


def test_a_queue_without_labels_says_so_where_their_time_would_stand(project, lead):
    assert "There is no label yet." in page(lead, "ladder", make.queue(project).uid)


def test_a_rule_that_is_none_comes_back_with_the_sentence(few, engineer):
    answer = enter(engineer).post(
        reverse("goldsets:ladder", args=[few.uid]), {"criterion": "authorised", "rung": "rules", "rules": "perhaps"}
    )
    assert answer.status_code == 422
    assert "Line 1 begins with neither" in answer.content.decode()


def test_a_cascade_is_compiled_of_rules_on_its_page(few, engineer):
    asked = {"criterion": "authorised", "rung": "cascade", "rules": ""}
    assert enter(engineer).post(reverse("goldsets:ladder", args=[few.uid]), asked).status_code == 422
    answer = enter(engineer).post(
        reverse("goldsets:ladder", args=[few.uid]), {**asked, "rules": "fail: contains skipped"}
    )
    assert answer.status_code == 302
    row = run_compile(reviewer_id=Reviewer.objects.get().pk)
    assert (row.get_rung_display(), row.state) == ("Rules, then classifier", "refused")


def test_a_refusal_says_first_what_is_missing(few, lead, engineer):
    row = run_compile(reviewer_id=start_compile(actor=engineer, queue=few, criterion="authorised").pk)
    text = page(lead, "reviewer", row.uid)
    assert (
        text.index("Refused: it is not shown that it judges as the experts do.")
        < text.index("17 more fails")
        < text.index("What was proven")
    )
    assert "Sign</button>" not in text
    assert "none: nothing was fitted" in text


def test_a_proof_shows_each_figure_with_interval_n_and_method(project, lead, engineer):
    queue = labelled_queue(project, labelled(240, told=1.0))
    row = run_compile(reviewer_id=start_compile(actor=engineer, queue=queue, criterion="authorised").pk)
    text = page(lead, "reviewer", row.uid)
    for words in ("Decided alone", "Clopper-Pearson", "Krippendorff", "Slices, the worst first", "Length alone"):
        assert words in text
    assert "deferred" not in text


def test_who_compiled_does_not_sign_and_a_lead_does(project, lead, engineer):
    queue = make.queue(project, items=1)
    row = reviewer(queue, "proven", artefact=ARTEFACT, created_by=engineer)
    assert "Sign</button>" not in page(engineer, "reviewer", row.uid)
    assert "Sign</button>" in page(lead, "reviewer", row.uid)
    assert enter(engineer).post(reverse("goldsets:reviewer_sign", args=[row.uid])).status_code == 403
    assert enter(lead).post(reverse("goldsets:reviewer_sign", args=[row.uid])).status_code == 302
    row.refresh_from_db()
    assert (row.state, row.signed_by) == ("signed", lead)
    own = reviewer(queue, "proven", created_by=lead)
    assert "somebody else signs it" in page(lead, "reviewer", own.uid)
    enter(lead).post(reverse("goldsets:reviewer_sign", args=[own.uid]))
    own.refresh_from_db()
    assert own.state == "proven"


def test_raters_and_strangers_see_nothing_of_reviewers(project, few):
    row = reviewer(few)
    zoe = make.expert(project, "Zoe")
    for name, uid in (("ladder", few.uid), ("reviewer", row.uid), ("reviewers", project.slug)):
        page(zoe, name, uid, status=403)
        page(make.person("Mallory"), name, uid, status=404)
    assert is_problem(by(zoe).get(f"/api/v1/reviewers/{row.uid}/"), 403)
    assert is_problem(by(make.person("Mallory")).get(f"/api/v1/reviewers/{row.uid}/"), 404)


def test_the_api_compiles_follows_signs_and_gives_out(few, lead, engineer):
    asked = {"queue": str(few.uid), "criterion": "authorised", "rung": "rules", "rules": ARTEFACT["rules"]}
    answer = by(engineer).post("/api/v1/reviewers/", asked, format="json")
    assert answer.status_code == 202
    at = answer.headers["Location"]
    assert answer.json()["state"] == "waiting"
    assert by(engineer).post(f"{at}cancel/").json()["state"] == "cancelled"
    assert is_problem(by(engineer).post(f"{at}cancel/"), 409)
    made = Reviewer.objects.get()
    refused = run_compile(reviewer_id=start_compile(actor=engineer, queue=few, criterion="authorised").pk)
    told = by(lead).get(f"/api/v1/reviewers/{refused.uid}/").json()
    assert told["missing"] == ["3 more passes", "17 more fails", "3 more families of tasks"]
    assert told["assurance"]["holds"] is False
    assert is_problem(by(lead).post(f"/api/v1/reviewers/{refused.uid}/sign/"), 409)
    assert is_problem(by(lead).get(f"/api/v1/reviewers/{refused.uid}/bundle/"), 409)
    proven = reviewer(few, artefact=ARTEFACT, artefact_sha256=_sha(ARTEFACT))
    assert by(lead).post(f"/api/v1/reviewers/{proven.uid}/sign/").json()["signed_by"] == "Lea"
    bundle = by(engineer).get(f"/api/v1/reviewers/{proven.uid}/bundle/")
    assert (bundle.status_code, bundle.headers["Content-Type"]) == (200, "application/zip")
    listed = by(engineer).get("/api/v1/reviewers/", {"project": few.project.slug}).json()["results"]
    assert [row["number"] for row in listed] == [proven.number, refused.number, made.number]
    assert "missing" not in listed[0]


def _sha(artefact):
    from goldsets.reviewing.hashing import sha256_of

    return sha256_of(artefact)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"criterion": "nonsense"}, "criterion"),
        ({"criterion": "success"}, "at_least"),
        ({"rung": "oracle"}, "rung"),
        ({"rung": "judge"}, "judge"),
        ({"rules": [{"name": "x", "verdict": 1}]}, "rules"),
    ],
)
def test_the_api_names_the_field_at_fault(few, engineer, change, field):
    asked = {"queue": str(few.uid), "criterion": "authorised", **change}
    answer = by(engineer).post("/api/v1/reviewers/", asked, format="json")
    assert 400 <= answer.status_code < 500
    assert field in answer.json()["errors"]


def test_the_command_exits_with_the_sentence_where_it_is_refused(few):
    make.member(few.project, make.person("Erin"), "engineer")
    out = io.StringIO()
    with pytest.raises(CommandError, match=r"Refused\. What is missing: 3 more passes; 17 more fails"):
        call_command("compile_reviewer", few.slug, criterion="authorised", stdout=out)
    assert "NOT  Enough labels: 37 passes and 23 fails in 5 families." in out.getvalue()
    out = io.StringIO()
    with pytest.raises(CommandError):
        call_command("compile_reviewer", few.slug, criterion="authorised", json=True, stdout=out)
    assert json.loads(out.getvalue())["assurance"]["missing"][0] == "3 more passes"
    with pytest.raises(CommandError, match="cannot be compiled"):
        call_command("compile_reviewer", few.slug, criterion="nonsense")
    assert Event.objects.filter(verb="reviewer.refused").count() == 2
