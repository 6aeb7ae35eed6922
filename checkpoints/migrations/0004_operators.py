"""The index that serves a list of everybody's workflows, made while others write; and who may see states."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("checkpoints", "0003_version"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="workflow",
            options={"permissions": [("view_state", "Can see the states that agents saved")]},
        ),
        AddIndexConcurrently(
            model_name="workflow",
            index=models.Index(
                condition=models.Q(("head_step__isnull", False)),
                fields=["-last_activity_at", "-id"],
                name="workflow_newest",
            ),
        ),
    ]
