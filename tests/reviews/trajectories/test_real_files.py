"""The real files: counts as their sources state them, every message accounted for, nothing of the outcome in sight."""

import json
from collections import Counter

import pytest

from reviews.trajectories.detect import read_run
from reviews.trajectories.reading import BadRow, RunFile
from reviews.trajectories.schema import ReadOptions, RowError

TAU_FILES = {
    "airline_gpt-4o_4trials.json": {"success": 60, "failure": 79, "timeout": 1},
    "retail_gpt-4o.json": {"success": 51, "failure": 29},
    "retail_gpt-4o-mini.json": {"success": 33, "failure": 38, "timeout": 9},
    "retail_gpt-4o_guarded.json": {"success": 42, "failure": 16, "timeout": 22},
    "retail_error_entry.json": {"crash": 1},
    "human-failure-labels/retail_gpt-4o_indexed.json": {"success": 51, "failure": 17, "timeout": 1},
}
# Five turns; in the fourth the agent calls a tool without a word.
AGENT_AT_WORK = ["system", "user", *["agent", "tool"] * 3, "tool", *["agent", "tool"] * 2]


def run_or_reason(data, name):
    """The run in a row, or the sentence that refuses it."""
    try:
        return read_run(data, ReadOptions(name=name))
    except RowError as refused:
        return str(refused)


def runs_of(path, **options):
    with RunFile(path) as file:
        rows = list(file)
    assert not [row for row in rows if isinstance(row, BadRow)]
    return [read_run(row.original, ReadOptions(name=path.name, **options)) for row in rows]


@pytest.mark.parametrize("name", TAU_FILES)
def test_every_tau_bench_run_goes_in_with_the_known_counts(real_files, name):
    path = real_files / "tau-bench" / name
    runs, source = runs_of(path, domain="d"), json.loads(path.read_bytes())
    assert Counter(run.outcome.result for run in runs) == TAU_FILES[name]
    assert len({run.content_hash for run in runs}) == len(source)
    for run, row in zip(runs, source, strict=True):
        assert run.source_format == "tau_bench"
        assert run.key == f"d-{row['task_id']}"
        assert json.loads(run.original) == row
        pointers = {pointer for step in run.steps for pointer in (step.pointer, step.result_pointer)}
        for place, message in enumerate(row["traj"]):
            if place == 0:
                assert run.policy_text == message["content"]
                continue
            for number in range(len(message.get("tool_calls") or [])):
                assert f"/traj/{place}/tool_calls/{number}" in pointers
            assert bool(message.get("content")) <= (f"/traj/{place}" in pointers)


@pytest.mark.parametrize("name", TAU_FILES)
def test_no_tau_bench_outcome_is_in_what_raters_see(real_files, name):
    for run in runs_of(real_files / "tau-bench" / name, model="the-model"):
        seen = repr((run.steps, run.title, run.key, run.policy_text, run.tools))
        info = run.outcome.data["info"]
        hidden = ["the-model", "user_cost", "r_actions", "gt_data_hash", "traceback", "Traceback", "reward"]
        hidden += [(info.get("task") or {}).get("instruction"), info.get("error"), info.get("traceback")]
        for text in filter(None, hidden):
            assert text not in seen
            assert repr(text)[1:-1] not in seen


def test_the_policies_are_the_published_ones(real_files):
    folder = real_files / "tau-bench"
    (airline,) = {run.policy_text for run in runs_of(folder / "airline_gpt-4o_4trials.json")}
    (retail,) = {run.policy_text for run in runs_of(folder / "retail_gpt-4o.json")}
    assert airline == (folder / "policies" / "airline_wiki.md").read_text()
    assert retail == (folder / "policies" / "retail_wiki.md").read_text()


def test_one_task_has_one_key_in_the_files_of_all_agents(real_files):
    folder = real_files / "tau-bench"
    keys = [{run.key for run in runs_of(folder / name)} for name in ("retail_gpt-4o.json", "retail_gpt-4o-mini.json")]
    assert keys[0] == keys[1]
    assert len(keys[0]) == 80
    assert not keys[0] & {run.key for run in runs_of(folder / "airline_gpt-4o_4trials.json")}


@pytest.mark.parametrize("task", ["retail_task7", "retail_task10"])
def test_tau_bench_and_openai_chat_give_the_same_steps(real_files, task):
    folder = real_files / "derived-cross-format" / task
    (tau,) = runs_of(folder / "tau_bench_source.json")
    (chat,) = runs_of(folder / "openai_chat.json")
    assert chat.steps[0].text == tau.policy_text

    def seen(step):
        call = step.call and (step.call.name, step.call.arguments)
        return step.role, step.text, call, step.result and step.result.text

    assert [seen(step) for step in chat.steps[1:]] == [seen(step) for step in tau.steps]


@pytest.mark.parametrize(
    ("name", "roles", "model"),
    [
        ("chat_tools_parallel_request.json", ["user"], "gpt-3.5-turbo"),
        ("chat_tools_parallel_response.json", ["tool", "tool"], "gpt-3.5-turbo-0125"),
        ("openai_chat_tool_calls.json", ["tool"], "gpt-4o-2024-08-06"),
        ("chat_messages_fncall.json", AGENT_AT_WORK, ""),
        ("chat_request-response_log_content-parts.json", AGENT_AT_WORK, "litellm_proxy/claude-sonnet-4-20250514"),
    ],
)
def test_openai_chat_bodies_are_runs(real_files, name, roles, model):
    (run,) = runs_of(real_files / "openai" / name)
    assert run.source_format == "openai_chat"
    assert [step.role for step in run.steps] == roles
    assert run.outcome.model == model


def test_every_other_real_file_is_refused_and_never_a_crash(real_files):
    for path in sorted(path for path in real_files.rglob("*") if path.is_file() and path.suffix not in (".md", ".csv")):
        with RunFile(path) as file:
            for row in file:
                if isinstance(row, BadRow):
                    assert row.reason.endswith(".")
                    continue
                found = run_or_reason(row.original, path.name)
                assert found.endswith(".") if isinstance(found, str) else found.steps
