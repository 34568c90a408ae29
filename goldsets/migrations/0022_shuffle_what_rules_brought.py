from django.db import migrations

# As `reviews.actions.queueing.shuffle` does it. A queue that was shuffled from the start never had a last place. Takes
# the locks of open slots only.
DRAW_PLACES = """
    WITH waiting AS MATERIALIZED (
        SELECT item.id, floor(random() * 9007199254740992)::bigint AS place
        FROM reviews_queueitem item JOIN reviews_queue queue ON queue.id = item.queue_id
        WHERE queue."order" = 'shuffled' AND queue.last_place > 0 AND item.priority = 0
          AND EXISTS (SELECT FROM reviews_slot slot WHERE slot.queue_item_id = item.id AND slot.state = 'open')
    )
    UPDATE reviews_slot slot SET place = waiting.place
    FROM waiting WHERE slot.queue_item_id = waiting.id AND slot.state = 'open'
"""


class Migration(migrations.Migration):
    """What a rule brought to take its turn stayed in the order of arrival when its queue was shuffled for gold."""

    dependencies = [("goldsets", "0021_spell_plurals")]

    operations = [migrations.RunSQL(DRAW_PLACES, migrations.RunSQL.noop)]
