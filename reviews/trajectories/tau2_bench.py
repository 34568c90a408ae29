"""tau2-bench: a results file with many simulations, or a folder with `results.json` and `simulations/`.

A row is one simulation with what its file says of it: `{"info": …, "tasks": […], "simulation": …}`; a simulation alone
is a row too. The policy stands in `info`. Calls are flat and a tool message's `id` is the call's; the requester's side
may call tools as well. Rewards, checks, reviews, the requester's hidden goal and private thoughts are outcome data.

A simulation's `task_id` is not trusted: in some published files it names another task. The checks say which task was
run; where they do, that task is taken and `notes` in the outcome's data say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reviews.trajectories import jsontext
from reviews.trajectories.building import (
    NO_STEPS_NOTE,
    StepBuilder,
    call_of,
    content_of,
    joined,
    member,
    score,
    text_of,
    title_of,
    tools_of,
    with_note,
)
from reviews.trajectories.envelope import Envelope, spliced
from reviews.trajectories.schema import ReadOptions, Result, Role, RowError, Run, RunOutcome, Step
from reviews.trajectories.splitting import ListSplitter, members_of

TITLE = "tau2-bench"
NEEDS = frozenset({"simulation", "termination_reason"})
ROLES: dict[str, Role] = {"system": "system", "user": "user", "assistant": "agent"}
END_MARKS = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")
END_NOTE = "{} is the mark with which the simulated requester ends the run; they are not the requester's words."
REQUESTER_NOTE = "Called on the requester's side, not by the agent."
WRAPPED_NOTE = 'The source wraps these words in JSON: {"message": …}.'
SILENT_NOTE = "The source holds {:,} ticks of sound without words."
ENDED_BY_THEMSELVES = {"user_stop", "agent_stop"}
OUT_OF_TIME = {"max_steps", "timeout"}
SIMULATIONS = "simulations/"


def recognise(value: Any) -> str:
    """Why this is tau2-bench, or "" when it is not."""
    if not isinstance(value, dict):
        return ""
    if isinstance(value.get("simulation"), dict) and {"info", "tasks"} & value.keys():
        return "a simulation with its info and tasks"
    if {"task_id", "termination_reason"} <= value.keys() and {"messages", "ticks"} & value.keys():
        return "it has task_id, termination_reason and messages"
    return ""


def to_run(value: Any, options: ReadOptions) -> Run:
    """The run of one simulation."""
    simulation, base = (
        (value["simulation"], "/simulation") if isinstance(value.get("simulation"), dict) else (value, "")
    )
    info = value.get("info") if base else None
    messages = simulation.get("messages") or []
    if not isinstance(messages, list):
        raise RowError("Its messages are not a list.")
    builder = StepBuilder()
    for place, message in enumerate(messages):
        _add_message(builder, place + 1, f"{base}/messages/{place}", message)
    ticks = simulation.get("ticks")
    if not messages and isinstance(ticks, list):
        _add_ticks(builder, f"{base}/ticks", ticks)
        if not builder.steps and ticks:
            builder.add(Step(role="system", note=SILENT_NOTE.format(len(ticks)), pointer=f"{base}/ticks"))
    steps = builder.steps or [Step(role="system", note=NO_STEPS_NOTE)]
    domain = text_of(member(info, "environment_info", "domain_name")) or options.domain
    task_id, note = _task(simulation, value.get("tasks") if base else None)
    policy = member(info, "environment_info", "policy")
    trial = text_of(simulation.get("trial"))
    reward_info = simulation.get("reward_info")
    return Run(
        steps=tuple(steps),
        key=f"{domain or 'tau2'}-{task_id}" if task_id else "",
        family=domain,
        title=title_of(steps) or (f"Task {task_id}" if task_id else "A simulation"),
        policy_text=policy if isinstance(policy, str) else "",
        tools=tools_of(member(info, "environment_info", "tool_defs")),
        outcome=RunOutcome(
            result=_result(simulation),
            reward=jsontext.number(member(reward_info, "reward")),
            model=text_of(member(info, "agent_info", "llm")) or options.model,
            data={
                "scores": _scores(reward_info),
                **({"notes": [note]} if note else {}),
                **{name: child for name, child in value.items() if base and name != "simulation"},
                "simulation": {name: child for name, child in simulation.items() if name not in {"messages", "ticks"}},
            },
        ),
        source_ref=f"trial {trial}" if trial else "",
        notes=(note,) if note else (),
    )


def _add_message(builder: StepBuilder, number: int, pointer: str, message: Any) -> None:
    if not isinstance(message, dict):
        raise RowError(f"Message {number} is not an object with a role.")
    role = message.get("role")
    if role == "tool":
        inner = message.get("tool_messages")
        for place, each in enumerate(inner) if isinstance(inner, list) else ():
            _add_result(builder, f"{pointer}/tool_messages/{place}", each)
        if not isinstance(inner, list):
            _add_result(builder, pointer, message)
        return
    if not isinstance(role, str) or role not in ROLES:
        raise RowError(f"Message {number} has the role {jsontext.dump(role)[:60]}, which is not known.")
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise RowError(f"Message {number} has tool_calls that are not a list.")
    step = _words(ROLES[role], pointer, message)
    if step.text or step.reasoning or step.attachments or not calls:
        builder.add(step)
    for place, call in enumerate(calls):
        builder.add(_call(number, f"{pointer}/tool_calls/{place}", call, role))


def _words(role: Role, pointer: str, message: dict[str, Any]) -> Step:
    text, reasoning, attachments = content_of(message.get("content"), f"{pointer}/content")
    note = ""
    if role == "agent":
        # What the simulated requester thinks tells the hidden goal, so only the agent's thoughts are shown.
        thought = member(message, "raw_data", "message", "reasoning_content")
        reasoning = reasoning or (thought if isinstance(thought, str) else "")
        wrapped = jsontext.parse_text(text) if text.lstrip().startswith("{") else None
        if isinstance(wrapped, dict) and wrapped.keys() == {"message"} and isinstance(wrapped["message"], str):
            text, note = wrapped["message"], WRAPPED_NOTE
    step = Step(role=role, text=text, reasoning=reasoning, attachments=attachments, note=note, pointer=pointer)
    return _marked(step)


def _marked(step: Step) -> Step:
    mark = next((mark for mark in END_MARKS if mark in step.text), "") if step.role == "user" else ""
    return with_note(step, END_NOTE.format(mark)) if mark else step


def _call(number: int, pointer: str, call: Any, role: Any) -> Step:
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        raise RowError(f"Message {number} has a tool call without a name.")
    is_agents = call.get("requestor", role) == "assistant"
    return Step(
        role="tool",
        call=call_of(call["name"], call.get("arguments", {}), call.get("id")),
        note="" if is_agents else REQUESTER_NOTE,
        pointer=pointer,
    )


def _add_result(builder: StepBuilder, pointer: str, message: Any) -> None:
    text, _, attachments = content_of(member(message, "content"), f"{pointer}/content")
    builder.add_result(
        pointer, text, call_id=member(message, "id"), error=member(message, "error") is True, attachments=attachments
    )


def _add_ticks(builder: StepBuilder, pointer: str, ticks: list[Any]) -> None:
    """A spoken run: what one side says until the other one speaks or a tool is called is one step."""
    speech = _Speech(builder)
    for place, tick in enumerate(ticks):
        here = f"{pointer}/{place}"
        for side, role in (("agent", "agent"), ("user", "user")):
            chunk = member(tick, f"{side}_chunk")
            speech.say(role, f"{here}/{side}_chunk", _heard(chunk))
            for owner, name in ((tick, f"{side}_tool_calls"), (chunk, "tool_calls")):
                calls = member(owner, name)
                for number, call in enumerate(calls) if isinstance(calls, list) else ():
                    speech.end()
                    where = f"{here}/{name}" if owner is tick else f"{here}/{side}_chunk/{name}"
                    builder.add(_call(place, f"{where}/{number}", call, "assistant" if side == "agent" else "user"))
            results = member(tick, f"{side}_tool_results")
            for number, result in enumerate(results) if isinstance(results, list) else ():
                _add_result(builder, f"{here}/{side}_tool_results/{number}", result)
    speech.end()


def _heard(chunk: Any) -> str:
    """The words of a piece of speech. Where its content is the sound itself, they are in its script."""
    if not isinstance(chunk, dict):
        return ""
    words = chunk.get("content")
    if chunk.get("is_audio"):
        words = next((value for name, value in chunk.items() if name.startswith("audio_script")), "")
    return words if isinstance(words, str) else ""


class _Speech:
    """Gathers what one side says, piece by piece."""

    def __init__(self, builder: StepBuilder):
        self._builder = builder
        self._role: Role = "agent"
        self._pointer = ""
        self._words: list[str] = []

    def say(self, role: Any, pointer: str, words: str) -> None:
        if not words:
            return
        if self._words and role != self._role:
            self.end()
        if not self._words:
            self._role, self._pointer = role, pointer
        self._words.append(words)

    def end(self) -> None:
        if self._words:
            self._builder.add(_marked(Step(role=self._role, text="".join(self._words), pointer=self._pointer)))
            self._words = []


def _task(simulation: dict[str, Any], tasks: Any) -> tuple[str, str]:
    """The id of the task that was run, and a note where that is not simply what the simulation says."""
    named = text_of(simulation.get("task_id"))
    by_id = {text_of(member(task, "id")): task for task in tasks} if isinstance(tasks, list) else {}
    if not _evidence(simulation) or (named in by_id and _fits(by_id[named], simulation)):
        return named, ""
    others = [task_id for task_id, task in by_id.items() if task_id and _fits(task, simulation)]
    if len(others) == 1:
        return others[
            0
        ], f"The simulation names task {named}; its checks are those of task {others[0]}, which was taken."
    if by_id:
        return named, f"The checks of the simulation are not those of the task {named} that it names."
    return named, ""


def _evidence(simulation: Any) -> dict[str, set[str]]:
    """What the checks of a run that came to its end tell of its task: identities of actions and information."""
    reward_info, reason = member(simulation, "reward_info"), text_of(member(simulation, "termination_reason"))
    if not isinstance(reward_info, dict) or reason not in ENDED_BY_THEMSELVES:
        return {}
    found: dict[str, set[str]] = {}
    actions, told = reward_info.get("action_checks"), reward_info.get("communicate_checks")
    if isinstance(actions, list) and actions:
        found["actions"] = {_action(member(check, "action")) for check in actions}
    elif str(member(reward_info, "info", "action", "note")).startswith("No actions"):
        found["actions"] = set()
    if isinstance(told, list) and told:
        found["told"] = {str(member(check, "info")) for check in told}
    elif str(member(reward_info, "info", "communicate", "note")).startswith("No communicate"):
        found["told"] = set()
    return found


def _fits(task: Any, simulation: Any) -> bool:
    """Whether all that the checks tell is true of this task."""
    criteria, evidence = member(task, "evaluation_criteria"), _evidence(simulation)
    if not isinstance(criteria, dict) or not evidence:
        return False
    actions = {_action(action) for action in _list(criteria.get("actions"))}
    told = {str(info) for info in _list(criteria.get("communicate_info"))}
    if "actions" in evidence and not (evidence["actions"] <= actions if evidence["actions"] else not actions):
        return False
    return "told" not in evidence or evidence["told"] == told


def _action(action: Any) -> str:
    return jsontext.dump([member(action, name) for name in ("action_id", "name", "arguments")])


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _result(simulation: dict[str, Any]) -> Result:
    """How the run ended: out of steps or time, by an error of the machinery, or by itself with a reward."""
    reason = text_of(simulation.get("termination_reason"))
    reward = jsontext.number(member(simulation, "reward_info", "reward"))
    if reason in OUT_OF_TIME:
        return "timeout"
    if reason.endswith("error"):
        return "crash"
    if reward is None:
        return "unknown"
    return "success" if reward >= 1 else "failure"


def _scores(reward_info: Any) -> list[dict[str, Any]]:
    """The reward and all that it was made of, as scores of graders."""
    if not isinstance(reward_info, dict):
        return []
    scores = [score("reward", reward_info.get("reward"), member(reward_info, "info", "note"))]
    breakdown = reward_info.get("reward_breakdown")
    scores += [score(name, value) for name, value in breakdown.items()] if isinstance(breakdown, dict) else []
    if isinstance(reward_info.get("db_check"), dict):
        scores.append(score("db_check", reward_info["db_check"].get("db_match")))
    for name, met, says in (
        ("action_checks", "action_match", ("action", "name")),
        ("env_assertions", "met", ("env_assertion", "func_name")),
        ("nl_assertions", "met", ("nl_assertion",)),
        ("communicate_checks", "met", ("info",)),
    ):
        for place, check in enumerate(_list(reward_info.get(name))):
            told, why = member(check, *says), member(check, "justification")
            explanation = joined(*(text if isinstance(text, str) else "" for text in (told, why)))
            scores.append(score(f"{name}/{place}", member(check, met), explanation))
    return scores


def _composer(head: Mapping[str, bytes]) -> Callable[[bytes], bytes]:
    """Puts a simulation together with its file's info and with the tasks it can be about."""
    tasks: list[tuple[bytes, Any]] = []
    if head.get("tasks", b"").startswith(b"["):
        pieces = ListSplitter(len(head["tasks"])).feed(head["tasks"])
        tasks = [(piece, jsontext.parse_text(piece.decode("utf-8", "replace"))) for piece in pieces]

    def compose(data: bytes) -> bytes:
        simulation = jsontext.parse_text(data.decode("utf-8", "replace"))
        named = member(simulation, "task_id")
        chosen = [piece for piece, task in tasks if member(task, "id") == named or _fits(task, simulation)]
        return spliced(info=head.get("info", b"null"), tasks=b"[" + b", ".join(chosen) + b"]", simulation=data)

    return compose


def composer(results: bytes) -> Callable[[bytes], bytes]:
    """The same for a folder, from the bytes of its results.json."""
    return _composer(members_of(results))


def folder_of(name: str, names: list[str]) -> str | None:
    """The folder whose results file this is, with "/" at its end, if simulations lie beside it."""
    folder, _, file = name.rpartition("/")
    folder = f"{folder}/" if folder else ""
    is_results = file == "results.json" and any(is_simulation(other, folder) for other in names)
    return folder if is_results else None


def is_simulation(name: str, folder: str) -> bool:
    """Whether this is the file of one simulation of the folder."""
    return name.startswith(folder + SIMULATIONS) and name.endswith(".json")


ENVELOPE = Envelope(
    members=(frozenset({"info", "tasks"}), frozenset({"info", "simulations"})),
    runs="simulations",
    head=("info", "tasks"),
    composer=_composer,
    without_runs="It holds no simulations. If they lie in a folder beside it, import the whole folder or a ZIP of it.",
)
