"""verifiers: rollouts as rows of results.jsonl (2025, and later with `example_id`) and as traces.jsonl (a graph).

In files of 2025 calls are JSON texts in a list, results name no call, and rows with one `id` have different prompts:
the task is told by its prompt. In a graph every message is a node with its parent; all are shown in the order they were
made, with a note where a branch begins. Rewards, metrics, answers and info are outcome data.
"""

from __future__ import annotations

from typing import Any

from reviews.trajectories import jsontext
from reviews.trajectories.building import member, result_of, score, text_of, title_of, tools_of, with_note
from reviews.trajectories.openai_chat import steps_of
from reviews.trajectories.schema import ReadOptions, Result, Run, RunOutcome, Step

TITLE = "verifiers"
NEEDS = frozenset({"nodes", "completion"})
# Members of a row that are no metric, even where they are numbers.
NO_METRICS = {"id", "example_id", "reward", "generation_ms", "scoring_ms", "total_ms", "is_completed", "is_truncated"}
ID_NOTE = "Rows of one id can have different prompts in this file; the task is told by its prompt."
BRANCH_NOTE = "A branch begins here; it goes on from message {} of the source."
ROOT_NOTE = "A branch with a context of its own begins here."
OUT_OF_ROOM = ("max_", "timeout", "context", "prompt_too_long", "compaction_failed")
METADATA = "metadata.json"
RESULTS = "results.jsonl"


def recognise(value: Any) -> str:
    """Why this is a rollout of verifiers, or "" when it is not."""
    if not isinstance(value, dict):
        return ""
    nodes = value.get("nodes")
    if (
        isinstance(nodes, list)
        and "rewards" in value
        and all(isinstance(member(node, "message"), dict) for node in nodes)
    ):
        return "a trace with nodes and rewards"
    if {"prompt", "completion", "reward"} <= value.keys():
        return "it has prompt, completion and reward"
    return ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one rollout."""
    return _trace_run(value, options) if "nodes" in value else _row_run(value, options)


def _row_run(value: dict[str, Any], options: ReadOptions) -> Run:
    messages = _messages(value["prompt"], "/prompt", "user") + _messages(
        value["completion"], "/completion", "assistant"
    )
    steps = steps_of(messages)
    example = text_of(value.get("example_id"))
    reward = jsontext.number(value["reward"])
    metrics = value.get("metrics")
    if not isinstance(metrics, dict):
        metrics = {
            name: child
            for name, child in value.items()
            if name not in NO_METRICS and jsontext.number(child) is not None
        }
    notes = [] if "example_id" in value or "id" not in value else [ID_NOTE]
    data = {name: child for name, child in value.items() if name not in {"prompt", "completion", "tool_defs"}}
    return Run(
        steps=tuple(steps),
        key=_key(options.domain, example, value["prompt"]),
        title=title_of(steps),
        tools=tools_of(value.get("tool_defs") or member(value, "info", "oai_tools")),
        outcome=RunOutcome(
            result=_result(value, reward),
            reward=reward,
            model=options.model,
            data={
                "scores": [score("reward", value["reward"]), *(score(name, each) for name, each in metrics.items())],
                **({"notes": notes} if notes else {}),
                **data,
            },
        ),
        notes=tuple(notes),
    )


def _trace_run(value: dict[str, Any], options: ReadOptions) -> Run:
    nodes = value["nodes"]
    steps = steps_of([(f"/nodes/{place}/message", _chat(node["message"])) for place, node in enumerate(nodes)])
    steps = _with_branches(steps, nodes)
    scores, reward = _trace_scores(value)
    task = member(value, "task", "data")
    key = text_of(member(value, "task", "key")) or text_of(member(task, "idx")) or text_of(member(task, "id"))
    data = {name: child for name, child in value.items() if name not in {"nodes", "tools", "calls"}}
    return Run(
        steps=tuple(steps),
        key=f"{options.domain or text_of(member(value, 'task', 'type')) or 'task'}-{key}" if key else "",
        title=title_of(steps),
        tools=tools_of(value.get("tools")),
        outcome=RunOutcome(
            result=_result(value, reward),
            reward=reward,
            model=text_of(member(value, "agent", "config", "model")) or _called_model(value) or options.model,
            data={"scores": scores, **data},
        ),
        source_ref=f"trace {text_of(value.get('id'))}"[:60] if text_of(value.get("id")) else "",
    )


def _messages(given: Any, pointer: str, role: str) -> list[tuple[str, Any]]:
    """Messages of a list, or a text as the one message of this role."""
    if isinstance(given, list):
        return [(f"{pointer}/{place}", _chat(message)) for place, message in enumerate(given)]
    return [(pointer, {"role": role, "content": given})] if given not in (None, "") else []


def _chat(message: Any) -> Any:
    """The message as OpenAI chat writes it: calls may be JSON texts, or flat."""
    calls = member(message, "tool_calls")
    if not isinstance(calls, list):
        return message
    return {**message, "tool_calls": [_chat_call(call) for call in calls]}


def _chat_call(call: Any) -> Any:
    if isinstance(call, str):
        call = jsontext.parse_text(call)
    if isinstance(call, dict) and "function" not in call and isinstance(call.get("name"), str):
        return {"id": call.get("id"), "function": {"name": call["name"], "arguments": call.get("arguments", "")}}
    return call


def _with_branches(steps: list[Step], nodes: list[Any]) -> list[Step]:
    """Notes at the first step of every node that does not go on from the node before it."""
    notes: dict[str, str] = {}
    for place, node in enumerate(nodes):
        parent = node.get("parent")
        if place and parent != place - 1:
            notes[f"/nodes/{place}/message"] = ROOT_NOTE if parent is None else BRANCH_NOTE.format(parent)
    return [
        with_note(step, note)
        if (note := " ".join(notes.pop(_node_of(each), "") for each in (step.pointer, step.result_pointer)).strip())
        else step
        for step in steps
    ]


def _node_of(pointer: str) -> str:
    """The pointer to a node's message, of a pointer to it or below it."""
    return "/".join(pointer.split("/")[:4])


def _trace_scores(value: dict[str, Any]) -> tuple[list[dict[str, Any]], float | None]:
    """Scores of a trace, and its reward: the weighted sum. Rewards may be bare numbers, or null if not scored."""
    scores: list[dict[str, Any]] = []
    total: float | None = None
    rewards = value.get("rewards")
    for name, reward in rewards.items() if isinstance(rewards, dict) else ():
        found = member(reward, "score") if isinstance(reward, dict) else reward
        weight = member(reward, "weight")
        scores.append(score(name, found, f"weight {weight}" if weight is not None else ""))
        number, factor = jsontext.number(found), jsontext.number(weight)
        if number is not None:
            total = (total or 0.0) + number * (1.0 if factor is None else factor)
    metrics = value.get("metrics")
    scores += [score(name, each) for name, each in metrics.items()] if isinstance(metrics, dict) else []
    return scores, total if total is not None else jsontext.number(value.get("reward"))


def _called_model(value: dict[str, Any]) -> str:
    calls = value.get("calls")
    found = (text_of(member(call, "model")) for call in calls) if isinstance(calls, list) else ()
    return next(filter(None, found), "")


def _result(value: dict[str, Any], reward: float | None) -> Result:
    """A reward of 1 is success and 0 failure; others may be sums of many parts and say neither."""
    if value.get("error") or (value.get("errors") and value.get("ok") is not True):
        return "crash"
    if reward == 1:
        return "success"
    if value.get("is_truncated") is True or text_of(value.get("stop_condition")).startswith(OUT_OF_ROOM):
        return "timeout"
    return result_of(reward)


def _key(domain: str, example: str, prompt: Any) -> str:
    """The task by its prompt, which all its rollouts share, with the example's number where the row gives one."""
    mark = jsontext.canonical_hash(prompt)[:8]
    return "-".join(filter(None, (domain or "task", example, mark)))


def is_metadata(name: str, names: list[str]) -> bool:
    """Whether this file tells environment and model of the results beside it."""
    folder = name.removesuffix(METADATA)
    return name.endswith(METADATA) and folder[-1:] in ("", "/") and folder + RESULTS in names


def metadata_beside(name: str) -> str:
    """The name the metadata of a results file would have."""
    return name.removesuffix(RESULTS) + METADATA if name.endswith(RESULTS) else ""


def hints(data: bytes) -> tuple[str, str]:
    """Environment and model from the bytes of metadata.json."""
    value = jsontext.parse_text(data.decode("utf-8", "replace"))
    return text_of(member(value, "env")) or text_of(member(value, "env_id")), text_of(member(value, "model"))
