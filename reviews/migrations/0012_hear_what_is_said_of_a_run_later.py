"""What a run is called by its source, what is said of it after it came in, and the notes in an import's receipt."""

import django.db.models.deletion
import django.utils.timezone
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('reviews', '0011_say_what_runs_differ_in'),
    ]

    operations = [
        migrations.CreateModel(
            name='ImportNote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.CharField(max_length=60)),
                ('note', models.TextField()),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='RunScore',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('grader', models.CharField(max_length=200)),
                ('value', models.JSONField()),
                ('explanation', models.TextField(blank=True)),
                ('content_hash', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.AddField(
            model_name='importjob',
            name='noted',
            field=models.PositiveIntegerField(db_default=0, default=0, help_text='Notes on rows that went in.'),
        ),
        migrations.AddField(
            model_name='importjob',
            name='scored',
            field=models.PositiveIntegerField(db_default=0, default=0, help_text='Scores of runs that were there before.'),
        ),
        migrations.AddField(
            model_name='trajectory',
            name='source_id',
            field=models.CharField(blank=True, db_default='', default='', help_text='What its source calls the run, if anything.', max_length=100),
        ),
        migrations.AddIndex(
            model_name='trajectory',
            index=models.Index(condition=models.Q(('source_id', ''), _negated=True), fields=['project', 'source_id'], name='runs_by_source_id'),
        ),
        migrations.AddField(
            model_name='importnote',
            name='job',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='reviews.importjob'),
        ),
        migrations.AddField(
            model_name='runscore',
            name='trajectory',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='later_scores', to='reviews.trajectory'),
        ),
        migrations.AddConstraint(
            model_name='runscore',
            constraint=models.UniqueConstraint(fields=('trajectory', 'content_hash'), name='one_score_per_content'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='runscore',
            trigger=pgtrigger.compiler.Trigger(name='append_only', sql=pgtrigger.compiler.UpsertTriggerSql(func="RAISE EXCEPTION 'pgtrigger: Cannot update or delete rows from % table', TG_TABLE_NAME;", hash='3846d24d1ea6eccf5f35f310e0acead186e6b14b', operation='UPDATE OR DELETE', pgid='pgtrigger_append_only_e205c', table='reviews_runscore', when='BEFORE')),
        ),
    ]
