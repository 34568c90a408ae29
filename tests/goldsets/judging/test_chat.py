"""The client against a real server that is slow, overloaded, broken, or talks too much."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from goldsets.reviewing.chat import Endpoint, NoAnswer, ask
from tests.goldsets.judging import endpoint as served
from tests.goldsets.judging.endpoint import KEY, completion, failing, saying, sending

MESSAGES = [{"role": "user", "content": "Judge."}]


@pytest.fixture
def model():
    with served.model() as server:
        server.usual = saying(lambda _prompt: "pass")
        yield server


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def talk(model, pauses):
    def talk(**more):
        endpoint = Endpoint(**{"base_url": model.url, "key": KEY, "patience": 5, **more})
        return ask(endpoint, model="judge-1", messages=MESSAGES, parameters={"temperature": 0}, wait=pauses.append)

    return talk


def test_a_reply_comes_with_what_it_took(talk, model, pauses):
    reply = talk()
    assert (reply.content, reply.tokens_in, reply.tokens_out, reply.model) == ("pass", 1000, 100, "judge-1-2026")
    assert (reply.tries, reply.lost, pauses) == (1, 0, [])
    assert model.heard == [{"path": "/v1/chat/completions", "model": "judge-1", "messages": MESSAGES, "temperature": 0}]
    assert model.keys == [f"Bearer {KEY}"]


def test_without_a_key_none_is_sent(talk, model):
    talk(key="")
    assert model.keys == [""]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_what_passes_is_tried_again_after_ever_longer_pauses(talk, model, pauses, status):
    model.script = [failing(status)] * 3
    reply = talk()
    assert (reply.content, reply.tries, reply.lost) == ("pass", 4, 0)
    assert all(low <= pause <= high for pause, (low, high) in zip(pauses, [(0.5, 1), (1, 2), (2, 4)], strict=True))


def test_it_waits_as_long_as_it_is_asked_to(talk, model, pauses):
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30))
    model.script = [failing(429, Retry_After="7"), failing(429, Retry_After=later), failing(429, Retry_After="soon")]
    assert talk().tries == 4
    assert pauses[0] == 7
    assert 25 < pauses[1] <= 30
    assert pauses[2] <= 4


def test_it_does_not_wait_for_ever(talk, model, pauses):
    model.script = [failing(429, Retry_After="86400")]
    with pytest.raises(NoAnswer, match="It asks to wait for 86400 seconds"):
        talk()
    assert pauses == []


def test_who_stays_overloaded_is_given_up(talk, model, pauses):
    model.usual = failing(503)
    with pytest.raises(NoAnswer, match=r"It answered 503\. Tried 5 times\.") as failure:
        talk()
    assert (len(pauses), failure.value.lost, failure.value.hopeless) == (4, 0, False)


@pytest.mark.parametrize(("status", "hopeless"), [(400, False), (413, False), (422, False), (401, True), (404, True)])
def test_a_refused_request_is_not_sent_again_and_its_words_are_kept_to_itself(talk, model, status, hopeless):
    model.script = [failing(status)]
    with pytest.raises(NoAnswer) as failure:
        talk()
    assert failure.value.hopeless is hopeless
    assert len(model.heard) == 1
    assert KEY not in str(failure.value)


def test_redirects_are_not_followed(talk, model):
    model.script = [served.elsewhere]
    with pytest.raises(NoAnswer, match="redirect") as failure:
        talk()
    assert failure.value.hopeless


@pytest.mark.parametrize("behaviour", [served.dropping, sending(b"{"), sending(b"[]"), sending(b'{"choices": []}')])
def test_an_answer_that_got_lost_may_have_been_paid_for_and_is_asked_for_once_more(talk, model, behaviour):
    model.script = [behaviour]
    reply = talk()
    assert (reply.content, reply.lost) == ("pass", 1)
    model.usual = behaviour
    with pytest.raises(NoAnswer) as failure:
        talk()
    assert (failure.value.tries, failure.value.lost) == (2, 2)


def test_who_says_nothing_is_hung_up_on(talk, model):
    model.usual = served.stalling
    with pytest.raises(NoAnswer, match=r"No answer within 0\.2 seconds"):
        talk(patience=0.2, tries=1)


def test_nobody_is_there():
    with pytest.raises(NoAnswer, match="No answer") as failure:
        ask(
            Endpoint("http://127.0.0.1:9/v1", tries=2),
            model="m",
            messages=MESSAGES,
            parameters={},
            wait=lambda _seconds: None,
        )
    assert failure.value.lost == 0


def test_a_refusal_is_told_apart_from_an_answer(talk, model):
    model.script = [served.refusing]
    assert talk().refusal == "I cannot judge this."
    filtered = completion(None)
    filtered["choices"][0]["finish_reason"] = "content_filter"
    model.script = [lambda answers, _body: answers.send(served.json.dumps(filtered).encode())]
    assert "content filter" in talk().refusal


def test_an_answer_that_was_cut_short_says_so(talk, model):
    model.script = [served.cut_short]
    assert talk().whole is False


def test_the_key_comes_back_in_nothing(talk, model):
    model.script = [saying(lambda _prompt: f"The key is {KEY}.")]
    assert talk().content == "The key is …."
    assert KEY not in repr(Endpoint("https://example.org/v1", KEY))


def test_what_no_database_can_hold_is_made_fit(talk, model):
    model.script = [saying(lambda _prompt: "a\x00b\ud800")]
    assert talk().content == "a␀b�"


def test_what_was_not_counted_is_not_known(talk, model):
    body = completion("pass")
    del body["usage"]
    model.script = [lambda answers, _body: answers.send(served.json.dumps(body).encode())]
    reply = talk()
    assert (reply.tokens_in, reply.tokens_out) == (None, None)
