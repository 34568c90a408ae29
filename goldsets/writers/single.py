"""Pairs for formats that know one message on each side: those with more are left out and counted."""

from collections.abc import Iterator

from goldsets.writers.document import Document
from goldsets.writers.examples import Pair, Reading


def single_pairs(document: Document, reading: Reading) -> Iterator[Pair]:
    for pair in reading.pairs(document):
        if len(pair.chosen) == 1 and len(pair.rejected) == 1:
            yield pair
        else:
            reading.left_out["more than one message on a side"] += 1
