"""Reviewers: compiled from the labels of a queue, proven or refused, and signed."""

import django.db.models.deletion
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('goldsets', '0007_release_with_two_signatures'),
        ('reviews', '0028_change_guidelines_by_trial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Reviewer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('at_least', models.SmallIntegerField(default=1)),
                ('rung', models.CharField(choices=[('rules', 'Rules'), ('classifier', 'Classifier'), ('judge', 'LLM judge')], max_length=10)),
                ('number', models.PositiveIntegerField(help_text='Counted from 1 in each queue.')),
                ('state', models.CharField(choices=[('waiting', 'Waiting'), ('compiling', 'Compiling'), ('refused', 'Refused'), ('proven', 'Proven, waits for a signature'), ('signed', 'Signed'), ('expired', 'Expired'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], default='waiting', max_length=10)),
                ('seed', models.CharField(help_text='Draws the order in which families are split.', max_length=64)),
                ('demands', models.JSONField(default=dict)),
                ('rules', models.JSONField(blank=True, default=list)),
                ('labels_sha256', models.CharField(help_text='Of the ids of the labels it rests on, a line each.', max_length=64)),
                ('labels_total', models.PositiveIntegerField()),
                ('labels_done', models.PositiveIntegerField(default=0)),
                ('stage', models.CharField(blank=True, help_text='What is being done now, in words.', max_length=80)),
                ('families', models.JSONField(blank=True, default=dict)),
                ('artefact', models.JSONField(blank=True, null=True)),
                ('artefact_sha256', models.CharField(blank=True, max_length=64)),
                ('origins', models.JSONField(blank=True, default=dict)),
                ('origins_sha256', models.CharField(blank=True, max_length=64)),
                ('assurance', models.JSONField(blank=True, null=True)),
                ('error', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('signed_at', models.DateTimeField(blank=True, null=True)),
                ('expired_at', models.DateTimeField(blank=True, null=True)),
                ('expired_because', models.CharField(blank=True, max_length=300)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('criterion', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reviewers', to='reviews.criterion')),
                ('guideline', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='reviews.guideline')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reviewers', to='reviews.project')),
                ('queue', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='reviewers', to='reviews.queue')),
                ('rubric', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='reviews.rubric')),
                ('signed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-number'],
            },
        ),
        migrations.CreateModel(
            name='ReviewerLabel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField(help_text='Counted from 1.')),
                ('label', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='reviews.label')),
                ('queue_item', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='reviews.queueitem')),
                ('reviewer', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='labels', to='goldsets.reviewer')),
            ],
            options={
                'ordering': ['position'],
            },
        ),
        migrations.AddConstraint(
            model_name='reviewer',
            constraint=models.UniqueConstraint(fields=('queue', 'number'), name='one_reviewer_per_number'),
        ),
        migrations.AddConstraint(
            model_name='reviewer',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'signed'), _negated=True), models.Q(('signed_at__isnull', False), ('signed_by__isnull', False)), _connector='OR'), name='a_signed_reviewer_says_who_signed'),
        ),
        migrations.AddConstraint(
            model_name='reviewer',
            constraint=models.CheckConstraint(condition=models.Q(('signed_by__isnull', True), models.Q(('signed_by', models.F('created_by')), _negated=True), _connector='OR'), name='nobody_signs_what_they_compiled'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='reviewer',
            trigger=pgtrigger.compiler.Trigger(name='never_deleted', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='5e0e5bbc9a1c4d2b45195d6db743fd4cab3309e5', operation='DELETE', pgid='pgtrigger_never_deleted_33f4e', table='goldsets_reviewer', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='reviewer',
            trigger=pgtrigger.compiler.Trigger(name='state_follows_its_order', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE _is_valid_transition BOOLEAN;', func='SELECT CONCAT(OLD."state", \':\', NEW."state") = ANY(\'{compiling:cancelled,compiling:failed,compiling:proven,compiling:refused,proven:expired,proven:signed,signed:expired,waiting:cancelled,waiting:compiling,waiting:failed}\'::text[]) INTO _is_valid_transition; IF (_is_valid_transition IS FALSE AND OLD."state" IS DISTINCT FROM NEW."state") THEN RAISE EXCEPTION \'pgtrigger: Invalid transition of field "state" from "%" to "%" on table %\', OLD."state", NEW."state", TG_TABLE_NAME; ELSE RETURN NEW; END IF;', hash='cd9d731879c25505c6471badad2317056de2a335', operation='UPDATE', pgid='pgtrigger_state_follows_its_order_80751', table='goldsets_reviewer', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='reviewer',
            trigger=pgtrigger.compiler.Trigger(name='result_is_final', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."artefact" IS DISTINCT FROM (NEW."artefact") OR OLD."artefact_sha256" IS DISTINCT FROM (NEW."artefact_sha256") OR OLD."assurance" IS DISTINCT FROM (NEW."assurance") OR OLD."at_least" IS DISTINCT FROM (NEW."at_least") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."created_by_id" IS DISTINCT FROM (NEW."created_by_id") OR OLD."criterion_id" IS DISTINCT FROM (NEW."criterion_id") OR OLD."demands" IS DISTINCT FROM (NEW."demands") OR OLD."error" IS DISTINCT FROM (NEW."error") OR OLD."families" IS DISTINCT FROM (NEW."families") OR OLD."finished_at" IS DISTINCT FROM (NEW."finished_at") OR OLD."guideline_id" IS DISTINCT FROM (NEW."guideline_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."labels_done" IS DISTINCT FROM (NEW."labels_done") OR OLD."labels_sha256" IS DISTINCT FROM (NEW."labels_sha256") OR OLD."labels_total" IS DISTINCT FROM (NEW."labels_total") OR OLD."number" IS DISTINCT FROM (NEW."number") OR OLD."origins" IS DISTINCT FROM (NEW."origins") OR OLD."origins_sha256" IS DISTINCT FROM (NEW."origins_sha256") OR OLD."project_id" IS DISTINCT FROM (NEW."project_id") OR OLD."queue_id" IS DISTINCT FROM (NEW."queue_id") OR OLD."rubric_id" IS DISTINCT FROM (NEW."rubric_id") OR OLD."rules" IS DISTINCT FROM (NEW."rules") OR OLD."rung" IS DISTINCT FROM (NEW."rung") OR OLD."seed" IS DISTINCT FROM (NEW."seed") OR OLD."stage" IS DISTINCT FROM (NEW."stage") OR OLD."uid" IS DISTINCT FROM (NEW."uid"))', func="\n                    IF OLD.state IN ('refused', 'proven', 'signed', 'expired') THEN\n                        RAISE EXCEPTION 'What came out of a compile never changes';\n                    END IF;\n                    RETURN NEW;\n                ", hash='3ba64511f129ccede0fa0a310f69f0791d3bb7b8', operation='UPDATE', pgid='pgtrigger_result_is_final_72431', table='goldsets_reviewer', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='reviewer',
            trigger=pgtrigger.compiler.Trigger(name='signature_is_final', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."signed_at" IS DISTINCT FROM (NEW."signed_at") OR OLD."signed_by_id" IS DISTINCT FROM (NEW."signed_by_id"))', func="\n                    IF OLD.signed_at IS NOT NULL THEN RAISE EXCEPTION 'A signature never changes'; END IF;\n                    RETURN NEW;\n                ", hash='cbd2804df21c9d1de5d1984d0a60c3fefe970cf7', operation='UPDATE', pgid='pgtrigger_signature_is_final_1909b', table='goldsets_reviewer', when='BEFORE')),
        ),
        migrations.AddConstraint(
            model_name='reviewerlabel',
            constraint=models.UniqueConstraint(fields=('reviewer', 'position'), name='one_reviewer_label_per_position'),
        ),
        migrations.AddConstraint(
            model_name='reviewerlabel',
            constraint=models.UniqueConstraint(fields=('reviewer', 'queue_item'), name='one_reviewer_label_per_item'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='reviewerlabel',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='247a0a245440c29aaef5024e7bc68fba30871f48', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_36655', table='goldsets_reviewerlabel', when='BEFORE')),
        ),
    ]
