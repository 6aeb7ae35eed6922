"""A Redis that nobody can reach, asked once and not again, as our own client asks."""

import redis as redis_py
from redis.backoff import NoBackoff
from redis.retry import Retry

NOWHERE = redis_py.Redis(port=1, retry=Retry(NoBackoff(), 0))
