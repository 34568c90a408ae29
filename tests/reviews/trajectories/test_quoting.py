"""What of a text for everybody is of one run: words in a row, names and numbers, steps; never what all may know."""

import pytest

from reviews.trajectories.quoting import quoted

RUN = ["My order ORD-88 came a week late, and I want my money back.", "Write to dana@example.com.", '{"total": 64200}']
POLICY = ["Pay back when an order comes a week late and it was promised in writing. See step 2."]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Whoever says “I want MY money back” within days is right.", ""),
        ("If somebody says and I want my money back, pay.", "and I want my money back"),
        ("Look at ord-88.", "ord-88"),
        ("Such as Dana@example.com!", "dana@example.com"),
        ("A total of 64200 is much.", "64200"),
        ("As in Step 4.", "Step 4"),
        ("As in step 2.", ""),
        ("An order comes a week late and it was promised: pay.", ""),
        ("Two weeks are late, and 2 days are not.", ""),
    ],
)
def test_what_is_of_the_run(text, found):
    assert quoted(text, RUN, POLICY) == found
