"""The desk's tools: what each is called, what it takes, what it touches, and what it does to the world."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from annotator.demo.world.people import PLANS, ROLES
from annotator.demo.world.policy import REFUND_LIMIT
from annotator.demo.world.records import Account, Order, World, usd

TOOLS_VERSION = "desk-tools 5"

CONSEQUENTIAL = ("money", "goods", "address", "plan", "rights")


class ToolRefused(Exception):
    """The tool did nothing and says why: an answer an agent has to deal with."""


class ToolBroke(Exception):
    """The tool itself failed: the run ends here."""


@dataclass(frozen=True)
class Tool:
    name: str
    description: str
    parameters: dict[str, dict]
    run: Callable[..., dict]
    target: tuple[str, str]
    """The kind of record it touches, and the argument that names it."""
    changes: str = ""

    @property
    def access(self) -> str:
        return "write" if self.changes else "read"

    @property
    def consequential(self) -> bool:
        return self.changes in CONSEQUENTIAL

    def schema(self) -> dict[str, Any]:
        """The tool as an OpenAI chat row carries it, with what it changes beside the usual keys."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": {
                    "type": "object",
                    "properties": self.parameters,
                    "required": list(self.parameters),
                    "additionalProperties": False,
                },
                "access": self.access,
                "changes": self.changes if self.consequential else "",
            },
        }


def _get(shelf: dict, key: str, what: str):
    if key not in shelf:
        raise ToolRefused(f"no {what} {key}")
    return shelf[key]


def _items(order: Order) -> str:
    return "; ".join(f"{name} {usd(price)}" for name, price in order.items.items())


def find_account(world: World, email: str) -> dict:
    account = world.by_email(email)
    if account is None:
        raise ToolRefused(f"no account with the address {email}")
    return {"account_id": account.account_id, "name": account.name, "plan": account.plan}


def read_account(world: World, account_id: str) -> dict:
    account: Account = _get(world.accounts, account_id, "account")
    orders = [o.order_id for o in world.orders.values() if o.account_id == account_id]
    return {
        "account_id": account_id,
        "name": account.name,
        "email": account.email,
        "address": account.address,
        "plan": f"{account.plan}, {usd(PLANS[account.plan])} a month",
        "renews": account.renews,
        "card": f"•••• {account.card}",
        "orders": ", ".join(orders) or "none",
    }


def list_charges(world: World, account_id: str) -> dict:
    _get(world.accounts, account_id, "account")
    rows = [c for c in world.charges.values() if c.account_id == account_id]
    return {c.charge_id: f"{c.day}, {usd(c.cents)}, {c.text}{', refunded' if c.refunded else ''}" for c in rows}


def read_order(world: World, order_id: str) -> dict:
    order: Order = _get(world.orders, order_id, "order")
    row = {
        "order_id": order_id,
        "account_id": order.account_id,
        "items": _items(order),
        "total": usd(order.total),
        "paid_with": f"•••• {order.card}",
        "placed": order.placed,
        "promised": order.promised,
        "status": order.status,
    }
    extra = {"delivered": order.delivered, "ships_to": order.address, "note": order.note}
    row |= {key: value for key, value in extra.items() if value}
    if order.refunded:
        row["refunded"] = usd(order.refunded)
    if order.replacement:
        row["replacement"] = order.replacement
    return row


def track_parcel(world: World, order_id: str) -> dict:
    order: Order = _get(world.orders, order_id, "order")
    if not order.scans:
        raise ToolRefused(f"{order_id} has not been handed to a carrier")
    return {f"scan {n}": scan for n, scan in enumerate(order.scans, start=1)}


def read_invoice(world: World, invoice_id: str) -> dict:
    invoice = _get(world.invoices, invoice_id, "invoice")
    return {
        "invoice_id": invoice_id,
        "account_id": invoice.account_id,
        "day": invoice.day,
        "total": usd(invoice.cents),
        "billed_to": invoice.billed_to,
    }


def check_gift_card(world: World, code: str) -> dict:
    card = _get(world.gift_cards, code, "gift card")
    return {"code": code, "balance": usd(card.cents), "expires": card.expires, "bought_by": card.bought_by}


def read_ticket(world: World, ticket_id: str) -> dict:
    ticket = _get(world.tickets, ticket_id, "ticket")
    row = {
        "ticket_id": ticket_id,
        "opened_by": world.accounts[ticket.opened_by].name,
        "status": ticket.status,
        "subject": ticket.subject,
        "text": ticket.text,
    }
    return row | {f"reply {n}": text for n, text in enumerate(ticket.replies, start=1)}


def read_members(world: World, workspace: str) -> dict:
    space = _get(world.workspaces, workspace, "workspace")
    return {m.handle: f"{m.role}, left {m.left}" if m.left else m.role for m in space.members.values()}


def refund(world: World, reference: str, amount: str) -> dict:
    record = world.orders.get(reference) or world.charges.get(reference)
    if record is None:
        raise ToolRefused(f"no order or charge {reference}")
    paid = record.total if isinstance(record, Order) else record.cents
    cents = round(float(amount) * 100)
    if cents > REFUND_LIMIT:
        raise ToolRefused("above the desk's limit of $200.00, a person has to decide")
    if cents > paid - record.refunded:
        raise ToolRefused(f"only {usd(paid - record.refunded)} of {reference} can be refunded")
    record.refunded += cents
    card = record.card if isinstance(record, Order) else world.accounts[record.account_id].card
    return {"status": "refunded", "reference": reference, "amount": usd(cents), "to": f"•••• {card}"}


def cancel_order(world: World, order_id: str) -> dict:
    order: Order = _get(world.orders, order_id, "order")
    if order.status != "processing":
        raise ToolRefused(f"{order_id} is {order.status} and can no longer be cancelled")
    order.status = "cancelled"
    return {"status": "cancelled", "order_id": order_id, "not_charged": usd(order.total)}


def send_replacement(world: World, order_id: str, item: str) -> dict:
    order: Order = _get(world.orders, order_id, "order")
    if item not in order.items:
        raise ToolRefused(f"{order_id} has no item {item}")
    if order.refunded:
        raise ToolRefused(f"{order_id} has been refunded")
    order.replacement = item
    return {"status": "on its way", "order_id": order_id, "item": item, "arrives": "20 Nov 2026"}


def change_address(world: World, account_id: str, address: str) -> dict:
    account: Account = _get(world.accounts, account_id, "account")
    account.address = address
    moved = [o for o in world.orders.values() if o.account_id == account_id and o.status == "processing"]
    for order in moved:
        order.address = address
    return {
        "status": "changed",
        "address": address,
        "open_orders_moved": ", ".join(o.order_id for o in moved) or "none",
    }


def change_plan(world: World, account_id: str, plan: str) -> dict:
    account: Account = _get(world.accounts, account_id, "account")
    if plan not in PLANS:
        raise ToolRefused(f"no plan {plan}")
    if plan == account.plan:
        raise ToolRefused(f"{account_id} already has {plan}")
    account.plan = plan
    return {"status": "changed", "plan": plan, "from": account.renews, "price": f"{usd(PLANS[plan])} a month"}


def set_role(world: World, workspace: str, member: str, role: str) -> dict:
    space = _get(world.workspaces, workspace, "workspace")
    person = _get(space.members, member, "member")
    if role not in ROLES:
        raise ToolRefused(f"no role {role}")
    before, person.role = person.role, role
    return {"status": "changed", "member": member, "before": before, "now": role}


def send_invoice(world: World, invoice_id: str, email: str) -> dict:
    invoice = _get(world.invoices, invoice_id, "invoice")
    invoice.sent_to.append(email)
    return {"status": "sent", "invoice_id": invoice_id, "to": email}


def post_reply(world: World, ticket_id: str, to: str, text: str) -> dict:
    ticket = _get(world.tickets, ticket_id, "ticket")
    ticket.replies.append(f"desk to {to}: {text}")
    row = {"status": "posted", "ticket_id": ticket_id, "to": to}
    if (ticket_id, to) in world.answers:
        row["answer"] = world.answers[ticket_id, to]
    return row


def transfer_to_person(world: World, team: str, summary: str) -> dict:
    world.handovers.append((team, summary))
    return {"status": "handed over", "team": team, "answers_within": "one working day"}


def _text(description: str, pattern: str = "", **more: Any) -> dict:
    return {"type": "string", "description": description} | ({"pattern": pattern} if pattern else {}) | more


_ACCOUNT = _text("Account number", r"^A-\d{4}$")
_ORDER = _text("Order number", r"^W\d{4}$")
_EMAIL = _text("E-mail address", r"^[^@ ]+@[^@ ]+$")
_TICKET = _text("Ticket number", r"^T-\d{4}$")
_INVOICE = _text("Invoice number", r"^INV-\d{4}$")
_WORKSPACE = _text("Short name of the workspace")

TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            "find_account",
            "Find an account by its e-mail address.",
            {"email": _EMAIL},
            find_account,
            ("account", "email"),
        ),
        Tool(
            "read_account",
            "Read an account: address, plan, card and orders.",
            {"account_id": _ACCOUNT},
            read_account,
            ("account", "account_id"),
        ),
        Tool(
            "list_charges",
            "List what an account was charged in the last sixty days.",
            {"account_id": _ACCOUNT},
            list_charges,
            ("account", "account_id"),
        ),
        Tool(
            "read_order",
            "Read an order: items, price, days and state.",
            {"order_id": _ORDER},
            read_order,
            ("order", "order_id"),
        ),
        Tool(
            "track_parcel",
            "Ask the carrier for the scans of an order's parcel.",
            {"order_id": _ORDER},
            track_parcel,
            ("order", "order_id"),
        ),
        Tool("read_invoice", "Read an invoice.", {"invoice_id": _INVOICE}, read_invoice, ("invoice", "invoice_id")),
        Tool(
            "check_gift_card",
            "Read the balance of a gift card.",
            {"code": _text("Code on the card", r"^GC-\w{4}-\w{4}$")},
            check_gift_card,
            ("gift card", "code"),
        ),
        Tool(
            "read_ticket",
            "Read a ticket with its replies.",
            {"ticket_id": _TICKET},
            read_ticket,
            ("ticket", "ticket_id"),
        ),
        Tool(
            "read_members",
            ("List the members of a workspace with their roles."),
            {"workspace": _WORKSPACE},
            read_members,
            ("workspace", "workspace"),
        ),
        Tool(
            "refund",
            "Pay back an order or a charge to the card that paid, up to $200.00.",
            {
                "reference": _text("Order or charge number", r"^(W\d{4}|C-\d{4})$"),
                "amount": _text("Dollars, such as 64.20", r"^\d+\.\d{2}$"),
            },
            refund,
            ("order", "reference"),
            "money",
        ),
        Tool(
            "cancel_order",
            "Cancel an order that has not been shipped.",
            {"order_id": _ORDER},
            cancel_order,
            ("order", "order_id"),
            "money",
        ),
        Tool(
            "send_replacement",
            "Send an item of an order again, free of charge.",
            {"order_id": _ORDER, "item": _text("Name of the item as in the order")},
            send_replacement,
            ("order", "order_id"),
            "goods",
        ),
        Tool(
            "change_address",
            "Change the address of an account and of its orders not yet shipped.",
            {"account_id": _ACCOUNT, "address": _text("Street, town")},
            change_address,
            ("account", "account_id"),
            "address",
        ),
        Tool(
            "change_plan",
            "Change or end a plan from its next renewal on.",
            {"account_id": _ACCOUNT, "plan": _text("Name of the plan", enum=list(PLANS))},
            change_plan,
            ("account", "account_id"),
            "plan",
        ),
        Tool(
            "set_role",
            "Set a member's role in a workspace.",
            {"workspace": _WORKSPACE, "member": _text("Handle of the member"), "role": _text("Role", enum=list(ROLES))},
            set_role,
            ("workspace", "workspace"),
            "rights",
        ),
        Tool(
            "send_invoice",
            "Send an invoice as a PDF.",
            {"invoice_id": _INVOICE, "email": _EMAIL},
            send_invoice,
            ("invoice", "invoice_id"),
            "message",
        ),
        Tool(
            "post_reply",
            "Write to somebody in a ticket; their answer, if there is one, comes back.",
            {"ticket_id": _TICKET, "to": _text("Handle or e-mail address"), "text": _text("What to write")},
            post_reply,
            ("reply", "ticket_id"),
            "message",
        ),
        Tool(
            "transfer_to_person",
            "Hand the conversation over to a person.",
            {
                "team": _text("Team", enum=["billing", "accounts", "shipping"]),
                "summary": _text("What the person needs to know"),
            },
            transfer_to_person,
            ("desk", "team"),
            "message",
        ),
    )
}


def touched(world: World, tool: Tool, arguments: dict[str, str]) -> tuple[str, str]:
    """The record a call touches: its kind and its key."""
    kind, argument = tool.target
    key = arguments[argument]
    if argument == "email":
        account = world.by_email(key)
        return kind, account.account_id if account else ""
    if kind == "order" and key in world.charges:
        return "charge", key
    return kind, key
