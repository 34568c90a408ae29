"""Which rationales speak for the other verdict: a reason to look at a judgment again, and no more than that.

Words of a rationale are weighed by logistic regression (TF-IDF, one and two words) on judgments that the settled label
bore out. Nobody is judged by a fit on their own family of tasks: families are dealt to five folds, and what is said of
one fold comes from the other four. A judgment is flagged where the other verdict is at least as probable as among the
one in a hundred borne-out judgments that look the most mistaken, and more probable than not.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

FOLDS = 5
FEWEST_OF_CLASS = 30
FEWEST_FAMILIES = 5
SURE = 0.8


@dataclass(frozen=True)
class Rationale:
    """A judgment's words and verdict; `borne_out` where its item is settled and the label says the same."""

    judgment: int
    family: str
    text: str
    passes: bool
    borne_out: bool


@dataclass(frozen=True)
class Flag:
    """How probable the other verdict is by the words alone."""

    judgment: int
    probability: float


@dataclass(frozen=True)
class Heard:
    """What the words said, after `fitted` judgments of so many families; `words` say why nothing could be fitted."""

    fitted: int
    families: int
    flags: tuple[Flag, ...]
    words: str = ""


def listen(rationales: Sequence[Rationale]) -> Heard:
    """The flagged among all of these, the most striking first."""
    known = [one for one in rationales if one.borne_out and one.text.strip()]
    families = {one.family for one in known}
    passes = sum(one.passes for one in known)
    fewest = min(passes, len(known) - passes)
    if fewest < FEWEST_OF_CLASS or len(families) < FEWEST_FAMILIES:
        words = (
            f"Too few to learn from: it takes {FEWEST_OF_CLASS} rationales of each verdict that were borne out, of "
            f"{FEWEST_FAMILIES} families; there are {passes} for a pass and {len(known) - passes} for a fail, of "
            f"{len(families)}."
        )
        return Heard(len(known), len(families), (), words)
    other = _other_verdict(known, [one for one in rationales if one.text.strip()])
    flags = [Flag(judgment, p) for judgment, p in other.items() if p >= SURE]
    return Heard(len(known), len(families), tuple(sorted(flags, key=lambda flag: -flag.probability)))


def fold_of(family: str) -> int:
    """The same family is always in the same fold, whatever else there is."""
    return hashlib.sha256(family.encode()).digest()[0] % FOLDS


def _other_verdict(known: Sequence[Rationale], asked: Sequence[Rationale]) -> dict[int, float]:
    """By judgment, how probable the other verdict is; nothing of a fold whose rest holds one verdict only."""
    # Only workers fit: the web process never loads scikit-learn, which takes 100 MB.
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    found: dict[int, float] = {}
    for fold in range(FOLDS):
        rest = [one for one in known if fold_of(one.family) != fold]
        own = [one for one in asked if fold_of(one.family) == fold]
        verdicts = [one.passes for one in rest]
        if not own or len(set(verdicts)) < 2:
            continue
        words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
        model = LogisticRegression(C=10.0, class_weight="balanced", max_iter=1000)
        model.fit(words.fit_transform(one.text for one in rest), verdicts)
        passing = model.predict_proba(words.transform(one.text for one in own))[:, 1]
        found |= {one.judgment: float(1 - p if one.passes else p) for one, p in zip(own, passing, strict=True)}
    return found
