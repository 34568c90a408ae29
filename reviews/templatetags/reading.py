"""Shows texts of a run and of a guideline, escaped always; where evidence points into them, character by character."""

import json
from typing import Any

from django import template
from django.utils.safestring import SafeString, mark_safe

from reviews.models import Item
from reviews.queries.judging import FieldView
from reviews.queries.masking import title_of
from reviews.trajectories.diffs import diff_html
from reviews.trajectories.display import verbatim_html, without_escapes
from reviews.trajectories.marks import mark_spans
from reviews.trajectories.render import markdown_html

register = template.Library()


@register.filter
def reading(field: FieldView) -> SafeString:
    """A field of a step as far as it is shown, with the citations in it marked."""
    return mark_safe(mark_spans(field.html, field.spans))  # noqa: S308 - escaped by display


@register.filter
def verbatim_text(text: str) -> SafeString:
    """What a tool takes, as it is, with weight and colour."""
    return mark_safe(verbatim_html(text))  # noqa: S308 - escaped there


@register.filter
def plainly(text: Any) -> str:
    """A quote without what a terminal would obey, where nothing points into it. A draft's may be of any type."""
    return without_escapes(str(text))


@register.filter
def prose(text: str) -> SafeString:
    """Markdown as safe HTML."""
    return mark_safe(markdown_html(text))  # noqa: S308 - sanitised by markdown_html


@register.filter
def as_json(value: Any) -> str:
    """A value as JSON for an attribute; the template escapes it."""
    return json.dumps(value, ensure_ascii=False)


@register.filter
def title_for_raters(item: Item) -> str:
    """The title of an item with what raters do not read hidden."""
    return title_of(item)


@register.filter
def diff(text: str) -> SafeString:
    """A unified diff with its lines coloured."""
    return mark_safe(diff_html(text))  # noqa: S308 - every line is escaped there
