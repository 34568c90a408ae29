"""When somebody last looked at what leads decided differently."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('reviews', '0033_spell_plurals'),
    ]

    operations = [
        migrations.AddField(
            model_name='preferences',
            name='decisions_read_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
