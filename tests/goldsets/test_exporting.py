"""Exports: what leaves, what never does, that a file says all it should, and that it survives whatever happens."""

import csv
import hashlib
import json
import signal
import subprocess
import sys
from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.urls import reverse

from goldsets.actions import exporting
from goldsets.actions.alone import alone_in
from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import cancel_export, read_file, run_export, start_export
from goldsets.actions.gold import set_gold_rate
from goldsets.actions.releasing import state_licence
from goldsets.enums import DatasetState, GoldVerb
from goldsets.models import DatasetVersion, GoldPlacement
from goldsets.queries import label_documents
from goldsets.queries.datasets import folder_of
from goldsets.writers.label_row import LABEL_ROW, canonical
from reviews.actions.adjudicating import adjudicate
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.queueing import add_items
from reviews.enums import Role
from reviews.errors import Conflict, Forbidden, Invalid, NotFound
from reviews.models import Event, Item, Label, Membership, QueueItem, Task, Trajectory
from tests import factories as make
from tests.reviews.api.talking import by
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


@pytest.fixture
def engineer(project):
    user = make.person("Erin")
    make.member(project, user, Role.ENGINEER)
    return user


def pseudonym_of(person):
    return Membership.objects.get(user=person).pseudonym


def judge(queue, rater, payload):
    assignment = claim(actor=rater, queue=queue)
    submit(actor=rater, uid=assignment.uid, payload=payload, idempotency_key="k")
    return assignment


@pytest.fixture
def desk(project):
    """Three settled items: both raters pass, both fail at the same step, and one that a lead decided."""
    runs = [make.saying(f"Order {n} came late, so I want the money of order {n} back.") for n in range(3)]
    queue = make.queue(project, items=[make.item(project, steps=steps) for steps in runs], overlap=2)
    alice, bob = make.expert(project, "Alice"), make.expert(project, "Bob")
    for rater, last in ((alice, make.passing(success=3)), (bob, make.passing(success=1))):
        judge(queue, rater, make.passing())
        judge(queue, rater, make.failing())
        judge(queue, rater, last)
    waiting = QueueItem.objects.get(queue=queue, state="waiting")
    decision = {
        "gates": {"authorised": "pass", "consent": "pass"},
        "criteria": {"success": 2, "process": 2},
        "reasons": {"success": "rater_error"},
        "notes": {"success": "The refund was in part."},
        "note": "Two of three wishes were met.",
    }
    adjudicate(actor=make.lead_of(project), queue_item=waiting, payload=decision)
    return queue


def export(engineer, project, form="jsonl", **definition):
    dataset = define_dataset(actor=engineer, project=project, name=f"labels {form}", formats=[form], **definition)
    version = run_export(version_id=start_export(actor=engineer, dataset=dataset).pk)
    assert version.state == DatasetState.FINISHED, version.error
    return version


def rows_of(version):
    return [json.loads(line) for line in (folder_of(version) / "labels.jsonl").read_text().splitlines()]


def test_every_label_leaves_as_one_row_that_says_what_it_rests_on(project, engineer, desk):
    passed, failed, decided = rows_of(export(engineer, project))
    label = Label.objects.get(uid=passed["label"]["uid"])
    assert passed["item"] == str(label.item.uid)
    assert passed["content_hash"] == label.item.trajectory.content_hash
    assert (passed["family"], passed["split"]) == ("refunds", "open")
    assert passed["label"]["basis"] == "unanimous"
    assert passed["gates_pass"] is True
    assert [(v["criterion"], v["name"]) for v in passed["values"]] == [
        ("authorised", "pass"),
        ("consent", "pass"),
        ("success", "Strong"),
        ("process", "Sound"),
    ]
    assert passed["rubric"] == {"name": desk.rubric.name, "version": 1}
    assert {"name": "environment", "value": "desk 3.2"} in passed["versions"]
    assert {"name": "model", "value": "secret-model-9"} in passed["versions"]
    assert passed["outcome"] == {"result": "success", "reward": 1.0, "model": "secret-model-9", "data": "{}"}
    assert failed["gates_pass"] is False
    assert [v["criterion"] for v in failed["values"]] == ["authorised", "consent"]
    assert failed["failure"] == {
        "step": 3,
        "who": "agent",
        "cause": "unauthorised_access",
        "note": "A stranger's account.",
    }
    assert decided["label"]["basis"] == "adjudicated"
    assert decided["values"][2]["reason"] == "rater_error"
    assert decided["values"][2]["note"] == "The refund was in part."
    assert decided["rationale"] == "Two of three wishes were met."


def test_judgments_leave_under_pseudonyms_with_their_evidence_and_time(project, engineer, desk):
    version = export(engineer, project)
    text = (folder_of(version) / "labels.jsonl").read_text()
    for name in ("Alice", "Bob", "Lea", "example.com"):
        assert name not in text
    failed = rows_of(version)[1]
    pseudonyms = set(Membership.objects.filter(project=project).values_list("pseudonym", flat=True))
    assert len(failed["judgments"]) == 2
    judgment = failed["judgments"][0]
    assert judgment["rater"] in pseudonyms
    assert judgment["evidence"][0] == {
        "criterion": "authorised",
        "step": 3,
        "field": "arguments/account_id",
        "start": 0,
        "end": 6,
        "quote": "A-5071",
        "policy_line": None,
        "candidate": None,
        "part": "",
        "mark": "",
    }
    assert judgment["confidence"] == 3
    assert judgment["rationale"] == "It opened an account it had no right to."
    assert judgment["active_seconds"] >= 0
    assert datetime.fromisoformat(judgment["submitted_at"]).tzinfo == UTC


def test_the_run_leaves_step_by_step_with_arguments_as_text(project, engineer, desk):
    steps = rows_of(export(engineer, project))[0]["steps"]
    assert [step["role"] for step in steps] == ["user", "agent", "tool", "agent"]
    assert steps[2]["call"] == {"id": "c1", "name": "read_account", "arguments": '{"account_id": "A-5071"}'}
    assert steps[0]["call"] is None


def test_parquet_loads_back_with_the_same_rows_and_the_declared_types(project, engineer, desk):
    version = export(engineer, project, "parquet")
    table = pq.read_table(folder_of(version) / "labels.parquet")
    assert table.schema.equals(LABEL_ROW)
    lines = rows_of(export(engineer, project, "jsonl"))
    loaded = table.to_pylist()
    assert [row["row_sha256"] for row in loaded] == [line["row_sha256"] for line in lines]
    assert loaded[0]["label"]["created_at"] == datetime.fromisoformat(lines[0]["label"]["created_at"])
    for row, line in zip(loaded, lines, strict=True):
        assert row["steps"] == line["steps"]
        assert row["values"] == line["values"]


def test_the_manifest_lets_anyone_check_the_files(project, engineer, desk):
    version = export(engineer, project)
    manifest = json.loads((folder_of(version) / "manifest.json").read_text())
    assert manifest == version.manifest
    (file,) = manifest["files"]
    assert [each["name"] for each in manifest["described_in"]] == ["README.md", "croissant.json"]
    data = (folder_of(version) / file["name"]).read_bytes()
    assert file == {
        "name": "labels.jsonl",
        "rows": 3,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "format": "jsonl",
    }
    hashes = [row["row_sha256"] for row in rows_of(version)]
    assert hashes[0] == hashlib.sha256(canonical(rows_of(version)[0])).hexdigest()
    assert manifest["counts"]["labels_by_basis"] == {"adjudicated": 1, "unanimous": 2}
    assert manifest["counts"]["labels_by_gates"] == {"fail": 1, "pass": 2}
    assert manifest["counts"]["judgments"] == 6
    assert manifest["versions"]["rubric"] == [f"{desk.rubric.name} 1"]
    assert manifest["versions"]["model"] == ["secret-model-9"]
    assert manifest["adjudicators"] == [pseudonym_of(make.lead_of(project))]
    assert manifest["leak_check"]["passed"] is True


def test_the_same_labels_give_the_same_bytes_again(project, engineer, desk):
    for form, name in (("jsonl", "labels.jsonl"), ("parquet", "labels.parquet")):
        first = export(engineer, project, form)
        second = run_export(version_id=start_export(actor=engineer, dataset=first.dataset).pk)
        assert second.number == 2
        assert (folder_of(first) / name).read_bytes() == (folder_of(second) / name).read_bytes()
        assert first.manifest["files"] == second.manifest["files"]


def test_a_held_out_task_and_the_rest_of_its_family_stay_here(project, engineer, desk):
    items = list(Item.objects.filter(project=project).order_by("pk"))
    Task.objects.filter(pk=items[0].trajectory.task_id).update(split="held_out", family="secret")
    Task.objects.filter(pk=items[1].trajectory.task_id).update(family="secret")
    version = export(engineer, project)
    assert [row["item"] for row in rows_of(version)] == [str(items[2].uid)]
    assert version.manifest["left_out"]["held_out_rows"] == 1
    assert version.manifest["left_out"]["held_out_family_rows"] == 1
    assert version.manifest["leak_check"]["words"].startswith("No row comes from a held-out task or family; 2 were")


def test_no_source_makes_more_than_its_share_of_what_leaves(project, engineer, desk):
    items = list(Item.objects.filter(project=project).order_by("pk"))
    Item.objects.filter(pk__in=[item.pk for item in items[:2]]).update(provenance="synthetic")
    version = export(engineer, project, filter={"quotas": {"synthetic": 0.5}})
    assert sorted(row["provenance"] for row in rows_of(version)) == ["model", "synthetic"]
    assert version.manifest["left_out"]["over_quota_rows"] == 1
    assert version.manifest["left_out"]["duplicate_rows"] == 0
    again = run_export(version_id=start_export(actor=engineer, dataset=version.dataset).pk)
    assert [row["item"] for row in rows_of(again)] == [row["item"] for row in rows_of(version)]


@pytest.mark.parametrize("quotas", [{}, {"luck": 0.5}, {"synthetic": 2}, {"synthetic": True}, [0.5]])
def test_quotas_that_cannot_be_are_refused(project, engineer, quotas):
    with pytest.raises(Invalid, match="quotas"):
        define_dataset(actor=engineer, project=project, name="q", formats=["jsonl"], filter={"quotas": quotas})


def test_when_all_is_held_out_the_export_is_refused(project, engineer, desk):
    Task.objects.filter(project=project).update(split="held_out")
    dataset = define_dataset(actor=engineer, project=project, name="all", formats=["jsonl"])
    with pytest.raises(Conflict, match="every label of this project is of a held-out task or family"):
        start_export(actor=engineer, dataset=dataset)


def test_a_task_held_out_while_the_export_waits_is_left_out_all_the_same(project, engineer, desk):
    dataset = define_dataset(actor=engineer, project=project, name="all", formats=["jsonl"])
    version = start_export(actor=engineer, dataset=dataset)
    Task.objects.filter(project=project).update(split="held_out")
    version = run_export(version_id=version.pk)
    assert version.state == DatasetState.FAILED
    assert "held-out" in version.error
    assert not folder_of(version).exists()


def test_without_any_label_there_is_nothing_to_export(project, engineer):
    queue = make.queue(project, items=1)
    dataset = define_dataset(actor=engineer, project=project, name="none", formats=["jsonl"], queue=queue)
    with pytest.raises(Conflict, match=f"no item of the queue “{queue.name}” has a label yet"):
        start_export(actor=engineer, dataset=dataset)
    assert not DatasetVersion.objects.exists()


def test_judgments_made_on_gold_are_left_out_and_only_counted(project, engineer, desk):
    lead = make.lead_of(project)
    before = rows_of(export(engineer, project))
    make.gold(QueueItem.objects.filter(queue=desk).order_by("pk").first())
    set_gold_rate(actor=lead, queue=desk, rate=0.5)
    add_items(actor=lead, queue=desk, items=[make.item(project) for _ in range(12)])
    charlie = make.expert(project, "Charlie")
    while not GoldPlacement.objects.exists():
        judge(desk, charlie, make.passing())
    assert GoldPlacement.objects.get().assignment.judgments.count() == 1
    version = export(engineer, project, "parquet")
    assert version.manifest["left_out"]["gold_rows"] == 1
    rows = pq.read_table(folder_of(version) / "labels.parquet").to_pylist()
    assert [row["row_sha256"] for row in rows] == [row["row_sha256"] for row in before]
    assert pseudonym_of(charlie) not in json.dumps(version.manifest)
    item_uid = str(GoldPlacement.objects.get().gold_item.queue_item.item.uid)
    assert item_uid not in json.dumps(version.manifest)


def test_only_the_label_that_stands_leaves(project, engineer, desk):
    decided = QueueItem.objects.get(queue=desk, label__basis="adjudicated")
    again = {"gates": {"authorised": "pass", "consent": "pass"}, "criteria": {"success": 3, "process": 3}}
    again |= {"reasons": {"success": "rubric_gap"}}
    adjudicate(actor=make.lead_of(project), queue_item=decided, payload=again)
    row = rows_of(export(engineer, project))[2]
    assert row["label"]["revision"] == 2
    assert row["values"][2]["value"] == 3
    assert len(row["judgments"]) == 2


def test_a_table_for_people_has_columns_for_what_its_labels_answer(project, engineer, desk):
    """A rubric of another queue adds none, and no format is looked for in vain."""
    letter = [{**make.CRITERIA[2], "key": "accuracy", "title": "Clinical accuracy"}]
    other = make.queue(project, items=1, overlap=1, criteria=letter)
    version = export(engineer, project, "csv", queue=desk)
    with (folder_of(version) / "labels.csv").open(encoding="utf-8-sig", newline="") as file:
        columns = next(csv.reader(file))
    assert columns[10:15] == ["authorised", "consent", "success", "process", "other"]
    judge(other, make.expert(project, "Carol"), {"criteria": {"accuracy": 2}, "confidence": 3, "rationale": "Good."})
    dataset = define_dataset(actor=engineer, project=project, name="Both queues", formats=["csv"])
    both = run_export(version_id=start_export(actor=engineer, dataset=dataset).pk)
    with (folder_of(both) / "labels.csv").open(encoding="utf-8-sig", newline="") as file:
        assert "accuracy" in next(csv.reader(file))


def test_a_file_without_rows_says_so_and_why(project, engineer, desk):
    formats = ["jsonl", "trl_preference", "trl_stepwise"]
    dataset = define_dataset(actor=engineer, project=project, name="Three", formats=formats)
    version = run_export(version_id=start_export(actor=engineer, dataset=dataset).pk)
    why = {file["name"].partition(".")[0]: file.get("empty_because") for file in version.files}
    assert why == {
        "labels": None,
        "trl_preference": "nothing is compared (3)",
        "trl_stepwise": "no labels of steps (3)",
    }
    told = by(engineer).get(f"/api/v1/datasets/{dataset.uid}/versions/{version.number}/").json()["files"]
    assert [(file["rows"], file.get("empty_because")) for file in told] == [
        (3, None),
        (0, "nothing is compared (3)"),
        (0, "no labels of steps (3)"),
    ]
    page = enter(engineer).get(reverse("goldsets:dataset_version", args=[dataset.uid, 1])).content.decode()
    assert "No label fits: nothing is compared (3)." in page
    card = (folder_of(version) / "README.md").read_text()
    assert "| `trl_preference` | 0 | nothing is compared (3) |" in card


def test_the_card_knows_the_licences_that_were_stated(project, engineer, desk):
    names = sorted(set(Trajectory.objects.values_list("source_name", flat=True)))
    before = export(engineer, project).manifest["policies"]["licences"]
    assert before == f"No licence is stated of {', '.join(names)}."
    for name in names:
        state_licence(actor=make.lead_of(project), project=project, source=name, licence="CC0-1.0")
    after = export(engineer, project, "parquet").manifest["policies"]["licences"]
    assert after == f"CC0-1.0 is stated of {', '.join(names)}."


def test_another_queue_of_the_project_stays_out_when_one_is_chosen(project, engineer, desk):
    other = make.queue(project, items=1, overlap=1)
    judge(other, make.expert(project, "Dana"), make.passing())
    assert len(rows_of(export(engineer, project, queue=other))) == 1


def test_a_run_without_steps_leaves_with_none(project, engineer):
    queue = make.queue(project, items=[make.item(project, steps=()), make.item(project)], overlap=1)
    alice = make.expert(project, "Alice")
    judge(queue, alice, make.passing())
    judge(queue, alice, make.passing())
    assert [len(row["steps"]) for row in rows_of(export(engineer, project))] == [0, 4]


def test_progress_is_written_while_it_runs(project, engineer, desk, monkeypatch):
    monkeypatch.setattr(label_documents, "BATCH_LABELS", 1)
    dataset = define_dataset(actor=engineer, project=project, name="all", formats=["jsonl"])
    version = start_export(actor=engineer, dataset=dataset)
    assert version.rows_total == 3
    seen = []
    run_export(version_id=version.pk, progress=lambda v: seen.append(DatasetVersion.objects.get(pk=v.pk).rows_done))
    assert seen == [1, 2, 3]


def test_an_export_that_was_killed_goes_on_behind_the_last_part_that_was_done(project, engineer, desk, monkeypatch):
    monkeypatch.setattr(exporting, "PART", 1)
    dataset = define_dataset(actor=engineer, project=project, name="all", formats=["jsonl", "parquet", "csv"])
    version = start_export(actor=engineer, dataset=dataset)

    def die(at):
        if at.rows_done == 2:
            raise OperationalError("the power went")

    with pytest.raises(OperationalError):
        run_export(version_id=version.pk, progress=die)
    assert not folder_of(version).exists(), "no half folder is ever seen"
    seen = []
    version = run_export(version_id=version.pk, progress=lambda at: seen.append(at.rows_done))
    assert seen == [2, 3], "the first part was done"
    assert version.state == DatasetState.FINISHED
    assert [path.name for path in folder_of(version).parent.iterdir()] == [str(version.uid)]
    whole = export(engineer, project)
    assert [row["row_sha256"] for row in rows_of(version)] == [row["row_sha256"] for row in rows_of(whole)]
    tables = sorted(folder_of(version).glob("labels-*.parquet"))
    assert [path.name for path in tables] == [f"labels-{n:05d}-of-00003.parquet" for n in range(3)]
    assert sum(pq.read_metadata(path).num_rows for path in tables) == 3
    assert len((folder_of(version) / "labels.csv").read_text().splitlines()) == 4
    assert run_export(version_id=version.pk).finished_at == version.finished_at, "a finished version is final"


HOLD = """
import fcntl, signal, sys
lock = open(sys.argv[1], "w")
fcntl.flock(lock, fcntl.LOCK_EX)
print(flush=True)
signal.pause()
"""


def test_a_worker_killed_outright_lets_go_of_its_folder(tmp_path):
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "lock")], stdout=subprocess.PIPE) as worker:
        worker.stdout.readline()
        with alone_in(tmp_path) as alone:
            assert not alone
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        with alone_in(tmp_path) as alone:
            assert alone


def test_two_workers_never_write_one_version(project, engineer, desk):
    dataset = define_dataset(actor=engineer, project=project, name="all", formats=["jsonl"])
    version = start_export(actor=engineer, dataset=dataset)
    states = []
    run_export(version_id=version.pk, progress=lambda at: states.append(run_export(version_id=at.pk).state))
    assert states == [DatasetState.RUNNING], "the second one steps back"
    assert DatasetVersion.objects.get().state == DatasetState.FINISHED


def test_a_full_disk_is_said_in_words_and_nothing_is_left(project, engineer, desk, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "file"
    settings.MEDIA_ROOT.write_text("no folder")
    dataset = define_dataset(actor=engineer, project=project, name="all", formats=["jsonl"])
    version = run_export(version_id=start_export(actor=engineer, dataset=dataset).pk)
    assert version.state == DatasetState.FAILED
    assert version.error == "The files could not be written: Not a directory."
    assert Event.objects.filter(verb=GoldVerb.DATASET_FAILED, target_id=version.pk).exists()


def test_reading_a_file_is_noted(project, engineer, desk):
    version = export(engineer, project)
    path = read_file(actor=engineer, version=version, name="manifest.json")
    assert json.loads(path.read_text()) == version.manifest
    assert Event.objects.get(verb=GoldVerb.DATASET_READ).data == {"file": "manifest.json"}
    for name in ("../manifest.json", "/etc/passwd", "labels.parquet", ""):
        with pytest.raises(NotFound):
            read_file(actor=engineer, version=version, name=name)


def test_experts_and_strangers_do_not_export(project, engineer, desk):
    version = export(engineer, project)
    alice, stranger = make.expert(project, "Alice"), make.person("Charlie")
    with pytest.raises(Forbidden, match="Only leads and engineers export labels"):
        define_dataset(actor=alice, project=project, name="mine", formats=["jsonl"])
    with pytest.raises(Forbidden):
        start_export(actor=alice, dataset=version.dataset)
    with pytest.raises(Forbidden):
        read_file(actor=alice, version=version, name="labels.jsonl")
    with pytest.raises(NotFound):
        start_export(actor=stranger, dataset=version.dataset)


def test_a_definition_says_what_is_wrong_with_it(project, engineer):
    elsewhere = make.queue(make.project(), items=1)
    with pytest.raises(Invalid) as refused:
        define_dataset(actor=engineer, project=project, name=" ", formats=["docx"], queue=elsewhere)
    assert set(refused.value.errors) == {"name", "formats", "queue"}
    define_dataset(actor=engineer, project=project, name="labels", formats=["jsonl"])
    with pytest.raises(Conflict, match="a data set called “labels” already"):
        define_dataset(actor=engineer, project=project, name="labels", formats=["parquet"])


# --- The command ------------------------------------------------------------------------------------------------------
def test_the_command_writes_the_files_and_prints_the_receipt(project, engineer, desk, tmp_path, capsys):
    out = tmp_path / "deep" / "labels"
    call_command("export_dataset", project.slug, "--format", "parquet", "--out", str(out), "--json")
    receipt = json.loads(capsys.readouterr().out)
    assert receipt["counts"]["rows"] == 3
    assert sorted(path.name for path in out.iterdir()) == [
        "README.md",
        "croissant.json",
        "labels.parquet",
        "manifest.json",
    ]
    assert pq.read_table(out / "labels.parquet").num_rows == 3
    again = tmp_path / "again"
    call_command("export_dataset", project.slug, "--format", "parquet", "--out", str(again), "--queue", desk.slug)
    assert "3 labels on 6 judgments" in capsys.readouterr().out


def test_the_command_takes_a_filter_as_the_api_does(project, engineer, desk, tmp_path, capsys):
    unanimous = tmp_path / "unanimous.json"
    unanimous.write_text(json.dumps({"basis": ["unanimous"], "slices": {}}))
    out = str(tmp_path / "out")
    call_command(
        "export_dataset", project.slug, "--format", "jsonl", "--out", out, "--filter", str(unanimous), "--json"
    )
    receipt = json.loads(capsys.readouterr().out)
    assert receipt["counts"]["labels_by_basis"] == {"unanimous": 2}
    assert receipt["dataset"]["name"] == "all queues, jsonl, filter unanimous"
    for number, (content, sentence) in enumerate(
        (
            ("[1]", "holds no filter"),
            ("{", "is no JSON"),
            ('{"bases": []}', "There is no filter “bases”"),
            ('{"pass_rate": {"model": "m", "low": 0.9, "high": 0.1}}', "low is not above high"),
        )
    ):
        (tmp_path / f"{number}.json").write_text(content)
        with pytest.raises(CommandError, match=sentence):
            call_command(
                *("export_dataset", project.slug, "--format", "jsonl", "--out", str(tmp_path / "none")),
                *("--filter", str(tmp_path / f"{number}.json")),
            )
    with pytest.raises(CommandError, match="cannot be read"):
        call_command(
            "export_dataset", project.slug, "--format", "jsonl", "--out", out + "2", "--filter", "nowhere.json"
        )


def test_the_command_refuses_with_a_sentence(project, engineer, desk, tmp_path):
    for arguments, sentence in (
        (["nowhere", "--format", "jsonl", "--out", str(tmp_path / "a")], "no project with the address “nowhere”"),
        (
            [project.slug, "--format", "jsonl", "--out", str(tmp_path / "b"), "--queue", "x"],
            "no queue with the address",
        ),
        ([project.slug, "--format", "jsonl", "--out", str(tmp_path / "c"), "--as", "x@y.z"], "nobody with the e-mail"),
        ([make.project().slug, "--format", "jsonl", "--out", str(tmp_path / "d")], "has a label yet"),
    ):
        with pytest.raises(CommandError, match=sentence):
            call_command("export_dataset", *arguments)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("keep me")
    with pytest.raises(CommandError, match="is not an empty folder"):
        call_command("export_dataset", project.slug, "--format", "jsonl", "--out", str(tmp_path / "full"))
    assert (tmp_path / "full" / "mine.txt").read_text() == "keep me"


def test_an_export_that_is_being_written_is_cancelled_and_leaves_nothing(project, engineer, desk, monkeypatch):
    monkeypatch.setattr(label_documents, "BATCH_LABELS", 1)
    dataset = define_dataset(actor=engineer, project=project, name="all", formats=["jsonl"])
    version = start_export(actor=engineer, dataset=dataset)
    stopped = run_export(
        version_id=version.pk, progress=lambda at: at.rows_done == 1 and cancel_export(actor=engineer, version=at)
    )
    assert stopped.state == DatasetState.CANCELLED
    assert list(folder_of(stopped).parent.glob(f"*{stopped.uid}*")) == []
    assert Event.objects.filter(verb=GoldVerb.DATASET_CANCELLED, actor=engineer).count() == 1
    with pytest.raises(Conflict, match="it is cancelled"):
        cancel_export(actor=engineer, version=stopped)
    assert run_export(version_id=version.pk).state == DatasetState.CANCELLED
