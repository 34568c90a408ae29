"""Addresses of goldsets: the API. The last line answers for every address below /api/v1/ that does not exist."""

from django.urls import path, re_path

from goldsets.api import gold, stages, standing
from goldsets.api.calibration import Calibration, GraderWatch
from goldsets.api.contrasts import ContrastName, Contrasts, Diversity
from goldsets.api.datasets import (
    DatasetDetail,
    Datasets,
    VersionCancel,
    VersionDetail,
    VersionDifference,
    VersionFile,
    Versions,
)
from goldsets.api.graders import (
    GraderAdopt,
    GraderBiases,
    GraderDetail,
    GraderReasons,
    GraderRepeats,
    Graders,
    GraderScores,
    GraderVersionDetail,
    GraderVersions,
)
from goldsets.api.guards import Guards
from goldsets.api.instrument import GraderInstrument
from goldsets.api.judges import (
    JudgeRunCancel,
    JudgeRunDetail,
    JudgeRunItems,
    JudgeRunResume,
    JudgeRuns,
    Judges,
    JudgeStart,
)
from goldsets.api.leaks import Benchmarks, Leaks, LeaksSign
from goldsets.api.ledger import LedgerOfProject, Prices
from goldsets.api.pace import QueuePaceView
from goldsets.api.probes import (
    Hook,
    ProbeCheck,
    ProbeMatrix,
    ProbeRunAnswers,
    Probes,
    ProbeScores,
    ProbesOut,
    ProbeToCheck,
    Promote,
    VersionProbes,
)
from goldsets.api.rationales import RationaleLooked, Rationales
from goldsets.api.releases import Licences, ReleaseOfVersion, Terms, Withdraw
from goldsets.api.reviewers import ReviewerBundle, ReviewerCancel, ReviewerDetail, Reviewers, ReviewerSign
from goldsets.api.splits import Splits, SplitsDeal
from goldsets.api.statistics import Agreement, AgreementReport, ConsensusOfQueue
from goldsets.api.succeeding import TakeOver
from reviews.api.docs import NoSuchAddress

app_name = "goldsets_api"
urlpatterns = [
    path("queues/<uuid:uid>/agreement/", Agreement.as_view(), name="agreement"),
    path("queues/<uuid:uid>/agreement/report/", AgreementReport.as_view(), name="agreement_report"),
    path("queues/<uuid:uid>/agreement/consensus/", ConsensusOfQueue.as_view(), name="consensus"),
    path("graders/<uuid:uid>/probes/", Probes.as_view(), name="probes"),
    path("graders/<uuid:uid>/probes/matrix/", ProbeMatrix.as_view(), name="probes_matrix"),
    path("graders/<uuid:uid>/hook/", Hook.as_view(), name="grader_hook"),
    path("graders/<uuid:uid>/versions/<int:number>/probes/", VersionProbes.as_view(), name="version_probes"),
    path("graders/<uuid:uid>/versions/<int:number>/probes/export/", ProbesOut.as_view(), name="probes_export"),
    path("graders/<uuid:uid>/versions/<int:number>/probes/scores/", ProbeScores.as_view(), name="probes_scores"),
    path("graders/<uuid:uid>/versions/<int:number>/promote/", Promote.as_view(), name="promote"),
    path("projects/<slug:slug>/probes/next/", ProbeToCheck.as_view(), name="probe_to_check"),
    path("probes/<uuid:uid>/check/", ProbeCheck.as_view(), name="probe_check"),
    path("probe-runs/<uuid:uid>/answers/", ProbeRunAnswers.as_view(), name="probe_run_answers"),
    path("queues/<uuid:uid>/take-over/", TakeOver.as_view(), name="take_over"),
    path("judges/", Judges.as_view(), name="judges"),
    path("judges/<uuid:uid>/runs/", JudgeStart.as_view(), name="judge_start"),
    path("judge-runs/", JudgeRuns.as_view(), name="judge_runs"),
    path("judge-runs/<uuid:uid>/", JudgeRunDetail.as_view(), name="judge_run"),
    path("judge-runs/<uuid:uid>/items/", JudgeRunItems.as_view(), name="judge_run_items"),
    path("judge-runs/<uuid:uid>/cancel/", JudgeRunCancel.as_view(), name="judge_run_cancel"),
    path("judge-runs/<uuid:uid>/resume/", JudgeRunResume.as_view(), name="judge_run_resume"),
    path("queues/<uuid:uid>/pace/", QueuePaceView.as_view(), name="pace"),
    path("queues/<uuid:uid>/rationales/", Rationales.as_view(), name="rationales"),
    path("rationales/<uuid:uid>/look/", RationaleLooked.as_view(), name="rationales_look"),
    path("queues/<uuid:uid>/standing/", standing.StandingOfQueue.as_view(), name="standing"),
    path("queues/<uuid:uid>/standing/policy/", standing.StandingPolicyOfQueue.as_view(), name="standing_policy"),
    path("queues/<uuid:uid>/standing/review/", standing.StandingReview.as_view(), name="standing_review"),
    path("queues/<uuid:uid>/standing/moves/", standing.StandingMoves.as_view(), name="standing_moves"),
    path("queues/<uuid:uid>/standing/<int:rater>/", standing.StandingOfRater.as_view(), name="standing_change"),
    path("standing-moves/<uuid:uid>/confirm/", standing.MoveConfirm.as_view(), name="standing_confirm"),
    path("standing-moves/<uuid:uid>/decline/", standing.MoveDecline.as_view(), name="standing_decline"),
    path("queues/<uuid:uid>/stages/", stages.StagesOfQueue.as_view(), name="stages"),
    path("stages/<uuid:uid>/", stages.StageDetail.as_view(), name="stage"),
    path("stages/<uuid:uid>/verdicts/", stages.StageVerdicts.as_view(), name="stage_verdicts"),
    path("stages/<uuid:uid>/decide/", stages.StageDecide.as_view(), name="stage_decide"),
    path("stages/<uuid:uid>/roll-back/", stages.StageRollBack.as_view(), name="stage_roll_back"),
    path("stages/<uuid:uid>/retire/", stages.StageRetire.as_view(), name="stage_retire"),
    path("queues/<uuid:uid>/gold/", gold.GoldOfQueue.as_view(), name="gold_pool"),
    path("queues/<uuid:uid>/gold/measured/", gold.GoldMeasured.as_view(), name="gold_measured"),
    path("queues/<uuid:uid>/gold/import/", gold.GoldImport.as_view(), name="gold_import"),
    path("queues/<uuid:uid>/gold/challenges/", gold.Challenges.as_view(), name="challenges"),
    path("gold/", gold.Gold.as_view(), name="gold"),
    path("gold/<uuid:uid>/approve/", gold.GoldApprove.as_view(), name="gold_approve"),
    path("gold/<uuid:uid>/decline/", gold.GoldDecline.as_view(), name="gold_decline"),
    path("gold/<uuid:uid>/change/", gold.GoldChange.as_view(), name="gold_change"),
    path("gold/<uuid:uid>/retire/", gold.GoldRetire.as_view(), name="gold_retire"),
    path("challenges/<uuid:uid>/answer/", gold.ChallengeAnswer.as_view(), name="challenge_answer"),
    path("checked/", gold.Checked.as_view(), name="checked"),
    path("checked/<uuid:uid>/challenge/", gold.CheckedChallenge.as_view(), name="checked_challenge"),
    path("graders/", Graders.as_view(), name="graders"),
    path("graders/<uuid:uid>/", GraderDetail.as_view(), name="grader"),
    path("graders/<uuid:uid>/versions/", GraderVersions.as_view(), name="grader_versions"),
    path("graders/<uuid:uid>/versions/<int:number>/", GraderVersionDetail.as_view(), name="grader_version"),
    path("graders/<uuid:uid>/versions/<int:number>/adopt/", GraderAdopt.as_view(), name="grader_adopt"),
    path("graders/<uuid:uid>/versions/<int:number>/again/", GraderRepeats.as_view(), name="grader_repeats"),
    path("graders/<uuid:uid>/versions/<int:number>/reasons/", GraderReasons.as_view(), name="grader_reasons"),
    path("graders/<uuid:uid>/versions/<int:number>/biases/", GraderBiases.as_view(), name="grader_biases"),
    path("graders/<uuid:uid>/scores/", GraderScores.as_view(), name="grader_scores"),
    path("projects/<slug:slug>/splits/", Splits.as_view(), name="splits"),
    path("projects/<slug:slug>/splits/deal/", SplitsDeal.as_view(), name="splits_deal"),
    path("projects/<slug:slug>/contrasts/", Contrasts.as_view(), name="contrasts"),
    path("contrasts/<uuid:uid>/name/", ContrastName.as_view(), name="contrast_name"),
    path("projects/<slug:slug>/diversity/", Diversity.as_view(), name="diversity"),
    path("projects/<slug:slug>/guards/", Guards.as_view(), name="guards"),
    path("projects/<slug:slug>/ledger/", LedgerOfProject.as_view(), name="ledger"),
    path("projects/<slug:slug>/prices/", Prices.as_view(), name="prices"),
    path("reviewers/", Reviewers.as_view(), name="reviewers"),
    path("reviewers/<uuid:uid>/", ReviewerDetail.as_view(), name="reviewer"),
    path("reviewers/<uuid:uid>/cancel/", ReviewerCancel.as_view(), name="reviewer_cancel"),
    path("reviewers/<uuid:uid>/sign/", ReviewerSign.as_view(), name="reviewer_sign"),
    path("reviewers/<uuid:uid>/bundle/", ReviewerBundle.as_view(), name="reviewer_bundle"),
    path("projects/<slug:slug>/benchmarks/", Benchmarks.as_view(), name="benchmarks"),
    path("datasets/<uuid:uid>/versions/<int:number>/leaks/", Leaks.as_view(), name="leaks"),
    path("datasets/<uuid:uid>/versions/<int:number>/leaks/sign/", LeaksSign.as_view(), name="leaks_sign"),
    path("projects/<slug:slug>/licences/", Licences.as_view(), name="licences"),
    path("datasets/<uuid:uid>/terms/", Terms.as_view(), name="release_terms"),
    path("datasets/<uuid:uid>/versions/<int:number>/release/", ReleaseOfVersion.as_view(), name="release"),
    path("datasets/<uuid:uid>/versions/<int:number>/withdraw/", Withdraw.as_view(), name="withdraw"),
    path("graders/<uuid:uid>/calibration/", Calibration.as_view(), name="calibration"),
    path("graders/<uuid:uid>/watch/", GraderWatch.as_view(), name="watch"),
    path("graders/<uuid:uid>/instrument/", GraderInstrument.as_view(), name="instrument"),
    path("datasets/", Datasets.as_view(), name="datasets"),
    path("datasets/<uuid:uid>/", DatasetDetail.as_view(), name="dataset"),
    path("datasets/<uuid:uid>/versions/", Versions.as_view(), name="versions"),
    path("datasets/<uuid:uid>/versions/<int:number>/", VersionDetail.as_view(), name="version"),
    path(
        "datasets/<uuid:uid>/versions/<int:number>/difference/", VersionDifference.as_view(), name="version_difference"
    ),
    path("datasets/<uuid:uid>/versions/<int:number>/cancel/", VersionCancel.as_view(), name="version_cancel"),
    path("datasets/<uuid:uid>/versions/<int:number>/files/<str:name>", VersionFile.as_view(), name="file"),
    re_path("", NoSuchAddress.as_view()),
]
