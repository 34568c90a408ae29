"""Commands end quietly when whoever reads what they print has seen enough."""

import subprocess
import sys

from tests.architecture.source import ROOT


def test_a_command_whose_reader_is_gone_ends_without_a_word():
    command = [sys.executable, ROOT / "manage.py", "help", "--commands"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        said = running.stderr.read()
    assert (said, running.returncode) == (b"", 141)
