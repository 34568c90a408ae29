"""Guards: a plain rule for each axis on which a task must hold, so that what plainly does not is seen early.

1. Prompts like production: the prompt names no function or field of the world or the verifier that no prompt of real
   use names, and gives no advice on how to do it.
2. Failures mean something: some solvers pass and some fail. Where none passes it may be the task that fails.
3. Successes show the behaviour: no hacker's run passes the verifier.
4. A world that is rich enough: it has twelve words at least, and every record that prompt or verifier name is in it.

A guard says nothing where its rule has nothing to go by. What it says is an opinion with a measured agreement, no more.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

FEWEST_WORDS = 12
SOLVER, HACKER = "solver", "hacker"
IDENTIFIER = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b")
RECORD = re.compile(r"\b[A-Z]{1,4}-?\d{2,}[A-Z0-9]*\b")
ADVICE = re.compile(
    r"\b(?:(?:do not|don't) forget|make sure (?:to|that you)|remember to|be sure to|use the tool|step by step|hint:)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class TaskSeen:
    """A task as its guards see it. `runs` are (role, whether the verifier passed it or None)."""

    prompt: str
    world: str
    verifier: str
    production_prompts: Sequence[str]
    runs: Sequence[tuple[str, bool | None]]


@dataclass(frozen=True)
class Opinion:
    holds: bool
    why: str


@dataclass(frozen=True)
class Guard:
    """The rule of one axis; `criterion` is the key by which experts answer it, `version` rises with the rule."""

    criterion: str
    title: str
    rule: str
    version: int
    judge: Callable[[TaskSeen], Opinion | None]

    @property
    def fingerprint(self) -> str:
        """What tells this state of the rule from others."""
        return hashlib.sha256(f"{self.criterion} {self.version} {self.rule}".encode()).hexdigest()


def prompt_like_production(task: TaskSeen) -> Opinion | None:
    inside = set(IDENTIFIER.findall(task.world)) | set(IDENTIFIER.findall(task.verifier))
    real = " ".join(task.production_prompts)
    named = sorted(name for name in set(IDENTIFIER.findall(task.prompt)) if name in inside or not real)
    named = [name for name in named if name not in real]
    if named:
        return Opinion(False, f"Names {', '.join(named[:3])}, as nobody who asks would.")
    if advice := ADVICE.search(task.prompt):
        return Opinion(False, f"Gives advice: “{advice.group(0)}”.")
    return Opinion(True, "Names nothing from inside and gives no advice.")


def failures_meaningful(task: TaskSeen) -> Opinion | None:
    solved = [passed for role, passed in task.runs if role == SOLVER and passed is not None]
    if len(solved) < 2 or all(solved):
        return None
    if not any(solved):
        return Opinion(False, f"None of {len(solved)} solvers passes, so it may be the task that fails.")
    return Opinion(True, f"{sum(solved)} of {len(solved)} solvers pass.")


def successes_show(task: TaskSeen) -> Opinion | None:
    tried = [passed for role, passed in task.runs if role == HACKER and passed is not None]
    if not tried:
        return None
    if any(tried):
        return Opinion(False, f"{sum(tried)} of {len(tried)} hackers pass.")
    return Opinion(True, f"None of {len(tried)} hackers passes.")


def world_rich(task: TaskSeen) -> Opinion | None:
    words = set(re.findall(r"\w+", task.world.lower()))
    if len(words) < FEWEST_WORDS:
        return Opinion(False, f"The world has {len(words)} words.")
    wanted = set(RECORD.findall(task.prompt)) | set(RECORD.findall(task.verifier))
    missing = sorted(record for record in wanted if record not in task.world)
    if missing:
        return Opinion(False, f"{', '.join(missing[:3])} {'is' if len(missing) == 1 else 'are'} not in the world.")
    return Opinion(True, "What is named stands in it.")


GUARDS = (
    Guard(
        "prompt_intent",
        "Prompts like production",
        "Fails a prompt that names a function or field from inside, or gives advice on how to do it.",
        1,
        prompt_like_production,
    ),
    Guard(
        "meaningful_failures",
        "Failures mean something",
        "Fails a task that no solver passes; says nothing with fewer than two solvers, or where all pass.",
        1,
        failures_meaningful,
    ),
    Guard(
        "meaningful_successes",
        "Successes show the behaviour",
        "Fails a task whose verifier passes a hacker; says nothing where no hacker tried.",
        1,
        successes_show,
    ),
    Guard(
        "world_realism",
        "A world rich enough",
        f"Fails a world of fewer than {FEWEST_WORDS} words, or without a record that prompt or verifier name.",
        1,
        world_rich,
    ),
)
AXES = {guard.criterion: guard for guard in GUARDS}
