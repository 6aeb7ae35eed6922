from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_reason_before"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="account",
            options={
                "default_permissions": ("add", "change", "view"),
                "ordering": ("-created_at", "-id"),
                "permissions": [
                    ("view_revenue", "Can see what is charged and earned"),
                    ("close_account", "Can schedule an account's deletion, and undo that"),
                    ("limit_history", "Can set how much of an account's history is kept"),
                    ("suspend_account", "Can suspend and reactivate an account"),
                ],
            },
        ),
    ]
