"""Prices and limits have one source: what the site shows is what the server goes by."""

import json
import subprocess
from decimal import Decimal

import pytest
from django.core.management import call_command

from billing import plans
from snapstate_project.dev.home import BASE_DIR
from snapstate_project.management.commands import docs_facts


def test_the_committed_facts_are_the_server_s():
    call_command("docs_facts", check=True)


def test_another_price_is_noticed(tmp_path, monkeypatch):
    old = docs_facts.facts()
    old["plan"]["replay_calls"]["price"] = "0.003"
    (tmp_path / "facts.json").write_text(json.dumps(old, indent=2) + "\n")
    monkeypatch.setattr(docs_facts, "FACTS", tmp_path / "facts.json")
    with pytest.raises(SystemExit):
        call_command("docs_facts", check=True)


def test_prices_are_exact():
    assert {name: Decimal(each["price"]) for name, each in docs_facts.facts()["plan"].items()} == {
        name: metric.price for name, metric in plans.METRICS.items()
    }


def test_the_site_s_own_tests_pass():
    done = subprocess.run(
        [str(BASE_DIR / ".venv/bin/node"), "node_modules/vitest/vitest.mjs", "run", "--reporter=dot"],
        cwd=BASE_DIR / "docs",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
