"""Events and the cursors of those who hear of them."""

import django.contrib.postgres.indexes
from django.db import migrations, models

DIGEST_INDEX = """
    CREATE INDEX events_digest ON events_event
    USING brin (split_part(data, '"', 4) text_bloom_ops) WITH (pages_per_range = 32, autosummarize = on)
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="SubscriberCursor",
            fields=[
                ("name", models.TextField(primary_key=True, serialize=False)),
                ("position", models.BigIntegerField(default=0)),
                ("failing_event_id", models.BigIntegerField(blank=True, null=True)),
                ("failing_error", models.TextField(blank=True, default="")),
                ("failing_since", models.DateTimeField(blank=True, null=True)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "verbose_name": "subscriber",
                "permissions": [("skip_event", "Can skip the event a subscriber fails at")],
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("uid", models.BinaryField(max_length=16, unique=True)),
                ("type", models.TextField()),
                ("account_id", models.UUIDField()),
                ("at", models.DateTimeField()),
                ("erased", models.BooleanField(default=False)),
                ("data", models.TextField()),
            ],
            options={
                "default_permissions": ("view",),
                "indexes": [
                    django.contrib.postgres.indexes.BrinIndex(
                        autosummarize=True,
                        fields=["account_id"],
                        name="events_account",
                        opclasses=["uuid_bloom_ops"],
                        pages_per_range=32,
                    )
                ],
            },
        ),
        migrations.RunSQL(DIGEST_INDEX, "DROP INDEX events_digest"),
    ]
