"""What raters ask and leads answer, notes on guidelines, and whether raters read what was decided."""

import django.contrib.postgres.functions
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('reviews', '0005_drop_indexes_that_others_begin_with'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='project',
            name='digest',
            field=models.BooleanField(db_default=True, default=True, help_text='Whether raters read where leads decided otherwise.'),
        ),
        migrations.AddField(
            model_name='project',
            name='digest_key',
            field=models.UUIDField(db_default=django.contrib.postgres.functions.RandomUUID(), default=uuid.uuid4, editable=False, help_text='Draws what the digest shows and when.'),
        ),
        migrations.CreateModel(
            name='Question',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('about', models.CharField(choices=[('item', 'The whole run'), ('step', 'A step'), ('guideline', 'A line of the guideline'), ('policy', 'A line of the policy')], max_length=10)),
                ('place', models.PositiveIntegerField(blank=True, null=True)),
                ('text', models.TextField()),
                ('state', models.CharField(choices=[('open', 'Waiting for an answer'), ('answered', 'Answered')], default='open', max_length=10)),
                ('asked_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('answer', models.TextField(blank=True)),
                ('answered_at', models.DateTimeField(blank=True, null=True)),
                ('answered_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='questions', to='reviews.assignment')),
                ('queue', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='questions', to='reviews.queue')),
            ],
            options={
                'ordering': ['asked_at', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='GuidelineNote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('line', models.PositiveIntegerField()),
                ('text', models.TextField()),
                ('published_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('folded_into', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='folded_notes', to='reviews.guideline')),
                ('guideline', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='notes', to='reviews.guideline')),
                ('policy', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='reviews.contextdocument')),
                ('published_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('question', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='note', to='reviews.question')),
            ],
            options={
                'ordering': ['published_at', 'pk'],
            },
        ),
        migrations.AddIndex(
            model_name='question',
            index=models.Index(fields=['queue', 'state', 'asked_at'], name='questions_by_state'),
        ),
        migrations.AddConstraint(
            model_name='question',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('about', 'item'), ('place__isnull', True)), models.Q(models.Q(('about', 'item'), _negated=True), ('place__isnull', False)), _connector='OR'), name='a_question_has_its_place'),
        ),
        migrations.AddConstraint(
            model_name='question',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('answer', ''), ('answered_at__isnull', True), ('state', 'open')), models.Q(('answered_at__isnull', False), ('state', 'answered'), models.Q(('answer', ''), _negated=True)), _connector='OR'), name='an_answered_question_has_an_answer'),
        ),
    ]
