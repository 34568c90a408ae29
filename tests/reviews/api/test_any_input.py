"""Whatever is sent to whichever address by whomever, valid or not: no crash, and the answer is as the schema says."""

import warnings
from io import StringIO
from typing import Any

import pytest
import requests
import schemathesis
import yaml
from django.core.management import call_command
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.transport import Response
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.reviews.api.talking import by, nobody
from tests.reviews.api.test_roles import PEOPLE, desk  # noqa: F401  a fixture

pytestmark = pytest.mark.django_db

EXAMPLES = 8
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


def operations() -> list[Any]:
    out = StringIO()
    call_command("spectacular", stdout=out)
    schema = schemathesis.openapi.from_dict(yaml.safe_load(out.getvalue()))
    return [result.ok() for result in schema.get_all_operations()]


@pytest.fixture
def places(desk: Any) -> Any:  # noqa: F811
    """Clients of all people, and what stands in addresses: things that exist, by the address's first word."""
    people, names = desk
    clients = {who: nobody() if who == "nobody" else by(people[who]) for who in PEOPLE}
    claimed = clients["expert"].post(f"/api/v1/queues/{names['queue']}/claim/").json()
    return clients, {
        "projects": {"slug": names["slug"], "member": names["member"]},
        "items": {"uid": str(names["item"])},
        "queues": {"uid": str(names["queue"])},
        "assignments": {"uid": claimed["uid"]},
        "graders": {"uid": str(names["judge_grader"]), "number": 1},
        "judges": {"uid": str(names["judge"])},
        "judge-runs": {"uid": str(names["judged"])},
        "probes": {"uid": str(names["to_check"])},
        "probe-runs": {"uid": str(names["probe_run"])},
        "gold": {"uid": str(names["settled"])},
        "datasets": {"uid": str(names["dataset"]), "number": 1, "name": "labels.jsonl"},
    }


def test_no_input_breaks_it(places: Any) -> None:
    clients, there = places
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # schemathesis has much to say about its own dependencies
        for operation in operations():
            known = there.get(operation.path.split("/")[3], {})
            try_operation(operation, clients, known)


def try_operation(operation: Any, clients: Any, there: dict[str, Any]) -> None:
    """Some valid and some invalid requests, each by somebody and each undone, so that all find the same desk."""
    known = {name: value for name, value in there.items() if f"{{{name}}}" in operation.path}
    cases = [operation.as_strategy(GenerationMode.POSITIVE, path_parameters=known)]
    if operation.body or operation.query:
        cases.append(operation.as_strategy(GenerationMode.NEGATIVE, path_parameters=known))

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(cases), who=st.sampled_from(PEOPLE))
    def try_it(case: Any, who: str) -> None:
        with transaction.atomic():
            response = send(clients[who], case)
            transaction.set_rollback(True)
        case.validate_response(response, checks=CHECKS)

    try_it()


def send(client: Any, case: Any) -> Response:
    """The case over Django's client, and its answer in the form that schemathesis reads."""
    asked = case.as_transport_kwargs(base_url="http://testserver")
    asked["headers"] = {name: value for name, value in asked["headers"].items() if name.lower() != "authorization"}
    request = requests.Request(**{name: asked.get(name) for name in SENT}).prepare()
    headers = {name: value for name, value in request.headers.items() if name.lower() not in LEFT_OUT}
    body = request.body.encode() if isinstance(request.body, str) else request.body
    answer = client.generic(
        request.method,
        request.url,
        body or b"",
        content_type=request.headers.get("Content-Type", "application/json"),
        headers=headers,
    )
    return Response(
        status_code=answer.status_code,
        headers={name: [value] for name, value in answer.headers.items()},
        content=answer.getvalue(),
        request=request,
        elapsed=0,
        verify=False,
        encoding="utf-8",
    )


# An answer is read as it is, so it must not be compressed.
LEFT_OUT = ("content-type", "cookie", "accept-encoding")
SENT = ("method", "url", "headers", "params", "json", "data", "files", "cookies")
