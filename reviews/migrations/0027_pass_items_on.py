"""Lets leads pass items on, answer first, undo a decision, keep drafts, and say where a candidate failed."""

import django.db.models.deletion
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('reviews', '0026_tell_webhooks_of_events'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='adjudication',
            name='undoes',
            field=models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='undone_by', to='reviews.adjudication'),
        ),
        migrations.AddField(
            model_name='queue',
            name='lead_answers_first',
            field=models.BooleanField(db_default=False, default=False, help_text='Whether leads answer an item themselves before they see what its raters said.'),
        ),
        migrations.AlterField(
            model_name='label',
            name='basis',
            field=models.CharField(choices=[('unanimous', 'Unanimous'), ('aggregated', 'Aggregated'), ('adjudicated', 'Adjudicated'), ('ambiguous', 'Ambiguous: no value is right')], max_length=12),
        ),
        migrations.AlterField(
            model_name='labelstep',
            name='basis',
            field=models.CharField(choices=[('unanimous', 'Unanimous'), ('aggregated', 'Aggregated'), ('adjudicated', 'Adjudicated'), ('ambiguous', 'Ambiguous: no value is right')], max_length=12),
        ),
        migrations.AlterField(
            model_name='labelvalue',
            name='basis',
            field=models.CharField(choices=[('unanimous', 'Unanimous'), ('aggregated', 'Aggregated'), ('adjudicated', 'Adjudicated'), ('ambiguous', 'Ambiguous: no value is right')], max_length=12),
        ),
        migrations.AlterField(
            model_name='queueitem',
            name='waits_for',
            field=models.CharField(blank=True, choices=[('disagreement', 'Raters differ'), ('rule', 'The queue sends every item to a lead'), ('unsure', 'Raters were unsure'), ('skips', 'Skipped three times'), ('check', "A rater's work is looked at again"), ('raters', 'Sent back to its raters'), ('second_lead', 'A second lead is asked'), ('apart', 'Set apart')], max_length=12),
        ),
        migrations.CreateModel(
            name='DecisionDraft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('given', models.JSONField()),
                ('saved_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('lead', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('queue_item', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='decision_drafts', to='reviews.queueitem')),
            ],
        ),
        migrations.CreateModel(
            name='FirstAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('payload', models.JSONField()),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('lead', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('queue_item', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='first_answers', to='reviews.queueitem')),
            ],
        ),
        migrations.CreateModel(
            name='Referral',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('kind', models.CharField(choices=[('raters', 'Back to its raters'), ('second_lead', 'To a second lead'), ('apart', 'Out of the way')], max_length=12)),
                ('text', models.TextField()),
                ('before', models.CharField(blank=True, choices=[('disagreement', 'Raters differ'), ('rule', 'The queue sends every item to a lead'), ('unsure', 'Raters were unsure'), ('skips', 'Skipped three times'), ('check', "A rater's work is looked at again"), ('raters', 'Sent back to its raters'), ('second_lead', 'A second lead is asked'), ('apart', 'Set apart')], max_length=12)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('lead', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('queue_item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='referrals', to='reviews.queueitem')),
            ],
            options={
                'ordering': ['at', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='ReferralAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField(blank=True)),
                ('revision', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('referral', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='answers', to='reviews.referral')),
            ],
        ),
        migrations.CreateModel(
            name='AdjudicatedFailure',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('failure_step', models.PositiveIntegerField(blank=True, null=True)),
                ('failure_who', models.CharField(blank=True, choices=[('agent', 'Agent'), ('user', 'Requester'), ('world', 'World'), ('prompt', 'Prompt'), ('verifier', 'Verifier')], max_length=10)),
                ('failure_cause', models.CharField(blank=True, choices=[('unauthorised_access', 'Unauthorised access'), ('missing_confirmation', 'Missing confirmation'), ('fabrication', 'Fabricated result'), ('wrong_tool_or_arguments', 'Wrong tool or arguments'), ('policy_misread', 'Policy misread'), ('no_progress', 'No progress'), ('incomplete', 'Left incomplete'), ('other', 'Other')], max_length=30)),
                ('failure_note', models.TextField(blank=True)),
                ('candidate', models.PositiveSmallIntegerField()),
                ('adjudication', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='failures', to='reviews.adjudication')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('adjudication', 'candidate'), name='one_decided_failure_per_candidate')],
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='adjudicatedfailure',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='1b0e620cac0bfadd808af31855c73b1965b047cb', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_66127', table='reviews_adjudicatedfailure', when='BEFORE')),
        ),
        migrations.AddConstraint(
            model_name='decisiondraft',
            constraint=models.UniqueConstraint(fields=('queue_item', 'lead'), name='one_draft_per_lead'),
        ),
        migrations.AddConstraint(
            model_name='firstanswer',
            constraint=models.UniqueConstraint(fields=('queue_item', 'lead'), name='one_first_answer_per_lead'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='firstanswer',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='ba8567202bc0a172f2c73caf05efbf9a1a1a1f8c', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_fba6b', table='reviews_firstanswer', when='BEFORE')),
        ),
        migrations.AddConstraint(
            model_name='referral',
            constraint=models.UniqueConstraint(condition=models.Q(('closed_at__isnull', True)), fields=('queue_item',), name='one_open_referral_per_item'),
        ),
        migrations.AddConstraint(
            model_name='referralanswer',
            constraint=models.UniqueConstraint(fields=('referral', 'rater'), name='one_answer_per_rater_asked'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='referralanswer',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='5147c3d528ab3c81d10afb30df2ceff8f78bd18a', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_c0348', table='reviews_referralanswer', when='BEFORE')),
        ),
    ]
