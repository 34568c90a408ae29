"""The data folder: everything that one embedded Assay keeps, recognised by a marker and locked while in use."""

import fcntl
import hashlib
import os
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import IO

from annotator.embedded.errors import CannotRun, in_words

MARKER = "assay-data.txt"
MARKER_TEXT = "This folder holds the data of one Assay. Its servers may be running: stop them before you move it.\n"
# Bytes a fresh database and its journal take, with room to work.
ROOM_FOR_A_NEW_ONE = 300 * 1024**2
ROOM_FOR_AN_OLD_ONE = 50 * 1024**2
# A Unix socket's whole path may be 107 bytes long; PostgreSQL's name in the folder takes 20 of them.
LONGEST_SOCKET_FOLDER = 85


class DataFolder:
    """Paths inside the folder. `open` makes or recognises it; `lock` keeps a second Assay out."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        self.postgres = self.path / "postgres"
        self.valkey = self.path / "valkey"
        self.logs = self.path / "logs"
        self.files = self.path / "files"
        self.static = self.path / "static"
        self._lock: IO[str] | None = None

    def open(self) -> "DataFolder":
        """Makes the folder, or refuses one that is somebody else's."""
        try:
            self._open()
        except OSError as error:
            raise CannotRun(in_words(error, self.path)) from None
        return self

    def _open(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise CannotRun(f"{self.path} is a file, not a folder; choose another with DATA=.")
        is_new = not (self.path / MARKER).exists()
        if is_new and self.path.exists() and any(self.path.iterdir()):
            raise CannotRun(
                f"The folder {self.path} is not empty and not Assay's; choose an empty or new one with DATA=."
            )
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._check_room(ROOM_FOR_A_NEW_ONE if is_new else ROOM_FOR_AN_OLD_ONE)
        if is_new:
            (self.path / MARKER).write_text(MARKER_TEXT)
        for folder in (self.valkey, self.logs, self.files, self.static):
            folder.mkdir(exist_ok=True)
        # The marker is enough to recognise the folder, not to know that it can still be written to.
        with tempfile.TemporaryFile(dir=self.path) as probe:
            probe.write(b"x")

    def _check_room(self, wanted: int) -> None:
        free = shutil.disk_usage(self.path).free
        if free < wanted:
            raise CannotRun(
                f"The disk that holds {self.path} is full: "
                f"{free // 1024**2} MB are free, {wanted // 1024**2} MB are needed."
            )

    def lock(self) -> None:
        """Holds the folder until this process ends, however it ends."""
        lock = (self.path / "lock").open("a+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            owner = lock.read().strip() or "unknown"
            lock.close()
            raise CannotRun(
                f"The folder {self.path} is in use by another Assay (process {owner}); "
                "stop it or choose another with DATA=."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        self._lock = lock

    def unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def is_ours(self) -> bool:
        """Whether this process holds the folder."""
        return self._lock is not None

    def secret_key(self) -> str:
        """This Assay's secret key, made on the first start."""
        path = self.path / "secret_key"
        if not path.exists():
            write_private(path, secrets.token_urlsafe(50))
        return path.read_text().strip()

    def sockets(self) -> Path:
        """Where the servers listen: in the folder, or in a short place of its own when its path is too long."""
        folder = self.path / "run"
        if len(os.fsencode(folder)) > LONGEST_SOCKET_FOLDER:
            name = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16]
            folder = Path(tempfile.gettempdir()) / f"assay-{os.getuid()}-{name}"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder


def write_private(path: Path, text: str) -> None:
    """Writes a file that only its owner may read, whole or not at all."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    unfinished.replace(path)
