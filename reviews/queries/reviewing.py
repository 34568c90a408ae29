"""What is shown of a task that is reviewed: its four parts line by line, and the verifier's result of each run.

Raters read it with what the project masks. Which agent made a run is told by its role, for that is what its result is
read against; its model never is. How earlier
versions were decided is for leads alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from reviews.enums import AgentRole, TaskPart
from reviews.models import Candidate, Item, TaskVersion
from reviews.queries.items import letter_of
from reviews.queries.masking import reader_of
from reviews.trajectories.highlight import lines_of


@dataclass(frozen=True)
class PartView:
    """One part of a task, its lines escaped and, where it is code, coloured."""

    name: str
    label: str
    lines: list[str]


@dataclass(frozen=True)
class ResultView:
    """What the verifier said of one run."""

    title: str
    passed: bool | None
    score: float | None
    log: str
    checks: dict[str, bool]

    @property
    def words(self) -> str:
        return {True: "passed", False: "failed", None: "no result"}[self.passed]

    @property
    def css(self) -> str:
        return {True: "yes", False: "no-pass", None: "muted"}[self.passed]


@dataclass(frozen=True)
class TaskView:
    """The text of a task and how its runs ended, in the order of the screen."""

    version: TaskVersion
    parts: dict[str, PartView]
    results: list[ResultView]
    production_prompts: list[str]
    marks: list[dict[str, str]]

    @property
    def checks(self) -> list[tuple[str, list[bool | None]]]:
        """Each check with what it said of every run; None where it was not made."""
        names = list(dict.fromkeys(name for result in self.results for name in result.checks))
        return [(name, [result.checks.get(name) for result in self.results]) for name in names]

    @property
    def scored(self) -> bool:
        return any(result.score is not None for result in self.results)

    @property
    def beside(self) -> list[PartView]:
        """The parts that stand beside the verifier."""
        return [self.parts[name] for name in (TaskPart.PROMPT, TaskPart.INTENT, TaskPart.WORLD)]


def task_view(item: Item, order: Sequence[int], marks: list[dict[str, str]]) -> TaskView | None:
    """None for an item that is no task with its text."""
    if item.task_version is None:
        return None
    version, read = item.task_version, reader_of(item)
    parts = {part.value: part_view(part, read(version.part(part))) for part in TaskPart}
    prompts = [read(prompt) for prompt in version.production_prompts]
    results = _results(item, order)
    return TaskView(version=version, parts=parts, results=results, production_prompts=prompts, marks=marks)


def part_view(part: TaskPart, text: str) -> PartView:
    language = "python" if part == TaskPart.VERIFIER else ""
    return PartView(part.value, str(part.label), lines_of(text, language))


def _results(item: Item, order: Sequence[int]) -> list[ResultView]:
    rows = roles_and_results(item, order)
    titles = run_titles([row["role"] for row in rows])
    return [_result(title, row["result"]) for title, row in zip(titles, rows, strict=True)]


def _result(title: str, result: dict[str, Any]) -> ResultView:
    return ResultView(
        title=title,
        passed=result.get("passed"),
        score=result.get("score"),
        log=result.get("log", ""),
        checks={check["name"]: check["passed"] for check in result.get("checks", [])},
    )


def run_titles(roles: Sequence[str]) -> list[str]:
    """What runs are called: by role, counted where there are several of one, or by letter without a role."""
    many, seen = Counter(roles), Counter[str]()
    titles = []
    for place, role in enumerate(roles, start=1):
        seen[role] += 1
        name = str(AgentRole(role).label) if role else f"Run {letter_of(place)}"
        titles.append(f"{name} {seen[role]}" if role and many[role] > 1 else name)
    return titles


def task_given(item: Item, order: Sequence[int]) -> dict[str, Any]:
    """The same for a rater's program: the parts as text, and the results by place."""
    view = task_view(item, order, [])
    if view is None:
        return {}
    version, read = view.version, reader_of(item)
    return {
        "version": version.number,
        **{part.value: read(version.part(part)) for part in TaskPart},
        "axis": version.axis,
        "verifiability": version.verifiability,
        "production_prompts": view.production_prompts,
    }


def roles_and_results(item: Item, order: Sequence[int]) -> list[dict[str, Any]]:
    """Role and result of each run, in the order of the screen, as raters read it."""
    read = reader_of(item)
    found = {row.position: row for row in Candidate.objects.filter(item=item)}
    return [
        {"role": found[position].role, "result": _masked(found[position].result, read)}
        for position in order or sorted(found)
    ]


def _masked(value: Any, read: Callable[[str], str]) -> Any:
    """A JSON value with every text in it as raters read it."""
    if isinstance(value, str):
        return read(value)
    if isinstance(value, list):
        return [_masked(one, read) for one in value]
    return {key: _masked(one, read) for key, one in value.items()} if isinstance(value, dict) else value
