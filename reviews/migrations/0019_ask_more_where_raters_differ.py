"""Lets a queue ask more people where raters differ."""

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0018_show_what_graders_said")]

    operations = [
        migrations.AddField(
            model_name="queue",
            name="overlap_cap",
            field=models.PositiveSmallIntegerField(
                db_default=0,
                default=0,
                help_text="Where raters differ, one more is asked, up to so many people; 0: nobody more.",
                validators=[django.core.validators.MaxValueValidator(20)],
            ),
        ),
    ]
