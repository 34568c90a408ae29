"""Agreement beside simpledorff and consensus beside crowd-kit, each from PyPI in its own environment, on equal ratings.

A peer reads the ratings from a file and is timed by a few lines of its own, so that nothing of it touches Assay's
environment. The sides are run in turn.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from reviews.stats.aggregation import dawid_skene
from reviews.stats.agreement import krippendorff_alpha
from tests.bench.bench_agreement import Columns, counted, made_up_ratings, timed
from tests.bench.figures import Figure, count, milliseconds, ratio
from tests.environments import environment

UNITS = int(os.environ.get("PEER_UNITS", "210526"))
ROUNDS = 3
ITERATIONS = 20
# Both leave pandas to whoever installs them, or take it along; simpledorff does not say that it needs it.
PACKAGES = {
    "simpledorff": ("simpledorff==0.0.2", "pandas==3.1.1"),
    "crowd-kit": ("crowd-kit==1.4.2",),
}
READ = """
import json, resource, sys, time
import numpy as np, pandas
data = np.load(sys.argv[1])
"""
WRITE = """
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print("FOUND", json.dumps({"seconds": seconds, "value": value, "megabytes": (peak - before) / 1000}))
"""
PROGRAMS = {
    "simpledorff": """
import simpledorff
frame = pandas.DataFrame({"unit": data["units"], "rater": data["raters"], "label": data["labels"]})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
value = simpledorff.calculate_krippendorffs_alpha_for_df(
    frame, experiment_col="unit", annotator_col="rater", class_col="label"
)
seconds = time.perf_counter() - start
""",
    "crowd-kit": f"""
from crowdkit.aggregation import DawidSkene
frame = pandas.DataFrame({{"task": data["units"], "worker": data["raters"], "label": data["labels"]}})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
labels = DawidSkene(n_iter={ITERATIONS}, tol=0).fit_predict(frame)
seconds = time.perf_counter() - start
value = float((labels.sort_index().to_numpy() == data["consensus"]).mean())
""",
}


def run() -> list[Figure]:
    pythons = {name: environment(name, packages) for name, packages in PACKAGES.items()}
    columns = made_up_ratings(UNITS)
    consensus = dawid_skene(counted(columns), max_iterations=ITERATIONS, tolerance=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.npz"
        rated = consensus.labels[np.unique(columns[0])]
        np.savez(path, units=columns[0], raters=columns[1], labels=columns[2], consensus=rated)
        return [*_alpha(pythons["simpledorff"], path, columns), *_consensus(pythons["crowd-kit"], path, columns)]


def _alpha(python: Path, path: Path, columns: Columns) -> list[Figure]:
    ours = krippendorff_alpha(counted(columns), level="nominal")
    theirs, seconds = [], []
    for _ in range(ROUNDS):
        theirs.append(_peer(python, "simpledorff", path))
        seconds.append(timed(lambda: krippendorff_alpha(counted(columns), level="nominal")))
    if ours.value is None or abs(theirs[0]["value"] - ours.value) > 1e-9:
        raise AssertionError(f"simpledorff has another alpha: {theirs[0]['value']}, not {ours.value}")
    return _figures("nominal alpha: simpledorff", theirs, "Assay", seconds)


def _consensus(python: Path, path: Path, columns: Columns) -> list[Figure]:
    theirs, seconds = [], []
    for _ in range(ROUNDS):
        theirs.append(_peer(python, "crowd-kit", path))
        seconds.append(timed(lambda: dawid_skene(counted(columns), max_iterations=ITERATIONS, tolerance=0)))
    same = count("  labels that are the same", 100 * theirs[0]["value"], unit="%")
    return [*_figures(f"Dawid-Skene, {ITERATIONS} iterations: crowd-kit", theirs, "Assay", seconds), same]


def _figures(name: str, theirs: list[dict[str, Any]], other: str, seconds: list[float]) -> list[Figure]:
    times = [found["seconds"] for found in theirs]
    return [
        ratio(f"{name} / {other}", times, seconds, at_least=1),
        milliseconds("  the peer", times, note=f"{UNITS:,} units"),
        milliseconds(f"  {other}", seconds),
        count("  memory the peer takes on top", max(found["megabytes"] for found in theirs), unit="MB"),
    ]


def _peer(python: Path, name: str, path: Path) -> dict[str, Any]:
    done = subprocess.run(
        [str(python), "-c", READ + PROGRAMS[name] + WRITE, str(path)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    line = next(line for line in done.stdout.splitlines() if line.startswith("FOUND"))
    found: dict[str, Any] = json.loads(line.removeprefix("FOUND"))
    return found
