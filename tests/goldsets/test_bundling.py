"""A signed reviewer runs elsewhere and says there what it says here; files from strangers are read as JSON alone."""

import hashlib
import io
import json
import pickle
import subprocess
import sys
import zipfile

import pytest
from django.core.management import CommandError, call_command

from goldsets.actions.bundling import read_bundle
from goldsets.actions.compiling import run_compile, start_compile
from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import run_export, start_export
from goldsets.queries.datasets import folder_of
from goldsets.reviewing.hashing import sha256_of
from reviews.errors import Conflict, Forbidden
from reviews.models import Event
from tests import factories as make
from tests.factories.reviewers import ARTEFACT, reviewer
from tests.factories.settled import labelled_queue
from tests.goldsets.reviewing.made import labelled

pytestmark = pytest.mark.django_db


def signed(queue, artefact=ARTEFACT):
    return reviewer(queue, "signed", artefact=artefact, artefact_sha256=sha256_of(artefact))


def elsewhere(data, folder, items):
    """What the bundle says by itself, in a folder without Assay."""
    zipfile.ZipFile(io.BytesIO(data)).extractall(folder)
    command = [sys.executable, "-I", "score.py", "reviewer.json"]
    return subprocess.run(command, input=items, capture_output=True, check=True, cwd=folder).stdout


def scored(*arguments):
    out = io.StringIO()
    call_command("score", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_a_bundle_judges_elsewhere_as_the_reviewer_does_here(project, lead, tmp_path):
    queue = labelled_queue(project, labelled(140, told=1.0))
    artefact = run_compile(reviewer_id=start_compile(actor=lead, queue=queue, criterion="authorised").pk).artefact
    row = signed(queue, artefact)
    dataset = define_dataset(actor=lead, project=project, name="all", formats=["jsonl"])
    exported = folder_of(run_export(version_id=start_export(actor=lead, dataset=dataset).pk))
    items = b"".join(path.read_bytes() for path in sorted(exported.glob("labels*.jsonl")))
    file = tmp_path / "items.jsonl"
    file.write_bytes(items)
    there = elsewhere(read_bundle(actor=lead, reviewer=row), tmp_path / "bundle", items).decode()
    assert there == scored(row.uid, file)
    assert there == scored(tmp_path / "bundle" / "reviewer.json", file)
    verdicts = [json.loads(line) for line in there.splitlines()]
    assert len(verdicts) == 140
    assert verdicts[0].keys() == {"id", "verdict", "confidence", "deferred", "reasons", "evidence"}
    assert verdicts[0]["id"] == json.loads(items.splitlines()[0])["item"]
    assert set(verdicts[0]["evidence"][0]["terms"]) <= set(verdicts[0]["reasons"])


def test_a_bundle_shows_that_it_works_and_what_it_is(project, lead, tmp_path):
    row = signed(make.queue(project, items=1))
    data = read_bundle(actor=lead, reviewer=row)
    example = zipfile.ZipFile(io.BytesIO(data)).read("items.example.jsonl")
    assert elsewhere(data, tmp_path, example) == (tmp_path / "verdicts.example.jsonl").read_bytes()
    document = json.loads((tmp_path / "reviewer.json").read_text())
    assert document.pop("about")["uid"] == str(row.uid)
    assert sha256_of(document) == row.artefact_sha256
    assert row.artefact_sha256 in (tmp_path / "README.md").read_text()
    for line in (tmp_path / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
    assert Event.objects.filter(verb="reviewer.read", actor=lead, target_id=row.pk).count() == 1
    assert read_bundle(actor=lead, reviewer=row) == data


def test_only_what_was_signed_is_given_out(project, lead):
    queue = make.queue(project, items=1)
    with pytest.raises(Conflict, match="Only a signed reviewer"):
        read_bundle(actor=lead, reviewer=reviewer(queue, "proven"))
    with pytest.raises(Forbidden):
        read_bundle(actor=make.expert(project, "Zoe"), reviewer=signed(queue))
    other = reviewer(queue, "signed", artefact_sha256="0" * 64)
    with pytest.raises(Conflict, match="not what was proven"):
        read_bundle(actor=lead, reviewer=other)


class _Trap:
    """Unpickled, it leaves a file behind."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_a_strangers_file_is_never_unpickled(tmp_path):
    trace, file = tmp_path / "trace", tmp_path / "reviewer.json"
    file.write_bytes(pickle.dumps(_Trap(trace)))
    (tmp_path / "items.jsonl").write_text("{}\n")
    with pytest.raises(CommandError, match="it is not JSON"):
        scored(file, tmp_path / "items.jsonl")
    assert not trace.exists()


@pytest.mark.parametrize(
    "found",
    [
        [],
        {},
        {"kind": "classifier"},
        {**ARTEFACT, "thresholds": {"pass": "high", "fail": None}},
        {**ARTEFACT, "rules": [{"name": "x", "verdict": "yes"}]},
        {**ARTEFACT, "rules": [{"name": "x", "verdict": 1, "at_least": {"errors": "many"}}]},
    ],
)
def test_what_is_no_reviewer_is_refused_in_words(tmp_path, found):
    file = tmp_path / "reviewer.json"
    file.write_text(json.dumps(found))
    (tmp_path / "items.jsonl").write_text("{}\n")
    with pytest.raises(CommandError, match="This is no reviewer"):
        scored(file, tmp_path / "items.jsonl")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "Line 2 is not JSON"),
        ("[1]", "Line 2 is no item"),
        ('{"steps": [{"text": "no role"}]}', "Line 2 is no item"),
        ('{"steps": [{"role": "tool", "call": 3}]}', "Line 2 is no item"),
    ],
)
def test_a_line_that_is_no_item_is_named(tmp_path, line, words):
    (tmp_path / "reviewer.json").write_text(json.dumps(ARTEFACT))
    (tmp_path / "items.jsonl").write_text(f'{{"id": 1, "text": "A refund."}}\n{line}\n')
    with pytest.raises(CommandError, match=words):
        scored(tmp_path / "reviewer.json", tmp_path / "items.jsonl")


def test_a_refused_reviewer_judges_nothing_and_a_missing_one_is_said(project, tmp_path):
    row = reviewer(make.queue(project, items=1), "refused")
    (tmp_path / "items.jsonl").write_text("")
    with pytest.raises(CommandError, match="judges nothing: it is refused"):
        scored(row.uid, tmp_path / "items.jsonl")
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        scored(tmp_path / "nothing.json", tmp_path / "items.jsonl")
