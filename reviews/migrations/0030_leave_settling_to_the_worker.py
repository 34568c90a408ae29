"""Marks on items that the worker has to look at, so that no answer to a rater settles anything."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('reviews', '0029_settle_items_without_raters'),
    ]

    operations = [
        migrations.CreateModel(
            name='SettlingMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('cause', models.CharField(choices=[('judged', 'A judgment came in'), ('corrected', 'A judgment was corrected'), ('skipped', 'A rater passed it on')], max_length=10)),
                ('since', models.DateTimeField(default=django.utils.timezone.now)),
                ('queue_item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='settling_marks', to='reviews.queueitem')),
            ],
        ),
    ]
