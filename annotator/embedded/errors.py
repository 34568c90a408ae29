"""What is said when the embedded servers cannot run: one sentence for the person at the terminal."""

import errno
from pathlib import Path


class CannotRun(Exception):
    """Carries the sentence; whoever started the command prints it and exits with 1."""


def in_words(error: OSError, folder: Path) -> str:
    """The sentence for a file that could not be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk that holds {folder} is full; free some space or choose another folder with DATA=."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"The folder {folder} cannot be written to; choose another with DATA=."
    return f"The folder {folder} cannot be used: {error.strerror or error}."
