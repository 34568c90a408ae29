"""What people set for themselves: the keys of the judge page."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from reviews.actions.preferences import choose_keys, reset_keys
from reviews.api.base import AssayView, Text
from reviews.queries.preferences import habits_of


class Keys(serializers.Serializer[Any]):
    """By act, one character or the name of an arrow, such as ArrowDown."""

    keys = serializers.DictField(child=Text(max_length=20), help_text="Acts that are not named keep their key.")


class OwnKeys(AssayView):
    @extend_schema(operation_id="keys_read", tags=["own settings"], responses=Keys)
    def get(self, request: Request) -> Response:
        """Your keys on the judge page, the defaults where you chose no other."""
        return Response({"keys": habits_of(request.user).keys})

    @extend_schema(operation_id="keys_choose", tags=["own settings"], request=Keys, responses=Keys)
    def put(self, request: Request) -> Response:
        """Choose other keys. 422 names each act whose key cannot be used or is taken."""
        return Response({"keys": choose_keys(actor=request.user, **self.body(Keys))})

    @extend_schema(operation_id="keys_reset", tags=["own settings"], responses={200: Keys})
    def delete(self, request: Request) -> Response:
        """Back to the keys that everybody begins with."""
        return Response({"keys": reset_keys(actor=request.user)})
