"""How scripts and style sheets are stored for production: each under its hash, so that browsers may keep it."""

from django.http import HttpRequest, HttpResponseRedirect
from django.templatetags.static import static
from django.views.decorators.cache import cache_control
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    """Hashed names inside our own ES modules too: an `import` must name the hashed file, or nothing is found.

    Django can do so for every script or for none; those of libraries are not made of modules that it can follow.
    """

    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("js/*.js", CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1]),
    )


@cache_control(max_age=86_400, public=True)
def icon(_request: HttpRequest) -> HttpResponseRedirect:
    """Where browsers look for a site's icon on pages that name none, such as those of Django's admin."""
    return HttpResponseRedirect(static("icon.svg"))
