"""One address whose view always fails, and all of Assay's own."""

from django.http import HttpRequest, HttpResponse
from django.urls import path

from annotator.urls import urlpatterns as ours


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("a secret of the code")


urlpatterns = [path("break/", broken), *ours]
