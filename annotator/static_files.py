"""How scripts and style sheets are stored for production: each under its hash, so that browsers may keep it."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    """Hashed names inside our own ES modules too: an `import` must name the hashed file, or nothing is found.

    Django can do so for every script or for none; those of libraries are not made of modules that it can follow.
    """

    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("js/*.js", CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1]),
    )
