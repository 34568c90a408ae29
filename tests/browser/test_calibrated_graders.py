"""The pages of a calibrated grader open, fit the screen and keep nobody out, in both themes."""

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from goldsets.models import GraderScore, GraderVersion
from reviews.models import Item
from tests import factories as make
from tests.browser.test_lead_pages import _trouble_with
from tests.factories import graders, labelled

pytestmark = pytest.mark.django_db(transaction=True)

GOOD, BAD = {"authorised": 1, "consent": 1, "success": 3}, {"authorised": 1, "consent": 0}


def calibrated(project: Any) -> GraderVersion:
    """Two checkpoints with runs of three families and two models, some scored twice, and a few pairs."""
    rows = [
        {"task": f"task {n // 2}", "family": f"family {n % 3}", "model": f"model {n % 2}", "result": "success"}
        for n in range(48)
    ]
    items = labelled.runs(project, rows)
    labelled.settled(project, items, [GOOD if n % 3 else BAD for n in range(48)])
    version = graders.version(project, scale="real", threshold=0.5)
    for attempt in (1, 2):
        GraderScore.objects.bulk_create(
            _score(version, item, number, attempt) for number, item in enumerate(items[: 48 // attempt])
        )
    pairs = labelled.pairs(project, [{"task": f"pair {n}", "lengths": (9, n)} for n in range(12)])
    labelled.preferred(project, pairs, [1, -1, 0] * 4)
    graders.scored(version, *((item, 1) for item in pairs))
    graders.scored(version, *((item, 1) for item in pairs), order="swapped")
    return version


def _score(version: GraderVersion, item: Item, number: int, attempt: int) -> GraderScore:
    meta = {"training_step": number % 2 * 100, "kl": number % 2 * 4, "evidence": ["offline", "online"][number % 2]}
    return GraderScore(
        version=version, item=item, attempt=attempt, value=(number * 37 + attempt * 11) % 100 / 100, meta=meta
    )


@pytest.mark.slow
@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_the_pages_of_a_calibrated_grader_keep_nobody_out(
    browser: Any, live_server: Any, sign_in: Callable[[Any, Any], None], theme: str, width: int
) -> None:
    project = make.project()
    version = calibrated(project)
    context = browser.new_context(color_scheme=theme, viewport={"width": width, "height": 844})
    sign_in(context, make.lead_of(project))
    page = context.new_page()
    names = ("calibration", "calibration_behind", "watch", "checklist", "instrument")
    places = [reverse(f"goldsets:{name}", args=[version.grader.uid, 1]) for name in names]
    trouble = [trouble for place in places for trouble in _trouble_with(page, live_server.url + place)]
    context.close()
    assert "\n".join(trouble) == ""
