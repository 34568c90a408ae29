"""Addresses of reviews: the API."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from reviews.api.arrival import ArrivalRuleDetail, ArrivalRules, ArrivalTrial, RedactionDetail
from reviews.api.auditing import QueueVerdicts, Verdicts
from reviews.api.comparing import ItemAlignment
from reviews.api.comparisons import Comparisons, ManyComparisons
from reviews.api.disagreements import Adjudications, Disagreements, DisagreementsAlike, Names
from reviews.api.docs import Docs
from reviews.api.events import Events
from reviews.api.guideline_changes import (
    GuidelineCauses,
    GuidelineChangeDetail,
    GuidelineChanges,
    GuidelineDrafts,
    GuidelineTrial,
)
from reviews.api.imports import ImportCancel, ImportConfirm, ImportDetail, ImportPreview, Imports
from reviews.api.items import ItemDetail, ItemOriginal, Items, ItemSteps, Redacted
from reviews.api.judging import (
    AssignmentDetail,
    AssignmentSteps,
    Claim,
    DraftDetail,
    JudgmentDetail,
    Release,
    Renew,
    Skip,
)
from reviews.api.labels import LabelHistoryDetail, Labels
from reviews.api.masking import MaskingDetail, MaskingTrial
from reviews.api.preferences import OwnKeys
from reviews.api.projects import Invitations, MemberDetail, Members, ProjectDetail, Projects
from reviews.api.questions import (
    Answer,
    AssignmentQuestions,
    Digest,
    Note,
    OwnJudgments,
    OwnQuestions,
    ProjectDigest,
    ProjectQuestions,
)
from reviews.api.queues import ProjectQueues, QueueDetail, QueueItems, Queues
from reviews.api.referrals import AnswerReferral, DecisionDrafts, FirstAnswers, OwnReferrals, PutFirst, Referrals, Undo
from reviews.api.rubrics import Guidelines, Principles, RubricChanges, RubricDetail, Rubrics
from reviews.api.runs import Runs
from reviews.api.scores import Scores
from reviews.api.tasks import Tasks
from reviews.api.training import (
    Feedback,
    Norming,
    NormingClose,
    NormingDiscuss,
    NormingReveal,
    PracticeAgain,
    ProjectTraining,
    QueueNorming,
    Required,
    TrainingDetail,
    Waiver,
)
from reviews.api.webhooks import Deliveries, Replay, WebhookDetail, Webhooks

app_name = "reviews_api"
urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", Docs.as_view(), name="docs"),
    path("projects/", Projects.as_view(), name="projects"),
    path("projects/<slug:slug>/", ProjectDetail.as_view(), name="project"),
    path("projects/<slug:slug>/training/", ProjectTraining.as_view(), name="training"),
    path("training/<uuid:uid>/", TrainingDetail.as_view(), name="training_set"),
    path("training/<uuid:uid>/again/", PracticeAgain.as_view(), name="practice_again"),
    path("training/<uuid:uid>/waive/", Waiver.as_view(), name="waive"),
    path("queues/<uuid:uid>/requires/", Required.as_view(), name="queue_requires"),
    path("queues/<uuid:uid>/norming/", QueueNorming.as_view(), name="queue_norming"),
    path("norming/<uuid:uid>/", Norming.as_view(), name="norming"),
    path("norming/<uuid:uid>/reveal/", NormingReveal.as_view(), name="norming_reveal"),
    path("norming/<uuid:uid>/close/", NormingClose.as_view(), name="norming_close"),
    path("norming/<uuid:uid>/discuss/", NormingDiscuss.as_view(), name="norming_discuss"),
    path("assignments/<uuid:uid>/feedback/", Feedback.as_view(), name="feedback"),
    path("assignments/<uuid:uid>/verdicts/", Verdicts.as_view(), name="verdicts"),
    path("queues/<uuid:uid>/verdicts/", QueueVerdicts.as_view(), name="queue_verdicts"),
    path("projects/<slug:slug>/members/", Members.as_view(), name="members"),
    path("projects/<slug:slug>/members/<int:member>/", MemberDetail.as_view(), name="member"),
    path("projects/<slug:slug>/invitations/", Invitations.as_view(), name="invitations"),
    path("projects/<slug:slug>/guidelines/", Guidelines.as_view(), name="guidelines"),
    path("projects/<slug:slug>/guidelines/<uuid:uid>/causes/", GuidelineCauses.as_view(), name="guideline_causes"),
    path("projects/<slug:slug>/guidelines/<uuid:uid>/draft/", GuidelineDrafts.as_view(), name="guideline_draft"),
    path("projects/<slug:slug>/guideline-changes/", GuidelineChanges.as_view(), name="guideline_changes"),
    path("guideline-changes/<uuid:uid>/", GuidelineChangeDetail.as_view(), name="guideline_change"),
    path("guideline-changes/<uuid:uid>/try/", GuidelineTrial.as_view(), name="guideline_try"),
    path("projects/<slug:slug>/principles/", Principles.as_view(), name="principles"),
    path("projects/<slug:slug>/rubrics/", Rubrics.as_view(), name="rubrics"),
    path("projects/<slug:slug>/rubrics/<uuid:uid>/", RubricDetail.as_view(), name="rubric"),
    path("projects/<slug:slug>/rubrics/<uuid:uid>/changes/", RubricChanges.as_view(), name="rubric_changes"),
    path("projects/<slug:slug>/queues/", ProjectQueues.as_view(), name="project_queues"),
    path("projects/<slug:slug>/imports/", Imports.as_view(), name="imports"),
    path("projects/<slug:slug>/imports/preview/", ImportPreview.as_view(), name="import_preview"),
    path("projects/<slug:slug>/imports/<uuid:uid>/confirm/", ImportConfirm.as_view(), name="import_confirm"),
    path("projects/<slug:slug>/runs/", Runs.as_view(), name="runs"),
    path("projects/<slug:slug>/tasks/", Tasks.as_view(), name="tasks"),
    path("projects/<slug:slug>/comparisons/", Comparisons.as_view(), name="comparisons"),
    path("projects/<slug:slug>/comparisons/bulk/", ManyComparisons.as_view(), name="comparisons_bulk"),
    path("projects/<slug:slug>/redacted/", Redacted.as_view(), name="redacted"),
    path("projects/<slug:slug>/scores/", Scores.as_view(), name="scores"),
    path("projects/<slug:slug>/arrival-rules/", ArrivalRules.as_view(), name="arrival_rules"),
    path("projects/<slug:slug>/arrival-rules/try/", ArrivalTrial.as_view(), name="arrival_trial"),
    path("projects/<slug:slug>/arrival-rules/<uuid:uid>/", ArrivalRuleDetail.as_view(), name="arrival_rule"),
    path("projects/<slug:slug>/redaction/", RedactionDetail.as_view(), name="redaction"),
    path("projects/<slug:slug>/masking/", MaskingDetail.as_view(), name="masking"),
    path("projects/<slug:slug>/masking/try/", MaskingTrial.as_view(), name="masking_try"),
    path("projects/<slug:slug>/imports/<uuid:uid>/", ImportDetail.as_view(), name="import"),
    path("projects/<slug:slug>/imports/<uuid:uid>/cancel/", ImportCancel.as_view(), name="import_cancel"),
    path("items/", Items.as_view(), name="items"),
    path("items/<uuid:uid>/", ItemDetail.as_view(), name="item"),
    path("items/<uuid:uid>/alignment/", ItemAlignment.as_view(), name="item_alignment"),
    path("items/<uuid:uid>/original/", ItemOriginal.as_view(), name="item_original"),
    path("items/<uuid:uid>/steps/", ItemSteps.as_view(), name="item_steps"),
    path("queues/", Queues.as_view(), name="queues"),
    path("queues/<uuid:uid>/", QueueDetail.as_view(), name="queue"),
    path("queues/<uuid:uid>/items/", QueueItems.as_view(), name="queue_items"),
    path("queues/<uuid:uid>/claim/", Claim.as_view(), name="claim"),
    path("queues/<uuid:uid>/disagreements/", Disagreements.as_view(), name="disagreements"),
    path("queues/<uuid:uid>/disagreements/alike/", DisagreementsAlike.as_view(), name="disagreements_alike"),
    path("assignments/<uuid:uid>/", AssignmentDetail.as_view(), name="assignment"),
    path("assignments/<uuid:uid>/steps/", AssignmentSteps.as_view(), name="steps"),
    path("assignments/<uuid:uid>/draft/", DraftDetail.as_view(), name="draft"),
    path("assignments/<uuid:uid>/judgment/", JudgmentDetail.as_view(), name="judgment"),
    path("assignments/<uuid:uid>/questions/", AssignmentQuestions.as_view(), name="assignment_questions"),
    path("assignments/<uuid:uid>/skip/", Skip.as_view(), name="skip"),
    path("assignments/<uuid:uid>/release/", Release.as_view(), name="release"),
    path("assignments/<uuid:uid>/renew/", Renew.as_view(), name="renew"),
    path("me/keys/", OwnKeys.as_view(), name="own_keys"),
    path("questions/", OwnQuestions.as_view(), name="own_questions"),
    path("questions/<uuid:uid>/answer/", Answer.as_view(), name="answer"),
    path("questions/<uuid:uid>/note/", Note.as_view(), name="note"),
    path("judgments/", OwnJudgments.as_view(), name="own_judgments"),
    path("digest/", Digest.as_view(), name="digest"),
    path("projects/<slug:slug>/questions/", ProjectQuestions.as_view(), name="questions"),
    path("projects/<slug:slug>/digest/", ProjectDigest.as_view(), name="project_digest"),
    path("queue-items/<uuid:uid>/referrals/", Referrals.as_view(), name="referrals"),
    path("queue-items/<uuid:uid>/names/", Names.as_view(), name="names"),
    path("queue-items/<uuid:uid>/first-answer/", FirstAnswers.as_view(), name="first_answer"),
    path("queue-items/<uuid:uid>/draft/", DecisionDrafts.as_view(), name="decision_draft"),
    path("queue-items/<uuid:uid>/first/", PutFirst.as_view(), name="put_first"),
    path("queue-items/<uuid:uid>/undo/", Undo.as_view(), name="undo"),
    path("referrals/", OwnReferrals.as_view(), name="own_referrals"),
    path("referrals/<uuid:uid>/answer/", AnswerReferral.as_view(), name="answer_referral"),
    path("adjudications/", Adjudications.as_view(), name="adjudications"),
    path("labels/", Labels.as_view(), name="labels"),
    path("labels/<uuid:uid>/history/", LabelHistoryDetail.as_view(), name="label_history"),
    path("events/", Events.as_view(), name="events"),
    path("projects/<slug:slug>/webhooks/", Webhooks.as_view(), name="webhooks"),
    path("webhooks/<uuid:uid>/", WebhookDetail.as_view(), name="webhook"),
    path("webhooks/<uuid:uid>/deliveries/", Deliveries.as_view(), name="deliveries"),
    path("deliveries/<uuid:uid>/replay/", Replay.as_view(), name="replay"),
]
