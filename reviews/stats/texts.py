"""Short texts that say much the same, found by their words: groups of them, what tells each, and what it is near.

TF-IDF weighs a word by how often it stands in a text and how few texts have it (Sparck Jones 1972); groups are joined
from the most alike on, by the mean of their cosines, as long as that is above a floor (average linkage, Sokal and
Michener 1958). The same texts give the same groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Mean cosine from which two groups of texts are one.
ALIKE = 0.15
# Cosine from which a text is near a line.
NEAR = 0.05
MOST_TEXTS = 2_000
TERMS = 5
# What stands before n't, as in doesn't, is no word.
WORD = r"(?u)\b[^\W\d_]{3,}\b(?!['\u2019]t\b)"


@dataclass(frozen=True)
class TextGroup:
    """Texts that belong together by their places, the words that tell them apart, and the line they are nearest to."""

    members: tuple[int, ...]
    terms: tuple[str, ...]
    line: int | None
    similarity: float


def text_groups(texts: Sequence[str], lines: Sequence[str] = ()) -> list[TextGroup]:
    """The groups among `texts`, the largest first; `line` is a place in `lines`, None where none is near.

    Raises ValueError for more texts than can be compared pairwise.
    """
    if len(texts) > MOST_TEXTS:
        raise ValueError(f"At most {MOST_TEXTS} texts can be grouped.")
    # Here alone, because it takes 60 MB, which imports and web processes that group nothing would hold too.
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True, stop_words="english", token_pattern=WORD)
    try:
        weights = words.fit_transform([*texts, *lines]).toarray()
    except ValueError:  # None of the texts has a word in it.
        return [TextGroup((place,), (), None, 0.0) for place in range(len(texts))]
    said, clauses = weights[: len(texts)], weights[len(texts) :]
    names = words.get_feature_names_out()
    groups = [_group(np.flatnonzero(labels), said, clauses, names) for labels in _membership(said)]
    return sorted(groups, key=lambda group: (-len(group.members), group.members))


def _membership(said: np.ndarray) -> list[np.ndarray]:
    """A mask over the texts for each group."""
    # Here alone for the same reason.
    from sklearn.cluster import AgglomerativeClustering

    if len(said) < 2:
        return [np.ones(len(said), dtype=bool)] if len(said) else []
    distances = np.clip(1 - said @ said.T, 0, 1)
    np.fill_diagonal(distances, 0)
    joined = AgglomerativeClustering(
        n_clusters=None, metric="precomputed", linkage="average", distance_threshold=1 - ALIKE
    )
    labels = joined.fit_predict(distances)
    return [labels == label for label in range(labels.max() + 1)]


def _group(members: np.ndarray, said: np.ndarray, clauses: np.ndarray, names: np.ndarray) -> TextGroup:
    centre = said[members].mean(axis=0)
    best = np.lexsort((names, -centre))[:TERMS]
    terms = tuple(str(names[place]) for place in best if centre[place] > 0)
    line, similarity = None, 0.0
    norm = np.linalg.norm(centre)
    if len(clauses) and norm:
        cosines = clauses @ centre / norm
        nearest = int(cosines.argmax())
        if cosines[nearest] >= NEAR:
            line, similarity = nearest, float(cosines[nearest])
    return TextGroup(tuple(int(place) for place in members), terms, line, similarity)
