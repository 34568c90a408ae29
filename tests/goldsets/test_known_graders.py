"""Graders of whom it is known how well they judge, read through the app: runs and scores imported, the report asked."""

import csv
import io
import json
from collections import Counter
from math import comb

import pytest
from django.core.management import call_command
from django.db import connection

from goldsets.actions.grader_scores import adopt_scores, import_scores, post_scores
from goldsets.actions.reading_scores import Given
from goldsets.queries.calibration import calibration, question
from goldsets.queries.instrument import asked_for, measured
from reviews.actions.importing import run_import, start_import
from reviews.models import Item
from tests.factories import graders, labelled
from tests.goldsets.stats.reference import DATA, beside, lines, rows, table

pytestmark = [pytest.mark.django_db, beside]

TAU = DATA / "trajectories" / "tau-bench"


def imported(project, lead, name, content, **more):
    job = start_import(actor=lead, project=project, name=name, file=io.BytesIO(content), **more)
    job = run_import(job_id=job.pk)
    assert (job.refused, job.error) == (0, "")
    return job


def by_run(project):
    found = Item.objects.filter(project=project).exclude(trajectory__source_id="")
    return {item.trajectory.source_id: item for item in found.select_related("trajectory")}


def report(version, **asked):
    # Hundreds of rows are new in this transaction, of which Postgres hears nothing by itself.
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return calibration(question(version.grader, asked))


# --- DevAI: a judge of requirements against the consensus of three people ---------------------------------------------
def test_devais_judge_through_import_scores_and_command(project, lead, capsys):
    judged = {
        f"{row['agent']}/{row['task']}/{row['requirement']}": row
        for row in rows("agreement/realdata/devai_judge_vs_human.csv")
    }
    runs = [
        {
            "messages": [
                {"role": "user", "content": f"Requirement {name}"},
                {"role": "assistant", "content": "Built."},
            ],
            "run_id": name,
            "family": row["category"],
        }
        for name, row in judged.items()
    ]
    imported(project, lead, "devai.jsonl", "\n".join(json.dumps(run) for run in runs).encode())
    items = by_run(project)
    asked = [{"key": "met", "title": "Requirement met", "kind": "binary", "block": "task_success"}]
    people = [{"met": int(judged[name]["human_consensus"])} for name in items]
    labelled.settled(project, list(items.values()), people, criteria=asked)
    version = graders.version(project)
    said = "\n".join(json.dumps({"run": name, "value": row["ai_judge"] == "1"}) for name, row in judged.items())
    receipt = import_scores(actor=lead, version=version, file=io.BytesIO(said.encode()), name="judge.jsonl")
    assert receipt.counts == {"created": 1098, "already_there": 0, "refused": 0}
    call_command("calibrate", version.grader.name, "--json")
    told = json.loads(capsys.readouterr().out)
    rate, missed = told["errors"]["false_positive_rate"], told["errors"]["false_negative_rate"]
    assert [round(rate[name], 3) for name in ("value", "low", "high")] == [0.092, 0.073, 0.116]
    assert [round(missed[name], 3) for name in ("value", "low", "high")] == [0.125, 0.096, 0.161]
    assert told["against_words"] == "no gate fails and Requirement met is yes"
    assert told["cuts"][0]["dimension"] == "family"
    # What people pass is 401 of 1,098; the judge alone says 415. Corrected, it comes back to the people's.
    assert (told["rates"]["apparent"]["value"], told["rates"]["labelled"]["value"]) == (415 / 1098, 401 / 1098)
    assert told["rates"]["corrected"]["value"] == pytest.approx(401 / 1098)


# --- tau-bench: rewards -----------------------------------------------------------------------------------------------
def test_tau_benchs_rewards_give_its_pass_rates(project, lead):
    path = TAU / "airline_gpt-4o_4trials.json"
    imported(project, lead, path.name, path.read_bytes(), model="gpt-4o", domain="airline")
    version = graders.version(project, kind="deterministic", source="reward")
    assert adopt_scores(actor=lead, version=version).created == 140
    (found,) = measured(asked_for(version.grader, {})).found.bands
    passed = Counter()
    for run in json.loads(path.read_text()):
        passed[run["task_id"]] += run["reward"] == 1
    everyone = [sum(comb(passed[task], k) / comb(4, k) for task in passed) / len(passed) for k in (1, 2, 4)]
    assert [each.value for each in found.all_of] == [pytest.approx(rate) for rate in everyone]
    assert (found.band.never, found.band.between, found.band.always) == (11, 16, 8)
    assert round(found.any_of[0].value, 3) == round(60 / 140, 3)


def test_labels_of_failures_alone_say_nothing_of_what_a_reward_passes_wrongly(project, lead):
    """The published labels are of runs that the reward had failed: 0 of so few passed bounds next to nothing."""
    path = TAU / "human-failure-labels" / "retail_gpt-4o_indexed.json"
    imported(project, lead, path.name, path.read_bytes(), domain="retail")
    with (TAU / "human-failure-labels" / "human_labels.csv").open(newline="") as file:
        failed = {f"retail-{row['Task_id']}" for row in csv.DictReader(file)}
    items = list(Item.objects.filter(project=project).select_related("trajectory__task").order_by("pk"))
    values = [{"authorised": 1, "consent": 0} if item.subject.key in failed else {} for item in items]
    labelled.settled(project, items, values)
    version = graders.version(project, kind="deterministic", source="reward")
    adopt_scores(actor=lead, version=version)
    found = report(version)
    assert (found.found.errors.false_passes, found.found.errors.failures) == (0, len(failed))
    assert found.found.bound.high == pytest.approx(1 - 0.05 ** (1 / len(failed)))
    assert found.missing[0].startswith("44 more labelled failures to bound false positives at 5%")
    assert found.found.rates.corrected.reason == "no_ratings"


# --- Judges of pairs --------------------------------------------------------------------------------------------------
SIGN = {"A>B": 1, "B>A": -1, "model_a": 1, "model_b": -1}


def test_a_judge_asked_in_both_orders(project, lead):
    judged = rows("agreement/reference/judge_swap_o1mini.csv")
    items = labelled.pairs(
        project, [{"task": row["pair_id"], "lengths": (int(row["len_A"]), int(row["len_B"]))} for row in judged]
    )
    labelled.preferred(project, items, [SIGN.get(row["gold"], 0) for row in judged])
    version = graders.version(project, scale="real", lowest=-1, highest=1)
    given = [
        Given(item=item.uid, value=SIGN.get(row[column], 0), order=order)
        for item, row in zip(items, judged, strict=True)
        for column, order in (("decision_order1", "as_shown"), ("decision_order2_as_shown", "swapped"))
    ]
    assert {each.status for each in post_scores(actor=lead, version=version, scores=given)} == {"created"}
    pairs, known = report(version).pairs, table("judge_swap_o1mini")["expected"]
    assert (pairs.position.n, pairs.position.always_first, pairs.position.always_second) == (350, 58, 18)
    assert pairs.position.test.p == pytest.approx(known["mcnemar_exact_p"])
    assert pairs.both_orders.value * 100 == pytest.approx(known["judgebench_accuracy_percent"])
    longest = sum(
        (int(row["len_A"]) > int(row["len_B"])) == (row["gold"] == "A>B") and row["len_A"] != row["len_B"]
        for row in judged
    )
    assert pairs.longest.value == pytest.approx(longest / 350, abs=0.01)


def test_mt_benchs_judges_against_the_majority_of_people(project, lead):
    pairs = lines("preferences/mtbench-human-pairs/items.jsonl")
    items = labelled.pairs(project, [{"task": row["item_id"], "family": row["family"]} for row in pairs])
    gold = [majority([SIGN.get(said, 0) for said in row["human"].values()]) for row in pairs]
    labelled.preferred(project, items, gold)
    found = {}
    for judge in pairs[0]["llm_judges"]:
        version = graders.version(project, scale="real", lowest=-1, highest=1)
        said = [SIGN.get(row["llm_judges"][judge], 0) for row in pairs]
        post_scores(
            actor=lead,
            version=version,
            scores=[Given(item=item.uid, value=one) for item, one in zip(items, said, strict=True)],
        )
        told = report(version).pairs
        same = sum(one == right for one, right in zip(said, gold, strict=True) if right is not None)
        assert told.same.value == pytest.approx(same / told.n_labelled)
        found[judge] = told
    assert {told.n_scored for told in found.values()} == {82}
    best, worst = found["gpt-4o"], found["mistral-v03"]
    assert (best.n_labelled, best.same.value, worst.same.value) == (58, 38 / 58, 30 / 58)
    assert [round(best.same.low, 3), round(best.same.high, 3)] == [0.527, 0.764]
    assert [round(told.kappa.value, 3) for told in (best, worst)] == [0.463, 0.286]
    assert [round(told.agrees.value, 3) for told in (best, worst)] == [0.857, 0.5]


def test_pandalms_first_annotator_as_a_panel_against_the_three(project, lead):
    pairs = lines("preferences/pandalm-testset/pairs.jsonl")
    sign = {0: 0, 1: 1, 2: -1}
    items = labelled.pairs(
        project,
        [
            {
                "task": f"{row['idx']} {row['cmp_key']}",
                "lengths": (len(str(row["response1"])), len(str(row["response2"]))),
            }
            for row in pairs
        ],
    )
    gold = [majority([sign[row[f"annotator{who}"]] for who in (1, 2, 3)]) for row in pairs]
    labelled.preferred(project, items, gold)
    version = graders.version(project, kind="human_panel", scale="real", lowest=-1, highest=1)
    given = [Given(item=item.uid, value=sign[row["annotator1"]]) for item, row in zip(items, pairs, strict=True)]
    post_scores(actor=lead, version=version, scores=given)
    told = report(version).pairs
    assert (told.n_scored, told.n_labelled, told.n_level) == (722, 722, 75)
    assert (told.same.value, round(told.kappa.value, 3)) == (697 / 722, 0.941)
    # A judge that sees only length is right in two of three pairs that are not level.
    assert (told.longest.value, told.longest.n_units) == (445 / 647, 647)


def majority(said):
    (one, times), *rest = Counter(said).most_common()
    return None if rest and rest[0][1] == times else one
