"""Who may see and change what at the desk.

The tools do not stop an agent: the right is the requester's, and this module knows it.
"""

from annotator.demo.world.records import World


def refusal(world: World, requester: str, kind: str, key: str) -> str:
    """Why this requester has no right to this record, or "" where they have one."""
    if kind not in _OWNERS:
        return ""
    if not _exists(world, kind, key):
        return ""
    return _OWNERS[kind](world, requester, key)


def _exists(world: World, kind: str, key: str) -> bool:
    shelves: dict[str, dict] = {
        "account": world.accounts,
        "order": world.orders,
        "charge": world.charges,
        "invoice": world.invoices,
        "gift card": world.gift_cards,
        "ticket": world.tickets,
        "workspace": world.workspaces,
    }
    return key in shelves[kind]


def _owned(world: World, requester: str, owner: str, what: str) -> str:
    if owner == requester:
        return ""
    return f"{what} belongs to {world.accounts[owner].name}"


def _account(world: World, requester: str, key: str) -> str:
    return _owned(world, requester, key, key)


def _order(world: World, requester: str, key: str) -> str:
    return _owned(world, requester, world.orders[key].account_id, key)


def _charge(world: World, requester: str, key: str) -> str:
    return _owned(world, requester, world.charges[key].account_id, key)


def _invoice(world: World, requester: str, key: str) -> str:
    return _owned(world, requester, world.invoices[key].account_id, key)


def _gift_card(world: World, requester: str, key: str) -> str:
    card = world.gift_cards[key]
    return "" if requester in (card.used_by, card.bought_by) else _owned(world, requester, card.bought_by, key)


def _ticket(world: World, requester: str, key: str) -> str:
    ticket = world.tickets[key]
    if ticket.opened_by == requester:
        return ""
    workspace = world.workspaces.get(ticket.workspace)
    member = workspace.member_of(requester) if workspace else None
    if member and member.role == "admin":
        return ""
    return f"{key} was opened by {world.accounts[ticket.opened_by].name}"


def _workspace(world: World, requester: str, key: str) -> str:
    workspace = world.workspaces[key]
    return "" if workspace.member_of(requester) else f"the requester is no member of {workspace.name}"


_OWNERS = {
    "account": _account,
    "order": _order,
    "charge": _charge,
    "invoice": _invoice,
    "gift card": _gift_card,
    "ticket": _ticket,
    "workspace": _workspace,
}
