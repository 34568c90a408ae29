"""Exports in the hands of those who read them: `make test-consumers`. No other run does; it installs gigabytes."""

import os
from typing import Any

import pytest

from tests.consumers.world import World, furnish

if not os.environ.get("CONSUMERS"):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def world(db: Any) -> World:
    return furnish()
