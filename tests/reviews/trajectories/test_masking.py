"""Masks: what is hidden, what stays, and that no place in a text ever moves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.trajectories import jsontext
from reviews.trajectories.masking import HIDDEN, Mask, MaskRules, variants_of
from reviews.trajectories.render import fields
from reviews.trajectories.schema import Step, ToolCall, ToolResult

RULES = MaskRules(words=("Claude 3.5", "o1"), patterns=(r"(?i)made by \w+", r"a+b*\s?"))


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("I am Claude 3.5, made by Acme.", "I am ▮▮▮▮▮▮▮▮▮▮, ▮▮▮▮▮▮▮▮▮▮▮▮."),
        ("claude-3-5 or CLAUDE35?", "▮▮▮▮▮▮▮▮▮▮ or ▮▮▮▮▮▮▮▮?"),
        ("o1mini and foo1, o12", "▮▮mini and foo1, o12"),
        ("nothing", "nothing"),
        ("", ""),
    ],
)
def test_words_and_expressions_are_hidden_a_mark_for_each_character(text, read):
    assert Mask(MaskRules(words=("Claude 3.5", "o1"), patterns=(r"(?i)made by \w+",))).text(text) == read


def test_a_line_break_stays_where_it_is():
    assert Mask(MaskRules(words=("Claude 3",))).text("by Claude\n3!") == "by ▮▮▮▮▮▮\n▮!"


def test_a_model_is_known_by_its_variants():
    names = variants_of("anthropic/claude-3-5-sonnet-20241022")
    assert {"claude-3-5-sonnet-20241022", "claude-3-5-sonnet", "claude", "Anthropic"} <= set(names)
    mask = Mask(MaskRules(own_model=True), model="openai/gpt-4o-2024-08-06")
    for said in ("GPT-4o", "gpt4o", "ChatGPT", "OpenAI", "GPT 4", "openai/gpt-4o-2024-08-06"):
        assert HIDDEN in mask.text(said), said
    assert mask.text("I gptify 4 orders") == "I gptify 4 orders"
    assert not Mask(MaskRules(own_model=True), model="")


texts = st.text(alphabet=st.sampled_from('ab o1\n"\\{}:,[]é😀Claude 3.5-made by'), max_size=80) | st.text(max_size=40)


@given(text=texts)
def test_a_mask_never_changes_a_length_and_is_done_after_once(text):
    mask = Mask(RULES)
    read = mask.text(text)
    assert len(read) == len(text)
    assert all(seen in (own, HIDDEN) for own, seen in zip(text, read, strict=True))
    assert [place for place, own in enumerate(text) if own == "\n"] == [
        place for place, seen in enumerate(read) if seen == "\n"
    ]


@given(text=texts, arguments=st.dictionaries(texts.filter(bool), texts, max_size=4), result=texts, data=st.data())
def test_every_quotation_of_what_a_rater_reads_stands_in_the_run_itself(text, arguments, result, data):
    called = ToolCall(id="c", name="t", arguments_text=jsontext.dump(arguments))
    step, mask = Step(role="tool", text=text, call=called, result=ToolResult(text=result)), Mask(RULES)
    whole, seen = fields(step), mask.fields(step)
    assert [len(field.text) for field in seen] == [len(field.text) for field in whole]
    assert len({field.path for field in seen}) == len({field.path for field in whole})
    for own, shown in zip(whole, seen, strict=True):
        if not shown.text:
            continue
        start = data.draw(st.integers(0, len(shown.text) - 1))
        end = data.draw(st.integers(start + 1, len(shown.text)))
        for said in (own.text[start:end], shown.text[start:end]):
            path, quote, reason = mask.cited(step, shown.path, start, end, said)
            assert reason is None
            assert next(field.text for field in whole if field.path == path)[start:end] == quote


def test_names_of_arguments_that_become_alike_stay_apart():
    step = Step(role="tool", call=ToolCall(id="c", name="t", arguments_text='{"claude": 1, "gemini": 2}'))
    mask = Mask(MaskRules(words=("claude", "gemini")))
    assert [field.path for field in mask.fields(step)] == ["arguments/▮▮▮▮▮▮", "arguments/▮▮▮▮▮▮ 2"]
    assert mask.cited(step, "arguments/▮▮▮▮▮▮ 2", 0, 1, "2") == ("arguments/gemini", "2", None)


def test_a_wrong_quotation_is_refused_without_saying_what_is_hidden():
    step, mask = Step(role="agent", text="I am Claude, hello."), Mask(MaskRules(words=("Claude",)))
    _path, _quote, reason = mask.cited(step, "text", 5, 18, "Gemini, hullo")
    assert reason == "The field has “▮▮▮▮▮▮, hello” there, not “Gemini, hullo”."
    # A guess at what is hidden is neither confirmed nor refused: the run's own words are kept.
    assert mask.cited(step, "text", 5, 11, "Gemini") == ("text", "Claude", None)


def test_leads_read_the_whole_text_with_the_places_marked():
    mask = Mask(MaskRules(words=("<b>",)), reveal=True)
    assert mask.text("a <b> c") == "a <b> c"
    html = mask.marked("a &lt;<i>b</i>&gt; c", "a <b> c")
    assert html == 'a &lt;<i><mark class="masked" title="hidden from raters">b</mark></i>&gt; c'
