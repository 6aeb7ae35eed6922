"""One running SnapState for all these tests; each test works in an account of its own and leaves everything running."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import environment
from tests.promises.calling import Caller
from tests.promises.stack import Stack, Tenant, running

FIGURES = "figures"


@pytest.fixture(scope="package")
def running_stack() -> Iterator[Stack]:
    with running(environment.open_folder()) as stack:
        yield stack


@pytest.fixture
def stack(running_stack: Stack) -> Iterator[Stack]:
    yield running_stack
    assert not running_stack.mend(), f"died by itself: {running_stack.last_words()}"


@pytest.fixture
def tenant(stack: Stack) -> Tenant:
    return stack.tenant()


@pytest.fixture
def caller(stack: Stack, tenant: Tenant) -> Iterator[Caller]:
    with Caller(stack.url, tenant.key) as caller:
        yield caller


@pytest.fixture
def impatient(stack: Stack, tenant: Tenant) -> Iterator[Caller]:
    """Shows every 503."""
    with Caller(stack.url, tenant.key, patience_seconds=0) as caller:
        yield caller


@pytest.fixture
def folder() -> Path:
    return environment.open_folder()


@pytest.fixture
def note(record_property: Callable[[str, object], None]) -> Callable[[object], None]:
    """Figures worth telling at the end of the run."""
    return lambda figures: record_property(FIGURES, figures)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.stats.get("passed", []):
        for name, figures in report.user_properties:
            if name == FIGURES:
                terminalreporter.write_line(f"{report.nodeid.split('::')[-1]}: {figures}")
