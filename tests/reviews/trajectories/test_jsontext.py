"""JSON from strangers: every hostile text is read harmlessly or refused in words, and none is a crash."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.trajectories import jsontext
from reviews.trajectories.schema import RowError

any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(any_json)
def test_what_python_writes_is_read_back(value):
    assert jsontext.parse(json.dumps(value).encode()) == value


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_in_words(data):
    reason = "."
    try:
        jsontext.parse(data)
    except RowError as error:
        reason = str(error)
    assert reason.endswith(".")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"a": tru}', "It is not valid JSON: expecting value at column 7."),
        (b'{"a": 1', "It is not valid JSON: it is cut off before its end."),
        (b'{"a": "un', "It is not valid JSON: it is cut off before its end."),
        (b'{"a": 1} x', "It is not valid JSON: extra data at column 10."),
        (
            b'{\n"a": 1,\n}',
            "It is not valid JSON: expecting property name enclosed in double quotes at line 3, column 1.",
        ),
        (b'"caf\xe9"', "It is not UTF-8: byte 0xe9 at byte 5."),
        (b'"a\x00b"', "It holds a NUL byte (at byte 3)."),
        (b"[" * 101 + b"]" * 101, "It is nested more than 100 levels deep."),
        (b"[" * 1_000_000, "It is nested more than 100 levels deep."),
        (b'{"a":' * 100_000, "It is nested more than 100 levels deep."),
    ],
)
def test_bad_json_is_refused_with_the_reason(data, reason):
    with pytest.raises(RowError) as refused:
        jsontext.parse(data)
    assert str(refused.value) == reason


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"[" * 100 + b"]" * 100, None),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b"9" * 5000, "9" * 5000),
        (b"[NaN, Infinity, -Infinity]", ["NaN", "Infinity", "-Infinity"]),
        (b"1e999", "1e999"),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'"\\ud83d\\ude00"', "😀"),
    ],
)
def test_what_json_allows_and_others_do_not_is_read_harmlessly(data, value):
    read = jsontext.parse(data)
    if value is not None:
        assert read == value


def test_characters_that_postgres_cannot_hold_are_replaced_one_by_one():
    assert jsontext.clean("a\x00b\ud800c😀") == "a␀b�c😀"
    assert jsontext.clean_value({"k\x00": ["\udfff", 1, None]}) == {"k␀": ["�", 1, None]}


@given(st.text())
def test_cleaning_keeps_every_place(text):
    assert len(jsontext.clean(text)) == len(text)


def test_whatever_can_decode_to_such_characters_is_suspected():
    for data in (b'"\\u0000"', b'"\\\\u0000"', b'"\\uD800"', b'"\\udc00"', b'"\xed\xa0\x80"'):
        assert jsontext.may_hold_unstorable(data)
    assert not jsontext.may_hold_unstorable('"é 😀 plain"'.encode())


def test_the_hash_is_of_the_content_and_not_of_its_writing():
    one = jsontext.canonical_hash(jsontext.parse(b'{"b": [1, "\\u00e9"], "a": null}'))
    same = jsontext.canonical_hash(jsontext.parse('{ "a":null,\n"b":[1,"é"] }'.encode()))
    other = jsontext.canonical_hash(jsontext.parse(b'{"b": [2, "\\u00e9"], "a": null}'))
    assert one == same != other
    assert len(jsontext.canonical_hash("\ud800")) == 64
