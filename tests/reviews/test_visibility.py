"""Who sees what: the whole table, and what a rater never sees."""

import pytest

from reviews.visibility import VISIBLE, Phase, Thing, Viewer, visible

HIDDEN_FROM_RATERS = {
    Thing.OUTCOME,
    Thing.MODEL,
    Thing.PEER_JUDGMENTS,
    Thing.RATER_NAMES,
    Thing.LABEL,
    Thing.SOURCE,
    Thing.ORIGINAL,
}


def test_every_viewer_has_an_answer_for_every_phase():
    assert set(VISIBLE) == set(Viewer)
    assert all(set(phases) == set(Phase) for phases in VISIBLE.values())


# Where items are set apart for learning: what stands after a practice item, the votes of a session after its reveal.
APART = {Phase.PRACTISED: {Thing.LABEL}, Phase.REVEALED: {Thing.PEER_JUDGMENTS}}
# What graders said is open after the rater's own answer, where the rubric asks to check it.
AT_WORK = [phase for phase in Phase if phase not in {*APART, Phase.AUDITED}]


@pytest.mark.parametrize("phase", Phase)
def test_a_rater_never_sees_outcome_model_peers_or_label(phase):
    assert visible(Viewer.RATER, phase) & HIDDEN_FROM_RATERS == APART.get(phase, set())


def test_what_graders_said_is_open_to_raters_after_their_answer_alone():
    assert [phase for phase in Phase if Thing.VERDICTS in visible(Viewer.RATER, phase)] == [Phase.AUDITED]


def test_a_rater_cannot_tell_a_settled_item_from_one_that_is_not():
    assert len({visible(Viewer.RATER, phase) for phase in AT_WORK}) == 1


@pytest.mark.parametrize("phase", [Phase.JUDGING, Phase.JUDGED, Phase.WAITING])
def test_a_lead_decides_without_names_outcome_or_model(phase):
    assert not visible(Viewer.LEAD, phase) & {Thing.RATER_NAMES, Thing.OUTCOME, Thing.MODEL}


def test_once_settled_a_lead_sees_names_and_outcome():
    assert {Thing.RATER_NAMES, Thing.OUTCOME, Thing.LABEL} <= visible(Viewer.LEAD, Phase.SETTLED)


@pytest.mark.parametrize("phase", Phase)
def test_an_engineer_never_sees_names(phase):
    assert Thing.RATER_NAMES not in visible(Viewer.ENGINEER, phase)
