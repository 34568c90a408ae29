"""Reads the project's own files for the tests that hold the house together."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


@cache
def tracked() -> tuple[Path, ...]:
    """Every file of the project: as git lists them, or, in a copy without git, all that no tool has left behind."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode == 0 and listed.stdout:
        return tuple(path for name in listed.stdout.splitlines() if (path := ROOT / name).is_file())
    leftovers = {".git", ".venv", ".data", "__pycache__"}
    return tuple(path for path in ROOT.rglob("*") if path.is_file() and not leftovers & set(path.parts))


def files(pattern: str, *folders: str) -> list[Path]:
    """Tracked files in the folders (all, when none is named) whose name fits the pattern."""
    homes = [ROOT / folder for folder in folders] or [ROOT]
    return [path for path in tracked() if path.match(pattern) and any(path.is_relative_to(home) for home in homes)]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), filename=str(path))


def lines_with(path: Path, found: object) -> Iterator[str]:
    """`file:line` for every line of the file that the compiled pattern finds."""
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        if found.search(line):  # type: ignore[attr-defined]
            yield f"{named(path)}:{number}"
