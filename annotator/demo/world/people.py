"""The desk's customers and their workspaces: written by hand, so that names, houses and jobs fit together."""

from annotator.demo.world.records import Account, Member, Workspace, World

PLANS = {"Taster": 1400, "Household": 2400, "Office": 7900, "none": 0}

ROLES = ("viewer", "orderer", "approver", "admin")

# Account numbers come in pairs that differ by two swapped digits: the slip every support desk knows.
ACCOUNTS = (
    ("A-5017", "Mei Kovacs", "mei.kovacs@example.com", "4 Lantern Row, Portsea", "Household", "28 Nov", "2207"),
    ("A-5071", "Daniel Osei", "d.osei@example.com", "18 Harrow Lane, Portsea", "Taster", "3 Dec", "4410"),
    ("A-5023", "Ingrid Solheim", "ingrid@solheim.example", "77 Fell Street, Ambry", "Household", "1 Dec", "9034"),
    ("A-5032", "Tomás Ferreira", "tomas.ferreira@example.com", "9 Quarry Steps, Ambry", "Taster", "22 Nov", "5518"),
    ("A-5048", "Amara Nwosu", "amara.nwosu@example.com", "31 Tollgate Road, Wexcombe", "Household", "19 Nov", "7761"),
    ("A-5084", "Peter Lindqvist", "peter.l@example.com", "12 Beacon Close, Harle", "Household", "25 Nov", "3302"),
    ("A-5105", "Leila Haddad", "leila@brandt.example", "Unit 6, Cooper Yard, Stanmoor", "Taster", "9 Dec", "6190"),
    ("A-5150", "Oskar Brandt", "oskar@brandt.example", "Unit 6, Cooper Yard, Stanmoor", "Office", "2 Dec", "8823"),
    ("A-5119", "Jonas Weidner", "jonas@harbour.example", "Harbour Lane Clinic, Portsea", "Taster", "30 Nov", "1187"),
    ("A-5191", "Paolo Adler", "paolo@harbour.example", "Harbour Lane Clinic, Portsea", "Office", "30 Nov", "1187"),
    ("A-5126", "Ruth Amsel", "ruth@harbour.example", "8 Orchard Bank, Portsea", "Taster", "14 Dec", "4075"),
    ("A-5162", "Priya Raman", "priya.raman@example.com", "5 Signal Court, Wexcombe", "Household", "20 Nov", "2946"),
    ("A-5134", "Samuel Okoye", "sam@northmill.example", "North Mill, Harle", "Taster", "5 Dec", "5083"),
    ("A-5143", "Clara Vidal", "clara.vidal@example.com", "23 Magpie Hill, Ambry", "Household", "27 Nov", "6674"),
    ("A-5207", "Hanna Lindqvist", "hanna.lindqvist@example.com", "12 Beacon Close, Harle", "Taster", "11 Dec", "8152"),
    ("A-5270", "Yusuf Demir", "yusuf.demir@example.com", "41 Saltpan Way, Stanmoor", "Household", "24 Nov", "3915"),
    ("A-5215", "Nora Quinn", "nora@quinn.example", "2 Assize Square, Wexcombe", "Office", "1 Dec", "7340"),
    ("A-5251", "Emil Novak", "emil@quinn.example", "2 Assize Square, Wexcombe", "Taster", "18 Nov", "7340"),
    ("A-5228", "Grace Mutasa", "grace@northmill.example", "North Mill, Harle", "Office", "4 Dec", "9527"),
    ("A-5282", "Ryo Tanabe", "ryo@northmill.example", "North Mill, Harle", "Taster", "4 Dec", "9527"),
    ("A-5236", "Isabel Duarte", "isabel.d@example.com", "66 Chandler Street, Portsea", "Household", "21 Nov", "4489"),
    ("A-5263", "Marek Zielinski", "marek.z@example.com", "14 Weir Cottages, Ambry", "Household", "26 Nov", "1650"),
    ("A-5309", "Fatima Bennani", "f.bennani@example.com", "3 Juniper Walk, Stanmoor", "Household", "29 Nov", "5721"),
    ("A-5390", "Owen Pritchard", "owen.pritchard@example.com", "50 Ferry Road, Harle", "Household", "23 Nov", "6038"),
    ("A-5318", "Lucy Pritchard", "lucy.p@example.com", "50 Ferry Road, Harle", "Taster", "8 Dec", "2271"),
    ("A-5381", "Viktor Hale", "viktor.hale@example.com", "19 Ropewalk, Stanmoor", "Taster", "7 Dec", "8806"),
)  # fmt: skip

WORKSPACES = {
    "harbour-lane": (
        "Harbour Lane Clinic",
        (
            ("p.adler", "A-5191", "admin", ""),
            ("r.amsel", "A-5126", "admin", "13 Nov 2026"),
            ("j.weidner", "A-5119", "viewer", ""),
        ),
    ),
    "brandt-studio": (
        "Brandt Studio",
        (
            ("o.brandt", "A-5150", "admin", ""),
            ("v.hale", "A-5381", "approver", "30 Oct 2026"),
            ("l.haddad", "A-5105", "viewer", ""),
        ),
    ),
    "north-mill": (
        "North Mill Press",
        (
            ("g.mutasa", "A-5228", "admin", ""),
            ("s.okoye", "A-5134", "admin", "6 Nov 2026"),
            ("r.tanabe", "A-5282", "viewer", ""),
        ),
    ),
    "quinn-partners": (
        "Quinn & Partners",
        (
            ("n.quinn", "A-5215", "admin", ""),
            ("e.novak", "A-5251", "orderer", ""),
        ),
    ),
}


def swapped(account_id: str) -> str:
    """The account whose number is this one with its last two digits swapped."""
    return account_id[:-2] + account_id[-1] + account_id[-2]


def new_world() -> World:
    """The desk before anything has happened: people and workspaces only."""
    world = World()
    for account_id, name, email, address, plan, renews, card in ACCOUNTS:
        world.accounts[account_id] = Account(account_id, name, email, address, plan, f"{renews} 2026", card)
    for slug, (name, rows) in WORKSPACES.items():
        members = {h: Member(h, a, world.accounts[a].name, role, left) for h, a, role, left in rows}
        world.workspaces[slug] = Workspace(slug, name, members)
    return world
