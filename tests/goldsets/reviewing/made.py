"""Labelled runs whose right verdict is known: fails say so in their words, but for a share that cannot be told."""

import random

from goldsets.reviewing.examples import Example
from goldsets.reviewing.scoring import structure_of

GOOD = ["verified", "confirmed", "matched", "permitted", "receipt"]
BAD = ["skipped", "guessed", "unapproved", "overrode", "mismatch"]
PLAIN = [f"word{n}" for n in range(200)]
EXPERTS = ("Rater A", "Rater B", "Rater C")


def labelled(
    n: int = 1000,
    *,
    families: int = 40,
    told: float = 0.97,
    careful: float = 0.97,
    passing: float = 0.5,
    experts: tuple[str, ...] = EXPERTS,
    slices: tuple[str, ...] = ("billing", "shipping"),
    seed: int = 1,
) -> list[Example]:
    """`told` is how often the words tell the label, `careful` how often an expert gives it."""
    rng = random.Random(seed)  # noqa: S311
    found = []
    for at in range(n):
        label = int(rng.random() < passing)
        words = rng.choices(PLAIN, k=30) + rng.choices(GOOD if label == (rng.random() < told) else BAD, k=4)
        rng.shuffle(words)
        text = " ".join(words)
        found.append(
            Example(
                key=f"item-{at}",
                family=f"family-{at % families}",
                text=text,
                structure=structure_of({"text": text}),
                label=label,
                votes={expert: label if rng.random() < careful else 1 - label for expert in experts},
                slices={"ticket": slices[rng.randrange(len(slices))]},
                minutes=6.0,
                position=at,
            )
        )
    return found
