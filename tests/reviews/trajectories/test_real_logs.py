"""The real files of agent logs and benchmarks: counts and outcomes as their sources state them, nothing left unsaid."""

import json
import re
import zipfile
from collections import Counter

import pytest

from reviews.trajectories import jsontext
from reviews.trajectories.detect import read_run
from reviews.trajectories.reading import BadRow, RunFile
from reviews.trajectories.schema import ReadOptions

INSPECT = {
    "2025-02-11T15-18-04-05-00_popularity_mj7khqpMM4GBCfVQozKgzB.eval": ("match", {"C": 8, "I": 2}),
    "2025-05-12T20-27-36-04-00_browser.json": ("includes", {"C": 1}),
    "2025-05-12T20-28-13-04-00_popularity.json": ("match", {"C": 2, "I": 1}),
    "derived_zstd_log_read_sample.eval": ("match", {"C": 1}),
    "docent_sample_agent_log.eval": ("includes", {"C": 9, "I": 6}),
    "log_formats.eval": ("match", {"I": 1}),
    "log_formats.json": ("match", {"I": 1}),
    "log_images_tc.json": ("match", {"I": 1}),
    "log_message_deduplication.eval": ("closeness_log", {0.0: 1}),
    "log_read_sample.eval": ("match", {"C": 1}),
    "log_tool_call_error.json": (None, {None: 1}),
    "mmlu-summary-choices.eval": ("choice", {"I": 1}),
    "scout_security-guide.eval": ("model_graded_fact", {"C": 11, "I": 5}),
    "scout_websearch-server-tool.eval": ("match", {"C": 1}),
}
TAU2 = {
    "airline_relaxed_grok-3-mini_4trials.json": {0.0: 4},
    "toolorchestra_retail_gpt-5_1trial.json": {1.0: 96, 0.0: 18},
}
VERIFIERS = {
    "arc-agi-3--gpt-4.1-mini/8bf05aed": {0.0: 3},
    "math-python--gpt-4.1-mini/578769a7": {1.0: 14, 0.0: 1},
    "mcp-env--gpt-4.1-mini/468ee950": {1.0: 3},
}
ATIF = {
    "nemo_exmp01_atif.json": 5,
    "nemo_exmp02_atif.json": 3,
    "nemo_exmp04_atif.json": 3,
    "nemo_exmp06_atif.json": 7,
    "openhands_hello-world.trajectory.json": 6,
    "terminus_2_hello-world-context-summarization-linear-history.trajectory.cont-1.json": 8,
    "terminus_2_hello-world-context-summarization-linear-history.trajectory.json": 5,
}


def runs_of(path):
    with RunFile(path) as file:
        rows = list(file)
    assert not [row for row in rows if isinstance(row, BadRow)]
    options = [ReadOptions(name=path.name, domain=row.domain, model=row.model) for row in rows]
    return [read_run(row.original, each) for row, each in zip(rows, options, strict=True)]


def shown_to_raters(run):
    return repr((run.steps, run.title, run.key, run.family, run.policy_text, run.context, run.tools, run.versions))


def pointers_of(run):
    return {pointer for step in run.steps for pointer in (step.pointer, step.result_pointer) if pointer}


@pytest.mark.parametrize("name", INSPECT)
def test_inspect_samples_have_the_known_scores(real_files, name):
    grader, values = INSPECT[name]
    runs = runs_of(real_files / "inspect" / name)
    assert {run.source_format for run in runs} == {"inspect_log"}
    scores = [run.outcome.data["scores"] for run in runs]
    assert Counter(each[0]["value"] if each else None for each in scores) == values
    assert {each["grader"] for found in scores for each in found} == ({grader} if grader else set())
    assert all(run.outcome.reward == {"C": 1.0, "I": 0.0}.get(value, value) for run in runs for value in [_first(run)])
    assert len({run.content_hash for run in runs}) == len(runs)


def _first(run):
    return run.outcome.data["scores"][0]["value"] if run.outcome.data["scores"] else None


@pytest.mark.parametrize("name", INSPECT)
def test_every_message_of_inspect_is_in_a_step_and_no_reference_is_left(real_files, name):
    for run in runs_of(real_files / "inspect" / name):
        sample = jsontext.parse(run.original)["sample"]
        pointers = pointers_of(run)
        for place, message in enumerate(sample["messages"]):
            here = f"/sample/messages/{place}"
            for number in range(len(message.get("tool_calls") or [])):
                assert f"{here}/tool_calls/{number}" in pointers
            assert bool(message["content"]) <= (here in pointers)
        shown = shown_to_raters(run)
        assert "attachment://" not in shown
        assert "tc://" not in shown
        target = sample["target"]
        explanations = [score["explanation"] for score in run.outcome.data["scores"]]
        for hidden in (target if isinstance(target, str) and len(target) > 40 else "", *explanations):
            written = "".join(step.text for step in run.steps)
            assert hidden in written or not hidden or repr(hidden)[1:-1] not in shown


def test_an_eval_recompressed_with_zstd_gives_the_same_runs(real_files):
    folder = real_files / "inspect"
    (packed,), (plain,) = (
        runs_of(folder / "derived_zstd_log_read_sample.eval"),
        runs_of(folder / "log_read_sample.eval"),
    )
    assert packed.content_hash == plain.content_hash
    assert packed.steps == plain.steps
    with zipfile.ZipFile(folder / "derived_zstd_log_read_sample.eval") as archive:
        assert {info.compress_type for info in archive.infolist()} == {93}


def test_an_eval_and_its_json_give_the_same_steps(real_files):
    folder = real_files / "inspect"
    (one,), (other,) = runs_of(folder / "log_formats.eval"), runs_of(folder / "log_formats.json")
    assert one.steps == other.steps


def test_errors_of_tools_are_errors(real_files):
    (run,) = runs_of(real_files / "inspect" / "log_tool_call_error.json")
    assert [step.result.error for step in run.steps] == [True] * 11
    assert "The tool output limit of 10 MiB was exceeded." in run.steps[-1].result.text


def test_pooled_messages_give_the_messages_of_the_sample(real_files):
    (run,) = runs_of(real_files / "inspect" / "log_message_deduplication.eval")
    row = jsontext.parse(run.original)
    row["sample"]["messages"] = []
    pooled = read_run(json.dumps(row).encode(), ReadOptions())
    assert [(step.role, step.text, step.call, step.result) for step in pooled.steps] == [
        (step.role, step.text, step.call, step.result) for step in run.steps
    ]


@pytest.mark.parametrize("name", TAU2)
def test_tau2_simulations_have_the_known_rewards(real_files, name):
    path = real_files / "tau2-bench" / name
    runs, source = runs_of(path), json.loads(path.read_bytes())
    assert Counter(run.outcome.reward for run in runs) == TAU2[name]
    assert Counter(run.outcome.result for run in runs) == {
        {1.0: "success", 0.0: "failure"}[reward]: count for reward, count in TAU2[name].items()
    }
    for run, simulation in zip(runs, source["simulations"], strict=True):
        assert jsontext.parse(run.original)["simulation"] == simulation
        assert run.policy_text == source["info"]["environment_info"]["policy"]
        pointers = pointers_of(run)
        for place, message in enumerate(simulation["messages"]):
            here = f"/simulation/messages/{place}"
            for number in range(len(message.get("tool_calls") or [])):
                assert f"{here}/tool_calls/{number}" in pointers
            assert bool(message.get("content")) <= (here in pointers)
        assert not [word for word in ("reward", "task_instructions", "db_match") if word in shown_to_raters(run)]


def test_the_policy_of_tau2_is_the_published_one(real_files):
    folder = real_files / "tau2-bench"
    (policy,) = {run.policy_text for run in runs_of(folder / "toolorchestra_retail_gpt-5_1trial.json")}
    assert policy == (folder / "policies" / "retail_policy.md").read_text()


def test_the_tasks_of_the_leaderboard_file_are_those_of_the_checks(real_files):
    """Not even the prefix of an action's id is a task's: action 102_0 is of task 101. The customers' names agree."""
    path = real_files / "tau2-bench" / "toolorchestra_retail_gpt-5_1trial.json"
    runs = runs_of(path)
    noted = [run for run in runs if run.outcome.data.get("notes")]
    tasks = {f"retail-{task['id']}": task for task in json.loads(path.read_bytes())["tasks"]}
    for run in runs:
        for check in run.outcome.data["simulation"]["reward_info"]["action_checks"] or []:
            assert check["action"] in tasks[run.key]["evaluation_criteria"]["actions"]
        name = re.search(
            r"(?:are|name is) ([A-Z][a-z]+)", tasks[run.key]["user_scenario"]["instructions"]["known_info"]
        )
        assert name is None or name[1].lower() in repr(run.steps).lower()
    assert len(noted) == 113
    assert all("which was taken." in run.outcome.data["notes"][0] for run in noted)
    assert len({run.key for run in runs}) == 114


def test_a_spoken_run_in_a_folder_has_its_policy_and_says_that_it_has_no_words(real_files):
    (run,) = runs_of(real_files / "tau2-bench" / "voice_dir_format")
    assert (run.key, run.policy_text[:22]) == ("retail-40", "# Retail agent policy\n")
    assert run.steps[0].note == "The source holds 973 ticks of sound without words."


@pytest.mark.parametrize("name", VERIFIERS)
def test_verifiers_rollouts_have_the_known_rewards_and_their_model(real_files, name):
    folder = real_files / "verifiers" / name
    runs = runs_of(folder)
    metadata = json.loads((folder / "metadata.json").read_text())
    source = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    assert Counter(run.outcome.reward for run in runs) == VERIFIERS[name]
    assert {run.outcome.model for run in runs} == {metadata["model"]}
    assert len({run.content_hash for run in runs}) == len(source)
    prompts = {}
    for run, row in zip(runs, source, strict=True):
        assert run.key.startswith(f"{metadata['env']}-")
        assert prompts.setdefault(run.key, row["prompt"]) == row["prompt"]
        calls = [json.loads(call) for message in row["completion"] for call in message.get("tool_calls") or []]
        assert [step.call.arguments_text for step in run.steps if step.call] == [
            call["function"]["arguments"] for call in calls
        ]
        assert all(step.result for step in run.steps if step.call)
    assert len(prompts) == metadata["num_examples"]


@pytest.mark.parametrize("name", ATIF)
def test_atif_steps_are_all_there(real_files, name):
    path = real_files / "atif" / name
    (run,), source = runs_of(path), json.loads(path.read_bytes())
    assert len(source["steps"]) == ATIF[name]
    assert run.outcome.result == "unknown"
    reached = {int(pointer.split("/")[2]) for pointer in pointers_of(run)}
    copied = {place for place, step in enumerate(source["steps"]) if step.get("is_copied_context")}
    assert reached >= set(range(len(source["steps"]))) - copied
    assert not any(source["agent"]["name"] in (step.note, run.title) for step in run.steps)


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("claude_code_simple_conversation.jsonl", ["user", "agent", "user", "agent"]),
        ("claude_code_tool_call_conversation.jsonl", ["user", "agent", "tool", "agent"]),
        ("claude_code_compaction_session.jsonl", ["user", "agent", "system", "system", "user", "agent"]),
        ("message_conversation_response.json", ["agent"]),
        ("tools_history_request.json", ["user", "agent", "tool"]),
        ("tools_history_response.json", ["tool"]),
        ("tools_parallel_request.json", ["user"]),
        ("tools_parallel_response.json", ["agent", "tool", "tool"]),
    ],
)
def test_anthropic_files_are_runs(real_files, name, roles):
    (run,) = runs_of(real_files / "anthropic" / name)
    assert [step.role for step in run.steps] == roles
    assert run.source_format == ("coding_agent" if name.startswith("claude_code") else "anthropic")
    assert run.outcome.model.startswith("claude-")
    assert "claude-" not in shown_to_raters(run)


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("openai_response.json", ["system", "agent"]),
        ("openai_response_tool_calls.json", ["system", "tool"]),
        ("responses_input_history_request.json", ["user"]),
        ("responses_input_history_response.json", ["agent"]),
        ("responses_tool_call_request.json", ["user"]),
        ("responses_tool_call_response.json", ["tool"]),
    ],
)
def test_responses_files_are_runs(real_files, name, roles):
    (run,) = runs_of(real_files / "openai" / name)
    assert [step.role for step in run.steps] == roles
    assert run.source_format == "openai_responses"
    assert run.outcome.model.startswith("gpt-")


@pytest.mark.parametrize("task", ["retail_task7", "retail_task10"])
@pytest.mark.parametrize(
    "name", ["anthropic_messages.json", "openai_responses_items.json", "atif_v1.4.json", "verifiers_results.jsonl"]
)
def test_one_run_gives_the_same_steps_from_every_format(real_files, task, name):
    folder = real_files / "derived-cross-format" / task
    (tau,), (run,) = runs_of(folder / "tau_bench_source.json"), runs_of(folder / name)
    assert run.steps[0].role == "system"
    assert run.steps[0].text == tau.policy_text

    def seen(step):
        call = step.call and (step.call.id, step.call.name, step.call.arguments)
        return step.role, step.text, step.reasoning, call, step.result and step.result.text

    assert [seen(step) for step in run.steps[1:]] == [seen(step) for step in tau.steps]
