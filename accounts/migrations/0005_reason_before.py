from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_operators"),
    ]

    operations = [
        migrations.AddField(
            model_name="deletion",
            name="reason_before",
            field=models.CharField(db_default="", default="", max_length=300),
        ),
    ]
