"""How criteria drift over the versions of a rubric."""

import krippendorff
import pytest
from django.urls import reverse

from goldsets.queries.drift import criterion_logs
from reviews.actions.rubrics import write_rubric
from reviews.stats.result import Reason
from tests import factories as make
from tests.factories import furnished
from tests.reviews.actions.test_rubric_versions import judge
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db


def test_each_key_is_followed_over_versions_with_its_answers(client):
    project = make.project()
    queue = make.queue(project, items=3, overlap=2)
    for name in ("Alice", "Bob"):
        judge(queue, make.expert(project, name), times=3)
    lea = make.lead_of(project)
    rows = [*make.CRITERIA[:2], {**make.CRITERIA[2], "title": "Did it succeed"}]
    write_rubric(actor=lea, project=project, name=queue.rubric.name, criteria=rows)
    logs = {log.key: log for log in criterion_logs(project, queue.rubric.name)}
    now, before = logs["success"].versions
    assert (now.version, now.n, [change.what for change in now.changes]) == (2, 0, ["title"])
    assert (before.version, before.n, before.answers, before.one_answer) == (1, 6, (("3 Strong", 6),), True)
    assert (before.same.value, before.same.reason, before.same.n_units) == (None, Reason.BELOW_FLOOR, 3)
    assert [row.version for row in logs["process"].versions] == [1]
    place = reverse("goldsets:rubric_log", args=[project.slug, queue.rubric.uid])
    page = enter(lea).get(place).content.decode()
    assert "never answered otherwise" in page
    assert enter(make.expert(project, "Charlie")).get(place).status_code == 403


def test_from_ten_items_on_it_says_how_raters_agreed_beyond_chance():
    """Twelve items, three levels in turn; Bob is a level off on four: 8 of 12 the same."""
    project = make.project()
    queue = make.queue(project, items=12, overlap=2)
    alices = [1, 2, 3] * 4
    bobs = [level - (at < 4) for at, level in enumerate(alices)]
    for name, levels in (("Alice", alices), ("Bob", bobs)):
        rater = make.expert(project, name)
        for level in levels:
            furnished.judge(queue, rater, make.passing(success=level))
    log = next(log for log in criterion_logs(project, queue.rubric.name) if log.key == "success")
    (version,) = log.versions
    theirs = krippendorff.alpha(
        reliability_data=[alices, bobs], level_of_measurement="ordinal", value_domain=[0, 1, 2, 3]
    )
    assert (version.same.value, version.same.n_units) == (pytest.approx(8 / 12), 12)
    assert version.alpha.value == pytest.approx(theirs)
