"""The tools a run had: what each is for, what it takes, and whether it changes something in the world.

Descriptions come as OpenAI, Anthropic and MCP write them. Nothing is guessed from a name: a tool that does not say
whether it writes has no tag.
"""

from __future__ import annotations

from typing import Any

import msgspec

from reviews.trajectories.render import pretty_json

LONGEST_TAG = 40


class Tool(msgspec.Struct, frozen=True):
    """One tool. `tags` are (words, css class): what it does to the world, and whether that is only simulated.

    There are none where its description does not say it.
    """

    name: str
    description: str = ""
    takes: Any = None
    tags: tuple[tuple[str, str], ...] = ()

    @property
    def parameters(self) -> str:
        """The schema of what it takes, as JSON over several lines."""
        return "" if self.takes is None else pretty_json(self.takes)

    @property
    def writes(self) -> bool:
        return any(css == "write" for _words, css in self.tags)


def tools_of(described: Any) -> list[Tool]:
    """The tools that have a name, in their order."""
    found = (_tool(one) for one in described) if isinstance(described, list) else ()
    return [tool for tool in found if tool]


def tags_of(described: Any) -> dict[str, tuple[tuple[str, str], ...]]:
    """The tags of each tool that has any, by the tool's name."""
    return {tool.name: tool.tags for tool in tools_of(described) if tool.tags}


def writers_of(described: Any) -> set[str]:
    """The names of the tools that change something."""
    return {tool.name for tool in tools_of(described) if tool.writes}


def _tool(described: Any) -> Tool | None:
    function = described.get("function", described) if isinstance(described, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(function, dict) or not isinstance(name, str):
        return None
    takes = next((function[key] for key in ("parameters", "input_schema", "inputSchema") if function.get(key)), None)
    says = function.get("description")
    return Tool(
        name=name,
        description=says if isinstance(says, str) else "",
        takes=takes,
        tags=tuple(tag for tag in (_effect(function), _simulated(described, function)) if tag),
    )


def _simulated(*places: dict[str, Any]) -> tuple[str, str] | None:
    """Whether what the tool does stays inside a simulation; said of the function, or beside it."""
    return ("simulated", "simulated") if any(place.get("simulated") is True for place in places) else None


def _effect(function: dict[str, Any]) -> tuple[str, str] | None:
    changes, access = function.get("changes"), function.get("access")
    if changes and isinstance(changes, str):
        return f"changes {changes[:LONGEST_TAG]}", "write"
    if access in ("read", "write"):
        return access, access
    hints = function.get("annotations")
    hints = hints if isinstance(hints, dict) else {}
    if hints.get("readOnlyHint") is True:
        return "read", "read"
    if hints.get("destructiveHint") is True:
        return "destroys", "write"
    return ("write", "write") if hints.get("readOnlyHint") is False else None
