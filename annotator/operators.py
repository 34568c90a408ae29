"""Django's admin site with what whoever runs Assay needs of it, and nothing else.

Its readings leave no Event and ask no rule, so nothing is in it that was judged, is to be judged or is hidden: whoever
reads it may be a rater as well. And what libraries bring along stays out: second factors, linked identities and
verified addresses, by which one could sign in as somebody else, for there would be no trace of it.
"""

from collections.abc import Iterable
from typing import Any

from django.contrib.admin import AdminSite
from django.db.models import Model
from django.db.models.base import ModelBase

SHOWN = {
    "annotator.User",
    "knox.AuthToken",
    "reviews.Project",
    "reviews.Membership",
    "reviews.Invitation",
    "reviews.ImportJob",
}


class OperatorsSite(AdminSite):
    site_header = site_title = "Assay"

    def register(
        self, model_or_iterable: type[Model] | Iterable[type[Model]], admin_class: Any = None, **options: Any
    ) -> None:
        models = [model_or_iterable] if isinstance(model_or_iterable, ModelBase) else list(model_or_iterable)
        super().register([model for model in models if model._meta.label in SHOWN], admin_class, **options)
