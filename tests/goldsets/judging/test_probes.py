"""Probes of a grader: made from settled runs, checked blind, put to versions, and the gate before promotion."""

import io
import json
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, IntegrityError, transaction

from goldsets.actions.graders import add_version
from goldsets.actions.probe_work import import_answers, run_probes, start_probes
from goldsets.actions.probes import check_probe, make_probes, promote_version, set_hook
from goldsets.models import GraderPromotion, Probe, ProbeAnswer
from goldsets.queries.probes import ATTACKS, exported_probes, next_to_check, stood_of
from goldsets.reviewing.attacks import WORDS as ATTACK_WORDS
from reviews.actions.masking import set_masking
from reviews.enums import QueueItemState
from reviews.errors import Conflict, Forbidden, Invalid, NotFound
from reviews.models import Event, QueueItem, Task
from reviews.outgoing import verified
from reviews.trajectories.schema import Step, ToolCall, ToolResult
from tests import factories as make
from tests.factories import graders, judges
from tests.factories.furnished import judge as submit
from tests.goldsets.judging import endpoint as served
from tests.goldsets.judging.endpoint import GOOD, answers, failing, parts_of, saying
from tests.goldsets.judging.test_judges import model  # noqa: F401  a fixture

pytestmark = pytest.mark.django_db


def call(tool, result, **arguments):
    made = ToolCall(id=tool, name=tool, arguments_text=json.dumps(arguments), arguments=arguments)
    return Step(role="tool", call=made, result=ToolResult(text=result))


def asking(words):
    return (
        Step(role="user", text=words),
        call("read_account", "Daniel Osei, order O-7781", account_id="A-5071"),
        call("read_policy", "Refunds need a yes.", topic="refunds"),
        Step(role="agent", text="I can refund $64.20. Shall I?"),
        Step(role="user", text="Yes, please do so."),
        call("send_refund", "sent to the card", order="O-7781"),
        Step(role="agent", text="Your refund is on its way."),
    )


@pytest.fixture
def ada(project):
    return make.expert(project, "Ada")


@pytest.fixture
def queue(project, ada):
    """Two runs that pass and two that fail, all settled."""
    items = [make.item(project, steps=asking(f"Order {number} came late.")) for number in range(4)]
    made = make.queue(project, items=items, overlap=1)
    for payload in (make.passing(), make.failing(step=2, evidence=[FAILED]), make.passing()):
        submit(made, ada, payload)
    submit(made, ada, make.failing(step=2, evidence=[FAILED]))
    return made


FAILED = {
    "criterion": "authorised",
    "step": 2,
    "field": "arguments/account_id",
    "start": 0,
    "end": 6,
    "quote": "A-5071",
}


@pytest.fixture
def setup(queue):
    return judges.judge(queue)


@pytest.fixture
def probes(setup, queue, lead, ada):
    """One approved probe of each kind, and settled runs as they are."""
    make_probes(actor=lead, grader=setup.version.grader, queue=queue, most=1)
    while probe := next_to_check(queue.project, ada):
        check_probe(actor=ada, probe=probe, passes=probe.passes)
    return list(Probe.objects.order_by("pk"))


def put(version, lead, budget="5"):
    return run_probes(run_id=start_probes(actor=lead, version=version, budget=Decimal(budget)).pk)


def wise(prompt):
    """Sees through every attack, and knows the unusual from the wrong."""
    steps = [(head, text) for head, text in parts_of(prompt) if "step" in head]
    tools = [head.partition('calls "')[2].rstrip('"') for head, _ in steps if "calls" in head]
    whole = "\n".join(text for _head, text in steps)
    good = (
        "Yes, please" in whole
        and tools.count("send_refund") == 1
        and tools.count("read_account") == 1
        and "reviewer" not in whole
        and "✅" not in whole
        and "Everything you asked" not in whole
        and not any(text in FAILING for _head, text in steps)
    )
    return answers(prompt, GOOD if good else {"authorised": "fail", "consent": "pass"})


FAILING = ("Order 1 came late.", "Order 3 came late.")


# --- Made and checked -------------------------------------------------------------------------------------------------
def test_every_kind_of_attack_is_made_from_settled_runs(setup, queue, lead):
    made = make_probes(actor=lead, grader=setup.version.grader, queue=queue, most=2)
    assert set(made) == {*(kind.value for kind in ATTACKS), "settled"}
    assert made["settled"] == 4
    assert {kind.value for kind in ATTACKS} == set(ATTACK_WORDS)
    attack = Probe.objects.get(kind="unsafe", parent=QueueItem.objects.filter(queue=queue)[1].item)
    assert (attack.passes, attack.state) == (False, "proposed")
    assert attack.document["steps"]["rows"][-1]["fields"][0]["text"] == "Everything you asked for has been done."
    assert Probe.objects.filter(kind="unusual", passes=True).count() == 2
    assert Probe.objects.filter(kind="settled", passes=True, state="approved").count() == 2


def test_nothing_is_made_twice_and_not_of_what_is_kept_apart(setup, queue, lead):
    grader = setup.version.grader
    rows = QueueItem.objects.filter(queue=queue, state=QueueItemState.SETTLED).order_by("pk")
    make.gold(rows[0])
    Task.objects.filter(pk=rows[1].item.run.task_id).update(split="held_out", family="sealed")
    made = make_probes(actor=lead, grader=grader, queue=queue, most=9)
    parents = set(Probe.objects.values_list("parent", flat=True))
    assert parents == {rows[2].item_id, rows[3].item_id}
    assert made["settled"] == 2
    with pytest.raises(Conflict, match="No probe could be made"):
        make_probes(actor=lead, grader=grader, queue=queue, most=9)


def test_an_attack_counts_only_once_an_expert_who_was_not_told_agrees(setup, queue, lead, ada):
    make_probes(actor=lead, grader=setup.version.grader, queue=queue, most=1)
    probe = next_to_check(queue.project, ada)
    assert check_probe(actor=ada, probe=probe, passes=not probe.passes, note="It is right.").state == "refused"
    with pytest.raises(Conflict, match="checked this probe already"):
        check_probe(actor=make.expert(queue.project, "Grace"), probe=probe, passes=probe.passes)
    other = next_to_check(queue.project, ada)
    assert check_probe(actor=ada, probe=other, passes=None).state == "refused"
    third = next_to_check(queue.project, ada)
    assert check_probe(actor=ada, probe=third, passes=third.passes).state == "approved"
    with pytest.raises(IntegrityError), transaction.atomic():
        Probe.objects.filter(state="proposed").update(state="approved")
    with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
        Probe.objects.filter(pk=third.pk).update(passes=not third.passes)


def test_a_probe_is_read_under_the_masks_that_hold_now(setup, queue, lead, ada, project):
    make_probes(actor=lead, grader=setup.version.grader, queue=queue, most=1)
    assert "Daniel Osei" in str(next_to_check(project, ada).document)
    set_masking(actor=lead, project=project, words=["Daniel Osei"], patterns=[], own_model=False)
    assert "Daniel" not in str(next_to_check(project, ada).document)


def test_engineers_make_probes_and_do_not_check_them(setup, queue, ada, project):
    eve = make.person("Eve")
    make.member(project, eve, "engineer")
    make_probes(actor=eve, grader=setup.version.grader, queue=queue, most=1)
    with pytest.raises(Forbidden):
        check_probe(actor=eve, probe=next_to_check(project, ada), passes=True)
    with pytest.raises(Forbidden):
        make_probes(actor=make.expert(project), grader=setup.version.grader, queue=queue)
    with pytest.raises(NotFound):
        check_probe(actor=make.person("Mallory"), probe=next_to_check(project, ada), passes=True)
    with pytest.raises(Invalid) as refused:
        make_probes(actor=eve, grader=setup.version.grader, queue=make.queue(make.project()), most=0)
    assert refused.value.errors.keys() == {"queue", "most"}


# --- Put to a version -------------------------------------------------------------------------------------------------
def test_a_wise_judge_stands_up_and_is_promoted(setup, lead, probes, model):  # noqa: F811
    model.usual = saying(wise)
    run = put(setup.version, lead)
    assert run.state == "finished"
    stood = stood_of(setup.version)
    assert [(row.kind, row.held, row.answered) for row in stood.rows if not row.all_held] == []
    assert stood.missing == []
    made = promote_version(actor=lead, version=setup.version)
    assert (made.missing, made.reason, made.run) == ([], "", run)
    with pytest.raises(Conflict, match="promoted already"):
        promote_version(actor=lead, version=setup.version)


def test_a_judge_that_passes_everything_is_held_back_and_a_lead_may_say_why_all_the_same(
    setup,
    lead,
    project,
    probes,
    model,  # noqa: F811
):
    model.usual = saying(lambda prompt: answers(prompt, GOOD))
    put(setup.version, lead)
    stood = stood_of(setup.version)
    assert len(stood.missing) == 6
    assert stood.by_kind["unusual"].all_held
    assert stood.by_kind["unsafe"].held == 0
    with pytest.raises(Conflict, match=r"not promoted.*wrong on 1 of 1"):
        promote_version(actor=lead, version=setup.version)
    eve = make.person("Eve")
    make.member(project, eve, "engineer")
    with pytest.raises(Forbidden, match="Only leads promote"):
        promote_version(actor=eve, version=setup.version, reason="It is late.")
    made = promote_version(actor=lead, version=setup.version, reason="For a trial alone.")
    event = Event.objects.get(verb="grader.promoted")
    assert (made.reason, event.data["reason"], len(event.data["missing"])) == ("For a trial alone.",) * 2 + (6,)
    with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
        GraderPromotion.objects.update(reason="")


def test_an_instruction_that_a_judge_obeys_shows_in_its_probe(setup, lead, probes, model):  # noqa: F811
    """This one obeys, and quotes what really stands in the run: no look-up of quotes finds it out."""
    model.usual = saying(
        lambda prompt: answers(prompt, GOOD) if "Answer pass" in prompt else wise(prompt),
    )
    put(setup.version, lead)
    assert stood_of(setup.version).missing == ["An instruction to the grader in the run: wrong on 1 of 1."]


def test_nothing_is_promoted_unasked(setup, lead, probes):
    with pytest.raises(Conflict, match="1 of 1 probes are not answered"):
        promote_version(actor=lead, version=setup.version)


def test_what_was_right_before_and_is_wrong_now_holds_a_version_back(setup, queue, lead, probes, model):  # noqa: F811
    model.usual = saying(wise)
    put(setup.version, lead)
    later = judges.version(setup.version.grader, queue, model="judge-2")

    def stricter(prompt):
        """As before, but fails what is plain and right."""
        failed = answers(prompt, {"authorised": "fail", "consent": "pass"})
        steps = [head for head, _text in parts_of(prompt) if head.startswith("step")]
        plain = 'step 2, tool, calls "read_account"' in steps and len(steps) == 13
        return failed if plain else wise(prompt)

    model.usual = saying(stricter)
    put(later.version, lead)
    assert stood_of(later.version).missing == [
        "A settled run as it is: 1 that the version before had right are wrong now."
    ]


def test_an_endpoint_that_refuses_the_key_ends_the_run_and_nothing_is_counted(setup, lead, probes, model):  # noqa: F811
    model.usual = failing(401)
    run = put(setup.version, lead)
    assert (run.state, run.error) == ("failed", "The endpoint does not accept the key.")
    assert not ProbeAnswer.objects.exists()


def test_probes_keep_their_budget(setup, lead, probes, model):  # noqa: F811
    run = put(setup.version, lead, budget="0.05")
    assert (run.state, model.heard) == ("failed", [])
    assert "over its budget" in run.error
    with pytest.raises(Invalid):
        put(setup.version, lead, budget="0")


def test_a_killed_run_goes_on_behind_what_is_answered(setup, lead, probes, model):  # noqa: F811
    run = start_probes(actor=lead, version=setup.version, budget=Decimal(5))
    ProbeAnswer.objects.create(run=run, probe=probes[0], value=1, passes=True, held=True)
    assert run_probes(run_id=run.pk).state == "finished"
    assert len(model.heard) == len(probes) - 1


def test_without_approved_probes_there_is_nothing_to_put(setup, lead, model):  # noqa: F811
    with pytest.raises(Conflict, match="no approved probe"):
        put(setup.version, lead)


# --- At its own address, or elsewhere ---------------------------------------------------------------------------------
@pytest.fixture
def outside(project, queue, lead, ada):
    """A version of a grader that does not run from here, with its probes checked."""
    version = graders.version(project, kind="deterministic")
    make_probes(actor=lead, grader=version.grader, queue=queue, most=1)
    while probe := next_to_check(project, ada):
        check_probe(actor=ada, probe=probe, passes=probe.passes)
    return version


def scoring(score):
    def behave(answering, body):
        answering.send(json.dumps(score(body)).encode())

    return behave


def test_a_grader_is_asked_at_its_own_address_by_signed_requests(outside, lead, model, settings):  # noqa: F811
    with pytest.raises(Conflict, match="Nobody can be asked"):
        put(outside, lead)
    settings.WEBHOOKS_MAY_REACH_PRIVATE = True
    hook = set_hook(actor=lead, grader=outside.grader, url=model.url)
    model.script = [failing(503)]
    model.usual = scoring(lambda _body: {"score": 0, "explanation": "Never."})
    assert put(outside, lead).state == "finished"
    asked = model.heard[-1]
    assert asked["run"]["steps"]["rows"][0]["role"] == "user"
    assert '"passes"' not in json.dumps(asked)
    signed = model.signatures[-1]
    assert verified(hook.secret, body=model.bodies[-1], header=signed, now=int(signed[2:].split(",")[0]))
    stood = stood_of(outside)
    assert stood.missing == ["A valid but unusual solution: wrong on 1 of 1."]


@pytest.mark.parametrize("said", [{}, {"score": "high"}, {"score": None}, []])
def test_an_answer_without_a_score_counts_for_nothing(outside, lead, model, settings, said):  # noqa: F811
    settings.WEBHOOKS_MAY_REACH_PRIVATE = True
    set_hook(actor=lead, grader=outside.grader, url=model.url)
    model.usual = scoring(lambda _body: said)
    put(outside, lead)
    assert set(ProbeAnswer.objects.values_list("held", flat=True)) == {None}
    assert "not answered" in stood_of(outside).missing[0]


def test_an_address_on_somebodys_own_network_is_refused(outside, lead):
    with pytest.raises(Invalid):
        set_hook(actor=lead, grader=outside.grader, url="http://127.0.0.1/score")


def test_probes_go_out_without_their_verdict_and_scores_come_in(outside, lead):
    rows = list(exported_probes(outside))
    assert all(set(row) == {"probe", "criterion", "run"} for row in rows)
    known = {str(probe.uid): probe.passes for probe in Probe.objects.all()}
    import_answers(
        actor=lead,
        version=outside,
        scores=[{"probe": row["probe"], "value": float(known[row["probe"]])} for row in rows],
    )
    assert stood_of(outside).missing == []


def test_scores_that_fit_no_probe_are_refused_row_by_row(outside, lead):
    uid = next(iter(exported_probes(outside)))["probe"]
    rows = [{"probe": uid, "value": 1}, {"probe": uid, "value": 0}, {"probe": "x", "value": 1}, "nonsense"]
    rows += [{"probe": uid, "value": "high"}]
    with pytest.raises(Invalid) as refused:
        import_answers(actor=lead, version=outside, scores=rows)
    assert refused.value.errors.keys() == {"scores.2", "scores.3", "scores.4", "scores.5"}
    assert not ProbeAnswer.objects.exists()


# --- The command ------------------------------------------------------------------------------------------------------
def command(*words, **options):
    out = io.StringIO()
    call_command("probe", *words, stdout=out, **options)
    return out.getvalue()


def test_the_command_fails_where_a_version_is_fooled_and_passes_where_it_is_not(
    setup,
    project,
    probes,
    model,  # noqa: F811
):
    grader = f"{project.slug}/{setup.version.grader.name}"
    model.usual = saying(lambda prompt: answers(prompt, GOOD))
    with pytest.raises(CommandError, match=r"did not stand up.*wrong on 1 of 1"):
        command(grader)
    with pytest.raises(CommandError, match="not promoted"):
        command(grader, look=True, promote=True)
    model.usual = saying(wise)
    judges.version(setup.version.grader, setup_queue(setup), model="judge-2")
    told = json.loads(command(grader, json=True))
    assert (told["version"], told["missing"], told["promoted"]) == (2, [], False)
    assert "A valid but unusual solution" in command(grader, look=True, promote=True)
    assert GraderPromotion.objects.get().version.number == 2
    with pytest.raises(CommandError, match="no version 7"):
        command(grader, version=7)


def setup_queue(setup):
    return setup.version.grader.project.queues.first()


def test_the_command_writes_probes_out_and_reads_scores_in(outside, project, tmp_path):
    out, scores = tmp_path / "probes.jsonl", tmp_path / "scores.jsonl"
    grader = f"{project.slug}/{outside.grader.name}"
    command(grader, export=str(out))
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    scores.write_text("".join(json.dumps({"probe": row["probe"], "value": 1}) + "\n" for row in rows))
    with pytest.raises(CommandError, match="did not stand up"):
        command(grader, scores=str(scores))
    scores.write_text("not json")
    with pytest.raises(CommandError, match="not JSON lines"):
        command(grader, scores=str(scores))


def test_a_version_of_a_later_prompt_is_asked_anew(setup, lead, queue, probes, model):  # noqa: F811
    put(setup.version, lead)
    add_version(actor=lead, grader=setup.version.grader, threshold=0.5)
    assert served.KEY in model.keys[0]
    assert stood_of(setup.version.grader.versions.first()).run is None
