"""The locks pin every package by hash, and say nothing of where they were resolved."""

import re

import pytest

from snapstate_project.dev.home import BASE_DIR

LOCKS = ("requirements.lock", "requirements-dev.lock")


def lines(name):
    return (BASE_DIR / name).read_text().splitlines()


def pins(name):
    return {line.split(" ")[0] for line in lines(name) if not line.startswith(" ")}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_has_pins_and_hashes_and_nothing_else(name):
    allowed = re.compile(
        r"(    --hash=sha256:[0-9a-f]{64}( \\)?|[a-z0-9][a-z0-9._-]*(\[[a-z0-9,-]+\])?==\S+( ; .+)? \\)"
    )
    assert [line for line in lines(name) if not allowed.fullmatch(line)] == []


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_host(name):
    text = "\n".join(lines(name))
    assert not re.search(r"://|index-url|find-links|file:", text)


def test_what_runs_is_tested_in_the_same_versions():
    assert pins("requirements.lock") <= pins("requirements-dev.lock")


def test_the_lock_of_the_resolver_is_not_kept():
    assert not (BASE_DIR / "uv.lock").exists()
