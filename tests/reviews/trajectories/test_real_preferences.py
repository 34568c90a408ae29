"""Real records of preferences and labels of steps: all go in, with the counts that their sources state."""

import json
from collections import Counter

import pytest

from reviews.trajectories.detect import read_runs
from reviews.trajectories.schema import ReadOptions, RowError


def rows_of(path):
    return path.read_bytes().splitlines()


def runs_of(path):
    return [read_runs(row, ReadOptions(name=path.name)) for row in rows_of(path)]


@pytest.mark.parametrize(
    ("name", "source_format", "records", "runs_each"),
    [
        ("mtbench-human-pairs/items.jsonl", "candidates", 82, 2),
        ("pandalm-testset/pairs.jsonl", "candidates", 722, 2),
        ("llmbar/Natural.jsonl", "candidates", 100, 2),
        ("llmbar/Adversarial-GPTInst.jsonl", "candidates", 92, 2),
        ("llmbar/Adversarial-Neighbor.jsonl", "candidates", 134, 2),
        ("llm-rubric-real-dialogues/dialogues.jsonl", "openai_chat", 141, 1),
        ("prm800k-samples/records.jsonl", "prm800k", 9, 1),
        ("who-and-when/trajectories.jsonl", "who_and_when", 37, 1),
    ],
)
def test_every_record_goes_in(real_preferences, name, source_format, records, runs_each):
    found = runs_of(real_preferences / name)
    assert Counter(map(len, found)) == {runs_each: records}
    assert {run.source_format for runs in found for run in runs} == {source_format}


def test_the_turns_of_mt_bench_are_steps_and_the_votes_stay_hidden(real_preferences):
    path = real_preferences / "mtbench-human-pairs" / "items.jsonl"
    for row, runs in zip(map(json.loads, rows_of(path)), runs_of(path), strict=True):
        assert [[step.role for step in run.steps] for run in runs] == [["user", "agent"] * 2] * 2
        assert {run.outcome.data["candidate"] for run in runs} == {"conversation_a", "conversation_b"}
        assert all(run.outcome.data["human"] == row["human"] for run in runs)
        assert runs[0].key == runs[1].key
        assert "model_a" not in repr([run.steps for run in runs])


def test_the_decisive_step_of_who_and_when_is_the_step_that_the_labeller_named(real_preferences):
    path = real_preferences / "who-and-when" / "trajectories.jsonl"
    for row, (run,) in zip(map(json.loads, rows_of(path)), runs_of(path), strict=True):
        failure = run.outcome.data["failure"]
        step, said = run.steps[failure["step"] - 1], row["history"][int(row["mistake_step"])]
        assert (step.text or step.result.text) == said["content"]
        assert failure["who"] == row["mistake_agent"]
        assert run.outcome.result == "failure"
        assert len(run.steps) == len(row["history"]) + len(row.get("system_prompt") or {})
        assert row["mistake_reason"] not in repr((run.steps, run.title, run.context))


def test_ratings_without_a_run_are_refused_with_the_names_of_their_members(real_preferences):
    for name in ("summeval-expert-ratings/ratings.jsonl", "swebench-task-annotations/tasks.jsonl"):
        with pytest.raises(RowError, match="It fits no known format"):
            read_runs(rows_of(real_preferences / name)[0], ReadOptions())
