"""The whole of Assay on one machine: `python -m annotator.demo --port 8000 --data .data/demo`, or `make demo`."""

import argparse
import sys
from pathlib import Path

from annotator.demo.supervisor import Stopped, Supervisor
from annotator.embedded.errors import CannotRun, in_words


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m annotator.demo", description=__doc__)
    parser.add_argument("--port", type=int, default=8000, help="where the pages are served, 8000 unless given")
    parser.add_argument(
        "--data", type=Path, default=Path(".data/demo"), help="the data folder, .data/demo unless given"
    )
    arguments = parser.parse_args()
    supervisor = Supervisor(arguments.data, arguments.port)
    try:
        supervisor.run()
    except Stopped:
        return 0
    except CannotRun as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(in_words(error, supervisor.data), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
