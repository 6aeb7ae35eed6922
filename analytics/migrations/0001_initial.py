"""What is counted of workflows, agents and days."""

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
            name="WorkflowStats",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "digest",
                    models.BinaryField(help_text="Hash of account and workflow id, as events name it.", max_length=16),
                ),
                ("generation", models.PositiveIntegerField()),
                ("workflow_id", models.TextField(db_collation="C")),
                (
                    "status",
                    models.CharField(
                        choices=[("active", "Active"), ("completed", "Completed"), ("failed", "Failed")], max_length=9
                    ),
                ),
                ("total_steps", models.BigIntegerField()),
                ("total_size_bytes", models.BigIntegerField(help_text="Bytes of state as sent.")),
                ("first_checkpoint_at", models.DateTimeField()),
                ("last_checkpoint_at", models.DateTimeField()),
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
                "verbose_name": "workflow's statistics",
                "verbose_name_plural": "statistics of workflows",
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="WorkflowResumes",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "stats_id", "day", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("day", models.DateField()),
                ("count", models.BigIntegerField()),
                (
                    "stats",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="analytics.workflowstats",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="WorkflowError",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("step", models.BigIntegerField()),
                ("agent_id", models.TextField(null=True)),
                ("error_type", snapstate_project.common.exact_text.ExactTextField(null=True)),
                ("error_message", snapstate_project.common.exact_text.ExactTextField(null=True)),
                ("created_at", models.DateTimeField()),
                (
                    "account",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.account",
                    ),
                ),
                (
                    "stats",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="analytics.workflowstats",
                    ),
                ),
            ],
            options={
                "verbose_name": "error",
                "default_permissions": ("view",),
            },
        ),
        migrations.CreateModel(
            name="WorkflowAgent",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "stats_id", "agent_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("agent_id", models.TextField()),
                ("steps", models.BigIntegerField()),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                (
                    "account",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.account",
                    ),
                ),
                (
                    "stats",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="analytics.workflowstats",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="WorkflowStep",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "stats_id", "step", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("step", models.BigIntegerField()),
                ("created_at", models.DateTimeField()),
                ("size_bytes", models.IntegerField()),
                ("agent_id", models.TextField(null=True)),
                ("label", snapstate_project.common.exact_text.ExactTextField(null=True)),
                (
                    "stats",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="analytics.workflowstats",
                    ),
                ),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="AgentDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("agent_id", models.TextField()),
                ("steps", models.BigIntegerField()),
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
                "default_permissions": (),
                "constraints": [models.UniqueConstraint(fields=("account", "day", "agent_id"), name="one_agent_a_day")],
            },
        ),
        migrations.CreateModel(
            name="DailyActivity",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("checkpoints", models.BigIntegerField()),
                ("steps", models.BigIntegerField()),
                ("resumes", models.BigIntegerField()),
                ("failures", models.BigIntegerField()),
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
                "default_permissions": (),
                "indexes": [models.Index(fields=["day"], name="activity_by_day")],
                "constraints": [models.UniqueConstraint(fields=("account", "day"), name="one_activity_a_day")],
            },
        ),
        migrations.AddIndex(
            model_name="workflowstats",
            index=models.Index(fields=["account", "last_checkpoint_at"], name="stats_by_activity"),
        ),
        migrations.AddConstraint(
            model_name="workflowstats",
            constraint=models.UniqueConstraint(fields=("account", "digest"), name="stats_identity"),
        ),
        migrations.AddIndex(
            model_name="workflowerror",
            index=models.Index(fields=["account", "created_at"], name="errors_by_account"),
        ),
        migrations.AddIndex(
            model_name="workflowerror",
            index=models.Index(fields=["created_at"], name="errors_by_time"),
        ),
        migrations.AddIndex(
            model_name="workflowerror",
            index=models.Index(fields=["stats"], name="errors_by_workflow"),
        ),
        migrations.AddIndex(
            model_name="workflowagent",
            index=models.Index(fields=["account", "last_at"], name="parts_by_activity"),
        ),
    ]
