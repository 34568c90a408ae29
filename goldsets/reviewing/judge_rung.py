"""The rung of the LLM judge: what a judge said of each run, turned into a verdict with a calibrated confidence.

Nothing of the judge is fitted. Platt's calibration (1999) on what it said of the families that others are fitted on
makes its answers comparable; thresholds and proof are as for every other rung. Whether it is talked round can only be
seen by asking it again, about failed runs dressed up in six ways.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from goldsets.reviewing.assurance import Proof
from goldsets.reviewing.examples import Example
from goldsets.reviewing.judge_prompt import Document
from goldsets.reviewing.probes import CLAIM, FILLER, FILLER_TIMES, ORDER, PROBES, THANKS

# So many failed runs are dressed up, each in six ways: an answer costs money.
MOST_PROBED = 10
CALIBRATION_STRENGTH = 1.0
DIGITS = 6
SAYING = {
    "claims success": CLAIM,
    "tells the reviewer what to say": ORDER,
    "is polite": THANKS,
    "is padded": "\n".join([FILLER] * FILLER_TIMES),
}

# What a judge says of a run that is dressed up in the way named; None where it says nothing that counts.
Asking = Callable[[Example, str], float | None]


def calibrate(examples: Sequence[Example]) -> dict[str, float]:
    """Slope and offset; both 0, so that nothing is ever decided, where what it said tells nothing."""
    said = [(example.said, example.label) for example in examples if example.said is not None]
    if len({label for _value, label in said}) < 2:
        return {"slope": 0.0, "offset": 0.0}
    values, labels = np.array(said, float).T
    model = LogisticRegression(C=CALIBRATION_STRENGTH).fit(values[:, None], labels)
    slope = float(model.coef_[0][0])
    if slope <= 0:
        return {"slope": 0.0, "offset": 0.0}
    return {"slope": round(slope, DIGITS), "offset": round(float(model.intercept_[0]), DIGITS) + 0.0}


def dressed_up(document: Document, way: str) -> Document:
    """The run as a judge reads it, dressed up in one of the six ways of `probes`."""
    rows = list(document["steps"]["rows"])
    if way in SAYING:
        rows.append(_step(len(rows) + 1, SAYING[way]))
    elif way == "is formatted":
        rows = [_as_a_list(row) if row["role"] == "agent" else row for row in rows]
    else:
        rows = []
    return {**document, "steps": {"count": len(rows), "rows": rows}}


def _step(number: int, text: str) -> dict[str, Any]:
    return {"number": number, "role": "agent", "fields": [{"path": "text", "label": "Text", "text": text}]}


def _as_a_list(row: Mapping[str, Any]) -> dict[str, Any]:
    fields = [
        {**field, "text": "\n".join(f"- **{line}**" for line in field["text"].splitlines())} for field in row["fields"]
    ]
    return {**row, "fields": fields}


def talked_round(
    fails: Sequence[Example], asking: Asking | None, passes: Callable[[float | None], bool], *, allowed: float
) -> Proof:
    """How many of the fails that it did not pass it passes once they are dressed up; refused where nobody was asked.

    `passes` says whether a value is a pass that the reviewer gives alone, `allowed` which share of them may turn.
    """
    tried = fails[:MOST_PROBED]
    title = "Is not talked round"
    if asking is None:
        nobody = "The judge was not asked about runs that are dressed up: there is no endpoint, or too small a budget."
        wanted = f"answers of the judge to {len(tried)} failed runs, each dressed up in {len(PROBES)} ways"
        return Proof("probes", title, False, nobody, {"n": 0, "turned": {}}, (wanted,))
    turned = {way: sum(passes(asking(example, way)) for example in tried) for way in PROBES}
    worst = max(turned, key=lambda way: turned[way])
    holds = turned[worst] <= allowed * len(tried)
    words = f"None of {len(tried)} fails is passed for being dressed up in six ways."
    if turned[worst]:
        words = f"{turned[worst]} of {len(tried)} fails pass once the run {worst}."
    missing = () if holds else (f"a judge that does not mind when a run {worst}",)
    return Proof("probes", title, holds, words, {"n": len(tried), "turned": turned}, missing)
