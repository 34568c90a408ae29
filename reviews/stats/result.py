"""What every statistic returns: a value with its interval, numbers and method, or the reason why there is none."""

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any


class Reason(StrEnum):
    """Why a value, or only its interval, is missing. The words say the same to a person."""

    NO_RATINGS = "no_ratings"
    ONE_RATER = "one_rater"
    NO_PAIRS = "no_pairs"
    NO_VARIATION = "no_variation"
    NO_SCALE = "no_scale"
    BELOW_FLOOR = "below_floor"
    NOTHING_MARKED = "nothing_marked"
    NOTHING_DIFFERS = "nothing_differs"
    NOT_CONNECTED = "not_connected"
    SEPARATED = "separated"
    # These two leave the value standing and take only its interval away.
    ONE_UNIT = "one_unit"
    UNSTABLE = "unstable"


WORDS = {
    Reason.NO_RATINGS: "There are no ratings yet.",
    Reason.ONE_RATER: "Only one person has rated, so there is nobody to agree with.",
    Reason.NO_PAIRS: "No item has two ratings yet, so there is nothing to compare.",
    Reason.NO_VARIATION: (
        "Every compared rating is the same, so agreement beyond chance is not defined. Percent agreement still counts."
    ),
    Reason.NO_SCALE: "The scale has fewer than two values, so agreement beyond chance is not defined.",
    Reason.BELOW_FLOOR: "Too few to say.",
    Reason.NOTHING_MARKED: "Nobody has marked anything, so there is nothing to compare.",
    Reason.NOTHING_DIFFERS: "No two answers differ, so there is no difference to test.",
    Reason.NOT_CONNECTED: "Some were never compared with the others, even by way of a third, so they share no scale.",
    Reason.SEPARATED: "Some won, or lost, every comparison with the others, so no finite strength explains them.",
    Reason.ONE_UNIT: "One item gives no interval.",
    Reason.UNSTABLE: "Too many resamples hold only one kind of rating, so the interval cannot be given.",
}


# The same in a word, where a table has no room for a sentence.
SHORT = {
    Reason.NO_RATINGS: "nothing yet",
    Reason.ONE_RATER: "one rater",
    Reason.NO_PAIRS: "no pairs",
    Reason.NO_VARIATION: "all the same",
    Reason.NO_SCALE: "no scale",
    Reason.BELOW_FLOOR: "too few",
    Reason.NOTHING_MARKED: "nothing marked",
    Reason.NOTHING_DIFFERS: "nothing differs",
    Reason.NOT_CONNECTED: "not connected",
    Reason.SEPARATED: "won or lost all",
    Reason.ONE_UNIT: "one item",
    Reason.UNSTABLE: "unstable",
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """One statistic. `value` is None where it is not defined; it is never NaN.

    `n_units` counts units with two or more ratings, `n_pairs` the pairs of ratings on them, `n_raters` the people in
    those pairs. For a proportion, `n_units` is the number of trials and the other two are 0.
    """

    statistic: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n_units: int = 0
    n_pairs: int = 0
    n_raters: int = 0
    method: str = ""
    reason: Reason | None = None
    words: str = ""

    @property
    def defined(self) -> bool:
        return self.value is not None

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return asdict(self) | {"reason": self.reason.value if self.reason else None}


@dataclass(frozen=True, slots=True)
class HypothesisTest:
    """One test. `p` is None where nothing can be tested; `n` counts the units that bear on the question."""

    name: str
    p: float | None
    n: int
    statistic: float | None = None
    df: int | None = None
    method: str = ""
    reason: Reason | None = None
    words: str = ""

    @property
    def defined(self) -> bool:
        return self.p is not None

    def as_dict(self) -> dict[str, Any]:
        """Plain types for JSON."""
        return asdict(self) | {"reason": self.reason.value if self.reason else None}


def without_test(name: str, n: int, method: str, reason: Reason) -> HypothesisTest:
    """A test that says why it has no p."""
    return HypothesisTest(name, None, n, method=method, reason=reason, words=WORDS[reason])


def without_value(estimate: Estimate, reason: Reason, words: str = "") -> Estimate:
    """The same statistic and numbers, with no value and no interval, and the reason in words."""
    return replace(estimate, value=None, low=None, high=None, reason=reason, words=words or WORDS[reason])


def without_interval(estimate: Estimate, reason: Reason) -> Estimate:
    """The same statistic and value, with no interval and the reason in words."""
    return replace(estimate, low=None, high=None, reason=reason, words=WORDS[reason])


def refuse_below(estimate: Estimate, floor: int) -> Estimate:
    """The estimate, or a refusal where it rests on fewer than `floor` units. What is undefined keeps its own reason."""
    if not estimate.defined or estimate.n_units >= floor:
        return estimate
    missing = floor - estimate.n_units
    words = (
        f"Too few to say: {estimate.n_units} of the {floor} items needed with two or more ratings, {missing} missing."
    )
    return without_value(estimate, Reason.BELOW_FLOOR, words)
