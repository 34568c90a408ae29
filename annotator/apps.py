"""Makes `annotator` a Django app: it owns the user model and the commands that run the whole."""

from django.apps import AppConfig


class AnnotatorConfig(AppConfig):
    name = "annotator"
    verbose_name = "People"
