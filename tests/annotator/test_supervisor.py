"""What `make demo` says, in one sentence, when it cannot start. tests/faults has what it does when it can."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def demo(data: Path, port: int = 1, **environment: str) -> tuple[int, str, str]:
    ran = subprocess.run(
        [sys.executable, "-m", "annotator.demo", "--port", str(port), "--data", str(data)],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return ran.returncode, ran.stdout, ran.stderr


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as somebody:
        somebody.bind(("127.0.0.1", 0))
        somebody.listen()
        yield somebody.getsockname()[1]


def test_a_taken_port(tmp_path, taken_port):
    sentence = f"Port {taken_port} is taken; choose another with PORT=.\n"
    assert demo(tmp_path / "data", taken_port) == (1, "", sentence)


def test_a_port_that_is_none(tmp_path):
    assert demo(tmp_path / "data", 70000) == (1, "", "70000 is not a port; choose one from 1 to 65535 with PORT=.\n")


def test_a_foreign_folder_is_not_touched(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    code, _, said = demo(tmp_path)
    assert (code, said) == (
        1,
        f"The folder {tmp_path} is not empty and not Assay's; choose an empty or new one with DATA=.\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("given", ["DATABASE_URL", "REDIS_URL"])
def test_one_server_given_and_not_the_other(tmp_path, given):
    sentence = f"Only {given} is set; set both DATABASE_URL and REDIS_URL, or neither.\n"
    assert demo(tmp_path / "data", **{given: "anything"}) == (1, "", sentence)


def test_servers_that_do_not_answer_are_named_before_anything_starts(tmp_path):
    servers = {"DATABASE_URL": "postgresql:///assay?host=/nowhere", "REDIS_URL": "unix:///nowhere.sock"}
    code, _, said = demo(tmp_path / "data", 18999, **servers)
    assert code == 1
    assert said.startswith("The database at DATABASE_URL does not answer: ")
    assert said.count("\n") == 1
