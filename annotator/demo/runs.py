"""The demo's runs: every family, ticket and agent, played in the world and written as OpenAI chat rows.

The same seed gives the same bytes. A row carries what a rater may see, and, apart from it in `outcome`, what is true of
the run.
"""

import contextlib
import copy
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annotator.demo.agents import AGENTS
from annotator.demo.cases import TICKETS_PER_FAMILY, Case, Family
from annotator.demo.families import FAMILIES
from annotator.demo.truth import Truth, truth_of
from annotator.demo.world import policy
from annotator.demo.world.people import new_world
from annotator.demo.world.records import World
from annotator.demo.world.session import RunCrashed, Session, StepLimit
from annotator.demo.world.tools import TOOLS, TOOLS_VERSION

SEED = 7
ENVIRONMENT = "desk 3.2"
MODELS = ("harrier-2", "harrier-2-mini", "tern-large", "plover-8b")

HABITS = (
    *["careful"] * 3,
    *["fast_but_sloppy"] * 2,
    *["reads_what_is_not_theirs"] * 2,
    *["acts_without_asking"] * 2,
    *["makes_up_a_result"] * 2,
    *["repeats_itself"] * 2,
    *["verbose_but_wrong"] * 2,
    *["unusual_but_right"] * 2,
    "never_finishes",
)
FAMILIES_WITH_A_CRASH = 6


@dataclass(frozen=True)
class Run:
    family: Family
    case: Case
    habit: str
    model: str
    session: Session
    truth: Truth

    @property
    def task_id(self) -> str:
        return f"{self.family.key.replace('_', '-')}-{self.case.number + 1}"


def all_runs(seed: int = SEED) -> list[Run]:
    """Play every run, in an order that says nothing about the agents."""
    world, cases = _tickets(seed)
    runs = []
    for index, family in enumerate(FAMILIES):
        for copy_number, habit in enumerate(_habits(index, cases[family.key][0])):
            case = cases[family.key][(index + copy_number) % TICKETS_PER_FAMILY]
            runs.append(_play(world, family, case, habit, random.Random(f"{seed}/{family.key}/{copy_number}")))  # noqa: S311
    random.Random(f"{seed}/order").shuffle(runs)  # noqa: S311
    return runs


def _tickets(seed: int) -> tuple[World, dict[str, list[Case]]]:
    """One world that holds every ticket of every family."""
    world = new_world()
    cases = {}
    for family in FAMILIES:
        rng = random.Random(f"{seed}/{family.key}")  # noqa: S311
        cases[family.key] = [family.case(world, number, rng) for number in range(TICKETS_PER_FAMILY)]
    return world, cases


def _habits(family_index: int, case: Case) -> list[str]:
    """Who works on a family. Where nothing needs a yes, nobody can act without asking: others take those runs."""
    habits = list(HABITS)
    if not case.allowed:
        first = habits.index("acts_without_asking")
        habits[first : first + 2] = ["reads_what_is_not_theirs", "makes_up_a_result"]
    return habits + ["meets_a_crash"] * (family_index < FAMILIES_WITH_A_CRASH)


def _play(world: World, family: Family, case: Case, habit: str, rng: random.Random) -> Run:
    session = Session(copy.deepcopy(world), case.requester, dict(case.admin_yes))
    agent = AGENTS[habit](session, case, rng, _mood(case))
    session.hear(case.opening)
    with contextlib.suppress(StepLimit, RunCrashed):  # the session knows which of the two it was
        agent.work(family)
    return Run(family, case, habit, rng.choice(MODELS), session, truth_of(session, case))


def _mood(case: Case) -> str:
    """People answer in the tone in which they wrote."""
    if case.opening[0].islower() or case.opening[0].isdigit():
        return "terse"
    if case.opening.startswith(("Good", "Dear", "To whom")):
        return "formal"
    return "warm" if case.opening.startswith(("Hi", "Hello")) else "worried"


def row(run: Run, number: int) -> dict:
    """A run as a row of the file that is imported."""
    account = run.session.world.accounts[run.case.requester]
    return {
        "task_id": run.task_id,
        "run_id": f"r-{number:04d}",
        "family": run.family.key,
        "title": run.family.title,
        "context": {
            "request": run.case.opening,
            "requester": {
                "signed_in_as": account.name,
                "owns": run.case.owns,
                "may": run.case.may,
                "email": account.email,
            },
        },
        "slices": run.case.slices,
        "policy": {"title": policy.TITLE, "text": policy.TEXT},
        "environment": ENVIRONMENT,
        "tools_version": TOOLS_VERSION,
        "messages": run.session.messages,
        "tools": [tool.schema() for tool in TOOLS.values()],
        "outcome": {
            "result": run.truth.result,
            "reward": 1.0 if run.truth.result == "success" else 0.0,
            "model": run.model,
            "data": {"run_id": f"r-{number:04d}", "habit": run.habit, "truth": run.truth.as_json()},
        },
    }


def rows(seed: int = SEED) -> Iterator[dict]:
    for number, run in enumerate(all_runs(seed), start=1):
        yield row(run, number)


def write_rows(path: Path, seed: int = SEED) -> int:
    """Write the runs as JSONL, and say how many there are."""
    lines = [json.dumps(each, ensure_ascii=False) for each in rows(seed)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(lines)
