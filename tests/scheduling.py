"""In which order the workers of pytest-xdist take the files: what takes long comes first, so that none waits for it.

Tests that share a running SnapState are one worker's, which starts it once and stops it after the last of them.
"""

from typing import Any

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

TOGETHER = ("tests/promises",)
# Of the files that take longer than their tests are many; all others follow by the number of their tests.
LONGEST_FIRST = (
    "tests/promises",
    "tests/docs/test_in_a_browser.py",
    "tests/dev/test_lifecycle.py",
    "tests/dashboard/test_in_a_browser.py",
    "tests/dashboard/test_system_in_a_browser.py",
    "tests/dev/test_bench.py",
    "tests/clients/test_schemathesis.py",
    "tests/dev/test_what_is_in_the_way.py",
    "tests/operations/test_restore.py",
    "tests/operations/test_stopping.py",
    "tests/docs/test_odd_readers.py",
    "tests/dashboard/test_index.py",
    "tests/clients/test_generated.py",
    "tests/clients/test_mcp.py",
    "tests/clients/test_javascript_sdk.py",
    "tests/clients/test_nasty_values.py",
    "tests/dashboard/test_workflow_in_a_browser.py",
    "tests/operations/test_release.py",
    "tests/webhooks/test_exactly_once.py",
    "tests/analytics/test_rebuild.py",
    "tests/webhooks/test_worker.py",
)


class LongestFirst(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        folder = file.rpartition("/")[0]
        return folder if folder in TOGETHER else file

    def _assign_work_unit(self, node: WorkerController) -> None:
        longest = min(self.workqueue, key=self.place)
        self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)

    def place(self, scope: str) -> tuple[int, int]:
        place = LONGEST_FIRST.index(scope) if scope in LONGEST_FIRST else len(LONGEST_FIRST)
        return place, -len(self.workqueue[scope])


def scheduler(config: Any, log: Any) -> LongestFirst | None:
    """Only instead of `--dist loadfile`; None leaves the choice to pytest-xdist."""
    return LongestFirst(config, log) if config.getvalue("dist") == "loadfile" else None
