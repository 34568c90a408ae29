"""The real files of agents' traces and training records: counts and outcomes as their sources state them."""

import json
from collections import Counter

import pytest

from reviews.trajectories import jsontext
from reviews.trajectories.detect import read_runs
from reviews.trajectories.dialects import ROLES, Place, messages_in
from reviews.trajectories.reading import BadRow, RunFile
from reviews.trajectories.schema import ReadOptions, RowError

SWE_AGENT = {  # entries of the trajectory
    "ctf_crypto_eps.traj": 14,
    "ctf_misc_networking_1.traj": 4,
    "demo_human_thought_humanevalfix-python-0.traj": 5,
    "demo_marshmallow-1867_default.traj": 14,
    "demo_marshmallow-1867_function_calling.traj": 11,
    "demo_marshmallow-1867_function_calling_replace_from_source_messages-key.traj": 13,
    "demo_marshmallow-1867_xml_cursors.traj": 12,
    "new_state-dict_test-repo-1c2844.traj": 5,
    "old_state-str_pydicom-1458.traj": 12,
}
LANGFUSE = {  # observations, and the steps that they tell
    "agno-2025-06-11": (6, ["system", "user", "tool", "agent"]),
    "beeai-2025-08-01": (29, ["system", "user", "agent", "agent", "agent"]),
    "claude-agent-2025-12-22": (7, ["system", "user", "agent", "tool", "tool", "agent"]),
    "csharp-agent-with-gemini-2026-03-09": (8, ["user", "agent", "tool", "agent", "tool"]),
    "google-gemini-2025-08-01": (1, ["user", "agent"]),
    "koog-2025-08-26": (11, ["system", "user", "tool", "tool", "agent"]),
    "langgraph-python-2025-08-22": (9, ["user", "user", "tool", "agent"]),
    "microsoft-agent-2025-12-17": (4, ["system", "user", "tool", "agent"]),
    "pydantic-ai-2025-06-06": (3, ["system", "user", "agent"]),
    "pydantic-ai-tools-2025-06-06": (3, ["system", "user", "agent"]),
    "pydantic-ai-tools-2025-12-04": (
        12,
        ["system", "user", "tool", "tool", "tool", "agent", "user", "agent", "system", "user", "tool"],
    ),
    "vercel-aisdk-2025-11-17": (3, ["user", "tool"]),
}


def rows_of(path):
    with RunFile(path) as file:
        rows = list(file)
    assert not [row for row in rows if isinstance(row, BadRow)]
    return [row.original for row in rows]


def runs_of(path):
    return [run for row in rows_of(path) for run in read_runs(row, ReadOptions(name=path.name))]


def roles(run):
    return [step.role for step in run.steps]


def at(value, pointer):
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


@pytest.mark.parametrize("name", SWE_AGENT)
def test_every_entry_of_a_swe_agent_file_is_one_tool_step(real_files, name):
    (run,) = runs_of(real_files / "swe-agent" / name)
    tools = [step for step in run.steps if step.role == "tool"]
    assert run.source_format == "swe_agent"
    assert len(tools) == SWE_AGENT[name]
    assert all(step.call and step.result and not step.note for step in tools)
    assert run.outcome.result == "unknown"
    assert run.outcome.data["info"]["exit_status"] == "submitted"
    source = json.loads(run.original)["trajectory"]
    assert [step.result.text for step in tools] == [entry["observation"] for entry in source]


def test_a_swe_agent_history_alone_and_a_demonstration(real_files):
    (run,) = runs_of(real_files / "swe-agent" / "demo_function_calling_simple_history-only.traj")
    assert roles(run) == ["system", "user", *["agent", "tool"] * 5]
    (old,) = runs_of(real_files / "swe-agent" / "old_state-str_pydicom-1458.traj")
    assert old.steps[1].note == "A demonstration that the agent was given; it is no part of this run."
    assert [step.role for step in old.steps[:3]] == ["system", "system", "user"]


def test_mini_swe_agent(real_files):
    (run,) = runs_of(real_files / "swe-agent" / "mini_local_list-format.traj.json")
    assert run.source_format == "mini_swe_agent"
    assert roles(run) == ["system", "user", "agent", "tool", "agent", "tool"]
    assert run.steps[3].call.arguments_text == "echo 'hello world'"
    assert run.steps[3].result.text == "<returncode>0</returncode>\n<output>\nhello world\n</output>"


@pytest.mark.parametrize(
    ("name", "formats", "results"),
    [
        ("v0_event-array_basic_gui_mode.json", ["openhands"], ["unknown"]),
        ("v0_event-array_basic_interactions.json", ["openhands"], ["unknown"]),
        ("v0_multi_swe_bench_output.jsonl", ["openhands"] * 2, ["unknown"] * 2),
        ("v0_resolver_output_flat-events.jsonl", ["openhands"] * 2, ["success"] * 2),
        ("v1_sdk_events.jsonl", ["openhands_v1"], ["unknown"]),
    ],
)
def test_openhands_runs_and_their_ends(real_files, name, formats, results):
    runs = runs_of(real_files / "openhands" / name)
    assert [run.source_format for run in runs] == formats
    assert [run.outcome.result for run in runs] == results
    for run in runs:
        calls = [step for step in run.steps if step.call]
        assert all(step.result for step in calls)
        hidden = run.outcome.data.get("test_result", {}).get("git_patch") or run.outcome.data.get("result_explanation")
        assert hidden is None or hidden[:200] not in repr(run.steps)


@pytest.mark.parametrize("task", ["retail_task7", "retail_task10"])
def test_spans_give_the_same_steps_as_the_chat_they_were_made_from(real_files, task):
    folder = real_files / "derived-cross-format" / task
    (chat,) = runs_of(folder / "openai_chat.json")

    def seen(step, *, result=True):
        call = step.call and (step.call.id, step.call.name, step.call.arguments)
        return step.role, step.text, step.reasoning, call, result and step.result and step.result.text

    (new,) = runs_of(folder / "otlp_genai_v1.37_attributes.json")
    assert [seen(step) for step in new.steps] == [seen(step) for step in chat.steps]
    assert not any(step.note for step in new.steps)
    (old,) = runs_of(folder / "otlp_genai_legacy_v1.36_events.json")
    # No span follows the last call, so in the old form nothing holds its result.
    assert [seen(step) for step in old.steps[:-1]] == [seen(step) for step in chat.steps[:-1]]
    assert seen(old.steps[-1], result=False) == seen(chat.steps[-1], result=False)
    for run in (new, old):
        assert run.outcome.model == "gpt-4o"
        assert (run.outcome.result, run.outcome.reward) == ("unknown", None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("span-attributes/otel_genai_client_span_tool_calls.json", [["user", "agent", "tool", "agent"]]),
        ("span-attributes/openinference_client_span_tool_calls.json", [["user", "agent", "tool", "agent"]]),
        ("span-attributes/otel_genai_tool_execution_span.json", [["tool"]]),
        ("vercel_v6_all-spans.json", [["user", "agent"]] * 2 + [["system", *["user", "agent"] * 2]] * 2
         + [["user", "agent"]] * 4),
    ],
)  # fmt: skip
def test_spans_of_other_writers(real_files, name, expected):
    assert [roles(run) for run in runs_of(real_files / "otel-genai" / name)] == expected


def test_a_schema_is_no_trace(real_files):
    with pytest.raises(RowError, match="It fits no known format"):
        runs_of(real_files / "otel-genai" / "json-schema" / "gen-ai-input-messages.json")


@pytest.mark.parametrize("name", ["js_wrap_openai_default.json", "py_wrap_openai_post-patch.json"])
def test_langsmith_batches_are_merged(real_files, name):
    (run,) = runs_of(real_files / "langsmith" / name)
    assert [(step.role, step.text) for step in run.steps] == [
        ("user", "howdy"),
        ("agent", "Howdy! How can I assist you today?"),
    ]
    assert run.steps[1].pointer == "/patch/0/outputs/choices/0/message"
    assert run.outcome.model == "gpt-4o-mini-2024-07-18"


@pytest.mark.parametrize("name", LANGFUSE)
def test_langfuse_traces_tell_their_conversation_once(real_files, name):
    observations, expected = LANGFUSE[name]
    (run,) = runs_of(real_files / "langfuse" / f"{name}.trace.json")
    original = json.loads(run.original)
    assert len(original["observations"]) == observations
    assert roles(run) == expected
    for step in run.steps:
        at(original, step.pointer)
        at(original, step.result_pointer)


@pytest.mark.parametrize("name", ["autogen-2025-06-06", "llamaindex-2025-06-05"])
def test_langfuse_traces_that_keep_a_prompt_as_one_text_say_so_at_it(real_files, name):
    (run,) = runs_of(real_files / "langfuse" / f"{name}.trace.json")
    prompt, answer = run.steps
    assert (prompt.role, answer.role) == ("user", "agent")
    assert prompt.note == "The source keeps this prompt as one text, without saying who speaks in it."
    assert prompt.text in at(json.loads(run.original), prompt.pointer)
    assert answer.text


def plain(text):
    """A text without what only the writing of its JSON adds."""
    value = jsontext.parse_text(text) if text[:1] in {"{", "["} else None
    return text if value is None else value


def ours(units):
    found = []
    for unit in units:
        step = unit.step
        if step.call:
            found.append(("call", step.call.name, step.call.arguments))
        elif step.result:
            found.append(("result", plain(step.result.text)))
        elif step.text:
            found.append((step.role, step.text))
    return found


def words_of(content):
    if isinstance(content, list) and all("type" in part for part in content):
        return "\n\n".join(part["text"] for part in content if part["type"] == "text")
    return content or ""


def theirs(messages):
    found = []
    for message in messages:
        words = words_of(message.get("content")) or message.get("json", {}).get("text", "")
        if message["role"] == "tool":
            found.append(("result", plain(words) if isinstance(words, str) else words))
        elif words:
            found.append((ROLES[message["role"]], words))
        parts = message["content"] if isinstance(message.get("content"), list) else []
        found += [("call", part["name"], part["input"]) for part in parts if part.get("type") == "tool_use"]
        calls = message.get("tool_calls") or []
        found += [("call", call["name"], json.loads(call["arguments"])) for call in calls]
    return found


def test_every_observation_that_langfuse_normalises_gives_what_langfuse_says(real_files):
    """Its own expected messages, per observation. Koog's calls, which are texts, are read as calls here."""
    compared = Counter()
    for path in sorted((real_files / "langfuse").glob("*.chatml.json")):
        trace = json.loads(path.with_name(path.name.replace("chatml", "trace")).read_bytes())
        observations = {observation["id"]: observation for observation in trace["observations"]}
        for name, sides in json.loads(path.read_bytes()).items():
            for side, expected in sides.items():
                messages = expected["data"] if expected["success"] else []
                if not messages or not all("role" in message for message in messages):
                    continue
                found = ours(messages_in(observations[name][side], Place("")))
                same = found == theirs(messages)
                compared["same" if same else path.name.partition("-")[0]] += 1
    assert compared == {"same": 61, "koog": 2}


@pytest.mark.parametrize(
    ("name", "source_format", "records", "labels", "distinct"),
    [
        ("openai_kto_en.json", "kto", 60, {True: 38, False: 22}, 60),
        ("sharegpt_dpo_en.json", "preference", 60, {"chosen": 60, "rejected": 60}, 120),
        ("sharegpt_glaive_toolcall_en.json", "sharegpt", 40, {None: 40}, 39),  # one record stands there twice
    ],
)
def test_training_records(real_files, name, source_format, records, labels, distinct):
    path = real_files / "preference-sft" / name
    runs = runs_of(path)
    assert len(rows_of(path)) == records
    assert {run.source_format for run in runs} == {source_format}
    found = Counter(run.outcome.data.get("label", run.outcome.data.get("preference")) for run in runs)
    assert found == labels
    assert len({run.content_hash for run in runs}) == distinct


def test_pairs_share_their_task_and_their_order_tells_nothing(real_files):
    path = real_files / "preference-sft" / "sharegpt_dpo_en.json"
    pairs = [read_runs(row, ReadOptions()) for row in rows_of(path)]
    assert all(one.key == other.key for one, other in pairs)
    first = Counter(one.outcome.data["preference"] for one, _ in pairs)
    assert first == {"chosen": 31, "rejected": 29}


def test_tool_calls_of_sharegpt_have_their_results(real_files):
    runs = runs_of(real_files / "preference-sft" / "sharegpt_glaive_toolcall_en.json")
    calls = [step for run in runs for step in run.steps if step.role == "tool"]
    assert len(calls) == 29
    assert all(step.call and step.result for step in calls)
