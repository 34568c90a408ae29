#!/usr/bin/env python
"""Run one of Assay's commands, for example `manage.py import_items`."""

import os
import signal
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except BrokenPipeError:
        # Whoever read, such as `head`, has seen enough. What is left goes nowhere, and the end is as of other programs.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)


if __name__ == "__main__":
    main()
