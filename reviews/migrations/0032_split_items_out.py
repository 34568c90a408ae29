"""Lets leads split an item out into another queue, and put one first in the inbox."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('reviews', '0031_name_api_tokens'),
    ]

    operations = [
        migrations.AddField(
            model_name='queueitem',
            name='decide_first',
            field=models.BooleanField(db_default=False, default=False, help_text='If it waits for a lead, it comes before the others.'),
        ),
        migrations.AddField(
            model_name='referral',
            name='queue',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='reviews.queue'),
        ),
        migrations.AlterField(
            model_name='queueitem',
            name='waits_for',
            field=models.CharField(blank=True, choices=[('disagreement', 'Raters differ'), ('rule', 'The queue sends every item to a lead'), ('unsure', 'Raters were unsure'), ('skips', 'Skipped three times'), ('check', "A rater's work is looked at again"), ('raters', 'Sent back to its raters'), ('second_lead', 'A second lead is asked'), ('apart', 'Set apart'), ('own_queue', 'Split out into another queue')], max_length=12),
        ),
        migrations.AlterField(
            model_name='referral',
            name='before',
            field=models.CharField(blank=True, choices=[('disagreement', 'Raters differ'), ('rule', 'The queue sends every item to a lead'), ('unsure', 'Raters were unsure'), ('skips', 'Skipped three times'), ('check', "A rater's work is looked at again"), ('raters', 'Sent back to its raters'), ('second_lead', 'A second lead is asked'), ('apart', 'Set apart'), ('own_queue', 'Split out into another queue')], max_length=12),
        ),
        migrations.AlterField(
            model_name='referral',
            name='kind',
            field=models.CharField(choices=[('raters', 'Back to its raters'), ('second_lead', 'To a second lead'), ('apart', 'Out of the way'), ('own_queue', 'Into a queue of its own')], max_length=12),
        ),
    ]
