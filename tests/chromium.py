"""Debian's Chromium, for the tests in a browser and for the bench that drives one."""

import os
import shutil
from typing import Any

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
# Its sandbox does not work for root.
LAUNCH: dict[str, Any] = {
    "executable_path": CHROMIUM,
    "args": ["--no-sandbox"] if os.geteuid() == 0 else [],
}
