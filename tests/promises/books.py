"""The reckoning: what clients were told, what every tier holds, and what was counted must agree."""

from tests.promises.clients import Caller, Diary, Load, Shown
from tests.promises.stack import Stack, Tenant


def reconcile(load: Load) -> str:
    """Wait until all is taken, then compare. Returns the figures in words."""
    stack, tenant = load.stack, load.tenant
    assert not [word for client in load.clients for word in client.wrong][:3], stack.last_words()
    seconds = stack.catch_up()
    used = stack.usage(tenant)
    stored = compare_histories(load)
    acknowledged = sum(diary.writes for _, diary in load.diaries())
    extra = stored - sum(len(diary.acknowledged) for _, diary in load.diaries())
    assert used["checkpoint_writes"] == acknowledged + extra == saved_events(stack, tenant)
    assert rows(stack, tenant) == stored == totals(stack, tenant)
    for metric, what in (("resume_calls", "resume"), ("replay_calls", "replay")):
        answered, doubtful = load.answered(what), sum(client.in_doubt[what] for client in load.clients)
        assert answered <= used[metric] <= answered + doubtful, (what, used, answered, doubtful)
    said = f"{load.operations} operations, {acknowledged} writes acknowledged, {extra} more in doubt"
    return f"{said}; lost 0, twice 0; caught up in {seconds:.1f} s"


def compare_histories(load: Load) -> int:
    """Every acknowledged step is there, byte for byte, and nothing that was never sent: with Redis, and without.

    Returns how many steps are stored.
    """
    stored = 0
    for lost in (False, True):
        caller = Caller(load.stack.url, load.tenant.key)
        if lost:
            load.stack.flush_redis()
        stored = sum(compare(name, diary, caller.history(name)) for name, diary in load.diaries())
        caller.close()
    return stored


def compare(name: str, diary: Diary, history: list[Shown]) -> int:
    shown = {step.step: (bytes(step.state), step.etag) for step in history}
    assert len(shown) == len(history), f"{name} shows a step twice"
    wrong = [step for step, known in diary.acknowledged.items() if shown.get(step) != known]
    wrong = [step for step in wrong if not replaced_in_doubt(diary, step, shown)]
    assert not wrong, f"{name} lost or changed {wrong}: {[shown.get(step) for step in wrong]}"
    unknown = [step for step in shown if step not in diary.acknowledged and diary.doubtful.get(step) != shown[step][0]]
    assert not unknown, f"{name} holds what nobody sent: {unknown}"
    return len(shown)


def replaced_in_doubt(diary: Diary, step: int, shown: dict[int, tuple[bytes, str]]) -> bool:
    """The last thing the client did was to replace its head, and it was not told whether that worked."""
    return step in shown and diary.doubtful.get(step) == shown[step][0]


def rows(stack: Stack, tenant: Tenant) -> int:
    query = "SELECT count(*) FROM checkpoints_checkpoint c JOIN checkpoints_workflow w ON w.id = c.workflow_id"
    return int(stack.sql(f"{query} WHERE w.account_id = %s", tenant.account_id)[0][0])


def totals(stack: Stack, tenant: Tenant) -> int:
    query = "SELECT coalesce(sum(total_checkpoints), 0) FROM checkpoints_workflow WHERE account_id = %s"
    return int(stack.sql(query, tenant.account_id)[0][0])


def saved_events(stack: Stack, tenant: Tenant) -> int:
    query = "SELECT count(*) FROM events_event WHERE account_id = %s AND type = 'checkpoint.saved'"
    return int(stack.sql(query, tenant.account_id)[0][0])
