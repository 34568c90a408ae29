"""Servers to develop against: `python -m annotator.embedded env` starts and prints them; `stop` ends them."""

import argparse
import shlex
import sys
from pathlib import Path

from annotator.embedded import process
from annotator.embedded.errors import CannotRun
from annotator.embedded.servers import Servers


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m annotator.embedded", description=__doc__)
    parser.add_argument("action", choices=["env", "stop"])
    parser.add_argument("--data", type=Path, default=Path(".data/dev"), help="the data folder, .data/dev unless given")
    arguments = parser.parse_args()
    servers = Servers(arguments.data)
    if arguments.action == "stop":
        process.end_all(servers.folder.path)
        return 0
    try:
        if not process.left_behind(servers.folder.path):
            servers.take_folder()
            servers.start(stays=True)
    except CannotRun as error:
        print(error, file=sys.stderr)
        return 1
    for name, value in servers.environment().items():
        print(f"export {name}={shlex.quote(value)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
