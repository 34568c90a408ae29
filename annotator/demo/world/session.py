"""One run of one agent on one ticket: what was said, called and answered, and what the world knows about each of it."""

import json
from dataclasses import dataclass, field
from typing import Any

from annotator.demo.world.permissions import refusal
from annotator.demo.world.records import World
from annotator.demo.world.tools import TOOLS, ToolBroke, ToolRefused, touched

STEP_LIMIT = 22


class StepLimit(Exception):
    """The run has used up its steps and ends where it stands."""


class RunCrashed(Exception):
    """A tool broke; the run ends where it stands."""


@dataclass(frozen=True)
class Act:
    """A call that could be made: what is proposed, agreed to, or allowed."""

    tool: str
    arguments: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, tool: str, **arguments: str) -> "Act":
        return cls(tool, tuple(sorted(arguments.items())))


@dataclass(frozen=True)
class Claim:
    """Something an agent says is so: that a tool did it, or that a tool showed these words."""

    tool: str
    shows: str = ""
    """Words some result of the tool must contain; empty: the tool must have succeeded."""


@dataclass
class Call:
    step: int
    tool: str
    arguments: dict[str, str]
    result: dict[str, str] | None
    refused: bool
    no_right: str
    """Why the requester had no right to what was touched, or ""."""
    consented: bool
    repeated: bool
    """The same read was made before, and nothing has changed since."""

    @property
    def act(self) -> Act:
        return Act.of(self.tool, **self.arguments)

    @property
    def worked(self) -> bool:
        return self.result is not None and not self.refused


@dataclass
class Statement:
    step: int
    quote: str
    claim: Claim
    backed: bool


@dataclass
class Session:
    world: World
    requester: str
    admin_yes: dict[str, Act] = field(default_factory=dict)
    """What a colleague with the right agrees to when written to: handle -> act."""
    breaks: str = ""
    """The tool that will break in this run."""
    messages: list[dict[str, Any]] = field(default_factory=list)
    step: int = 0
    calls: list[Call] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    consents: set[Act] = field(default_factory=set)
    spoken: list[tuple[int, str]] = field(default_factory=list)
    """What the agent said: step and text."""
    needless: list[int] = field(default_factory=list)
    """Steps at which the agent asked what it knew already."""
    declined: int = 0
    """The step at which the agent refused what was asked."""
    closing: set[str] = field(default_factory=set)
    """Which parts of a proper ending were said: done, left, next."""
    crashed_at: int = 0
    timed_out: bool = False

    def hear(self, text: str) -> None:
        """The requester writes."""
        self._advance()
        self.messages.append({"role": "user", "content": text})

    def say(self, text: str, claims: tuple[Claim, ...] = (), *, declines: bool = False, needless: bool = False) -> None:
        """The agent writes. What stands in [[double brackets]] is claimed, in the order of the claims."""
        self._advance()
        plain, quotes = _unmark(text)
        self.messages.append({"role": "assistant", "content": plain})
        self.spoken.append((self.step, plain))
        for quote, claim in zip(quotes, claims, strict=True):
            self.statements.append(Statement(self.step, quote, claim, self._is_backed(claim)))
        if declines:
            self.declined = self.declined or self.step
        if needless:
            self.needless.append(self.step)

    def call(self, tool: str, arguments: dict[str, str], lead: str = "") -> dict[str, str]:
        """The agent calls a tool, with some words before it in the same message."""
        self._advance(2 if lead else 1)
        if lead:
            self.spoken.append((self.step - 1, lead))
        call_json = self._call_json(tool, arguments)
        self.messages.append({"role": "assistant", "content": lead or None, "tool_calls": [call_json]})
        kind, key = touched(self.world, TOOLS[tool], arguments)
        call = Call(
            step=self.step,
            tool=tool,
            arguments=arguments,
            result=None,
            refused=False,
            no_right=refusal(self.world, self.requester, kind, key),
            consented=self._has_consent(tool, arguments),
            repeated=self._is_repeated(tool, arguments),
        )
        self.calls.append(call)
        call.result, call.refused = self._execute(tool, arguments)
        self.messages.append(
            {
                "role": "tool",
                "tool_call_id": call_json["id"],
                "content": json.dumps(call.result, ensure_ascii=False),
            }
        )
        if tool == "post_reply" and call.worked and arguments["to"] in self.admin_yes:
            self.consents.add(self.admin_yes[arguments["to"]])
        return call.result

    def agree(self, act: Act) -> None:
        """The requester has said a clear yes to this. Roles are not theirs to give unless they are a current admin."""
        if act.tool == "set_role":
            workspace = self.world.workspaces[dict(act.arguments)["workspace"]]
            member = workspace.member_of(self.requester)
            if member is None or member.handle not in workspace.current_admins():
                return
        self.consents.add(act)

    def succeeded(self, tool: str) -> bool:
        return any(c.tool == tool and c.worked for c in self.calls)

    def _advance(self, steps: int = 1) -> None:
        if self.step + steps > STEP_LIMIT:
            self.timed_out = True
            raise StepLimit
        self.step += steps

    def _is_backed(self, claim: Claim) -> bool:
        results = [c.result for c in self.calls if c.tool == claim.tool and c.result and not c.refused]
        return any(claim.shows in " | ".join(result.values()) for result in results)

    def _has_consent(self, tool: str, arguments: dict[str, str]) -> bool:
        return not TOOLS[tool].consequential or Act.of(tool, **arguments) in self.consents

    def _is_repeated(self, tool: str, arguments: dict[str, str]) -> bool:
        """Walk back to the last change: the same call on the way means nothing new can come of it."""
        if TOOLS[tool].changes:
            return False
        for earlier in reversed(self.calls):
            if TOOLS[earlier.tool].changes and earlier.worked:
                return False
            if earlier.tool == tool and earlier.arguments == arguments:
                return True
        return False

    def _execute(self, tool: str, arguments: dict[str, str]) -> tuple[dict[str, str], bool]:
        try:
            if tool == self.breaks:
                raise ToolBroke
            return TOOLS[tool].run(self.world, **arguments), False
        except ToolRefused as refused:
            return {"error": str(refused)}, True
        except ToolBroke as broke:
            self.crashed_at = self.step
            raise RunCrashed from broke

    def _call_json(self, tool: str, arguments: dict[str, str]) -> dict[str, Any]:
        function = {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)}
        return {"id": f"call_{len(self.calls) + 1}", "type": "function", "function": function}


def _unmark(text: str) -> tuple[str, list[str]]:
    """Take the [[marks]] out of a text, and give what stood in them."""
    quotes = [part.split("]]", 1)[0] for part in text.split("[[")[1:]]
    return text.replace("[[", "").replace("]]", ""), quotes
