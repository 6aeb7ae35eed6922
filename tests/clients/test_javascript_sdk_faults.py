"""A thousand saves of the JavaScript SDK over a bad line: each is there once, and no error that a retry could mend."""

import json
from collections.abc import Callable

import httpx
import pytest

from accounts.models import Account
from tests.checkpoints.racing import writes
from tests.clients import javascript
from tests.clients.faults import Fault, faulty

SAVES, AGENTS = 1_000, 20
EACH = SAVES // AGENTS


@pytest.mark.slow
@pytest.mark.timeout(240)
# So much is made here that it is here that the collector finds what event loops of earlier tests have left open.
@pytest.mark.filterwarnings("ignore:.*_SelectorTransport.__del__:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:.*<socket.socket fd=:pytest.PytestUnraisableExceptionWarning")
def test_every_save_is_there_once_and_no_error_is_heard(
    base_url: str, key: str, account: Account, api: httpx.Client, intake: Callable[[], None]
) -> None:
    with faulty(base_url, seed=7, rate=0.25, most=3, slow_seconds=0.05) as proxy:
        said = javascript.run(
            "test/live/faults.mjs", "wf", str(SAVES), str(AGENTS), base_url=proxy.url, key=key, seconds=200
        )
    assert json.loads(said) == []
    assert set(proxy.met) == set(Fault)
    assert sum(proxy.met.values()) > SAVES / 10
    for number in range(AGENTS):
        shown = api.get(f"/workflows/wf-{number}/replay", params={"limit": 1000}).json()["checkpoints"]
        assert [one["state"]["step"] for one in shown] == list(range(1, EACH + 1))
        assert all(one["state"]["agent"] == number for one in shown)
    intake()
    assert writes(account.pk) == SAVES
