"""Labels with everything they rest on, read a batch at a time: the database puts each one together as one JSON text.

Nothing of the ORM is made on the way: a million labels have some fifty million parts. A batch holds as many labels as
have runs of `BATCH_BYTES` together, and at least one, so that memory does not grow with the size of the export. While
one batch is worked on, the database puts the next one together.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import msgspec
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Exists, OuterRef

from goldsets.models import DatasetVersion, Reviewer
from goldsets.queries.splits import ALONE
from goldsets.writers.document import Document, GuidelineText, Question, RubricText, Words
from reviews.enums import GateAnswer
from reviews.models import Criterion, Guideline, Project, Rubric

BATCH_LABELS = 1000
BATCH_BYTES = 8_000_000

# How much text the runs of the next labels hold. Postgres knows the length of a text without reading it.
SIZES = """
    SELECT chosen.position, coalesce(
        (SELECT sum(octet_length(body)) FROM reviews_step WHERE trajectory_id = item.trajectory_id),
        (SELECT sum(octet_length(step.body)) FROM reviews_candidate candidate
         JOIN reviews_step step ON step.trajectory_id = candidate.trajectory_id WHERE candidate.item_id = item.id),
        0) + CASE WHEN %(graded)s THEN coalesce(
            (SELECT sum(100 + octet_length(explanation)) FROM goldsets_graderscore WHERE item_id = item.id), 0)
        ELSE 0 END
    FROM {chosen} chosen
    JOIN reviews_queueitem queue_item ON queue_item.id = chosen.queue_item_id
    JOIN reviews_item item ON item.id = queue_item.item_id
    WHERE chosen.{owner} = %(owner)s AND chosen.position > %(after)s AND chosen.position <= %(after)s + %(most)s
    ORDER BY chosen.position
"""

# The fields of each array stand in the order of the structs in `goldsets.writers.document`.
DOCUMENTS = """
    SELECT json_build_array(
        chosen.position, item.kind, item.uid, queue.uid, coalesce(single.content_hash, item.content_hash),
        item.provenance, item.differs_in,
        json_build_array(task.key, task.family, task.split, task.slices, task.context,
            coalesce(policy.title, ''), coalesce(policy.text, '')),
        (SELECT json_build_array(number, prompt, world, verifier, intent)
         FROM reviews_taskversion WHERE id = item.task_version_id),
        json_build_array(label.uid, label.revision, label.basis, label.judgment_count, label.certainty,
            label.created_at, label.rationale, lead.pseudonym, label.versions, label.rubric_id, label.guideline_id,
            json_build_array(label.failure_step, label.failure_who, label.failure_cause, label.failure_note),
            coalesce((
                SELECT json_agg(json_build_array(v.criterion_id, v.candidate, v.value, v.basis,
                    coalesce(d.reason_code, ''), v.number, v.text, v.choices, v.ranks, v.tie, coalesce(d.note, '')))
                FROM reviews_labelvalue v LEFT JOIN reviews_adjudicatedvalue d
                    ON d.adjudication_id = label.adjudication_id AND d.criterion_id = v.criterion_id
                    AND d.candidate IS NOT DISTINCT FROM v.candidate
                WHERE v.label_id = label.id), '[]'),
            coalesce((
                SELECT json_agg(json_build_array(step, value, basis) ORDER BY step)
                FROM reviews_labelstep WHERE label_id = label.id), '[]')),
        coalesce((
            SELECT json_agg(json_build_array(rater.pseudonym, rater.tier, rater.simulated, j.revision, j.rubric_id,
                j.confidence, j.rationale, j.active_seconds, j.prelabel, j.submitted_at,
                json_build_array(j.failure_step, j.failure_who, j.failure_cause, j.failure_note),
                coalesce((
                    SELECT json_agg(CASE
                        -- Most are a level or a gate's answer.
                        WHEN number IS NULL AND choices IS NULL AND ranks IS NULL AND text || tie || note = ''
                        THEN json_build_array(criterion_id, candidate, value)
                        ELSE json_build_array(criterion_id, candidate, value, '', '', number, text, choices, ranks, tie,
                            note) END)
                    FROM reviews_rating WHERE judgment_id = j.id), '[]'),
                coalesce((
                    SELECT json_agg(json_build_array(step, value) ORDER BY step)
                    FROM reviews_steplabel WHERE judgment_id = j.id), '[]'),
                coalesce((
                    SELECT json_agg(json_build_array(criterion_id, candidate, step, field, start, "end", quote,
                        policy_line, part, mark) ORDER BY position)
                    FROM reviews_evidence WHERE judgment_id = j.id), '[]'),
                coalesce((
                    SELECT json_agg(json_build_array(failure_step, failure_who, failure_cause, failure_note, candidate)
                        ORDER BY candidate)
                    FROM reviews_candidatefailure WHERE judgment_id = j.id), '[]'),
                coalesce((
                    SELECT json_agg(json_build_array(step, kind, steps, reason) ORDER BY step)
                    FROM reviews_correction WHERE judgment_id = j.id), '[]')
            ) ORDER BY rater.pseudonym)
            -- Of each rater the revision that stood when the item was first labelled, or first since it reopened.
            FROM (
                SELECT DISTINCT ON (j.assignment_id) j.*
                FROM reviews_judgment j JOIN reviews_assignment a ON a.id = j.assignment_id
                    AND a.state = 'submitted' AND a.occasion = 1
                WHERE j.queue_id = label.queue_id AND j.item_id = label.item_id
                    AND j.submitted_at <= (
                        SELECT first.created_at FROM reviews_label first
                        WHERE first.queue_id = label.queue_id AND first.item_id = label.item_id
                            AND first.created_at > coalesce(queue_item.reopened_at, '-infinity')
                        ORDER BY first.revision LIMIT 1)
                    AND NOT EXISTS (SELECT 1 FROM goldsets_goldplacement WHERE assignment_id = j.assignment_id)
                ORDER BY j.assignment_id, j.revision DESC
            ) j JOIN reviews_membership rater ON rater.user_id = j.rater_id AND rater.project_id = queue.project_id
        ), '[]'),
        coalesce((
            SELECT json_agg(json_build_array(shown.position, shown.shared, shown.role, shown.result, run.content_hash,
                run.source_format, run.source_name, run.source_place, run.tools, run.versions,
                (SELECT json_build_array(result, nullif(nullif(nullif(reward, 'NaN'), 'Infinity'), '-Infinity'), model,
                    data) FROM reviews_outcome WHERE trajectory_id = run.id),
                (SELECT ('[' || coalesce(string_agg(body, ',' ORDER BY position), '') || ']')::json
                 FROM reviews_step WHERE trajectory_id = run.id),
                coalesce((
                    SELECT json_agg(json_build_array(grader, value, explanation) ORDER BY id)
                    FROM reviews_runscore WHERE trajectory_id = run.id), '[]'),
                run.redactions
            ) ORDER BY shown.position)
            FROM (
                SELECT 1 AS position, 0 AS shared, '' AS role, '{{}}'::jsonb AS result, item.trajectory_id
                WHERE item.trajectory_id IS NOT NULL
                UNION ALL
                SELECT position, shared, role, result, trajectory_id FROM reviews_candidate
                WHERE item.trajectory_id IS NULL AND item_id = item.id
            ) shown JOIN reviews_trajectory run ON run.id = shown.trajectory_id
        ), '[]'),
        -- What a judge says of families that stand in its examples it was told.
        CASE WHEN %(graded)s THEN coalesce((
            SELECT json_agg(json_build_array(grader.name, version.number, version.source, score.criterion,
                score.attempt, score."order", score.value, score.explanation)
                ORDER BY grader.name, version.number, score.criterion, score.attempt, score."order")
            FROM goldsets_graderscore score
            JOIN goldsets_graderversion version ON version.id = score.version_id
            JOIN goldsets_grader grader ON grader.id = version.grader_id
            LEFT JOIN goldsets_judgesetup judge ON judge.version_id = version.id
            WHERE score.item_id = item.id AND NOT coalesce(judge.examples, '[]') @> jsonb_build_array(
                jsonb_build_object('family', coalesce(nullif(task.family, ''), %(alone)s || task.key)))
        ), '[]') ELSE '[]' END,
        CASE WHEN %(grouped)s THEN (
            SELECT json_build_array(first, size, passing) FROM goldsets_datasetgroup
            WHERE version_id = %(owner)s AND task_id = task.id
        ) END
    )::text
    FROM {chosen} chosen
    JOIN reviews_queueitem queue_item ON queue_item.id = chosen.queue_item_id
    JOIN reviews_queue queue ON queue.id = queue_item.queue_id
    JOIN reviews_item item ON item.id = queue_item.item_id
    JOIN reviews_label label ON label.id = chosen.label_id
    LEFT JOIN reviews_trajectory single ON single.id = item.trajectory_id
    JOIN reviews_task task ON task.id = coalesce(single.task_id, item.task_id)
    LEFT JOIN reviews_contextdocument policy
        ON policy.id = CASE WHEN single.id IS NULL THEN task.policy_id ELSE single.policy_id END
    LEFT JOIN reviews_adjudication decision ON decision.id = label.adjudication_id
    LEFT JOIN reviews_membership lead ON lead.user_id = decision.lead_id AND lead.project_id = queue.project_id
    WHERE chosen.{owner} = %(owner)s AND chosen.position > %(after)s AND chosen.position <= %(last)s
    ORDER BY chosen.position
"""

_decode = msgspec.json.Decoder(Document).decode


@dataclass(frozen=True)
class Besides:
    """What comes along with a label where a format asks for it: what graders said, and the group of its run."""

    graded: bool = False
    grouped: bool = False


LABELS_ALONE = Besides()


# Whose labels were chosen, once and for all, and where.
CHOSEN = {
    DatasetVersion: {"chosen": "goldsets_datasetrow", "owner": "version_id"},
    Reviewer: {"chosen": "goldsets_reviewerlabel", "owner": "reviewer_id"},
}


def documents(
    owner: DatasetVersion | Reviewer,
    words: Words,
    *,
    after: int,
    last: int,
    part: int = BATCH_LABELS,
    besides: Besides = LABELS_ALONE,
) -> Iterator[list[Document]]:
    """The labels at the positions behind `after` up to `last`, in batches of which none is of two parts."""
    for texts in _texts(owner, after, last, part, besides):
        batch = [_decode(text) for text in texts]
        _learn(words, batch)
        yield batch


def _texts(owner: DatasetVersion | Reviewer, after: int, last: int, part: int, besides: Besides) -> Iterator[list[str]]:
    """The batches as the database puts them together, the next one while the caller works on the one before."""
    with _shared_connection() as connection, _taking_turns(), ThreadPoolExecutor(1) as beside:
        coming = beside.submit(_batch, connection, owner, after, last, part, besides)
        while after < last:
            after, texts = coming.result()
            coming = beside.submit(_batch, connection, owner, after, last, part, besides)
            yield texts


@contextmanager
def _shared_connection() -> Iterator[BaseDatabaseWrapper]:
    """This thread's connection, for another thread to use too: psycopg lets one statement wait for the other."""
    connection = connections[DEFAULT_DB_ALIAS]
    connection.inc_thread_sharing()
    try:
        yield connection
    finally:
        connection.dec_thread_sharing()


@contextmanager
def _taking_turns() -> Iterator[None]:
    """Python hands over between threads after half a millisecond, where it else takes five: for each piece that comes
    from the database the one that reads needs a moment of it, and the database waits.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0005)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _batch(
    connection: BaseDatabaseWrapper,
    owner: DatasetVersion | Reviewer,
    after: int,
    last: int,
    part: int,
    besides: Besides,
) -> tuple[int, list[str]]:
    """The last position of the batch behind `after`, and its labels. Two queries."""
    most = min(BATCH_LABELS, last - after, part - after % part)
    if most <= 0:
        return last, []
    chosen = CHOSEN[type(owner)]
    asked = {"owner": owner.pk, "after": after, **asdict(besides)}
    with connection.cursor() as cursor:
        cursor.execute(SIZES.format(**chosen), {**asked, "most": most})
        end = _end(cursor.fetchall(), after + most)
        cursor.execute(DOCUMENTS.format(**chosen), {**asked, "last": end, "alone": ALONE})
        return end, [text for (text,) in cursor.fetchall()]


def _end(sizes: list[tuple[int, int]], last: int) -> int:
    """The last position up to which runs are of `BATCH_BYTES` together, and at least the first."""
    held = 0
    for number, (position, size) in enumerate(sizes):
        held += size
        if held > BATCH_BYTES and number:
            return position - 1
    return last


def words_of(project: Project, owner: DatasetVersion | Reviewer) -> Words:
    """What documents of the project refer to. Questions of single items are looked up as they come."""
    criteria = list(Criterion.objects.filter(rubric__project=project).select_related("principle"))
    labelled = _rubrics_of(owner)
    asked = sorted((row for row in criteria if row.rubric_id in labelled), key=lambda row: row.position)
    by_rubric: dict[int, list[Criterion]] = {}
    for criterion in criteria:
        by_rubric.setdefault(criterion.rubric_id, []).append(criterion)  # type: ignore[arg-type]
    return Words(
        questions={criterion.pk: _question(criterion) for criterion in criteria},
        rubrics={
            rubric.pk: RubricText(
                name=rubric.name,
                version=rubric.version,
                step_words={word["value"]: word["name"] for word in rubric.step_labels.get("words", ())},
                criteria=[_asked(criterion) for criterion in by_rubric.get(rubric.pk, ())],
            )
            for rubric in Rubric.objects.filter(project=project)
        },
        guidelines={
            guideline.pk: GuidelineText(guideline.name, guideline.version, guideline.text)
            for guideline in Guideline.objects.filter(project=project)
        },
        asked=list(dict.fromkeys(row.key for row in asked)),
        drawn=owner.drawn if isinstance(owner, DatasetVersion) else {},
    )


def _rubrics_of(owner: DatasetVersion | Reviewer) -> set[int]:
    """The rubrics by which the chosen labels were made."""
    chosen = owner.rows if isinstance(owner, DatasetVersion) else owner.labels
    by_it = chosen.filter(label__rubric=OuterRef("pk")).order_by()
    return set(Rubric.objects.filter(Exists(by_it)).values_list("pk", flat=True))


def _learn(words: Words, batch: list[Document]) -> None:
    """Look up the questions that only an item of this batch has; those of earlier items are forgotten."""
    used = {value.criterion for document in batch for value in document.label.values}
    used |= {value.criterion for document in batch for one in document.judgments for value in one.values}
    if used <= words.questions.keys():
        return
    of_rubrics = {key: question for key, question in words.questions.items() if not question.place[0]}
    own = Criterion.objects.filter(pk__in=used - of_rubrics.keys())
    words.questions = of_rubrics | {criterion.pk: _question(criterion) for criterion in own}
    words.told = {}


def _question(criterion: Criterion) -> Question:
    names = {level["value"]: level["name"] for level in criterion.levels}
    if criterion.is_gate:
        names = {answer.value: str(answer.label).lower() for answer in GateAnswer}
    return Question(
        key=criterion.key,
        title=criterion.title,
        kind=criterion.kind,
        scope=criterion.scope,
        block=criterion.block,
        place=(criterion.rubric_id is None, criterion.position),
        names=names,
        unit=criterion.settings.get("unit", ""),
    )


def _asked(criterion: Criterion) -> dict[str, Any]:
    """The criterion as the rubric of a bundle gives it."""
    return {
        "key": criterion.key,
        "title": criterion.title,
        "question": criterion.question,
        "hint": criterion.hint,
        "kind": criterion.kind,
        "scope": criterion.scope,
        "block": criterion.block,
        "levels": criterion.levels,
        "required": criterion.required,
        "weight": criterion.weight,
        "principle": criterion.principle.text if criterion.principle else "",
    }
