"""Files of runs: rows with their places, whatever the layout, and one refusal per bad place."""

import gzip
import json
import resource
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.trajectories.reading import BadRow, RawRow, RunFile
from reviews.trajectories.splitting import ListSplitter

CHAT = {"messages": [{"role": "user", "content": "Hi"}]}
MIB = 1024 * 1024


def read(tmp_path, data, name="runs.json", **limits):
    path = tmp_path / "file"
    path.write_bytes(data)
    with RunFile(path, name=name, **limits) as file:
        return list(file)


def places(rows):
    return [(row.place, row.reason if isinstance(row, BadRow) else row.original) for row in rows]


def test_lines_have_numbers_and_blank_lines_are_nothing(tmp_path):
    rows = read(tmp_path, b'{"a": 1}\r\n\n  {"a": 2}  \n{"a": 3}', name="runs.jsonl")
    assert places(rows) == [("line 1", b'{"a": 1}'), ("line 3", b'{"a": 2}'), ("line 4", b'{"a": 3}')]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("gap", [b"\n" * 300_000, b" \r\n" * 100_000, b"\n \n", b" " * 300_000 + b"\n", b""])
def test_however_many_lines_are_empty_the_next_has_its_number(tmp_path, gap, pack):
    data = b'{"a": 1}\n' + gap + b'  {"a": 2}\n' + gap
    rows = read(tmp_path, pack(data), name="runs.jsonl")
    assert places(rows) == [("line 1", b'{"a": 1}'), (f"line {gap.count(10) + 2}", b'{"a": 2}')]


def test_a_list_gives_its_elements_with_their_original_bytes(tmp_path):
    rows = read(tmp_path, b'[ {"a": "]}, {" }\n, {"b":\n[1, 2]} ]\n')
    assert places(rows) == [("index 0", b'{"a": "]}, {" }'), ("index 1", b'{"b":\n[1, 2]}')]


def test_one_object_on_many_lines_is_one_row(tmp_path):
    data = json.dumps(CHAT, indent=2).encode()
    assert places(read(tmp_path, data)) == [("the file", data)]


def test_a_list_of_messages_is_one_run(tmp_path):
    data = json.dumps(CHAT["messages"], indent=2).encode()
    assert places(read(tmp_path, data)) == [("the file", data)]
    one_line = json.dumps(CHAT["messages"]).encode()
    assert places(read(tmp_path, one_line)) == [("line 1", one_line)]


def test_lines_may_be_lists_of_messages(tmp_path):
    line = json.dumps(CHAT["messages"]).encode()
    assert places(read(tmp_path, line + b"\n" + line)) == [("line 1", line), ("line 2", line)]


def test_a_broken_first_line_does_not_take_the_others_along(tmp_path):
    rows = read(tmp_path, b'{"messages": [\n{"a": 2}\n', name="runs.jsonl")
    assert places(rows) == [("line 1", b'{"messages": ['), ("line 2", b'{"a": 2}')]
    rows = read(tmp_path, b'{"messages": "cut in a tex\n{"a": 2}\n', name="runs")
    assert places(rows) == [("line 1", b'{"messages": "cut in a tex'), ("line 2", b'{"a": 2}')]


def test_a_byte_order_mark_is_not_part_of_the_first_row(tmp_path):
    assert places(read(tmp_path, b'\xef\xbb\xbf{"a": 1}\n')) == [("line 1", b'{"a": 1}')]


def test_gzip_is_unpacked_by_content_and_not_by_name(tmp_path):
    assert places(read(tmp_path, gzip.compress(b'[{"a": 1}]'), name="runs")) == [("index 0", b'{"a": 1}')]


def test_a_cut_gzip_gives_what_came_before_the_cut(tmp_path):
    lines = b"".join(json.dumps({"n": n, "hash": hash(str(n))}).encode() + b"\n" for n in range(100_000))
    rows = read(tmp_path, gzip.compress(lines)[:-2000])
    assert rows[0] == RawRow("line 1", lines.splitlines()[0])
    assert rows[-1].place == "end of file"
    assert rows[-1].reason.startswith("The compressed file is damaged or cut")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "The file is empty."),
        (b" \n\t\n", "The file is empty."),
        (b"[]", "The list is empty."),
        ('{"a": 1}'.encode("utf-16"), "The file is UTF-16 or UTF-32 (or binary). Save it as UTF-8 and try again."),
        ('{"a": 1}'.encode("utf-16-le"), "The file is UTF-16 or UTF-32 (or binary). Save it as UTF-8 and try again."),
    ],
)
def test_a_file_that_cannot_be_read_at_all_says_why(tmp_path, data, reason):
    assert read(tmp_path, data) == [BadRow("the file", reason)]


@pytest.mark.parametrize(
    ("tail", "bad"),
    [
        (b"", BadRow("index 2", "The file is cut off: the list does not end.")),
        (b", ", BadRow("index 2", "The file is cut off: the list does not end.")),
        (b', {"c": "x', BadRow("index 2", "The file is cut off in the middle of this row.")),
        (b"] more", BadRow("end of file", "There is more after the end of the list. It was not read.")),
    ],
)
def test_rows_before_a_cut_go_in_and_the_cut_is_told(tmp_path, tail, bad):
    rows = read(tmp_path, b'[{"a": 1}, {"b": 2}' + tail)
    assert rows == [RawRow("index 0", b'{"a": 1}'), RawRow("index 1", b'{"b": 2}'), bad]


def test_a_bracket_too_few_spoils_only_its_own_element(tmp_path):
    rows = read(tmp_path, b'[{"a": [1}, {"b": 2}, , {"c": 3}]')
    assert places(rows) == [
        ("index 0", b'{"a": [1}'),
        ("index 1", b'{"b": 2}'),
        ("index 2", "There is nothing between two commas."),
        ("index 3", b'{"c": 3}'),
    ]


def test_a_row_past_the_limit_is_refused_alone(tmp_path):
    long = json.dumps({"text": 'quote " and \\ backslash ' * 200_000}).encode()
    too_long = "It is longer than the 1 MiB a row may have."
    rows = read(tmp_path, b'{"a": 1}\n' + long + b'\n{"b": 2}\n', max_row_bytes=MIB)
    assert places(rows) == [("line 1", b'{"a": 1}'), ("line 2", too_long), ("line 3", b'{"b": 2}')]
    rows = read(tmp_path, b'[{"a": 1}, ' + long + b', {"b": 2}]', max_row_bytes=MIB)
    assert places(rows) == [("index 0", b'{"a": 1}'), ("index 1", too_long), ("index 2", b'{"b": 2}')]
    assert places(read(tmp_path, b"{\n" + long[1:], max_row_bytes=MIB)) == [("the file", too_long)]


def test_progress_is_told_in_bytes_of_the_file(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": 2}\n')
    with RunFile(path) as file:
        done = [file.bytes_done for _ in file]
    assert done == [9, 18]


def test_reading_starts_over_with_every_iteration(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_bytes(b'{"a": 1}\n')
    with RunFile(path) as file:
        assert list(file) == list(file)


elements = st.lists(
    st.recursive(
        st.none() | st.integers() | st.text(alphabet='ab"\\[]{},: \n\u00e9😀'),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet='a"\\]}'), inner, max_size=3),
        max_leaves=12,
    ),
    max_size=6,
)


@given(elements, st.lists(st.integers(1, 9), min_size=1), st.booleans(), st.sampled_from([None, 2]))
def test_any_list_in_any_chunks_splits_as_json_reads_it(values, sizes, ascii_only, indent):
    data = json.dumps(values, ensure_ascii=ascii_only, indent=indent).encode()
    for limit in (1000, 5):
        splitter, found, place, turn = ListSplitter(limit), [], 0, 0
        while place < len(data) and not splitter.closed:
            size = sizes[turn % len(sizes)]
            found += splitter.feed(data[place : place + size])
            place, turn = place + size, turn + 1
        assert splitter.closed
        assert len(found) == len(values)
        assert all(
            json.loads(element) == value for element, value in zip(found, values, strict=True) if len(element) <= limit
        )


def test_memory_does_not_grow_with_the_file(tmp_path):
    """120 MB of rows, and one row of 40 MB against a limit of 4 MiB, in a process that may have 250 MB."""
    row = json.dumps({"text": "x" * 10_000}).encode()
    for name, start, between, end in (("lines.jsonl", b"", b"\n", b""), ("list.json", b"[", b",", b"]")):
        with (tmp_path / name).open("wb") as file:
            file.write(start)
            for _ in range(4_000):
                file.write(row + between)
            file.write(b'"' + b"y" * 40_000_000 + b'"')
            for _ in range(4_000):
                file.write(between + row)
            file.write(end)
        script = (
            "import sys\n"
            "from reviews.trajectories.reading import BadRow, RunFile\n"
            "with RunFile(sys.argv[1], max_row_bytes=4 * 1024 * 1024) as file:\n"
            "    bad = [isinstance(row, BadRow) for row in file]\n"
            "print(len(bad), sum(bad))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / name)],
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (250 * MIB, 250 * MIB)),
        )
        assert (done.stdout, done.stderr) == ("8001 1\n", "")
