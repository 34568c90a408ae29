"""Real files of every format lie beside the repository; tests that read them are left out where they are not there."""

from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"


@pytest.fixture
def real_files() -> Path:
    """The folder of real trajectory files."""
    return _there(DATA / "trajectories")


@pytest.fixture
def real_preferences() -> Path:
    """The folder of real preferences, ratings and labels of steps."""
    return _there(DATA / "preferences")


def _there(folder: Path) -> Path:
    if not folder.is_dir():
        pytest.skip(f"no real files here: {folder} does not exist")
    return folder
