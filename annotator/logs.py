"""How Assay logs: one JSON object a line on stderr, each with its request id, and never a token."""

import re
from typing import Any

import structlog

# What opens a door when it stands in an address: one-time sign-in links, invitations, password resets.
_SECRETS = (
    (re.compile(r"(?i)(sesame=|token=|code=)[^&\s\"']+"), r"\1…"),
    (re.compile(r"(/join/|/password/reset/key/)[^/?\s\"']+"), r"\1…"),
    (re.compile(r"(?i)(Token |Bearer )[A-Za-z0-9_\-.]{12,}"), r"\1…"),
)


def without_secrets(text: str) -> str:
    """The text with every token in it replaced by an ellipsis."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def hide_secrets(_logger: Any, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    """A structlog processor that takes tokens out of every text of the line."""
    return {key: without_secrets(value) if isinstance(value, str) else value for key, value in event.items()}


def _shared_processors() -> list[Any]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        structlog.processors.UnicodeDecoder(),
    ]


def logging_config(level: str) -> dict[str, Any]:
    """Django's LOGGING, with structlog's own loggers led through it."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared_processors(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {
                "()": structlog.stdlib.ProcessorFormatter,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    hide_secrets,
                    structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
                ],
                "foreign_pre_chain": _shared_processors(),
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": level, "propagate": True},
            # Every refused form would be a warning here; the request's own line already says 400.
            "django.request": {"level": "ERROR"},
            "celery.beat": {"level": "WARNING"},
        },
    }
