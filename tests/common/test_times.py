"""Times leave as ISO-8601 in UTC with milliseconds, whatever they came in as."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from snapstate_project.common.query import moment
from snapstate_project.common.times import iso


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_795_977_191_123, "2026-11-29T18:33:11.123Z"),
        (1_795_977_191_001, "2026-11-29T18:33:11.001Z"),
        (datetime(2026, 11, 29, 18, 33, 11, 123_999, UTC), "2026-11-29T18:33:11.123Z"),
        (datetime(2026, 11, 29, 20, 33, 11, tzinfo=timezone(timedelta(hours=2))), "2026-11-29T18:33:11.000Z"),
    ],
)
def test_a_time_is_utc_to_the_millisecond(at, text):
    assert iso(at) == text


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [("", 0), (".1", 100_000), (".123456", 123_456), (".1234567", 123_456), (".999999999", 999_999)],
)
@pytest.mark.parametrize("zone", ["Z", "+00:00"])
def test_a_time_comes_with_up_to_nine_decimals_and_is_cut_to_six(text, microseconds, zone):
    assert moment(f"2027-01-01T00:00:00{text}{zone}") == datetime(2027, 1, 1, 0, 0, 0, microseconds, UTC)


@pytest.mark.parametrize("text", [".", ".1234567890", ",5", ".\u0661"])
def test_other_decimals_are_refused(text):
    with pytest.raises(ValueError, match="must be a time"):
        moment(f"2027-01-01T00:00:00{text}Z")
