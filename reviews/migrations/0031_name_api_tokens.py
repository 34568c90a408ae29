"""Names that people give their API tokens."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('knox', '0009_extend_authtoken_field'),
        ('reviews', '0030_leave_settling_to_the_worker'),
    ]

    operations = [
        migrations.CreateModel(
            name='TokenName',
            fields=[
                ('token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='named', serialize=False, to='knox.authtoken')),
                ('name', models.CharField(max_length=60)),
            ],
        ),
    ]
