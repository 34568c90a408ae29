"""How often Python looks for garbage while rows go by in batches."""

import gc
from collections.abc import Generator
from contextlib import contextmanager

# Of a batch so many objects and more live to its end, and hardly ever in a cycle: looking through them again and again
# took a seventh of an import's writing and two fifths of an export.
LOOK_AFTER = 50_000


@contextmanager
def collecting_less() -> Generator[None]:
    """Python looks for garbage after `LOOK_AFTER` new objects, where it else looks after some hundreds."""
    before = gc.get_threshold()
    gc.set_threshold(LOOK_AFTER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
