"""Nobody settles, measures, checks or is measured by what they had a hand in themselves."""

import pytest

from goldsets.actions.gold import approve_gold, propose_gold, set_gold_rate
from goldsets.actions.probes import check_probe, make_probes
from goldsets.actions.standing import change_standing
from goldsets.models import GoldItem, GoldPlacement, RationaleFlag
from goldsets.queries.graders import scores_of_version
from goldsets.queries.probes import next_to_check
from goldsets.queries.rationales import flags_for
from reviews.actions.adjudicating import adjudicate, decide_ahead, undo
from reviews.actions.dealing import claim
from reviews.actions.judging import submit as submit_judgment
from reviews.actions.questions import ask
from reviews.actions.queueing import add_items
from reviews.actions.referring import refer
from reviews.errors import Conflict, Forbidden
from reviews.models import Event, Label, QueueItem
from reviews.queries.disagreements import inbox, names_are_open
from reviews.queries.questions import questions_for
from tests import factories as make
from tests.factories import graders
from tests.factories.furnished import judge as submit
from tests.factories.training import judge
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db


@pytest.fixture
def second(project):
    """Another lead."""
    grace = make.person("Grace")
    make.member(project, grace, "lead")
    return grace


def test_leads_who_judge_never_meet_gold_of_which_they_said_what_it_expects(project, lead, second):
    """Lea proposed the first, approved the second and decided the third. Each of the three comes to somebody else."""
    queue = make.queue(project, items=3, overlap=1)
    rows = list(QueueItem.objects.filter(queue=queue).order_by("pk"))
    for row, decider in zip(rows, (second, second, lead), strict=True):
        decide_ahead(
            actor=decider, queue_item=row, payload={name: make.passing()[name] for name in ("gates", "criteria")}
        )
    third = make.person("Hedy")
    make.member(project, third, "lead")
    for row, one, other in zip(rows, (lead, second, second), (second, lead, third), strict=True):
        approve_gold(actor=other, key=propose_gold(actor=one, queue_item=row))
    add_items(actor=lead, queue=queue, items=[make.item(project) for _ in range(20)])
    set_gold_rate(actor=lead, queue=queue, rate="0.5")
    assert gold_met(queue, lead, 8) == set()
    # At most three plain items come before the first gold, and two before each further one.
    assert gold_met(queue, make.expert(project, "Alice"), 11) == set(GoldItem.objects.values_list("pk", flat=True))


def gold_met(queue, rater, most):
    for _ in range(most):
        judge(queue, rater, make.passing())
    return set(GoldPlacement.objects.filter(rater=rater).values_list("gold_item", flat=True))


def test_a_lead_who_judged_an_item_settles_it_in_no_queue(project, lead):
    queue = make.queue(project, items=1, overlap=1)
    judge(queue, lead, make.passing())
    again = make.queue(project, items=[queue.queue_items.get().item], overlap=1, settle_rule="lead")
    judge(again, make.expert(project, "Alice"), make.failing())
    row = again.queue_items.get()
    with pytest.raises(Forbidden, match="You judged this item yourself"):
        adjudicate(actor=lead, queue_item=row, payload=make.passing())
    assert inbox(again, lead).rows == []
    answer = by(lead).post("/api/v1/adjudications/", {"queue_item": row.uid, **make.passing()}, format="json")
    assert answer.status_code == 403


def test_what_a_lead_judged_elsewhere_is_not_listed_for_them_to_decide_answer_or_look_at(project, lead, second):
    """Lea judged the item in one queue; it waits in another, with a question and a rationale that was flagged."""
    here = make.queue(project, items=1, overlap=1)
    judge(here, lead, make.passing())
    there = make.queue(project, items=[here.queue_items.get().item], overlap=1, settle_rule="lead")
    alice = make.expert(project, "Alice")
    mine = claim(actor=alice, queue=there)
    ask(actor=alice, uid=mine.uid, about="item", text="What is late?")
    said = submit_judgment(actor=alice, uid=mine.uid, payload=make.failing(), idempotency_key="one").judgment
    RationaleFlag.objects.create(judgment=said, probability=0.9, fitted=50, families=5)
    found = {}
    for reader in (lead, second):
        listed = by(reader).get(f"/api/v1/queues/{there.uid}/disagreements/").json()["results"]
        found[reader] = (len(listed), questions_for(project, reader).count(), flags_for(there, reader).count())
    assert found == {lead: (0, 0, 0), second: (1, 1, 1)}
    with pytest.raises(Conflict, match="No other lead"):
        refer(actor=second, queue_item=there.queue_items.get(), kind="second_lead", text="I know the requester.")


def test_a_lead_who_judged_an_item_says_ahead_of_its_raters_in_no_queue(project, lead, second):
    here = make.queue(project, items=1, overlap=1)
    judge(here, lead, make.passing())
    row = make.queue(project, items=[here.queue_items.get().item], overlap=1).queue_items.get()
    decision = {name: make.passing()[name] for name in ("gates", "criteria")}
    with pytest.raises(Forbidden, match="judged the item themselves"):
        decide_ahead(actor=lead, queue_item=row, payload=decision)
    assert decide_ahead(actor=second, queue_item=row, payload=decision)


def test_who_decided_and_took_it_back_decides_with_names_open(project, lead):
    """While the item was settled, its raters and its outcome could be read."""
    queue = make.queue(project, items=1, overlap=1, settle_rule="lead")
    judge(queue, make.expert(project, "Alice"), make.passing())
    row = queue.queue_items.get()
    adjudicate(actor=lead, queue_item=row, payload={"ambiguous": True, "note": "To see."})
    undo(actor=lead, queue_item=row)
    assert names_are_open(row, lead)
    assert Event.objects.filter(verb="names.opened", target_id=row.pk, actor=lead).count() == 1


def test_nobody_decides_their_own_standing(project, lead, second):
    queue = make.queue(project, items=3, overlap=1)
    judge(queue, lead, make.passing())
    with pytest.raises(Forbidden, match="your own standing"):
        change_standing(actor=lead, queue=queue, rater_id=lead.pk, after="active", why="It is me.")
    place = f"/api/v1/queues/{queue.uid}/standing/{lead.pk}/"
    assert by(lead).post(place, {"state": "active", "why": "It is me."}, format="json").status_code == 403
    assert change_standing(actor=second, queue=queue, rater_id=lead.pk, after="active", why="Well.").after == "active"


def test_who_has_probes_made_does_not_check_them_and_what_they_expect_is_told_to_nobody_before(project, lead, second):
    queue = make.queue(project, items=2, overlap=1)
    ada = make.expert(project, "Ada")
    for _ in range(2):
        submit(queue, ada, make.passing())
    grader = graders.version(project).grader
    make_probes(actor=lead, grader=grader, queue=queue, most=1)
    assert next_to_check(project, lead) is None
    probe = next_to_check(project, second)
    with pytest.raises(Forbidden, match="somebody else checks it"):
        check_probe(actor=lead, probe=probe, passes=probe.passes)
    told = by(second).get(f"/api/v1/graders/{grader.uid}/probes/").json()["results"]
    proposed = [row for row in told if row["state"] == "proposed"]
    assert proposed
    assert {"passes", "kind", "changed", "parent", "steps"} & set().union(*proposed) == set()
    check_probe(actor=second, probe=probe, passes=probe.passes)
    told = by(second).get(f"/api/v1/graders/{grader.uid}/probes/").json()["results"]
    assert [row["passes"] for row in told if row["uid"] == str(probe.uid)] == [probe.passes]


def test_of_decisions_sent_at_once_the_first_stands(project, lead, second):
    """The label that was there when a decision was sent has to be there still."""
    queue = make.queue(project, items=1, overlap=1, settle_rule="lead")
    judge(queue, make.expert(project, "Alice"), make.passing())
    row = queue.queue_items.get()
    seen = QueueItem.objects.select_related("label").get(pk=row.pk)
    adjudicate(actor=second, queue_item=row, payload={"ambiguous": True, "note": "Unclear."})
    with pytest.raises(Conflict, match="Somebody settled this item"):
        adjudicate(actor=lead, queue_item=seen, payload=make.passing(), seen_revision=0)
    draft = f"/api/v1/queue-items/{row.uid}/draft/"
    decision = {"ambiguous": True, "note": "Unclear still."}
    for send, place, body in (
        (by(lead).post, "/api/v1/adjudications/", {"queue_item": row.uid, **decision}),
        (by(lead).put, draft, {"given": decision}),
    ):
        assert send(place, {**body, "seen_revision": 0}, format="json").status_code == 409
        assert send(place, {**body, "seen_revision": "one"}, format="json").json()["errors"].keys() == {"seen_revision"}
        latest = Label.objects.filter(queue=queue).count()
        assert send(place, {**body, "seen_revision": latest}, format="json").status_code in (200, 201)
        assert send(place, body, format="json").status_code in (200, 201)


def test_what_graders_said_is_told_to_leads_of_settled_items_alone_and_to_nobody_who_judges_them(project, lead):
    """Three runs: one is settled and two wait; all were scored."""
    queue = make.queue(project, items=3, overlap=1)
    items = [row.item for row in queue.queue_items.order_by("pk")]
    judge(queue, make.expert(project, "Alice"), make.passing())
    version = graders.version(project)
    graders.scored(version, *((item, 1) for item in items))
    eve = make.person("Eve")
    make.member(project, eve, "engineer")
    place = f"/api/v1/graders/{version.grader.uid}/scores/"
    said = {person: [row["item"] for row in by(person).get(place).json()["results"]] for person in (lead, eve)}
    assert said == {lead: [str(items[0].uid)], eve: [str(item.uid) for item in reversed(items)]}
    assert [score.item for score in scores_of_version(version, reader=lead)] == [items[0]]


@pytest.mark.parametrize("mark", [{"a": 1}, ["a"], 7])
def test_a_mark_that_is_no_text_is_refused_by_its_field(project, mark):
    queue, alice = make.queue(project, items=1), make.expert(project, "Alice")
    mine = claim(actor=alice, queue=queue)
    said = make.passing(evidence=[{"criterion": None, "step": 1, "mark": mark}])
    place = f"/api/v1/assignments/{mine.uid}/judgment/"
    answer = by(alice).post(place, said, format="json", headers={"Idempotency-Key": "k"})
    assert answer.status_code == 422
    assert "evidence.0" in str(answer.json())


@pytest.mark.parametrize("odd", ["x", 5, True, [1]])
@pytest.mark.parametrize("name", ["notes", "reasons"])
def test_a_draft_of_a_decision_of_an_odd_shape_is_refused_by_its_field(project, lead, name, odd):
    """Else the lead's page of this item could not be opened any more."""
    queue = make.queue(project, items=1, overlap=1, settle_rule="lead")
    judge(queue, make.expert(project, "Alice"), make.passing())
    row = queue.queue_items.get()
    place = f"/api/v1/queue-items/{row.uid}/draft/"
    answer = by(lead).put(place, {"given": {name: odd}}, format="json")
    assert answer.status_code == 422
    assert f"given.{name}" in str(answer.json())
    assert by(lead).put(place, {"given": {name: {"consent": "x"}}}, format="json").status_code == 200
