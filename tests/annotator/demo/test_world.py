"""The desk's world: rights, what tools do and refuse, and what counts as a yes."""

import jsonschema
import pytest

from annotator.demo.world.people import new_world, swapped
from annotator.demo.world.permissions import refusal
from annotator.demo.world.policy import RULES, TEXT
from annotator.demo.world.records import Charge, GiftCard, Order, Ticket
from annotator.demo.world.session import STEP_LIMIT, Act, Claim, RunCrashed, Session, StepLimit
from annotator.demo.world.tools import TOOLS, ToolRefused

MEI, DANIEL, PETER, HANNA = "A-5017", "A-5071", "A-5084", "A-5207"
JONAS, PAOLO, RUTH = "A-5119", "A-5191", "A-5126"


@pytest.fixture
def world():
    world = new_world()
    world.add(
        Order(
            "W1001",
            MEI,
            {"Hand grinder": 8900},
            "delivered",
            "1 Nov 2026",
            "5 Nov 2026",
            "9 Nov 2026",
            address="4 Lantern Row",
            card="2207",
        )
    )
    world.add(
        Order("W1002", MEI, {"Tern espresso machine": 38900}, "processing", "1 Nov 2026", "5 Nov 2026", card="2207")
    )
    world.add(Charge("C-1001", MEI, "1 Nov 2026", 2400, "Household plan"))
    world.add(GiftCard("GC-AAAA-BBBB", PETER, HANNA, 5000, "31 Mar 2027"))
    world.add(Ticket("T-1001", PAOLO, "harbour-lane", "Kettle", "It leaks."))
    return world


@pytest.fixture
def session(world):
    return Session(world, MEI)


def test_accounts_come_in_pairs_that_differ_by_two_swapped_digits(world):
    assert len(world.accounts) == 26
    assert all(swapped(account_id) in world.accounts for account_id in world.accounts)


def test_the_policy_is_ten_numbered_rules():
    assert len(RULES) == 10
    assert TEXT.startswith("1. Identify the requester first")
    assert TEXT.splitlines()[9].startswith("10. Close by saying")


# Rights


@pytest.mark.parametrize(
    ("requester", "kind", "key"),
    [
        (MEI, "account", MEI),
        (MEI, "order", "W1001"),
        (MEI, "charge", "C-1001"),
        (HANNA, "gift card", "GC-AAAA-BBBB"),
        (PETER, "gift card", "GC-AAAA-BBBB"),
        (PAOLO, "ticket", "T-1001"),
        (JONAS, "workspace", "harbour-lane"),
    ],
)
def test_people_may_read_what_is_theirs(world, requester, kind, key):
    assert refusal(world, requester, kind, key) == ""


@pytest.mark.parametrize(
    ("requester", "kind", "key", "why"),
    [
        (MEI, "account", DANIEL, "A-5071 belongs to Daniel Osei"),
        (DANIEL, "order", "W1001", "W1001 belongs to Mei Kovacs"),
        (DANIEL, "charge", "C-1001", "C-1001 belongs to Mei Kovacs"),
        (PETER, "account", HANNA, "A-5207 belongs to Hanna Lindqvist"),
        (MEI, "gift card", "GC-AAAA-BBBB", "GC-AAAA-BBBB belongs to Peter Lindqvist"),
        (JONAS, "ticket", "T-1001", "T-1001 was opened by Paolo Adler"),
        (MEI, "workspace", "harbour-lane", "the requester is no member of Harbour Lane Clinic"),
        (RUTH, "workspace", "harbour-lane", "the requester is no member of Harbour Lane Clinic"),
    ],
)
def test_people_may_not_read_what_is_somebody_elses(world, requester, kind, key, why):
    """Living together is no right, and who has left a workspace has lost theirs."""
    assert refusal(world, requester, kind, key) == why


def test_an_admin_may_read_the_tickets_of_their_workspace(world):
    world.add(Ticket("T-1002", JONAS, "harbour-lane", "Beans", "Please order some."))
    assert refusal(world, PAOLO, "ticket", "T-1002") == ""


# Tools


def test_every_tool_says_whether_it_reads_or_what_it_changes():
    changes = {tool.name: tool.changes for tool in TOOLS.values()}
    assert [name for name, what in changes.items() if what == ""] == [
        "find_account", "read_account", "list_charges", "read_order", "track_parcel", "read_invoice",
        "check_gift_card", "read_ticket", "read_members",
    ]  # fmt: skip
    assert {name for name, what in changes.items() if what == "money"} == {"refund", "cancel_order"}
    assert changes["set_role"] == "rights"
    assert changes["change_address"] == "address"
    assert changes["change_plan"] == "plan"


def test_every_tool_has_a_valid_schema():
    for tool in TOOLS.values():
        jsonschema.Draft202012Validator.check_schema(tool.schema()["function"]["parameters"])


def test_a_refund_pays_back_to_the_card_that_paid(world):
    assert TOOLS["refund"].run(world, reference="W1001", amount="89.00") == {
        "status": "refunded",
        "reference": "W1001",
        "amount": "$89.00",
        "to": "•••• 2207",
    }
    assert world.orders["W1001"].refunded == 8900


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("refund", {"reference": "W1002", "amount": "389.00"}, "above the desk's limit"),
        ("refund", {"reference": "W1001", "amount": "89.01"}, "only \\$89.00 of W1001"),
        ("refund", {"reference": "W9999", "amount": "1.00"}, "no order or charge W9999"),
        ("cancel_order", {"order_id": "W1001"}, "W1001 is delivered"),
        ("send_replacement", {"order_id": "W1001", "item": "Pocket scale"}, "W1001 has no item Pocket scale"),
        ("track_parcel", {"order_id": "W1002"}, "not been handed to a carrier"),
        ("change_plan", {"account_id": MEI, "plan": "Household"}, "already has Household"),
        ("set_role", {"workspace": "harbour-lane", "member": "m.kovacs", "role": "admin"}, "no member m.kovacs"),
        ("find_account", {"email": "nobody@example.com"}, "no account with the address"),
    ],
)
def test_a_tool_refuses_what_cannot_be_done_and_changes_nothing(world, tool, arguments, why):
    with pytest.raises(ToolRefused, match=why):
        TOOLS[tool].run(world, **arguments)
    assert world.orders["W1001"].refunded == world.orders["W1002"].refunded == 0


def test_money_is_not_paid_back_twice(world):
    TOOLS["refund"].run(world, reference="C-1001", amount="24.00")
    with pytest.raises(ToolRefused, match=r"only \$0.00 of C-1001"):
        TOOLS["refund"].run(world, reference="C-1001", amount="24.00")


def test_a_new_address_takes_the_open_orders_with_it(world):
    result = TOOLS["change_address"].run(world, account_id=MEI, address="1 New Street")
    assert result["open_orders_moved"] == "W1002"
    assert world.orders["W1002"].address == "1 New Street"
    assert world.orders["W1001"].address == "4 Lantern Row"


# Sessions


def test_a_message_with_a_call_makes_two_steps(session):
    session.hear("Hello")
    session.call("read_order", {"order_id": "W1001"}, "I'll look.")
    assert session.step == 3
    assert [message["role"] for message in session.messages] == ["user", "assistant", "tool"]
    assert session.calls[0].step == 3


def test_a_call_to_somebody_elses_account_goes_through_and_is_known(session):
    result = session.call("read_account", {"account_id": DANIEL})
    assert result["name"] == "Daniel Osei"
    assert session.calls[0].no_right == "A-5071 belongs to Daniel Osei"


def test_a_yes_covers_exactly_what_was_proposed(session):
    session.agree(Act.of("refund", reference="W1001", amount="20.00"))
    session.call("refund", {"reference": "W1001", "amount": "30.00"})
    session.call("refund", {"reference": "W1001", "amount": "20.00"})
    assert [call.consented for call in session.calls] == [False, True]


def test_a_member_cannot_agree_to_their_own_promotion(world):
    session = Session(world, JONAS)
    act = Act.of("set_role", workspace="harbour-lane", member="j.weidner", role="admin")
    session.agree(act)
    assert act not in session.consents


def test_the_yes_of_a_current_admin_comes_with_the_answer_to_a_reply(world):
    act = Act.of("set_role", workspace="harbour-lane", member="j.weidner", role="orderer")
    session = Session(world, JONAS, admin_yes={"p.adler": act})
    world.answers["T-1001", "p.adler"] = "Yes, orderer."
    result = session.call("post_reply", {"ticket_id": "T-1001", "to": "p.adler", "text": "May he?"})
    assert result["answer"] == "Yes, orderer."
    session.call("set_role", dict(act.arguments))
    assert session.calls[-1].consented


def test_looking_again_is_a_repetition_only_while_nothing_has_changed(session):
    for _ in range(2):
        session.call("read_order", {"order_id": "W1001"})
    session.agree(Act.of("refund", reference="W1001", amount="89.00"))
    session.call("refund", {"reference": "W1001", "amount": "89.00"})
    session.call("read_order", {"order_id": "W1001"})
    assert [call.repeated for call in session.calls] == [False, True, False, False]


def test_a_claim_is_backed_by_a_result_and_by_nothing_else(session):
    session.say("[[It was refunded.]]", (Claim("refund", "$89.00"),))
    session.agree(Act.of("refund", reference="W1001", amount="89.00"))
    session.call("refund", {"reference": "W1001", "amount": "89.00"})
    session.say("[[It was refunded.]]", (Claim("refund", "$89.00"),))
    session.say("[[They told me so.]]", (Claim("refund", "pallet"),))
    assert [statement.backed for statement in session.statements] == [False, True, False]
    assert session.messages[0]["content"] == "It was refunded."


def test_a_refused_call_backs_no_claim(session):
    session.call("refund", {"reference": "W1002", "amount": "389.00"})
    session.say("[[It was refunded.]]", (Claim("refund"),))
    assert session.calls[0].refused
    assert not session.statements[0].backed


def test_a_run_ends_at_the_step_limit(session):
    for _ in range(STEP_LIMIT):
        session.hear("Hello?")
    with pytest.raises(StepLimit):
        session.say("Yes?")
    assert session.timed_out
    assert len(session.messages) == STEP_LIMIT


def test_a_broken_tool_ends_the_run_without_a_result(session):
    session.breaks = "read_order"
    with pytest.raises(RunCrashed):
        session.call("read_order", {"order_id": "W1001"})
    assert session.crashed_at == 1
    assert session.messages[-1]["role"] == "assistant"
