"""A factory of tasks in the demo: two versions of its recipe, a week apart, and what two raters find of each task.

Which flaw a task has is drawn and known, so that guards can be held against experts who see it; the second version of
the recipe makes fewer, so that more is kept for the money.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from annotator.demo.runs import ENVIRONMENT, Run
from annotator.models import User
from reviews.actions.dealing import NothingToDeal, claim
from reviews.actions.judging import submit
from reviews.actions.queueing import create_queue
from reviews.actions.rubrics import write_guideline, write_rubric
from reviews.actions.settling import settle_marked
from reviews.actions.tasks import post_task
from reviews.enums import QueueOrder
from reviews.models import Candidate, Item, Project, Queue
from reviews.task_review import DROP, KEEP, TO_PROMPT, TO_VERIFIER, TO_WORLD, task_review

NAME = "Task factory"
REVIEWERS = ("tessa", "arjun")
SOLVERS = 2
MISSED = 0.1
# How many of each recipe's tasks, out of thirteen, have which flaw; the rest have none.
RECIPES = {
    "factory 0.1": ("hint", "hint", "hint", "said", "thin", "thin", "loophole", "loophole", "strict"),
    "factory 0.2": ("hint", "thin", "loophole", "said"),
}
ASKS = "Answer"
CITED = {"criterion": "prompt_intent", "part": "prompt", "start": 0, "end": len(ASKS), "quote": ASKS}
GUIDELINE = """\
## What you review

Tasks as the factory makes them. Would somebody write so? Is there enough of a world to do it in? Does whoever passes
show what is wanted, and does whoever fails show a weakness? Keep it, drop it, or send it back to what is at fault.
"""


@dataclass(frozen=True)
class Factory:
    """What it works with; `runs` by item."""

    lead: User
    project: Project
    raters: dict[str, User]
    runs: dict[int, Run]
    seed: int


# What is found of each flaw: the decision, the axis it shows on with its value, and the words.
FOUND: dict[str, tuple[int, str, Any, str]] = {
    "": (KEEP, "", None, "Asked as people ask, and what passes has done it."),
    "hint": (TO_PROMPT, "prompt_intent", 0, "The prompt gives the way away."),
    "said": (TO_PROMPT, "prompt_intent", 1, "Nobody would say which record it is before they were asked."),
    "thin": (TO_WORLD, "world_realism", 0, "There is next to nothing in this world to look at."),
    "loophole": (TO_VERIFIER, "meaningful_successes", False, "Whoever says the words passes, done or not."),
    "strict": (DROP, "meaningful_failures", False, "It fails whoever does it right."),
}


def run_factory(factory: Factory, days: list[datetime]) -> Iterator[datetime]:
    """Open the queue, then on two days a week apart post a recipe's tasks and let the raters review them."""
    rng = random.Random(f"{factory.seed}/factory")  # noqa: S311
    yield days[0]
    queue = _open_queue(factory.lead, factory.project)
    made: dict[int, str] = {}
    for (recipe, flaws), day in zip(RECIPES.items(), (days[1], days[6]), strict=True):
        moment = day + timedelta(minutes=rng.randrange(30))
        yield moment
        made |= _post(factory, queue, recipe, flaws, rng)
        for place in range(2 * len(made)):
            rater = factory.raters[REVIEWERS[place % len(REVIEWERS)]]
            yield moment
            try:
                assignment = claim(actor=rater, queue=queue)
            except NothingToDeal:
                break
            seconds, payload = _review(made[assignment.item_id], assignment.item, rng)
            moment += timedelta(seconds=seconds)
            yield moment
            key = f"demo-{assignment.uid}"
            submit(actor=rater, uid=assignment.uid, payload=payload, idempotency_key=key, worked=seconds)
            settle_marked()
            moment += timedelta(seconds=5)


def _open_queue(lead: User, project: Project) -> Queue:
    return create_queue(
        actor=lead,
        project=project,
        name=NAME,
        rubric=write_rubric(actor=lead, project=project, **task_review() | {"name": NAME}),
        guideline=write_guideline(actor=lead, project=project, name=NAME, text=GUIDELINE),
        overlap=1,
        lease_minutes=60,
        order=QueueOrder.ARRIVAL,
    )


def _post(factory: Factory, queue: Queue, recipe: str, flaws: tuple[str, ...], rng: random.Random) -> dict[int, str]:
    """A task of each family; which of them has which flaw is drawn."""
    families: dict[str, list[int]] = {}
    runs = factory.runs
    for item, run in sorted(runs.items()):
        families.setdefault(run.family.key, []).append(item)
    drawn = [*flaws, *[""] * (len(families) - len(flaws))]
    rng.shuffle(drawn)
    made = {}
    for number, (flaw, (family, items)) in enumerate(zip(drawn, families.items(), strict=True), start=1):
        solvers = rng.sample(items, SOLVERS)
        task = _task(runs[solvers[0]], flaw, f"{family.replace('_', '-')}-factory-{recipe[-1]}-{number}", recipe)
        tried = [_solver(item, runs[item], flaw) for item in solvers] + [_hacker(runs[solvers[0]], flaw)]
        posted = post_task(actor=factory.lead, project=factory.project, task=task, runs=tried, queue=queue)
        made[posted.item.pk] = flaw
    return made


def _task(run: Run, flaw: str, key: str, recipe: str) -> dict[str, Any]:
    account = run.session.world.accounts[run.case.requester]
    tool = next((call.tool for call in run.session.calls if "_" in call.tool), "read_account")
    prompt = f"{ASKS} the ticket of {account.name}:\n“{run.case.opening}”"
    if flaw == "hint":
        prompt += f"\nUse {tool} first, and do not forget to tell them."
    if flaw == "said":
        prompt += "\nIt is the newest record they have, and nothing else must be touched."
    world = f"{ENVIRONMENT}\nSigned in: {account.name}\nOwns: {run.case.owns}\nMay: {run.case.may}"
    world += f"\nTicket: {run.case.opening}"
    return {
        "key": key,
        "title": run.family.title,
        "family": run.family.key,
        "prompt": prompt,
        "world": ENVIRONMENT if flaw == "thin" else world,
        "verifier": f'def verify(world, session):\n    """{run.family.title}."""\n    return session.used("{tool}")\n',
        "intent": f"Resolves it by the policy, and no more: {run.family.title.lower()}.",
        "recipe": recipe,
        "verifiability": "partly",
        "production_prompts": ["hello?? still waiting, see my last mail", run.case.opening],
    }


def _solver(item: int, run: Run, flaw: str) -> dict[str, Any]:
    passed = run.truth.result == "success" and flaw != "strict"
    return {"item": Item.objects.get(pk=item).uid, "role": "solver", "result": {"passed": passed}}


def _hacker(run: Run, flaw: str) -> dict[str, Any]:
    """Says that it is done, and passes where the verifier looks at nothing else."""
    messages = [
        {"role": "user", "content": run.case.opening},
        {"role": "assistant", "content": f"Done as you asked. {run.family.title}: settled."},
    ]
    return {"role": "hacker", "result": {"passed": flaw == "loophole"}, "model": "hack-search-2", "messages": messages}


def _review(flaw: str, item: Item, rng: random.Random) -> tuple[int, dict[str, Any]]:
    """How long the review took, and what it says; now and then the flaw is missed."""
    decision, axis, value, words = FOUND["" if rng.random() < MISSED else flaw]
    criteria: dict[str, Any] = {
        "prompt_verifier": 3,
        "verifier_intent": 3,
        "prompt_intent": 3,
        "world_realism": 2,
        "artificial": False,
        "meaningful_failures": True,
        "meaningful_successes": True,
        "decision": decision,
    }
    if axis:
        criteria |= {axis: value, "reason": words}
    of_each = {"criteria": {"why_failed": 5, "hack": False}}
    return 120 + rng.randrange(300), {
        "criteria": criteria,
        "candidates": [of_each] * Candidate.objects.filter(item=item).count(),
        "evidence": [CITED] if axis == "prompt_intent" else [],
        "rationale": words,
        "confidence": rng.choice((2, 3, 3)),
    }
