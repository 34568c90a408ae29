"""Wires Assay together: settings, sign-in, servers, demo. Nothing imports this package but tests and tools."""

from annotator.celery import app as celery_app

__all__ = ["celery_app"]
