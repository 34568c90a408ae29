"""Agreement is kept as it was counted: fresh at once for few judgments, counted by the worker for many."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from goldsets.queries import agreement as kept
from goldsets.queries.keeping import alone, takes_the_count
from goldsets.tasks import count_queue_agreement, count_watched_agreement
from reviews.enums import Verb
from reviews.models import Assignment, Event
from tests import factories as make
from tests.factories.furnished import judge

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue():
    """Twelve runs, judged by Alice and Bob, who differ on process in four, always by one level."""
    project = make.project()
    queue = make.queue(project, items=12, overlap=3)
    for name, levels in (("Alice", [0, 1, 2, 3] * 3), ("Bob", [0, 1, 2, 3] * 2 + [1, 2, 3, 2])):
        rater = make.expert(project, name)
        for level in levels:
            judge(queue, rater, make.passing(process=level))
    return queue


def charlie_judges(queue):
    judge(queue, make.expert(queue.project, "Charlie"), make.passing(process=3))


def test_a_submit_is_seen_at_once_where_there_are_few(queue):
    assert kept.seen_agreement(queue).kept.found.n_judgments == 24
    charlie_judges(queue)
    seen = kept.seen_agreement(queue)
    assert (seen.kept.found.n_judgments, seen.stale) == (25, False)


def test_what_was_counted_is_read_and_not_counted_again(queue):
    kept.count_agreement(queue)
    with CaptureQueriesContext(connection) as captured:
        kept.seen_agreement(queue)
        kept.queue_agreement(queue)
    assert len(captured) == 2, "each asks for the project's latest event"


def test_of_many_judgments_the_last_figures_are_shown_until_the_worker_has_counted(queue, monkeypatch):
    monkeypatch.setattr(kept, "FEW_JUDGMENTS", 20)
    assert kept.seen_agreement(queue) == kept.Seen(None, stale=True)
    count_queue_agreement(queue.pk)
    seen = kept.seen_agreement(queue)
    assert (seen.kept.found.n_judgments, seen.stale) == (24, False)
    charlie_judges(queue)
    seen = kept.seen_agreement(queue)
    assert (seen.kept.found.n_judgments, seen.stale) == (24, True)
    key = kept.agreement_key(queue)
    assert (takes_the_count(key), takes_the_count(key)) == (True, False), "asked for once"
    assert kept.watched_queues() == [queue]
    count_watched_agreement()
    assert kept.seen_agreement(queue).kept.found.n_judgments == 25


def test_a_deed_that_ends_after_a_later_one_is_seen_too(queue, monkeypatch):
    """Its Event has the earlier number, so that the latest one alone would not tell."""
    monkeypatch.setattr(kept, "FEW_JUDGMENTS", 20)
    early = reserved_event_number()
    charlie_judges(queue)
    kept.count_agreement(queue)
    assert not kept.seen_agreement(queue).stale
    Event.objects.create(pk=early, project=queue.project, verb=Verb.ITEM_SETTLED, target_type="item", target_id=0)
    assert kept.seen_agreement(queue).stale


def reserved_event_number():
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('reviews_event', 'id'))")
        return cursor.fetchone()[0]


def test_a_queue_is_counted_by_one_worker_at_a_time(queue):
    with alone("a-count") as mine, alone("a-count") as another:
        assert (mine, another) == (True, False)
    with alone("a-count") as mine:
        assert mine, "whoever counted has given it back"


def test_nobody_counts_ahead_for_a_queue_that_nobody_looks_at(queue):
    assert queue not in kept.watched_queues()


def test_the_figures_that_a_page_reads_name_no_items(queue):
    kept.count_agreement(queue)
    found = kept.seen_agreement(queue).kept.found
    process = found.criteria[3]
    assert (process.n_disagreed, process.disagreed, process.pairs[0].items) == (4, (), ())
    assert str(Assignment.objects.first().item.uid) not in repr(found)
    assert kept.queue_agreement(queue).criteria[3].n_disagreed == 4


def test_two_who_differ_by_a_level_are_said_to(queue):
    (pair,) = kept.queue_agreement(queue).criteria[3].pairs
    assert pair.reading == "Alice and Bob differ on Process in 4 of 12 items, mostly on adjacent levels (4 of 4)."


def test_the_report_says_what_was_computed_on_what(queue):
    out = StringIO()
    call_command("agreement", queue.slug, "--report", stdout=out)
    text = out.getvalue()
    process = kept.queue_agreement(queue).criteria[3]
    assert text.startswith(f"# Agreement in {queue.name}\n")
    assert "## Methods" in text
    assert "Krippendorff's alpha, ordinal" in text
    assert "95% percentile bootstrap over items, 1,000 resamples" in text
    alpha = process.alpha
    assert f"| Process | ordinal | item | {alpha.value:.2f} [{alpha.low:.2f}, {alpha.high:.2f}] |" in text
    assert "| Alice and Bob |" in text
    assert json.loads(_json(queue))["criteria"][3]["n_disagreed"] == 4


def _json(queue):
    out = StringIO()
    call_command("agreement", queue.slug, "--json", stdout=out)
    return out.getvalue()
