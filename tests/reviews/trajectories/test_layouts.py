"""Documents that hold many runs: each is a row with its place, whatever the document's size or damage."""

import json
import resource
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.trajectories.reading import BadRow, RunFile
from reviews.trajectories.splitting import ObjectScanner, members_of

MIB = 1024 * 1024


def read(tmp_path, data, name="log.json", **limits):
    path = tmp_path / name
    path.write_bytes(data)
    with RunFile(path, **limits) as file:
        return [(row.place, row.reason if isinstance(row, BadRow) else row.original) for row in file]


LOG = b'{"version": 2, "eval": {"task":  "a"}, "plan": {}, "samples": [{"id": 1}, {"id": 2}], "stats": {"x": 1}}'


@pytest.mark.parametrize("data", [LOG, json.dumps(json.loads(LOG), indent=2).encode(), b"\xef\xbb\xbf" + LOG])
def test_samples_are_rows_with_the_header_whatever_the_writing(tmp_path, data):
    rows = read(tmp_path, data)
    assert [place for place, _ in rows] == ["samples, index 0", "samples, index 1"]
    assert [json.loads(row) for _, row in rows] == [
        {"eval": {"task": "a"}, "plan": {}, "sample": {"id": number}} for number in (1, 2)
    ]


def test_the_pieces_of_a_row_keep_their_bytes(tmp_path):
    assert read(tmp_path, LOG)[0][1] == b'{"eval": {"task":  "a"}, "plan": {}, "sample": {"id": 1}}'


def test_a_log_without_a_plan_is_a_log(tmp_path):
    assert read(tmp_path, b'{"eval": {}, "samples": [{"id": 1}]}') == [
        ("samples, index 0", b'{"eval": {}, "sample": {"id": 1}}')
    ]


def test_the_order_of_members_does_not_matter(tmp_path):
    turned = b'{"samples": [{"id": 1}], "plan": {}, "eval": {"task": "a"}}'
    assert json.loads(read(tmp_path, turned)[0][1])["eval"] == {"task": "a"}


@pytest.mark.parametrize(
    ("data", "last"),
    [
        (b'{"eval": {}, "plan": {}}', ("the file", "The log holds no samples.")),
        (b'{"eval": {}, "plan": {}, "samples": []}', ("the file", "Its list of samples is empty.")),
        (b'{"eval": {}, "plan": {}, "samples": null}', ("the file", "The log holds no samples.")),
        (
            b'{"eval": {}, "plan": {}, "samples": [{"id": 1}, {"id',
            ("samples, index 1", "The file is cut off in the middle of this row."),
        ),
    ],
)
def test_a_document_without_runs_or_cut_off_says_so(tmp_path, data, last):
    assert read(tmp_path, data)[-1] == last


def test_a_header_past_the_limit_is_refused(tmp_path):
    data = b'{"eval": "' + b"x" * 2_000_000 + b'", "plan": {}, "samples": [{"id": 1}]}'
    # The names of the members are found only where the beginning of the file shows them.
    assert read(tmp_path, data, max_row_bytes=MIB) == [("line 1", "It is longer than the 1 MiB a row may have.")]
    data = b'{"plan": {}, "eval": "' + b"x" * 2_000_000 + b'", "samples": [{"id": 1}]}'
    assert read(tmp_path, data, max_row_bytes=MIB) == [
        ("the file", "Its eval is longer than the 1 MiB a row may have.")
    ]


def test_lines_that_each_look_like_such_a_document_stay_lines(tmp_path):
    assert [place for place, _ in read(tmp_path, LOG + b"\n" + LOG)] == ["line 1", "line 2"]


def test_memory_does_not_grow_with_the_document(tmp_path):
    """120 MB of samples in one document, in a process that may have 250 MB."""
    path = tmp_path / "log.json"
    sample = json.dumps({"id": 1, "text": "x" * 10_000}).encode()
    with path.open("wb") as file:
        file.write(b'{"version": 2, "eval": {}, "plan": {}, "samples": [')
        file.write(b",".join([sample] * 100))
        for _ in range(119):
            file.write(b"," + b",".join([sample] * 100))
        file.write(b'], "stats": {}}')
    script = (
        "import sys\n"
        "from reviews.trajectories.reading import BadRow, RunFile\n"
        "with RunFile(sys.argv[1]) as file:\n"
        "    bad = [isinstance(row, BadRow) for row in file]\n"
        "print(len(bad), sum(bad))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (250 * MIB, 250 * MIB)),
    )
    assert (done.stdout, done.stderr) == ("12000 0\n", "")


values = st.recursive(
    st.none() | st.integers() | st.text(alphabet='ab"\\[]{},: \n\u00e9😀'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='a"\\]}:'), inner, max_size=3),
    max_leaves=10,
)


@given(
    st.dictionaries(st.text(alphabet='ab"\\]},:', max_size=4), values, max_size=5),
    st.lists(st.integers(1, 9), min_size=1),
    st.booleans(),
    st.sampled_from([None, 2]),
)
def test_any_object_in_any_chunks_falls_into_its_members(value, sizes, ascii_only, indent):
    data = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    assert {name: json.loads(member) for name, member in members_of(data).items()} == value
    scanner, place, turn = ObjectScanner(), 0, 0
    while place < len(data):
        size = sizes[turn % len(sizes)]
        scanner.feed(data[place : place + size])
        place, turn = place + size, turn + 1
    found = {name: json.loads(data[scanner.starts[name] : end]) for name, end in scanner.ends.items()}
    assert found == value
    assert scanner.closed_at == len(data)


def test_a_list_is_read_up_to_what_is_nested_past_all_depth(tmp_path):
    reason = "It is nested more than 1,000 levels deep. Nothing after it was read."
    deep = b"[" * 1000 + b"]" * 1000
    assert read(tmp_path, b'[{"a": 1}, ' + deep + b', {"a": 2}]') == [("index 0", b'{"a": 1}'), ("index 1", reason)]
    places = [place for place, _row in read(tmp_path, b'[{"a": 1}, ' + deep[1:-1] + b', {"a": 2}]')]
    assert places == ["index 0", "index 1", "index 2"], "what is too deep for a row is refused by itself"


def test_of_lines_only_those_nested_too_deep_are_refused(tmp_path):
    lines = b'{"a":' * 5000 + b"1" + b"}" * 5000 + b'\n{"a": 2}\n'
    assert [place for place, _row in read(tmp_path, lines, "runs.json")] == ["line 1", "line 2"]
