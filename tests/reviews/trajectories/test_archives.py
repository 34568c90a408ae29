"""Folders, ZIP archives and compressed files give the rows of the files in them, each with a place that says where."""

import gzip
import io
import json
import zipfile
import zlib
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from reviews.trajectories import archives
from reviews.trajectories.archives import natural, unpacked
from reviews.trajectories.detect import read_run
from reviews.trajectories.reading import BadRow, RawRow, RunFile
from reviews.trajectories.schema import ReadOptions

GOLDEN = Path(__file__).parent / "golden"
CHAT = {"messages": [{"role": "user", "content": "Hi"}]}
LINES = b'{"a": 1}\n{"a": 2}\n'


def read(path, **limits):
    with RunFile(path, **limits) as file:
        return list(file)


def places(rows):
    return [(row.place, row.reason if isinstance(row, BadRow) else row.original) for row in rows]


def zipped(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def zstd_zipped(path, members):
    """An archive as Inspect writes it today: ZIP method 93, which the standard library can neither write nor read."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            archive.writestr(name, zstandard.ZstdCompressor().compress(data))
            info = archive.getinfo(name)
            info.compress_type, info.file_size, info.CRC = archives.ZIP_ZSTD, len(data), zlib.crc32(data)
    return path


def log_members():
    """The golden Inspect log as the members of an .eval, its sample three times."""
    log = json.loads((GOLDEN / "inspect_log.json").read_text())
    (sample,) = log.pop("samples")
    header = {name: log[name] for name in ("version", "status", "eval", "plan", "results", "stats")}
    members = {"_journal/start.json": json.dumps({"version": 2, "eval": log["eval"], "plan": log["plan"]}).encode()}
    for epoch in (10, 2, 1):
        members[f"samples/late-order_epoch_{epoch}.json"] = json.dumps({**sample, "epoch": epoch}).encode()
    return members | {"summaries.json": b"[]", "header.json": json.dumps(header).encode()}


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_a_compressed_file_is_unpacked_by_its_content(tmp_path, pack):
    path = tmp_path / "runs"
    path.write_bytes(pack(LINES))
    assert places(read(path)) == [("line 1", b'{"a": 1}'), ("line 2", b'{"a": 2}')]


def test_zstd_frames_behind_each_other_are_one_file_and_a_cut_is_told(tmp_path):
    path = tmp_path / "runs.jsonl.zst"
    one = zstandard.ZstdCompressor().compress(LINES)
    path.write_bytes(one + one)
    assert [row.place for row in read(path)] == ["line 1", "line 2", "line 3", "line 4"]
    path.write_bytes(one[:-3])
    assert read(path)[-1] == BadRow(
        "end of file", "The compressed file is damaged or cut: the stream ends before its end mark."
    )


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress])
def test_few_bytes_that_unpack_to_very_many_are_read_no_further_than_text_can_be_packed(pack):
    stream = unpacked(io.BytesIO(pack(bytes(100_000_000))))
    packed = len(pack(bytes(100_000_000)))
    with pytest.raises(archives.ArchiveError, match="more than 500 times"):
        list(iter(lambda: stream.read(1024), b""))
    assert stream.raw._unpacked <= max(archives.RATIO_FREE_BYTES, 500 * packed) + archives.UNPACKED_BUFFER_BYTES


@pytest.mark.parametrize("text", [b"[", b'{"a":', b'[{"a":', b"[[],"])
def test_brackets_past_all_depth_are_looked_through_no_further(tmp_path, text):
    """Ninety megabytes of brackets in a few kilobytes: what is read of them stays below two."""
    path = tmp_path / "runs.json.zst"
    path.write_bytes(zstandard.ZstdCompressor(level=19).compress(text * (90_000_000 // len(text))))
    with RunFile(path) as file:
        rows = list(file)
    assert rows
    assert all(isinstance(row, BadRow) or len(row.original) < 2_000_000 for row in rows)


def test_a_bomb_behind_good_rows_does_not_take_them_along(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "RATIO_FREE_BYTES", 1_000_000)
    monkeypatch.setattr(archives, "UNPACKED_BUFFER_BYTES", 1000)
    path = tmp_path / "runs.jsonl.gz"
    path.write_bytes(gzip.compress(LINES + b"\n" * 20_000_000))
    *good, bomb = read(path)
    assert [row.place for row in good] == ["line 1", "line 2"]
    assert bomb == BadRow("the file", "It cannot be unpacked: it unpacks to more than 500 times its size.")


@pytest.mark.parametrize("write", [zipped, zstd_zipped])
def test_an_eval_gives_its_samples_one_by_one_with_the_header(tmp_path, write):
    rows = read(write(tmp_path / "log.eval", log_members()))
    assert [row.place for row in rows] == [f"samples/late-order_epoch_{epoch}.json" for epoch in (1, 2, 10)]
    runs = [read_run(row.original, ReadOptions()) for row in rows]
    assert [(run.key, run.source_ref, run.outcome.model) for run in runs] == [
        ("desk-late-order", f"epoch {epoch}", "SECRET") for epoch in (1, 2, 10)
    ]


def test_a_sample_is_the_same_run_from_the_json_and_from_the_eval(tmp_path):
    (from_json,) = read(GOLDEN / "inspect_log.json")
    from_eval = read(zipped(tmp_path / "log.eval", log_members()))[1]
    hashes = {read_run(row.original, ReadOptions()).content_hash for row in (from_json, from_eval)}
    assert len(hashes) == 1
    assert from_json.place == "samples, index 0"


def test_a_log_in_progress_has_no_header_and_is_read_by_its_journal(tmp_path):
    members = log_members()
    del members["header.json"]
    runs = [read_run(row.original, ReadOptions()) for row in read(zipped(tmp_path / "log.eval", members))]
    assert [run.outcome.data["eval"]["task"] for run in runs] == ["desk"] * 3


def test_a_log_without_samples_says_so(tmp_path):
    path = zipped(tmp_path / "log.eval", {"header.json": b"{}"})
    assert read(path) == [BadRow("the file", "The log holds no samples.")]


def test_a_damaged_member_is_refused_alone(tmp_path):
    path = zstd_zipped(tmp_path / "log.eval", log_members())
    data = path.read_bytes()
    begin = data.index(b"samples/late-order_epoch_2.json") + len(b"samples/late-order_epoch_2.json")
    path.write_bytes(data[:begin] + b"\x00" * 8 + data[begin + 8 :])
    rows = read(path)
    assert [type(row) for row in rows] == [RawRow, BadRow, RawRow]
    assert rows[1].reason.startswith("It cannot be unpacked: ")


def test_a_sample_past_the_limit_is_refused_alone(tmp_path):
    members = log_members() | {"samples/long_epoch_1.json": " ".join(map(str, range(300_000))).encode()}
    rows = read(zipped(tmp_path / "log.eval", members), max_row_bytes=1024 * 1024)
    assert rows[-1] == BadRow("samples/long_epoch_1.json", "It is longer than the 1 MiB a row may have.")
    assert len(rows) == 4


def test_a_folder_and_a_zip_of_it_give_the_same_rows(tmp_path):
    folder = tmp_path / "runs"
    members = {
        "b/runs.jsonl": LINES,
        "a.json": b'[{"b": 1}, {"b": 2}]',
        "c.jsonl.gz": gzip.compress(b'{"c": 1}\n'),
        "README.md": b"# Runs",
        ".hidden.json": b"{}",
        "empty.json": b"",
    }
    for name, data in members.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    expected = [
        ("README.md", "By its name this is no file of runs. It was not read."),
        ("a.json, index 0", b'{"b": 1}'),
        ("a.json, index 1", b'{"b": 2}'),
        ("b/runs.jsonl, line 1", b'{"a": 1}'),
        ("b/runs.jsonl, line 2", b'{"a": 2}'),
        ("c.jsonl.gz, line 1", b'{"c": 1}'),
        ("empty.json", "The file is empty."),
    ]
    assert places(read(folder)) == expected
    assert places(read(zipped(tmp_path / "runs.zip", members))) == expected


def test_archives_in_a_folder_are_read_and_archives_in_archives_are_refused(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    log = zipped(folder / "log.eval", log_members())
    (folder / "more.jsonl").write_bytes(LINES)
    assert [row.place for row in read(folder)][2:] == [
        "log.eval, samples/late-order_epoch_10.json",
        "more.jsonl, line 1",
        "more.jsonl, line 2",
    ]
    outer = zipped(tmp_path / "outer.zip", {"log.eval": log.read_bytes()})
    assert read(outer) == [BadRow("log.eval", "It is an archive inside an archive. Unpack the outer one.")]


def test_simulations_in_a_folder_are_read_with_what_the_results_beside_them_say(tmp_path):
    value = json.loads((GOLDEN / "tau2_bench.json").read_text())
    (simulation,) = value.pop("simulations")
    members = {
        "exp/results.json": json.dumps(value).encode(),
        "exp/simulations/sim-1.json": json.dumps(simulation).encode(),
        "exp/simulations/sim-2.json": json.dumps({**simulation, "trial": 3}).encode(),
    }
    rows = read(zipped(tmp_path / "exp.zip", members))
    assert [row.place for row in rows] == ["exp/simulations/sim-1.json", "exp/simulations/sim-2.json"]
    first, second = [read_run(row.original, ReadOptions()) for row in rows]
    (of_file,) = read(GOLDEN / "tau2_bench.json")
    assert first.content_hash == read_run(of_file.original, ReadOptions()).content_hash
    assert (first.key, first.policy_text, second.source_ref) == (
        "retail-7",
        "# Retail policy\n\nAsk before you act.",
        "trial 3",
    )


def test_results_without_their_simulations_say_what_to_do(tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"info": {}, "tasks": []}))
    assert read(path) == [
        BadRow(
            "the file",
            "It holds no simulations. If they lie in a folder beside it, import the whole folder or a ZIP of it.",
        )
    ]


def test_metadata_beside_results_names_environment_and_model_and_is_no_row(tmp_path):
    (tmp_path / "results.jsonl").write_bytes((GOLDEN / "verifiers_2025.jsonl").read_bytes())
    (tmp_path / "metadata.json").write_text(json.dumps({"env": "math", "model": "m-1", "avg_reward": 1.0}))
    (row,) = read(tmp_path)
    assert (row.place, row.domain, row.model) == ("results.jsonl, line 1", "math", "m-1")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK\x03\x04rest", "The ZIP archive is damaged or cut: File is not a zip file."),
        (
            b"\x28\xb5\x2f\xfdrest",
            "The compressed file is damaged or cut: the stream ends before its end mark.",
        ),
    ],
)
def test_a_damaged_archive_says_so(tmp_path, data, reason):
    path = tmp_path / "runs"
    path.write_bytes(data)
    (row,) = read(path)
    assert row.reason == reason


def test_an_encrypted_member_and_a_bomb_are_refused(tmp_path, monkeypatch):
    path = zipped(tmp_path / "runs.zip", {"a.json": b"[" + b" " * 1_000_000 + b"]"})
    monkeypatch.setattr(archives, "RATIO_FREE_BYTES", 1000)
    assert read(path) == [BadRow("a.json", "It cannot be unpacked: it would unpack to more than 500 times its size.")]
    data = bytearray(zipped(tmp_path / "locked.zip", {"a.json": b"{}"}).read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert read(path) == [BadRow("a.json", "It cannot be unpacked: it is encrypted.")]


def test_a_member_that_unpacks_to_more_than_it_promised_is_refused(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", b"{}")
        archive.writestr("samples/1_epoch_1.json", zstandard.ZstdCompressor().compress(b" " * 100_000))
        info = archive.getinfo("samples/1_epoch_1.json")
        info.compress_type, info.file_size = archives.ZIP_ZSTD, 10
    assert read(path) == [
        BadRow("samples/1_epoch_1.json", "It cannot be unpacked: it unpacks to more than its header says.")
    ]


def test_long_places_keep_their_end(tmp_path):
    deep = tmp_path / ("folder-" * 12)
    deep.mkdir()
    (deep / "runs.jsonl").write_bytes(LINES)
    place = read(tmp_path)[0].place
    assert len(place) == 60
    assert place.startswith("…")
    assert place.endswith("folder-/runs.jsonl, line 1")


def test_numbers_in_names_count_as_numbers():
    names = ["samples/10_epoch_1.json", "samples/9_epoch_2.json", "samples/9_epoch_1.json", "samples/a_epoch_1.json"]
    assert sorted(names, key=natural) == [names[2], names[1], names[0], names[3]]


def test_progress_goes_from_nothing_to_all_of_the_bytes(tmp_path):
    for number in range(5):
        (tmp_path / f"runs-{number}.jsonl").write_bytes(LINES)
    with RunFile(tmp_path) as file:
        done = [file.bytes_done for _ in file]
    assert done == sorted(done)
    assert file.bytes_total == 5 * len(LINES)
    for path in (
        zipped(tmp_path / "log.eval", log_members()),
        zstd_zipped(tmp_path / "runs.zip", {"a.jsonl": LINES, "b.jsonl": LINES}),
    ):
        with RunFile(path) as file:
            done = [file.bytes_done for _ in file]
        assert len(done) >= 3
        assert done == sorted(done)
        assert done[-1] <= file.bytes_total


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from([zipped, zstd_zipped]),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=6),
    st.integers(0, 400),
)
def test_a_damaged_archive_gives_rows_or_reasons_and_never_a_crash(tmp_path_factory, write, flips, lost):
    path = write(tmp_path_factory.mktemp("damaged") / "log.eval", log_members())
    data = bytearray(path.read_bytes())
    for place, byte in flips:
        data[place % len(data)] = byte
    path.write_bytes(data[: len(data) - (lost if lost > 300 else 0)])
    with RunFile(path) as file:
        for row in file:
            assert 0 <= file.bytes_done <= file.bytes_total
            assert isinstance(row, RawRow) or row.reason.endswith(".")
