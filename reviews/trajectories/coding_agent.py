"""Sessions of Anthropic's coding agent: lines `{"uuid", "parentUuid", "isSidechain", "sessionId", "type", "message"}`.

A file is one session, and its lines make a tree: side conversations of sub-agents, places where the user went back and
began anew, and marks where the conversation was compacted. All of it happened, so all of it is shown, in the order of
the file, with notes where the thread changes. The blocks of one answer that lie on several lines are put together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from reviews.trajectories import jsontext
from reviews.trajectories.anthropic import ROLES, add_blocks
from reviews.trajectories.building import NO_STEPS_NOTE, StepBuilder, blocks_of, joined, member, title_of
from reviews.trajectories.schema import ReadOptions, Role, Run, RunOutcome, Step

TITLE = "Coding agent's session"
NEEDS = frozenset[str]()
# Lines that carry no message and may begin a file.
BARE_LINES = {"summary", "file-history-snapshot", "queue-operation", "progress", "custom-title", "mode"}

SIDE_NOTE = "Side conversation of a sub-agent."
COMPACTION_NOTE = "From here on the agent knows what came before only from a summary."
SUMMARY_NOTE = "A summary written when the conversation was compacted; not the user's words."
META_NOTE = "Put in by the program; not the user's words."
BACK_NOTE = "Here the conversation goes back to an earlier point and begins anew."
MISSING_NOTE = "The message before this one is not in the file."


def is_line(value: Any) -> bool:
    """Whether this is a line of a session."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return False
    if value["type"] in BARE_LINES:
        return bool({"leafUuid", "sessionId", "messageId", "snapshot"} & value.keys())
    return {"uuid", "parentUuid", "sessionId"} <= value.keys()


def recognise(value: Any) -> str:
    """Why this is a session, or "" when it is not."""
    if isinstance(value, list) and value and is_line(value[0]) and any(_message(line) for line in value):
        return "lines with uuid, parentUuid and sessionId"
    return ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one session."""
    builder = StepBuilder()
    thread = _Thread()
    unshown: Counter[str] = Counter()
    for lines in _grouped(value):
        place, first = lines[0]
        note = thread.note(first)
        for _, line in lines:
            thread.follow(line)
        if _message(first):
            blocks = [
                block
                for number, line in lines
                for block in blocks_of(line["message"].get("content"), f"/{number}/message/content")
            ]
            add_blocks(builder, _role(first), f"/{place}/message", blocks, joined(note, _kind_note(first)))
        elif isinstance(member(first, "content"), str):
            compacted = first.get("subtype") == "compact_boundary"
            note = joined(note, COMPACTION_NOTE if compacted else "")
            builder.add(Step(role="system", text=first["content"], note=note, pointer=f"/{place}"))
        else:
            unshown[str(member(first, "type"))[:60]] += 1
    steps = builder.steps or [Step(role="system", note=NO_STEPS_NOTE)]
    return Run(
        steps=tuple(steps),
        title=_title(value) or title_of(steps),
        outcome=RunOutcome(model=_first(value, "message", "model") or options.model, data=_data(value, unshown)),
        source_ref=f"session {_first(value, 'sessionId')}"[:60],
    )


class _Thread:
    """Follows the tree: what note a line needs because it does not go on from the line before it."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._last: dict[bool, str] = {}  # the last line of the main thread, and of side conversations

    def note(self, line: Any) -> str:
        side = _is_side(line)
        parent = member(line, "parentUuid")
        return joined(SIDE_NOTE if side else "", self._jump(line, parent, side))

    def _jump(self, line: Any, parent: Any, side: bool) -> str:
        if not _message(line) or not isinstance(parent, str) or parent == self._last.get(side) or _is_result(line):
            return ""
        if parent not in self._seen:
            return MISSING_NOTE
        return "" if side else BACK_NOTE

    def follow(self, line: Any) -> None:
        uuid = member(line, "uuid")
        if isinstance(uuid, str):
            self._seen.add(uuid)
            self._last[_is_side(line)] = uuid


def _grouped(lines: list[Any]) -> Iterator[list[tuple[int, Any]]]:
    """The lines, those of one answer of the agent together."""
    group: list[tuple[int, Any]] = []
    for place, line in enumerate(lines):
        answer = member(line, "message", "id") if member(line, "type") == "assistant" else None
        if group and not (isinstance(answer, str) and answer == member(group[-1][1], "message", "id")):
            yield group
            group = []
        group.append((place, line))
    if group:
        yield group


def _message(line: Any) -> bool:
    """Whether the line carries a message of a known role."""
    role = member(line, "message", "role")
    return isinstance(role, str) and role in ROLES


def _role(line: Any) -> Role:
    return "system" if line.get("isCompactSummary") else ROLES[line["message"]["role"]]


def _kind_note(line: Any) -> str:
    if line.get("isCompactSummary"):
        return SUMMARY_NOTE
    return META_NOTE if line.get("isMeta") else ""


def _is_side(line: Any) -> bool:
    return member(line, "isSidechain") is True


def _is_result(line: Any) -> bool:
    """Results of calls made at once hang on their calls and not on each other."""
    content = member(line, "message", "content")
    return isinstance(content, list) and any(member(block, "type") == "tool_result" for block in content)


def _title(lines: list[Any]) -> str:
    """The beginning of the user's first own words."""
    own = [
        Step(role="user", text=content)
        for line in lines
        if member(line, "type") == "user"
        and not (line.get("isMeta") or line.get("isCompactSummary") or _is_side(line))
        and isinstance(content := member(line, "message", "content"), str)
    ]
    return title_of(own)


def _first(lines: list[Any], *names: str) -> str:
    found = (member(line, *names) for line in lines)
    return next((value for value in found if isinstance(value, str) and value), "")


def _data(lines: list[Any], unshown: Counter[str]) -> dict[str, Any]:
    """What is known of the session and not shown."""
    names = ("sessionId", "version", "cwd", "gitBranch", "slug")
    data: dict[str, Any] = {name: found for name in names if (found := _first(lines, name))}
    usage = [member(line, "message", "usage") for line in lines]
    data["usage"] = {
        name: sum(int(jsontext.number(member(each, name)) or 0) for each in usage)
        for name in ("input_tokens", "output_tokens")
    }
    return data | ({"lines_not_shown": dict(unshown)} if unshown else {})
