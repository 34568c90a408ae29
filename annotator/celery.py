"""The Celery app: finds the tasks of every installed app, reads its settings from Django's."""

import os

from celery import Celery

# Every process has work of its own; threads of BLAS would only wait for each other. Numpy reads it when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotator.settings")

app = Celery("assay")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
