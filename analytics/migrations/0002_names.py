"""A page is called what the menu calls it."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("analytics", "0001_initial"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="workflowstats",
            options={
                "default_permissions": ("view",),
                "verbose_name": "workflow's statistics",
                "verbose_name_plural": "statistics",
            },
        ),
    ]
