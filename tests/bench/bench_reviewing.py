"""How fast compiled reviewers judge and are compiled, against scikit-learn's own pipeline on the same texts."""

from time import perf_counter
from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from goldsets.reviewing.compiling import compile_reviewer
from goldsets.reviewing.examples import Target
from goldsets.reviewing.scoring import score
from tests.bench.figures import Figure, count, ratio
from tests.goldsets.reviewing.made import labelled

LABELS, FAMILIES, ROUNDS = 10_000, 200, 5


def run() -> list[Figure]:
    """Judging is timed in one process, in turn with the pipeline; another process judges as many beside it."""
    examples = labelled(LABELS, families=FAMILIES, told=1.0)
    began = perf_counter()
    reviewer = compile_reviewer(examples, Target("gate")).reviewer
    compiling = perf_counter() - began
    pipeline = make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression(max_iter=2000))
    texts = [example.text for example in examples]
    pipeline.fit(texts, [example.label for example in examples])
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(_seconds(lambda: [score(reviewer, e.text, e.structure) for e in examples]))
        theirs.append(_seconds(lambda: pipeline.predict_proba(texts)))
    items = len(examples) / sorted(ours)[ROUNDS // 2]
    return [
        ratio("judging, with reasons, against scikit-learn's pipeline", ours, theirs, at_most=2),
        count("judging, items a second and process", items, unit="items/s", at_least=5_000),
        count("compiling 10,000 labels, with all proofs", compiling, unit="s", at_most=60),
    ]


def _seconds(work: Any) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began
