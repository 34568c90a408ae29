"""Runs the benches: all of them, or those named; those that end in `peers` run what Assay is compared with."""

import argparse
import importlib
import inspect
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.bench import figures, label_studio, servers

# What each measures is in its module's first line. Those of the first group need servers.
BENCHES = ("dealing", "pages", "importing", "exporting", "agreement", "agreement_pages", "reviewing", "leaks")
# Those beside Label Studio, which is installed for them.
BESIDE_LABEL_STUDIO = ("peers", "keyboard_peers")
ALL = (*BENCHES, *BESIDE_LABEL_STUDIO, "agreement_peers")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(ALL)}")
    parser.add_argument(
        "--million", action="store_true", help="claims on a million items, agreement on a million ratings too"
    )
    parser.add_argument("--gigabyte", action="store_true", help="the import of one file of a gigabyte instead")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - {*ALL}
    if unknown:
        parser.error(f"there is no bench named {', '.join(sorted(unknown))}")
    names = arguments.names or list(BENCHES)
    found = {}
    programs = label_studio.install() if {*BESIDE_LABEL_STUDIO} & {*names} else None
    with servers.running(programs) as running:
        for name in names:
            started = time.monotonic()
            print(f"\n== {name}", flush=True)
            found[name] = _run(name, running, million=arguments.million, gigabyte=arguments.gigabyte)
            print(figures.table(found[name]))
            print(f"({time.monotonic() - started:.0f} s)", flush=True)
    out = servers.DATA / ("bench.json" if set(names) <= {*BENCHES} else "peers.json")
    figures.write_json(out, found)
    missed = [figure.name for rows in found.values() for figure in rows if figure.met is False]
    print(f"\n{len(missed)} goals missed; all figures are in {out}.")
    return 0


def _run(name: str, running: Any, *, million: bool, gigabyte: bool) -> list[figures.Figure]:
    module = importlib.import_module(f"tests.bench.bench_{name}")
    wanted: Callable[..., list[figures.Figure]] = module.run
    if name == "dealing" and million:
        return wanted(running, sizes=(*module.SIZES, 1_000_000))
    if name == "importing":
        return wanted(running, gigabyte=gigabyte)
    if name == "agreement_pages":
        return wanted(running, million=million)
    return wanted(running) if inspect.signature(wanted).parameters else wanted()


if __name__ == "__main__":
    sys.exit(main())
