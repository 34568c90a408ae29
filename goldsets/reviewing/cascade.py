"""A cascade: rules keep what they are sure of, all else goes on to a classifier, and what that defers goes to people.

Which rule keeps its items is settled on the families that weights are fitted on, by a bound that is fixed beforehand.
So what the cascade says of an item, and how sure it is, is settled before the families come that certify and prove it:
it is certified as a whole, by one threshold for passes and one for fails, like any single rung.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from goldsets.reviewing.classifier import fit
from goldsets.reviewing.examples import Example
from goldsets.reviewing.scoring import score

DIGITS = 6


def fit_cascade(
    rules: Sequence[Mapping[str, Any]],
    training: Sequence[Example],
    development: Sequence[Example],
    *,
    keeps_from: float,
) -> dict[str, Any]:
    """The reviewer, without thresholds yet. ValueError where either part lacks passes or fails."""
    return {
        "kind": "cascade",
        "rules": _borne_out(rules, [*training, *development]),
        "keeps_from": keeps_from,
        "classifier": fit(training, development),
        "thresholds": {"pass": None, "fail": None},
    }


def _borne_out(rules: Sequence[Mapping[str, Any]], examples: Sequence[Example]) -> list[dict[str, Any]]:
    """The rules, each with how often it is right on the items that come to it, by Laplace's rule of succession."""
    thresholds = {"pass": None, "fail": None}
    found, left = [], list(examples)
    for rule in rules:
        alone = {"kind": "rules", "rules": [rule], "thresholds": thresholds}
        mine = [example for example in left if score(alone, example.text, example.structure).verdict is not None]
        taken = {example.key for example in mine}
        left = [example for example in left if example.key not in taken]
        right = sum(example.label == rule["verdict"] for example in mine)
        found.append({**rule, "confidence": round((right + 1) / (len(mine) + 2), DIGITS)})
    return found
