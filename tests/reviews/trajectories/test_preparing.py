"""Rows made ready for the tables."""

import json
from concurrent.futures import ThreadPoolExecutor

import zstandard

from reviews.trajectories.detect import read_runs
from reviews.trajectories.preparing import ready_runs
from reviews.trajectories.redaction import Rules
from reviews.trajectories.schema import ReadOptions


def test_the_originals_of_runs_that_several_threads_make_ready_at_once_stay_whole():
    rows = [json.dumps({"messages": [{"role": "user", "content": f"{n} " * n}]}).encode() for n in range(400)]

    def kept(row):
        (run,) = ready_runs(read_runs(row, ReadOptions()), place="", rules=Rules())
        return zstandard.decompress(run.original)

    with ThreadPoolExecutor(max_workers=8) as pool:
        assert list(pool.map(kept, rows * 3)) == rows * 3
