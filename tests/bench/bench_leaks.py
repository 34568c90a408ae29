"""How long near texts take to find among 10,000 of 300 words, against only cutting the same texts into their pieces."""

import random
import tracemalloc
from time import perf_counter

from goldsets.stats.near import Index, shingles, similarity
from tests.bench.figures import Figure, count, milliseconds, ratio

TEXTS, LENGTH, PLANTED, VOCABULARY = 10_000, 300, 500, 20_000
ROUNDS = 3


def run() -> list[Figure]:
    texts, copies = made_up(random.Random(1))  # noqa: S311
    cutting, searching = [], []
    for _ in range(ROUNDS):
        started = perf_counter()
        for text in texts:
            shingles(text)
        cutting.append(perf_counter() - started)
        started = perf_counter()
        index = indexed(texts)
        found = [index.near(copy) for _number, copy in copies]
        searching.append(perf_counter() - started)
    near = [(number, copy) for number, copy in copies if similarity(texts[number], copy) >= index.threshold]
    wanted = {number for number, _copy in near}
    hit = {number for (number, _copy), there in zip(copies, found, strict=True) if number in {n.key for n in there}}
    tracemalloc.start()
    kept = indexed(texts)
    megabytes = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    return [
        ratio("index of 10,000 texts, 500 looked for / cutting them into pieces", searching, cutting, at_most=5),
        milliseconds("index of 10,000 texts, 500 looked for", searching),
        _none("planted copies at or above the threshold that were missed", len(wanted - hit)),
        _none("texts found that are below it", len(hit - wanted)),
        count(f"MB that Python holds for {len(kept):,} texts", round(megabytes), unit="MB"),
    ]


def _none(name: str, number: int) -> Figure:
    return Figure(name, number, unit="", goal="0", met=number == 0)


def indexed(texts: list[str]) -> Index:
    index = Index()
    for number, text in enumerate(texts):
        index.add(number, text)
    return index


def made_up(rng: random.Random) -> tuple[list[str], list[tuple[int, str]]]:
    """Texts, and copies of some in which up to 20 words are other ones."""
    vocabulary = [f"word{number}" for number in range(VOCABULARY)]
    texts = [[rng.choice(vocabulary) for _ in range(LENGTH)] for _ in range(TEXTS)]
    copies = []
    for number in rng.sample(range(TEXTS), PLANTED):
        copy = [*texts[number]]
        for at in rng.sample(range(LENGTH), rng.randint(1, 20)):
            copy[at] = "changed"
        copies.append((number, " ".join(copy)))
    return [" ".join(text) for text in texts], copies
