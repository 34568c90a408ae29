"""Makes `goldsets` a Django app."""

from django.apps import AppConfig


class GoldsetsConfig(AppConfig):
    name = "goldsets"
