"""The fixtures need Django's settings, so they are loaded once those are known (see tests/conftest.py)."""

import pytest


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.import_plugin("tests.operations.fixtures")
