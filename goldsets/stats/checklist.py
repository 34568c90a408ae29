"""The checks a version is released by: what each measures, and whether what was written before it holds.

A threshold on a rate is held against the end of its interval that speaks against it, so that few observations do not
pass for good ones. What cannot be measured does not pass.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from reviews.stats.result import Estimate

# What terms may say: the field, what it means, what holds where a lead says nothing else, and its bounds.
TERMS: dict[str, tuple[str, float, float, float]] = {
    "min_rows": ("Labels, at least", 100, 1, 1e9),
    "min_evidence": ("Labels whose judgments cite evidence, at least", 0.5, 0, 1),
    "min_alpha": ("Alpha of the weakest criterion, lower end, at least", 0.4, -1, 1),
    "min_gold_accuracy": ("Right on gold, lower end, at least", 0.8, 0, 1),
    "max_false_positive": ("Gates passed that gold fails, upper end, at most", 0.2, 0, 1),
    "min_held_out_families": ("Families held out for tests, at least", 1, 0, 1e6),
    "max_synthetic": ("Synthetic share, at most", 0.5, 0, 1),
    "min_spot_checked": ("Synthetic labels that a person judged, at least", 0.1, 0, 1),
    "min_redacted": ("Runs that went through redaction, at least", 1.0, 0, 1),
}


@dataclass(frozen=True)
class Check:
    """One line of the checklist. `passed` is None for what is told and decides nothing."""

    key: str
    title: str
    passed: bool | None
    said: str
    wanted: str = ""
    estimate: Estimate | None = None

    def as_dict(self) -> dict[str, Any]:
        row = asdict(self)
        return row | {"estimate": self.estimate.as_dict() if self.estimate else None}


Terms = Mapping[str, tuple[str, float, float, float]]


def wrong_terms(terms: Mapping[str, Any], known: Terms = TERMS) -> dict[str, str]:
    """Every field at fault with a sentence."""
    errors = {}
    for name, value in terms.items():
        if name not in known:
            errors[name] = f"There is no such threshold. There are {', '.join(known)}."
            continue
        _title, _default, low, high = known[name]
        if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
            errors[name] = f"It is a number from {low:g} to {high:g}."
    return errors


def complete(terms: Mapping[str, Any], known: Terms = TERMS) -> dict[str, float]:
    """The terms with a value for each."""
    return {name: float(terms.get(name, default)) for name, (_title, default, _low, _high) in known.items()}


def at_least(key: str, title: str, n: int, wanted: float, said: str) -> Check:
    """A number that is counted, not estimated."""
    return Check(key, title, n >= wanted, said, f"at least {wanted:g}")


def share_at_least(key: str, title: str, part: int, whole: int, wanted: float, of: str) -> Check:
    """A share of everything there is, which needs no interval."""
    if whole == 0:
        return Check(key, title, wanted <= 0, f"There are no {of}.", f"at least {wanted:.0%}")
    return Check(key, title, part / whole >= wanted, f"{part:,} of {whole:,} {of}", f"at least {wanted:.0%}")


def share_at_most(key: str, title: str, part: int, whole: int, wanted: float, of: str) -> Check:
    if whole == 0:
        return Check(key, title, True, f"There are no {of}.", f"at most {wanted:.0%}")
    return Check(key, title, part / whole <= wanted, f"{part:,} of {whole:,} {of}", f"at most {wanted:.0%}")


def lower_end(key: str, title: str, estimate: Estimate, wanted: float) -> Check:
    """The estimate's lower end must reach what is wanted."""
    passed = estimate.defined and estimate.low is not None and estimate.low >= wanted
    return Check(key, title, passed, in_words(estimate), f"lower end at least {wanted:.2f}", estimate)


def upper_end(key: str, title: str, estimate: Estimate, wanted: float) -> Check:
    passed = estimate.defined and estimate.high is not None and estimate.high <= wanted
    return Check(key, title, passed, in_words(estimate), f"upper end at most {wanted:.2f}", estimate)


def in_words(estimate: Estimate) -> str:
    """ "0.82 [0.71, 0.90], n 44, 95% Wilson", or why there is none."""
    if estimate.value is None:
        return estimate.words or "Nothing to count yet."
    interval = "" if estimate.low is None or estimate.high is None else f" [{estimate.low:.2f}, {estimate.high:.2f}]"
    return f"{estimate.value:.2f}{interval}, n {estimate.n_units}, {estimate.method}".rstrip(", ")
