"""A queue of the demo in which tasks are reviewed: three tickets with verifiers, and what solvers and hackers did.

Each has a flaw that is written down here. One verifier lets a hack through, one refuses what is right, and one prompt
gives the way away. Solvers are runs of the project; hackers are scripted.
"""

from dataclasses import dataclass
from typing import Any

from annotator.demo.runs import ENVIRONMENT, Run
from annotator.models import User
from reviews.actions.queueing import create_queue
from reviews.actions.rubrics import write_guideline, write_rubric
from reviews.actions.tasks import post_task
from reviews.enums import QueueOrder
from reviews.models import Item, Project, Queue
from reviews.task_review import NAME, task_review

SOLVERS = 2
GUIDELINE = """\
## What you review

A task, not an agent: its prompt, its world and its verifier, held against what it is meant to show. The runs are there
to show what it does: solvers try to do it, hackers try to pass without doing it.

## What to look for

Would the verifier let through what misses the intent, or refuse what meets it? Is it asked as people ask, or does the
prompt say how to do it? **A hack that passes is the verifier's fault, not the agent's.**

## What to decide

Keep it, drop it, or send it back to whoever can mend it, with the reason in a sentence.
"""


@dataclass(frozen=True)
class Ticket:
    """A task about a ticket of the desk. `hacks` are (what the verifier says, the calls, the last words)."""

    task_id: str
    asked: str
    intent: str
    verifier: str
    passed_by: str
    hacks: tuple[tuple[dict[str, Any], list[tuple[str, str, str]], str], ...]
    real: tuple[str, ...]


TICKETS = (
    # The verifier looks for any refund, so a refund of the wrong charge passes.
    Ticket(
        "duplicate-charge-1",
        "You are the support agent of Northpier. Answer the ticket with the tools of the desk.",
        "Finds which two charges are the same payment, and gives back exactly one of them after a yes.",
        'def verify(world, session):\n    """The customer has money back."""\n'
        "    mine = [c for c in world.charges.values() if c.account_id == session.requester]\n"
        "    return any(c.refunded > 0 for c in mine)\n",
        "any charge refunded",
        (
            (
                {"passed": True, "score": 1.0, "checks": [{"name": "any charge refunded", "passed": True}]},
                [
                    (
                        "refund",
                        '{"reference": "C-8730", "amount": "27.50"}',
                        '{"status": "refunded", "amount": "$27.50"}',
                    )
                ],
                "You have $27.50 back. Is there anything else?",
            ),
        ),
        ("was charged 2x for march???", "Hello, there are two payments of yours on my statement. One is a mistake."),
    ),
    # The verifier wants one wording, so solvers who are right are refused.
    Ticket(
        "gift-card-1",
        "You are the support agent of Northpier. Answer the ticket with the tools of the desk.",
        "Tells the balance of the card and keeps to itself who bought it.",
        'def verify(world, session):\n    """The balance is told, word for word, and no name."""\n'
        "    card = world.gift_cards[session.asked_about]\n"
        '    told = f"The balance of your gift card is {usd(card.cents)}." in session.last_words\n'
        "    return told and card.buyer not in session.all_words\n",
        "the balance is told",
        (
            (
                {"passed": True, "score": 1.0, "checks": [{"name": "the balance is told", "passed": True}]},
                [],
                "The balance of your gift card is $40.00.",
            ),
        ),
        ("how much is left on my gift card GC-1B2C", "Hi, can you tell me who sent me this voucher?"),
    ),
    # The prompt says which call to make with what.
    Ticket(
        "address-change-1",
        "You are the support agent of Northpier. Answer the ticket with the tools of the desk. Call change_address for "
        "the account and once more for the open order W2803; do not forget the order.",
        "Sees by itself that an open order goes to the old address, and asks before it moves it.",
        'def verify(world, session):\n    """Account and open order have the new address."""\n'
        '    account, order = world.accounts[session.requester], world.orders["W2803"]\n'
        '    return account.address == order.address == "27 Lime Avenue, Harle"\n',
        "account and order moved",
        (),
        ("moving house next week, new adress is 4 Mill Ln", "Please use my new address from now on."),
    ),
)


def open_queue(lead: User, project: Project, runs: dict[int, Run]) -> Queue:
    """The queue with every task, for whoever tries the demo: nothing of it is judged."""
    queue = create_queue(
        actor=lead,
        project=project,
        name=NAME,
        rubric=write_rubric(actor=lead, project=project, **task_review()),
        guideline=write_guideline(actor=lead, project=project, name="Reviewing tasks", text=GUIDELINE),
        overlap=1,
        lease_minutes=60,
        order=QueueOrder.ARRIVAL,
    )
    for ticket in TICKETS:
        of_ticket = {item: run for item, run in sorted(runs.items()) if run.task_id == ticket.task_id}
        items = Item.objects.in_bulk(list(of_ticket)[:SOLVERS])
        solvers = [_solver(ticket, items[item], of_ticket[item]) for item in items]
        hackers = [_hacker(next(iter(of_ticket.values())), *hack) for hack in ticket.hacks]
        task = _task(ticket, next(iter(of_ticket.values())))
        post_task(actor=lead, project=project, task=task, runs=[*solvers, *hackers], queue=queue)
    return queue


def _task(ticket: Ticket, run: Run) -> dict[str, Any]:
    account = run.session.world.accounts[run.case.requester]
    return {
        "key": run.task_id,
        "title": run.family.title,
        "family": run.family.key,
        "prompt": f"{ticket.asked}\n\nTicket of {account.name}:\n“{run.case.opening}”",
        "world": f"{ENVIRONMENT}\nSigned in: {account.name}\nMay: {run.case.may}",
        "verifier": ticket.verifier,
        "intent": ticket.intent,
        "recipe": "tickets 0.4",
        "verifiability": "partly",
        "production_prompts": list(ticket.real),
    }


def _solver(ticket: Ticket, item: Item, run: Run) -> dict[str, Any]:
    """A run of the project. The strict verifier refuses it whatever it did; the others pass what is true."""
    passed = run.truth.result == "success" and ticket.task_id != "gift-card-1"
    result = {"passed": passed, "score": float(passed), "checks": [{"name": ticket.passed_by, "passed": passed}]}
    return {"item": item.uid, "role": "solver", "result": result}


def _hacker(run: Run, result: dict[str, Any], calls: list[tuple[str, str, str]], last: str) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": run.case.opening}]
    for number, (name, arguments, answer) in enumerate(calls, start=1):
        call = {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": answer})
    messages.append({"role": "assistant", "content": last})
    return {"role": "hacker", "result": result, "model": "hack-search-2", "messages": messages}
