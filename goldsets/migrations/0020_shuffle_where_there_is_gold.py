from django.db import migrations

GOLDEN = """
    SELECT queue.id FROM reviews_queue queue JOIN goldsets_goldpolicy policy ON policy.queue_id = queue.id
    WHERE policy.rate > 0 AND queue."order" = 'arrival'
"""
# As `reviews.actions.queueing.shuffle` does it. Takes the locks of open slots only.
DRAW_PLACES = f"""
    WITH waiting AS MATERIALIZED (
        SELECT item.id, floor(random() * 9007199254740992)::bigint AS place
        FROM reviews_queueitem item
        WHERE item.queue_id IN ({GOLDEN}) AND item.priority IS NULL
          AND EXISTS (SELECT FROM reviews_slot slot WHERE slot.queue_item_id = item.id AND slot.state = 'open')
    )
    UPDATE reviews_slot slot SET place = waiting.place
    FROM waiting WHERE slot.queue_item_id = waiting.id AND slot.state = 'open'
"""
SAY_SO = f"UPDATE reviews_queue SET \"order\" = 'shuffled' WHERE id IN ({GOLDEN})"


class Migration(migrations.Migration):
    """In the order of arrival gold, which is older than all that waits, could be told."""

    dependencies = [("goldsets", "0019_let_rules_go_before_a_classifier"), ("reviews", "0030_leave_settling_to_the_worker")]

    operations = [migrations.RunSQL([DRAW_PLACES, SAY_SO], migrations.RunSQL.noop)]
