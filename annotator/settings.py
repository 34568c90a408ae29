"""Every setting of Assay. Values come from environment variables only; docs/operating.md lists them.

Three are needed: DATABASE_URL, REDIS_URL and SECRET_KEY. All others have a default that is safe for production.
"""

import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvError
from whitenoise.compress import Compressor

from annotator.logs import logging_config
from reviews.outgoing import problem_with_url

BASE_DIR = Path(__file__).resolve().parent.parent
env = Env()


def needed(name: str, example: str) -> str:
    """The variable's value, or an error that says what to do."""
    value = env.str(name, "")
    if not value:
        raise ImproperlyConfigured(
            f"{name} is not set. Set it, for example {name}={example}, or run `make demo`, which brings its servers: "
            "`python -m annotator.embedded env --data .data/demo` prints how to reach them."
        )
    return value


try:
    # --- What must be set ---------------------------------------------------------------------------------------------
    DATABASE_URL = needed("DATABASE_URL", "postgresql://assay:password@db.example.org/assay")
    REDIS_URL = needed("REDIS_URL", "redis://cache.example.org:6379/0")
    SECRET_KEY = needed("SECRET_KEY", "fifty-or-more-random-characters")
    # Old keys that are still accepted, comma separated, while a key is being replaced.
    SECRET_KEY_FALLBACKS: list[str] = env.list("SECRET_KEY_FALLBACKS", [])

    # --- Where it is served -------------------------------------------------------------------------------------------
    # Host names it answers to, comma separated.
    ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
    # Origins whose forms are accepted behind a proxy, comma separated, with scheme: https://assay.example.org
    CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])
    # On: cookies and redirects over https only, and HSTS. Switch it on wherever https is spoken.
    SECURE = env.bool("SECURE", False)
    # On: believe X-Forwarded-Proto, which a proxy in front must set itself.
    BEHIND_PROXY = env.bool("BEHIND_PROXY", False)
    # Seconds that browsers remember to use https only. Counts with SECURE.
    HSTS_SECONDS = env.int("HSTS_SECONDS", 365 * 24 * 3600)
    # Error pages with the stack. Never in production.
    DEBUG = env.bool("DEBUG", False)

    # --- Folders ------------------------------------------------------------------------------------------------------
    # Uploaded files and finished exports. Web and worker must see the same folder.
    MEDIA_ROOT = env.path("MEDIA_ROOT", BASE_DIR / ".data" / "files")
    # Where collectstatic puts scripts and style sheets.
    STATIC_ROOT = env.path("STATIC_ROOT", BASE_DIR / ".data" / "static")
    # On: names of static files carry a hash and are cached for ever; needs collectstatic.
    HASHED_STATIC = env.bool("HASHED_STATIC", not DEBUG)
    # Bytes of the largest file that may be uploaded.
    UPLOAD_MAX_BYTES = env.int("UPLOAD_MAX_BYTES", 2 * 1024**3)

    # --- Database and queue -------------------------------------------------------------------------------------------
    # Connections that one process keeps at most.
    DATABASE_POOL_SIZE = env.int("DATABASE_POOL_SIZE", 8)
    # Seconds to wait for a free connection before an error.
    DATABASE_POOL_TIMEOUT = env.int("DATABASE_POOL_TIMEOUT", 5)
    # Seconds that one statement of a page may take.
    DATABASE_STATEMENT_TIMEOUT = env.int("DATABASE_STATEMENT_TIMEOUT", 300)
    # Goes before every key in Redis, so that two Assays can share one.
    REDIS_PREFIX = env.str("REDIS_PREFIX", "assay")
    # Seconds after which an unfinished task is dealt to another worker. Longer than any task.
    TASK_VISIBILITY_TIMEOUT = env.int("TASK_VISIBILITY_TIMEOUT", 4 * 3600)
    # Seconds between two heartbeats of the worker, and the age at which /healthz calls it dead.
    HEARTBEAT_SECONDS = env.int("HEARTBEAT_SECONDS", 10)
    HEARTBEAT_DEAD_SECONDS = env.int("HEARTBEAT_DEAD_SECONDS", 40)

    # --- Webhooks -----------------------------------------------------------------------------------------------------
    # On: events may be sent to addresses of private networks, and without https. Off unless receivers are your own.
    WEBHOOKS_MAY_REACH_PRIVATE = env.bool("WEBHOOKS_MAY_REACH_PRIVATE", False)

    # --- Judging models -----------------------------------------------------------------------------------------------
    # What stands before /chat/completions of the endpoint that runs are sent to for judging; empty: no judge runs.
    JUDGE_BASE_URL = env.str("JUDGE_BASE_URL", "").strip()
    # Its key, sent in the header Authorization and nowhere else.
    JUDGE_API_KEY = env.str("JUDGE_API_KEY", "").strip()
    # The same for a service that answers typed decisions: its whole address, and its key.
    DECISIONS_URL = env.str("DECISIONS_URL", "").strip()
    DECISIONS_API_KEY = env.str("DECISIONS_API_KEY", "").strip()
    # Seconds that one answer of either may take.
    JUDGE_TIMEOUT_SECONDS = env.float("JUDGE_TIMEOUT_SECONDS", 120.0)
    # How often a request is tried, and the seconds of the first pause in between; each further one is twice as long.
    JUDGE_TRIES = env.int("JUDGE_TRIES", 5)
    JUDGE_BACK_OFF_SECONDS = env.float("JUDGE_BACK_OFF_SECONDS", 1.0)
    # Requests under way at once in one worker.
    JUDGE_CONCURRENCY = env.int("JUDGE_CONCURRENCY", 4)

    # --- Signing in ---------------------------------------------------------------------------------------------------
    # Seconds that a one-time sign-in link works.
    SIGN_IN_LINK_SECONDS = env.int("SIGN_IN_LINK_SECONDS", 7 * 24 * 3600)
    # Seconds that a session lasts.
    SESSION_COOKIE_AGE = env.int("SESSION_SECONDS", 14 * 24 * 3600)
    # Days that an API token works; 0 means for ever.
    API_TOKEN_DAYS = env.int("API_TOKEN_DAYS", 90)
    # An OpenID Connect provider to sign in with; all three or none.
    OPENID_SERVER_URL = env.str("OPENID_SERVER_URL", "")
    OPENID_CLIENT_ID = env.str("OPENID_CLIENT_ID", "")
    OPENID_CLIENT_SECRET = env.str("OPENID_CLIENT_SECRET", "")
    OPENID_NAME = env.str("OPENID_NAME", "Single sign-on")
    # Where mail goes: submission://user:password@mail.example.org:587 (TLS), smtp://… (none), console: (it is printed).
    _email = env.dj_email_url("EMAIL_URL", "console:")
    if "EMAIL_BACKEND" not in _email:
        raise ImproperlyConfigured("EMAIL_URL must start with submission://, smtp:// or console:")
    # The sender of that mail.
    DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", "Assay <assay@localhost>")

    # --- Behaviour ----------------------------------------------------------------------------------------------------
    # The function that deals the next item to a rater, as a dotted path: the one door through which gold comes in.
    DEALER = env.str("DEALER", "goldsets.actions.dealing.deal")
    # Requests a minute that one person may make to the API.
    API_REQUESTS_PER_MINUTE = env.int("API_REQUESTS_PER_MINUTE", 1200)
    # Seconds without a key, a pointer or scrolling after which the time on an item counts as a break, not as work.
    ACTIVE_IDLE_SECONDS = env.int("ACTIVE_IDLE_SECONDS", 60)
    # DEBUG, INFO, WARNING or ERROR.
    LOG_LEVEL = env.str("LOG_LEVEL", "INFO")
    # The time zone of dates on pages.
    TIME_ZONE = env.str("TIME_ZONE", "UTC")
except EnvError as error:
    raise ImproperlyConfigured(f"A setting in the environment is wrong: {error}") from None
for _name, _url in (("JUDGE_BASE_URL", JUDGE_BASE_URL), ("DECISIONS_URL", DECISIONS_URL)):
    if _url and (problem := problem_with_url(_url, private_allowed=True)):
        raise ImproperlyConfigured(f"{_name} is no address of an endpoint: {problem}")
for _name, _key in (("JUDGE_API_KEY", JUDGE_API_KEY), ("DECISIONS_API_KEY", DECISIONS_API_KEY)):
    if not (_key.isascii() and _key.isprintable()):
        raise ImproperlyConfigured(f"{_name} has characters that no header takes.")

ROOT_URLCONF = "annotator.urls"
WSGI_APPLICATION = "annotator.wsgi.application"
AUTH_USER_MODEL = "annotator.User"
# What the audit log knows words for: a TextChoices for each app that records events.
EVENT_VERBS = ["reviews.enums.Verb", "goldsets.enums.GoldVerb"]
# Of what its page can be asked, and where that which its events are about has pages.
EVENT_TOPICS = ["reviews.enums.VERB_TOPICS", "goldsets.enums.GOLD_VERB_TOPICS"]
EVENT_PLACES = ["reviews.web.event_places.PLACES", "goldsets.web.event_places.PLACES"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
USE_I18N = True
USE_TZ = True

INSTALLED_APPS = [
    "annotator",
    "goldsets",
    "reviews",
    "annotator.apps.OperatorsAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "template_partials",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "rules.apps.AutodiscoverRulesConfig",
    "pgtrigger",
    "csp",
    "django_structlog",
    "django_prometheus",
]

MIDDLEWARE = [
    "django_prometheus.middleware.PrometheusBeforeMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "annotator.compressing.CompressedTextMiddleware",
    "annotator.security.PrivateAnswersMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_permissions_policy.PermissionsPolicyMiddleware",
    "annotator.security.TooLargeRefusedMiddleware",
    "annotator.security.NulBytesRefusedMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "reviews.web.refusals.RefusalPages",
    "django_prometheus.middleware.PrometheusAfterMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# --- Database, cache, queue -------------------------------------------------------------------------------------------
DATABASES: dict[str, Any] = {"default": env.dj_db_url("DATABASE_URL")}
_options: dict[str, Any] = DATABASES["default"].setdefault("OPTIONS", {})
# A server on a Unix socket is written ?host=/folder; Django wants it where other hosts are.
if "host" in _options:
    DATABASES["default"]["HOST"] = _options.pop("host")
# A connection that the server dropped, for example by a restart, is replaced before it is used.
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
_options["pool"] = {"min_size": 1, "max_size": DATABASE_POOL_SIZE, "timeout": DATABASE_POOL_TIMEOUT}
# After so many times a connection keeps a hand-written statement prepared, see `reviews.queries.statements`.
_options["prepare_threshold"] = 5
_options["options"] = f"-c statement_timeout={DATABASE_STATEMENT_TIMEOUT * 1000}"

CACHES = {
    "default": {
        "BACKEND": "annotator.cache.ForgivingRedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": REDIS_PREFIX,
        # Seconds to wait for an answer: a page is better without its cache than late.
        "OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2},
    }
}
SESSION_ENGINE = "django.contrib.sessions.backends.cached_db"

# Celery spells a Unix socket and the number of the database on it differently from redis-py.
CELERY_BROKER_URL = (
    REDIS_URL.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=", 1)
    if REDIS_URL.startswith("unix://")
    else REDIS_URL
)
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "global_keyprefix": f"{REDIS_PREFIX}:queue:",
    "visibility_timeout": TASK_VISIBILITY_TIMEOUT,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A task that a dying worker held is done again by the next one; tasks are written to bear that.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "heartbeat": {
        "task": "annotator.tasks.heartbeat",
        "schedule": HEARTBEAT_SECONDS,
        # A heartbeat that waited too long says nothing any more.
        "options": {"expires": HEARTBEAT_SECONDS},
    },
    "deliver-to-webhooks": {"task": "reviews.tasks.deliver_due", "schedule": 5, "options": {"expires": 5}},
    "expire-overdue-leases": {
        "task": "reviews.tasks.expire_overdue_leases",
        "schedule": 60,
        "options": {"expires": 60},
    },
    # By the clock and never by what a rater did, so that not even a busy machine tells what became of an item.
    "settle-marked": {"task": "reviews.tasks.settle_marked", "schedule": 1, "options": {"expires": 1}},
    "weigh-answers": {"task": "reviews.tasks.weigh_answers", "schedule": 5, "options": {"expires": 5}},
    "queue-overlooked-imports": {"task": "reviews.tasks.queue_overlooked_imports", "schedule": 600},
    "count-watched-agreement": {
        "task": "goldsets.tasks.count_watched_agreement",
        "schedule": 1,
        "options": {"expires": 1},
    },
    "review-standings": {
        "task": "goldsets.tasks.review_all_standings",
        "schedule": 120,
        "options": {"expires": 120},
    },
    "run-stages": {"task": "goldsets.tasks.run_stages", "schedule": 15, "options": {"expires": 15}},
    "expire-reviewers": {
        "task": "goldsets.tasks.expire_outdated_reviewers",
        "schedule": 60,
        "options": {"expires": 60},
    },
    "run-guards": {"task": "goldsets.tasks.run_guards", "schedule": 300, "options": {"expires": 300}},
    "watch-graders": {"task": "goldsets.tasks.watch_graders", "schedule": 600, "options": {"expires": 600}},
    "hear-rationales": {"task": "goldsets.tasks.hear_rationales", "schedule": 600, "options": {"expires": 600}},
    "deal-families": {"task": "goldsets.tasks.deal_families", "schedule": 300, "options": {"expires": 300}},
    "queue-overlooked-judges": {"task": "goldsets.tasks.queue_overlooked_judges", "schedule": 600},
    "queue-overlooked-exports": {"task": "goldsets.tasks.queue_overlooked_exports", "schedule": 600},
    "queue-overlooked-compiles": {"task": "goldsets.tasks.queue_overlooked_compiles", "schedule": 600},
}

# What webhooks may hear of, by the name they know it under, with the verbs of the audit log that are meant.
WEBHOOK_EVENTS = {
    "label.settled": ["item.settled", "item.adjudicated", "item.taken"],
    "label.reopened": ["item.reopened"],
    "version.published": ["dataset.finished"],
    "version.failed": ["dataset.failed"],
    "version.released": ["release.complete"],
    "version.withdrawn": ["dataset.withdrawn"],
    "stage.stopped": ["stage.rolled_back", "stage.expired"],
    "grader.parted": ["grader.parted"],
    "rater.paused": ["rater.paused"],
    "rater.resumed": ["rater.resumed"],
    "import.finished": ["import.finished", "import.failed"],
}

# --- Files ------------------------------------------------------------------------------------------------------------
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "annotator.static_files.HashedStaticFiles"
        if HASHED_STATIC
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
MEDIA_URL = "/files-are-not-served-from-here/"
# Only the hashed names are ever linked to; source maps are read by nobody but developers.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = (*Compressor.SKIP_COMPRESS_EXTENSIONS, "map")
# Uploads beyond this many bytes go to a file at once instead of to memory.
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024**2
# A form or API body without files; a judgment is far smaller, bulk scores are not.
DATA_UPLOAD_MAX_MEMORY_SIZE = 20 * 1024**2

# --- Signing in -------------------------------------------------------------------------------------------------------
AUTHENTICATION_BACKENDS = [
    "rules.permissions.ObjectPermissionBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
    "sesame.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "/accounts/login/"
ACCOUNT_ADAPTER = "annotator.signin.ClosedAccountAdapter"
SOCIALACCOUNT_ADAPTER = "annotator.signin.KnownPeopleOnlyAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_PRESERVE_USERNAME_CASING = False
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Assay"
SOCIALACCOUNT_ONLY = False
SOCIALACCOUNT_EMAIL_AUTHENTICATION = True
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {}
if OPENID_SERVER_URL:
    SOCIALACCOUNT_PROVIDERS["openid_connect"] = {
        "APPS": [
            {
                "provider_id": "openid",
                "name": OPENID_NAME,
                "client_id": OPENID_CLIENT_ID,
                "secret": OPENID_CLIENT_SECRET,
                "settings": {"server_url": OPENID_SERVER_URL},
            }
        ]
    }
EMAIL_BACKEND = _email["EMAIL_BACKEND"]
EMAIL_HOST = _email["EMAIL_HOST"]
EMAIL_PORT = _email["EMAIL_PORT"]
EMAIL_HOST_USER = _email["EMAIL_HOST_USER"]
EMAIL_HOST_PASSWORD = _email["EMAIL_HOST_PASSWORD"]
EMAIL_USE_TLS = _email["EMAIL_USE_TLS"]
EMAIL_USE_SSL = _email["EMAIL_USE_SSL"]
SESAME_MAX_AGE = SIGN_IN_LINK_SECONDS
SESAME_ONE_TIME = True

# --- API --------------------------------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "reviews.api.tokens.ApiToken",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.CursorPagination",
    "PAGE_SIZE": 50,
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.UserRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"user": f"{API_REQUESTS_PER_MINUTE}/min"},
    "EXCEPTION_HANDLER": "annotator.problems.problem_details",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
REST_KNOX = {
    "TOKEN_TTL": timedelta(days=API_TOKEN_DAYS) if API_TOKEN_DAYS else None,
    "TOKEN_PREFIX": "assay_",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Assay",
    "DESCRIPTION": "Review agent runs, settle labels, export them.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    # Swagger UI stops half way where more than some 130 operations stand open at once.
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "docExpansion": "none"},
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SCHEMA_PATH_PREFIX": r"/api/v1/",
    "COMPONENT_SPLIT_REQUEST": True,
    # Words that mean something else in another place get a name of their own.
    "ENUM_NAME_OVERRIDES": {
        "Role": "reviews.enums.Role",
        "StepRole": "reviews.enums.StepRole",
        "Purpose": "reviews.enums.Purpose",
        "QueueState": "reviews.enums.QueueState",
        "QueueItemState": "reviews.enums.QueueItemState",
        "AssignmentState": "reviews.enums.AssignmentState",
        "ImportState": "reviews.enums.ImportState",
        "QuestionState": "reviews.enums.QuestionState",
        "QuestionAbout": "reviews.enums.QuestionAbout",
        "NotePlace": "reviews.enums.NotePlace",
        "DatasetState": "goldsets.enums.DatasetState",
        "GoldState": "goldsets.enums.GoldState",
        "KeyState": "goldsets.enums.KeyState",
        "KeySource": "goldsets.enums.KeySource",
        "ChallengeState": "goldsets.enums.ChallengeState",
        "StandingState": "goldsets.enums.StandingState",
        "ReviewerState": "goldsets.enums.ReviewerState",
        "Rung": "goldsets.enums.Rung",
        "MoveState": "goldsets.enums.MoveState",
        "WorkPolicy": "goldsets.enums.WorkPolicy",
        "StageWork": "goldsets.enums.StageWork",
        "ProbeKind": "goldsets.enums.ProbeKind",
        "ProbeState": "goldsets.enums.ProbeState",
        "ProbeRunState": "goldsets.enums.ProbeRunState",
        "ProbeSource": "goldsets.enums.ProbeSource",
        "JudgeRunState": "goldsets.enums.JudgeRunState",
        "JudgedState": "goldsets.enums.JudgedState",
        "JudgeScope": "goldsets.enums.JudgeScope",
        "GraderKind": "goldsets.enums.GraderKind",
        "GraderScale": "goldsets.enums.GraderScale",
        "ScoreOrder": "goldsets.enums.ScoreOrder",
        "QueueOrder": "reviews.enums.QueueOrder",
        "DatasetFormat": "goldsets.enums.DatasetFormat",
        "DatasetPurpose": "goldsets.enums.DatasetPurpose",
        "WhyUndefined": "goldsets.api.statistics.REASONS",
        "SkipReason": "reviews.enums.SkipReason",
        "ReasonCode": "reviews.enums.ReasonCode",
        "ItemKind": "reviews.enums.ItemKind",
        "Scope": "reviews.enums.Scope",
        "CriterionKind": "reviews.enums.CriterionKind",
        "CorrectionKind": "reviews.enums.CorrectionKind",
        "ReferralKind": "reviews.enums.ReferralKind",
        "DeliveryState": "reviews.enums.DeliveryState",
    },
}

# --- Security ---------------------------------------------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
PERMISSIONS_POLICY: dict[str, list[str]] = {
    feature: [] for feature in ("camera", "geolocation", "microphone", "payment", "usb", "browsing-topics")
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE
SECURE_SSL_REDIRECT = SECURE
SECURE_HSTS_SECONDS = HSTS_SECONDS if SECURE else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^metrics$"]
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

# --- Logs -------------------------------------------------------------------------------------------------------------
LOGGING = logging_config(LOG_LEVEL)
DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL = logging.DEBUG
DJANGO_STRUCTLOG_CELERY_ENABLED = True
DJANGO_STRUCTLOG_IP_LOGGING_ENABLED = False
