"""A pass costs what is due, not what is there."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from accounts.models import Account
from checkpoints import archiving, codec
from checkpoints.content import Envelope, digest, encode_envelope, pack
from checkpoints.models import ArchiveSegment, Workflow

DUE = 200
ENVELOPE = encode_envelope(Envelope(None, None, "active", None))
STATE = b'{"history": ["one", "two", "three"]}'
BODY = codec.encode(pack(ENVELOPE, b"", STATE))
DIGEST = bytes.fromhex(digest(ENVELOPE, b"", STATE))

WORKFLOWS = """
    INSERT INTO checkpoints_workflow (account_id, digest, workflow_id, generation, version, last_sequence,
        saved_sequence, archived_sequence, dropped_sequence, head_step, head_sequence, head_digest, head_guard, status,
        metadata_terms, total_checkpoints, size_bytes, stored_bytes, pinned, started_at, last_activity_at, expires_at,
        archive_at)
    SELECT %(account)s, decode(md5(%(name)s || n), 'hex'), %(name)s || n, 1, 0, n, n, 0, 0, 1, n, %(digest)s, '',
        'active', '{}', 1, 36, 60, false, now(), now(), %(expires)s, %(expires)s
    FROM generate_series(1, %(count)s) AS n
"""
CHECKPOINTS = """
    INSERT INTO checkpoints_checkpoint (workflow_id, sequence, step, anchor, created_at, generation, size_bytes, digest,
        status, guard, body)
    SELECT id, last_sequence, 1, last_sequence, now(), 1, 36, %(digest)s, 'active', '', %(body)s
    FROM checkpoints_workflow WHERE account_id = %(account)s AND workflow_id LIKE %(name)s || '%%'
"""


def fill(sql: "psycopg.Connection[Any]", account: Account, name: str, count: int, expires: datetime) -> None:
    values = {"account": account.pk, "name": name, "count": count, "expires": expires, "digest": DIGEST, "body": BODY}
    sql.execute(WORKFLOWS, values)
    sql.execute(CHECKPOINTS, values)


def seconds_of_a_pass() -> float:
    began = time.perf_counter()
    done = archiving.archive_expiring(seconds=600)
    assert done.archived >= DUE
    return time.perf_counter() - began


@pytest.mark.timeout(300)
def test_a_pass_over_many_workflows_costs_what_is_due(sql: "psycopg.Connection[Any]", account: Account) -> None:
    past, future = datetime.now(UTC) - timedelta(days=1), datetime.now(UTC) + timedelta(days=30)
    fill(sql, account, "few-", DUE, past)
    alone = seconds_of_a_pass()
    fill(sql, account, "idle-", 100_000 - DUE, future)
    fill(sql, account, "due-", DUE, past)
    sql.execute("ANALYZE checkpoints_workflow")
    among = seconds_of_a_pass()
    print(f"{DUE} due of {DUE}: {alone:.2f} s; {DUE} due of 100,000: {among:.2f} s")
    assert ArchiveSegment.objects.filter(workflow__account=account).count() == 2 * DUE
    assert not Workflow.objects.filter(
        account=account, workflow_id__startswith="idle-", archived_sequence__gt=0
    ).exists()
    assert among < 3 * alone
