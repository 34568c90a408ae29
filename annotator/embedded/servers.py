"""Both embedded servers as one thing to start and stop."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from annotator.embedded import postgres, process, valkey
from annotator.embedded.folder import DataFolder


class Servers:
    """PostgreSQL and Valkey on one data folder."""

    def __init__(self, path: Path) -> None:
        self.folder = DataFolder(path)
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def take_folder(self) -> None:
        """Opens and locks the folder, and ends what a killed Assay left running there."""
        self.folder.open()
        self.folder.lock()
        process.end_all(self.folder.path)

    def start(self, *, stays: bool = False, postgres_settings: Mapping[str, str] | None = None) -> None:
        """Starts both; the folder must be taken."""
        try:
            self.running["postgres"] = postgres.start(self.folder, stays=stays, settings=postgres_settings)
            self.running["valkey"] = valkey.start(self.folder, stays=stays)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stops both, then whatever still runs on the folder, and gives the folder back."""
        if server := self.running.pop("valkey", None):
            valkey.stop(server)
        if server := self.running.pop("postgres", None):
            postgres.stop(server)
        if self.folder.is_ours():
            process.end_all(self.folder.path)
            self.folder.unlock()

    def environment(self) -> dict[str, str]:
        """The variables that lead Assay to these servers and this folder."""
        return {
            "DATABASE_URL": postgres.url(self.folder),
            "REDIS_URL": valkey.url(self.folder),
            "SECRET_KEY": self.folder.secret_key(),
            "MEDIA_ROOT": str(self.folder.files),
            "STATIC_ROOT": str(self.folder.static),
        }
