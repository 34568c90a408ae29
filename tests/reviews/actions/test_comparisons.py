"""Preference records become comparisons: a run per answer, laid beside each other; what was preferred stays hidden."""

import json

import pytest

from reviews.actions.importing import receipt_of, run_import, start_import
from reviews.actions.ingesting import ingest_runs
from reviews.actions.routing import create_rule
from reviews.arrival import read_conditions
from reviews.models import Candidate, Item, QueueItem
from reviews.trajectories.schema import decode_step
from tests import factories as make
from tests.reviews.actions.test_kinds import preference

pytestmark = pytest.mark.django_db

PAIR = {
    "prompt_id": "p-1",
    "prompt": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Two plus two?"}],
    "chosen": [{"role": "assistant", "content": "Four."}],
    "rejected": [{"role": "assistant", "content": "Five."}],
    "margin": 2,
}
FOUR = {"prompt": "Name a prime.", "responses": ["2", "4", "6", "7"], "scores": [1, 0, 0, 1]}


def bring(actor, project, rows, tmp_path, **options):
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return run_import(job_id=start_import(actor=actor, project=project, name="rows.jsonl", path=file, **options).pk)


def comparisons(project):
    return Item.objects.filter(project=project, kind="comparison").order_by("pk")


def test_a_pair_is_one_comparison_of_two_runs_with_the_preference_in_their_outcomes(project, lead, tmp_path):
    job = bring(lead, project, [PAIR], tmp_path)
    assert (job.created, job.comparisons, job.refused) == (2, 1, 0)
    assert receipt_of(job)["comparisons"] == 1
    assert bring(lead, project, [PAIR], tmp_path).comparisons == 0
    item = comparisons(project).get()
    assert item.subject.key == "p-1"
    candidates = list(item.candidates.all())
    assert [(each.position, each.shared) for each in candidates] == [(1, 2), (2, 2)]
    preferred = {each.trajectory.outcome.data["preference"]: each.trajectory.steps.last().body for each in candidates}
    assert "Four." in preferred["chosen"]
    assert "Five." in preferred["rejected"]


def test_several_answers_are_one_comparison_with_their_scores(project, lead, tmp_path):
    bring(lead, project, [FOUR], tmp_path)
    candidates = comparisons(project).get().candidates.all()
    found = {json.loads(each.trajectory.steps.last().body)["text"]: each.trajectory.outcome.data for each in candidates}
    assert {text: data["scores"][0]["value"] for text, data in found.items()} == {"2": 1, "4": 0, "6": 0, "7": 1}


def test_the_same_record_twice_is_one_comparison_also_when_posted(project, lead, tmp_path):
    bring(lead, project, [PAIR, FOUR, PAIR], tmp_path)
    bring(lead, project, [PAIR], tmp_path)
    receipts = ingest_runs(actor=lead, project=project, body=json.dumps(PAIR).encode())
    assert [receipt.status for receipt in receipts] == ["already_there"] * 2
    assert (comparisons(project).count(), Candidate.objects.count()) == (2, 6)


def test_runs_that_only_lie_in_one_row_are_not_compared(project, lead, tmp_path):
    chats = [{"messages": [{"role": "user", "content": str(number)}]} for number in range(2)]
    bring(lead, project, chats, tmp_path)
    assert not comparisons(project).exists()


def test_a_queue_takes_the_comparisons_or_the_runs_as_its_rubric_says(project, lead, tmp_path):
    pairs = make.queue(project, items=0, overlap=1, criteria=[preference()], rubric={"item_kind": "comparison"})
    runs = make.queue(project, items=0, overlap=1)
    bring(lead, project, [PAIR], tmp_path, queue=pairs)
    bring(lead, project, [PAIR], tmp_path, queue=runs)
    assert [row.item.kind for row in pairs.queue_items.all()] == ["comparison"]
    assert [row.item.kind for row in runs.queue_items.all()] == ["trajectory"] * 2


def test_a_rule_brings_comparisons_into_a_queue_of_comparisons(project, lead, tmp_path):
    queue = make.queue(project, items=0, overlap=1, criteria=[preference()], rubric={"item_kind": "comparison"})
    create_rule(actor=lead, project=project, queue=queue, name="Maths", conditions=read_conditions("family = maths"))
    bring(lead, project, [PAIR], tmp_path, family="maths")
    bring(lead, project, [FOUR], tmp_path, family="other")
    placed = QueueItem.objects.get()
    assert (placed.item.kind, placed.rule.name) == ("comparison", "Maths")


def test_neither_words_nor_order_tell_what_was_preferred(project, lead, tmp_path):
    turned = {**PAIR, "chosen": PAIR["rejected"], "rejected": PAIR["chosen"]}
    bring(lead, project, [PAIR, turned], tmp_path)
    said = []
    for item in comparisons(project):
        runs = [each.trajectory for each in item.candidates.all()]
        steps = [[decode_step(step.body) for step in run.steps.all()] for run in runs]
        said.append([[step.text for step in of_run] for of_run in steps])
        shown = repr([(step.text, step.note) for of_run in steps for step in of_run]) + item.subject.title
        assert not [word for word in ("chosen", "rejected", "margin") if word in shown + runs[0].source_place]
    assert said[0] == said[1]
