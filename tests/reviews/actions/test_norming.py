"""Norming: votes are blind until a lead reveals them, then talked about and given again, before and after compared."""

import pytest

from reviews.actions.correcting import correct
from reviews.actions.dealing import claim
from reviews.actions.judging import is_correctable, submit
from reviews.actions.norming import close, discuss, open_session, reveal
from reviews.errors import Conflict, Forbidden, Invalid, NotFound, NothingToDeal
from reviews.models import Event, Label, NormingSession, QueueItem
from reviews.queries.home import home_page
from reviews.queries.norming import session_page
from tests import factories as make
from tests.factories.training import judge, settled_queue

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk():
    project = make.project()
    queue = settled_queue(project, items=2)
    people = [make.expert(project, name) for name in ("Alice", "Bob", "Charlie")]
    return project, queue, people


def opened(project, queue, members, **terms):
    rows = QueueItem.objects.filter(queue=queue).values_list("uid", flat=True)
    return open_session(
        actor=make.lead_of(project),
        queue=queue,
        name="Consent",
        items=list(rows),
        members=[member.pk for member in members],
        **terms,
    )


def vote_again(session, rater, item, payload):
    mine = session.queue.assignments.get(rater=rater, item=item)
    return correct(actor=rater, uid=mine.uid, payload=payload, idempotency_key="again", seen_revision=1)


def test_the_whole_way_of_a_session(desk):
    project, queue, (alice, bob, _charlie) = desk
    lead, session = make.lead_of(project), opened(project, queue, [alice, bob])
    assert home_page(alice).lessons[0].words == "Norming session: 2 items to vote on"
    for rater, success in ((alice, 3), (bob, 1)):
        judge(session.queue, rater, make.passing(success=success))
        judge(session.queue, rater, make.passing())
        with pytest.raises(NothingToDeal, match="voted on every item"):
            claim(actor=rater, queue=session.queue)
    session = reveal(actor=lead, session=session)
    item = QueueItem.objects.filter(queue=session.queue).order_by("pk").first()
    discuss(actor=alice, session=session, item=item.uid, criterion="success", text="All of it was done.")
    vote_again(session, bob, item.item, make.passing(success=3))
    page = session_page(session, reader=alice)
    (success,) = [one for one in page.agreement if one.key == "success"]
    assert (success.before[0].value, success.after[0].value) == (0.5, 1.0)
    assert (success.before[0].n_units, success.changed, success.votes) == (2, 1, 4)
    assert success.after[1].value is None
    assert success.after[1].words
    row = next(row for row in page.items[0].rows if row.title == "Task success")
    assert [(vote.before.words, vote.after.words) for vote in row.votes if vote.changed] == [("1 Weak", "3 Strong")]
    assert [comment.text for comment, _who in row.comments] == ["All of it was done."]
    session = close(actor=lead, session=session, change="A refund counts when it is on its way.")
    assert (session.state, session.change) == ("closed", "A refund counts when it is on its way.")
    verbs = ("norming.opened", "norming.revealed", "norming.discussed", "norming.closed")
    assert [Event.objects.filter(verb=verb).count() for verb in verbs] == [1, 1, 1, 1]
    assert Label.objects.filter(queue=session.queue).count() == 0


def test_before_the_reveal_nobody_sees_a_vote_of_another(desk):
    project, queue, (alice, bob, _charlie) = desk
    session = opened(project, queue, [alice, bob])
    judge(session.queue, bob, make.failing())
    for reader in (alice, bob, make.lead_of(project)):
        page = session_page(session, reader=reader)
        assert (page.items, page.agreement) == ([], [])
        assert (page.votes_in, page.votes_wanted) == (1, 4)


def test_members_are_letters_unless_the_lead_chose_names(desk):
    project, queue, (alice, bob, _charlie) = desk
    session = opened(project, queue, [alice, bob])
    judge(session.queue, alice, make.passing())
    judge(session.queue, bob, make.passing())
    session = reveal(actor=make.lead_of(project), session=session)
    assert {voter.shown for voter in session_page(session, reader=alice).voters} == {"A", "B"}
    NormingSession.objects.filter(pk=session.pk).update(names_shown=True)
    session.refresh_from_db()
    assert {voter.shown for voter in session_page(session, reader=alice).voters} == {"Alice", "Bob"}


def test_a_vote_that_comes_after_the_reveal_is_refused(desk):
    project, queue, (alice, bob, charlie) = desk
    session = opened(project, queue, [alice, bob, charlie])
    late = claim(actor=charlie, queue=session.queue)
    judge(session.queue, alice, make.passing())
    with pytest.raises(Conflict, match="Fewer than two"):
        reveal(actor=make.lead_of(project), session=session)
    judge(session.queue, bob, make.passing())
    reveal(actor=make.lead_of(project), session=session)
    with pytest.raises(Conflict, match="revealed before you sent"):
        submit(actor=charlie, uid=late.uid, payload=make.passing(), idempotency_key="late")
    with pytest.raises(NothingToDeal, match="revealed"):
        claim(actor=charlie, queue=session.queue)


def test_a_vote_corrected_before_the_reveal_is_still_the_first_round(desk):
    project, queue, (alice, bob, _charlie) = desk
    session = opened(project, queue, [alice, bob])
    judgment = judge(session.queue, alice, make.passing(success=0))
    vote_again(session, alice, judgment.item, make.passing(success=3))
    judge(session.queue, bob, make.passing(success=3))
    session = reveal(actor=make.lead_of(project), session=session)
    (success,) = [one for one in session_page(session, reader=bob).agreement if one.key == "success"]
    assert (success.before[0].value, success.changed) == (1.0, 0)


def test_after_the_end_nothing_moves(desk):
    project, queue, (alice, bob, _charlie) = desk
    lead, session = make.lead_of(project), opened(project, queue, [alice, bob])
    judgment = judge(session.queue, alice, make.passing())
    judge(session.queue, bob, make.passing())
    with pytest.raises(Conflict):
        close(actor=lead, session=session)
    session = close(actor=lead, session=reveal(actor=lead, session=session))
    item = QueueItem.objects.filter(queue=session.queue).first()
    assert not is_correctable(judgment.assignment)
    with pytest.raises(Conflict):
        vote_again(session, alice, judgment.item, make.failing())
    with pytest.raises(Conflict):
        discuss(actor=alice, session=session, item=item.uid, text="Late.")
    with pytest.raises(Conflict):
        reveal(actor=lead, session=session)


def test_who_may_not(desk):
    project, queue, (alice, bob, charlie) = desk
    session = opened(project, queue, [alice, bob])
    item = QueueItem.objects.filter(queue=session.queue).first()
    with pytest.raises(Forbidden, match="members"):
        claim(actor=charlie, queue=session.queue)
    for action in (reveal, close):
        with pytest.raises(Forbidden):
            action(actor=alice, session=session)
    with pytest.raises(Forbidden):
        discuss(actor=charlie, session=session, item=item.uid, text="Hello.")
    with pytest.raises(Conflict, match="between the reveal and its end"):
        discuss(actor=alice, session=session, item=item.uid, text="Hello.")
    assert home_page(charlie).lessons == []


def test_what_a_session_refuses(desk):
    project, queue, (alice, bob, _charlie) = desk
    stranger = make.person("Sam")
    for members in ([alice], [alice, stranger], []):
        with pytest.raises(Invalid) as refused:
            opened(project, queue, members)
        assert list(refused.value.errors) == ["members"]
    still_judged = make.queue(project, items=1)
    with pytest.raises(Invalid) as refused:
        opened(project, still_judged, [alice, bob])
    assert list(refused.value.errors) == ["items"]
    session = opened(project, queue, [alice, bob])
    judge(session.queue, alice, make.passing())
    judge(session.queue, bob, make.passing())
    session = reveal(actor=make.lead_of(project), session=session)
    with pytest.raises(NotFound):
        discuss(actor=alice, session=session, item=QueueItem.objects.filter(queue=queue).first().uid, text="Hm.")
    item = QueueItem.objects.filter(queue=session.queue).first()
    with pytest.raises(Invalid) as refused:
        discuss(actor=alice, session=session, item=item.uid, criterion="none", text=" ")
    assert set(refused.value.errors) == {"criterion", "text"}
