"""Packages from PyPI in environments of their own under .data/peers, so that nothing of them touches Assay's."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HOME = (Path(__file__).resolve().parent.parent / ".data" / "peers").resolve()


def environment(name: str, packages: Sequence[str], *, alone: Sequence[str] = ()) -> Path:
    """The Python that has these packages, and those `alone` without what they say they need.

    The second time it is there.
    """
    home = HOME / name
    python, done = home / "bin" / "python", home / "installed.txt"
    wanted = " ".join([*packages, *alone])
    if not done.exists() or done.read_text() != wanted:
        print(f"Installing {wanted} into {home} …", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, *packages], check=True)
        if alone:
            subprocess.run([*command, "--no-deps", *alone], check=True)
        done.write_text(wanted)
    return python
