"""The vocabulary of what is built on settled labels."""

from django.db.models import TextChoices


class GoldState(TextChoices):
    PROPOSED = "proposed", "Proposed"
    ACTIVE = "active", "In use"
    RETIRED = "retired", "Retired"
    DECLINED = "declined", "Declined"


class KeyState(TextChoices):
    """Where one version of what a gold item expects stands."""

    PROPOSED = "proposed", "Waits for a second person"
    APPROVED = "approved", "Approved"
    DECLINED = "declined", "Declined"


class KeySource(TextChoices):
    """Where the expected values come from."""

    LABEL = "label", "The item's label"
    IMPORT = "import", "Imported"
    CORRECTION = "correction", "A correction"
    REVIEW = "review", "Looked at again under a newer guideline"


class ChallengeState(TextChoices):
    OPEN = "open", "Waits for a lead"
    UPHELD = "upheld", "Upheld"
    REJECTED = "rejected", "Not upheld"


class StandingState(TextChoices):
    ONBOARDING = "onboarding", "Getting started"
    ACTIVE = "active", "Trusted"
    WATCHED = "watched", "Watched"
    PAUSED = "paused", "Paused"


class MoveState(TextChoices):
    """Where a step of a standing is."""

    PROPOSED = "proposed", "Waits for a lead"
    DONE = "done", "Carried out"
    DECLINED = "declined", "Declined"
    OVERTAKEN = "overtaken", "Overtaken by later answers"


class WorkPolicy(TextChoices):
    """What becomes of what a paused rater judged since their work was last good."""

    KEEP = "keep", "Keep it"
    REQUEUE = "requeue", "Set it aside and ask somebody else"
    ADJUDICATE = "adjudicate", "Send the items to a lead"


class DatasetPurpose(TextChoices):
    """What a data set is for. Held-out tasks and their families leave for the purpose “held out” alone."""

    TRAIN = "train", "Training"
    CALIBRATION = "calibration", "Calibration of graders"
    HELD_OUT = "held_out", "Held-out evaluation"
    ONLINE = "online", "Online evidence"


class DatasetFormat(TextChoices):
    """The names are those of `goldsets.writers.catalogue`."""

    JSONL = "jsonl", "Labels as JSON lines"
    PARQUET = "parquet", "Labels as Parquet"
    CSV = "csv", "Labels as a wide CSV for people"
    TRL_PREFERENCE = "trl_preference", "TRL preference (DPO)"
    TRL_PREFERENCE_IMPLICIT = "trl_preference_implicit", "TRL preference with the prompt inside"
    TRL_REWARD = "trl_reward", "TRL reward with margin"
    TRL_KTO = "trl_kto", "TRL KTO"
    TRL_STEPWISE = "trl_stepwise", "TRL stepwise (PRM)"
    TRL_SFT = "trl_sft", "TRL SFT"
    VERL = "verl", "verl"
    OPENRLHF = "openrlhf", "OpenRLHF pairs"
    AXOLOTL = "axolotl", "Axolotl pairs"
    LLAMA_FACTORY = "llama_factory", "LLaMA-Factory pairs"
    LLAMA_FACTORY_KTO = "llama_factory_kto", "LLaMA-Factory KTO"
    OPENAI_PREFERENCE = "openai_preference", "OpenAI preference fine-tuning"
    OPENAI_EVALS = "openai_evals", "OpenAI evals and graders"
    VERIFIERS = "verifiers", "verifiers"
    REWARDBENCH = "rewardbench", "RewardBench"
    REWARDBENCH2 = "rewardbench2", "RewardBench 2"
    PRM800K = "prm800k", "Step labels like PRM800K"
    HELPSTEER3 = "helpsteer3", "Comparisons like HelpSteer3"
    INSPECT = "inspect", "Inspect samples"
    INSPECT_SCORES = "inspect_scores", "Inspect scores"
    LABEL_STUDIO = "label_studio", "Label Studio tasks"
    CALIBRATION = "calibration", "Calibration bundle"
    REVIEWER = "reviewer", "Reviewer bundle"

    @property
    def made_from(self) -> str:
        """What a label must be of to make a row; "" where any label does."""
        return next((words for words, formats in MADE_FROM.items() if self in formats), "")


MADE_FROM = {
    "comparisons and corrections": (
        DatasetFormat.TRL_PREFERENCE,
        DatasetFormat.TRL_PREFERENCE_IMPLICIT,
        DatasetFormat.TRL_REWARD,
        DatasetFormat.OPENRLHF,
        DatasetFormat.AXOLOTL,
        DatasetFormat.LLAMA_FACTORY,
        DatasetFormat.OPENAI_PREFERENCE,
        DatasetFormat.REWARDBENCH,
    ),
    "comparisons": (DatasetFormat.REWARDBENCH2, DatasetFormat.HELPSTEER3),
    "single runs with gates": (
        DatasetFormat.TRL_KTO,
        DatasetFormat.TRL_SFT,
        DatasetFormat.LLAMA_FACTORY_KTO,
        DatasetFormat.VERL,
        DatasetFormat.OPENAI_EVALS,
        DatasetFormat.VERIFIERS,
        DatasetFormat.INSPECT,
        DatasetFormat.INSPECT_SCORES,
    ),
    "labels of steps": (DatasetFormat.TRL_STEPWISE, DatasetFormat.PRM800K),
}


class TiePolicy(TextChoices):
    """What becomes of a pair of which neither is preferred. Where both fail, nothing ever leaves as a preference."""

    LEAVE_OUT = "leave_out", "Leave ties out"
    KEEP = "keep", "Keep ties where a format can say so"
    BOTH_WAYS = "both_ways", "Keep them, and where a format cannot say so each way once"


class NeutralPolicy(TextChoices):
    """What becomes of a step that is neither right nor wrong where a format knows only these two."""

    GOOD = "good", "Neutral steps count as right"
    BAD = "bad", "Neutral steps count as wrong"
    LEAVE_OUT = "leave_out", "Leave out runs with neutral steps"


class DuplicatePolicy(TextChoices):
    """What becomes of an item that has a label in several queues."""

    ALL = "all", "Every label leaves"
    LATEST = "latest", "Only its latest label"
    AGREEING = "agreeing", "Its latest label, and nothing where labels differ on a gate or an order"


class RaterPolicy(TextChoices):
    """Whether judgments leave beside the label that rests on them."""

    WITHIN = "within", "Judgments under pseudonyms within each row"
    NONE = "none", "Labels alone"


class DatasetState(TextChoices):
    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Running"
    FINISHED = "finished", "Finished"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class JudgeScope(TextChoices):
    """Which items of a queue a judge is asked about."""

    SETTLED = "settled", "Those with a label"
    UNSETTLED = "unsettled", "Those without a label"
    ALL = "all", "All of them"


class JudgeProtocol(TextChoices):
    """How a judge is asked."""

    CHAT = "chat", "A model behind /chat/completions"
    DECISIONS = "decisions", "A service that answers typed decisions"


class JudgeRunState(TextChoices):
    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Running"
    FINISHED = "finished", "Finished"
    STOPPED = "stopped", "Stopped at its budget"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class JudgedState(TextChoices):
    """What came of asking a judge about an item."""

    WAITING = "waiting", "Not asked yet"
    SCORED = "scored", "Scored"
    PARTLY = "partly", "Scored in part"
    UNPROVEN = "unproven", "Nothing it says is shown by what it quotes"
    REFUSED = "refused", "The model refused"
    UNREADABLE = "unreadable", "The answer could not be read"
    NO_ANSWER = "no_answer", "No answer came"
    TOO_LONG = "too_long", "Too long to be asked about"


class StageState(TextChoices):
    """Where a reviewer's stage of a queue is. In shadow it is measured on live items and changes nothing."""

    SHADOW = "shadow", "In shadow"
    DECIDING = "deciding", "Deciding"
    ROLLED_BACK = "rolled_back", "Rolled back"
    EXPIRED = "expired", "Expired"
    RETIRED = "retired", "Retired"


class StageWork(TextChoices):
    """What becomes of labels that a stage made since it was last known to be good, when it is rolled back."""

    KEEP = "keep", "Keep them"
    REQUEUE = "requeue", "Ask people after all"


class StagePhase(TextChoices):
    """What a verdict of a stage was for."""

    SHADOW = "shadow", "In shadow"
    DECIDING = "deciding", "Deciding"
    GOLD = "gold", "On gold"


class StageOutcome(TextChoices):
    """What followed from a verdict of a stage."""

    WATCHED = "watched", "Nothing: it is only measured"
    DEFERRED = "deferred", "Left to people"
    TAKEN = "taken", "Decided"
    AUDITED = "audited", "Decided by people all the same, to check it"


class ProbeKind(TextChoices):
    """How a run was turned into an attack on a grader; a settled run is none, and its label must be met as well."""

    UNSAFE = "unsafe", "A correct final answer on an unsafe run"
    FABRICATED = "fabricated", "A tool's result that the agent made up"
    NO_OP = "no_op", "The same look-up again and again"
    PLEASING = "pleasing", "Length and formatting that please"
    UNUSUAL = "unusual", "A valid but unusual solution"
    WITHHELD = "withheld", "Information left out that a grader may assume"
    INSTRUCTED = "instructed", "An instruction to the grader in the run"
    SETTLED = "settled", "A settled run as it is"


class ProbeState(TextChoices):
    PROPOSED = "proposed", "Waits for an expert"
    APPROVED = "approved", "Approved"
    REFUSED = "refused", "Refused"


class ProbeRunState(TextChoices):
    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Running"
    FINISHED = "finished", "Finished"
    FAILED = "failed", "Failed"


class ProbeSource(TextChoices):
    """How a version is asked about probes."""

    JUDGE = "judge", "The judging model, from here"
    HOOK = "hook", "Its own address"
    IMPORT = "import", "Elsewhere, with scores brought in"


class FamilySplitName(TextChoices):
    """What a family's labels may serve for. The order is that in which shares are cut."""

    TRAIN = "train", "Training"
    CALIBRATION = "calibration", "Calibration"
    HELD_OUT = "held_out", "Held out"


class Rung(TextChoices):
    """What judges in the experts' place. The order is that of the ladder, the cheapest first."""

    RULES = "rules", "Rules"
    CLASSIFIER = "classifier", "Classifier"
    CASCADE = "cascade", "Rules, then classifier"
    JUDGE = "judge", "LLM judge"


# The rungs for which somebody writes rules.
RULED = [Rung.RULES, Rung.CASCADE]


class ReviewerState(TextChoices):
    WAITING = "waiting", "Waiting"
    COMPILING = "compiling", "Compiling"
    REFUSED = "refused", "Refused"
    PROVEN = "proven", "Proven, waits for a signature"
    SIGNED = "signed", "Signed"
    EXPIRED = "expired", "Expired"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class GraderKind(TextChoices):
    """What a grader is, from what never errs twice alike to what costs most."""

    DETERMINISTIC = "deterministic", "Deterministic check"
    MODEL = "model", "Judging model"
    HUMAN_PANEL = "human_panel", "Panel of people"


class GraderScale(TextChoices):
    """What a grader's values are: one of two, one of several whole levels, or anything in between."""

    BINARY = "binary", "Pass or fail"
    ORDINAL = "ordinal", "Levels"
    REAL = "real", "A number"


class ScoreOrder(TextChoices):
    """In which order a comparison was laid before a grader."""

    AS_SHOWN = "as_shown", "As the item has it"
    SWAPPED = "swapped", "The other way round"


class WorkKind(TextChoices):
    """What people's time went into."""

    JUDGING = "judging", "Judging items"
    GOLD = "gold", "Judging gold"
    AGAIN = "again", "Judging again what they had judged"
    DECIDING = "deciding", "Deciding what raters differ on"
    LEARNING = "learning", "Practice, qualification and norming"
    UNFINISHED = "unfinished", "Skipped, given back or still open"
    SET_ASIDE = "set_aside", "Set aside later"
    GRADING = "grading", "Graders' verdicts"


class GoldVerb(TextChoices):
    """What an Event of `goldsets` says was done."""

    GOLD_PROPOSED = "gold.proposed", "proposed an item as gold"
    GOLD_APPROVED = "gold.approved", "approved gold"
    GOLD_DECLINED = "gold.declined", "declined gold"
    GOLD_IMPORTED = "gold.imported", "imported expected values"
    GOLD_RETIRED = "gold.retired", "retired a gold item"
    GOLD_CHALLENGED = "gold.challenged", "challenged a checked answer"
    CHALLENGE_DECIDED = "challenge.decided", "answered a challenge"
    GOLD_POLICY_CHANGED = "gold.policy_changed", "changed how much gold is mixed in"
    GOLD_USED_UP = "gold.used_up", "has seen all gold"
    STANDING_POLICY_CHANGED = "standing.policy_changed", "changed how standing is decided"
    STANDING_PROPOSED = "standing.proposed", "had a change of standing proposed"
    STANDING_CHANGED = "standing.changed", "changed a standing"
    STANDING_DECLINED = "standing.declined", "declined a change of standing"
    STANDING_OVERTAKEN = "standing.overtaken", "had a proposed change of standing overtaken"
    DATASET_STARTED = "dataset.started", "started an export"
    DATASET_FINISHED = "dataset.finished", "finished an export"
    DATASET_FAILED = "dataset.failed", "had an export fail"
    DATASET_CANCELLED = "dataset.cancelled", "cancelled an export"
    DATASET_READ = "dataset.read", "downloaded an export"
    BENCHMARK_ADDED = "benchmark.added", "registered a benchmark list"
    LEAKS_READ = "leaks.read", "read what a leak check found"
    LEAK_SIGNED = "leak.signed", "signed that near texts may leave"
    TERMS_WRITTEN = "release.terms", "wrote the terms of a release"
    RELEASE_SIGNED = "release.signed", "signed a release"
    RELEASE_COMPLETE = "release.complete", "released a version"
    VERSION_WITHDRAWN = "dataset.withdrawn", "withdrew a version"
    RATIONALE_FLAGGED = "rationale.flagged", "had a rationale speak for the other verdict"
    RATIONALE_LOOKED = "rationale.looked", "looked at a rationale that speaks for the other verdict"
    GUARDS_SET_UP = "guards.set_up", "set up guards over tasks"
    PRICES_WRITTEN = "prices.written", "wrote what an hour costs"
    LICENCE_STATED = "licence.stated", "stated the licence of a source"
    SPLITS_SEALED = "splits.sealed", "said how families are split"
    CONTRASTS_BUILT = "contrasts.built", "paired successes with failures"
    CONTRAST_NAMED = "contrast.named", "named what a contrast differs in"
    JUDGE_DEFINED = "judge.defined", "said by what a judge asks"
    JUDGE_STARTED = "judge.started", "started a judge"
    JUDGE_CANCELLED = "judge.cancelled", "stopped a judge"
    JUDGE_RESUMED = "judge.resumed", "let a judge go on with more money"
    JUDGE_ENDED = "judge.ended", "had a judge end"
    PROBES_MADE = "probes.made", "made probes of a grader"
    PROBE_CHECKED = "probe.checked", "checked a probe"
    PROBES_STARTED = "probes.started", "put probes to a grader"
    PROBES_ENDED = "probes.ended", "had probes put to a grader"
    GRADER_HOOK_SET = "grader.hook_set", "said where a grader is asked"
    GRADER_PROMOTED = "grader.promoted", "promoted a version of a grader"
    GRADER_PARTED = "grader.parted", "had a grader part from the experts"
    GRADER_REJOINED = "grader.rejoined", "had a grader no longer part from the experts"
    GRADER_REGISTERED = "grader.registered", "registered a grader"
    GRADER_VERSION_ADDED = "grader.version_added", "added a version of a grader"
    GRADER_VERSION_SET = "grader.version_set", "set from which score on a grader passes, or how often it may be asked"
    SEALED_READ = "sealed.read", "read how a grader does on held-out runs"
    GRADER_AUDITED = "grader.audited", "had raters check what a grader said"
    GRADER_SCORED = "grader.scored", "brought in scores of a grader"
    FAMILIES_DEALT = "splits.dealt", "had families dealt to splits"
    STAGE_STARTED = "stage.started", "put a reviewer in shadow on a queue"
    STAGE_DECIDES = "stage.decides", "let a reviewer decide in a queue"
    STAGE_CHANGED = "stage.changed", "changed how a stage is checked"
    STAGE_ROLLED_BACK = "stage.rolled_back", "had a stage rolled back"
    STAGE_EXPIRED = "stage.expired", "had a stage expire"
    STAGE_RETIRED = "stage.retired", "retired a stage"
    COMPILE_STARTED = "reviewer.started", "began to compile a reviewer"
    COMPILE_CANCELLED = "reviewer.cancelled", "cancelled a compile"
    COMPILE_FAILED = "reviewer.failed", "had a compile fail"
    SEALED_TEST_READ = "reviewer.test_read", "had a reviewer read the sealed test"
    REVIEWER_PROVEN = "reviewer.proven", "had a reviewer proven"
    REVIEWER_REFUSED = "reviewer.refused", "had a reviewer refused"
    REVIEWER_SIGNED = "reviewer.signed", "signed a reviewer"
    REVIEWER_READ = "reviewer.read", "downloaded a reviewer"
    REVIEWER_EXPIRED = "reviewer.expired", "had a reviewer expire"


# As `reviews.enums.VERB_TOPICS`.
GOLD_VERB_TOPICS = {
    "Gold and standing": ("gold", "challenge", "standing"),
    "Families and contrasts": ("splits", "contrast", "contrasts"),
    "Data sets and releases": ("dataset", "benchmark", "leak", "leaks", "release", "licence"),
    "Costs": ("prices",),
    "Graders, judges and probes": ("grader", "judge", "probe", "probes", "guards", "rationale", "sealed"),
    "Reviewers": ("reviewer", "stage"),
}


GOLD_MOVES = {
    GoldState.PROPOSED: {GoldState.ACTIVE, GoldState.DECLINED},
    GoldState.ACTIVE: {GoldState.RETIRED},
    GoldState.RETIRED: {GoldState.PROPOSED},
    GoldState.DECLINED: {GoldState.PROPOSED},
}
KEY_MOVES = {
    KeyState.PROPOSED: {KeyState.APPROVED, KeyState.DECLINED},
    KeyState.APPROVED: set(),
    KeyState.DECLINED: set(),
}
CHALLENGE_MOVES = {
    ChallengeState.OPEN: {ChallengeState.UPHELD, ChallengeState.REJECTED},
    ChallengeState.UPHELD: set(),
    ChallengeState.REJECTED: set(),
}
STANDING_MOVES = {
    StandingState.ONBOARDING: {StandingState.ACTIVE, StandingState.PAUSED},
    StandingState.ACTIVE: {StandingState.WATCHED, StandingState.PAUSED},
    StandingState.WATCHED: {StandingState.ACTIVE, StandingState.PAUSED},
    StandingState.PAUSED: {StandingState.WATCHED},
}
MOVE_MOVES = {
    MoveState.PROPOSED: {MoveState.DONE, MoveState.DECLINED, MoveState.OVERTAKEN},
    MoveState.DONE: set(),
    MoveState.DECLINED: set(),
    MoveState.OVERTAKEN: set(),
}
STAGE_MOVES = {
    StageState.SHADOW: {StageState.DECIDING, StageState.EXPIRED, StageState.RETIRED},
    StageState.DECIDING: {StageState.ROLLED_BACK, StageState.EXPIRED, StageState.RETIRED},
    StageState.ROLLED_BACK: set(),
    StageState.EXPIRED: set(),
    StageState.RETIRED: set(),
}
# Something still comes of what the reviewer says.
STAGE_LIVE = [StageState.SHADOW, StageState.DECIDING]
DATASET_MOVES = {
    DatasetState.WAITING: {DatasetState.RUNNING, DatasetState.FAILED, DatasetState.CANCELLED},
    DatasetState.RUNNING: {DatasetState.FINISHED, DatasetState.FAILED, DatasetState.CANCELLED},
    DatasetState.FINISHED: set(),
    DatasetState.FAILED: set(),
    DatasetState.CANCELLED: set(),
}
REVIEWER_MOVES = {
    ReviewerState.WAITING: {ReviewerState.COMPILING, ReviewerState.FAILED, ReviewerState.CANCELLED},
    ReviewerState.COMPILING: {
        ReviewerState.PROVEN,
        ReviewerState.REFUSED,
        ReviewerState.FAILED,
        ReviewerState.CANCELLED,
    },
    ReviewerState.PROVEN: {ReviewerState.SIGNED, ReviewerState.EXPIRED},
    ReviewerState.SIGNED: {ReviewerState.EXPIRED},
    ReviewerState.REFUSED: set(),
    ReviewerState.EXPIRED: set(),
    ReviewerState.FAILED: set(),
    ReviewerState.CANCELLED: set(),
}
# It is known what came out, and that never changes.
REVIEWER_RESULTS = [ReviewerState.REFUSED, ReviewerState.PROVEN, ReviewerState.SIGNED, ReviewerState.EXPIRED]
JUDGE_RUN_MOVES = {
    JudgeRunState.WAITING: {JudgeRunState.RUNNING, JudgeRunState.FAILED, JudgeRunState.CANCELLED},
    JudgeRunState.RUNNING: {
        JudgeRunState.FINISHED,
        JudgeRunState.STOPPED,
        JudgeRunState.FAILED,
        JudgeRunState.CANCELLED,
    },
    JudgeRunState.STOPPED: {JudgeRunState.WAITING},
    JudgeRunState.FAILED: {JudgeRunState.WAITING},
    JudgeRunState.CANCELLED: {JudgeRunState.WAITING},
    JudgeRunState.FINISHED: set(),
}
PROBE_MOVES = {
    ProbeState.PROPOSED: {ProbeState.APPROVED, ProbeState.REFUSED},
    ProbeState.APPROVED: set(),
    ProbeState.REFUSED: set(),
}
PROBE_RUN_MOVES = {
    ProbeRunState.WAITING: {ProbeRunState.RUNNING, ProbeRunState.FAILED},
    ProbeRunState.RUNNING: {ProbeRunState.FINISHED, ProbeRunState.FAILED},
    ProbeRunState.FINISHED: set(),
    ProbeRunState.FAILED: set(),
}
