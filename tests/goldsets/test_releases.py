"""Releases: terms first, a checklist from the data, two signatures, and a withdrawal that names who has it."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import read_file, run_export, start_export
from goldsets.actions.gold import set_gold_rate
from goldsets.actions.releasing import hash_of, sign_release, state_licence, withdraw_version, write_terms
from goldsets.actions.splitting import seal_splits
from goldsets.models import Release, ReleaseTerms, Withdrawal
from goldsets.queries import releases
from goldsets.queries.releases import checklist, current_checks, is_counted, readers_of, release_page
from goldsets.stats.checklist import complete
from goldsets.stats.splits import deal
from goldsets.tasks import count_release_checks
from reviews.actions.queueing import add_items
from reviews.actions.webhooks import create_webhook
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Delivery, Event, Item, Membership, QueueItem
from reviews.queries.webhooks import described
from tests import factories as make
from tests.factories.furnished import judge
from tests.factories.golden import on_gold, queue_with_gold
from tests.reviews.api.talking import by, is_problem
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

# What the few labels of a test can reach.
LOW = {
    "min_rows": 3,
    "min_evidence": 0.3,
    "min_alpha": -1,
    "min_gold_accuracy": 0,
    "max_false_positive": 1,
    "min_held_out_families": 0,
    "min_redacted": 0,
}


@pytest.fixture
def admin(project):
    return make.second_of(project)


@pytest.fixture
def dataset(project, lead):
    return define_dataset(actor=lead, project=project, name="labels", formats=["jsonl"])


@pytest.fixture
def judged(project):
    """Twelve items that two raters agree on, a third of them failing at a step that is cited."""
    queue = make.queue(project, items=12, overlap=2)
    for rater in (make.expert(project, "Alice"), make.expert(project, "Bob")):
        for number in range(12):
            judge(queue, rater, make.failing() if number % 3 == 0 else make.passing(success=number % 4))
    return queue


def export(dataset, actor):
    version = run_export(version_id=start_export(actor=actor, dataset=dataset).pk)
    assert version.state == "finished", version.error
    return version


def page_of(version):
    return release_page(version, current_checks(version) if is_counted(version) else None)


def checks_of(version, **terms):
    return {check.key: check for check in checklist(version, complete({**LOW, **terms}))}


def test_the_checklist_is_computed_from_what_the_version_was_made_of(project, lead, dataset, judged):
    Item.objects.filter(pk__in=list(Item.objects.order_by("pk").values_list("pk", flat=True)[:3])).update(
        provenance="synthetic"
    )
    version = export(dataset, lead)
    checks = checks_of(version)
    assert checks["rows"].said == "12 labels"
    assert checks["gates"].said == "8 of 12 pass every gate"
    assert checks["evidence"].said == "4 of 12 labelled items cite the run"
    assert checks["evidence"].passed
    assert not checks_of(version, min_evidence=0.5)["evidence"].passed
    assert checks["agreement"].estimate.value == 1
    assert checks["agreement"].estimate.low is not None
    assert checks["gold"].passed is False
    assert checks["held_out"].said == "0 families are kept for tests"
    assert checks["synthetic"].said == "3 of 12 labels"
    assert checks["spot_checks"].said == "3 of 3 synthetic labels judged by people"
    assert not checks_of(version, max_synthetic=0.2)["synthetic"].passed
    assert checks["licences"].said == "No licence is stated for runs.jsonl."
    assert checks["redactions"].said == "0 of 12 runs redacted"
    assert checks["leaks"].passed
    assert checks["simulated"].passed
    state_licence(actor=lead, project=project, source="runs.jsonl", licence="CC-BY-4.0")
    assert checks_of(version)["licences"].passed
    Membership.objects.filter(project=project, user__name="Bob").update(simulated=True)
    assert checks_of(version)["simulated"].said == "12 judgments are by simulated raters"


def test_gold_says_how_often_raters_are_right_and_what_they_let_through(project, lead, dataset):
    queue = queue_with_gold(project, gold=3, plain=6)
    alice = make.expert(project, "Alice")
    on_gold(queue, alice, make.passing(), make.failing(), make.passing())
    version = export(dataset, lead)
    checks = checks_of(version)
    assert checks["gold"].said.startswith("0.67 ")
    assert checks["gold"].estimate.n_units == 3
    # All gold passes its gates here, so there was none to let through: that is not known, and does not pass.
    assert checks["false_positives"].passed is False
    assert checks["false_positives"].estimate.n_units == 0


@pytest.fixture
def ready(project, lead, dataset, judged):
    """What a version needs that holds: raters tested on gold that fails a gate, and a licence stated."""
    failing = QueueItem.objects.filter(queue=judged, label__failure_step=3).order_by("pk")[:2]
    for row in failing:
        make.gold(row)
    add_items(actor=lead, queue=judged, items=[make.item(project) for _ in range(2)])
    set_gold_rate(actor=lead, queue=judged, rate="0.1")
    on_gold(judged, make.expert(project, "Carol"), make.failing(), make.failing())
    state_licence(actor=lead, project=project, source="runs.jsonl", licence="CC-BY-4.0")
    return judged


def test_two_people_release_what_holds_to_terms_that_came_first(project, lead, admin, dataset, ready):
    terms = write_terms(actor=lead, dataset=dataset, terms=LOW)
    version = export(dataset, lead)
    page = page_of(version)
    assert [row["title"] for row in page.checks if not row["passed"]] == []
    sign_release(actor=lead, version=version)
    with pytest.raises(Conflict, match="somebody else"):
        sign_release(actor=lead, version=version)
    assert page_of(version).state == "signed once"
    release = sign_release(actor=admin, version=version)
    assert page_of(version).state == "released"
    assert release.terms == terms
    assert release.checklist_sha256 == hash_of(release.checklist, terms.terms)
    events = Event.objects.filter(project=project, verb="release.signed").order_by("pk")
    assert [(event.actor, event.data["signature"]) for event in events] == [(lead, 1), (admin, 2)]
    third = make.person("Third")
    make.member(project, third, "lead")
    with pytest.raises(Conflict, match="two people have signed"):
        sign_release(actor=third, version=version)


def test_what_is_signed_stays_as_it_was_signed(project, lead, admin, dataset, ready):
    write_terms(actor=lead, dataset=dataset, terms=LOW)
    version = export(dataset, lead)
    sign_release(actor=lead, version=version)
    Membership.objects.filter(project=project, user__name="Bob").update(simulated=True)
    assert all(row["passed"] for row in page_of(version).checks)
    with pytest.raises(DatabaseError), transaction.atomic():
        Release.objects.filter(version=version).update(checklist=[])
    with pytest.raises(DatabaseError), transaction.atomic():
        ReleaseTerms.objects.filter(dataset=dataset).update(terms={})


def test_terms_written_after_a_version_do_not_hold_for_it(project, lead, dataset, ready):
    version = export(dataset, lead)
    terms = write_terms(actor=lead, dataset=dataset, terms=LOW)
    with pytest.raises(Conflict, match="No terms were written before"):
        sign_release(actor=lead, version=version)
    with pytest.raises(DatabaseError, match="before its version"), transaction.atomic():
        Release.objects.create(version=version, terms=terms, checklist=[], checklist_sha256="")


def test_what_does_not_hold_is_not_signed_and_says_why(project, lead, dataset, ready):
    write_terms(actor=lead, dataset=dataset, terms={**LOW, "min_rows": 1000, "min_held_out_families": 1})
    version = export(dataset, lead)
    with pytest.raises(Conflict, match="Labels, Held-out families"):
        sign_release(actor=lead, version=version)
    assert not Release.objects.exists()
    with pytest.raises(Invalid) as refused:
        write_terms(actor=lead, dataset=dataset, terms={"min_rows": -1, "min_luck": 1})
    assert refused.value.errors.keys() == {"min_rows", "min_luck"}


def test_held_out_families_are_counted_from_the_plan(project, lead, dataset, ready):
    make.item(project, family="kept for tests", steps=make.saying("Nobody else ever writes anything like this to us."))
    seed = next(seed for seed in map(str, range(99)) if _falls(seed))
    seal_splits(actor=lead, project=project, train=50, calibration=0, held_out=50, seed=seed)
    assert checks_of(export(dataset, lead), min_held_out_families=1)["held_out"].passed


def _falls(seed):
    shares = {"train": 50, "calibration": 0, "held_out": 50}
    dealt = [deal(family, seed=seed, shares=shares) for family in ("refunds", "kept for tests")]
    return dealt == ["train", "held_out"]


def test_a_pipeline_hears_when_a_version_is_released_and_when_it_is_withdrawn(project, lead, admin, dataset, ready):
    write_terms(actor=lead, dataset=dataset, terms=LOW)
    create_webhook(
        actor=lead,
        project=project,
        url="https://desk.example/hook",
        events=["version.released", "version.withdrawn"],
    )
    version = export(dataset, lead)
    sign_release(actor=lead, version=version)
    assert not Delivery.objects.exists(), "one signature is no release"
    sign_release(actor=admin, version=version)
    withdraw_version(actor=admin, version=version, reason="A rater was paid per item.")
    released, withdrawn = (described(delivery) for delivery in Delivery.objects.order_by("pk"))
    assert (released["event"], withdrawn["event"]) == ("version.released", "version.withdrawn")
    told = {"dataset": dataset.name, "version": version.number}
    assert told.items() <= released["data"].items()
    assert withdrawn["data"] == told | {"reason": "A rater was paid per item."}


def test_only_leads_and_admins_sign(project, lead, dataset, ready):
    version = export(dataset, lead)
    erin = make.person("Erin")
    make.member(project, erin, "engineer")
    for act in (
        lambda: sign_release(actor=erin, version=version),
        lambda: withdraw_version(actor=erin, version=version, reason="Wrong."),
        lambda: write_terms(actor=erin, dataset=dataset, terms=LOW),
    ):
        with pytest.raises(Forbidden, match="leads and admins"):
            act()


def test_a_withdrawn_version_is_given_out_no_more_and_names_who_has_it(project, lead, admin, dataset, judged):
    version = export(dataset, lead)
    erin = make.person("Erin")
    make.member(project, erin, "engineer")
    for _ in range(2):
        read_file(actor=erin, version=version, name="manifest.json")
    read_file(actor=lead, version=version, name="manifest.json")
    with pytest.raises(Invalid, match="Say what is wrong"):
        withdraw_version(actor=lead, version=version, reason="")
    withdraw_version(actor=admin, version=version, reason="A rater was paid per item.")
    with pytest.raises(Conflict, match="withdrawn"):
        read_file(actor=erin, version=version, name="manifest.json")
    with pytest.raises(Conflict, match="withdrawn"):
        sign_release(actor=lead, version=version)
    with pytest.raises(Conflict, match="withdrawn"):
        withdraw_version(actor=lead, version=version, reason="Again.")
    page = page_of(version)
    assert page.state == "withdrawn"
    assert {(reader.person, reader.times) for reader in page.readers} == {("Erin", 2), ("Lea", 1)}
    assert page.read_words.startswith("read 3 times, last by Lea on ")
    event = Event.objects.get(verb="dataset.withdrawn")
    assert sorted(event.data["readers"]) == ["Erin", "Lea"]
    with pytest.raises(DatabaseError), transaction.atomic():
        Withdrawal.objects.all().delete()


# --- Doors ------------------------------------------------------------------------------------------------------------
def test_the_page_shows_the_checklist_signs_and_takes_back(project, lead, admin, dataset, ready):
    terms = reverse("goldsets:release_terms", args=[dataset.uid])
    assert enter(lead).post(terms, {"min_rows": "-4"}).status_code == 422
    given = {**complete({}), **LOW}
    assert enter(lead).post(terms, given).status_code == 302
    version = export(dataset, lead)
    place = reverse("goldsets:release", args=[dataset.uid, version.number])
    page = enter(lead).get(place).content.decode()
    assert "Every check holds." in page
    assert "never read" in page
    enter(lead).post(place, {"sign": "1"})
    assert "You have signed" in enter(lead).get(place).content.decode()
    enter(admin).post(place, {"sign": "1"})
    assert "Two people have signed." in enter(admin).get(place).content.decode()
    enter(admin).post(place, {"withdraw": "1", "reason": "Wrong runs."})
    assert "Wrong runs." in enter(lead).get(place).content.decode()


def test_a_checklist_over_many_judgments_is_gone_through_by_the_worker(project, lead, dataset, ready, monkeypatch):
    monkeypatch.setattr(releases, "FEW_JUDGMENTS", 3)
    write_terms(actor=lead, dataset=dataset, terms=LOW)
    version = export(dataset, lead)
    place = reverse("goldsets:release", args=[dataset.uid, version.number])
    assert "It appears here by itself" in enter(lead).get(place).content.decode()
    count_release_checks(version.pk)
    page = enter(lead).get(place).content.decode()
    assert "Every check holds." in page
    assert "being gone through anew" not in page
    state_licence(actor=lead, project=project, source="runs.jsonl", licence="MIT")
    assert "being gone through anew" in enter(lead).get(place).content.decode()


def test_the_api_goes_through_many_judgments_no_more_than_the_page_does(project, lead, dataset, judged, monkeypatch):
    """What is kept answers, licences stated since included; what was never gone through is asked for again."""
    monkeypatch.setattr(releases, "FEW_JUDGMENTS", 3)
    write_terms(actor=lead, dataset=dataset, terms=LOW)
    version = export(dataset, lead)
    place = f"/api/v1/datasets/{dataset.uid}/versions/{version.number}/release/"
    first = by(lead).get(place)
    assert (first.status_code, first.headers["Retry-After"]) == (202, "2")
    count_release_checks(version.pk)
    said = by(lead).get(place).json()
    assert (said["holds"], said["stale"], bool(said["counted_at"])) == (False, False, True)
    page, sources = reverse("goldsets:release", args=[dataset.uid, version.number]), "Sources without a licence"
    with CaptureQueriesContext(connection) as caught:
        assert sources in enter(lead).get(page).content.decode()
        by(lead).get(place)
    assert [query for query in caught if '"source_name"' in str(query["sql"])] == [], "no run is gone through"
    state_licence(actor=lead, project=project, source="runs.jsonl", licence="MIT")
    assert by(lead).get(place).json()["stale"] is True
    assert sources not in enter(lead).get(page).content.decode()
    taken = by(lead).post(place.replace("release", "withdraw"), {"reason": "Wrong."}, format="json").json()
    assert (taken["state"], taken["checks"]) == ("withdrawn", said["checks"])


def test_a_check_that_fails_leads_to_where_it_can_be_mended_by_whoever_may(project, lead, dataset, judged):
    version = export(dataset, lead)
    erin = make.person("Erin")
    make.member(project, erin, "engineer")
    place = reverse("goldsets:release", args=[dataset.uid, version.number])
    led, made = (enter(person).get(place) for person in (lead, erin))

    def mended(answer):
        return {check["key"]: found[1] for check, found in answer.context["checks"] if found}

    slug = project.slug
    assert mended(led)["held_out"] == reverse("goldsets:splits", args=[slug])
    assert mended(led)["gold"] == reverse("reviews:project", args=[slug]), "the data set takes from every queue"
    assert mended(led)["redactions"] == reverse("reviews:redaction", args=[slug])
    assert "leaks" not in mended(led), "it holds"
    assert set(mended(led)) - set(mended(made)) == {"rows", "gold", "false_positives", "redactions"}
    for person, answer in ((lead, led), (erin, made)):
        assert {enter(person).get(address).status_code for address in mended(answer).values()} == {200}
    assert 'href="#licence-title"' in made.content.decode()
    terms = reverse("goldsets:release_terms", args=[dataset.uid])
    assert f'<a href="{terms}">Write terms</a>' in led.content.decode()
    assert f'<a href="{terms}">Write terms</a>' not in made.content.decode()


def test_api_and_command_say_and_do_the_same(project, lead, admin, dataset, ready, capsys):
    place = f"/api/v1/datasets/{dataset.uid}"
    is_problem(by(lead).post(f"{place}/terms/", {"terms": {"min_rows": -1}}, format="json"), 422)
    assert by(lead).post(f"{place}/terms/", {"terms": LOW}, format="json").json()["number"] == 1
    version = export(dataset, lead)
    said = by(lead).get(f"{place}/versions/{version.number}/release/").json()
    assert (said["state"], said["holds"]) == ("not released", True)
    call_command("release", project.slug, dataset.name, str(version.number), "--json")
    assert json.loads(capsys.readouterr().out)["checks"] == said["checks"]
    assert by(lead).post(f"{place}/versions/{version.number}/release/").json()["state"] == "signed once"
    is_problem(by(lead).post(f"{place}/versions/{version.number}/release/"), 409)
    is_problem(by(make.expert(project, "Xena")).post(f"{place}/versions/{version.number}/release/"), 403)
    is_problem(by(make.person("Sam")).post(f"{place}/versions/{version.number}/release/"), 404)
    call_command("release", project.slug, dataset.name, str(version.number), "--sign", f"--as={admin.email}")
    assert "released, signed by Lea, Founder" in capsys.readouterr().out
    taken = by(lead).post(f"{place}/versions/{version.number}/withdraw/", {"reason": "Wrong."}, format="json").json()
    assert taken["withdrawal"]["reason"] == "Wrong."
    with pytest.raises(CommandError, match="no version 9"):
        call_command("release", project.slug, dataset.name, "9")
    licences = f"/api/v1/projects/{project.slug}/licences/"
    assert by(lead).get(licences).json() == {"licences": {"runs.jsonl": "CC-BY-4.0"}}
    is_problem(by(lead).post(licences, {"source": "", "licence": "MIT"}, format="json"), 422)


def test_who_read_is_counted(project, lead, dataset, judged):
    version = export(dataset, lead)
    assert readers_of(version) == []
