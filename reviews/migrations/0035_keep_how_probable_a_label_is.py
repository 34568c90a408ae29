from django.db import migrations, models


class Migration(migrations.Migration):
    """A label that was weighed keeps how probable it was; what stays improbable waits for a lead."""

    dependencies = [
        ('reviews', '0034_when_decisions_were_read'),
    ]

    operations = [
        migrations.AddField(
            model_name='label',
            name='certainty',
            field=models.FloatField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name='queueitem',
            name='waits_for',
            field=models.CharField(blank=True, choices=[('disagreement', 'Raters differ'), ('rule', 'The queue sends every item to a lead'), ('unsure', 'Raters were unsure'), ('improbable', 'Agreed on, but improbable'), ('skips', 'Skipped three times'), ('check', "A rater's work is looked at again"), ('raters', 'Sent back to its raters'), ('second_lead', 'A second lead is asked'), ('apart', 'Set apart'), ('own_queue', 'Split out into another queue')], max_length=12),
        ),
        migrations.AlterField(
            model_name='referral',
            name='before',
            field=models.CharField(blank=True, choices=[('disagreement', 'Raters differ'), ('rule', 'The queue sends every item to a lead'), ('unsure', 'Raters were unsure'), ('improbable', 'Agreed on, but improbable'), ('skips', 'Skipped three times'), ('check', "A rater's work is looked at again"), ('raters', 'Sent back to its raters'), ('second_lead', 'A second lead is asked'), ('apart', 'Set apart'), ('own_queue', 'Split out into another queue')], max_length=12),
        ),
    ]
