"""The reference tables and real data that lie beside the project on some machines."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[4] / "shared" / "data"
beside = pytest.mark.skipif(not DATA.is_dir(), reason="the reference tables do not lie beside the project")


def table(name: str) -> Any:
    return json.loads((DATA / "agreement" / "reference" / f"{name}.json").read_text())


def rows(place: str) -> list[dict[str, str]]:
    with (DATA / place).open(newline="") as file:
        return list(csv.DictReader(file))


def lines(place: str) -> list[Any]:
    return [json.loads(line) for line in (DATA / place).read_text().splitlines()]
