"""The reckoning: what clients were told, what every tier holds, and what was counted must agree."""

from checkpoints.segment_format import unpack_index
from tests.promises.calling import Caller, Shown
from tests.promises.clients import Diary, Load
from tests.promises.stack import Stack, Tenant


def reconcile(load: Load) -> str:
    """Wait until all is taken, then compare. Returns the figures in words."""
    stack, tenant = load.stack, load.tenant
    assert not load.wrong, "\n".join([*load.wrong[:3], stack.last_words()])
    seconds = stack.catch_up()
    with Caller(stack.url, tenant.key) as caller:
        used = caller.usage()
        stored, extra = compare_histories(load, caller)
    acknowledged = sum(diary.writes for _, diary in load.diaries())
    counted = (used["checkpoint_writes"], saved_events(stack, tenant))
    assert counted == (acknowledged + extra, acknowledged + extra), (counted, acknowledged, extra)
    assert (stored_steps(stack, tenant), totals(stack, tenant)) == (stored, stored)
    assert analysed(stack, tenant) == (acknowledged + extra, used["resume_calls"], stored, stored, stored)
    for metric, what in (("resume_calls", "resume"), ("replay_calls", "replay")):
        answered, doubtful = load.answered(what), load.in_doubt(what)
        assert answered <= used[metric] <= answered + doubtful, (what, used, answered, doubtful)
    said = f"{load.operations} operations, {acknowledged} writes acknowledged, {extra} more in doubt"
    return f"{said}; lost 0, duplicated 0, wrong 0; caught up in {seconds:.1f} s"


def compare_histories(load: Load, caller: Caller) -> tuple[int, int]:
    """Every acknowledged step is there, byte for byte, and nothing that was never sent: with Redis, and without.

    Returns how many steps are stored, and how many of them nobody was told of.
    """
    found = [compare(name, diary, caller.history(name)) for name, diary in load.diaries()]
    load.stack.flush_redis()
    assert found == [compare(name, diary, caller.history(name)) for name, diary in load.diaries()]
    return sum(stored for stored, _ in found), sum(extra for _, extra in found)


def compare(name: str, diary: Diary, history: list[Shown]) -> tuple[int, int]:
    shown = {step.step: (bytes(step.state), step.etag) for step in history}
    assert len(shown) == len(history), f"{name} shows a step twice"
    assert not diary.acknowledged.keys() - shown, f"{name} lost {diary.acknowledged.keys() - shown}"
    changed = [step for step in history if not diary.matches(step)]
    assert not changed, f"{name} holds what nobody sent: {changed}"
    return len(shown), sum(diary.acknowledged.get(step) != is_there for step, is_there in shown.items())


def stored_steps(stack: Stack, tenant: Tenant) -> int:
    """Steps in rows or in the segments of the archive, each once."""
    of_account = "JOIN checkpoints_workflow w ON w.id = x.workflow_id WHERE w.account_id = %s"
    held = set(stack.sql(f"SELECT x.workflow_id, step FROM checkpoints_checkpoint x {of_account}", tenant.account_id))
    packed = stack.sql(
        f"SELECT x.workflow_id, x.steps FROM checkpoints_archivesegment x {of_account}", tenant.account_id
    )
    held.update((workflow, entry.step) for workflow, index in packed for entry in unpack_index(index))
    return len(held)


def totals(stack: Stack, tenant: Tenant) -> int:
    query = "SELECT coalesce(sum(total_checkpoints), 0) FROM checkpoints_workflow WHERE account_id = %s"
    return int(stack.sql(query, tenant.account_id)[0][0])


def saved_events(stack: Stack, tenant: Tenant) -> int:
    query = "SELECT count(*) FROM events_event WHERE account_id = %s AND type = 'checkpoint.saved'"
    return int(stack.sql(query, tenant.account_id)[0][0])


def analysed(stack: Stack, tenant: Tenant) -> tuple[int, ...]:
    """What the days tell of (writes, resumes, newest revisions); those revisions by workflow, and one by one."""
    days = "SELECT sum(checkpoints)::int, sum(resumes)::int, sum(steps)::int FROM analytics_dailyactivity"
    stats = "SELECT sum(total_steps)::int FROM analytics_workflowstats"
    steps = "SELECT count(*) FROM analytics_workflowstep w JOIN analytics_workflowstats s ON s.id = w.stats_id"
    found = [stack.sql(f"{query} WHERE account_id = %s", tenant.account_id)[0] for query in (days, stats, steps)]
    return tuple(int(number) for row in found for number in row)
