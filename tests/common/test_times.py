"""Times leave as ISO-8601 in UTC with milliseconds, whatever they came in as."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from snapstate_project.common.times import iso


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_795_977_191_123, "2026-11-29T18:33:11.123Z"),
        (1_795_977_191_001, "2026-11-29T18:33:11.001Z"),
        (datetime(2026, 11, 29, 18, 33, 11, 123_999, UTC), "2026-11-29T18:33:11.123Z"),
        (datetime(2026, 11, 29, 20, 33, 11, tzinfo=timezone(timedelta(hours=2))), "2026-11-29T18:33:11.000Z"),
    ],
)
def test_a_time_is_utc_to_the_millisecond(moment, text):
    assert iso(moment) == text
