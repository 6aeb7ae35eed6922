"""The servers of the run, then the fixtures: these need Django's settings, so they are loaded once those are known.

pytest-django finds Django set up already: its fixtures are there, and no test needs a mark to use the database.
"""

from typing import Any

import pytest

from tests import environment
from tests.scheduling import scheduler


def pytest_configure(config: pytest.Config) -> None:
    worker: dict[str, str] = getattr(config, "workerinput", {})
    environment.start(worker.get("workerid", ""))
    config.pluginmanager.import_plugin("tests.fixtures")


def pytest_unconfigure() -> None:
    environment.stop()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    return scheduler(config, log)
