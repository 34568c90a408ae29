"""Reviewers that are judging models, proven on what those said, with a budget for asking them anew."""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('goldsets', '0014_audit_graders'),
        ('reviews', '0029_settle_items_without_raters'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='reviewer',
            name='result_is_final',
        ),
        migrations.AddField(
            model_name='reviewer',
            name='budget',
            field=models.DecimalField(db_default=0, decimal_places=6, default=0, help_text='US dollars for asking the judge anew.', max_digits=12),
        ),
        migrations.AddField(
            model_name='reviewer',
            name='judge',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reviewers', to='goldsets.graderversion'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='reviewer',
            trigger=pgtrigger.compiler.Trigger(name='result_is_final', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."artefact" IS DISTINCT FROM (NEW."artefact") OR OLD."artefact_sha256" IS DISTINCT FROM (NEW."artefact_sha256") OR OLD."assurance" IS DISTINCT FROM (NEW."assurance") OR OLD."at_least" IS DISTINCT FROM (NEW."at_least") OR OLD."budget" IS DISTINCT FROM (NEW."budget") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."created_by_id" IS DISTINCT FROM (NEW."created_by_id") OR OLD."criterion_id" IS DISTINCT FROM (NEW."criterion_id") OR OLD."demands" IS DISTINCT FROM (NEW."demands") OR OLD."error" IS DISTINCT FROM (NEW."error") OR OLD."families" IS DISTINCT FROM (NEW."families") OR OLD."finished_at" IS DISTINCT FROM (NEW."finished_at") OR OLD."guideline_id" IS DISTINCT FROM (NEW."guideline_id") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."judge_id" IS DISTINCT FROM (NEW."judge_id") OR OLD."labels_done" IS DISTINCT FROM (NEW."labels_done") OR OLD."labels_sha256" IS DISTINCT FROM (NEW."labels_sha256") OR OLD."labels_total" IS DISTINCT FROM (NEW."labels_total") OR OLD."number" IS DISTINCT FROM (NEW."number") OR OLD."origins" IS DISTINCT FROM (NEW."origins") OR OLD."origins_sha256" IS DISTINCT FROM (NEW."origins_sha256") OR OLD."project_id" IS DISTINCT FROM (NEW."project_id") OR OLD."queue_id" IS DISTINCT FROM (NEW."queue_id") OR OLD."rubric_id" IS DISTINCT FROM (NEW."rubric_id") OR OLD."rules" IS DISTINCT FROM (NEW."rules") OR OLD."rung" IS DISTINCT FROM (NEW."rung") OR OLD."seed" IS DISTINCT FROM (NEW."seed") OR OLD."stage" IS DISTINCT FROM (NEW."stage") OR OLD."uid" IS DISTINCT FROM (NEW."uid"))', func="\n                    IF OLD.state IN ('refused', 'proven', 'signed', 'expired') THEN\n                        RAISE EXCEPTION 'What came out of a compile never changes';\n                    END IF;\n                    RETURN NEW;\n                ", hash='45f1f677e2dc7877701edc578bc8fc65f93f3a09', operation='UPDATE', pgid='pgtrigger_result_is_final_72431', table='goldsets_reviewer', when='BEFORE')),
        ),
        migrations.AddConstraint(
            model_name='reviewer',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('judge__isnull', False), ('rung', 'judge')), models.Q(models.Q(('rung', 'judge'), _negated=True), ('judge__isnull', True)), _connector='OR'), name='a_judge_stands_on_its_rung_alone'),
        ),
    ]
