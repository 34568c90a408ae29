"""Makes `annotator` a Django app: it owns the user model and the commands that run the whole."""

from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps


class AnnotatorConfig(AppConfig):
    name = "annotator"
    verbose_name = "People"


class OperatorsAdminConfig(admin_apps.AdminConfig):
    """Django's admin, with the site that says what it shows."""

    default = False
    default_site = "annotator.operators.OperatorsSite"
