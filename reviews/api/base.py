"""What every view of the API has: strict JSON, cursor pages, typed bodies, rows loaded with the right to them."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.db.models import QuerySet
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from reviews.api.pages import Pages
from reviews.api.parsers import StrictJSONParser
from reviews.errors import NotFound
from reviews.models import Project, Queue
from reviews.queries.home import queue_by_uid
from reviews.queries.projects import project_by_slug
from reviews.queries.training import any_queue_by_uid
from reviews.rules import check

Row = TypeVar("Row")


class LengthRequired(APIException):
    status_code = 411
    default_detail = "Send the body in one piece, with its Content-Length."


class Problem(serializers.Serializer[Any]):
    """How every refusal looks (RFC 9457). `errors` names each field at fault; `current` is what stands instead."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    field = serializers.CharField(required=False)
    errors = serializers.DictField(child=serializers.CharField(), required=False)
    current = serializers.DictField(required=False)


class AssaySchema(AutoSchema):
    """Describes on each operation what a refusal looks like."""

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        operation = super().get_operation(*args, **kwargs)
        if operation is not None:
            problem = self.resolve_serializer(Problem, "response").ref
            operation["responses"]["4XX"] = {
                "description": "Refused, with the reason.",
                "content": {"application/problem+json": {"schema": problem}},
            }
        return operation


class AssayView(APIView):
    parser_classes = [StrictJSONParser]
    pagination_class = Pages
    schema = AssaySchema()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """A body sent in chunks says no length and would be taken for no body at all."""
        super().initial(request, *args, **kwargs)
        if "HTTP_TRANSFER_ENCODING" in request.META:
            raise LengthRequired

    def body(self, serializer_class: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        """The request's body as the serializer types it, or a refusal that names every field at fault."""
        return _valid(serializer_class(data=self.request.data))

    def asked(self, serializer_class: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        """The address's query, typed and checked in the same way."""
        return _valid(serializer_class(data=self.request.query_params.dict()))

    def page(
        self, rows: QuerySet[Any], serializer_class: type[serializers.Serializer[Any]], **context: Any
    ) -> Response:
        """One page of rows."""
        paginator = self.pagination_class()
        chosen = paginator.paginate_queryset(rows, self.request, view=self)
        return paginator.get_paginated_response(serializer_class(chosen, many=True, context=context).data)


def _valid(serializer: serializers.Serializer[Any]) -> dict[str, Any]:
    serializer.is_valid(raise_exception=True)
    return serializer.validated_data


class ProjectQuery(serializers.Serializer[Any]):
    """Lists across projects ask for one of them."""

    project = serializers.SlugField(help_text="The address of the project.")


def allowed(user: Any, permission: str, row: Row | None, nothing: str, *, project_of: Callable[[Row], Project]) -> Row:
    """The row, if the person may do this in its project. For others than members there is `nothing`, a sentence."""
    if row is None:
        raise NotFound(nothing)
    try:
        check(user, permission, project_of(row))
    except NotFound:
        raise NotFound(nothing) from None
    return row


def project_for(user: Any, slug: str, permission: str = "view_project") -> Project:
    """The project, if the person may do this in it. For others than members there is no such project."""
    nothing = "There is no such project, or you are not a member of it."
    return allowed(user, permission, project_by_slug(slug), nothing, project_of=lambda project: project)


def queue_for(user: Any, uid: Any, permission: str = "view_project") -> Queue:
    """The queue, if the person may do this in its project."""
    nothing = "There is no such queue, or you are not in its project."
    return allowed(user, permission, queue_by_uid(uid), nothing, project_of=lambda queue: queue.project)


def any_queue_for(user: Any, uid: Any, permission: str) -> Queue:
    """The same for queues of every purpose, whose items are all claimed in one way."""
    nothing = "There is no such queue, or you are not in its project."
    return allowed(user, permission, any_queue_by_uid(uid), nothing, project_of=lambda queue: queue.project)


class Text(serializers.CharField):
    """Text as it was sent, white space kept; numbers are no text."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"trim_whitespace": False, "allow_blank": True, **options})

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Whole(serializers.IntegerField):
    """A JSON whole number; neither text nor true counts as one."""

    def to_internal_value(self, data: Any) -> int:
        if type(data) is not int:
            self.fail("invalid")
        return data


class YesNo(serializers.BooleanField):
    """true or false, and nothing that only resembles them."""

    def to_internal_value(self, data: Any) -> bool:
        if type(data) is not bool:
            self.fail("invalid", input=data)
        return data
