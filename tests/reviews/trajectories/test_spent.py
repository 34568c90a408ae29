"""What steps and runs took is read from every format that tells it, as seconds from the start and never as a date."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.trajectories.detect import read_run
from reviews.trajectories.schema import ReadOptions, Spent, encode_step
from reviews.trajectories.spent import moment, spent_words


def read(value):
    return read_run(json.dumps(value).encode(), ReadOptions())


def spent(run):
    return [step.spent for step in run.steps]


ATIF = {
    "schema_version": "ATIF-v1.4",
    "session_id": "s",
    "agent": {"name": "a", "version": "1"},
    "steps": [
        {"step_id": 1, "source": "user", "message": "Refund", "timestamp": "2026-01-02T10:00:00Z"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "Looking",
            "timestamp": "2026-01-02T10:00:04Z",
            "metrics": {"prompt_tokens": 1204, "completion_tokens": 87},
            "tool_calls": [
                {
                    "tool_call_id": "c",
                    "function_name": "look",
                    "arguments": {},
                    "extra": {"invocation": {"start_timestamp": 1767348005.0, "end_timestamp": 1767348006.5}},
                }
            ],
            "observation": {"results": [{"source_call_id": "c", "content": "ok"}]},
        },
    ],
    "final_metrics": {"total_prompt_tokens": 2000, "total_completion_tokens": 90},
}
TAU2 = {
    "id": "x",
    "task_id": "1",
    "trial": 0,
    "termination_reason": "user_stop",
    "duration": 61.5,
    "start_time": "2025-10-06T19:24:17",
    "reward_info": {"reward": 1.0},
    "messages": [
        {"role": "assistant", "content": "Hi", "timestamp": "2025-10-06T19:24:17", "usage": None},
        {
            "role": "user",
            "content": "Refund",
            "timestamp": "2025-10-06T19:24:20",
            "usage": {"prompt_tokens": 9, "completion_tokens": 9},
        },
        {
            "role": "assistant",
            "tool_calls": [{"id": "c", "name": "look", "arguments": {}, "requestor": "assistant"}],
            "timestamp": "2025-10-06T19:24:25.5",
            "usage": {"prompt_tokens": 100, "completion_tokens": 5},
        },
        {"role": "tool", "id": "c", "content": "ok", "requestor": "assistant", "timestamp": "2025-10-06T19:24:26"},
    ],
}


def test_atif_tells_times_and_tokens_of_steps_and_of_the_run():
    run = read(ATIF)
    assert spent(run) == [
        Spent(at=0.0),
        Spent(at=4.0, tokens_in=1204, tokens_out=87),
        Spent(at=5.0, seconds=1.5),
    ]
    assert run.spent == Spent(seconds=6.5, tokens_in=2000, tokens_out=90)


def test_what_a_simulated_requester_read_is_not_the_agents():
    run = read(TAU2)
    assert spent(run) == [
        Spent(at=0.0),
        Spent(at=3.0),
        Spent(at=8.5, seconds=0.5, tokens_in=100, tokens_out=5),
    ]
    assert run.spent == Spent(seconds=61.5, tokens_in=100, tokens_out=5)


def test_lines_of_one_answer_have_one_count():
    def line(number, content, role="assistant"):
        message = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": "m", "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 7}}
        return {
            "uuid": str(number),
            "parentUuid": str(number - 1) if number else None,
            "sessionId": "s",
            "type": role,
            "timestamp": f"2026-01-31T11:00:0{number}.000Z",
            "message": message,
        }

    run = read(
        [
            line(0, "Fix it", "user"),
            line(1, [{"type": "text", "text": "On it"}]),
            line(2, [{"type": "tool_use", "id": "c", "name": "run", "input": {}}]),
            line(5, [{"type": "tool_result", "tool_use_id": "c", "content": "ok"}], "user"),
        ]
    )
    assert spent(run) == [
        Spent(at=0.0),
        Spent(at=1.0, tokens_in=100, tokens_out=7),
        Spent(at=2.0, seconds=3.0),
    ]
    assert run.spent == Spent(seconds=5.0, tokens_in=100, tokens_out=7)


def test_inspects_events_tell_of_its_messages_by_their_ids():
    answer = {"id": "m", "role": "assistant", "content": "Yes"}
    output = {"choices": [{"message": answer}], "usage": {"input_tokens": 64, "output_tokens": 2}, "time": 0.5}
    sample = {
        "id": 1,
        "epoch": 1,
        "input": "q",
        "target": "t",
        "messages": [{"id": "u", "role": "user", "content": "q"}, answer],
        "events": [{"event": "model", "timestamp": "2025-05-12T20:28:13-04:00", "output": output}],
        "total_time": 0.7,
    }
    run = read(sample)
    assert spent(run) == [None, Spent(at=0.0, seconds=0.5, tokens_in=64, tokens_out=2)]
    assert run.spent == Spent(seconds=0.7, tokens_in=64, tokens_out=2)


def test_a_completion_tells_of_the_whole_run_only():
    run = read(
        {
            "choices": [{"message": {"role": "assistant", "content": "Hi"}}],
            "created": 1742025349,
            "usage": {"prompt_tokens": 97, "completion_tokens": 23},
        }
    )
    assert spent(run) == [None]
    assert run.spent == Spent(tokens_in=97, tokens_out=23)


def test_a_run_that_tells_nothing_has_nothing():
    run = read({"messages": [{"role": "user", "content": "Hi"}]})
    assert spent(run) == [None]
    assert run.spent is None


def test_no_date_is_in_any_step():
    for value in (ATIF, TAU2):
        run = read(value)
        stored = b"".join(map(encode_step, run.steps)) + json.dumps(str(run.spent)).encode()
        assert b"202" not in stored
        assert b"17673" not in stored


def test_the_hash_of_a_run_is_that_of_its_original_as_before():
    run = read({"messages": [{"role": "user", "content": "Hi", "timestamp": "2026-01-01T00:00:00Z"}]})
    assert run.content_hash == "888bebbf6c4a920fcb9542244e9d03328e36b57ade2b20d8f398609e6f775e39"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2026-01-01T00:00:00Z", 1767225600.0),
        ("2026-01-01T01:00:00+01:00", 1767225600.0),
        ("2026-01-01T00:00:00", 1767225600.0),
        (1767225600, 1767225600.0),
        (1767225600000, 1767225600.0),
        ("1767225600000000000", 1767225600.0),
        ([1767225600, 500_000_000], 1767225600.5),
        *[(odd, None) for odd in ("yesterday", "", None, True, float("inf"), -1, 1e40, {}, [1], "9" * 400)],
    ],
)
def test_times_are_written_in_many_ways(value, seconds):
    assert moment(value) == seconds


@pytest.mark.parametrize(
    ("spent", "words"),
    [
        (Spent(at=0.0), ["+0:00"]),
        (Spent(at=3725.4, seconds=3.14), ["+1:02:05", "3.1 s"]),
        (Spent(seconds=1497.95, tokens_in=41419, tokens_out=912), ["24 min 58 s", "tokens 41,419 in, 912 out"]),
        (Spent(seconds=59.6), ["1 min 0 s"]),
        (Spent(seconds=7200, tokens_out=1), ["2 h 0 min", "tokens 1 out"]),
    ],
)
def test_what_was_taken_is_said_in_a_few_words(spent, words):
    assert spent_words(spent) == words


odd = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30) | st.lists(st.integers(), max_size=3)
)


@given(odd, odd, st.dictionaries(st.sampled_from(["prompt_tokens", "output_tokens", "x"]), odd) | odd)
def test_whatever_stands_there_is_a_number_or_nothing(time, duration, usage):
    message = {"role": "assistant", "content": "Hi", "timestamp": time, "duration": duration, "usage": usage}
    run = read({"messages": [message, message]})
    for found in (*spent(run), run.spent):
        assert found is None or all(
            value is None or 0 <= value < 1e13 for value in (found.at, found.seconds, found.tokens_in, found.tokens_out)
        )
        assert found is None or spent_words(found) is not None
