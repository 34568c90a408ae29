"""The vocabulary of Assay: every closed set of words that models, pages and the API share, and how states may move."""

from django.db.models import IntegerChoices, TextChoices


class Role(TextChoices):
    EXPERT = "expert", "Expert"
    LEAD = "lead", "Lead"
    ENGINEER = "engineer", "Engineer"
    ADMIN = "admin", "Admin"


class Tier(TextChoices):
    CROWD = "crowd", "Crowd"
    SKILLED = "skilled", "Skilled"
    EXPERT = "expert", "Expert"


class CriterionKind(TextChoices):
    GATE = "gate", "Gate"
    ORDINAL = "ordinal", "Ordered levels"
    BINARY = "binary", "Yes or no"
    CHOICE = "choice", "One of several"
    MULTI_CHOICE = "multi_choice", "Any of several"
    NUMBER = "number", "Number"
    TEXT = "text", "Text"
    PREFERENCE = "preference", "Preference"


class Scope(TextChoices):
    """What a criterion is asked of: the item as a whole, or each of its candidates."""

    ITEM = "item", "The item"
    CANDIDATE = "candidate", "Each candidate"


class PreferenceForm(TextChoices):
    """How raters say which candidate is better."""

    PAIR = "pair", "One of two"
    RANKING = "ranking", "Ranking"
    BEST_WORST = "best_worst", "Best and worst"


class Tie(TextChoices):
    """Why no candidate is preferred. Both fail is never chosen: it follows from the gates."""

    EQUALLY_GOOD = "equally_good", "Equally good"
    EQUALLY_BAD = "equally_bad", "Equally bad"
    BOTH_FAIL = "both_fail", "Both fail"


class Block(TextChoices):
    """The four grades that are never added up into one."""

    TASK_SUCCESS = "task_success", "Task success"
    POLICY_COMPLIANCE = "policy_compliance", "Policy compliance"
    PROCESS = "process", "Process"
    COMMUNICATION = "communication", "Communication"


class CorrectionRule(TextChoices):
    """Whether raters write what the agent should have done."""

    NEVER = "never", "Not asked for"
    OFFERED = "offered", "Offered"
    ON_FAIL = "on_fail", "Asked for when a gate fails"
    ALWAYS = "always", "Always asked for"


class CorrectionKind(TextChoices):
    REWRITE = "rewrite", "This step, rewritten"
    CONTINUE = "continue", "Another way on from here"


class EvidenceRule(TextChoices):
    NEVER = "never", "Not asked for"
    ON_FAIL = "on_fail", "When it fails"
    ALWAYS = "always", "Always"


class GateAnswer(IntegerChoices):
    """How a gate's answer is stored as a rating's value."""

    UNSURE = -1, "Unsure"
    FAIL = 0, "Fail"
    PASS = 1, "Pass"


class StepRole(TextChoices):
    SYSTEM = "system", "System"
    USER = "user", "User"
    AGENT = "agent", "Agent"
    TOOL = "tool", "Tool"


class OutcomeResult(TextChoices):
    SUCCESS = "success", "Success"
    FAILURE = "failure", "Failure"
    TIMEOUT = "timeout", "Timeout"
    CRASH = "crash", "Crash"
    UNKNOWN = "unknown", "Unknown"


class Split(TextChoices):
    OPEN = "open", "Open"
    HELD_OUT = "held_out", "Held out"


class ItemKind(TextChoices):
    """What is judged: one run, several candidates beside each other, or a task with its runs."""

    TRAJECTORY = "trajectory", "Trajectory"
    COMPARISON = "comparison", "Comparison"
    TASK = "task", "Task"


class AgentRole(TextChoices):
    """Which agent made a run that is attached to a task."""

    SOLVER = "solver", "Solver"
    HACKER = "hacker", "Hacker"
    VERIFIER = "verifier", "Verifier"
    REVIEWER = "reviewer", "Reviewer"


class TaskPart(TextChoices):
    """The four parts of a task that are reviewed together."""

    PROMPT = "prompt", "Prompt"
    WORLD = "world", "World"
    VERIFIER = "verifier", "Verifier"
    INTENT = "intent", "Intent"


class Verifiability(TextChoices):
    """How surely a program can tell whether the task was done."""

    EXACT = "exact", "A program can tell"
    PARTLY = "partly", "A program can tell in part"
    JUDGED = "judged", "Only a judgement can tell"


class Provenance(TextChoices):
    """Where an item's run comes from."""

    EXPERT = "expert", "Expert"
    MODEL = "model", "Model output"
    CONTRASTIVE = "contrastive", "Contrastive"
    FAILURE = "failure", "Labelled failure"
    ADVERSARIAL = "adversarial", "Adversarial"
    SYNTHETIC = "synthetic", "Synthetic"


class ImportState(TextChoices):
    PREVIEW = "preview", "Looked at"
    WAITING = "waiting", "Waiting"
    RUNNING = "running", "Running"
    FINISHED = "finished", "Finished"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class RedactionKind(TextChoices):
    """What can be found in a text and replaced."""

    EMAIL = "e-mail", "E-mail addresses"
    PHONE = "phone", "Phone numbers"
    CARD = "card", "Card numbers"
    KEY = "key", "Keys and tokens"


class Purpose(TextChoices):
    """What a queue is for. Only work makes labels; in the others people learn, show what they know, or agree."""

    WORK = "work", "Work"
    PRACTICE = "practice", "Practice"
    QUALIFICATION = "qualification", "Qualification"
    NORMING = "norming", "Norming session"


class QualificationOutcome(TextChoices):
    """What a rater's answers in a qualification come to."""

    PASSED = "passed", "Passed"
    NOT_YET = "not_yet", "Not yet"
    UNDECIDED = "undecided", "Undecided"
    WAIVED = "waived", "Waived"


class NormingState(TextChoices):
    """Where a norming session stands: votes are blind, then open to its members, who may vote again, then final."""

    VOTING = "voting", "Voting blind"
    REVEALED = "revealed", "Revealed"
    CLOSED = "closed", "Closed"


class QueueState(TextChoices):
    OPEN = "open", "Open"
    PAUSED = "paused", "Paused"
    CLOSED = "closed", "Closed"


class QueueOrder(TextChoices):
    ARRIVAL = "arrival", "As they came in"
    SHUFFLED = "shuffled", "Shuffled"


class SettleRule(TextChoices):
    UNANIMOUS = "unanimous", "Everybody gave the same values"
    MAJORITY = "majority", "Gates unanimous, other values by strict majority"
    LEAD = "lead", "A lead decides every item"


class QueueItemState(TextChoices):
    COLLECTING = "collecting", "Collecting judgments"
    WAITING = "waiting", "Waiting for a lead"
    SETTLED = "settled", "Settled"


class WaitsFor(TextChoices):
    """Why an item waits for a lead."""

    DISAGREEMENT = "disagreement", "Raters differ"
    RULE = "rule", "The queue sends every item to a lead"
    UNSURE = "unsure", "Raters were unsure"
    IMPROBABLE = "improbable", "Agreed on, but improbable"
    SKIPS = "skips", "Skipped three times"
    CHECK = "check", "A rater's work is looked at again"
    RATERS = "raters", "Sent back to its raters"
    SECOND_LEAD = "second_lead", "A second lead is asked"
    APART = "apart", "Set apart"
    OWN_QUEUE = "own_queue", "Split out into another queue"


# What is not to be judged or decided where it lies, until somebody takes it back; and all that no lead can decide now.
LAID_ASIDE = (WaitsFor.APART, WaitsFor.OWN_QUEUE)
PASSED_ON = (WaitsFor.RATERS, *LAID_ASIDE)


class SettlingCause(TextChoices):
    """What happened to an item that may settle it."""

    JUDGED = "judged", "A judgment came in"
    CORRECTED = "corrected", "A judgment was corrected"
    SKIPPED = "skipped", "A rater passed it on"


class ReferralKind(TextChoices):
    """To whom a lead passes an item on instead of deciding it; an item then waits for just that."""

    RATERS = WaitsFor.RATERS.value, "Back to its raters"
    SECOND_LEAD = WaitsFor.SECOND_LEAD.value, "To a second lead"
    APART = WaitsFor.APART.value, "Out of the way"
    OWN_QUEUE = WaitsFor.OWN_QUEUE.value, "Into a queue of its own"


class SlotState(TextChoices):
    OPEN = "open", "Open"
    LEASED = "leased", "Leased"
    DONE = "done", "Done"
    WITHDRAWN = "withdrawn", "Withdrawn"


class AssignmentState(TextChoices):
    LEASED = "leased", "Leased"
    SUBMITTED = "submitted", "Submitted"
    SKIPPED = "skipped", "Skipped"
    RELEASED = "released", "Released"
    EXPIRED = "expired", "Expired"
    SET_ASIDE = "set_aside", "Set aside"


class SkipReason(TextChoices):
    NOT_MY_FIELD = "not_my_field", "Outside my field"
    CANNOT_READ = "cannot_read", "The run cannot be read"
    CONFLICT = "conflict", "I know the people or the case"
    GUIDELINE = "guideline", "The guideline does not cover it"
    OTHER = "other", "Another reason"


class FailureWho(TextChoices):
    AGENT = "agent", "Agent"
    USER = "user", "Requester"
    WORLD = "world", "World"
    PROMPT = "prompt", "Prompt"
    VERIFIER = "verifier", "Verifier"


class FailureCause(TextChoices):
    UNAUTHORISED_ACCESS = "unauthorised_access", "Unauthorised access"
    MISSING_CONFIRMATION = "missing_confirmation", "Missing confirmation"
    FABRICATION = "fabrication", "Fabricated result"
    WRONG_TOOL = "wrong_tool_or_arguments", "Wrong tool or arguments"
    POLICY_MISREAD = "policy_misread", "Policy misread"
    NO_PROGRESS = "no_progress", "No progress"
    INCOMPLETE = "incomplete", "Left incomplete"
    OTHER = "other", "Other"


class ReasonCode(TextChoices):
    """Why raters differed, as a lead sees it."""

    RATER_ERROR = "rater_error", "Rater error"
    GUIDELINE_UNCLEAR = "guideline_unclear", "Guideline unclear"
    RUBRIC_GAP = "rubric_gap", "Rubric gap"
    ITEM_AMBIGUOUS = "item_ambiguous", "Item ambiguous"
    BOTH_ACCEPTABLE = "both_acceptable", "Both acceptable"


class QuestionAbout(TextChoices):
    """What a rater asks a lead about; all but the whole run have a place in it."""

    ITEM = "item", "The whole run"
    STEP = "step", "A step"
    GUIDELINE = "guideline", "A line of the guideline"
    POLICY = "policy", "A line of the policy"


class NotePlace(TextChoices):
    """Where a note for everybody stands."""

    GUIDELINE = "guideline", "At a line of the guideline"
    POLICY = "policy", "At a line of the policy"


class DeliveryState(TextChoices):
    """Where an event stands that a webhook is to hear of."""

    WAITING = "waiting", "On its way"
    DELIVERED = "delivered", "Delivered"
    GIVEN_UP = "given_up", "Given up"


class QuestionState(TextChoices):
    OPEN = "open", "Waiting for an answer"
    ANSWERED = "answered", "Answered"


class Basis(TextChoices):
    """What a label's value rests on."""

    UNANIMOUS = "unanimous", "Unanimous"
    AGGREGATED = "aggregated", "Aggregated"
    ADJUDICATED = "adjudicated", "Adjudicated"
    AMBIGUOUS = "ambiguous", "Ambiguous: no value is right"
    REVIEWER = "reviewer", "By a compiled reviewer"


# On these no person says what is right: nothing is measured, taught or fitted by such a label.
UNANSWERED = [Basis.AMBIGUOUS, Basis.REVIEWER]


class Verb(TextChoices):
    """What an Event says was done."""

    PROJECT_CREATED = "project.created", "created the project"
    MEMBER_INVITED = "member.invited", "invited somebody"
    MEMBER_JOINED = "member.joined", "joined"
    MEMBER_CHANGED = "member.changed", "changed a membership"
    TOKEN_REVOKED = "token.revoked", "revoked a member's API token"
    RUBRIC_CREATED = "rubric.created", "wrote a rubric version"
    PRINCIPLE_CREATED = "principle.created", "wrote a principle version"
    GUIDELINE_CREATED = "guideline.created", "wrote a guideline version"
    CHANGE_DRAFTED = "change.drafted", "drafted a change to a guideline"
    CHANGE_TRIED = "change.tried", "tried a change to a guideline"
    QUEUE_CREATED = "queue.created", "created a queue"
    QUEUE_CHANGED = "queue.changed", "changed a queue"
    QUEUE_MOVED = "queue.moved", "moved a queue to another version of its rubric or guideline"
    QUEUE_SUCCEEDED = "queue.succeeded", "opened a new queue for what one left unfinished"
    QUEUE_FILLED = "queue.filled", "put items into a queue"
    IMPORT_STARTED = "import.started", "started an import"
    IMPORT_FINISHED = "import.finished", "finished an import"
    IMPORT_FAILED = "import.failed", "had an import fail"
    IMPORT_CANCELLED = "import.cancelled", "cancelled an import"
    RUNS_POSTED = "runs.posted", "posted runs"
    COMPARISON_MADE = "comparison.made", "laid runs beside each other"
    COMPARISONS_MADE = "comparisons.made", "laid many runs beside each other"
    TASK_WRITTEN = "task.written", "wrote a task to be reviewed"
    SCORES_POSTED = "scores.posted", "posted scores of runs"
    REDACTION_CHANGED = "redaction.changed", "changed what is redacted"
    MASKING_CHANGED = "masking.changed", "changed what raters do not read"
    RULE_CREATED = "rule.created", "made a rule on arrival"
    RULE_CHANGED = "rule.changed", "changed a rule on arrival"
    RULE_REMOVED = "rule.removed", "removed a rule on arrival"
    ASSIGNMENT_CLAIMED = "assignment.claimed", "took an item"
    ASSIGNMENT_RELEASED = "assignment.released", "gave an item back"
    ASSIGNMENT_SKIPPED = "assignment.skipped", "skipped an item"
    ASSIGNMENT_EXPIRED = "assignment.expired", "let a lease run out"
    JUDGMENT_SUBMITTED = "judgment.submitted", "submitted a judgment"
    JUDGMENT_CORRECTED = "judgment.corrected", "corrected a judgment"
    ITEM_SETTLED = "item.settled", "had an item settle by rule"
    ITEM_TAKEN = "item.taken", "had an item settle without raters"
    ITEM_WAITING = "item.waiting", "had an item go to a lead"
    ITEM_ADJUDICATED = "item.adjudicated", "settled an item"
    VERDICTS_SHOWN = "verdicts.shown", "read what graders said of a run they had judged"
    VERDICTS_AUDITED = "verdicts.audited", "checked what graders said of a run"
    ITEM_REFERRED = "item.referred", "passed an item on"
    ITEM_TAKEN_BACK = "item.taken_back", "took an item back that was passed on"
    ITEM_PUT_FIRST = "item.put_first", "said whether an item is decided before others"
    REFERRAL_ANSWERED = "referral.answered", "answered a lead's question"
    FIRST_ANSWERED = "item.first_answered", "answered before they saw the raters"
    DECISION_UNDONE = "decision.undone", "undid a decision"
    QUESTION_ASKED = "question.asked", "asked a question"
    QUESTION_ANSWERED = "question.answered", "answered a question"
    NOTE_PUBLISHED = "note.published", "published a note on a guideline"
    NOTES_FOLDED = "notes.folded", "folded notes into a guideline version"
    DIGEST_CHANGED = "digest.changed", "changed whether raters read decisions"
    ITEM_REOPENED = "item.reopened", "opened a settled item again"
    RATER_PAUSED = "rater.paused", "paused a rater"
    RATER_RESUMED = "rater.resumed", "let a rater go on"
    WORK_SET_ASIDE = "work.set_aside", "set a rater's work aside"
    WORK_SENT_TO_LEAD = "work.sent_to_lead", "sent a rater's work to a lead"
    TRAINING_OPENED = "training.opened", "opened a practice set or a qualification"
    PRACTICE_REPEATED = "practice.repeated", "began a practice set again"
    QUALIFICATION_WEIGHED = "qualification.weighed", "had a qualification weighed"
    QUALIFICATION_WAIVED = "qualification.waived", "waived a qualification"
    QUALIFICATION_REQUIRED = "qualification.required", "changed which qualification a queue asks for"
    NORMING_OPENED = "norming.opened", "opened a norming session"
    NORMING_REVEALED = "norming.revealed", "revealed the votes of a norming session"
    NORMING_DISCUSSED = "norming.discussed", "said something in a norming session"
    NORMING_CLOSED = "norming.closed", "closed a norming session"
    NAMES_OPENED = "names.opened", "opened the raters' names"
    WEBHOOK_CREATED = "webhook.created", "set up a webhook"
    WEBHOOK_CHANGED = "webhook.changed", "changed a webhook"
    WEBHOOK_REPLAYED = "webhook.replayed", "sent an event to a webhook again"
    ORIGINAL_READ = "original.read", "read a run's original"


# What the audit log's page can be asked for: in words, with what verbs begin with.
VERB_TOPICS = {
    "People and tokens": ("project", "member", "token", "names"),
    "What came in": ("import", "runs", "scores", "task", "comparison", "comparisons", "original"),
    "Rules, redaction and masks": ("rule", "redaction", "masking"),
    "Rubrics and guidelines": ("rubric", "principle", "guideline", "change", "note", "notes", "digest"),
    "Queues": ("queue",),
    "Judging": ("assignment", "judgment", "question", "rater", "work"),
    "Settling": ("item", "decision", "referral"),
    "Checks of verdicts": ("verdicts",),
    "Training and norming": ("training", "practice", "qualification", "norming"),
    "Webhooks": ("webhook",),
}


# What may follow what. Every member of each state is a key, so a new state cannot be half added.
SLOT_MOVES = {
    SlotState.OPEN: {SlotState.LEASED, SlotState.WITHDRAWN},
    SlotState.LEASED: {SlotState.DONE, SlotState.OPEN, SlotState.WITHDRAWN},
    SlotState.DONE: {SlotState.OPEN},
    SlotState.WITHDRAWN: {SlotState.LEASED, SlotState.OPEN},
}
ASSIGNMENT_MOVES = {
    AssignmentState.LEASED: {
        AssignmentState.SUBMITTED,
        AssignmentState.SKIPPED,
        AssignmentState.RELEASED,
        AssignmentState.EXPIRED,
    },
    AssignmentState.RELEASED: {AssignmentState.LEASED},
    AssignmentState.EXPIRED: {AssignmentState.LEASED},
    # Released again only in practice, which can be repeated.
    AssignmentState.SUBMITTED: {AssignmentState.SET_ASIDE, AssignmentState.RELEASED},
    AssignmentState.SET_ASIDE: set(),
    AssignmentState.SKIPPED: set(),
}
QUEUE_ITEM_MOVES = {
    QueueItemState.COLLECTING: {QueueItemState.WAITING, QueueItemState.SETTLED},
    QueueItemState.WAITING: {QueueItemState.SETTLED},
    QueueItemState.SETTLED: {QueueItemState.COLLECTING, QueueItemState.WAITING},
}
DELIVERY_MOVES = {
    DeliveryState.WAITING: {DeliveryState.DELIVERED, DeliveryState.GIVEN_UP},
    DeliveryState.DELIVERED: set(),
    DeliveryState.GIVEN_UP: set(),
}
QUESTION_MOVES = {
    QuestionState.OPEN: {QuestionState.ANSWERED},
    QuestionState.ANSWERED: set(),
}
IMPORT_MOVES = {
    ImportState.PREVIEW: {ImportState.WAITING, ImportState.CANCELLED},
    ImportState.WAITING: {ImportState.RUNNING, ImportState.CANCELLED, ImportState.FAILED},
    ImportState.RUNNING: {ImportState.FINISHED, ImportState.FAILED, ImportState.CANCELLED},
    ImportState.FAILED: {ImportState.RUNNING},
    ImportState.FINISHED: set(),
    ImportState.CANCELLED: set(),
}
QUEUE_MOVES = {
    QueueState.OPEN: {QueueState.PAUSED, QueueState.CLOSED},
    QueueState.PAUSED: {QueueState.OPEN, QueueState.CLOSED},
    QueueState.CLOSED: {QueueState.OPEN},
}
NORMING_MOVES = {
    NormingState.VOTING: {NormingState.REVEALED},
    NormingState.REVEALED: {NormingState.CLOSED},
    NormingState.CLOSED: set(),
}
