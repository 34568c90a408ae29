"""Rules as people write them."""

import pytest

from goldsets.reviewing.rule_lines import WrongRules, lines_of, rules_from_lines

LINES = """\
fail: contains unapproved
fail: errors >= 3
pass: contains receipt and calls >= 1
fail: always"""


def test_lines_become_rules_and_rules_the_same_lines():
    rules = rules_from_lines(LINES)
    assert rules[0] == {"name": "fail: contains unapproved", "verdict": 0, "contains": "unapproved"}
    assert rules[1]["at_least"] == {"errors": 3}
    assert (rules[2]["contains"], rules[2]["at_least"], rules[2]["verdict"]) == ("receipt", {"calls": 1}, 1)
    assert lines_of(rules) == LINES


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("maybe: contains x", "Line 1 begins with neither"),
        ("pass: contains a\nfail: looks bad", "Line 2: “looks bad” is neither"),
        ("fail: speed >= 3", "of these measures"),
        ("fail: contains " + "x" * 300, "its name is a text"),
    ],
)
def test_what_is_no_rule_is_named(text, words):
    with pytest.raises(WrongRules, match=words):
        rules_from_lines(text)
