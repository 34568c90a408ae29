"""Export: labels a second to parquet against COPY of the same rows to parquet, in turn, and the memory it takes."""

import io
import resource
import shutil
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from django.conf import settings
from django.db import connection

from annotator.embedded.servers import Servers
from goldsets.actions.defining import define_dataset
from goldsets.actions.exporting import run_export, start_export
from goldsets.enums import DatasetState
from reviews.models import Queue
from tests import factories as make
from tests.bench.figures import Figure, count, ratio
from tests.bench.seeding import settle
from tests.bench.servers import drop_database, in_process, make_database

ROUNDS, LABELS = 3, 5_000
# All that a row of an export holds, as the tables hold it.
TABLES = [
    f"reviews_{name}"
    for name in ("label", "labelvalue", "judgment", "rating", "evidence", "trajectory", "task", "step", "outcome")
]


def run(servers: Servers) -> list[Figure]:
    database = make_database(servers, "exporting")
    with tempfile.TemporaryDirectory(dir=servers.folder.path) as folder:
        rounds = in_process(database, _rounds, Path(folder))
    drop_database(servers, database)
    seconds, copying, memory = ([each[column] for each in rounds] for column in range(3))
    return [
        ratio("export: speed of COPY to parquet", copying, seconds, at_least=0.5),
        count("export: labels a second", LABELS / sorted(seconds)[len(seconds) // 2], unit="labels/s"),
        # Of the first export; what comes later also holds what COPY fetched.
        count("export: memory of the process", memory[0], unit="MB"),
    ]


def _rounds(folder: Path) -> list[tuple[float, float, float]]:
    """Per round the seconds of the export, those of the COPY, and the most memory held after the export."""
    queue = Queue.objects.select_related("project").get(pk=settle(LABELS))
    actor = make.lead_of(queue.project)
    settings.MEDIA_ROOT = folder / "files"
    dataset = define_dataset(actor=actor, project=queue.project, name="Bench", formats=["parquet"], queue=queue)
    found = []
    for _ in range(ROUNDS):
        version = start_export(actor=actor, dataset=dataset)
        start = time.perf_counter()
        version = run_export(version_id=version.pk)
        seconds = time.perf_counter() - start
        if (version.state, version.rows_done) != (DatasetState.FINISHED, LABELS):
            raise RuntimeError(f"The export ended as {version.state} with {version.rows_done} rows: {version.error}")
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        found.append((seconds, _copy_to_parquet(folder / "copied"), memory))
    return found


def _copy_to_parquet(folder: Path) -> float:
    """Seconds to bring the tables behind an export into parquet files, a file per table, nothing joined or checked."""
    folder.mkdir()
    start = time.perf_counter()
    for table in TABLES:
        content = io.BytesIO()
        with connection.cursor() as cursor, cursor.copy(f"COPY {table} TO STDOUT WITH (FORMAT csv, HEADER)") as copy:
            for piece in copy:
                content.write(piece)
        content.seek(0)
        options = pa.csv.ParseOptions(newlines_in_values=True)
        pa.parquet.write_table(pa.csv.read_csv(content, parse_options=options), folder / f"{table}.parquet")
    seconds = time.perf_counter() - start
    shutil.rmtree(folder)
    return seconds
