"""Fills a database for the bench: a project, people, runs and queues of any size, by SQL into the ordinary tables."""

from dataclasses import dataclass

from django.db import connection

from goldsets.models import GoldPolicy
from reviews.models import Queue
from reviews.models.queue import PLACE_STEP
from reviews.trajectories.schema import encode_step
from tests import factories as make

STEPS = [encode_step(step).decode() for step in make.STEPS]
ROLES = [step.role for step in make.STEPS]
GOLD_RATE = "0.100"


@dataclass(frozen=True)
class World:
    """What was made, by primary key. `bare` is a second queue on the same items that only bare SQL works on."""

    queue: int
    bare: int
    raters: tuple[int, ...]
    veteran: int
    lead: int


def fill(
    items: int,
    overlap: int = 3,
    raters: int = 8,
    gold: int = 0,
    veteran_judgments: int = 0,
    *,
    first: int = 1,
    analyze: bool = True,
) -> World:
    """A world with `items` open items in each of two queues, and `gold` settled gold items in the first.

    Runs and items are numbered from `first`, so that a database can hold two worlds.
    """
    project = make.project()
    queue = make.queue(project, items=[], overlap=overlap)
    bare = make.queue(project, items=[], overlap=overlap)
    people = [make.expert(project, f"Rater {number}") for number in range(1, raters + 1)]
    veteran = make.expert(project, "Veteran")
    with connection.cursor() as cursor:
        # Foreign keys are right by the way the rows are made; checking millions of them one by one takes minutes.
        cursor.execute("SET session_replication_role = replica")
        _add_runs(cursor, project.pk, first, items + gold)
        _add_to_queue(cursor, queue, first, items, item_by_item=True)
        _add_to_queue(cursor, bare, first, items, item_by_item=False)
        if gold:
            _add_gold(cursor, queue, first + items, gold, added_by=make.lead_of(project).pk)
            GoldPolicy.objects.create(queue=queue, rate=GOLD_RATE)
        if veteran_judgments:
            _let_judge(cursor, queue, veteran.pk, veteran_judgments)
        cursor.execute("SET session_replication_role = origin")
        if analyze:
            cursor.execute("VACUUM ANALYZE")
    return World(
        queue=queue.pk,
        bare=bare.pk,
        raters=tuple(person.pk for person in people),
        veteran=veteran.pk,
        lead=make.lead_of(project).pk,
    )


def _add_runs(cursor, project: int, first: int, number: int) -> None:
    """Runs of four steps with their tasks, outcomes and items; the keys count from `first` in each table."""
    last = first + number - 1
    cursor.execute(
        "INSERT INTO reviews_contextdocument (id, project_id, sha256, title, text) VALUES (%s, %s, %s, 'Policy', %s)",
        [first, project, "0" * 64, make.POLICY],
    )
    cursor.execute(
        """
        INSERT INTO reviews_task (id, project_id, key, family, title, context, slices, split, policy_id)
        SELECT n, %s, 'task-' || n, 'family-' || n %% 12, 'Refund for a late order',
               '{"request": "I want my money back.", "requester": {"Owns": "A-5017"}}', '{}', 'open', %s
        FROM generate_series(%s, %s) n
        """,
        [project, first, first, last],
    )
    cursor.execute(
        """
        INSERT INTO reviews_trajectory (id, uid, project_id, task_id, policy_id, content_hash, source_format,
            source_name, source_place, step_count, tools, versions, created_at)
        SELECT n, gen_random_uuid(), %s, n, %s, lpad(n::text, 64, '0'), 'openai_chat',
               'runs.jsonl', 'line ' || n, %s, '[]', '{"environment": "desk 3.2"}', now()
        FROM generate_series(%s, %s) n
        """,
        [project, first, len(STEPS), first, last],
    )
    cursor.execute(
        """
        INSERT INTO reviews_step (trajectory_id, position, role, body)
        SELECT n, step.position, step.role, step.body
        FROM generate_series(%s, %s) n, unnest(%s::text[], %s::text[]) WITH ORDINALITY AS step(role, body, position)
        """,
        [first, last, ROLES, STEPS],
    )
    cursor.execute(
        """
        INSERT INTO reviews_outcome (trajectory_id, result, reward, model, data)
        SELECT n, 'success', 1, 'model-' || n %% 5, '{}' FROM generate_series(%s, %s) n
        """,
        [first, last],
    )
    cursor.execute(
        """
        INSERT INTO reviews_item (id, uid, project_id, kind, trajectory_id, provenance, created_at)
        SELECT n, gen_random_uuid(), %s, 'trajectory', n, 'model', now() FROM generate_series(%s, %s) n
        """,
        [project, first, last],
    )


def _add_to_queue(cursor, queue: Queue, first: int, items: int, *, item_by_item: bool) -> None:
    """So many items from `first` with their slots: those of one item together, or the first slots of all items first.

    The second order is for the bare claim, which does not see to it that nobody gets an item twice.
    """
    cursor.execute(
        """
        INSERT INTO reviews_queueitem (uid, queue_id, item_id, state, waits_for)
        SELECT gen_random_uuid(), %s, n, 'collecting', '' FROM generate_series(%s, %s) n
        """,
        [queue.pk, first, first + items - 1],
    )
    cursor.execute(
        """
        INSERT INTO reviews_slot (queue_id, item_id, queue_item_id, number, place, state)
        SELECT queue_id, item_id, id, number, (item_id + %s * (number - 1)) * %s AS place, 'open'
        FROM reviews_queueitem, generate_series(1, %s) number WHERE queue_id = %s ORDER BY place, number
        """,
        [0 if item_by_item else items, PLACE_STEP, queue.overlap, queue.pk],
    )


def _add_gold(cursor, queue: Queue, first: int, number: int, added_by: int) -> None:
    """Settled items with a label, behind the open ones."""
    cursor.execute(
        """
        WITH label AS (
            INSERT INTO reviews_label (uid, queue_id, item_id, revision, basis, rubric_id, guideline_id, rationale,
                versions, judgment_count, created_at, failure_who, failure_cause, failure_note)
            SELECT gen_random_uuid(), %s, n, 1, 'unanimous', %s, %s, '', '{}', 3, now(), '', '', ''
            FROM generate_series(%s, %s) n RETURNING id, item_id
        ), value AS (
            INSERT INTO reviews_labelvalue (label_id, criterion_id, value, basis)
            SELECT label.id, criterion.id, 1, 'unanimous'
            FROM label, reviews_criterion criterion WHERE criterion.rubric_id = %s
        ), item AS (
            INSERT INTO reviews_queueitem (uid, queue_id, item_id, state, waits_for, label_id)
            SELECT gen_random_uuid(), %s, item_id, 'settled', '', id FROM label RETURNING id, item_id, label_id
        ), slot AS (
            INSERT INTO reviews_slot (queue_id, item_id, queue_item_id, number, place, state)
            SELECT %s, item_id, id, number, item_id * %s, 'done' FROM item, generate_series(1, %s) number
        )
        , gold AS (
            INSERT INTO goldsets_golditem
                (id, queue_item_id, queue_id, key_id, state, times_used, added_by_id, added_at)
            SELECT id, id, %s, id, 'active', 0, %s, now() FROM item
        )
        INSERT INTO goldsets_goldkey (id, uid, gold_item_id, number, expected, label_id, guideline_id, source, note,
            state, proposed_by_id, proposed_at)
        SELECT id, gen_random_uuid(), id, 1, '{}', label_id, %s, 'label', '', 'approved', %s, now() FROM item
        """,
        [
            *(queue.pk, queue.rubric_id, queue.guideline_id, first, first + number - 1, queue.rubric_id, queue.pk),
            *(queue.pk, PLACE_STEP, queue.overlap, queue.pk, added_by, queue.guideline_id, added_by),
        ],
    )


def settle(items: int, overlap: int = 3, *, first: int = 1, differing: bool = False) -> int:
    """A queue whose items are all settled, each on as many judgments as the overlap asks for; gives its key.

    Runs and items are numbered from `first`; with `differing` an item has a level, and raters are off in one of four.
    """
    project = make.project()
    queue = make.queue(project, items=[], overlap=overlap)
    raters = [make.expert(project, f"Rater {number}") for number in range(1, overlap + 1)]
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        _add_runs(cursor, project.pk, first, items)
        _add_to_queue(cursor, queue, first, items, item_by_item=True)
        for number, rater in enumerate(raters, start=1):
            _let_judge(cursor, queue, rater.pk, items, slot_number=number, differing=differing)
        cursor.execute(LABELS, {"queue": queue.pk, "rubric": queue.rubric_id, "guideline": queue.guideline_id})
        cursor.execute("SET session_replication_role = origin")
        cursor.execute("VACUUM ANALYZE")
    return queue.pk


LABELS = """
    WITH label AS (
        INSERT INTO reviews_label (uid, queue_id, item_id, revision, basis, rubric_id, guideline_id, rationale,
            versions, judgment_count, created_at, failure_who, failure_cause, failure_note)
        SELECT gen_random_uuid(), queue_id, item_id, 1, 'unanimous', %(rubric)s, %(guideline)s, '', '{}', 3, now(),
            '', '', ''
        FROM reviews_queueitem WHERE queue_id = %(queue)s RETURNING id, item_id
    ), value AS (
        INSERT INTO reviews_labelvalue (label_id, criterion_id, value, basis)
        SELECT label.id, criterion.id, 1, 'unanimous'
        FROM label, reviews_criterion criterion WHERE criterion.rubric_id = %(rubric)s
    )
    UPDATE reviews_queueitem item SET state = 'settled', label_id = label.id
    FROM label WHERE item.queue_id = %(queue)s AND item.item_id = label.item_id
"""


def _let_judge(cursor, queue: Queue, rater: int, number: int, *, slot_number: int = 1, differing: bool = False) -> None:
    """One rater has judged the first `number` items, and their cursor stands behind these."""
    cursor.execute(
        """
        WITH assignment AS (
            INSERT INTO reviews_assignment (uid, queue_id, item_id, slot_id, rater_id, state, leased_at, expires_at,
                ended_at, seen_at, active_seconds, skip_reason, skip_note)
            SELECT gen_random_uuid(), queue_id, item_id, id, %s, 'submitted', at, at, at, at, 60, '', ''
            FROM (SELECT *, now() - make_interval(mins => (%s - row_number() OVER (ORDER BY place))::int) AS at
                  FROM reviews_slot WHERE queue_id = %s AND number = %s AND state = 'open' ORDER BY place LIMIT %s) slot
            RETURNING *
        ), judgment AS (
            INSERT INTO reviews_judgment (uid, assignment_id, revision, queue_id, item_id, rater_id, rubric_id,
                guideline_id, confidence, rationale, active_seconds, idempotency_key, submitted_at, failure_who,
                failure_cause, failure_note)
            SELECT gen_random_uuid(), id, 1, queue_id, item_id, rater_id, %s, %s, 3, '', 60, 'k', ended_at, '', '', ''
            FROM assignment RETURNING id, item_id
        )
        INSERT INTO reviews_rating (judgment_id, criterion_id, value)
        SELECT judgment.id, criterion.id,
            CASE WHEN %s AND criterion.kind = 'ordinal'
                THEN ((hashint8(judgment.item_id) & 3) + (hashint8(judgment.id + criterion.id) & 7 < 2)::int) & 3
                ELSE 1 END
        FROM judgment, reviews_criterion criterion WHERE criterion.rubric_id = %s
        """,
        [
            *(rater, number, queue.pk, slot_number, number),
            *(queue.rubric_id, queue.guideline_id, differing, queue.rubric_id),
        ],
    )
    cursor.execute(
        """
        UPDATE reviews_slot SET state = 'done'
        WHERE id IN (SELECT slot_id FROM reviews_assignment WHERE queue_id = %s AND rater_id = %s)
        """,
        [queue.pk, rater],
    )
    cursor.execute(
        """
        INSERT INTO reviews_ratercursor (queue_id, rater_id, place, slot_id)
        SELECT slot.queue_id, %s, slot.place, slot.id
        FROM reviews_slot slot JOIN reviews_assignment assignment ON assignment.slot_id = slot.id
        WHERE slot.queue_id = %s AND assignment.rater_id = %s ORDER BY slot.place DESC, slot.id DESC LIMIT 1
        """,
        [rater, queue.pk, rater],
    )


WORDS = [{"value": 1, "name": "Correct"}, {"value": 0, "name": "Neutral"}, {"value": -1, "name": "Incorrect"}]
RATERS = 12


def judge_in_full(items: int, overlap: int, still_open: int = 0) -> int:
    """A queue with everything that agreement is counted of, and some items that are still open; gives its key.

    Each item is judged by so many of twelve raters, who each err in one answer of eight: gates that fail with a step
    and evidence, levels where none fails, and a word for each step. Runs are four to a task, tasks have two slices.
    """
    project = make.project()
    queue = make.queue(project, items=[], overlap=overlap, rubric={"step_labels": {"words": WORDS}})
    raters = [make.expert(project, f"Rater {number}").pk for number in range(1, RATERS + 1)]
    gate = queue.rubric.criteria.get(key="authorised").pk
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        _add_runs(cursor, project.pk, 1, items + still_open)
        cursor.execute("UPDATE reviews_trajectory SET task_id = 1 + (task_id - 1) / 4")
        cursor.execute(
            """UPDATE reviews_task SET slices = jsonb_build_object('ticket', 'kind-' || id % 6, 'tools', id % 3 + 1)"""
        )
        _add_to_queue(cursor, queue, 1, items + still_open, item_by_item=True)
        cursor.execute("SELECT setseed(.5)")
        cursor.execute(
            IN_FULL,
            {
                "queue": queue.pk,
                "rubric": queue.rubric_id,
                "guideline": queue.guideline_id,
                "raters": raters,
                "n": RATERS,
                "gate": gate,
                "items": items,
            },
        )
        cursor.execute("UPDATE reviews_slot SET state = 'done' WHERE item_id <= %s", [items])
        cursor.execute("UPDATE reviews_queueitem SET state = 'settled' WHERE item_id <= %s", [items])
        cursor.execute("SET session_replication_role = origin")
        cursor.execute("VACUUM ANALYZE")
    return queue.pk


# An item's own answers follow from its number; a rater's are those, or by chance of one in eight others.
IN_FULL = """
    WITH assignment AS (
        INSERT INTO reviews_assignment (uid, queue_id, item_id, slot_id, rater_id, state, leased_at, expires_at,
            ended_at, seen_at, active_seconds, skip_reason, skip_note)
        SELECT gen_random_uuid(), queue_id, item_id, slot.id, rater.id, 'submitted', at, at, at, at,
            30 + item_id %% 90, '', ''
        FROM (SELECT *, now() - make_interval(mins => (item_id %% 80000)::int) AS at
              FROM reviews_slot WHERE queue_id = %(queue)s AND item_id <= %(items)s) slot
        JOIN LATERAL (SELECT id, row_number() OVER (ORDER BY hashint8(slot.item_id * 100 + id)) AS place
                      FROM unnest(%(raters)s::int[]) id) rater ON rater.place = slot.number
        RETURNING *
    ), judgment AS (
        INSERT INTO reviews_judgment (uid, assignment_id, revision, queue_id, item_id, rater_id, rubric_id,
            guideline_id, confidence, rationale, active_seconds, idempotency_key, submitted_at, failure_step,
            failure_who, failure_cause, failure_note)
        SELECT gen_random_uuid(), id, 1, queue_id, item_id, rater_id, %(rubric)s, %(guideline)s, 3, '', active_seconds,
            'k', ended_at,
            CASE WHEN (item_id %% 10 < 3) = (random() >= .125)
                THEN 1 + (item_id + (random() < .125)::int) %% 4 END AS failure_step,
            '', '', ''
        FROM assignment RETURNING id, item_id, failure_step
    ), rating AS (
        INSERT INTO reviews_rating (judgment_id, criterion_id, value)
        SELECT judgment.id, criterion.id,
            CASE WHEN criterion.kind = 'gate'
                THEN CASE WHEN criterion.id = %(gate)s AND failure_step IS NOT NULL THEN 0 ELSE 1 END
                ELSE (judgment.item_id + (random() < .125)::int) %% 4 END
        FROM judgment, reviews_criterion criterion
        WHERE criterion.rubric_id = %(rubric)s AND (criterion.kind = 'gate' OR failure_step IS NULL)
    ), evidence AS (
        INSERT INTO reviews_evidence (judgment_id, criterion_id, position, step, field, quote)
        SELECT id, %(gate)s, 1, failure_step, '', '' FROM judgment WHERE failure_step IS NOT NULL
    )
    INSERT INTO reviews_steplabel (judgment_id, step, value)
    SELECT judgment.id, step, (judgment.item_id + step + (random() < .125)::int) %% 3 - 1
    FROM judgment, generate_series(1, 4) step
"""
