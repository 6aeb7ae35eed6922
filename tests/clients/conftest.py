"""What clients have saved, seen from each tier."""

from collections.abc import Callable

import pytest
import redis as redis_py

from tests.hostile.conftest import expire_all


@pytest.fixture(params=["hot", "warm", "archive"])
def settle(request: pytest.FixtureRequest, intake: Callable[[], None], redis: redis_py.Redis) -> Callable[[], None]:
    def move() -> None:
        if request.param != "hot":
            intake()
        if request.param == "warm":
            redis.flushall()
        if request.param == "archive":
            expire_all()

    return move
