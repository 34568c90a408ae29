import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """A judge at work in a queue is asked about what comes in, within the budget of its stage."""

    dependencies = [("goldsets", "0022_shuffle_what_rules_brought")]

    operations = [
        migrations.AddField(
            model_name="judgerun",
            name="stage",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="asking",
                to="goldsets.stage",
            ),
        ),
        migrations.AddField(
            model_name="stage",
            name="budget",
            field=models.DecimalField(db_default=0, decimal_places=6, default=0, max_digits=12),
        ),
    ]
