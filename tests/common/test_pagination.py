"""Cursors come back as they were; whatever else arrives as one is a 400."""

import base64
from datetime import UTC, datetime

import pytest

from snapstate_project.common.errors import ValidationFailed
from snapstate_project.common.pagination import decode_cursor, encode_cursor


@pytest.mark.parametrize("position", [(1, "a"), (2**53, "研究-🤖"), (0, "")])
def test_a_cursor_comes_back(position):
    assert decode_cursor(encode_cursor(position), tuple[int, str]) == position


@pytest.mark.parametrize("cursor", ["x", "!!!!", "é", encode_cursor(["a", 1]), encode_cursor({"a": 1}), "",
                                    base64.b64encode(b"\xff\xff").decode()])  # fmt: skip
def test_anything_else_is_refused(cursor):
    with pytest.raises(ValidationFailed) as refused:
        decode_cursor(cursor, tuple[int, str])
    assert [detail["path"] for detail in refused.value.details or []] == ["cursor"]


@pytest.mark.parametrize(
    "time",
    ["9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59", "2026-11-29T18:33:11+01:00", "2026-11-29T18:33:11"],
)
def test_a_time_is_ours_in_utc_alone(time: str):
    with pytest.raises(ValidationFailed):
        decode_cursor(encode_cursor([time]), tuple[datetime])


@pytest.mark.parametrize("number", [-1, 2**63, 10**30])
def test_a_number_is_ours_as_an_id_or_a_step(number: int):
    with pytest.raises(ValidationFailed):
        decode_cursor(encode_cursor([number]), tuple[int])


@pytest.mark.parametrize("time", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
@pytest.mark.parametrize("number", [0, 2**63 - 1])
def test_what_is_ours_comes_back(time: datetime, number: int):
    assert decode_cursor(encode_cursor((time, number)), tuple[datetime, int]) == (time, number)
