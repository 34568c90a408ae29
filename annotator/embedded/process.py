"""Starts server processes so that none outlives its starter, and ends those that did all the same."""

import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import psutil

from annotator.embedded.errors import CannotRun

# Tells our processes from all others: the data folder that they were started for.
BELONGS_TO = "ASSAY_PROCESS_OF"
_PR_SET_PDEATHSIG = 1
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2


def start(
    command: Sequence[str],
    *,
    folder: Path,
    output: IO[bytes] | int | None = None,
    environment: Mapping[str, str] | None = None,
    death_signal: signal.Signals | None = None,
) -> subprocess.Popen[bytes]:
    """Starts a command in a session of its own: a Ctrl-C reaches only the starter, who ends the others in order.

    With `death_signal` (Linux) the command gets that signal when its starter dies, even by kill -9.
    """
    return subprocess.Popen(  # noqa: S603 (our own commands)
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        env={**(environment if environment is not None else os.environ), BELONGS_TO: str(folder)},
        start_new_session=True,
        preexec_fn=_ask_for(death_signal) if death_signal and sys.platform == "linux" else None,
    )


def _ask_for(death_signal: signal.Signals) -> Callable[[], None]:
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, int(death_signal))


def is_root() -> bool:
    return os.geteuid() == 0


def unprivileged_owner() -> tuple[int, int]:
    """User and group that a server runs as which refuses to run as root."""
    nobody = pwd.getpwnam("nobody")
    return nobody.pw_uid, nobody.pw_gid


def without_root(command: Sequence[str], *, death_signal: signal.Signals | None = None) -> list[str]:
    """The command, run as `nobody` when we are root.

    It keeps one right of root's: to walk through folders closed to others, such as /root, in which its program and data
    may lie. So no permission of any folder has to be loosened.
    """
    if not is_root():
        return list(command)
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise CannotRun("PostgreSQL does not run as root and `setpriv` is missing; run this as an ordinary user.")
    user, group = unprivileged_owner()
    right = _right_to_pass()
    return [
        setpriv,
        f"--reuid={user}",
        f"--regid={group}",
        "--clear-groups",
        # The first switch lets access(2) count the right too; PostgreSQL asks by it whether its own parts are there.
        *(["--securebits=+no_setuid_fixup", f"--inh-caps=+{right}", f"--ambient-caps=+{right}"] if right else []),
        # Changing the user forgets the signal that `start` asked for.
        *([f"--pdeathsig={death_signal.name.removeprefix('SIG')}"] if death_signal else []),
        "--",
        *command,
    ]


def _right_to_pass() -> str | None:
    """The narrowest capability that this machine lets us hand on; containers often withhold the first."""
    status = Path("/proc/self/status").read_text()
    bounding = int(next(line for line in status.splitlines() if line.startswith("CapBnd:")).split()[1], 16)
    if bounding >> _CAP_DAC_READ_SEARCH & 1:
        return "dac_read_search"
    if bounding >> _CAP_DAC_OVERRIDE & 1:
        return "dac_override"
    return None


def left_behind(folder: Path) -> list[psutil.Process]:
    """Processes of an earlier start on this folder that are still there."""
    return list(_belonging_to(folder))


def _belonging_to(folder: Path) -> Iterator[psutil.Process]:
    servers_homes = {str(folder / "postgres"), str(folder / "valkey")}
    for process in psutil.process_iter():
        # Other people's processes and those that end meanwhile are none of ours.
        with suppress(psutil.Error, OSError):
            if process.pid == os.getpid():
                continue
            # Both servers write titles over their environment, but stay in their own data folders.
            if process.environ().get(BELONGS_TO) == str(folder) or process.cwd() in servers_homes:
                yield process


def end_all(folder: Path, *, patience: float = 20) -> int:
    """Asks every process left behind to end, then makes it; returns how many there were."""
    processes = left_behind(folder)
    for process in processes:
        with suppress(psutil.Error):
            # For PostgreSQL SIGINT means: break off transactions, write everything down, end.
            process.send_signal(signal.SIGINT if process.name().startswith("postgres") else signal.SIGTERM)
    _, stubborn = psutil.wait_procs(processes, timeout=patience)
    for process in stubborn:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(stubborn, timeout=5)
    return len(processes)
