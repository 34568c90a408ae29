"""A queue that another one succeeds hands on how it measures its raters."""

import pytest

from goldsets.actions.gold import set_feedback, set_gold_rate
from goldsets.actions.standing import set_standing_policy
from goldsets.actions.succeeding import succeed_with_gold
from goldsets.models import GoldItem, GoldPolicy
from goldsets.queries.standing import policy_of
from reviews.actions.rubrics import write_rubric
from reviews.errors import Forbidden
from tests import factories as make

pytestmark = pytest.mark.django_db


def next_version(queue):
    lead = make.lead_of(queue.project)
    return write_rubric(actor=lead, project=queue.project, name=queue.rubric.name, criteria=make.CRITERIA)


def test_the_rate_what_raters_are_told_and_the_test_go_on():
    project = make.project()
    lea, queue = make.lead_of(project), make.queue(project)
    set_gold_rate(actor=lea, queue=queue, rate="0.15")
    set_feedback(actor=lea, queue=queue, items=20, days=None)
    set_standing_policy(actor=lea, queue=queue, p1=0.4, automatic=True, work="adjudicate")
    made = succeed_with_gold(actor=lea, queue=queue, rubric=next_version(queue))
    gold, test = GoldPolicy.objects.get(queue=made), policy_of(made)
    assert (float(gold.rate), gold.feedback_items, gold.feedback_days) == (0.15, 20, None)
    assert (test.p0, test.p1, test.automatic, test.work) == (0.10, 0.4, True, "adjudicate")
    assert not GoldItem.objects.filter(queue=made).exists()


def test_where_nothing_was_set_nothing_is_and_only_leads_may():
    project = make.project()
    queue = make.queue(project)
    with pytest.raises(Forbidden):
        succeed_with_gold(actor=make.expert(project), queue=queue, rubric=next_version(queue))
    made = succeed_with_gold(actor=make.lead_of(project), queue=queue, rubric=next_version(queue))
    assert not GoldPolicy.objects.filter(queue=made).exists()
