"""Lets a queue ask more people where the answer they agree on is not probable enough."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0020_count_what_an_import_lays_together")]

    operations = [
        migrations.AddField(
            model_name="queue",
            name="sure_from",
            field=models.FloatField(
                db_default=0,
                default=0,
                help_text="How probable an agreed answer must be, by the raters' errors, or one more is asked; 0: any.",
                validators=[
                    django.core.validators.MinValueValidator(0),
                    django.core.validators.MaxValueValidator(0.999),
                ],
            ),
        ),
        migrations.AddField(
            model_name="queueitem",
            name="to_weigh",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Raters agree; how probable that is right has still to be found.",
            ),
        ),
        migrations.AddIndex(
            model_name="queueitem",
            index=models.Index(condition=models.Q(("to_weigh", True)), fields=["queue"], name="queueitem_to_weigh"),
        ),
    ]
