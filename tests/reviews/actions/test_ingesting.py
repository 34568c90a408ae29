"""Runs posted as they finish: a receipt for each in order, once however often, and refusals that hinder nobody."""

import json

import pytest
import zstandard

from reviews.actions import ingesting
from reviews.actions.importing import run_import, start_import
from reviews.actions.ingesting import ingest_runs
from reviews.actions.redacting import set_redaction
from reviews.actions.routing import create_rule
from reviews.errors import Forbidden, Invalid, NotFound
from reviews.models import Event, Item, Original, Step
from tests import factories as make

pytestmark = pytest.mark.django_db


def run(number, text="Where is it?"):
    return {"task_id": f"t-{number}", "messages": [{"role": "user", "content": text}], "outcome": {"reward": 0.0}}


@pytest.fixture
def engineer(project):
    user = make.person("Enno")
    make.member(project, user, "engineer")
    return user


def post(actor, project, *rows, **options):
    body = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()
    return ingest_runs(actor=actor, project=project, body=body, **options)


def told(receipts):
    return [(receipt.place, receipt.status) for receipt in receipts]


def test_each_row_has_its_receipt_in_order(project, engineer):
    receipts = post(engineer, project, run(1), "{broken", {"a": 1}, run(1), run(2))
    assert told(receipts) == [
        ("line 1", "created"),
        ("line 2", "refused"),
        ("line 3", "refused"),
        ("line 4", "already_there"),
        ("line 5", "created"),
    ]
    assert receipts[0].item == receipts[3].item
    assert receipts[2].reason == "It fits no known format. Its members are: a."
    assert Event.objects.get(verb="runs.posted").data == {"created": 2, "already_there": 1, "refused": 2}


def test_a_list_and_one_row_alone_are_taken_as_well(project, engineer):
    assert told(post(engineer, project, json.dumps([run(1), run(2)]))) == [
        ("index 0", "created"),
        ("index 1", "created"),
    ]
    assert [receipt.status for receipt in post(engineer, project, json.dumps(run(3), indent=1))] == ["created"]


def test_posting_again_and_the_same_run_in_a_file_change_nothing(project, engineer, tmp_path):
    post(engineer, project, run(1))
    assert told(post(engineer, project, run(1))) == [("line 1", "already_there")]
    file = tmp_path / "runs.jsonl"
    file.write_text(json.dumps(dict(reversed(run(1).items())), indent=None) + "\n")
    job = run_import(job_id=start_import(actor=engineer, project=project, name="runs.jsonl", path=file).pk)
    assert (job.created, job.already_there) == (0, 1)
    assert Item.objects.count() == 1


def test_the_original_is_kept_as_it_was_sent(project, engineer):
    row = '{"messages": [{"role": "user",   "content": "Hëllo 👋"}], "x": 1e0}'
    post(engineer, project, row)
    kept = bytes(Original.objects.get().compressed)
    assert zstandard.ZstdDecompressor().decompressobj().decompress(kept) == row.encode()


def test_rules_and_the_queue_asked_for_take_effect_and_stand_in_the_receipt(project, engineer):
    queue, watched = make.queue(project, items=0), make.queue(project, items=0)
    rule = create_rule(actor=make.lead_of(project), project=project, queue=watched, name="All")
    receipt = post(engineer, project, run(1), queue=queue)[0]
    assert (receipt.queue, receipt.rules) == (queue, (rule,))
    assert {place.queue for place in receipt.item.queue_items.all()} == {queue, watched}
    assert post(engineer, project, run(1))[0].rules == ()


def test_what_is_redacted_is_counted_in_the_receipt(project, engineer):
    set_redaction(actor=make.lead_of(project), project=project, kinds=["e-mail"])
    receipt = post(engineer, project, run(1, "I am alice@example.com"))[0]
    assert receipt.redactions["e-mail"] >= 1
    assert "alice" not in Step.objects.get().body


def test_too_many_rows_too_large_a_body_and_no_body_store_nothing(project, engineer, monkeypatch):
    with pytest.raises(Invalid, match="at most 500 rows"):
        post(engineer, project, *[run(number) for number in range(501)])
    with pytest.raises(Invalid, match="at most 16 MiB"):
        ingest_runs(actor=engineer, project=project, body=b" " * (ingesting.MOST_BYTES + 1))
    assert told(post(engineer, project, "")) == [("the file", "refused")]
    assert not Item.objects.exists()


def test_500_rows_are_taken_at_once(project, engineer):
    receipts = post(engineer, project, *[run(number) for number in range(500)])
    assert {receipt.status for receipt in receipts} == {"created"}
    assert len(receipts) == 500


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"format": "csv"}, "format"),
        ({"family": "x" * 101}, "family"),
        ({"settings": {"colour": "red"}}, "settings"),
    ],
)
def test_what_is_wrong_with_the_whole_is_refused_by_its_field(project, engineer, options, field):
    with pytest.raises(Invalid) as refused:
        post(engineer, project, run(1), **options)
    assert set(refused.value.errors) == {field}


def test_a_queue_of_another_project_is_refused(project, engineer):
    with pytest.raises(Invalid, match="another project"):
        post(engineer, project, run(1), queue=make.queue(make.project(), items=0))


def test_a_value_the_database_cannot_hold_is_refused_alone(project, engineer):
    bad = {**run(1), "outcome": {"reward": 0, "data": {"n": "x"}}, "slices": {"n": 10**400}}
    statuses = [receipt.status for receipt in post(engineer, project, run(0), bad, run(2))]
    assert (statuses[0], statuses[2]) == ("created", "created")


@pytest.mark.parametrize("role", ["expert", "admin"])
def test_only_leads_and_engineers_post(project, role):
    user = make.person("Eve")
    make.member(project, user, role)
    with pytest.raises(Forbidden, match="Only leads and engineers"):
        post(user, project, run(1))
    with pytest.raises(NotFound):
        post(make.person("Sam"), project, run(1))
    assert not Item.objects.exists()
