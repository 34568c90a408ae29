"""Lets a signed reviewer work in a queue, in shadow first, and keeps every verdict it gives there."""


import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import goldsets.models.stage
import pgtrigger.compiler
import pgtrigger.migrations
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('goldsets', '0011_run_judging_models'),
        ('reviews', '0029_settle_items_without_raters'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Stage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('state', models.CharField(choices=[('shadow', 'In shadow'), ('deciding', 'Deciding'), ('rolled_back', 'Rolled back'), ('expired', 'Expired'), ('retired', 'Retired')], default='shadow', max_length=12)),
                ('audit_share', models.FloatField(default=0.1, help_text='The share of what it could decide that goes to people all the same, drawn so that nobody can tell.', validators=[django.core.validators.MinValueValidator(0.01), django.core.validators.MaxValueValidator(1)])),
                ('work', models.CharField(choices=[('keep', 'Keep them'), ('requeue', 'Ask people after all')], default='keep', max_length=10)),
                ('takes', django.contrib.postgres.fields.ArrayField(base_field=models.SmallIntegerField(), blank=True, default=list, size=None)),
                ('grounds', models.JSONField(default=dict)),
                ('baseline', models.JSONField(blank=True, null=True)),
                ('secret', models.BinaryField(default=goldsets.models.stage.new_secret)),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('decides_from', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('why', models.TextField(blank=True)),
                ('good_until', models.DateTimeField(blank=True, null=True)),
                ('given_back', models.PositiveIntegerField(default=0, help_text='How many items went back to people when it ended.')),
                ('decides_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('ended_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('guideline', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='reviews.guideline')),
                ('queue', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='stages', to='reviews.queue')),
                ('reviewer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='stages', to='goldsets.reviewer')),
                ('rubric', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='reviews.rubric')),
                ('started_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='StageVerdict',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('phase', models.CharField(choices=[('shadow', 'In shadow'), ('deciding', 'Deciding'), ('gold', 'On gold')], max_length=10)),
                ('verdict', models.SmallIntegerField(blank=True, null=True)),
                ('confidence', models.FloatField()),
                ('sure', models.BooleanField()),
                ('outcome', models.CharField(choices=[('watched', 'Nothing: it is only measured'), ('deferred', 'Left to people'), ('taken', 'Decided'), ('audited', 'Decided by people all the same, to check it')], max_length=10)),
                ('evidence', models.JSONField(blank=True, default=list)),
                ('known', models.FloatField(blank=True, null=True)),
                ('measures', models.JSONField(blank=True, default=dict)),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('label', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='stage_verdict', to='reviews.label')),
                ('queue_item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='stage_verdicts', to='reviews.queueitem')),
                ('stage', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='verdicts', to='goldsets.stage')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.AddConstraint(
            model_name='stage',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['shadow', 'deciding'])), fields=('queue',), name='one_live_stage_per_queue'),
        ),
        migrations.AddConstraint(
            model_name='stage',
            constraint=models.CheckConstraint(condition=models.Q(('audit_share__gte', 0.01), ('audit_share__lte', 1)), name='something_is_always_audited'),
        ),
        migrations.AddConstraint(
            model_name='stage',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['shadow', 'deciding']), models.Q(('ended_at__isnull', False), models.Q(('why', ''), _negated=True)), _connector='OR'), name='a_stage_ends_for_a_reason'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stage',
            trigger=pgtrigger.compiler.Trigger(name='never_deleted', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot delete rows from % table', TG_TABLE_NAME;", hash='3f78a4be12e0919d42239d44c64c7f88046fb51b', operation='DELETE', pgid='pgtrigger_never_deleted_ccef4', table='goldsets_stage', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stage',
            trigger=pgtrigger.compiler.Trigger(name='stage_follows_its_order', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE _is_valid_transition BOOLEAN;', func='SELECT CONCAT(OLD."state", \':\', NEW."state") = ANY(\'{deciding:expired,deciding:retired,deciding:rolled_back,shadow:deciding,shadow:expired,shadow:retired}\'::text[]) INTO _is_valid_transition; IF (_is_valid_transition IS FALSE AND OLD."state" IS DISTINCT FROM NEW."state") THEN RAISE EXCEPTION \'pgtrigger: Invalid transition of field "state" from "%" to "%" on table %\', OLD."state", NEW."state", TG_TABLE_NAME; ELSE RETURN NEW; END IF;', hash='a25092be0288a8117a9c9233b8b57e5fa087f47d', operation='UPDATE', pgid='pgtrigger_stage_follows_its_order_712a2', table='goldsets_stage', when='BEFORE')),
        ),
        migrations.AddConstraint(
            model_name='stageverdict',
            constraint=models.UniqueConstraint(fields=('stage', 'queue_item', 'phase'), name='one_verdict_per_item_and_phase'),
        ),
        migrations.AddConstraint(
            model_name='stageverdict',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('label__isnull', False), ('outcome', 'taken'), ('sure', True), ('verdict__isnull', False)), models.Q(models.Q(('outcome', 'taken'), _negated=True), ('label__isnull', True)), _connector='OR'), name='what_is_taken_has_a_label'),
        ),
        migrations.AddConstraint(
            model_name='stageverdict',
            constraint=models.CheckConstraint(condition=models.Q(('phase', 'deciding'), ('outcome', 'watched'), _connector='XOR'), name='only_while_it_decides_does_anything_follow'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='stageverdict',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='377a23d5cb1526313d8197cdc50f8b6023371f74', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_3c42a', table='goldsets_stageverdict', when='BEFORE')),
        ),
    ]
