"""Inspect: logs as .json (one document with many samples) and as .eval (a ZIP archive with a file per sample).

A row is one sample with the log's header: `{"eval": …, "plan": …, "sample": …}`; a sample alone is a row too. The
messages are the run; where they are missing they are put together from the last call of the model. References to
`attachment://` are resolved. Target, scores, metadata, store and events are outcome data or stay in the original.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reviews.trajectories import jsontext
from reviews.trajectories.building import (
    NO_STEPS_NOTE,
    StepBuilder,
    blocks_of,
    call_of,
    content_of,
    member,
    score,
    text_of,
    title_of,
    tools_of,
    with_note,
    words_step,
)
from reviews.trajectories.envelope import Envelope, spliced
from reviews.trajectories.schema import (
    ReadOptions,
    Result,
    Role,
    RowError,
    Run,
    RunOutcome,
    Step,
    ToolResult,
)
from reviews.trajectories.splitting import members_of

TITLE = "Inspect"
NEEDS = frozenset({"sample", "epoch"})
ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "agent"}
PROTOCOLS = ("attachment://", "tc://")  # the second one before 2025
# Scores as letters, and what they are as numbers: correct, partly, incorrect, no answer.
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
# What a sample carries besides the messages and is too much to keep twice: it stays in the original.
ONLY_IN_ORIGINAL = {
    "messages",
    "events",
    "attachments",
    "transcript",
    "message_pool",
    "call_pool",
    "events_data",
    "store",
}
HEADER_NAMES = ("header.json", "_journal/start.json")  # a log in progress has only the second
SAMPLES = "samples/"
LOST_NOTE = "The source does not hold the text that is referred to here."


def recognise(value: Any) -> str:
    """Why this is a sample of Inspect, or "" when it is not."""
    if not isinstance(value, dict):
        return ""
    if isinstance(value.get("sample"), dict) and "eval" in value:
        return "a sample with the header of its log"
    if {"id", "epoch", "input", "target"} <= value.keys():
        return "it has id, epoch, input and target"
    return ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one sample."""
    sample, base = (value["sample"], "/sample") if isinstance(value.get("sample"), dict) else (value, "")
    header = value.get("eval") if base else None
    texts = _attachments(sample)
    builder = StepBuilder()
    for number, (pointer, message) in enumerate(_messages(sample, base), start=1):
        _add_message(builder, number, pointer, _resolved(message, texts))
    steps = builder.steps or [Step(role="system", note=NO_STEPS_NOTE)]
    scores = _scores(sample)
    reward = _reward(scores)
    task, sample_id, epoch = (
        text_of(found) for found in (member(header, "task"), sample.get("id"), sample.get("epoch"))
    )
    return Run(
        steps=tuple(steps),
        key=f"{task or options.domain or 'sample'}-{sample_id}" if sample_id else "",
        family=task or options.domain,
        title=title_of(steps) or f"Sample {sample_id}",
        tools=_tools(sample, texts),
        outcome=RunOutcome(
            result=_result(sample, reward),
            reward=reward,
            model=text_of(member(header, "model")) or text_of(member(sample, "output", "model")) or options.model,
            data={
                "scores": scores,
                **{name: child for name, child in value.items() if base and name in {"eval", "plan"}},
                "sample": {name: child for name, child in sample.items() if name not in ONLY_IN_ORIGINAL},
            },
        ),
        source_ref=f"epoch {epoch}" if epoch else "",
    )


def _messages(sample: dict[str, Any], base: str) -> list[tuple[str, Any]]:
    """The messages with their pointers: the sample's own, those of the last call of the model, or input and output."""
    messages = sample.get("messages")
    if isinstance(messages, list) and messages:
        return [(f"{base}/messages/{place}", message) for place, message in enumerate(messages)]
    events = sample.get("events")
    calls = [
        (place, event)
        for place, event in enumerate(events if isinstance(events, list) else [])
        if member(event, "event") == "model"
    ]
    if calls:
        place, event = calls[-1]
        found = _input_of(sample, event, base, f"{base}/events/{place}")
        return found + _answer_of(event, f"{base}/events/{place}")
    given = sample.get("input")
    found = []
    if isinstance(given, str) and given:
        found = [(f"{base}/input", {"role": "user", "content": given})]
    elif isinstance(given, list):
        found = [(f"{base}/input/{place}", message) for place, message in enumerate(given)]
    return found + _answer_of(sample, base)


def _input_of(sample: dict[str, Any], event: dict[str, Any], base: str, pointer: str) -> list[tuple[str, Any]]:
    """What a call of the model was given: messages, or ranges of the sample's pool of messages."""
    given, ranges = event.get("input"), event.get("input_refs")
    if isinstance(given, list) and given:
        return [(f"{pointer}/input/{place}", message) for place, message in enumerate(given)]
    pool, where = sample.get("message_pool"), f"{base}/message_pool"
    if not isinstance(pool, list):
        pool, where = member(sample, "events_data", "messages"), f"{base}/events_data/messages"
    found: list[tuple[str, Any]] = []
    for each in ranges if isinstance(ranges, list) and isinstance(pool, list) else []:
        if isinstance(each, list) and len(each) == 2 and all(type(place) is int and place >= 0 for place in each):
            found += [(f"{where}/{place}", pool[place]) for place in range(each[0], min(each[1], len(pool)))]
    return found


def _answer_of(owner: dict[str, Any], pointer: str) -> list[tuple[str, Any]]:
    choices = member(owner, "output", "choices")
    if isinstance(choices, list) and choices and isinstance(member(choices[0], "message"), dict):
        return [(f"{pointer}/output/choices/0/message", choices[0]["message"])]
    return []


def _add_message(builder: StepBuilder, number: int, pointer: str, message: Any) -> None:
    role = member(message, "role")
    if role == "tool":
        _add_result(builder, pointer, message)
        return
    if not isinstance(role, str) or role not in ROLES:
        raise RowError(f"Message {number} has the role {jsontext.dump(role)[:60]}, which is not known.")
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise RowError(f"Message {number} has tool_calls that are not a list.")
    before = len(builder.steps)
    _add_words(builder, ROLES[role], pointer, message.get("content"))
    if len(builder.steps) == before and not calls:
        builder.add(Step(role=ROLES[role], pointer=pointer))
    for place, call in enumerate(calls):
        builder.add(_call(number, f"{pointer}/tool_calls/{place}", call))


def _add_words(builder: StepBuilder, role: Role, pointer: str, content: Any) -> None:
    """What a message says, up to each call of a tool at the provider; such calls lie among the parts."""
    gathered: list[tuple[str, Any]] = []
    for place, part in blocks_of(content, f"{pointer}/content"):
        if member(part, "type") == "tool_use" and isinstance(part.get("name"), str):
            _add_gathered(builder, role, pointer, gathered)
            builder.add(_server_call(place, part))
        elif member(part, "type") == "reasoning" and part.get("redacted") is True:
            if isinstance(part.get("summary"), str):
                gathered.append((place, {"type": "reasoning", "reasoning": part["summary"]}))
            gathered.append((place, {**part, "type": "redacted reasoning"}))
        else:
            gathered.append((place, part))
    _add_gathered(builder, role, pointer, gathered)


def _add_gathered(builder: StepBuilder, role: Role, pointer: str, gathered: list[tuple[str, Any]]) -> None:
    if gathered:
        step = words_step(role, pointer, gathered)
        lost = step.text.startswith(PROTOCOLS)
        if step.text or step.reasoning or step.attachments:
            builder.add(with_note(step, LOST_NOTE) if lost else step)
        gathered.clear()


def _server_call(pointer: str, part: dict[str, Any]) -> Step:
    failure = part.get("error")
    result = failure or part.get("result")
    text = result if isinstance(result, str) else "" if result is None else jsontext.dump(result)
    return Step(
        role="tool",
        call=call_of(part["name"], part.get("arguments", ""), part.get("id")),
        result=ToolResult(text=text, error=bool(failure)),
        pointer=pointer,
        result_pointer=f"{pointer}/{'error' if failure else 'result'}",
    )


def _call(number: int, pointer: str, call: Any) -> Step:
    if not isinstance(call, dict) or not isinstance(call.get("function"), str):
        raise RowError(f"Message {number} has a tool call without a function.")
    failure = call.get("parse_error")
    return Step(
        role="tool",
        call=call_of(call["function"], call.get("arguments", {}), call.get("id")),
        note=f"The call could not be understood: {str(failure)[:500]}" if failure else "",
        pointer=pointer,
    )


def _add_result(builder: StepBuilder, pointer: str, message: dict[str, Any]) -> None:
    text, _, attachments = content_of(message.get("content"), f"{pointer}/content")
    failure = message.get("error")
    says = member(failure, "message")
    if isinstance(says, str) and says not in text:
        text = "\n\n".join(filter(None, (text, says)))
    builder.add_result(
        pointer,
        text,
        call_id=message.get("tool_call_id"),
        name=message.get("function"),
        error=bool(failure),
        attachments=attachments,
        note=(f"The tool reported an error: {str(member(failure, 'type') or 'unknown')[:60]}." if failure else ""),
    )


def _attachments(sample: dict[str, Any]) -> dict[str, str]:
    """Texts that are kept once, by their hash."""
    found: dict[str, str] = {}
    for texts in (member(sample, "transcript", "content"), sample.get("attachments")):
        if isinstance(texts, dict):
            found |= {name: text for name, text in texts.items() if isinstance(text, str)}
    return found


def _resolved(value: Any, texts: dict[str, str]) -> Any:
    """The value with every reference replaced by the text it stands for; one that leads nowhere stays."""
    if isinstance(value, str):
        protocol = next((protocol for protocol in PROTOCOLS if value.startswith(protocol)), "")
        return texts.get(value.removeprefix(protocol), value) if protocol else value
    if isinstance(value, dict):
        return {name: _resolved(child, texts) for name, child in value.items()}
    if isinstance(value, list):
        return [_resolved(child, texts) for child in value]
    return value


def _tools(sample: dict[str, Any], texts: dict[str, str]) -> list[dict[str, Any]]:
    """The tools of the last call of the model."""
    events = sample.get("events")
    calls = [event for event in events if member(event, "event") == "model"] if isinstance(events, list) else []
    tools = [each for event in calls[-1:] for each in tools_of(event.get("tools"))]
    return [_resolved(tool, texts) for tool in tools]


def _scores(sample: dict[str, Any]) -> list[dict[str, Any]]:
    scores = sample.get("scores")
    if isinstance(scores, dict):
        return [score(name, member(each, "value"), member(each, "explanation")) for name, each in scores.items()]
    single = sample.get("score")  # logs of 2024
    return [score("score", member(single, "value"), member(single, "explanation"))] if isinstance(single, dict) else []


def _reward(scores: list[dict[str, Any]]) -> float | None:
    """The number behind a single score; none where there are several."""
    if len(scores) != 1:
        return None
    value = scores[0]["value"]
    if isinstance(value, bool):
        return float(value)
    return LETTERS.get(value) if isinstance(value, str) else jsontext.number(value)


def _result(sample: dict[str, Any], reward: float | None) -> Result:
    """An error ends a run before its score counts; a limit does so unless the run had succeeded all the same."""
    if sample.get("error"):
        return "crash"
    if reward == 1:
        return "success"
    if sample.get("limit"):
        return "timeout"
    return "failure" if reward == 0 else "unknown"


def _composer(head: Mapping[str, bytes]) -> Callable[[bytes], bytes]:
    """Puts a sample together with the header of its log."""
    header, plan = head.get("eval", b"null"), head.get("plan", b"")
    return lambda sample: spliced(eval=header, plan=plan, sample=sample)


def composer(header: bytes) -> Callable[[bytes], bytes]:
    """The same for an archive, from the bytes of its header."""
    return _composer(members_of(header))


def is_archive(names: list[str]) -> bool:
    """Whether files of these names make an .eval."""
    return any(name in names for name in HEADER_NAMES)


def header_of(names: list[str]) -> str:
    """The name of the file that holds the header, or ""."""
    return next((name for name in HEADER_NAMES if name in names), "")


def is_sample(name: str) -> bool:
    """Whether this file of an .eval is a sample."""
    return name.startswith(SAMPLES) and name.endswith(".json")


ENVELOPE = Envelope(
    members=(frozenset({"eval", "plan"}), frozenset({"eval", "samples"})),
    runs="samples",
    head=("eval", "plan"),
    composer=_composer,
    without_runs="The log holds no samples.",
)
