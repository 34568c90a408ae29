"""What has to hold of labels before a reviewer is fitted on them: enough of them, experts who agree, and no leak."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from goldsets.reviewing.assurance import WORD, Demands, Proof, plural
from goldsets.reviewing.examples import Example
from goldsets.reviewing.families import FEWEST_FAMILIES, Part
from reviews.stats.agreement import krippendorff_alpha, percent_agreement
from reviews.stats.counts import from_values
from reviews.stats.resampling import Bootstrap


def enough(examples: Sequence[Example], parts: Mapping[Part, Sequence[Example]], demands: Demands) -> Proof:
    """Labels of both kinds, spread over enough families that every part has both."""
    count = Counter(example.label for example in examples)
    families = {label: len({e.family for e in examples if e.label == label}) for label in (0, 1)}
    all_families = len({example.family for example in examples})
    missing = [
        f"{demands.fewest_of_class - count[label]} more {plural(label, demands.fewest_of_class - count[label])}"
        for label in (1, 0)
        if count[label] < demands.fewest_of_class
    ]
    if all_families < FEWEST_FAMILIES:
        missing.append(f"{FEWEST_FAMILIES - all_families} more families of tasks")
    bare = [
        f"{plural(label, 2)} in more families, for the {part} part has none"
        for part in Part
        for label in (1, 0)
        if not any(example.label == label for example in parts[part])
    ]
    missing += [] if missing else bare
    words = f"{count[1]} passes and {count[0]} fails in {all_families} families."
    figures = {
        "passes": count[1],
        "fails": count[0],
        "families": all_families,
        "families_with_passes": families[1],
        "families_with_fails": families[0],
        "parts": {part.value: dict(Counter(WORD[example.label] for example in parts[part])) for part in Part},
    }
    return Proof("enough", "Enough labels", not missing, words, figures, tuple(missing))


def ceiling(examples: Sequence[Example], demands: Demands) -> Proof:
    """How well the experts agree with each other: nobody can judge as they do where they do not judge alike."""
    rows = [(e.key, rater, said) for e in examples for rater, said in e.votes.items()]
    units, raters, labels = zip(*rows, strict=True) if rows else ((), (), ())
    ratings = from_values(units, raters, labels, scale=(0, 1))
    alpha = krippendorff_alpha(ratings, level="nominal", bootstrap=Bootstrap())
    same = percent_agreement(ratings)
    missing: tuple[str, ...]
    if alpha.value is None:
        words, missing = alpha.words, ("passes and fails that at least two experts judged",)
        holds = False
    else:
        holds = alpha.value >= demands.agreement
        words = f"The experts' own alpha is {alpha.value:.2f}; {demands.agreement:.2f} is asked for."
        missing = () if holds else ("agreement among the experts: norm them on the guideline first",)
    return Proof(
        "ceiling",
        "Experts agree among themselves",
        holds,
        words,
        {"alpha": alpha.as_dict(), "same": same.as_dict()},
        missing,
    )


def leaks(parts: Mapping[Part, Sequence[Example]], shown: Sequence[Example] = ()) -> Proof:
    """No family in two parts, and no text in the test that another part has as well.

    `shown` are the items of families that a judge has examples of: they must stand in no part.
    """
    part_of = defaultdict(set)
    for part, examples in [*parts.items(), ("examples", shown)]:
        for example in examples:
            part_of[example.family].add(part)
    split = sorted(family for family, found in part_of.items() if len(found) > 1)
    seen = {_print(e) for part in Part if part is not Part.TEST for e in parts[part]} | {_print(e) for e in shown}
    again = [e.key for e in parts[Part.TEST] if _print(e) in seen]
    holds = not split and not again
    words = "No family and no text of the test stands in any other part"
    words += f" or in the families of the judge's examples, whose {len(shown)} items are left out." if shown else "."
    if not holds:
        words = f"{len(split)} families and {len(again)} texts of the test stand in other parts as well."
    missing = () if holds else ("families that hold all copies of a run: give copies the same family",)
    return Proof(
        "leaks", "Nothing leaks", holds, words, {"families": split, "items": again, "shown": len(shown)}, missing
    )


def _print(example: Example) -> bytes:
    return hashlib.sha256(" ".join(example.text.lower().split()).encode()).digest()
