"""A judging model as a reviewer: proven on what it said, asked anew about failed runs that are dressed up."""

import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from decimal import Decimal

import pytest

from goldsets.actions.bundling import read_bundle
from goldsets.actions.compiling import run_compile, sign_reviewer, start_compile
from goldsets.models import GraderScore, JudgeAnswer
from goldsets.queries.reviewers import ladders_of
from goldsets.reviewing.compiling import compile_reviewer
from goldsets.reviewing.examples import Target
from goldsets.reviewing.judge_rung import MOST_PROBED, calibrate
from goldsets.reviewing.probes import PROBES
from reviews.errors import Conflict, Invalid
from reviews.models import LabelValue
from tests import factories as make
from tests.factories import judges
from tests.factories.settled import labelled_queue
from tests.goldsets.judging import endpoint as served
from tests.goldsets.judging.endpoint import KEY, answers, gullible, saying
from tests.goldsets.reviewing.made import labelled

pytestmark = pytest.mark.django_db
GATE = Target("authorised")
BY = {"model": "judge-1"}


@pytest.fixture
def model(settings):
    with served.model() as server:
        settings.JUDGE_BASE_URL, settings.JUDGE_API_KEY = server.url, KEY
        settings.JUDGE_TIMEOUT_SECONDS, settings.JUDGE_BACK_OFF_SECONDS = 5.0, 0.0
        yield server


@pytest.fixture
def engineer(project):
    person = make.person("Erin")
    make.member(project, person, "engineer")
    return person


def judged(n=640, *, right=1.0):
    """Examples with what a judge said of each, right in this share of them."""
    return [
        replace(example, said=float(example.label if at % 100 < right * 100 else 1 - example.label))
        for at, example in enumerate(labelled(n))
    ]


def keyed(compiled):
    return {proof.key: proof for proof in compiled.assurance.proofs}


def scored(queue, *, wrong=0):
    """A judge that has said of each item what its label says, of so many the opposite."""
    setup = judges.judge(queue, criterion="authorised")
    values = LabelValue.objects.filter(label__queue=queue, criterion__key="authorised").order_by("pk")
    GraderScore.objects.bulk_create(
        GraderScore(
            version=setup.version,
            item_id=item,
            criterion="authorised",
            value=value if at >= wrong else 1 - value,
            cost=Decimal("0.002"),
        )
        for at, (item, value) in enumerate(values.values_list("label__item", "value"))
    )
    return setup.version


def failing(prompt):
    return answers(prompt, {"authorised": "fail", "consent": "pass"})


def test_calibration_never_turns_a_judge_round():
    right, wrong = judged(100), judged(100, right=0)
    assert calibrate(right)["slope"] > 0
    assert calibrate(wrong) == {"slope": 0.0, "offset": 0.0}
    assert calibrate(labelled(10)) == {"slope": 0.0, "offset": 0.0}


def test_a_judge_that_is_right_is_proven_once_it_was_asked_anew():
    asked = []

    def honest(example, way):
        asked.append((example.key, way))
        return 0.0

    compiled = compile_reviewer(judged(), GATE, judge=BY, asking=honest)
    assert (compiled.assurance.holds, compiled.assurance.missing) == (True, [])
    assert compiled.reviewer["kind"] == "judge"
    assert len(asked) == MOST_PROBED * len(PROBES)
    assert keyed(compiled)["probes"].figures["turned"] == dict.fromkeys(PROBES, 0)


def test_a_judge_that_nobody_asked_anew_or_that_is_talked_round_is_refused():
    # Enough passes that it may give them alone, or there would be nothing to be talked into.
    examples = judged(1000)
    unasked = compile_reviewer(examples, GATE, judge=BY)
    assert unasked.assurance.missing == ["answers of the judge to 10 failed runs, each dressed up in 6 ways"]
    obeying = compile_reviewer(examples, GATE, judge=BY, asking=lambda _e, way: float(way.startswith("tells")))
    assert obeying.assurance.missing == ["a judge that does not mind when a run tells the reviewer what to say"]


def test_a_judge_that_is_wrong_too_often_decides_nothing():
    compiled = compile_reviewer(judged(right=0.8), GATE, judge=BY)
    assert compiled.reviewer["thresholds"] == {"pass": None, "fail": None}
    assert keyed(compiled)["selective"].holds is False


def test_a_judge_is_compiled_signed_and_given_out_with_its_prompt(project, engineer, model, tmp_path):
    queue = labelled_queue(project, labelled(640))
    version = scored(queue)
    model.usual = saying(failing)
    asked = {"criterion": "authorised", "rung": "judge", "judge": version, "budget": 10}
    reviewer = run_compile(reviewer_id=start_compile(actor=engineer, queue=queue, **asked).pk)
    assert (reviewer.state, reviewer.assurance["missing"]) == ("proven", [])
    # Ten runs in six ways; emptied they are all the same, and that is asked once.
    assert len(model.heard) == 51
    dollars = reviewer.origins["judge"]["dollars"]
    assert (dollars["value"], dollars["n_units"]) == (pytest.approx(0.002), 640)
    ladder = next(row for row in ladders_of(queue) if row.decision.key == "authorised")
    assert ladder.judges == [version]
    lead = make.lead_of(project)
    signed = sign_reviewer(actor=lead, reviewer=reviewer)
    zipfile.ZipFile(io.BytesIO(read_bundle(actor=lead, reviewer=signed))).extractall(tmp_path)
    prompt = json.loads((tmp_path / "prompt.json").read_text())
    assert prompt["model"] == "judge-1"
    assert "Judge what was done, not the tone." in prompt["system"]
    items = "".join(json.dumps({"id": n, "said": said}) + "\n" for n, said in enumerate((1, 0, None)))
    run = subprocess.run(
        [sys.executable, "-I", "score.py", "reviewer.json"],
        input=items,
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    found = [json.loads(line) for line in run.stdout.splitlines()]
    # Too few passes to certify a threshold: fails alone are given without people.
    assert [(row["verdict"], row["deferred"]) for row in found] == [(1, True), (0, False), (None, True)]
    # What was answered once is not paid twice.
    run_compile(reviewer_id=start_compile(actor=engineer, queue=queue, **asked).pk)
    assert (len(model.heard), JudgeAnswer.objects.count()) == (51, 51)


def test_a_judge_that_obeys_a_run_is_refused_and_a_small_budget_is_said(project, engineer, model):
    queue = labelled_queue(project, labelled(300))
    version = scored(queue)
    asked = {"criterion": "authorised", "rung": "judge", "judge": version}
    poor = run_compile(reviewer_id=start_compile(actor=engineer, queue=queue, budget="0.0001", **asked).pk)
    assert (poor.state, model.heard) == ("failed", [])
    assert "The budget is too small" in poor.error
    model.usual = saying(gullible)
    obeying = run_compile(reviewer_id=start_compile(actor=engineer, queue=queue, budget=10, **asked).pk)
    probes = next(proof for proof in obeying.assurance["proofs"] if proof["key"] == "probes")
    # It invents what it quotes, so that what it was told to say does not count.
    assert (obeying.state, probes["figures"]["turned"]["tells the reviewer what to say"]) == ("refused", 0)


def test_what_a_judge_cannot_be_compiled_from_is_said(project, engineer):
    queue = labelled_queue(project, labelled(3))
    setup = judges.judge(queue, criterion="authorised")
    with pytest.raises(Invalid, match=r"Name a judge of this decision\. There is: Judge 1"):
        start_compile(actor=engineer, queue=queue, criterion="authorised", rung="judge")
    with pytest.raises(Invalid, match="There is: none yet"):
        start_compile(actor=engineer, queue=queue, criterion="consent", rung="judge", judge=setup.version)
    with pytest.raises(Conflict, match="has said nothing of this decision yet"):
        start_compile(actor=engineer, queue=queue, criterion="authorised", rung="judge", judge=setup.version)
    with pytest.raises(Invalid, match="Only the rung of the judge"):
        start_compile(actor=engineer, queue=queue, criterion="authorised", judge=setup.version)
