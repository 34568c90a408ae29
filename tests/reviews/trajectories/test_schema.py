"""Steps come back from storage as they went in."""

from hypothesis import given
from hypothesis import strategies as st

from reviews.trajectories.schema import (
    Attachment,
    Step,
    ToolCall,
    ToolResult,
    decode_step,
    encode_step,
    step_from_builtins,
    step_to_builtins,
)

texts = st.text(max_size=30)
arguments = st.none() | st.dictionaries(texts, st.integers() | texts | st.lists(texts, max_size=2), max_size=3)
steps = st.builds(
    Step,
    role=st.sampled_from(["system", "user", "agent", "tool"]),
    text=texts,
    reasoning=texts,
    call=st.none() | st.builds(ToolCall, id=texts, name=texts, arguments_text=texts, arguments=arguments),
    result=st.none() | st.builds(ToolResult, text=texts, error=st.booleans()),
    attachments=st.lists(st.builds(Attachment, kind=texts, note=texts, raw=texts), max_size=2).map(tuple),
    note=texts,
    pointer=texts,
    result_pointer=texts,
)


@given(steps)
def test_a_step_survives_storage(step):
    assert decode_step(encode_step(step)) == step
    assert step_from_builtins(step_to_builtins(step)) == step


def test_what_is_empty_takes_no_room():
    assert encode_step(Step(role="user", text="Hi")) == b'{"role":"user","text":"Hi"}'
