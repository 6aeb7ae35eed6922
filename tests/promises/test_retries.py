"""Promise 3: a save whose answer was lost is sent again: the first result, counted once."""

from concurrent.futures import ThreadPoolExecutor

from tests.promises.books import saved_events
from tests.promises.calling import LOST, Answer, Caller, state_of
from tests.promises.proxy import losing_answers

STEPS = 30
TWINS = 50


def test_a_save_is_repeated_when_its_answer_was_lost(stack, tenant, caller, note):
    with losing_answers(stack.url) as proxy, Caller(proxy.url, tenant.key) as unlucky:
        answers = []
        for step in range(STEPS):
            proxy.losing = step % 3  # none, one, or two attempts in vain
            answers.append(save_until_answered(unlucky, step))
    assert [answer.status for answer in answers] == [200 if step % 3 else 201 for step in range(STEPS)]
    assert [answer.headers.get("idempotent-replayed") for answer in answers[:3]] == [None, "true", "true"]
    assert [step.etag for step in caller.history("wf")] == [answer.etag for answer in answers]
    stack.catch_up()
    assert (caller.usage()["checkpoint_writes"], saved_events(stack, tenant)) == (STEPS, STEPS)
    note(f"{STEPS} saves, {proxy.lost} answers lost, counted {STEPS}")


def save_until_answered(caller: Caller, step: int) -> Answer:
    while True:
        try:
            return caller.save("wf", step, state_of("wf", step))
        except LOST:
            continue


def test_fifty_twins_are_one_save(stack, tenant, caller):
    def save(_: int) -> Answer:
        with Caller(stack.url, tenant.key) as twin:
            return twin.save("twins", 1, state_of("twins", 1))

    with ThreadPoolExecutor(TWINS) as threads:
        answers = list(threads.map(save, range(TWINS)))
    assert sorted(answer.status for answer in answers) == [200] * (TWINS - 1) + [201]
    assert len({answer.etag for answer in answers}) == 1
    stack.catch_up()
    assert caller.usage()["checkpoint_writes"] == 1
