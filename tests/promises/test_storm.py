"""Promises 1 and 6: everything dies at random, one thing after the other, while clients work."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable

from tests.promises.books import reconcile
from tests.promises.clients import Load, load
from tests.promises.stack import Stack

SECONDS = float(os.environ.get("STORM_SECONDS", "15"))


def kill(name: str) -> Callable[[Stack, Load], None]:
    def kill_it(stack: Stack, _: Load) -> None:
        stack.kill(name)
        time.sleep(random.random())
        stack.start_again(name)

    return kill_it


def freeze_store(stack: Stack, _: Load) -> None:
    stack.signal("store", signal.SIGSTOP)
    time.sleep(random.random() * 3)
    stack.signal("store", signal.SIGCONT)


def cut_connections(stack: Stack, _: Load) -> None:
    with stack.redis() as redis:
        redis.client_kill_filter(_type="normal", skipme=True)
    stack.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname <> ''")


def lose_redis(stack: Stack, clients: Load) -> None:
    clients.pause()
    stack.catch_up()
    stack.flush_redis()
    clients.go_on()


def add_an_intake(stack: Stack, _: Load) -> None:
    with stack.second_intake():
        stack.kill("intake")
        time.sleep(random.random())
    stack.start_again("intake")


def expire(stack: Stack, _: Load) -> None:
    stack.expire_everything()


def refuse_archive(stack: Stack, _: Load) -> None:
    with stack.archive_refusing():
        stack.expire_everything()
        time.sleep(random.random() * 2)


ACCIDENTS = {
    **{f"kill {name}": kill(name) for name in ("web", "intake", "store", "postgres", "worker", "beat")},
    "freeze": freeze_store,
    "cut": cut_connections,
    "lose redis": lose_redis,
    "another intake": add_an_intake,
    "expire": expire,
    "archive refuses": refuse_archive,
}


def test_nothing_is_lost_in_a_storm(stack, tenant, note):
    seed = int(os.environ.get("STORM_SEED", time.time_ns()))
    chance, happened, began = random.Random(seed), [], time.monotonic()
    with load(stack, tenant) as clients:
        while time.monotonic() < began + SECONDS:
            happened.append(chance.choice(list(ACCIDENTS)))
            ACCIDENTS[happened[-1]](stack, clients)
            stack.wait_for_postgres()
            time.sleep(chance.random())
    recovery = clients.longest_silence(began, time.monotonic())
    faults = ", ".join(f"{count} x {name}" for name, count in Counter(happened).most_common())
    note(
        f"{reconcile(clients)}; longest time to recover {recovery:.1f} s; {len(happened)} faults: {faults}; seed {seed}"
    )
