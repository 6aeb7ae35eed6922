"""A page is called what the menu calls it."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0002_storage_quotas_stripe"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="storagesample",
            options={"default_permissions": ("view",), "verbose_name_plural": "storage held"},
        ),
    ]
