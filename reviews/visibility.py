"""What a viewer may see in which phase: one pure table, asked by every page, API answer and export."""

from enum import StrEnum


class Viewer(StrEnum):
    """What somebody is doing, which is not always all that their role would allow: a lead who judges is a rater."""

    RATER = "rater"
    LEAD = "lead"
    ENGINEER = "engineer"
    ADMIN = "admin"


class Phase(StrEnum):
    """Where an item stands for this viewer."""

    JUDGING = "judging"
    JUDGED = "judged"
    WAITING = "waiting"
    SETTLED = "settled"
    PRACTISED = "practised"
    REVEALED = "revealed"
    AUDITED = "audited"


class Thing(StrEnum):
    RUN = "run"
    CONTEXT = "context"
    GUIDELINE = "guideline"
    ENVIRONMENT = "environment"
    OWN_JUDGMENT = "own_judgment"
    PEER_JUDGMENTS = "peer_judgments"
    RATER_NAMES = "rater_names"
    OUTCOME = "outcome"
    MODEL = "model"
    SOURCE = "source"
    ORIGINAL = "original"
    LABEL = "label"
    OWN_QUESTIONS = "own_questions"
    QUESTIONS = "questions"
    VERDICTS = "verdicts"


READING = frozenset({Thing.RUN, Thing.CONTEXT, Thing.GUIDELINE, Thing.ENVIRONMENT})
SOURCES = frozenset({Thing.OUTCOME, Thing.MODEL, Thing.SOURCE, Thing.ORIGINAL})
OWN = frozenset({Thing.OWN_JUDGMENT, Thing.OWN_QUESTIONS})
EVERYTHING = frozenset(Thing)

# A rater never sees outcome, model, peers or label, not even afterwards: what they learn from one item would
# bias how they judge the next run of the same agent.
VISIBLE: dict[Viewer, dict[Phase, frozenset[Thing]]] = {
    Viewer.RATER: {
        Phase.JUDGING: READING | OWN,
        Phase.JUDGED: READING | OWN,
        Phase.WAITING: READING | OWN,
        Phase.SETTLED: READING | OWN,
        # Only of items that are set apart for it: what stands after a practice item, votes after a session's reveal.
        Phase.PRACTISED: READING | OWN | {Thing.LABEL},
        Phase.REVEALED: READING | OWN | {Thing.PEER_JUDGMENTS},
        # After their own answer, where the rubric has raters check what graders said.
        Phase.AUDITED: READING | OWN | {Thing.VERDICTS},
    },
    # A lead decides blind: names and outcome open once the item is settled. Who asked a question never opens.
    Viewer.LEAD: {
        Phase.JUDGING: READING | {Thing.QUESTIONS},
        Phase.JUDGED: READING | {Thing.QUESTIONS, Thing.PEER_JUDGMENTS},
        Phase.WAITING: READING | {Thing.QUESTIONS, Thing.PEER_JUDGMENTS},
        Phase.SETTLED: EVERYTHING - OWN,
        Phase.PRACTISED: EVERYTHING - OWN,
        Phase.REVEALED: READING | {Thing.QUESTIONS, Thing.PEER_JUDGMENTS},
        Phase.AUDITED: READING | {Thing.QUESTIONS, Thing.PEER_JUDGMENTS, Thing.VERDICTS},
    },
    # Engineers brought the runs in and know how they ended; who judged what stays under pseudonyms.
    Viewer.ENGINEER: {
        Phase.JUDGING: READING | SOURCES,
        Phase.JUDGED: READING | SOURCES,
        Phase.WAITING: READING | SOURCES,
        Phase.SETTLED: READING | SOURCES | {Thing.LABEL},
        Phase.PRACTISED: READING | SOURCES | {Thing.LABEL},
        Phase.REVEALED: READING | SOURCES,
        Phase.AUDITED: READING | SOURCES | {Thing.VERDICTS},
    },
    Viewer.ADMIN: {phase: frozenset() for phase in Phase},
}


def visible(viewer: Viewer, phase: Phase) -> frozenset[Thing]:
    """Everything this viewer may see of an item in this phase. What is not in it must be absent, not empty."""
    return VISIBLE[viewer][phase]
