"""Plurals as English has them, for the admin."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('goldsets', '0020_shuffle_where_there_is_gold'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='goldpolicy',
            options={'verbose_name_plural': 'gold policies'},
        ),
        migrations.AlterModelOptions(
            name='releaseterms',
            options={'ordering': ['-number'], 'verbose_name_plural': 'terms of release'},
        ),
        migrations.AlterModelOptions(
            name='standingpolicy',
            options={'verbose_name_plural': 'standing policies'},
        ),
    ]
