"""A page is called what the menu calls it."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("checkpoints", "0004_operators"),
    ]

    operations = [
        migrations.AlterModelOptions(name="archivesegment", options={"verbose_name_plural": "archive"}),
    ]
