from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_retention"),
    ]

    operations = [
        migrations.AddField(
            model_name="account",
            name="held_for_payment",
            field=models.BooleanField(
                db_default=False, default=False, help_text="Suspended by Stripe's word, not by an operator's."
            ),
        ),
    ]
