"""The API's own page, Swagger UI without inline script or style, and the answer where there is no address."""

from typing import Any

from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.api.base import AssayView
from reviews.errors import NotFound


class Docs(SpectacularSwaggerSplitView):
    url_name = "reviews_api:schema"
    template_name = "reviews/api_docs.html"


class NoSuchAddress(AssayView):
    """Everything below /api/v1/ that is nothing else: a problem like any other refusal."""

    permission_classes = ()
    schema = None
    http_method_names: list[str] = []

    def http_method_not_allowed(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        raise NotFound("There is nothing at this address. Addresses of the API end with a slash.")
