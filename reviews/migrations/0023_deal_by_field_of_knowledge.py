"""Lets a queue deal items only to raters who know one of its fields."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0022_deal_some_items_twice")]

    operations = [
        migrations.AddField(
            model_name="queue",
            name="domains",
            field=models.JSONField(
                blank=True,
                db_default=[],
                default=list,
                help_text="Only raters who know one of these fields are dealt items; empty: everybody.",
            ),
        ),
    ]
