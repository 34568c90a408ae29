"""Where the policy says that labels leave alone, no format has a judgment behind them, in rows or beside them."""

from collections import Counter

import pyarrow.parquet as pq
import pytest

from goldsets.writers.catalogue import FORMATS
from goldsets.writers.document import Cited, Failure
from goldsets.writers.examples import Policies, Reading
from goldsets.writers.files import put_together, write_part
from goldsets.writers.tally import Tally
from tests.goldsets.writers.making import GOOD, SAFE, WORDS, comparison, corrected, document, judged, prefers, value

# What only judgments say: who judged, of which tier, why, where, and what should have been done.
OF_JUDGMENTS = ["rater-7", "rater-8", "tier-of-raters", "rater's reason", "rater's quote", "rater's correction"]


def by_raters(*values):
    """Two raters' judgments, each with everything that a judgment may hold."""
    cited = Cited(SAFE, None, 2, "text", 0, 5, "rater's quote", None, "", "")
    failure = Failure(2, "agent", "", "rater's reason")
    more = {"rationale": "rater's reason", "tier": "tier-of-raters", "evidence": [cited], "failure": failure}
    return [
        judged("rater-7", values, corrections=[corrected(4, "rater's correction")], **more),
        judged("rater-8", values, **more),
    ]


LABELS = [
    document([value()], position=1, steps=[(2, 1, "unanimous")], judgments=by_raters(value(), value(GOOD, 3))),
    document([value(SAFE, 0)], position=2, failed_at=4, judgments=by_raters(value(SAFE, 0))),
    comparison(prefers(1, 2, strength=-2), position=3, judgments=by_raters(prefers(1, 2, strength=-3))),
]


def written(form, policies, folder):
    """Everything that leaves in a format, as one text."""
    working, out = folder / "working", folder / "out"
    working.mkdir()
    out.mkdir()
    part = write_part([LABELS], [form], WORDS, policies, working, 0, Tally())
    reading = Reading(WORDS, policies, counts=Counter(part.told[form.name].counts))
    files = put_together(working, out, [form], 1, part.told, lambda name: reading)
    assert files[0].rows > 0
    paths = [out / file.name for file in files]
    return "\n".join(
        str(pq.read_table(path).to_pylist()) if path.suffix == ".parquet" else path.read_text() for path in paths
    )


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_has_a_judgment_where_they_stay_back(name, tmp_path):
    text = written(FORMATS[name], Policies(raters="none"), tmp_path)
    assert [words for words in OF_JUDGMENTS if words in text.replace('\\"', '"')] == []


@pytest.mark.parametrize("name", ["jsonl", "parquet", "calibration", "label_studio"])
def test_else_they_leave_under_pseudonyms(name, tmp_path):
    assert "rater-7" in written(FORMATS[name], Policies(), tmp_path)


def test_the_calibration_bundle_says_why_it_has_no_ceiling_and_still_that_two_had_judged(tmp_path):
    text = written(FORMATS["calibration"], Policies(raters="none"), tmp_path)
    assert '"by_criterion": {}' in text
    assert "judgments stay back" in text
    assert '"double_coded":true' in text
