"""A run's outline says of every step what the map shows, in few characters."""

from reviews.trajectories.outline import LONGEST_NAME, MOST_NAMES, Mark, Outline, outline_from, outline_of
from reviews.trajectories.schema import Step, ToolCall, ToolResult
from reviews.trajectories.tools import tags_of, tools_of, writers_of


def call(name, *, error=False, answered=True):
    result = ToolResult(text="", error=error) if answered else None
    return Step(role="tool", call=ToolCall(id="1", name=name, arguments_text="{}"), result=result)


def test_every_step_has_its_mark():
    steps = [
        Step(role="system", text="Be kind."),
        Step(role="user", text="Refund me."),
        Step(role="agent", text="Of course."),
        call("read_account"),
        call("refund"),
        call("read_account", error=True),
        call("refund", answered=False),
        Step(role="tool", result=ToolResult(text="late")),
    ]
    outline = outline_of(steps, {"refund"})
    assert str(outline) == "suat0w1e0x1t\nread_account\nrefund"
    assert outline.read()[3:] == [
        Mark("tool", "read_account"),
        Mark("tool", "refund", writes=True),
        Mark("tool", "read_account", error=True),
        Mark("tool", "refund", writes=True, error=True),
        Mark("tool"),
    ]
    assert outline_from(str(outline)) == outline


def test_an_outline_of_nothing_is_empty_and_comes_back():
    assert outline_from(str(Outline())) == Outline()
    assert Outline().read() == []


def test_names_of_any_kind_stay_on_one_line_and_short():
    outline = outline_of([call("two\nlines"), call("long" * 100), call("\n")], set())
    assert outline.names == ("two lines", ("long" * 100)[:LONGEST_NAME])
    assert outline_from(str(outline)) == outline


def test_ten_thousand_tools_leave_the_outline_small():
    outline = outline_of([call(f"tool_{number}") for number in range(10_000)], set())
    assert len(outline.names) == MOST_NAMES
    assert len(str(outline)) < 20_000
    assert outline.read()[9_999] == Mark("tool")


def test_a_tool_says_what_it_does_to_the_world():
    described = [
        {"name": "read_account", "access": "read"},
        {"type": "function", "function": {"name": "refund", "changes": "the balance"}},
        {"name": "drop", "annotations": {"destructiveHint": True}, "inputSchema": {"type": "object"}},
        {"name": "look", "annotations": {"readOnlyHint": True}},
        {"name": "silent", "description": "Says nothing of it."},
    ]
    assert tags_of(described) == {
        "read_account": (("read", "read"),),
        "refund": (("changes the balance", "write"),),
        "drop": (("destroys", "write"),),
        "look": (("read", "read"),),
    }
    assert writers_of(described) == {"refund", "drop"}
    assert tools_of(described)[2].parameters == '{\n  "type": "object"\n}'


def test_what_is_no_tool_is_passed_over():
    odd = [
        "text",
        None,
        3,
        {},
        {"name": 3},
        {"function": []},
        {"name": "x", "annotations": "none", "access": ["write"]},
    ]
    assert [tool.name for tool in tools_of(odd)] == ["x"]
    assert tags_of(odd) == tags_of(None) == tags_of({"a": 1}) == {}
