"""Plurals as English has them, for the admin."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('reviews', '0032_split_items_out'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='criterion',
            options={'ordering': ['position'], 'verbose_name_plural': 'criteria'},
        ),
        migrations.AlterModelOptions(
            name='trajectory',
            options={'verbose_name_plural': 'trajectories'},
        ),
    ]
