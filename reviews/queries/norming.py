"""Norming sessions: what can be looked at together, and a session as its members and leads see it.

Votes of others come in where `reviews.visibility` lets this viewer see them, and nowhere else.
"""

import hashlib
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from reviews.enums import AssignmentState, CriterionKind, GateAnswer, NormingState, QueueItemState
from reviews.models import (
    Assignment,
    Criterion,
    Judgment,
    Membership,
    NormingComment,
    NormingSession,
    Queue,
    QueueItem,
    Rating,
)
from reviews.models.base import Said
from reviews.queries.agreement import FLOOR
from reviews.queries.history import Value, value_of
from reviews.queries.home import JUDGES
from reviews.queries.payloads import order_of
from reviews.queries.training import LEARNING
from reviews.queries.waiting import letter
from reviews.stats.agreement import krippendorff_alpha, percent_agreement
from reviews.stats.counts import from_codes
from reviews.stats.resampling import Bootstrap
from reviews.stats.result import Estimate, refuse_below
from reviews.visibility import Phase, Thing, Viewer, visible


def fit_to_norm(queue: Queue) -> QuerySet[QueueItem]:
    """Rows of a queue whose items no queue collects judgments of and no set holds back; those that wait come first."""
    elsewhere = QueueItem.objects.filter(item=OuterRef("item"))
    busy = elsewhere.filter(Q(queue__purpose__in=LEARNING) | Q(state=QueueItemState.COLLECTING))
    rows = QueueItem.objects.filter(~Exists(busy), queue=queue)
    order = F("waiting_since").desc(nulls_last=True)
    return rows.select_related("item__trajectory__task", "item__task").order_by(order, "pk")


def can_join(queue: Queue) -> list[Membership]:
    """Who can be asked into a session over this queue's items."""
    members = Membership.objects.filter(project=queue.project, active=True, role__in=JUDGES)
    return list(members.select_related("user").order_by("user__name", "pk"))


def session_by_uid(uid: Any) -> NormingSession | None:
    sessions = NormingSession.objects.select_related("queue__project", "queue__rubric", "queue__guideline")
    return sessions.filter(queue__uid=uid).first()


def is_in(session: NormingSession, person: Any) -> bool:
    return session.members.filter(user=person).exists()


# --- A session --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Voter:
    """A member: a letter, or a name where the lead chose names. `voted` is on how many items."""

    user_id: int
    shown: str
    own: bool
    voted: int


@dataclass(frozen=True)
class Vote:
    """What one member said of one criterion in each round; nothing where they did not vote, or not of this."""

    voter: Voter
    before: Value | None
    after: Value | None

    @property
    def changed(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True)
class OnCriterion:
    """One row of an item: a criterion, of one candidate where it is asked of each, with every vote."""

    criterion: Criterion
    title: str
    votes: list[Vote]
    comments: list[Any]
    differs: bool


@dataclass(frozen=True)
class OnItem:
    row: QueueItem
    own: Assignment | None
    rows: list[OnCriterion]
    comments: list[Any]

    @property
    def has_talk(self) -> bool:
        return bool(self.comments or any(row.comments for row in self.rows))


@dataclass(frozen=True)
class BeforeAfter:
    """Agreement on one criterion in both rounds; how many votes changed, of how many."""

    title: str
    key: str
    before: tuple[Estimate, Estimate]
    after: tuple[Estimate, Estimate]
    changed: int
    votes: int


@dataclass(frozen=True)
class SessionPage:
    """Before the reveal, `items` and `agreement` are empty."""

    session: NormingSession
    voters: list[Voter]
    item_count: int
    is_member: bool
    own_left: int
    items: list[OnItem] = field(default_factory=list)
    agreement: list[BeforeAfter] = field(default_factory=list)

    @property
    def criteria(self) -> list[Criterion]:
        return list(self.session.queue.rubric.criteria.all())

    @property
    def why_no_alpha(self) -> str:
        """Where it is missing, the reasons, each once."""
        alphas = [estimate for one in self.agreement for estimate in (one.before[1], one.after[1])]
        return " ".join(dict.fromkeys(alpha.words for alpha in alphas if not alpha.defined))

    @property
    def votes_in(self) -> int:
        return sum(voter.voted for voter in self.voters)

    @property
    def votes_wanted(self) -> int:
        return self.item_count * len(self.voters)


PHASES = {
    NormingState.VOTING: Phase.JUDGING,
    NormingState.REVEALED: Phase.REVEALED,
    NormingState.CLOSED: Phase.REVEALED,
}


def session_page(session: NormingSession, *, reader: Any) -> SessionPage:
    """The session as this person may see it."""
    member = is_in(session, reader)
    seen = visible(Viewer.RATER if member else Viewer.LEAD, PHASES[NormingState(session.state)])
    names = session.names_shown and Thing.PEER_JUDGMENTS in seen
    rows = list(
        QueueItem.objects.filter(queue=session.queue)
        .select_related("item__trajectory__task", "item__task")
        .order_by("pk")
    )
    voters = _voters(session, reader, names)
    own = next((voter for voter in voters if voter.own), None)
    page = SessionPage(
        session=session,
        voters=voters,
        item_count=len(rows),
        is_member=member,
        own_left=len(rows) - own.voted if own else 0,
    )
    if Thing.PEER_JUDGMENTS not in seen:
        return page
    first, last = _rounds(session)
    criteria = list(session.queue.rubric.criteria.all())
    items = [_on_item(row, voters, criteria, first, last, _comments(session, voters)) for row in rows]
    agreement = [_before_after(criterion, first, last) for criterion in criteria if criterion.is_comparable]
    return SessionPage(**{**vars(page), "items": items, "agreement": agreement})


def _voters(session: NormingSession, reader: Any, names: bool) -> list[Voter]:
    """In an order drawn by the session, so that letters tell nothing."""
    members = list(session.members.select_related("user"))
    members.sort(key=lambda one: hashlib.sha256(f"{session.queue.uid} {one.user_id}".encode()).hexdigest())
    voted: dict[int, int] = defaultdict(int)
    done = Assignment.objects.filter(queue=session.queue, state=AssignmentState.SUBMITTED)
    for rater in done.values_list("rater", flat=True):
        voted[rater] += 1
    return [
        Voter(one.user_id, str(one.user) if names else letter(n), one.user_id == reader.pk, voted[one.user_id])
        for n, one in enumerate(members)
    ]


# (item, rater) -> (criterion, candidate) -> rating
Round = dict[tuple[int, int], dict[tuple[int, int | None], Rating]]


def _rounds(session: NormingSession) -> tuple[Round, Round]:
    """What stood at the reveal, and what stands now."""
    judgments = (
        Judgment.objects.filter(queue=session.queue)
        .select_related("assignment")
        .prefetch_related("ratings__criterion")
        .order_by("revision")
    )
    first: Round = {}
    last: Round = {}
    for judgment in judgments:
        said = {(rating.criterion_id, rating.candidate): rating for rating in judgment.ratings.all()}
        for rating in said.values():
            rating.judgment = judgment
        if session.revealed_at and judgment.submitted_at <= session.revealed_at:
            first[judgment.item_id, judgment.rater_id] = said
        last[judgment.item_id, judgment.rater_id] = said
    return first, last


def _comments(session: NormingSession, voters: list[Voter]) -> list[tuple[NormingComment, str]]:
    """With who said each, as the votes name them; leads who are no members are all the same lead."""
    shown = {voter.user_id: voter.shown for voter in voters}
    return [(comment, shown.get(comment.author_id, "Lead")) for comment in session.comments.all()]


def _on_item(
    row: QueueItem,
    voters: list[Voter],
    criteria: list[Criterion],
    first: Round,
    last: Round,
    comments: list[tuple[NormingComment, str]],
) -> OnItem:
    here = [(comment, who) for comment, who in comments if comment.queue_item_id == row.pk]
    votes = {voter.user_id: last.get((row.item_id, voter.user_id), {}) for voter in voters}
    found = []
    for criterion in criteria:
        candidates = sorted(
            {key[1] for said in votes.values() for key in said if key[0] == criterion.pk}, key=lambda at: at or 0
        )
        for candidate in candidates or [None]:
            cells = [
                Vote(
                    voter,
                    _value(first.get((row.item_id, voter.user_id), {}).get((criterion.pk, candidate))),
                    _value(votes[voter.user_id].get((criterion.pk, candidate))),
                )
                for voter in voters
            ]
            said = {vote.after.words for vote in cells if vote.after}
            title = f"{chr(ord('A') + candidate - 1)} {criterion.title}" if candidate else criterion.title
            about = [pair for pair in here if pair[0].criterion_id == criterion.pk]
            found.append(OnCriterion(criterion, title, cells, about, criterion.is_comparable and len(said) > 1))
    own = next((voter.user_id for voter in voters if voter.own), None)
    mine = Assignment.objects.filter(
        queue=row.queue_id, item=row.item_id, rater=own, state=AssignmentState.SUBMITTED
    ).first()
    return OnItem(row, mine, found, [pair for pair in here if pair[0].criterion_id is None])


def _value(rating: Rating | None) -> Value | None:
    """In the item's own order of candidates, so that all speak of the same letters."""
    if rating is None:
        return None
    return value_of(rating, sorted(order_of(rating.judgment.assignment)))


def _before_after(criterion: Criterion, first: Round, last: Round) -> BeforeAfter:
    before, after = _said(criterion, first), _said(criterion, last)
    both = [key for key in before if key in after]
    return BeforeAfter(
        title=criterion.title,
        key=criterion.key,
        before=_estimates(criterion, before),
        after=_estimates(criterion, after),
        changed=sum(before[key] != after[key] for key in both) + len(before.keys() ^ after.keys()),
        votes=len(before.keys() | after.keys()),
    )


# (item, candidate, rater) -> what was said
def _said(criterion: Criterion, votes: Round) -> dict[tuple[int, int, int], Said]:
    return {
        (item, candidate or 0, rater): rating.said
        for (item, rater), said in votes.items()
        for (of, candidate), rating in said.items()
        if of == criterion.pk and not (criterion.is_gate and rating.value == GateAnswer.UNSURE)
    }


def _estimates(criterion: Criterion, said: dict[tuple[int, int, int], Said]) -> tuple[Estimate, Estimate]:
    """Percent agreement, whatever the number of items, and alpha, which needs as many as anywhere."""
    ordinal = criterion.kind == CriterionKind.ORDINAL
    if ordinal:
        scale: list[Any] = sorted(criterion.level_values)
        answers = [scale.index(value[0]) for value in said.values()]
    else:
        scale = sorted(set(said.values()), key=str)
        if criterion.is_gate:
            scale = [(answer, None, None, None, "") for answer in (GateAnswer.FAIL, GateAnswer.PASS)]
        answers = [scale.index(value) for value in said.values()]
    units = {key: n for n, key in enumerate(sorted({key[:2] for key in said}))}
    raters = {key: n for n, key in enumerate(sorted({key[2] for key in said}))}
    rated = from_codes(
        [units[key[:2]] for key in said],  # type: ignore[arg-type]
        [raters[key[2]] for key in said],  # type: ignore[arg-type]
        answers,  # type: ignore[arg-type]
        scores=scale if ordinal else list(range(len(scale))),
    )
    alpha = krippendorff_alpha(rated, level="ordinal" if ordinal else "nominal")
    return percent_agreement(rated, bootstrap=Bootstrap()), refuse_below(alpha, FLOOR)
