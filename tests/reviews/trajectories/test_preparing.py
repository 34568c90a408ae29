"""Rows made ready for the tables."""

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import zstandard

from reviews.trajectories.detect import read_runs
from reviews.trajectories.preparing import Order, batches, ready_runs
from reviews.trajectories.redaction import Rules
from reviews.trajectories.schema import ReadOptions


def test_the_originals_of_runs_that_several_threads_make_ready_at_once_stay_whole():
    rows = [json.dumps({"messages": [{"role": "user", "content": f"{n} " * n}]}).encode() for n in range(400)]

    def kept(row):
        (run,) = ready_runs(read_runs(row, ReadOptions()), place="", rules=Rules())
        return zstandard.decompress(run.original)

    with ThreadPoolExecutor(max_workers=8) as pool:
        assert list(pool.map(kept, rows * 3)) == rows * 3


def test_a_reader_that_the_system_stops_for_a_moment_while_its_words_are_on_their_way_goes_on_behind_them(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")  # as in the container: what is written to a full pipe may end half-way
    rows = [json.dumps({"messages": [{"role": "user", "content": f"{n} " * 2_000}]}).encode() for n in range(600)]
    file = Path(tmp_path / "runs.jsonl")
    file.write_bytes(b"\n".join(rows))
    order = Order(path=str(file), options=ReadOptions(), batch_rows=100, batch_bytes=10**9)

    kept = []
    with batches(order, size=file.stat().st_size) as read:
        for batch in read:
            kept += [zstandard.decompress(run.original) for row in batch.rows for run in row.runs]
            _stop_and_go_on_once_it_waits(psutil.Process().children())

    assert kept == rows


def _stop_and_go_on_once_it_waits(readers):
    """The one that reads ends up waiting until somebody takes what it says, or is through."""
    for reader in readers:
        while reader.is_running() and reader.status() not in (psutil.STATUS_SLEEPING, psutil.STATUS_ZOMBIE):
            os.sched_yield()
        reader.send_signal(signal.SIGSTOP)
        reader.send_signal(signal.SIGCONT)
