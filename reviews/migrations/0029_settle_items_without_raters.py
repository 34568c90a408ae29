"""Lets an item settle by a value that no rater gave, which its label says."""


from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('reviews', '0028_change_guidelines_by_trial'),
    ]

    operations = [
        migrations.AlterField(
            model_name='label',
            name='basis',
            field=models.CharField(choices=[('unanimous', 'Unanimous'), ('aggregated', 'Aggregated'), ('adjudicated', 'Adjudicated'), ('ambiguous', 'Ambiguous: no value is right'), ('reviewer', 'By a compiled reviewer')], max_length=12),
        ),
        migrations.AlterField(
            model_name='labelstep',
            name='basis',
            field=models.CharField(choices=[('unanimous', 'Unanimous'), ('aggregated', 'Aggregated'), ('adjudicated', 'Adjudicated'), ('ambiguous', 'Ambiguous: no value is right'), ('reviewer', 'By a compiled reviewer')], max_length=12),
        ),
        migrations.AlterField(
            model_name='labelvalue',
            name='basis',
            field=models.CharField(choices=[('unanimous', 'Unanimous'), ('aggregated', 'Aggregated'), ('adjudicated', 'Adjudicated'), ('ambiguous', 'Ambiguous: no value is right'), ('reviewer', 'By a compiled reviewer')], max_length=12),
        ),
    ]
