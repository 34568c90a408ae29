"""LangSmith: runs as its client sends them (`{"post", "patch"}`, merged by id), or as they are exported, one or many.

The runs of one trace are a tree; `dotted_order` gives their order. Runs of models and tools make the steps. Feedback,
errors and everything else that is said of the root are outcome data. An example of a data set is the task.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from msgspec.structs import replace

from reviews.trajectories import jsontext
from reviews.trajectories.building import attachment_of, member, score, text_of, title_of
from reviews.trajectories.dialects import Place, messages_in, spoken, tool_definitions_in, unwrapped
from reviews.trajectories.schema import ReadOptions, RowError, Run, RunOutcome
from reviews.trajectories.spans import Span, ToolUse, steps_of_spans

TITLE = "LangSmith"
NEEDS = frozenset({"post", "run_type"})
MAX_RUNS = 100_000
MODEL_TYPES = {"llm", "chat_model"}


class Merged(NamedTuple):
    """A run put together from its mentions; each member lies in one of them."""

    pointer: str
    run: dict[str, Any]
    members: dict[str, str]

    def place(self, name: str) -> Place:
        """Where a member lies in the original."""
        return Place(self.members.get(name, self.pointer)).at(name)


def recognise(value: Any) -> str:
    """Why this is LangSmith, or "" when it is not."""
    if isinstance(value, list):
        return "a list of runs with run_type and inputs" if value and is_part(value[0]) else ""
    if _is_batch(value):
        return "it has post and patch"
    return "it has run_type and inputs" if is_part(value) else ""


def is_part(value: Any) -> bool:
    """Whether this is one run (of a model, a tool or a chain), or what a client sends at a time."""
    if not isinstance(value, dict):
        return False
    return _is_batch(value) or (isinstance(value.get("run_type"), str) and "inputs" in value)


def _is_batch(value: Any) -> bool:
    batches = [member(value, name) for name in ("post", "patch")]
    return all(isinstance(batch, list) for batch in batches) and any(batches)


def to_runs(value: Any, options: ReadOptions) -> list[tuple[str, Run]]:
    """A run for each trace."""
    merged = _merged(value)
    traces: dict[str, list[Merged]] = {}
    for found in merged.values():
        traces.setdefault(_trace_of(found.run), []).append(found)
    if len(traces) == 1:
        ((trace, runs),) = traces.items()
        return [(trace, _run(runs, options))]
    parts: list[tuple[str, Run]] = []
    for trace, narrowed in _by_trace(value, {run_id: _trace_of(found.run) for run_id, found in merged.items()}).items():
        run = _run(list(_merged(narrowed).values()), options)
        parts.append((trace, replace(run, original=jsontext.dump(narrowed).encode("utf-8", "surrogatepass"))))
    return parts


def _merged(value: Any) -> dict[str, Merged]:
    """Runs by id: what a patch says is added to what was posted, and what it leaves empty stays."""
    found: dict[str, Merged] = {}
    for pointer, source in _mentions(value):
        run_id = _id_of(source) or pointer
        known = found.setdefault(run_id, Merged(pointer, {}, {}))
        for name, child in source.items():
            if name not in known.run or child not in (None, {}, []):
                known.run[name] = child
                known.members[name] = pointer
    return found


def _mentions(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    sources = deque(_top_level(value, ""))
    for _ in range(MAX_RUNS):
        if not sources:
            return
        pointer, run = sources.popleft()
        if not isinstance(run, dict):
            continue
        yield pointer, run
        children = run.get("child_runs")
        for number, child in enumerate(children if isinstance(children, list) else []):
            sources.append((f"{pointer}/child_runs/{number}", child))


def _top_level(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        for number, child in enumerate(value):
            yield from _top_level(child, f"{pointer}/{number}")
    elif _is_batch(value):
        for name in ("post", "patch"):
            yield from ((f"{pointer}/{name}/{number}", run) for number, run in enumerate(value[name]))
    else:
        yield pointer, value


def _id_of(run: dict[str, Any]) -> str:
    """The run's id; a patch of the JavaScript client leaves it to the end of `dotted_order`."""
    return text_of(run.get("id")) or text_of(run.get("dotted_order")).rpartition("Z")[2]


def _trace_of(run: dict[str, Any]) -> str:
    return text_of(run.get("trace_id")) or text_of(run.get("dotted_order")).partition(".")[0] or "trace"


def _by_trace(value: Any, traces: dict[str, str]) -> dict[str, Any]:
    """The file once for each trace, with the runs of that trace only."""
    found: dict[str, Any] = {}
    if isinstance(value, list):
        for child in value:
            for trace, part in _by_trace(child, traces).items():
                found.setdefault(trace, []).append(part)
    elif _is_batch(value):
        around = {name: child for name, child in value.items() if name not in {"post", "patch"}}
        for name in ("post", "patch"):
            for trace, runs in _by_trace(value[name], traces).items():
                found.setdefault(trace, {**around, "post": [], "patch": []})[name] = runs
    elif isinstance(value, dict):
        found[traces.get(_id_of(value)) or _trace_of(value)] = value
    return found


def _run(runs: list[Merged], options: ReadOptions) -> Run:
    spans = [_span(found) for found in runs]
    if not any(span.readable or span.tool for span in spans):
        raise RowError(_why_unreadable(runs))
    steps = steps_of_spans(spans)
    if not steps:
        raise RowError(_why_unreadable(runs))
    ids = {_id_of(found.run) for found in runs}
    roots = [found.run for found in runs if text_of(found.run.get("parent_run_id")) not in ids]
    root = roots[0] if roots else runs[0].run
    scores = [score for found in runs for score in _scores(found.run)]
    hidden = {"inputs", "outputs", "child_runs", "serialized", "events"}
    data = {name: child for name, child in root.items() if name not in hidden}
    errors = [error for found in runs if (error := text_of(found.run.get("error")))]
    data |= {name: said for name, said in (("scores", scores), ("errors", errors)) if said}
    return Run(
        steps=tuple(steps),
        key=text_of(root.get("reference_example_id")),
        title=title_of(steps) or "LangSmith trace",
        tools=next((tools for found in runs if (tools := _tools(found.run))), []),
        outcome=RunOutcome(
            result="crash" if text_of(root.get("error")) or root.get("status") == "error" else "unknown",
            model=next((model for found in runs if (model := _model(found.run))), options.model),
            data=data,
        ),
        source_ref=f"run {_id_of(root)}"[:60],
        source_id=text_of(root.get("trace_id")) or _id_of(root),
    )


def _why_unreadable(runs: list[Merged]) -> str:
    names = dict.fromkeys(f"{text_of(run.get('name'))} ({text_of(run.get('run_type'))})" for _, run, _ in runs)
    return f"None of its runs has messages or tool calls that can be read: {', '.join(names)[:300]}."


def _span(found: Merged) -> Span:
    pointer, run, _ = found
    kind = text_of(run.get("run_type"))
    parent = text_of(run.get("parent_run_id")) or _parent_in(text_of(run.get("dotted_order")))
    common: dict[str, Any] = {
        "id": _id_of(run) or pointer,
        "parent": parent,
        "order": _order(run),
        "name": text_of(run.get("name")),
        "pointer": pointer,
    }
    inputs, outputs = run.get("inputs"), run.get("outputs")
    if kind == "tool":
        return Span(kind="tool", tool=_tool_use(run), **common)
    given, answered = messages_in(inputs, found.place("inputs")), messages_in(outputs, found.place("outputs"))
    is_model = kind in MODEL_TYPES
    output = member(outputs, "output")
    if is_model and given and not answered and isinstance(output, str):
        answered = spoken("agent", output, found.place("outputs").at("output"))
    unread = tuple(
        attachment_of(name, run[name], found.place(name).pointer)
        for name, units in (("inputs", given), ("outputs", answered))
        if not units and run.get(name)
    )
    return Span(kind="model" if is_model else "other", given=given, answered=answered, unread=unread, **common)


def _parent_in(dotted_order: str) -> str:
    """The parent's id in `dotted_order`: `<time>Z<id>.<time>Z<id>` from the root to the run."""
    parts = dotted_order.split(".")
    return parts[-2].partition("Z")[2] if len(parts) > 1 else ""


def _order(run: dict[str, Any]) -> tuple[Any, ...]:
    """By dotted order, and by time where there is none."""
    dotted = text_of(run.get("dotted_order"))
    if dotted:
        return (0, dotted.rpartition(".")[2], dotted)
    start = run.get("start_time")
    if isinstance(start, str):
        try:
            return (1, datetime.fromisoformat(start).isoformat(), "")
        except ValueError:
            return (1, start, "")
    return (1, f"{jsontext.number(start) or 0:030.6f}", "")


def _tool_use(run: dict[str, Any]) -> ToolUse:
    inputs, outputs, error = run.get("inputs"), run.get("outputs"), text_of(run.get("error"))
    arguments = inputs
    if isinstance(inputs, dict) and len(inputs) == 1 and "input" in inputs:  # LangChain gives the text of the value
        arguments = inputs["input"]
    if isinstance(arguments, str) and jsontext.parse_text(arguments) is None:
        arguments = _python_literal(arguments)
    result: Any = outputs
    for name in ("output", "content"):
        if isinstance(result, dict) and name in result:
            result = result[name]
    if isinstance(result, dict) and isinstance(member(result, "kwargs", "content"), str):
        result = result["kwargs"]["content"]
    if error:
        result = error
    call_id = text_of(member(outputs, "output", "tool_call_id")) or text_of(member(run, "extra", "tool_call_id"))
    return ToolUse(
        name=text_of(run.get("name")) or "unnamed",
        call_id=call_id,
        arguments=arguments,
        result=None if result is None else result if isinstance(result, str) else jsontext.dump(result),
        error=bool(error),
    )


def _python_literal(text: str) -> Any:
    """LangChain writes a tool's input as Python does; quotes turned, a simple one is JSON."""
    if not text.startswith("{") or '"' in text or "\\" in text:
        return text
    value = jsontext.parse_text(text.replace("'", '"'))
    return text if value is None else value


def _scores(run: dict[str, Any]) -> Iterator[dict[str, Any]]:
    given = run.get("feedback")
    for feedback in given if isinstance(given, list) else []:
        if isinstance(feedback, dict):
            value = feedback.get("score") if feedback.get("score") is not None else feedback.get("value")
            yield score(text_of(feedback.get("key")), value, feedback.get("comment"))
    stats = run.get("feedback_stats")
    for name, child in stats.items() if isinstance(stats, dict) and not given else ():
        yield score(name, child.get("avg") if isinstance(child, dict) else child)


def _tools(run: dict[str, Any]) -> list[dict[str, Any]]:
    inputs, _ = unwrapped(run.get("inputs"), Place(""))
    return tool_definitions_in(inputs) or tool_definitions_in(member(run, "extra", "invocation_params"))


def _model(run: dict[str, Any]) -> str:
    if text_of(run.get("run_type")) not in MODEL_TYPES:
        return ""
    for model in (
        member(run, "outputs", "model"),
        member(run, "extra", "metadata", "ls_model_name"),
        member(run, "inputs", "model"),
    ):
        if isinstance(model, str) and model:
            return model
    return ""
