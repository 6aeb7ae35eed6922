from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("analytics", "0002_names")]

    operations = [
        # What erased workflows have left: names of agents, with nothing counted for them.
        migrations.RunSQL("DELETE FROM analytics_agentday WHERE steps = 0", migrations.RunSQL.noop, elidable=True),
    ]
