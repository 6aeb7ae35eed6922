"""What accounts use, by month and by day."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="UsageDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checkpoint_writes", models.BigIntegerField(default=0)),
                ("resume_calls", models.BigIntegerField(default=0)),
                ("replay_calls", models.BigIntegerField(default=0)),
                ("storage_bytes_written", models.BigIntegerField(default=0)),
                ("day", models.DateField()),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.account",
                    ),
                ),
            ],
            options={
                "verbose_name": "day of usage",
                "verbose_name_plural": "usage by day",
                "default_permissions": ("view",),
                "indexes": [models.Index(fields=["-day", "-id"], name="usage_by_day")],
                "constraints": [models.UniqueConstraint(fields=("account", "day"), name="one_record_a_day")],
            },
        ),
        migrations.CreateModel(
            name="UsageRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checkpoint_writes", models.BigIntegerField(default=0)),
                ("resume_calls", models.BigIntegerField(default=0)),
                ("replay_calls", models.BigIntegerField(default=0)),
                ("storage_bytes_written", models.BigIntegerField(default=0)),
                ("month", models.DateField()),
                (
                    "account",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.account",
                    ),
                ),
            ],
            options={
                "verbose_name": "month of usage",
                "verbose_name_plural": "usage by month",
                "default_permissions": ("view",),
                "indexes": [models.Index(fields=["-month", "-id"], name="usage_by_month")],
                "constraints": [models.UniqueConstraint(fields=("account", "month"), name="one_record_a_month")],
            },
        ),
    ]
