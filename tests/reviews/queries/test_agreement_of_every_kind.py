"""Agreement on every kind of question: its unit, its level of measurement, and values known beforehand."""

from datetime import timedelta
from math import log

import krippendorff
import pgtrigger
import pytest
from django.utils import timezone
from scipy.stats import t

from reviews.actions.dealing import claim
from reviews.actions.judging import submit
from reviews.models import Judgment, Task
from reviews.queries.agreement import agreement
from reviews.stats.result import Reason
from tests import factories as make

pytestmark = pytest.mark.django_db

TAGS = [{"value": 1, "name": "Shorter"}, {"value": 2, "name": "Better grounded"}]
HARMS = [{"value": 0, "name": "None"}, {"value": 1, "name": "Minor"}, {"value": 2, "name": "Serious"}]
KINDS = [
    {"key": "polite", "title": "Polite", "kind": "binary"},
    {"key": "harm", "title": "Harm", "kind": "choice", "levels": HARMS},
    {"key": "seen", "title": "Seen", "kind": "multi_choice", "levels": TAGS},
    {"key": "minutes", "title": "Minutes", "kind": "number", "settings": {"min": 0, "max": 60, "tolerance": 1}},
    {"key": "why", "title": "Why", "kind": "text", "required": False},
]
SAFE = {"key": "safe", "title": "Safe", "kind": "gate", "scope": "candidate"}
WORDS = [{"value": 1, "name": "Correct"}, {"value": 0, "name": "Neutral"}, {"value": -1, "name": "Incorrect"}]
FAILURE = {"step": 3, "who": "agent", "cause": "unauthorised_access", "note": ""}


def judge(queue, rater, payload_of):
    """The rater judges item after item; `payload_of` has the assignment and its number, from 0."""
    for number in range(queue.queue_items.count()):
        mine = claim(actor=rater, queue=queue)
        submit(actor=rater, uid=mine.uid, payload=payload_of(mine, number), idempotency_key="k")


def by_key(found):
    return {entry.key: entry for entry in found.entries}


def compared(project, criterion, said, *, candidates=2, more=(), items=None):
    """Ten comparisons judged by Alice and Bob; `said` has the answers of each, given the assignment and its number."""
    queue = make.queue(
        project,
        items=items or [make.comparison(project, candidates) for _ in range(10)],
        criteria=[*more, criterion],
        rubric={"item_kind": "comparison"},
        overlap=2,
    )
    for name, payload_of in zip(("Alice", "Bob"), said, strict=True):
        judge(queue, make.expert(project, name), payload_of)
    return queue


def preference(form="pair"):
    settings = {"form": form, "strength": 3 if form == "pair" else 0, "ties": ["equally_good"]}
    return {"key": "better", "title": "Which is better", "kind": "preference", "levels": TAGS, "settings": settings}


def prefers(mine, position, strength=1):
    """The payload of preferring the candidate at a position of the item, wherever the rater sees it."""
    place = mine.candidate_order.index(position) + 1
    return {"criteria": {"better": {"prefers": place, "strength": strength}}, "confidence": 3}


def test_yes_or_no_choices_sets_and_numbers_each_at_their_level(project):
    queue = make.queue(project, items=10, criteria=KINDS, overlap=2)
    alice = {"polite": [True] * 6 + [False] * 4, "harm": [0] * 5 + [1] * 3 + [2] * 2, "seen": [[1]] * 5 + [[2]] * 5}
    bob = {"polite": [True] * 5 + [False] * 5, "harm": [0] * 5 + [2] * 5, "seen": [[1, 2]] + [[1]] * 4 + [[2]] * 5}
    alice["minutes"], bob["minutes"] = [1.5, *range(1, 10)], [2, *range(1, 9), 20]
    for name, said in (("Alice", alice), ("Bob", bob)):
        judge(
            queue,
            make.expert(project, name),
            lambda _mine, at, said=said: {
                "criteria": {**{key: values[at] for key, values in said.items()}, "why": f"Because {at}."},
                "confidence": 2,
            },
        )
    found = by_key(agreement(queue))
    assert list(found) == ["polite", "harm", "seen", "minutes", "failure_step"], "free text is not compared"
    for key in ("polite", "harm"):
        theirs = krippendorff.alpha(
            reliability_data=[list(map(int, alice[key])), list(map(int, bob[key]))], level_of_measurement="nominal"
        )
        assert found[key].alpha.value == pytest.approx(theirs)
    assert found["harm"].confusions[0].first, found["harm"].confusions[0].second == ("Minor", "Serious")
    assert found["harm"].reading == "Raters mix up “Minor” and “Serious” on Harm in 3 of 3 disagreements."
    # {1} against {1, 2} is 2/3 apart; by hand 1 - 19 * (4/3) / (2 * (90 + 6 + 20/3)).
    assert found["seen"].alpha.value == pytest.approx(1 - 19 * (4 / 3) / (2 * (96 + 20 / 3)))
    assert found["seen"].percent.value == pytest.approx(0.9)
    assert [(one.first, one.second) for one in found["seen"].confusions] == [("Shorter", "Shorter, Better grounded")]
    theirs = krippendorff.alpha(reliability_data=[alice["minutes"], bob["minutes"]], level_of_measurement="interval")
    assert found["minutes"].alpha.value == pytest.approx(theirs)
    assert (found["minutes"].percent.statistic, found["minutes"].percent.value) == ("At most 1 apart", 0.9)
    assert (found["minutes"].ac, found["seen"].ac, found["seen"].consensus) == (None, None, None)


def test_a_preference_is_compared_by_candidate_whatever_stood_where(project):
    """Both prefer A on seven; on two Bob prefers B, on one he ties. By strength they differ on three more."""
    bobs = [1] * 7 + [2] * 2

    def of_bob(mine, at):
        if at == 9:
            return {"criteria": {"better": {"tie": "equally_good"}}, "confidence": 3}
        return prefers(mine, bobs[at], strength=2 if at < 3 else 1)

    queue = compared(project, preference(), [lambda mine, _at: prefers(mine, 1), of_bob])
    better = by_key(agreement(queue))["better"]
    assert (better.unit, better.percent.n_units, better.percent.value) == ("item", 10, pytest.approx(0.7))
    assert [(one.first, one.second, one.n_items) for one in better.confusions] == [("A", "B", 2), ("A", "level", 1)]
    strengths = [-1] * 10, [-2] * 3 + [-1] * 4 + [1] * 2 + [0]
    theirs = krippendorff.alpha(
        reliability_data=strengths, level_of_measurement="ordinal", value_domain=list(range(-3, 4))
    )
    assert better.strength.value == pytest.approx(theirs)
    # Nine of Bob's and ten of Alice's preferred somebody, and half of the orders were turned.
    place = better.preferring
    assert (place.left + place.right, place.tied, place.n_triads) == (19, 1, 0)
    shown = Judgment.objects.filter(queue=queue).select_related("assignment")
    lefts = sum(
        1
        for judgment in shown
        for rating in judgment.ratings.all()
        if rating.value and judgment.assignment.candidate_order[0] == (1 if rating.value < 0 else 2)
    )
    assert place.left == lefts


def test_models_are_set_in_order_by_what_raters_prefer(project):
    """Of ten comparisons Alice prefers the large model in eight and Bob in six: 14 to 6, so seven in ten."""

    def against(first, second):
        return make.comparison(project, [make.item(project, model=model) for model in (first, second)])

    items = [against("large", "small") for _ in range(10)] + [against("small", "small"), against("", "large")]
    said = [
        lambda mine, at: prefers(mine, 1 if at < 8 or at > 9 else 2),
        lambda mine, at: prefers(mine, 1 if at < 6 or at > 9 else 2),
    ]
    queue = compared(project, preference(), said, items=items)
    found = by_key(agreement(queue))["better"]
    models = found.models
    assert (models.n, models.n_same, models.n_unknown, models.words) == (20, 2, 2, "")
    assert [(one.model, one.won, one.tied, one.lost, one.n_items) for one in models.models] == [
        ("large", 14, 0, 6, 10),
        ("small", 6, 0, 14, 10),
    ]
    (pair,) = models.pairs
    assert (pair.first, pair.second, pair.n, pair.wins.value) == ("large", "small", 20, pytest.approx(0.7))
    # By the sandwich formula over ten items of which six pull by .6, two by -.4 and two by -1.4.
    pull = 6 * 0.6**2 + 2 * 0.4**2 + 2 * 1.4**2
    error = (pull * 10 / 9) ** 0.5 / (20 * 0.7 * 0.3)
    assert models.models[0].strength.value == pytest.approx(log(7 / 3) / 2)
    assert models.models[0].strength.high == pytest.approx(log(7 / 3) / 2 + t.ppf(0.975, 9) * error / 2)
    assert "over 10 groups" in pair.wins.method
    assert "Whether large or small is preferred cannot be told yet." in found.reading


def test_models_that_never_won_or_are_too_few_have_no_strengths(project):
    items = [make.comparison(project, [make.item(project, model=f"m{n}") for n in (1, 2)]) for _ in range(10)]
    queue = compared(project, preference(), [lambda mine, _at: prefers(mine, 1)] * 2, items=items)
    models = by_key(agreement(queue))["better"].models
    assert "won, or lost, every comparison" in models.words
    assert {one.wins.reason for one in models.models} == {Reason.SEPARATED}


def test_of_a_ranking_every_two_candidates_are_compared(project):
    """Bob swaps the last two of three: two of three pairs agree."""

    def ranks(*of_positions):
        return lambda mine, _at: {
            "criteria": {"better": {"ranks": [of_positions[position - 1] for position in mine.candidate_order]}},
            "confidence": 3,
        }

    queue = compared(project, preference("ranking"), [ranks(1, 2, 3), ranks(1, 3, 2)], candidates=3)
    better = by_key(agreement(queue))["better"]
    assert (better.unit, better.percent.n_units, better.percent.value) == (
        "pair of candidates",
        30,
        pytest.approx(2 / 3),
    )
    assert better.n_disagreed == 10
    assert "bootstrap" in better.percent.method


def test_a_question_about_each_candidate_has_a_unit_per_candidate(project):
    """Alice fails the second candidate of every comparison, Bob of five: 15 of 20 are the same."""

    def failing(count):
        def payload(mine, at):
            bad = at < count
            sides = [
                {"gates": {"safe": "fail"}, "failure": FAILURE}
                if bad and position == 2
                else {"gates": {"safe": "pass"}}
                for position in mine.candidate_order
            ]
            return {"candidates": sides, "confidence": 3} | ({} if bad else {"criteria": prefers(mine, 1)["criteria"]})

        return payload

    queue = compared(project, preference(), [failing(10), failing(5)], more=[SAFE])
    found = by_key(agreement(queue))
    safe = found["safe"]
    assert (safe.unit, safe.percent.n_units, safe.percent.value) == ("candidate", 20, pytest.approx(0.75))
    assert safe.n_disagreed == 5
    step = found["failure_step"]
    assert (step.named.n_units, step.percent.n_units) == (20, 5)
    assert (step.n_disagreed, step.n_some_name_none) == (0, 5), "where Bob names a step it is Alice's"


def test_words_for_steps_and_the_first_wrong_step(project):
    """Three steps in each of ten runs. Bob finds step 3 wrong where Alice finds step 4 wrong, in three runs."""
    queue = make.queue(project, items=10, rubric={"step_labels": {"words": WORDS}}, overlap=2)

    def labelling(step):
        return lambda _mine, at: make.passing(
            steps={"2": 1, "3": -1 if at < 3 and step == 3 else 0, "4": -1 if (at < 3 and step == 4) or at > 5 else 1}
        )

    judge(queue, make.expert(project, "Alice"), labelling(4))
    judge(queue, make.expert(project, "Bob"), labelling(3))
    found = agreement(queue)
    assert (found.steps.unit, found.steps.percent.n_units) == ("step", 30)
    assert found.steps.percent.value == pytest.approx(24 / 30)
    assert (found.steps.n_disagreed, found.first_error.n_disagreed) == (3, 3)
    assert found.first_error.distances == ((0, 4), (1, 3))
    assert found.first_error.alpha.reason == Reason.BELOW_FLOOR


def test_cited_steps(project):
    """Ten failures: Bob cites another step than Alice in five of them."""
    queue = make.queue(project, items=10, overlap=2)
    judge(queue, make.expert(project, "Alice"), lambda _mine, _at: make.failing())
    cited = [{"criterion": "authorised", "step": 4}]
    judge(
        queue,
        make.expert(project, "Bob"),
        lambda _mine, at: make.failing() if at < 5 else make.failing(evidence=cited),
    )
    found = agreement(queue).evidence
    assert (found.n_citations, found.f1.n_units, found.f1.value) == (20, 10, pytest.approx(0.5))


def test_parts_by_family_slice_tier_and_week_are_hidden_below_ten(project):
    """Alice and Bob agree on refunds and guess on billing; the crowd's Charlie has nobody of his tier."""
    items = [make.item(project, family="refunds" if at < 10 else "billing") for at in range(20)]
    Task.objects.filter(family="billing").update(slices={"language": "Dutch"})
    queue = make.queue(project, items=items, overlap=3)
    judge(queue, make.expert(project, "Alice"), lambda _mine, at: make.passing(success=at % 2))
    bobs = [at % 2 for at in range(10)] + [0, 1, 1, 0] * 2 + [0, 1]
    judge(queue, make.expert(project, "Bob"), lambda _mine, at: make.passing(success=bobs[at]))
    judge(queue, make.expert(project, "Charlie", tier="crowd"), lambda _mine, at: make.passing(success=at % 2))
    old = items[:5]
    with pgtrigger.ignore():  # judgments are never changed, but for this the calendar has to turn
        Judgment.objects.filter(item__in=old).update(submitted_at=timezone.now() - timedelta(days=21))
    success = by_key(agreement(queue))["success"]
    cuts = {cut.key: cut for cut in success.cuts}
    assert {key.split(":")[0] for key in cuts} == {"family", "week", "tier"}, "one slice is no cut"
    assert cuts["family:refunds"].alpha.value == 1.0
    assert (cuts["family:billing"].alpha.n_units, cuts["family:billing"].n_items) == (10, success.n_disagreed)
    assert cuts["tier:expert"].alpha.n_units == 20
    assert cuts["tier:crowd"].alpha.reason == Reason.ONE_RATER
    weeks = [cut for cut in success.cuts if cut.dimension == "week"]
    assert [cut.alpha.reason for cut in weeks] == [Reason.BELOW_FLOOR, None]
    assert "5 of the 10 items needed" in weeks[0].alpha.words


def test_names_of_families_are_read_as_words_and_names_of_slices_as_they_are(project):
    items = [make.item(project, family=f"{'double' if at % 2 else 'late'}_charge") for at in range(4)]
    for name in ("late", "double"):
        Task.objects.filter(family=f"{name}_charge").update(slices={"tool": f"{name}_check"})
    queue = make.queue(project, items=items, overlap=2)
    for name in ("Alice", "Bob"):
        judge(queue, make.expert(project, name), lambda _mine, at: make.passing(success=at % 2))
    cuts = {cut.key: cut.title for cut in by_key(agreement(queue))["success"].cuts}
    assert cuts == {
        "family:double_charge": "family double charge",
        "family:late_charge": "family late charge",
        "slice tool:double_check": "slice tool double_check",
        "slice tool:late_check": "slice tool late_check",
    }


def test_consensus_weighs_raters_by_their_errors(project):
    """Alice and Bob see the same on twelve runs, Charlie always says "Strong": they outvote him, and it shows."""
    queue = make.queue(project, items=12, overlap=3)
    for name in ("Alice", "Bob"):
        judge(queue, make.expert(project, name), lambda _mine, at: make.passing(success=at % 4))
    judge(queue, make.expert(project, "Charlie"), lambda _mine, _at: make.passing(success=3))
    found = by_key(agreement(queue))
    consensus = found["success"].consensus
    assert [row.answer[0] for row in consensus.answers] == [str(at % 4) for at in range(12)]
    accuracy = {row.rater: row.accuracy for row in consensus.raters}
    assert accuracy["Alice"] > 0.95
    assert accuracy["Charlie"] == pytest.approx(0.25, abs=0.02)
    assert consensus.raters[2].confusion[0][3] > 0.95, "where Poor is true, Charlie says Strong"
    assert found["consent"].consensus.n_units == 12
    slim = agreement(queue).without_items()
    assert by_key(slim)["success"].consensus.answers is None
    assert by_key(slim)["success"].n_disagreed == found["success"].n_disagreed == 9
