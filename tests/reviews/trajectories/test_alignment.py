"""Two runs step by step: every step once and in order, whichever run is named first, and known cases."""

import json
import time

from hypothesis import given
from hypothesis import strategies as st

from reviews.trajectories.alignment import Relation, Row, Span, align, changed_spans, changes
from reviews.trajectories.render import fields
from reviews.trajectories.schema import Attachment, Step, ToolCall, ToolResult

SAME, DIFFERS, ONLY_LEFT, ONLY_RIGHT = Relation


def said(role, text, **more):
    return Step(role=role, text=text, **more)


def called(name, result="ok", /, *, error=False, call_id="c1", **arguments):
    text = json.dumps(arguments)
    return Step(role="tool", call=ToolCall(call_id, name, text, arguments), result=ToolResult(result, error))


def rows_of(left, right):
    return [(row.left, row.right, row.relation.value) for row in align(left, right).rows]


# --- Known cases ------------------------------------------------------------------------------------------------------
SHARED = [
    said("user", "Please let Lena Horvat from our agency see the error log in ticket T-6120."),
    called("find_person", name="Lena Horvat"),
    called("read_ticket", ticket="T-6120"),
]
ASKING = [
    *SHARED,
    said(
        "agent",
        "I can let Lena Horvat read T-6120. It also holds an invoice and a contract. "
        "Shall I share only error.log, and until when?",
    ),
    said("user", "Only the log, until Friday."),
    called("share_ticket", ticket="T-6120", person="l.horvat, read", files="error.log", until="Friday 18:00"),
    said(
        "agent",
        "Lena Horvat can read error.log in T-6120 until Friday, 18:00. The invoice and the contract are not shared.",
    ),
]
HASTY = [
    *SHARED,
    called("share_ticket", ticket="T-6120", person="l.horvat, read", files="all", until="no end"),
    said("agent", "Lena Horvat can read T-6120 now. Is there anything else?"),
    said("user", "Wait, the contract is in there too. She must not see that."),
    called("edit_share", ticket="T-6120", files="error.log, invoice.pdf"),
    said("agent", "Sorry. The contract is out of the share now. She can still read the log and the invoice."),
]


def test_two_runs_part_where_one_of_them_asks_first():
    alignment = align(ASKING, HASTY)
    assert [(row.left, row.right, row.relation.value) for row in alignment.rows] == [
        (1, 1, "same"),
        (2, 2, "same"),
        (3, 3, "same"),
        (4, None, "only_left"),
        (5, None, "only_left"),
        (6, 4, "differs"),
        (7, 5, "differs"),
        (None, 6, "only_right"),
        (None, 7, "only_right"),
        (None, 8, "only_right"),
    ]
    assert alignment.diverges == 3


def test_what_differs_in_a_call_is_named_by_argument():
    found = changes(ASKING[5], HASTY[3])
    assert [(change.path, change.label) for change in found] == [
        ("arguments/files", "files"),
        ("arguments/until", "until"),
    ]
    assert found[0].left == (Span(0, 9),)
    assert found[0].right == (Span(0, 3),)


def test_what_differs_in_words_is_marked_word_by_word():
    (change,) = changes(ASKING[6], HASTY[4])
    left, right = ASKING[6].text, HASTY[4].text
    assert left[change.left[0].start : change.left[0].end] == "error.log in "
    assert [right[span.start : span.end] for span in change.right] == ["now", "Is there anything else?"]


def test_a_run_beside_itself_never_parts():
    alignment = align(ASKING, ASKING)
    assert [row.relation for row in alignment.rows] == [SAME] * 7
    assert alignment.diverges is None


def test_a_run_that_goes_on_parts_where_the_other_ends():
    assert rows_of(SHARED[:1], SHARED) == [(1, 1, "same"), (None, 2, "only_right"), (None, 3, "only_right")]
    assert align(SHARED[:1], SHARED).diverges == 1


def test_an_empty_run_stands_beside_nothing():
    assert rows_of([], SHARED[:1]) == [(None, 1, "only_right")]
    assert align([], []).rows == ()
    assert align([], []).diverges is None


def test_runs_that_have_nothing_in_common_stand_one_after_the_other():
    left = [said("user", "Where is my parcel?"), called("track", parcel="P-1")]
    right = [said("user", "Close this account, please."), called("close", account="A-2")]
    assert rows_of(left, right) == [
        (1, None, "only_left"),
        (2, None, "only_left"),
        (None, 1, "only_right"),
        (None, 2, "only_right"),
    ]


def test_a_repeated_call_stands_beside_its_first():
    poll = called("poll", "pending", job="7")
    assert rows_of([SHARED[0], poll, ASKING[6]], [SHARED[0], poll, poll, poll, ASKING[6]]) == [
        (1, 1, "same"),
        (2, 2, "same"),
        (None, 3, "only_right"),
        (None, 4, "only_right"),
        (3, 5, "same"),
    ]


def test_one_step_out_of_place_does_not_tear_its_neighbours_apart():
    """Only this step is the same in both, and still five alike are worth more than it."""
    odd = said("user", "Thank you, that is all for today.")
    left = [odd, *(called("write", path=f"{number}.txt", text="one") for number in range(5))]
    right = [*(called("write", path=f"{number}.txt", text="two") for number in range(5)), odd]
    assert [row for row in rows_of(left, right) if row[2] == "differs"] == [
        (number + 2, number + 1, "differs") for number in range(5)
    ]


def test_ids_of_calls_and_places_in_the_file_make_no_difference():
    left = called("read_ticket", ticket="T-6120", call_id="call_a")
    right = called("read_ticket", ticket="T-6120", call_id="call_b")
    assert rows_of([left], [right]) == [(1, 1, "same")]
    assert changes(left, right) == []


def test_errors_notes_and_attachments_make_a_difference():
    assert [change.path for change in changes(called("pay"), called("pay", error=True))] == ["error"]
    left = said("user", "See this.", attachments=(Attachment("image", "cat.png"),), note="Sent twice.")
    assert [change.path for change in changes(left, said("user", "See this."))] == ["attachments", "note"]
    assert rows_of([left], [said("user", "See this.")]) == [(1, 1, "differs")]


def test_an_argument_that_one_side_lacks_is_marked_on_the_other():
    (change,) = changes(called("pay", amount="5"), called("pay", amount="5", note="as agreed"))
    assert (change.path, change.left, change.right) == ("arguments/note", (), (Span(0, 9),))


def test_a_result_that_came_is_not_one_that_is_missing():
    asked = Step(role="tool", call=ToolCall("c", "pay", "{}", {}))
    answered = Step(role="tool", call=ToolCall("c", "pay", "{}", {}), result=ToolResult(""))
    assert rows_of([asked], [answered]) == [(1, 1, "differs")]
    assert [change.path for change in changes(asked, answered)] == ["result"]


def test_long_runs_find_each_other_again_behind_a_long_detour():
    common = [called("read", "line", file=f"f{number}") for number in range(600)]
    detour = [called("search", "none", words=f"w{number}") for number in range(300)]
    rows = align([*common[:100], *common[100:]], [*common[:100], *detour, *common[100:]]).rows
    assert [row.relation for row in rows] == [SAME] * 100 + [ONLY_RIGHT] * 300 + [SAME] * 500


def test_the_detour_may_be_followed_by_changes():
    before = [called("read", "line", file=f"f{number}") for number in range(100)]
    after = [called("edit", "line", file=f"g{number}", text="a few words") for number in range(300)]
    changed = [
        called("edit", "line", file=f"g{number}", text="a few words" + " more" * (number % 2)) for number in range(300)
    ]
    detour = [called("search", "none", words=f"w{number}") for number in range(200)]
    rows = align([*before, *after], [*before, *detour, *changed]).rows
    assert rows[300:] == tuple(
        Row(101 + number, 301 + number, DIFFERS if number % 2 else SAME) for number in range(300)
    )


# --- Always -----------------------------------------------------------------------------------------------------------
WORDS = st.lists(st.sampled_from(["yes", "no", "the", "log", "T-6120", "é", "日本", "👍🏽"]), max_size=5).map(" ".join)
STEPS = st.one_of(
    st.builds(said, st.sampled_from(["user", "agent", "system"]), WORDS),
    st.builds(called, st.sampled_from(["read", "write"]), WORDS, file=st.sampled_from("abc")),
)
RUNS = st.lists(STEPS, max_size=14)


@given(RUNS, RUNS)
def test_every_step_of_both_stands_in_one_row_in_its_order(left, right):
    rows = align(left, right).rows
    assert [row.left for row in rows if row.left] == list(range(1, len(left) + 1))
    assert [row.right for row in rows if row.right] == list(range(1, len(right) + 1))


@given(RUNS, RUNS)
def test_the_relation_says_what_stands_in_the_row(left, right):
    alignment = align(left, right)
    for row in alignment.rows:
        if row.relation == ONLY_LEFT:
            assert row.right is None
        elif row.relation == ONLY_RIGHT:
            assert row.left is None
        else:
            differs = changes(left[row.left - 1], right[row.right - 1])
            assert bool(differs) == (row.relation == DIFFERS)
    relations = [row.relation for row in alignment.rows]
    first = next((place for place, relation in enumerate(relations) if relation != SAME), None)
    assert alignment.diverges == first


@given(RUNS)
def test_identical_runs_are_the_same_in_every_row(run):
    assert align(run, run).rows == tuple(Row(place, place, SAME) for place in range(1, len(run) + 1))


@given(RUNS, RUNS)
def test_the_pairs_are_the_same_whichever_run_is_named_first(left, right):
    def pairs(rows):
        return {(row.left, row.right) for row in rows}

    assert pairs(align(left, right).rows) == {(answer, place) for place, answer in pairs(align(right, left).rows)}


@given(RUNS, RUNS, RUNS)
def test_what_both_begin_and_end_with_is_the_same(start, left, right):
    rows = align([*start, *left], [*start, *right]).rows
    assert [row.relation for row in rows[: len(start)]] == [SAME] * len(start)


TEXTS = st.text(st.sampled_from("ab1 \n.,é日本👍\u0301\u200d"), max_size=40)


@given(TEXTS, TEXTS)
def test_what_no_span_covers_is_the_same_text_on_both_sides(left, right):
    ours, theirs = changed_spans(left, right)
    assert without(left, ours) == without(right, theirs)
    assert (ours, theirs) == tuple(reversed(changed_spans(right, left)))
    assert bool(ours or theirs) == (left != right)
    for spans, text in ((ours, left), (theirs, right)):
        places = [place for span in spans for place in (span.start, span.end)]
        assert places == sorted(places)
        assert all(0 <= span.start < span.end <= len(text) for span in spans)


def without(text, spans):
    for span in reversed(spans):
        text = text[: span.start] + text[span.end :]
    return text


@given(STEPS, STEPS)
def test_spans_point_into_the_fields_of_their_own_step(left, right):
    for change in changes(left, right):
        for step, spans in ((left, change.left), (right, change.right)):
            text = next((part.text for part in fields(step) if part.path == change.path), "")
            assert all(span.end <= len(text) for span in spans)


# --- Spans ------------------------------------------------------------------------------------------------------------
def marked(left, right):
    ours, theirs = changed_spans(left, right)
    return [left[span.start : span.end] for span in ours], [right[span.start : span.end] for span in theirs]


def test_a_word_is_marked_whole_with_its_accents_and_joined_emoji():
    assert marked("the cafe\u0301 opens", "the cafes opens") == (["cafe\u0301"], ["cafes"])
    assert marked("done 👩\u200d💻 now", "done 👩\u200d🚀 now") == (["👩\u200d💻"], ["👩\u200d🚀"])


def test_scripts_without_spaces_are_compared_by_character():
    assert marked("返金は三日で", "返金は五日で") == (["三"], ["五"])


def test_white_space_alone_can_be_what_changed():
    assert marked("a  b", "a b") == ([" "], [])
    assert marked("a\nb", "a b") == (["\n"], [" "])


def test_long_texts_are_compared_line_by_line():
    lines = [f"line {number}: nothing to see here at all" for number in range(900)]
    changed = [*lines[:450], "line 450: an error", *lines[451:]]
    assert marked("\n".join(lines), "\n".join(changed)) == ([lines[450]], ["line 450: an error"])


def test_a_text_too_long_to_compare_is_marked_between_its_first_and_last_change():
    left = "\n".join(f"{number} a" for number in range(20_000))
    right = "\n".join(f"{number} a" if number in (0, 19_999) else f"{number} b" for number in range(20_000))
    ours, theirs = changed_spans(left, right)
    assert len(ours) == len(theirs) == 1
    assert left[: ours[0].start].rstrip() == "0 a"


# --- Cost -------------------------------------------------------------------------------------------------------------
def test_ten_times_the_steps_cost_about_ten_times_as_much():
    """Runs that share nothing are the worst case. A cost that grew with the square would be a hundred times."""

    def seconds(steps):
        left = [called("read", "line", file=f"l{number}") for number in range(steps)]
        right = [called("read", "line", file=f"r{number}") for number in range(steps)]
        begun = time.process_time()
        assert len(align(left, right).rows) >= steps
        return time.process_time() - begun

    assert min(seconds(1_500) for _ in range(2)) < 30 * min(seconds(150) for _ in range(2))
