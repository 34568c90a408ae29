"""What the desk keeps: accounts, orders, invoices, gift cards, tickets and workspaces.

Money is in cents, days are text.
"""

from dataclasses import dataclass, field

TODAY = "16 Nov 2026"


def usd(cents: int) -> str:
    """Money as people read it: 6420 becomes $64.20."""
    return f"${cents / 100:.2f}"


def amount(cents: int) -> str:
    """Money as a tool's argument: 6420 becomes 64.20."""
    return f"{cents / 100:.2f}"


@dataclass
class Account:
    account_id: str
    name: str
    email: str
    address: str
    plan: str
    renews: str
    card: str

    @property
    def first(self) -> str:
        return self.name.split()[0]


@dataclass
class Order:
    order_id: str
    account_id: str
    items: dict[str, int]
    """Name of the item -> price in cents."""
    status: str
    placed: str
    promised: str
    delivered: str = ""
    scans: tuple[str, ...] = ()
    note: str = ""
    address: str = ""
    card: str = ""
    refunded: int = 0
    replacement: str = ""

    @property
    def total(self) -> int:
        return sum(self.items.values())


@dataclass
class Charge:
    charge_id: str
    account_id: str
    day: str
    cents: int
    text: str
    refunded: int = 0


@dataclass
class Invoice:
    invoice_id: str
    account_id: str
    day: str
    cents: int
    billed_to: str
    sent_to: list[str] = field(default_factory=list)


@dataclass
class GiftCard:
    code: str
    bought_by: str
    used_by: str
    cents: int
    expires: str


@dataclass
class Ticket:
    ticket_id: str
    opened_by: str
    workspace: str
    subject: str
    text: str
    status: str = "open"
    replies: list[str] = field(default_factory=list)


@dataclass
class Member:
    handle: str
    account_id: str
    name: str
    role: str
    left: str = ""

    @property
    def first(self) -> str:
        return self.name.split()[0]


@dataclass
class Workspace:
    slug: str
    name: str
    members: dict[str, Member]

    def current_admins(self) -> list[str]:
        return [m.handle for m in self.members.values() if m.role == "admin" and not m.left]

    def member_of(self, account_id: str) -> Member | None:
        found = (m for m in self.members.values() if m.account_id == account_id and not m.left)
        return next(found, None)


@dataclass
class World:
    accounts: dict[str, Account] = field(default_factory=dict)
    orders: dict[str, Order] = field(default_factory=dict)
    charges: dict[str, Charge] = field(default_factory=dict)
    invoices: dict[str, Invoice] = field(default_factory=dict)
    gift_cards: dict[str, GiftCard] = field(default_factory=dict)
    tickets: dict[str, Ticket] = field(default_factory=dict)
    workspaces: dict[str, Workspace] = field(default_factory=dict)
    answers: dict[tuple[str, str], str] = field(default_factory=dict)
    """What a colleague answers when the desk writes to them: ticket and handle -> text."""
    handovers: list[tuple[str, str]] = field(default_factory=list)
    """What was passed on to a person: team and summary."""

    def by_email(self, email: str) -> Account | None:
        return next((a for a in self.accounts.values() if a.email == email), None)

    def add(self, record: Order | Charge | Invoice | GiftCard | Ticket) -> None:
        """Put a record on its shelf."""
        places: dict[type, tuple[dict, str]] = {
            Order: (self.orders, "order_id"),
            Charge: (self.charges, "charge_id"),
            Invoice: (self.invoices, "invoice_id"),
            GiftCard: (self.gift_cards, "code"),
            Ticket: (self.tickets, "ticket_id"),
        }
        shelf, key = places[type(record)]
        shelf[getattr(record, key)] = record
