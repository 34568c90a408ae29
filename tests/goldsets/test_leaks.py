"""Leaks: planted copies are found across splits and against benchmarks, refused by name, and let pass by two people."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.urls import reverse

from goldsets.actions.benchmarks import read_benchmark, register_benchmark
from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import run_export, start_export
from goldsets.actions.leaks import sign_leak
from goldsets.models import BenchmarkText, LeakReport, LeakSignature
from goldsets.queries.leaks import MOST_NAMED, _Search, _Text, runs_of
from goldsets.stats.near import text_hash
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Event, QueueItem, Task
from reviews.trajectories.schema import Step
from tests import factories as make
from tests.factories.furnished import judge
from tests.goldsets.test_blindness import COMPARING
from tests.reviews.api.talking import by, is_problem
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db

LATE = (
    "my parcel should have been here last tuesday and the tracking page has not moved since it left the depot in leeds"
)
NEAR = f"{LATE} please"
CLASS_BOOKING = "please move my pottery class from saturday morning to any evening next week and tell me what it costs"
BENCHMARK = "write a function that returns the longest common prefix of a list of strings or an empty string if none"


def asking(text, answer):
    return (
        Step(role="user", text=text),
        Step(role="agent", text=f"{answer} I have looked it up for you, and this is what I can do about it today."),
    )


@pytest.fixture
def admin(project):
    return make.second_of(project)


def labelled(project, *texts):
    """A settled run of a family of its own for each of the texts."""
    items = [
        make.item(project, family=f"family {n}", steps=asking(text, f"Answer {n} is a word of its own, number {n}."))
        for n, text in enumerate(texts)
    ]
    queue = make.queue(project, items=items, overlap=1)
    alice = make.expert(project, f"Alice {len(texts)}")
    for _ in items:
        judge(queue, alice, make.failing(gates={"authorised": "pass", "consent": "fail"}, evidence=[], step=2))
    return items


def hold_out(project, text, family="kept for tests"):
    item = make.item(project, family=family, steps=asking(text, "Something else entirely was said here, at length."))
    Task.objects.filter(pk=item.subject.pk).update(split="held_out")
    return item


@pytest.fixture
def dataset(project, lead):
    return define_dataset(actor=lead, project=project, name="labels", formats=["jsonl"])


def export(dataset, actor):
    return run_export(version_id=start_export(actor=actor, dataset=dataset).pk)


def test_a_copy_of_what_is_held_out_is_refused_and_both_texts_are_named(project, lead, dataset):
    ours, _other = labelled(project, LATE, CLASS_BOOKING)
    theirs = hold_out(project, NEAR)
    version = export(dataset, lead)
    assert version.state == "failed"
    assert "request of “Refund for a late order” (open)" in version.error
    report = LeakReport.objects.get(version=version)
    assert report.leaks == 1
    (pair,) = report.findings["pairs"]
    assert pair["kind"] == "split"
    # 22 words make 18 pieces of five; one more word makes 19, of which 18 are the same.
    assert pair["similarity"] == pytest.approx(18 / 19, abs=1e-4)
    assert (pair["ours"]["item"], pair["theirs"]["item"]) == (str(ours.uid), str(theirs.uid))
    assert (pair["ours"]["family"], pair["theirs"]["family"]) == ("family 0", "kept for tests")
    assert pair["theirs"]["split"] == "held_out"


@pytest.mark.parametrize(
    ("ours", "theirs", "leaks"),
    [
        ("Close ticket 4417", "close ticket 4417!", 1),
        ("Close ticket 4417", "Close ticket 4418", 0),
        ("Move my class to Monday, please", "Move my class to Monday please", 1),
        ("Move my class to Monday, please", "Move my class to Monday, please, now", 0),
        ("Hi", "Hi", 0),
    ],
)
def test_of_a_short_request_the_very_same_words_are_found(project, lead, dataset, ours, theirs, leaks):
    labelled(project, ours)
    hold_out(project, theirs)
    assert export(dataset, lead).state == ("failed" if leaks else "finished")
    assert LeakReport.objects.get().leaks == leaks


def test_short_runs_are_found_where_they_are_the_same(project):
    search = _Search(project, set())
    search.short = {text_hash("Ping. Pong."): (9, "run")}
    search.hashes = {text_hash("2 + 2 = 4"): 7}
    for run, text in enumerate(["Ping. Pong.", "Ping. Pang.", "2 + 2 = 4", "PING, pong"]):
        search.look_at([_Text(run, "run", text)])
    assert search.findings.counts == {"split": 1, "benchmark": 1, "within": 1}


def test_what_only_sounds_alike_may_leave(project, lead, dataset):
    labelled(project, LATE)
    hold_out(project, " ".join(reversed(LATE.split())))
    version = export(dataset, lead)
    assert version.state == "finished", version.error
    said = version.manifest["leak_check"]["near_duplicates"]
    assert (said["runs"], said["against_runs"], said["near"]) == (1, 1, {"split": 0, "benchmark": 0, "within": 0})
    assert said["overridden"] == []


def test_near_runs_within_a_version_are_told_and_hinder_nothing(project, lead, dataset):
    queue = make.queue(project, items=3, overlap=1)
    alice = make.expert(project, "Alice")
    for _ in range(3):
        judge(queue, alice, make.passing())
    version = export(dataset, lead)
    assert version.manifest["leak_check"]["near_duplicates"]["near"]["within"] == 3


def test_runs_of_the_very_same_words_are_compared_as_one_and_each_pair_of_them_is_told(project):
    search = _Search(project, set())
    for run in range(300):
        search.look_at([_Text(run, "run", LATE.upper() if run % 2 else LATE)])
    search.look_at([_Text(300, "run", NEAR), _Text(301, "run", CLASS_BOOKING)])
    search.look_at([_Text(302, "run", NEAR)])
    assert len(search.within) == 3  # late, near and the class
    # Every two of the 300, either of the near ones with each of them, and both of these with each other.
    assert search.findings.counts == {"split": 0, "benchmark": 0, "within": 300 * 299 // 2 + 2 * 300 + 1}
    assert [(pair.ours.run, pair.theirs) for pair in search.named[:3]] == [
        (1, (0, "run")),
        (2, (0, "run")),
        (2, (1, "run")),
    ]
    assert len(search.named) == MOST_NAMED


def test_the_runs_of_a_version_are_those_alone_and_beside_others_and_no_list_is_gone_through_for_each(project):
    alone, one, other, _elsewhere = (make.item(project) for _ in range(4))
    make.queue(project, items=[alone])
    beside = make.comparison(project, [one, other])
    make.queue(project, items=[beside], criteria=COMPARING, rubric={"item_kind": "comparison"})
    found = runs_of(QueueItem.objects.filter(queue__project=project))
    assert set(found) == {alone.run, one.run, other.run}
    assert "SubPlan" not in found.explain()


@pytest.mark.parametrize("texts", [[BENCHMARK], [{"sha256": text_hash(BENCHMARK), "id": "HE-14"}]])
def test_a_text_of_a_benchmark_is_refused_also_where_only_its_hash_is_known(project, lead, dataset, texts):
    labelled(project, CLASS_BOOKING, BENCHMARK.upper())
    register_benchmark(actor=lead, project=project, name="HumanEval", source="github, v1.2", licence="MIT", texts=texts)
    version = export(dataset, lead)
    assert version.state == "failed"
    assert "HumanEval" in version.error
    report = LeakReport.objects.get(version=version)
    assert report.findings["counts"] == {"split": 0, "benchmark": 1, "within": 0}
    assert report.findings["pairs"][0]["similarity"] == 1


def test_it_takes_two_people_to_let_it_pass_and_the_manifest_says_so(project, lead, admin, dataset):
    labelled(project, LATE)
    hold_out(project, NEAR)
    refused = export(dataset, lead)
    report = LeakReport.objects.select_related("version__dataset__project").get(version=refused)
    erin = make.person("Erin")
    make.member(project, erin, "engineer")
    with pytest.raises(Forbidden, match="leads and admins"):
        sign_leak(actor=erin, report=report, reason="It is fine.")
    with pytest.raises(Invalid, match="Say why"):
        sign_leak(actor=lead, report=report, reason=" ")
    sign_leak(actor=lead, report=report, reason="A form letter that everybody sends.")
    with pytest.raises(Conflict, match="somebody else"):
        sign_leak(actor=lead, report=report, reason="Once more.")
    assert export(dataset, lead).state == "failed"
    sign_leak(actor=admin, report=report, reason="Agreed.")
    passed = export(dataset, lead)
    assert passed.state == "finished", passed.error
    (override,) = passed.manifest["leak_check"]["near_duplicates"]["overridden"]
    assert override["refused_version"] == refused.number
    assert [signed["reason"] for signed in override["signed"]] == ["A form letter that everybody sends.", "Agreed."]
    assert len({signed["by"] for signed in override["signed"]}) == 2
    assert LATE not in json.dumps(passed.manifest)
    assert Event.objects.filter(project=project, verb="leak.signed").count() == 2
    # What was signed for is that pair, not the next.
    hold_out(project, CLASS_BOOKING, family="another")
    labelled(project, CLASS_BOOKING)
    assert export(dataset, lead).state == "failed"


def test_what_was_found_and_signed_is_never_changed(project, lead, dataset):
    labelled(project, LATE)
    hold_out(project, NEAR)
    report = LeakReport.objects.select_related("version__dataset__project").get(version=export(dataset, lead))
    sign_leak(actor=lead, report=report, reason="A form letter.")
    for rows, change in (
        (LeakReport.objects.filter(pk=report.pk), {"leaks": 0}),
        (LeakSignature.objects.filter(report=report), {"reason": "Another."}),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.update(**change)
        with pytest.raises(DatabaseError), transaction.atomic():
            rows.delete()


# --- Benchmark lists --------------------------------------------------------------------------------------------------
def test_a_list_keeps_each_text_once_and_its_name_for_good(project, lead):
    given = {"actor": lead, "project": project, "source": "s", "licence": "MIT"}
    rows = read_benchmark(b'{"task_id": "A/1", "prompt": "One two three"}\n{"text": "one, two THREE!"}\n"Four five"\n')
    made = register_benchmark(name="B", texts=rows, **given)
    assert made.text_count == 2
    assert BenchmarkText.objects.get(benchmark=made, place="A/1").text == "One two three"
    assert read_benchmark(b"one line\n\nanother line\n") == ["one line", "another line"]
    with pytest.raises(Conflict, match="already"):
        register_benchmark(name="B", texts=["x y z"], **given)
    with pytest.raises(DatabaseError), transaction.atomic():
        BenchmarkText.objects.filter(benchmark=made).delete()


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([], "1 to"),
        (["fine", 7], "Row 2: There is no text"),
        ([{"sha256": "abc"}], "64 hexadecimal"),
        (["..."], "Row 1"),
        (["a\x00b"], "cannot be stored"),
    ],
)
def test_a_row_that_is_no_text_is_refused_with_its_number(project, lead, texts, said):
    with pytest.raises(Invalid, match=said):
        register_benchmark(actor=lead, project=project, name="B", source="s", licence="MIT", texts=texts)


# --- Doors ------------------------------------------------------------------------------------------------------------
def test_the_pages_name_the_pairs_and_take_both_signatures(project, lead, admin, dataset, tmp_path):
    labelled(project, LATE)
    hold_out(project, NEAR)
    version = export(dataset, lead)
    page = reverse("goldsets:leaks", args=[dataset.uid, version.number])
    seen = enter(lead).get(page).content.decode()
    assert "95%" in seen
    assert LATE in seen
    assert Event.objects.filter(verb="leaks.read", actor=lead).count() == 1
    assert enter(lead).post(page, {"reason": ""}).status_code == 422
    assert enter(lead).post(page, {"reason": "A form letter."}).status_code == 302
    assert "You have signed" in enter(lead).get(page).content.decode()
    enter(admin).post(page, {"reason": "Agreed."})
    assert "The next version lets these pairs pass" in enter(lead).get(page).content.decode()
    lists = reverse("goldsets:benchmarks", args=[project.slug])
    file = tmp_path / "b.txt"
    file.write_text(BENCHMARK)
    with file.open("rb") as opened:
        given = {"name": "B", "source": "s", "licence": "MIT", "file": opened}
        assert enter(lead).post(lists, given).status_code == 302
    assert "MIT" in enter(lead).get(lists).content.decode()


def test_api_and_command_do_the_same(project, lead, admin, dataset, tmp_path, capsys):
    labelled(project, LATE)
    hold_out(project, NEAR)
    version = export(dataset, lead)
    address = f"/api/v1/datasets/{dataset.uid}/versions/{version.number}/leaks/"
    said = by(lead).get(address).json()
    assert (said["leaks"], said["pairs"][0]["kind"]) == (1, "split")
    assert by(lead).post(f"{address}sign/", {"reason": "A letter."}, format="json").status_code == 200
    is_problem(by(lead).post(f"{address}sign/", {"reason": "A letter."}, format="json"), 409)
    for who, status in (("Xena", 403), ("Sam", 404)):
        person = make.expert(project, who) if status == 403 else make.person(who)
        is_problem(by(person).post(f"{address}sign/", {"reason": "A letter."}, format="json"), status)
    signed = by(admin).post(f"{address}sign/", {"reason": "Agreed."}, format="json").json()
    assert len(signed["signatures"]) == 2
    lists = f"/api/v1/projects/{project.slug}/benchmarks/"
    given = {"name": "B", "source": "s", "licence": "MIT", "texts": [BENCHMARK]}
    assert by(lead).post(lists, given, format="json").status_code == 201
    is_problem(by(lead).post(lists, {**given, "name": "C", "texts": [7]}, format="json"), 422)
    file = tmp_path / "c.jsonl"
    file.write_text(json.dumps({"text": BENCHMARK}))
    named = ["--name=C", "--source=s", "--licence=MIT"]
    call_command("register_benchmark", project.slug, str(file), *named)
    assert "“C”: 1 texts." in capsys.readouterr().out
    assert {row["name"] for row in by(lead).get(lists).json()["results"]} == {"B", "C"}
    with pytest.raises(CommandError, match="already"):
        call_command("register_benchmark", project.slug, str(file), *named)
