"""A mark per step on the run itself, so that its map is drawn without reading its steps."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('reviews', '0003_remember_what_brought_an_item')]

    operations = [
        migrations.AddField(
            model_name='trajectory',
            name='outline',
            field=models.TextField(blank=True, db_default='', default='', help_text='A mark per step, see `trajectories.outline`; empty for runs stored before it was kept.'),
        ),
    ]
