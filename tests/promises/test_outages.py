"""Promise 1: while a part is away nothing is acknowledged that is not stored; it is back without a restart of ours."""

import signal
import time

import pytest

from tests.promises.books import reconcile
from tests.promises.calling import Answer, Caller, state_of
from tests.promises.clients import load
from tests.promises.stack import Stack, within

BACKGROUND = ("intake", "worker", "beat")
POSTGRES_IS_AWAY_SECONDS = 10
REDIS_IS_AWAY_SECONDS = 3
ANSWER_WITHIN_SECONDS = 2.5
SLACK_SECONDS = 1.0  # this machine does other things as well


def test_saves_go_on_while_all_background_processes_are_away(stack, tenant, note):
    with load(stack, tenant) as clients:
        time.sleep(0.5)
        for name in BACKGROUND:
            stack.kill(name)
        before = clients.answered("save")
        time.sleep(4)
        assert clients.answered("save") > before + 100
        assert not clients.refused("save")
        for name in BACKGROUND:
            stack.start_again(name)
    note(reconcile(clients))


def test_warm_saves_go_on_while_postgres_is_away(stack, tenant, note):
    keys, ours = (stack.another_key(tenant.account_id), "snp_" + "0" * 32), stack.pids()
    with load(stack, tenant) as clients:
        time.sleep(1.5)
        stack.kill("postgres")
        gone_at = time.monotonic()
        answers = [resume_once(stack, key) for key in keys]
        time.sleep(POSTGRES_IS_AWAY_SECONDS)
        back_at = time.monotonic()
        stack.postgres.start()
        time.sleep(1)
    assert [(answer.status, answer.says_when) for answer in answers] == [(503, True)] * 2
    assert not clients.refused("save")
    silence = clients.longest_silence(gone_at, back_at)
    assert silence < 1 + SLACK_SECONDS
    note(f"{reconcile(clients)}; longest silence of saves {silence:.2f} s")
    assert stack.pids() == ours


def resume_once(stack: Stack, key: str) -> Answer:
    with Caller(stack.url, key, patience_seconds=0) as caller:
        return caller.resume("wf")


def test_warm_saves_go_on_while_postgres_is_frozen(stack, impatient):
    impatient.save_steps("wf", 1, 5)
    with stack.postgres_frozen():
        answers = [impatient.save("wf", step, state_of("wf", step)) for step in range(6, 106)]
    assert {answer.status for answer in answers} == {201}
    assert max(answer.seconds for answer in answers) < SLACK_SECONDS
    stack.catch_up()
    assert [step.step for step in impatient.history("wf")] == list(range(1, 106))


def full(stack: Stack) -> None:
    with stack.redis() as redis:
        redis.config_set("maxmemory", "1mb")


def not_full(stack: Stack) -> None:
    with stack.redis() as redis:
        redis.config_set("maxmemory", "0")


def read_only(stack: Stack) -> None:
    with stack.redis() as redis:
        redis.execute_command("REPLICAOF", "127.0.0.1", "1")


def writable(stack: Stack) -> None:
    with stack.redis() as redis:
        redis.execute_command("REPLICAOF", "NO", "ONE")


def freeze(stack: Stack) -> None:
    stack.signal("store", signal.SIGSTOP)


def thaw(stack: Stack) -> None:
    stack.signal("store", signal.SIGCONT)


def stop(stack: Stack) -> None:
    stack.kill("store")


def start(stack: Stack) -> None:
    stack.store.start()


OUTAGES = {
    "full": (full, not_full),
    "read-only": (read_only, writable),
    "frozen": (freeze, thaw),
    "dead": (stop, start),
}


@pytest.mark.parametrize("how", OUTAGES)
def test_nothing_is_acknowledged_in_vain_while_redis_is(how, stack, impatient, note):
    begin, end = OUTAGES[how]
    impatient.save_steps("wf", 1, 1)
    with load(stack, stack.tenant()) as clients:
        time.sleep(1)
        begin(stack)
        resumed, *answers = refusals(impatient)
        end(stack)
        back = time.monotonic()
        assert within(5, lambda: impatient.save("wf", 3, state_of("wf", 3)).status == 201)
        recovery = time.monotonic() - back
        time.sleep(0.5)
    assert {(answer.status, answer.says_when) for answer in answers} == {(503, True)}
    assert resumed.status == (200 if how == "full" else 503)
    slowest = max(answer.seconds for answer in (resumed, *answers))
    assert slowest < ANSWER_WITHIN_SECONDS + SLACK_SECONDS
    note(f"{reconcile(clients)}; slowest 503 {slowest:.1f} s, saves again after {recovery:.1f} s")


def test_a_full_redis_is_emptied_by_its_own_cure(stack, impatient, note):
    stack.intake.stop()
    impatient.save_steps("wf", 1, 1_000)
    full(stack)
    stack.intake.start()
    seconds = stack.catch_up()
    assert impatient.save("wf", 1_001, state_of("wf", 1_001)).status == 503
    not_full(stack)
    assert (stack.intake.running, impatient.save("wf", 1_001, state_of("wf", 1_001)).status) == (True, 201)
    note(f"1000 saves taken from a full Redis in {seconds:.1f} s")


def refusals(caller: Caller) -> list[Answer]:
    until = time.monotonic() + REDIS_IS_AWAY_SECONDS
    answers = [caller.resume("wf")]
    while time.monotonic() < until:
        answers.append(caller.save("wf", 2, state_of("wf", 2)))
    return answers


def test_connections_to_redis_die_between_and_during_saves(stack, tenant, note):
    with load(stack, tenant) as clients, stack.redis() as redis:
        for _ in range(20):
            time.sleep(0.1)
            redis.client_kill_filter(_type="normal", skipme=True)
    note(reconcile(clients))
