"""Changes to a guideline, drafted because of disagreements and tried on a sample of the items they touch."""

import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('reviews', '0027_pass_items_on'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='GuidelineChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('line', models.PositiveIntegerField(blank=True, null=True)),
                ('why', models.TextField(blank=True)),
                ('text', models.TextField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('base', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='changes', to='reviews.guideline')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('guideline', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='came_of', to='reviews.guideline')),
                ('queue', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='guideline_changes', to='reviews.queue')),
                ('touched', models.ManyToManyField(related_name='+', to='reviews.queueitem')),
                ('trial', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='tries', to='reviews.queue')),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('guideline__isnull', True), ('trial__isnull', True)), models.Q(('guideline__isnull', False), ('trial__isnull', False)), _connector='OR'), name='a_trial_has_its_guideline')],
            },
        ),
    ]
