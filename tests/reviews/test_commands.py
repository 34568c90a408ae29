"""Judging from a file and opening a practice set by command: the same rules as on the page, and the same dealing."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews.actions.dealing import claim
from reviews.actions.payloads import subject_of_assignment
from reviews.enums import Purpose
from reviews.models import Assignment, Judgment, Label, Queue, Reference
from reviews.queries.payloads import payload_of
from tests import factories as make
from tests.factories.answering import KINDS, broken, holding
from tests.factories.training import settled_queue
from tests.reviews.api.talking import by

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk():
    return make.project()


@pytest.fixture
def write(tmp_path):
    def lines(*rows):
        path = tmp_path / "rows.jsonl"
        path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
        return str(path)

    return lines


def run(*arguments):
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def refused(*arguments):
    with pytest.raises(CommandError) as caught:
        run(*arguments)
    return str(caught.value)


def answers(item, **changes):
    return {"item": str(item.uid), "answers": make.passing(**changes)}


def items_of(queue):
    return [row.item for row in queue.queue_items.order_by("pk")]


def test_a_file_of_answers_is_judged_in_the_order_in_which_the_queue_deals(desk, write):
    queue, ada = make.queue(desk, items=3, overlap=1), make.expert(desk, "Ada")
    rows = [answers(item, success=level) for level, item in enumerate(items_of(queue), 1)]
    file = write(*reversed(rows))
    receipt = json.loads(run("judge_from_file", queue.slug, file, "--as", ada.email, "--json"))
    dealt = [str(each.item.uid) for each in Assignment.objects.filter(rater=ada).order_by("pk")]
    assert receipt["judged"] == dealt
    assert sorted(dealt) == sorted(row["item"] for row in rows)
    assert receipt["ended"].startswith("Nothing is waiting for you in this queue")
    wanted = {row["item"]: row["answers"]["criteria"]["success"] for row in rows}
    for judgment in Judgment.objects.all():
        assert judgment.ratings.get(criterion__key="success").value == wanted[str(judgment.item.uid)]


def test_the_same_file_twice_judges_nothing_again(desk, write):
    queue, ada = make.queue(desk, items=2, overlap=2), make.expert(desk, "Ada")
    file = write(*[answers(item) for item in items_of(queue)])
    assert run("judge_from_file", queue.slug, file, "--as", ada.email).startswith("2 judged.")
    assert run("judge_from_file", queue.slug, file, "--as", ada.email).startswith("0 judged.")
    assert Judgment.objects.count() == 2


def test_an_item_without_answers_stays_with_its_rater(desk, write):
    queue, ada = make.queue(desk, items=2, overlap=1), make.expert(desk, "Ada")
    first, second = items_of(queue)
    said = run("judge_from_file", queue.slug, write(answers(first)), "--as", ada.email)
    assert said == f"1 judged. The next item, {second.uid}, has no answers in the file; it waits for {ada}.\n"
    assert claim(actor=ada, queue=queue).item == second


def test_quality_beside_a_failed_gate_is_refused_as_on_the_page(desk, write):
    queue, ada = make.queue(desk, items=1, overlap=1), make.expert(desk, "Ada")
    (item,) = items_of(queue)
    row = answers(item)
    row["answers"]["gates"]["consent"] = "fail"
    out = StringIO()
    with pytest.raises(CommandError, match=r"^1 of the file's lines were refused"):
        call_command("judge_from_file", queue.slug, write(row), "--as", ada.email, stdout=out)
    assert "line 1: criteria.success: " in out.getvalue()
    assert not Judgment.objects.exists()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=5)
@given(data=st.data())
@pytest.mark.parametrize("kind", KINDS)
def test_answers_of_every_kind_are_kept_as_they_stand_in_the_file(desk, write, kind, data):
    """A run with labels of steps and corrections, a pair, rankings, a task."""
    mine = Assignment.objects.filter(queue__project=desk).first() or KINDS[kind](desk)
    said = data.draw(holding(subject_of_assignment(mine)))
    with transaction.atomic():
        file = write({"item": str(mine.item.uid), "answers": said})
        receipt = json.loads(run("judge_from_file", mine.queue.slug, file, "--as", mine.rater.email, "--json"))
        assert (receipt["judged"], receipt["refused"]) == ([str(mine.item.uid)], [])
        assert payload_of(Judgment.objects.get()) == said
        transaction.set_rollback(True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=5)
@given(data=st.data())
@pytest.mark.parametrize("kind", KINDS)
def test_what_the_api_refuses_is_refused_in_the_same_words(desk, write, kind, data):
    mine = Assignment.objects.filter(queue__project=desk).first() or KINDS[kind](desk)
    said = data.draw(broken(subject_of_assignment(mine)))
    address = f"/api/v1/assignments/{mine.uid}/judgment/"
    by_api = by(mine.rater).post(address, said, format="json", headers={"Idempotency-Key": "one"})
    assert by_api.status_code == 422
    out, file = StringIO(), write({"item": str(mine.item.uid), "answers": said})
    with pytest.raises(CommandError, match=r"^1 of the file's lines were refused"):
        call_command("judge_from_file", mine.queue.slug, file, "--as", mine.rater.email, "--json", stdout=out)
    (refusal,) = json.loads(out.getvalue())["refused"]
    assert refusal["reason"] == " ".join(f"{field}: {words}" for field, words in by_api.json()["errors"].items())
    assert not Judgment.objects.exists()


def test_wrong_lines_are_named_and_the_others_judged(desk, write):
    queue, ada = make.queue(desk, items=1, overlap=1), make.expert(desk, "Ada")
    (item,) = items_of(queue)
    out = StringIO()
    file = write("no JSON", answers(item), answers(item), {"item": 3})
    with pytest.raises(CommandError, match=r"^3 of the file's lines"):
        call_command("judge_from_file", queue.slug, file, "--as", ada.email, "--json", stdout=out)
    receipt = json.loads(out.getvalue())
    assert [row["line"] for row in receipt["refused"]] == [1, 3, 4]
    assert receipt["refused"][1]["reason"] == "Line 2 has answers for this item already."
    assert receipt["judged"] == [str(item.uid)]


def test_nobody_judges_who_may_not(desk, write):
    queue = make.queue(desk, items=1)
    stranger = make.person("Sam")
    assert refused("judge_from_file", queue.slug, write(), "--as", stranger.email) == (
        "There is no such project, or you are not a member of it."
    )
    assert refused("judge_from_file", queue.slug, write(), "--as", "no@one.example") == (
        "There is nobody with the e-mail no@one.example."
    )
    assert refused("judge_from_file", "nowhere", write(), "--as", stranger.email) == (
        "There is no queue with the address “nowhere”."
    )
    assert "cannot be read" in refused("judge_from_file", queue.slug, "/no/such/file", "--as", stranger.email)


def test_a_practice_set_is_opened_from_labels(desk, write):
    queue = settled_queue(desk)
    lead = make.lead_of(desk)
    rows = [
        {"label": str(label.uid), "guideline_line": 1, "why": "As the first line says."}
        for label in Label.objects.all()
    ]
    said = run("open_training", queue.slug, write(*rows), "--name", "First steps", "--as", lead.email)
    made = Queue.every.get(name="First steps")
    assert said == f"First steps is open: practice for {queue.name}.\n"
    assert made.purpose == Purpose.PRACTICE
    assert [str(each.label.uid) for each in Reference.objects.filter(queue_item__queue=made).order_by("pk")] == [
        row["label"] for row in rows
    ]


def test_each_wrong_line_of_a_practice_set_is_named_and_nothing_opened(desk, write):
    queue = settled_queue(desk)
    label = str(Label.objects.first().uid)
    file = write("{", {"label": "x"}, {"label": label, "colour": "red"}, {"label": label, "policy_line": "one"})
    said = refused("open_training", queue.slug, file, "--name", "P", "--as", make.lead_of(desk).email)
    assert [line.split(":")[0] for line in said.split("\n")] == ["line 1", "line 2", "line 3", "line 4"]
    assert "There is no such label" in said
    assert "“colour” is not known here." in said
    assert not Queue.every.filter(purpose=Purpose.PRACTICE).exists()


def test_a_qualification_nobody_can_pass_is_refused_by_its_field(desk, write):
    queue = settled_queue(desk)
    rows = [{"label": str(label.uid)} for label in Label.objects.all()]
    said = refused(
        "open_training", queue.slug, write(*rows), "--name", "Q", "--mark", "0.9", "--as", make.lead_of(desk).email
    )
    assert said.startswith("picks: With 3 items nobody can pass a mark of 90%")


def test_an_expert_opens_no_practice_set(desk, write):
    queue, ada = settled_queue(desk), make.expert(desk, "Ada")
    rows = [{"label": str(label.uid)} for label in Label.objects.all()]
    assert refused("open_training", queue.slug, write(*rows), "--name", "P", "--as", ada.email) == (
        "Only leads create and change queues."
    )
