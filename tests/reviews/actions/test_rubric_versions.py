"""Versions of a rubric: what differs, what that does to open work, and how a queue goes over to the next."""

import pytest

from reviews.actions.dealing import claim
from reviews.actions.referring import refer
from reviews.actions.routing import create_rule, remove_rule
from reviews.actions.rubrics import write_guideline, write_rubric
from reviews.actions.versions import move_queue, succeed_queue
from reviews.enums import QueueState, Role
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Event, QueueItem
from reviews.queries.rubric_versions import changes_between, open_work, open_work_by_guideline
from tests import factories as make
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db


@pytest.fixture
def lea(project):
    return make.lead_of(project)


def next_version(queue, criteria=make.CRITERIA, **fields):
    return write_rubric(
        actor=make.lead_of(queue.project), project=queue.project, name=queue.rubric.name, criteria=criteria, **fields
    )


def judge(queue, person, times=1):
    client = by(person)
    for _ in range(times):
        uid = client.post(f"/api/v1/queues/{queue.uid}/claim/").json()["uid"]
        place = f"/api/v1/assignments/{uid}/judgment/"
        assert client.post(place, make.passing(), format="json", headers={"Idempotency-Key": uid}).status_code == 201


def test_every_change_is_told_field_by_field_and_level_by_level(project):
    queue = make.queue(project)
    authorised, consent, success, _process = make.CRITERIA
    levels = [*make.LEVELS[:2], {**make.LEVELS[2], "anchor": "All but a detail."}]
    after = next_version(
        queue,
        [
            {**consent, "evidence": "always"},
            authorised,
            {**success, "levels": levels, "weight": 2},
            {"key": "polite", "title": "Polite", "kind": "binary"},
        ],
        unsure_allowed=True,
    )
    assert [change.words for change in changes_between(queue.rubric, after)] == [
        "Whether a gate may be unsure: from no to yes.",
        "“Consent before action”, evidence: from never to always.",
        "“Task success”, weight: from nothing to 2.",
        "“Task success”, level 2, anchor: from Nearly all was done. to All but a detail..",
        "“Task success”, level 3 is gone: Strong.",
        "“Process” is gone.",
        "“Polite” is new.",
        "Order: from authorised, consent, success to consent, authorised, success.",
    ]
    assert changes_between(after, after) == []


def test_open_work_counts_what_is_there(project):
    alice = make.expert(project, "Alice")
    fresh, begun = make.queue(project, items=2), make.queue(project, items=3, overlap=1)
    judge(begun, alice)
    assert open_work(project, fresh.rubric.name)[0].can_move
    (row,) = open_work(project, begun.rubric.name)
    assert (row.collecting, row.waiting, row.settled, row.judgments, row.can_move) == (2, 0, 1, 1, False)
    assert open_work(project, begun.rubric.name, but=begun.rubric) == []


def test_a_queue_without_judgments_moves_as_it_is(project, lea):
    queue = make.queue(project)
    after = next_version(queue)
    assert move_queue(actor=lea, queue=queue, rubric=after).rubric == after
    event = Event.objects.get(verb="queue.moved")
    assert (event.target_id, event.data["after"]) == (queue.pk, str(after))
    with pytest.raises(Conflict, match="already"):
        move_queue(actor=lea, queue=queue, rubric=after)


def test_a_queue_with_judgments_or_an_open_item_stays(project, lea):
    alice = make.expert(project, "Alice")
    judged, opened = make.queue(project, overlap=1), make.queue(project)
    judge(judged, alice)
    claim(actor=alice, queue=opened)
    for queue, words in ((judged, "Judgments were made"), (opened, "has an item of this queue open")):
        before = queue.rubric
        with pytest.raises(Conflict, match=words):
            move_queue(actor=lea, queue=queue, rubric=next_version(queue))
        queue.refresh_from_db()
        assert queue.rubric == before


def test_what_is_unfinished_goes_to_a_new_queue_and_judgments_stay(project, lea):
    queue = make.queue(project, items=3, overlap=1, lease_minutes=12)
    judge(queue, make.expert(project, "Alice"))
    after = next_version(queue)
    made = succeed_queue(actor=lea, queue=queue, rubric=after)
    queue.refresh_from_db()
    settled = queue.queue_items.get(state="settled").item
    assert (made.rubric, made.overlap, made.lease_minutes, queue.state) == (after, 1, 12, QueueState.CLOSED)
    taken = set(QueueItem.objects.filter(queue=made).values_list("item", flat=True))
    assert taken == set(queue.queue_items.exclude(item=settled).values_list("item", flat=True))
    assert Event.objects.get(verb="queue.succeeded").data["items"] == 2
    with pytest.raises(Conflict, match="closed"):
        succeed_queue(actor=lea, queue=queue, rubric=after)


def test_what_was_set_apart_or_split_out_stays_behind(project, lea):
    queue = make.queue(project, items=4, overlap=1, settle_rule="lead")
    judge(queue, make.expert(project, "Alice"), times=3)
    apart, split, left, open_still = queue.queue_items.order_by("pk")
    refer(actor=lea, queue_item=apart, kind="apart", text="The run is cut off.")
    refer(actor=lea, queue_item=split, kind="own_queue", text="It is about a loan.", queue="Loans")
    after = next_version(queue)
    assert {work.queue: work.unfinished for work in open_work(project, queue.rubric.name, but=after)}[queue] == 2
    made = succeed_queue(actor=lea, queue=queue, rubric=after)
    assert [row.item for row in made.queue_items.order_by("pk")] == [left.item, open_still.item]


def test_where_rubric_and_guideline_change_the_new_queue_is_named_by_both(project, lea):
    queue = make.queue(project, items=2)
    text = write_guideline(actor=lea, project=project, name=queue.guideline.name, text="Money moves with a yes.")
    made = succeed_queue(actor=lea, queue=queue, rubric=next_version(queue), guideline=text)
    assert made.name == f"{queue.name}, version {made.rubric.version}, guideline {text.version}"


def test_a_guideline_takes_over_as_a_rubric_does(project, lea):
    fresh, begun = make.queue(project, items=2), make.queue(project, items=3, overlap=1)
    judge(begun, make.expert(project, "Alice"))
    name = begun.guideline.name
    after = write_guideline(actor=lea, project=project, name=name, text="Money moves with a yes.")
    work = {row.queue: row for row in open_work_by_guideline(project, name, but=after)}
    assert (work[begun].version, work[begun].unfinished, work[begun].can_move) == (begun.guideline.version, 2, False)
    moved = move_queue(actor=lea, queue=fresh, guideline=after)
    assert (moved.guideline, moved.rubric) == (after, fresh.rubric)
    assert Event.objects.get(verb="queue.moved").data["after"] == str(after)
    made = succeed_queue(actor=lea, queue=begun, guideline=after)
    assert (made.guideline, made.rubric, made.queue_items.count()) == (after, begun.rubric, 2)
    assert made.name == f"{begun.name}, guideline {after.version}"
    assert open_work_by_guideline(project, name, but=after) == []


def test_a_take_over_names_a_version(project, lea):
    with pytest.raises(Invalid, match="of the rubric, of the guideline, or of both"):
        move_queue(actor=lea, queue=make.queue(project))


def test_the_new_queue_is_set_up_as_the_old_one_and_gets_what_arrives(project, lea):
    queue = make.queue(project, items=2, overlap=2, overlap_cap=4, sure_from=0.9, shows_prelabel=True)
    rule = create_rule(actor=lea, project=project, name="All", queue=queue)
    removed = create_rule(actor=lea, project=project, name="Old", queue=queue)
    remove_rule(actor=lea, rule=removed)
    made = succeed_queue(actor=lea, queue=queue, rubric=next_version(queue))
    assert (made.overlap_cap, made.sure_from, made.shows_prelabel) == (4, 0.9, True)
    rule.refresh_from_db()
    removed.refresh_from_db()
    assert (rule.queue, removed.queue) == (made, queue)


def test_other_projects_other_kinds_and_other_people_are_refused(project, lea):
    queue = make.queue(project)
    elsewhere = make.queue(make.project())
    with pytest.raises(Invalid, match="another project"):
        move_queue(actor=lea, queue=queue, rubric=elsewhere.rubric)
    with pytest.raises(Invalid, match="another kind"):
        succeed_queue(actor=lea, queue=queue, rubric=next_version(queue, item_kind="task"))
    eli = make.person("Eli")
    make.member(project, eli, Role.ENGINEER)
    with pytest.raises(Forbidden):
        move_queue(actor=eli, queue=queue, rubric=next_version(queue))
