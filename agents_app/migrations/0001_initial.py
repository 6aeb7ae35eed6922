"""The agents that are registered."""

import uuid

import django.db.models.deletion
from django.db import migrations, models

import snapstate_project.common.exact_text


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Agent",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("agent_id", models.TextField(db_collation="C")),
                ("name", snapstate_project.common.exact_text.ExactTextField(null=True)),
                ("description", snapstate_project.common.exact_text.ExactTextField(null=True)),
                ("capabilities", models.TextField(default="[]", help_text="A JSON array of strings.")),
                ("metadata", models.BinaryField(default=b"{}", help_text="A JSON object, as sent.")),
                ("last_seen_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
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
                "default_permissions": ("view",),
                "indexes": [models.Index(fields=["-created_at", "-id"], name="agent_newest")],
                "constraints": [models.UniqueConstraint(fields=("account", "agent_id"), name="one_agent_per_id")],
            },
        ),
    ]
