"""Seconds and tokens of the whole run on the run itself, so that no page reads its steps for their sum."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('reviews', '0006_ask_the_lead')]

    operations = [
        migrations.AddField(
            model_name='trajectory',
            name='spent',
            field=models.JSONField(blank=True, help_text='Seconds and tokens of the whole run, see `trajectories.schema.Spent`; none where unknown.', null=True),
        ),
    ]
