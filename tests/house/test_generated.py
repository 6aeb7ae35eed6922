"""What is generated from the code and committed is what the code generates now."""

import json
from pathlib import Path

from django.core.management import call_command

from snapstate_project.dev.home import BASE_DIR


def test_migrations_are_complete():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_the_committed_schema_is_the_generated_one(tmp_path: Path):
    generated = tmp_path / "openapi.json"
    call_command("spectacular", file=str(generated), format="openapi-json", validate=True, fail_on_warn=True)
    assert json.loads(generated.read_text()) == json.loads((BASE_DIR / "docs" / "openapi.json").read_text())
