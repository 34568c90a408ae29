"""Blindness: all that a rater receives for a gold item is, byte for byte, what they receive for a plain one."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from goldsets.actions.gold import set_gold_rate
from goldsets.actions.staging import run_stage
from goldsets.actions.standing import change_standing, set_standing_policy
from goldsets.models import GoldPlacement, GoldPolicy, GoldSchedule
from reviews.actions.adjudicating import adjudicate
from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.actions.questions import publish
from reviews.actions.queueing import add_items
from reviews.digest import FIRST_DELAY, MOST_DELAY, SHARE, drawn
from reviews.models import Assignment, Event, Question, QueueItem
from reviews.queries.digest import digest_of
from tests import factories as make
from tests.factories import stages
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db

UID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
CSRF_TOKEN = re.compile(rb'(name="csrfmiddlewaretoken" value="|"X-CSRFToken": ?"|name="csrf-token" content=")[^"]+')
NOON = datetime(2030, 5, 6, 12, tzinfo=UTC)
# What differs between any two requests: ids drawn at random, the one-time token, the id of the request.
VOLATILE_HEADERS = {"X-Request-ID", "Set-Cookie"}


def seen(response):
    """Status, headers and body, with what is drawn at random for every request put aside."""
    headers = {name: UID.sub(b"<uid>", value.encode()) for name, value in response.items()}
    if policy := headers.get("Content-Security-Policy"):
        headers["Content-Security-Policy"] = b"; ".join(sorted(policy.split(b"; ")))
    body = CSRF_TOKEN.sub(rb"\1<token>", UID.sub(b"<uid>", response.content))
    return response.status_code, {k: v for k, v in headers.items() if k not in VOLATILE_HEADERS}, body


class Desk:
    """One item that Alex gets as a plain one and, once it is settled and gold, another Alex gets as gold.

    Behind it wait further items that nobody has touched, so that both find the same next one.
    """

    def __init__(self):
        self.project = make.project()
        self.lead = make.lead_of(self.project)
        self.queue = make.queue(self.project, items=1, overlap=1)
        self.item = QueueItem.objects.get(queue=self.queue)

    def items(self, count):
        return [make.item(self.project) for _ in range(count)]

    def judged(self, assignment):
        return make.passing()

    def before_plain(self):
        add_items(actor=self.lead, queue=self.queue, items=self.items(3))
        # Not by the action, which shuffles what waits: Alex is to get the very item that is gold in the other world.
        GoldPolicy.objects.create(queue=self.queue, rate="0.1")
        return self._alex(plain_left=9)

    def before_gold(self):
        gwen = make.expert(self.project, "Gwen")
        assignment = claim(actor=gwen, queue=self.queue)
        submit(actor=gwen, uid=assignment.uid, payload=self.judged(assignment), idempotency_key="k")
        self.item.refresh_from_db()
        make.gold(self.item)
        add_items(actor=self.lead, queue=self.queue, items=self.items(3))
        # Not by the action, which shuffles what waits: Alex is to get the very item that is gold in the other world.
        GoldPolicy.objects.create(queue=self.queue, rate="0.1")
        return self._alex(plain_left=0)

    def _alex(self, *, plain_left):
        self.alex = make.expert(self.project, "Alex")
        GoldSchedule.objects.create(queue=self.queue, rater=self.alex, plain_left=plain_left)
        return self.alex


class CrowdedDesk(Desk):
    """The same where three judge each item, and Alex is the last to judge the plain one, which settles by it."""

    def __init__(self):
        self.project = make.project()
        self.lead = make.lead_of(self.project)
        self.queue = make.queue(self.project, items=1, overlap=3)
        self.item = QueueItem.objects.get(queue=self.queue)
        for name in ("Greta", "Gus"):
            judge(make.expert(self.project, name), self.queue, make.passing())


class ComparingDesk(Desk):
    """The same with a pair of runs, of which one is preferred."""

    def __init__(self):
        self.project = make.project()
        self.lead = make.lead_of(self.project)
        self.queue = make.queue(
            self.project, items=self.items(1), criteria=COMPARING, rubric={"item_kind": "comparison"}, overlap=1
        )
        self.item = QueueItem.objects.get(queue=self.queue)

    def items(self, count):
        return [make.comparison(self.project, 2) for _ in range(count)]

    def judged(self, assignment):
        return PREFERRED


def walk(prepare, visit, room=Desk):
    """What one Alex receives on the way, and whether the item was gold."""
    desk = room()
    alex = prepare(desk)
    with time_machine.travel(NOON, tick=False):
        answers = [seen(response) for response in visit(alex, desk.queue)]
    assignment = Assignment.objects.get(rater=alex, item=desk.item.item)
    return answers, GoldPlacement.objects.filter(assignment=assignment).exists(), desk


def compare(visit, room=Desk):
    plain, was_gold, plain_desk = walk(room.before_plain, visit, room)
    gold, is_gold, gold_desk = walk(room.before_gold, visit, room)
    assert (was_gold, is_gold) == (False, True)
    return same(plain, plain_desk, gold, gold_desk)


def same(plain, plain_desk, gold, gold_desk):
    """Pairs of answers, once it is certain that all are the same but for the names of people, projects and queues."""

    def unnamed(answers, desk):
        name = desk.queue.name.encode()
        project = desk.project
        words = [
            *((person.email.encode(), b"<email>") for person in (desk.alex, desk.lead)),
            *((f'data-sign-out="{person.pk}"'.encode(), b"<person>") for person in (desk.alex, desk.lead)),
            (f"draft:{desk.alex.pk}:".encode(), b"<person>"),
            (name, b"<queue>"),
            (f'"{desk.queue.slug}"'.encode(), b"<queue slug>"),
            (project.name.encode(), b"<project>"),
            (project.slug.encode(), b"<slug>"),
            (b'data-sign-out="%d"' % desk.alex.pk, b"<alex>"),
            (b'data-kept="draft:%d:' % desk.alex.pk, b"<alex>"),
        ]
        result = []
        for status, headers, body in answers:
            for word, mark in words:
                body = body.replace(word, mark)
            headers = {k: v for k, v in headers.items() if k != "Content-Length"} | {"Content-Length": len(body)}
            result.append((status, headers, body))
        return result

    pairs = list(zip(unnamed(plain, plain_desk), unnamed(gold, gold_desk), strict=True))
    assert pairs
    for (status, headers, body), (gold_status, gold_headers, gold_body) in pairs:
        assert (gold_status, gold_headers) == (status, headers)
        assert gold_body.decode().splitlines() == body.decode().splitlines()
    return pairs


COMPARING = [
    {"key": "authorised", "title": "Authorised", "kind": "gate", "scope": "candidate"},
    {"key": "better", "title": "Better", "kind": "preference", "settings": {"form": "pair", "strength": 2}},
]
PREFERRED = {
    "candidates": [{"gates": {"authorised": "pass"}}] * 2,
    "criteria": {"better": {"prefers": 1, "strength": 1}},
    "confidence": 3,
}
PREFERS = {
    "places": "2",
    "kind.authorised": "candidate gate",
    "kind.better": "prefer pair",
    "candidates.1.gates.authorised": "pass",
    "candidates.2.gates.authorised": "pass",
    "prefer.better": "1-1",
    "confidence": "3",
}
FORM = {
    "gates.authorised": "pass",
    "gates.consent": "pass",
    "criteria.success": "3",
    "criteria.process": "2",
    "rationale": "Done as asked.",
    "confidence": "3",
}


def browser(user):
    client = Client()
    client.force_login(user)
    return client


def address(user, name=""):
    assignment = Assignment.objects.filter(rater=user).order_by("pk").first()
    return f"/assignments/{assignment.uid}/{name}"


# --- An item that comes to the same rater again -----------------------------------------------------------------------
class RepeatingDesk(Desk):
    """Six items that look alike, of which Alex has judged three: next comes one of these, or a new one."""

    def __init__(self, occasion):
        self.project = make.project()
        self.lead = make.lead_of(self.project)
        self.queue = make.queue(self.project, items=6, overlap=1, repeat_rate=0.3, repeat_after=1)
        self.alex = make.expert(self.project, "Alex")
        self.occasion = occasion
        with time_machine.travel(NOON - timedelta(hours=1)):
            for _ in range(3):
                self.claim(1, lambda: claim(actor=self.alex, queue=self.queue))
                mine = Assignment.objects.get(rater=self.alex, state="leased")
                submit(actor=self.alex, uid=mine.uid, payload=make.passing(), idempotency_key="k")

    def claim(self, occasion, claimed):
        """What chance made one of a first or a second occasion."""
        while True:
            before = transaction.savepoint()
            answer = claimed()
            if Assignment.objects.filter(rater=self.alex, state="leased", occasion=occasion).exists():
                return answer
            transaction.savepoint_rollback(before)

    def visit_pages(self):
        client = browser(self.alex)
        yield self.claim(self.occasion, lambda: client.post(f"/queues/{self.queue.uid}/judge/"))
        at = f"/assignments/{Assignment.objects.get(rater=self.alex, state='leased').uid}"
        yield client.get(f"{at}/")
        yield client.post(f"{at}/draft/", {"version": "0", "rationale": "Half"})
        yield client.post(f"{at}/submit/", {})
        with_next = client.post(f"{at}/submit/", FORM, headers={"HX-Request": "true"})
        yield from [client.get(f"{at}/"), client.get(f"{at}/?correct"), client.get(f"{at}/run/")]
        yield from [client.get("/"), client.get("/judgments/"), client.get("/decisions/"), client.get("/checked/")]
        assert with_next.status_code == 200

    def visit_api(self):
        client = by(self.alex)
        queue = f"/api/v1/queues/{self.queue.uid}/"
        yield self.claim(self.occasion, lambda: client.post(f"{queue}claim/"))
        at = f"/api/v1/assignments/{Assignment.objects.get(rater=self.alex, state='leased').uid}/"
        yield client.get(at)
        yield client.put(f"{at}draft/", {"version": 0, "data": {}}, format="json")
        yield client.post(f"{at}judgment/", make.passing(), format="json", headers={"Idempotency-Key": "k"})
        yield client.get(at)
        yield client.post(f"{at}judgment/", make.passing(), format="json", headers={"Idempotency-Key": "k"})
        yield client.get(f"{at}judgment/")
        yield client.get(queue)

    def answers(self, visit):
        with time_machine.travel(NOON, tick=False):
            answers = [seen(response) for response in getattr(self, visit)()]
        mine = Assignment.objects.filter(rater=self.alex).order_by("leased_at")
        assert self.occasion in mine.filter(leased_at=NOON).values_list("occasion", flat=True)
        names = {
            self.queue.name: "<queue>",
            self.queue.slug: "<queue>",
            self.project.name: "<project>",
            self.project.slug: "<project>",
            self.alex.email: "<alex>",
            f'data-sign-out="{self.alex.pk}"': "<alex>",
            f"draft:{self.alex.pk}:": "<alex>",
        }
        assert {status for status, _headers, _body in answers} <= {200, 201, 302, 422}
        told = []
        for status, headers, body in answers:
            text = body.decode()
            for name, mark in names.items():
                text = text.replace(name, mark)
            text = re.sub(r"\.\d{6}Z", "Z", text)
            told.append((status, headers | {"Content-Length": len(text)}, text.splitlines()))
        return told


@pytest.mark.parametrize("visit", ["visit_pages", "visit_api"])
def test_what_comes_again_looks_in_every_byte_like_what_comes_for_the_first_time(visit):
    first, again = (RepeatingDesk(occasion).answers(visit) for occasion in (1, 2))
    assert again == first


# --- An audit of a reviewer -------------------------------------------------------------------------------------------
class AuditedDesk(Desk):
    """One item that a reviewer would pass, which comes to Alex all the same; before it one that lies settled."""

    def __init__(self):
        self.project = make.project()
        self.lead = make.lead_of(self.project)
        self.queue = stages.keeping_queue(self.project)
        self.item, *_ = stages.more(self.queue, *[stages.REFUND] * 3)

    def without_a_stage(self):
        return self._alex(plain_left=9)

    def in_shadow(self):
        self._said(stages.shadow(self.queue))
        return self._alex(plain_left=9)

    def audited(self):
        self._said(stages.deciding(self.queue, audit_share=1))
        return self._alex(plain_left=9)

    def left_to_people(self):
        self._said(stages.deciding(self.queue, takes=(0,)))
        return self._alex(plain_left=9)

    def _said(self, stage):
        run_stage(stage_id=stage.pk)
        assert stage.verdicts.filter(queue_item=self.item, verdict=1, sure=True).exists()


def visit_kept_pages(alex, queue):
    client = browser(alex)
    form = {"kind.keep": "binary", "criteria.keep": "yes", "confidence": "3"}
    yield client.post(f"/queues/{queue.uid}/judge/")
    yield client.get(address(alex))
    yield client.post(address(alex, "submit/"), {})
    yield client.post(address(alex, "submit/"), form, headers={"HX-Request": "true"})
    yield client.get(address(alex))
    for page in ("/", "/judgments/", "/decisions/", "/checked/"):
        yield client.get(page)
    yield client.get(f"/queues/{queue.uid}/stages/")


def visit_kept_api(alex, queue):
    client = by(alex)
    yield client.post(f"/api/v1/queues/{queue.uid}/claim/")
    at = f"/api/v1/assignments/{Assignment.objects.get(rater=alex, state='leased').uid}/"
    yield client.get(at)
    given = {"criteria": {"keep": True}, "confidence": 3}
    yield client.post(f"{at}judgment/", given, format="json", headers={"Idempotency-Key": "k"})
    yield client.get(f"{at}judgment/")
    yield client.get(f"/api/v1/queues/{queue.uid}/")
    yield client.get(f"/api/v1/queues/{queue.uid}/stages/")


@pytest.mark.parametrize("visit", [visit_kept_pages, visit_kept_api])
def test_no_byte_tells_an_audit_or_that_there_is_a_stage_at_all(visit):
    plain, _gold, plain_desk = walk(AuditedDesk.without_a_stage, visit, AuditedDesk)
    for prepare in (AuditedDesk.in_shadow, AuditedDesk.audited, AuditedDesk.left_to_people):
        seen_there, _gold, desk = walk(prepare, visit, AuditedDesk)
        pairs = same(plain, plain_desk, seen_there, desk)
        assert {pair[0][0] for pair in pairs} <= {200, 201, 302, 422, 403}


def test_a_rater_s_requests_do_nothing_else_where_a_reviewer_decides():
    def statements(prepare):
        desk = AuditedDesk()
        alex = prepare(desk)
        with CaptureQueriesContext(connection) as captured:
            mine = claim(actor=alex, queue=desk.queue)
            given = {"criteria": {"keep": True}, "confidence": 3}
            submit(actor=alex, uid=mine.uid, payload=given, idempotency_key="k")
        assert mine.item == desk.item.item
        return len(captured)

    plain = statements(AuditedDesk.without_a_stage)
    assert statements(AuditedDesk.audited) == statements(AuditedDesk.in_shadow) == plain


# --- Gold -------------------------------------------------------------------------------------------------------------
def test_the_pages_of_a_judgment_from_claim_to_the_next_item():
    def visit(alex, queue):
        client = browser(alex)
        yield client.post(f"/queues/{queue.uid}/judge/")
        yield client.get(address(alex))
        yield client.get(address(alex, "steps/?from=2"))
        yield client.get(address(alex, "find/?q=refund"))
        yield client.post(address(alex, "submit/"), {})
        yield client.post(address(alex, "submit/"), FORM, headers={"HX-Request": "true"})
        yield client.get(address(alex))
        yield client.get("/")
        yield client.get("/checked/")

    statuses = [plain[0] for plain, _gold in compare(visit)]
    assert statuses == [302, 200, 200, 200, 422, 200, 200, 200, 200]


@pytest.mark.parametrize("room", [Desk, CrowdedDesk])
def test_the_pages_and_answers_of_taking_a_submission_back(room):
    """The plain item settles by what Alex says, and again by what Alex says instead."""

    def visit(alex, queue):
        client, api = browser(alex), by(alex)
        yield client.post(f"/queues/{queue.uid}/judge/")
        yield client.post(address(alex, "submit/"), FORM, headers={"HX-Request": "true"})
        yield client.get(f"{address(alex)}?correct")
        yield client.post(address(alex, "draft/"), {"version": "0", "revision": "1", "rationale": "Half"})
        other = FORM | {"criteria.success": "1", "revision": "1"}
        yield client.post(address(alex, "correct/"), other, headers={"HX-Request": "true"})
        judgment = f"/api/v1{address(alex, 'judgment/')}"
        key = {"Idempotency-Key": "c"}
        for _ in range(2):
            yield api.put(f"{judgment}?revision=2", make.passing(), format="json", headers=key)
        yield api.put(f"{judgment}?revision=1", make.passing(), format="json", headers={"Idempotency-Key": "d"})
        yield api.get(judgment)
        yield client.get("/judgments/")
        yield client.get("/")

    statuses = [plain[0] for plain, _gold in compare(visit, room)]
    assert statuses == [302, 200, 200, 200, 200, 201, 200, 409, 200, 200, 200]


def test_the_pages_and_answers_of_a_comparison():
    def visit(alex, queue):
        client = browser(alex)
        yield client.post(f"/queues/{queue.uid}/judge/")
        yield client.get(address(alex))
        for place in (0, 1, 2):
            yield client.get(address(alex, f"candidates/{place}/"))
            yield client.get(address(alex, f"candidates/{place}/steps/?from=1"))
            yield client.get(address(alex, f"candidates/{place}/find/?q=refund"))
        yield client.get(address(alex, "differences/"))
        yield client.post(address(alex, "submit/"), {"places": "2"})
        yield client.post(address(alex, "submit/"), PREFERS, headers={"HX-Request": "true"})
        yield client.get(address(alex))
        yield client.get("/")

    pairs = compare(visit, ComparingDesk)
    assert [plain[0] for plain, _gold in pairs] == [302, *[200] * 11, 422, 200, 200, 200]


@pytest.mark.parametrize(("name", "form"), [("skip/", {"reason": "not_my_field"}), ("release/", {})])
def test_the_pages_after_an_item_is_passed_on(name, form):
    def visit(alex, queue):
        client = browser(alex)
        client.post(f"/queues/{queue.uid}/judge/")
        yield client.post(address(alex, name), form)
        yield client.get(address(alex))

    compare(visit)


def test_a_claim_and_a_submission_write_the_same_kinds_of_events():
    def verbs(prepare):
        desk = Desk()
        alex = prepare(desk)
        assignment = claim(actor=alex, queue=desk.queue)
        submit(actor=alex, uid=assignment.uid, payload=make.passing(), idempotency_key="k")
        return list(Event.objects.filter(actor=alex).order_by("pk").values_list("verb", flat=True))

    assert verbs(Desk.before_gold) == verbs(Desk.before_plain)


def test_the_pages_of_a_question_from_asking_to_the_answer():
    def visit(alex, queue):
        client = browser(alex)
        client.post(f"/queues/{queue.uid}/judge/")
        asked = {"about": "step", "step": "3", "text": "Is it theirs?"}
        yield client.post(address(alex, "questions/"), asked, headers={"HX-Request": "true"})
        yield client.post(address(alex, "questions/"), {"about": "item", "text": ""}, headers={"HX-Request": "true"})
        yield client.get(address(alex))
        yield client.get("/")
        question = Question.objects.get(assignment__rater=alex)
        lead = browser(make.lead_of(queue.project))
        inbox = f"/projects/{queue.project.slug}/questions/"
        yield lead.get(inbox)
        yield lead.get(f"{inbox}{question.uid}/")
        publish(actor=make.lead_of(queue.project), uid=question.uid, text="Yes.", about="policy", line=1)
        yield client.get(address(alex))
        yield client.get("/questions/")
        yield client.post(address(alex, "submit/"), FORM, headers={"HX-Request": "true"})
        yield client.get(address(alex, "run/"))
        yield client.get("/judgments/")
        yield client.get("/decisions/")
        yield client.get("/")

    statuses = [plain[0] for plain, _gold in compare(visit)]
    assert statuses == [200, 422, *[200] * 11]


@pytest.mark.parametrize("gold", [False, True])
def test_the_digest_is_the_same_whether_an_item_was_decided_long_before_or_after(gold):
    """Ten judgments of Alex, the first of an item decided a month before, and gold, or on the same day as the rest."""
    project = make.project()
    lead, alex, gwen = make.lead_of(project), make.expert(project, "Alex"), make.expert(project, "Gwen")
    queue = make.queue(project, items=1, overlap=1, settle_rule="lead")
    known = QueueItem.objects.get(queue=queue)
    if gold:
        with time_machine.travel(NOON - timedelta(days=30), tick=False):
            judge(gwen, queue, make.passing())
            decide(lead, known)
        make.gold(known)
        set_gold_rate(actor=lead, queue=queue, rate="0.1")
    add_items(actor=lead, queue=queue, items=[make.item(project) for _ in range(12)])
    with time_machine.travel(NOON, tick=False):
        GoldSchedule.objects.create(queue=queue, rater=alex, plain_left=0)
        mine = [judge(alex, queue, make.failing())]
        GoldSchedule.objects.filter(queue=queue).update(plain_left=99)
        mine += [judge(alex, queue, make.failing()) for _ in range(9)]
        for waiting in QueueItem.objects.filter(queue=queue, state="waiting"):
            decide(lead, waiting)
    assert (mine[0].item, GoldPlacement.objects.filter(assignment=mine[0]).exists()) == (known.item, gold)

    secret = project.digest_key.bytes
    opens = NOON + FIRST_DELAY + (MOST_DELAY - FIRST_DELAY) * drawn(secret, "opens", mine[0].pk)
    assert digest_of(alex, [project], now=opens - timedelta(seconds=1)) == []
    shown = [decided.judgment.assignment_id for decided in digest_of(alex, [project], now=opens)]
    assert shown == [one.pk for one in mine if drawn(secret, "shown", one.pk) < SHARE][::-1]


def judge(rater, queue, payload):
    mine = claim(actor=rater, queue=queue)
    submit(actor=rater, uid=mine.uid, payload=payload, idempotency_key="k")
    return mine


def decide(lead, queue_item):
    decision = make.passing()
    payload = {"gates": decision["gates"], "criteria": decision["criteria"]}
    adjudicate(actor=lead, queue_item=queue_item, payload=payload)


@pytest.mark.parametrize("prepare", [Desk.before_plain, Desk.before_gold])
def test_who_is_paused_reads_a_kind_word_and_nothing_of_how_it_came_to_it(prepare):
    desk = Desk()
    alex = prepare(desk)
    client = browser(alex)
    change_standing(actor=desk.lead, queue=desk.queue, rater_id=alex.pk, after="paused", why="Six of nine wrong.")
    # Without tokens and ids, in which chance may write any word.
    page = seen(client.post(f"/queues/{desk.queue.uid}/judge/"))[2].decode()
    assert "Thank you for what you have done" in page
    assert not re.search("gold|six of nine|standing", page, re.IGNORECASE)
    assert not Assignment.objects.filter(rater=alex).exists()


def test_putting_everybody_to_the_test_is_no_part_of_any_rater_s_request():
    """A claim sends as many statements whether the rater's last answer on gold decided something or not."""

    def statements(success):
        desk = Desk()
        alex = desk.before_gold()
        set_standing_policy(actor=desk.lead, queue=desk.queue, automatic=True)
        first = claim(actor=alex, queue=desk.queue)
        submit(actor=alex, uid=first.uid, payload=make.passing(success=success), idempotency_key="k")
        with CaptureQueriesContext(connection) as captured:
            claim(actor=alex, queue=desk.queue)
        return len(captured)

    assert statements(success=0) == statements(success=3)
