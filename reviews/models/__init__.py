"""Every table of `reviews`, from the project to the audit log."""

from .adjudication import AdjudicatedFailure, AdjudicatedStep, AdjudicatedValue, Adjudication
from .arrival import ArrivalRule, Masking, Redaction
from .assignment import Assignment, Draft
from .audit import VerdictAudit, VerdictsShown
from .event import Event
from .guideline_change import GuidelineChange
from .item import Candidate, ImportJob, ImportNote, ImportRefusal, Item
from .judgment import CandidateFailure, Correction, Evidence, Judgment, Rating, StepLabel
from .label import Label, LabelStep, LabelValue
from .pause import RaterPause
from .preferences import Preferences
from .project import Invitation, Membership, Project
from .question import GuidelineNote, Question
from .queue import Queue, QueueItem, RaterCursor, SettlingMark, Slot
from .referral import DecisionDraft, FirstAnswer, Referral, ReferralAnswer
from .rubric import Criterion, Guideline, Principle, Rubric
from .task import TaskVersion
from .token import TokenName
from .training import NormingComment, NormingMember, NormingSession, Qualification, Reference
from .trajectory import ContextDocument, Original, Outcome, RunScore, Step, Task, Trajectory
from .webhook import Delivery, DeliveryTry, Webhook

__all__ = [
    "AdjudicatedFailure",
    "AdjudicatedStep",
    "AdjudicatedValue",
    "Adjudication",
    "ArrivalRule",
    "Assignment",
    "Candidate",
    "CandidateFailure",
    "ContextDocument",
    "Correction",
    "Criterion",
    "DecisionDraft",
    "Delivery",
    "DeliveryTry",
    "Draft",
    "Event",
    "Evidence",
    "FirstAnswer",
    "Guideline",
    "GuidelineChange",
    "GuidelineNote",
    "ImportJob",
    "ImportNote",
    "ImportRefusal",
    "Invitation",
    "Item",
    "Judgment",
    "Label",
    "LabelStep",
    "LabelValue",
    "Masking",
    "Membership",
    "NormingComment",
    "NormingMember",
    "NormingSession",
    "Original",
    "Outcome",
    "Preferences",
    "Principle",
    "Project",
    "Qualification",
    "Question",
    "Queue",
    "QueueItem",
    "RaterCursor",
    "RaterPause",
    "Rating",
    "Redaction",
    "Reference",
    "Referral",
    "ReferralAnswer",
    "Rubric",
    "RunScore",
    "SettlingMark",
    "Slot",
    "Step",
    "StepLabel",
    "Task",
    "TaskVersion",
    "TokenName",
    "Trajectory",
    "VerdictAudit",
    "VerdictsShown",
    "Webhook",
]
