"""Logs are JSON lines with a request id, and no token ever stands in one."""

import json
import logging

import pytest
from django.conf import settings

from annotator.logs import logging_config, without_secrets


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("GET /enter/?sesame=AAAAAAAAENATChSOZrS0", "GET /enter/?sesame=…"),
        ("GET /enter/?next=/&sesame=AAAA&x=1", "GET /enter/?next=/&sesame=…&x=1"),
        ("GET /join/Zm9vYmFy/", "GET /join/…/"),
        ("Authorization: Token assay_0123456789abcdef", "Authorization: Token …"),
        ("GET /accounts/password/reset/key/1-set-password/", "GET /accounts/password/reset/key/…/"),
        ("GET /queues/42/judge/", "GET /queues/42/judge/"),
    ],
)
def test_tokens_are_taken_out(written, kept):
    assert without_secrets(written) == kept


def test_a_line_is_json_and_hides_tokens_even_from_libraries():
    formatter = settings.LOGGING["formatters"]["json"]
    built = formatter["()"](**{key: value for key, value in formatter.items() if key != "()"})
    record = logging.LogRecord("some.library", logging.INFO, "x.py", 1, "GET /enter/?sesame=%s", ("AAAA",), None)
    parsed = json.loads(built.format(record))
    assert parsed["event"] == "GET /enter/?sesame=…"
    assert parsed["level"] == "info"
    assert parsed["logger"] == "some.library"
    assert parsed["timestamp"].endswith("Z")


def test_the_level_is_the_one_asked_for():
    assert logging_config("ERROR")["root"]["level"] == "ERROR"
