"""The rule that brought an item into its queue. Raters go on while it is added: no step holds a lock for long."""

import django.db.models.deletion
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

COLUMN = "ALTER TABLE reviews_queueitem ADD COLUMN rule_id bigint NULL"
# New rows are held to it at once; those that stand are looked at afterwards, under a lock that hinders nobody.
KEY = """
    ALTER TABLE reviews_queueitem ADD CONSTRAINT reviews_queueitem_rule_id_fk
    FOREIGN KEY (rule_id) REFERENCES reviews_arrivalrule (id) DEFERRABLE INITIALLY DEFERRED NOT VALID
"""
CHECK = "ALTER TABLE reviews_queueitem VALIDATE CONSTRAINT reviews_queueitem_rule_id_fk"


class Migration(migrations.Migration):

    atomic = False
    dependencies = [('reviews', '0002_rule_on_what_arrives')]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(COLUMN, "ALTER TABLE reviews_queueitem DROP COLUMN rule_id"),
                migrations.RunSQL(KEY, migrations.RunSQL.noop),
                migrations.RunSQL(CHECK, migrations.RunSQL.noop),
            ],
            state_operations=[
                migrations.AddField(
                    model_name='queueitem',
                    name='rule',
                    field=models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='reviews.arrivalrule'),
                ),
            ],
        ),
        AddIndexConcurrently(
            model_name='queueitem',
            index=models.Index(condition=models.Q(('priority__gt', 0)), fields=['queue', 'priority'], name='queueitem_by_priority'),
        ),
    ]
