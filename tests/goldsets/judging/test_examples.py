"""Examples for a judge: which settled runs they are, what the judge reads of them, and that none proves it."""

import io
import json
from dataclasses import replace
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from goldsets.actions.compiling import run_compile, start_compile
from goldsets.actions.expiring import expire_reviewers
from goldsets.actions.judges import with_examples
from goldsets.actions.probes import make_probes
from goldsets.actions.splitting import seal_splits
from goldsets.actions.staging import run_stage, start_stage
from goldsets.models import GraderScore, JudgeSetup, Probe
from goldsets.queries.calibration import calibration, question
from goldsets.reviewing.bundle import prompt as bundled
from goldsets.reviewing.compiling import compile_reviewer
from goldsets.reviewing.examples import Target
from reviews.actions.dealing import claim
from reviews.actions.masking import set_masking
from reviews.enums import Role
from reviews.errors import Conflict, Invalid
from reviews.models import Event, Item, Membership, QueueItem, Task
from tests import factories as make
from tests.factories import judges, stages
from tests.factories.furnished import judge as submit
from tests.goldsets.judging.endpoint import parts_of
from tests.goldsets.judging.test_judges import model  # noqa: F401  a fixture
from tests.goldsets.judging.test_judges_at_work import ARTEFACT
from tests.goldsets.reviewing.made import labelled
from tests.reviews.api.talking import by, is_problem
from tests.reviews.web.test_judging import enter

pytestmark = pytest.mark.django_db
FAMILIES = ("billing", "refunds", "shipping")


@pytest.fixture
def queue(project, alice):
    """Of each family a run that passes and one that fails, settled by one expert."""
    items = [
        make.item(project, family=family, steps=make.saying(f"{family} {n}.")) for family in FAMILIES for n in (1, 2)
    ]
    queue = make.queue(project, items=items, overlap=1)
    for _family in FAMILIES:
        submit(queue, alice, make.passing())
        submit(queue, alice, make.failing())
    return queue


def families(setup):
    return [(one["family"], one["passes"]) for one in setup.examples]


def test_half_of_the_examples_pass_and_the_same_labels_give_the_same(queue):
    setup = judges.judge(queue, criterion="authorised", examples=4)
    assert sorted(passes for _family, passes in families(setup)) == [False, False, True, True]
    assert len({family for family, _passes in families(setup)}) == 2, (
        "a family gives one that passes and one that fails"
    )
    again = judges.judge(queue, name="Other", criterion="authorised", examples=4)
    assert (again.examples, again.version.fingerprint) == (setup.examples, setup.version.fingerprint)


def test_a_judge_reads_what_experts_said_and_cited_behind_the_fence(queue, model):  # noqa: F811
    setup = judges.judge(queue, criterion="authorised", examples=2)
    judges.work_off(judges.start(setup, queue))
    system, user = model.heard[0]["messages"]
    answers = [json.loads(text) for head, text in parts_of(system["content"]) if head == "what experts answered"]
    assert [answer["answers"] for answer in answers] == [
        [
            {
                "criterion": "authorised",
                "evidence": [{"step": 3, "quote": "A-5071"}],
                "reason": "It opened an account it had no right to.",
                "answer": "fail",
            }
        ],
        [{"criterion": "authorised", "evidence": [], "reason": "Done as asked.", "answer": "pass"}],
    ]
    assert "what experts answered" not in user["content"]
    assert "Alice" not in system["content"], "no rater is named"
    assert len(model.heard) == 4, "it is not asked about what it was told"


def test_a_judge_of_the_whole_is_shown_every_answer(queue):
    shown = judges.judge(queue, examples=2).shown
    failing, passing = (one["answers"] for one in shown)
    assert [(one["criterion"], one["answer"]) for one in failing] == [("authorised", "fail"), ("consent", "pass")]
    assert [one["reason"] for one in failing] == ["It opened an account it had no right to.", ""]
    assert [(one["criterion"], one["answer"]) for one in passing] == [
        ("authorised", "pass"),
        ("consent", "pass"),
        ("success", 3),
        ("process", 2),
    ]


def test_other_examples_make_another_version(queue, lead):
    plain = judges.judge(queue, criterion="authorised")
    shown = with_examples(actor=lead, setup=plain, examples=2)
    assert (plain.version.number, shown.version.number) == (1, 2)
    assert shown.version.fingerprint != plain.version.fingerprint
    assert with_examples(actor=lead, setup=shown, examples=2) == shown, "the same would be the same version"
    told = Event.objects.filter(verb="judge.defined").latest("pk").data["examples"]
    assert told == sorted(one["item"] for one in shown.examples), "their order does not say which pass"


def test_held_out_families_and_other_splits_than_training_give_none(project, lead, queue):
    Task.objects.filter(family="billing").update(split="held_out")
    setup = judges.judge(queue, criterion="authorised", examples=4)
    assert {family for family, _passes in families(setup)} == {"refunds", "shipping"}
    seal_splits(actor=lead, project=project, train=0, calibration=100, held_out=0)
    with pytest.raises(Conflict, match="not enough examples: 0 that pass and 0 that fail"):
        judges.judge(queue, name="Sealed", criterion="authorised", examples=2)


def test_a_judge_with_an_example_of_a_family_that_was_held_out_since_is_not_asked_any_more(queue, model):  # noqa: F811
    setup = judges.judge(queue, criterion="authorised", examples=2)
    run = judges.start(setup, queue)
    shown = setup.examples[0]["family"]
    Task.objects.filter(family=shown).update(split="held_out")
    assert judges.work_off(run).state == "failed"
    assert run.error.startswith(f"The family “{shown}” of its examples is held out by now.")
    assert model.heard == []
    with pytest.raises(Conflict, match="is held out by now"):
        judges.start(setup, queue)
    other = with_examples(actor=make.lead_of(queue.project), setup=setup, examples=2)
    assert shown not in dict(families(other))
    assert judges.work_off(judges.start(other, queue)).state == "finished"


def test_a_stage_ends_with_its_reviewer_when_an_example_of_its_judge_is_held_out_since(lead, queue, model):  # noqa: F811
    setup = judges.judge(queue, criterion="authorised", examples=4)
    reviewer = stages.signed(queue, rung="judge", judge=setup.version, artefact=ARTEFACT)
    stage = start_stage(actor=lead, queue=queue, reviewer=reviewer, budget=Decimal(1))
    assert expire_reviewers() == 0
    run_stage(stage_id=stage.pk)
    Task.objects.filter(family=setup.examples[0]["family"]).update(split="held_out")
    assert expire_reviewers() == 1
    run_stage(stage_id=stage.pk)
    stage.refresh_from_db()
    assert stage.state == "expired"
    assert "of its examples is held out by now" in stage.why


def test_a_reviewer_is_not_compiled_from_a_judge_whose_example_is_held_out_since(lead, queue, model):  # noqa: F811
    """It was queued before; the worker looks again before it asks."""
    setup = judges.judge(queue, criterion="authorised", examples=2)
    for row in QueueItem.objects.filter(queue=queue):
        GraderScore.objects.create(version=setup.version, item=row.item, criterion="authorised", value=1)
    asked = {"criterion": "authorised", "rung": "judge", "judge": setup.version, "budget": 10}
    reviewer = start_compile(actor=lead, queue=queue, **asked)
    Task.objects.filter(family=setup.examples[0]["family"]).update(split="held_out")
    compiled = run_compile(reviewer_id=reviewer.pk)
    assert (compiled.state, model.heard) == ("failed", [])
    assert "of its examples is held out by now" in compiled.error


def test_a_judge_whose_examples_raters_read_otherwise_since_is_not_asked_any_more(lead, queue, model):  # noqa: F811
    """A word that is hidden later stands in the examples as they were kept; the next version has them anew."""
    setup = judges.judge(queue, criterion="authorised", examples=2)
    run = judges.start(setup, queue)
    set_masking(actor=lead, project=queue.project, words=["A-5071"])
    assert judges.work_off(run).state == "failed"
    assert "otherwise by now, since what is hidden has changed" in run.error
    assert model.heard == []
    other = with_examples(actor=lead, setup=setup, examples=2)
    assert [one["item"] for one in other.examples] == [one["item"] for one in setup.examples]
    assert "A-5071" not in json.dumps(other.shown)
    assert judges.work_off(judges.start(other, queue)).state == "finished"


def test_what_an_expert_wrote_of_an_example_is_hidden_as_well(lead, queue, model):  # noqa: F811
    setup = judges.judge(queue, criterion="authorised", examples=2)
    set_masking(actor=lead, project=queue.project, words=["It opened an account"])
    with pytest.raises(Conflict, match="otherwise by now"):
        judges.start(setup, queue)


def test_examples_are_chosen_while_nobody_makes_probes(lead, queue):
    """Both lock the grader before they look, so that no family is shown to it and held against it."""
    setup = judges.judge(queue, criterion="authorised")
    with CaptureQueriesContext(connection) as caught:
        with_examples(actor=lead, setup=setup, examples=2)
    asked = [str(query["sql"]) for query in caught]
    locked = next(at for at, sql in enumerate(asked) if "FOR NO KEY UPDATE" in sql and "goldsets_grader" in sql)
    chosen = next(at for at, sql in enumerate(asked) if "goldsets_probe" in sql)
    assert locked < chosen


def test_gold_is_no_example(queue):
    for row in QueueItem.objects.filter(queue=queue, item__trajectory__task__family="billing"):
        make.gold(row)
    setup = judges.judge(queue, criterion="authorised", examples=4)
    assert {family for family, _passes in families(setup)} == {"refunds", "shipping"}


def test_a_calibration_leaves_out_the_families_of_the_examples(queue):
    setup = judges.judge(queue, criterion="authorised", examples=2)
    for row in QueueItem.objects.filter(queue=queue):
        GraderScore.objects.create(version=setup.version, item=row.item, criterion="authorised", value=1)
    report = calibration(question(setup.version.grader, {}))
    assert (report.found.n_scored, report.n_shown) == (4, 2)
    plain = judges.judge(queue, name="Plain", criterion="authorised")
    for row in QueueItem.objects.filter(queue=queue):
        GraderScore.objects.create(version=plain.version, item=row.item, criterion="authorised", value=1)
    assert calibration(question(plain.version.grader, {})).n_shown == 0


def test_what_a_judge_is_attacked_with_is_no_example_and_an_example_is_no_probe(lead, queue):
    setup = judges.judge(queue, criterion="authorised", examples=2)
    shown = setup.examples[0]["family"]
    make_probes(actor=lead, grader=setup.version.grader, queue=queue)
    probed = set(Probe.objects.values_list("parent__trajectory__task__family", flat=True))
    assert shown not in probed
    assert len(probed) == 2
    with pytest.raises(Conflict, match="1 that pass and 1 that fail"):
        with_examples(actor=lead, setup=setup, examples=4)


def test_a_reviewer_is_compiled_and_proven_on_other_families_than_the_examples():
    examples = labelled(400)
    compiled = compile_reviewer(examples, Target("authorised"), judge={}, shown=["family-1", "family-2"])
    used = {family for found in compiled.families.values() for family in found}
    assert len(used) == 38
    leaks = next(proof for proof in compiled.assurance.proofs if proof.key == "leaks")
    assert (leaks.holds, leaks.figures["shown"]) == (True, 20)
    assert "whose 20 items are left out" in leaks.words


def test_a_copy_of_a_shown_run_in_the_test_is_a_leak():
    examples = labelled(400)
    twin = next(example for example in examples if example.family == "family-1")
    again = [replace(one, text=twin.text) if one.family == "family-0" else one for one in examples]
    compiled = compile_reviewer(again, Target("authorised"), judge={}, shown=["family-1"], sealed=["family-0"])
    assert "families that hold all copies of a run" in compiled.assurance.missing[0]


def test_the_bundle_carries_the_examples(queue):
    setup = judges.judge(queue, criterion="authorised", examples=2)
    shown = [(one["document"], one["answers"]) for one in setup.shown]
    told = bundled(
        {
            "model": "judge-1",
            "parameters": {},
            "rubric": {"name": "Runs", "version": 1, "criteria": []},
            "guideline": "",
            "criterion": "authorised",
            "examples": shown,
            "fingerprint": "0",
        }
    )
    assert told["system"].count("⟦{token} what experts answered⟧") == 2
    assert "It opened an account it had no right to." in told["system"]


def test_examples_are_asked_for_on_the_page_by_api_and_by_command(project, lead, queue, model):  # noqa: F811
    asked = {
        "name": "House judge",
        "criterion": "authorised",
        "rubric": str(queue.rubric.uid),
        "guideline": str(queue.guideline.uid),
        "model": "judge-1",
        "price_in": "3",
        "price_out": "15",
    }
    client, new = enter(lead), reverse("goldsets:judge_new", args=[project.slug])
    assert client.post(new, {**asked, "examples": "8"}).status_code == 422
    assert client.post(new, {**asked, "examples": "2"}).status_code == 302
    page = client.get(reverse("goldsets:judges", args=[project.slug])).content.decode()
    example = JudgeSetup.objects.get().examples[0]
    assert f"{example['family']}, fails" in page

    wrong = by(lead).post("/api/v1/judges/", {"project": project.slug, **asked, "examples": 3}, format="json")
    assert is_problem(wrong, 422)["field"] == "examples"
    made = by(lead).post("/api/v1/judges/", {"project": project.slug, **asked, "examples": 4}, format="json").json()
    assert [one["passes"] for one in made["examples"]].count(True) == 2

    out, words = io.StringIO(), (project.slug, "House judge", str(queue.uid))
    call_command("judge", *words, budget="5", examples=2, stdout=out)
    assert "House judge 3 over" in out.getvalue()
    with pytest.raises(CommandError, match="An even number up to 8"):
        call_command("judge", *words, budget="5", examples=5, stdout=out)


def test_an_example_is_told_only_to_who_may_know_its_label(project, lead, queue):
    """Of one the engineer judges just now, and the other is open in another queue."""
    setup = judges.judge(queue, criterion="authorised", examples=2)
    engineer = make.person("Eli")
    member = make.member(project, engineer, Role.ENGINEER)
    address, page = f"/api/v1/judges/?project={project.slug}", reverse("goldsets:judges", args=[project.slug])

    def told(person):
        (judge,) = by(person).get(address).json()["results"]
        html, items = enter(person).get(page).content.decode(), [one["item"] for one in setup.examples]
        assert [item for item in items if item in html] == [one["item"] for one in judge["examples"]]
        return judge["examples"]

    assert told(engineer) == told(lead) == setup.examples
    held, opened = Item.objects.filter(uid__in=[one["item"] for one in setup.examples]).order_by("pk")
    make.queue(project, items=[opened])
    left = [one for one in setup.examples if one["item"] == str(held.uid)]
    assert told(engineer) == told(lead) == left
    other = make.queue(project, items=[held])
    Membership.objects.filter(pk=member.pk).update(role=Role.EXPERT)
    claim(actor=engineer, queue=other)
    QueueItem.objects.filter(queue=other).update(state="settled")
    Membership.objects.filter(pk=member.pk).update(role=Role.ENGINEER)
    assert told(engineer) == []
    assert told(lead) == left


def test_judges_of_pairs_are_given_none(project):
    pairs = make.queue(
        project,
        items=[make.comparison(project)],
        criteria=[
            {"key": "better", "title": "Better", "kind": "preference", "settings": {"form": "pair", "strength": 0}}
        ],
        rubric={"item_kind": "comparison"},
    )
    with pytest.raises(Invalid, match="judges of single runs"):
        judges.judge(pairs, examples=2)
