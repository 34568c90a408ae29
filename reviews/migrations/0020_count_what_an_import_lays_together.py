"""Lets the receipt of an import count the comparisons and the tasks to be reviewed that it made."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0019_ask_more_where_raters_differ")]

    operations = [
        migrations.AddField(
            model_name="importjob",
            name="comparisons",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="New items that lay answers to one prompt beside each other."
            ),
        ),
        migrations.AddField(
            model_name="importjob",
            name="tasks",
            field=models.PositiveIntegerField(db_default=0, default=0, help_text="New tasks to be reviewed."),
        ),
    ]
