"""Cursors come back as they were; whatever else arrives as one is a 400."""

import base64

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
