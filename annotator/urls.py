"""Every address of Assay, each room's own urls behind it."""

from django.contrib import admin
from django.urls import include, path

from annotator import health, problems, signin, static_files

urlpatterns = [
    path("favicon.ico", static_files.icon),
    path("healthz", health.healthz, name="healthz"),
    path("health/", health.health_page, name="health"),
    path("metrics", health.metrics, name="metrics"),
    path("enter/", signin.enter, name="enter"),
    path("accounts/email/", signin.address),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/", include("reviews.api.urls")),
    path("api/v1/", include("goldsets.api.urls")),
    path("", include("goldsets.web.urls")),
    path("", include("reviews.web.urls")),
]

handler500 = problems.internal_error
