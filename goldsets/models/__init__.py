"""Every table of `goldsets`, from gold to reviewers."""

from .contrast import Contrast
from .dataset import Dataset, DatasetGroup, DatasetRow, DatasetVersion
from .gold import GoldChallenge, GoldItem, GoldKey, GoldPlacement, GoldPolicy, GoldSchedule
from .grader import Grader, GraderAudit, GraderScore, GraderVersion
from .judge import JudgeAnswer, JudgedItem, JudgeRun, JudgeSetup
from .leak import BenchmarkList, BenchmarkText, LeakReport, LeakSignature
from .ledger import PriceList
from .probe import GraderHook, GraderPromotion, Probe, ProbeAnswer, ProbeRun
from .rationale import RationaleFlag, RationaleLook, RationaleWatch
from .release import Release, ReleaseSignature, ReleaseTerms, SourceLicence, Withdrawal
from .reviewer import Reviewer, ReviewerLabel
from .split import FamilySplit, SplitPlan
from .stage import Stage, StageVerdict
from .standing import Standing, StandingMove, StandingPolicy

__all__ = [
    "BenchmarkList",
    "BenchmarkText",
    "Contrast",
    "Dataset",
    "DatasetGroup",
    "DatasetRow",
    "DatasetVersion",
    "FamilySplit",
    "GoldChallenge",
    "GoldItem",
    "GoldKey",
    "GoldPlacement",
    "GoldPolicy",
    "GoldSchedule",
    "Grader",
    "GraderAudit",
    "GraderHook",
    "GraderPromotion",
    "GraderScore",
    "GraderVersion",
    "JudgeAnswer",
    "JudgeRun",
    "JudgeSetup",
    "JudgedItem",
    "LeakReport",
    "LeakSignature",
    "PriceList",
    "Probe",
    "ProbeAnswer",
    "ProbeRun",
    "RationaleFlag",
    "RationaleLook",
    "RationaleWatch",
    "Release",
    "ReleaseSignature",
    "ReleaseTerms",
    "Reviewer",
    "ReviewerLabel",
    "SourceLicence",
    "SplitPlan",
    "Stage",
    "StageVerdict",
    "Standing",
    "StandingMove",
    "StandingPolicy",
    "Withdrawal",
]
