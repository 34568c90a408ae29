"""Reviewers compiled from a queue: frozen labels, a proof or a refusal in words, and a worker that may die."""

import hashlib
import os
import signal
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.utils import timezone

from goldsets.actions.compiling import (
    cancel_compile,
    overlooked_compiles,
    run_compile,
    sign_reviewer,
    start_compile,
)
from goldsets.actions.splitting import seal_splits
from goldsets.models import FamilySplit
from goldsets.queries.reviewers import ladders_of, sealed_families
from goldsets.reviewing.hashing import sha256_of
from reviews.errors import Conflict, Forbidden, Invalid
from reviews.models import Event, Label, Task
from tests import factories as make
from tests.factories.settled import labelled_queue
from tests.goldsets.reviewing.made import labelled

pytestmark = pytest.mark.django_db

ALWAYS_NO = [{"name": "always no", "verdict": 0}]


@pytest.fixture
def engineer(project):
    person = make.person("Erin")
    make.member(project, person, "engineer")
    return person


def compiled(engineer, queue, criterion="authorised", **asked):
    return run_compile(reviewer_id=start_compile(actor=engineer, queue=queue, criterion=criterion, **asked).pk)


def proofs(reviewer):
    return {proof["key"]: proof for proof in reviewer.assurance["proofs"]}


def events(reviewer):
    rows = Event.objects.filter(target_type="reviewer", target_id=reviewer.pk).order_by("pk")
    return list(rows.values_list("verb", flat=True))


def test_labels_that_the_text_tells_become_a_reviewer_that_somebody_else_signs(project, lead, engineer):
    queue = labelled_queue(project, labelled(640, told=1.0))
    reviewer = compiled(engineer, queue)
    assert (reviewer.state, reviewer.assurance["missing"]) == ("proven", [])
    assert reviewer.artefact["kind"] == "classifier"
    # What the database gives back is what was hashed.
    assert reviewer.artefact_sha256 == sha256_of(reviewer.artefact)
    assert reviewer.origins_sha256 == sha256_of(reviewer.origins)
    uids = Label.objects.filter(queue=queue).order_by("pk").values_list("uid", flat=True)
    assert reviewer.labels_sha256 == hashlib.sha256("\n".join(map(str, uids)).encode()).hexdigest()
    assert reviewer.origins["versions"] == {"environment": {"desk 3.2": 640}}
    assert reviewer.origins["raters"] == {"people": 3, "simulated": 0}
    assert events(reviewer) == ["reviewer.started", "reviewer.test_read", "reviewer.proven"]
    with pytest.raises(Forbidden):
        sign_reviewer(actor=engineer, reviewer=reviewer)
    signed = sign_reviewer(actor=lead, reviewer=reviewer)
    assert (signed.state, signed.signed_by) == ("signed", lead)
    with pytest.raises(Conflict, match="this one is signed"):
        sign_reviewer(actor=lead, reviewer=reviewer)


@pytest.mark.parametrize(("tiers", "worth"), [("expert expert", 0.2), ("expert skilled", 0.15), ("crowd skilled", 0.1)])
def test_what_a_person_is_worth_follows_from_the_lowest_tier_that_judged(project, engineer, tiers, worth):
    queue = labelled_queue(project, labelled(4, told=1.0))
    raters = project.memberships.filter(user__judgments__queue=queue).distinct().order_by("pk")
    for member, tier in zip(raters, [*tiers.split(), *["expert"] * 9], strict=False):
        project.memberships.filter(pk=member.pk).update(tier=tier)
    make.member(project, make.person("Cora"), "expert")
    project.memberships.filter(user__name="Cora").update(tier="crowd")  # she has judged nothing
    assert start_compile(actor=engineer, queue=queue, criterion="authorised").demands["epsilon"] == worth


def test_always_no_is_refused_and_nobody_can_sign_it(project, lead, engineer):
    queue = labelled_queue(project, labelled(800, passing=0.07))
    reviewer = compiled(engineer, queue, rung="rules", rules=ALWAYS_NO)
    assert reviewer.state == "refused"
    assert not proofs(reviewer)["false_rejects"]["holds"]
    assert "a reviewer that decides fewer passes wrongly: the bound asked for is 10%" in reviewer.assurance["missing"]
    with pytest.raises(Conflict, match="nobody can sign it"):
        sign_reviewer(actor=lead, reviewer=reviewer)


def test_a_copy_of_one_of_two_experts_does_not_pass(project, engineer):
    two = [
        replace(example, label=example.votes["Rater A"])
        for example in labelled(240, told=1.0, experts=("Rater A", "Rater B"))
    ]
    reviewer = compiled(engineer, labelled_queue(project, two))
    assert reviewer.state == "refused"
    assert "three experts with 30 test items each that others judged too" in reviewer.assurance["missing"]


def test_below_the_least_of_a_class_nothing_is_fitted_and_the_words_count(project, engineer):
    queue = labelled_queue(project, labelled(60, families=5))
    reviewer = compiled(engineer, queue)
    assert (reviewer.state, reviewer.artefact) == ("refused", None)
    assert reviewer.assurance["missing"] == ["3 more passes", "17 more fails", "3 more families of tasks"]
    # Nothing was proven, so the sealed test was not read.
    assert events(reviewer) == ["reviewer.started", "reviewer.refused"]
    ladder = next(row for row in ladders_of(queue) if row.decision.key == "authorised")
    assert ladder.wanting == ["3 more passes", "17 more fails"]


def test_families_are_never_split_and_sealed_ones_serve_the_proof_alone(project, lead, engineer):
    examples = labelled(300, families=30)
    queue = labelled_queue(project, examples)
    Task.objects.filter(project=project, family="family-7").update(split="held_out")
    seal_splits(actor=lead, project=project, train=50, calibration=30, held_out=20, seed="s")
    reviewer = compiled(engineer, queue)
    parts = reviewer.families
    everywhere = [family for families in parts.values() for family in families]
    assert sorted(everywhere) == sorted({example.family for example in examples})
    sealed = sealed_families(project)
    assert "family-7" in sealed
    assert set(sealed) <= set(parts["test"])
    dealt = FamilySplit.objects.filter(split="calibration").values_list("family", flat=True)
    assert set(dealt) <= set(parts["calibration"])
    read = Event.objects.get(verb="reviewer.test_read", target_id=reviewer.pk)
    assert read.data["held_out_families"] == len(sealed)
    again = compiled(engineer, queue)
    assert (again.families, again.artefact) == (parts, reviewer.artefact)
    assert (reviewer.origins["earlier_readings"], again.origins["earlier_readings"]) == (0, 1)


def test_labels_are_frozen_when_it_is_started(project, engineer):
    queue = labelled_queue(project, labelled(60, families=5))
    waiting = start_compile(actor=engineer, queue=queue, criterion="authorised")
    row = queue.queue_items.order_by("pk").first()
    row.state, row.label = "collecting", None
    row.save()
    assert run_compile(reviewer_id=waiting.pk).labels_done == 60


def test_levels_options_and_every_gate_can_be_decided(project, engineer):
    queue = labelled_queue(project, labelled(60, families=5))
    every = compiled(engineer, queue, criterion="")
    assert proofs(every)["enough"]["words"] == "37 passes and 23 fails in 5 families."
    # Only what passed its gates has a level: 37 threes.
    level = compiled(engineer, queue, criterion="success", at_least=3)
    assert proofs(level)["enough"]["words"] == "37 passes and 0 fails in 5 families."
    with pytest.raises(Invalid, match=r"from which value it passes: 1 \(Weak\), 2 \(Sound\), 3 \(Strong\)"):
        start_compile(actor=engineer, queue=queue, criterion="success")
    decisions = [(row.decision.key, row.decision.at_least, row.passes, row.fails) for row in ladders_of(queue)]
    assert decisions == [
        ("every-gate", 1, 37, 23),
        ("authorised", 1, 37, 23),
        ("consent", 1, 60, 0),
        ("success", 2, 37, 0),
        ("success", 3, 37, 0),
        ("process", 2, 37, 0),
    ]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"criterion": "nonsense"}, "cannot be compiled"),
        ({"criterion": "authorised", "rung": "oracle"}, "cannot be compiled"),
        ({"criterion": "authorised", "rung": "judge"}, "Name a judge of this decision"),
        ({"criterion": "authorised", "rung": "rules"}, "at least one rule"),
        ({"criterion": "authorised", "rules": ALWAYS_NO}, "Only the rung of rules"),
        ({"criterion": "authorised", "rung": "rules", "rules": [{"name": "x", "verdict": 2}]}, "Rule 1: its verdict"),
        ({"criterion": "authorised", "at_least": 2}, "from which value"),
    ],
)
def test_what_cannot_be_compiled_is_refused_at_once(project, engineer, asked, words):
    queue = labelled_queue(project, labelled(3))
    with pytest.raises(Invalid, match=words):
        start_compile(actor=engineer, queue=queue, **asked)


def test_nothing_labelled_raters_and_a_second_time_are_refused(project, engineer):
    with pytest.raises(Conflict, match="no item of this queue has a label"):
        start_compile(actor=engineer, queue=make.queue(project), criterion="authorised")
    queue = labelled_queue(project, labelled(3))
    with pytest.raises(Forbidden):
        start_compile(actor=make.expert(project, "Zoe"), queue=queue, criterion="authorised")
    start_compile(actor=engineer, queue=queue, criterion="authorised")
    with pytest.raises(Conflict, match="is being compiled"):
        start_compile(actor=engineer, queue=queue, criterion="authorised")


def test_a_cancelled_compile_stops_at_its_next_step(project, engineer):
    queue = labelled_queue(project, labelled(60, families=5))
    waiting = start_compile(actor=engineer, queue=queue, criterion="authorised")
    ended = run_compile(reviewer_id=waiting.pk, progress=lambda row: cancel_compile(actor=engineer, reviewer=row))
    assert (ended.state, ended.assurance) == ("cancelled", None)
    with pytest.raises(Conflict, match="cannot be stopped: it is cancelled"):
        cancel_compile(actor=engineer, reviewer=ended)
    assert run_compile(reviewer_id=waiting.pk).state == "cancelled"


DIES = """
import os, signal, sys
import django
django.setup()
from goldsets.actions.compiling import run_compile
run_compile(reviewer_id=int(sys.argv[1]), progress=lambda row: row.stage and os.kill(os.getpid(), signal.SIGKILL))
"""


@pytest.mark.django_db(transaction=True)
def test_a_killed_compile_is_taken_up_and_gives_what_it_would_have_given(project, engineer):
    queue = labelled_queue(project, labelled(300))
    killed = start_compile(actor=engineer, queue=queue, criterion="authorised")
    url = os.environ["DATABASE_URL"]
    there = {**os.environ, "DATABASE_URL": url.replace(urlsplit(url).path, f"/{connection.settings_dict['NAME']}", 1)}
    died = subprocess.run([sys.executable, "-c", DIES, str(killed.pk)], check=False, env=there)
    assert died.returncode == -signal.SIGKILL
    killed.refresh_from_db()
    assert (killed.state, killed.labels_done) == ("compiling", 300)
    assert overlooked_compiles(now=timezone.now()) == []
    assert overlooked_compiles(now=timezone.now() + timedelta(minutes=11)) == [killed.pk]
    ended = run_compile(reviewer_id=killed.pk)
    assert ended.state in ("proven", "refused")
    assert compiled(engineer, queue).artefact_sha256 == ended.artefact_sha256 != ""
