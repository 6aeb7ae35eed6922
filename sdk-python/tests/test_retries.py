"""What is lost or put off is sent again; what is refused, or must not happen twice, is not."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from snapstate_sdk import (
    ConnectionFailedError,
    NotFoundError,
    RateLimitError,
    ServiceUnavailableError,
    SnapStateClient,
    SnapStateError,
)


@pytest.mark.parametrize("fault", ["hang up", "cut", "cut, not measured", "slow", "503", "429", "502", "504"])
def test_a_save_goes_through_a_fault_with_the_same_bytes_and_guard(server, reply, saved, refused, hang_up, fault):
    server.script = [
        {
            "hang up": hang_up,
            "cut": reply(201, saved.body, cut=20),
            "cut, not measured": reply(201, saved.body, cut=20, measured=False),
            "slow": reply(201, saved.body, after=0.5),
            "503": refused(503, "SERVICE_UNAVAILABLE", headers={"Retry-After": "0"}),
            "429": refused(429, "RATE_LIMITED", headers={"Retry-After": "0"}),
            "502": reply(502, b"<html>bad gateway", {"Content-Type": "text/html"}),
            "504": reply(504, b""),
        }[fault]
    ]
    server.always = saved
    with SnapStateClient("snp_x", server.url, timeout=0.2, deadline=20) as client:
        assert client.save("wf", 1, {"a": 1}, if_match='"e"', ttl_seconds=60).checkpoint_id == "cp_wf_001"
    first, second = server.seen[:2]
    assert (first.body, first.headers) == (second.body, second.headers)
    assert first.headers["If-Match"] == '"e"'


def test_the_async_client_goes_through_faults_as_well(server, reply, saved, hang_up):
    server.script = [hang_up, reply(201, saved.body, cut=5), hang_up, saved]

    async def save():
        async with SnapStateClient("snp_x", server.url) as client:
            return await client.async_save("wf", 1, {})

    assert asyncio.run(save()).step == 1
    assert len(server.seen) == 4


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_kept_to_in_both_forms(server, client, saved, refused, form):
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    server.script = [refused(503, "X", headers={"Retry-After": "1" if form == "seconds" else date}), saved]
    began = time.monotonic()
    client.save("wf", 1, {})
    assert 0.9 <= time.monotonic() - began < 4


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_no_time_is_slept_away_when_the_wait_is_longer_than_the_deadline(server, impatient, refused, form):
    date = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    server.always = refused(429, "RATE_LIMITED", headers={"Retry-After": "3600" if form == "seconds" else date})
    began = time.monotonic()
    with pytest.raises(RateLimitError) as caught:
        impatient.resume("wf")
    assert time.monotonic() - began < 0.9
    assert caught.value.retry_after in range(3500, 3601)
    assert len(server.seen) == 1


def test_a_date_to_retry_after_is_told_by_the_clock_that_named_it(server, client, refused):
    theirs = datetime.now(UTC) - timedelta(hours=1)
    soon = {"Date": format_datetime(theirs, usegmt=True), "Retry-After": format_datetime(theirs, usegmt=True)}
    late = {**soon, "Retry-After": format_datetime(theirs + timedelta(seconds=90), usegmt=True)}
    server.script = [refused(503, "X", headers=soon), refused(503, "X", headers=late)]
    with pytest.raises(ServiceUnavailableError) as caught:
        client.save("wf", 1, {})
    assert caught.value.retry_after == 90


def test_a_server_that_asks_to_be_asked_at_once_is_not_run_down(server, refused):
    server.always = refused(503, "X", headers={"Retry-After": "0"})
    with SnapStateClient("snp_x", server.url, deadline=3) as client, pytest.raises(ServiceUnavailableError):
        client.resume("wf")
    assert 2 <= len(server.seen) <= 8


@pytest.mark.parametrize("nonsense", ["soon", "-1", "", "1.5", "9" * 5000, "Sun, 99 Nov 2026", "1 2 3 4 5 6 7"])
def test_a_retry_after_that_cannot_be_read_is_as_good_as_none(server, client, saved, refused, nonsense):
    server.script = [refused(503, "X", headers={"Retry-After": nonsense}), saved]
    assert client.save("wf", 1, {}).step == 1


def test_unavailable_until_the_deadline_is_said_so(server, refused):
    server.always = refused(503, "SERVICE_UNAVAILABLE", headers={"Retry-After": "0"})
    with SnapStateClient("snp_x", server.url, deadline=2) as client, pytest.raises(ServiceUnavailableError) as caught:
        client.save("wf", 1, {})
    assert (caught.value.status_code, caught.value.request_id, caught.value.retry_after) == (503, "req-1", 0)
    assert len(server.seen) > 1


def test_no_attempt_is_begun_that_has_no_time_to_be_answered(server, reply, refused):
    server.script = [reply(200, {"usage": {}}), refused(503, "X", headers={"Retry-After": "1"})]
    server.always = reply(200, {"usage": {}}, after=0.5)
    with SnapStateClient("snp_x", server.url, deadline=1.4) as client:
        client.usage()  # which opens the connection
        with pytest.raises(ServiceUnavailableError):
            client.usage()
    assert len(server.seen) == 2


def test_an_answer_that_trickles_in_does_not_outlive_the_deadline(server, impatient, reply):
    server.always = reply(200, {"text": "x" * 200}, pause=0.05)
    began = time.monotonic()
    with pytest.raises(ConnectionFailedError):
        impatient.usage()
    assert time.monotonic() - began < 4


def test_at_most_so_many_attempts(server, hang_up):
    server.always = hang_up
    with SnapStateClient("snp_x", server.url, max_retries=3) as client, pytest.raises(ConnectionFailedError):
        client.resume("wf")
    assert len(server.seen) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 415, 500])
def test_what_is_refused_is_not_asked_for_again(server, client, refused, status):
    server.script = [refused(status, "NO")]
    with pytest.raises(SnapStateError):
        client.save("wf", 1, {})
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "act",
    [
        lambda client: client.register_webhook("https://example.com", ["checkpoint.saved"]),
        lambda client: client.rotate_webhook_secret("wh_1"),
        lambda client: client.test_webhook("wh_1"),
        lambda client: client.resend_delivery("wh_1", "dl_1"),
    ],
)
def test_what_must_not_happen_twice_is_not_sent_twice(server, client, hang_up, act):
    server.script = [hang_up]
    with pytest.raises(ConnectionFailedError) as caught:
        act(client)
    assert caught.value.in_doubt
    assert len(server.seen) == 1


def test_what_must_not_happen_twice_is_sent_again_once_it_was_put_off(server, client, reply, refused):
    server.script = [refused(429, "RATE_LIMITED", headers={"Retry-After": "0"}), reply(201, {"webhook_id": "wh_1"})]
    assert client.register_webhook("https://example.com", ["checkpoint.saved"])["webhook_id"] == "wh_1"


@pytest.mark.parametrize("status", [502, 504])
def test_what_must_not_happen_twice_is_not_repeated_behind_a_proxy_that_gave_up(server, client, refused, status):
    server.script = [refused(status, "GATEWAY")]
    with pytest.raises(ServiceUnavailableError):
        client.test_webhook("wh_1")


def test_an_erase_that_goes_on_after_its_503_has_been_done(server, client, refused):
    server.script = [refused(503, "SERVICE_UNAVAILABLE", headers={"Retry-After": "0"}), refused(404, "NOT_FOUND")]
    assert client.erase("wf") is None


def test_an_erase_whose_answer_was_lost_has_been_done(server, client, refused, hang_up):
    server.script = [hang_up, refused(404, "NOT_FOUND")]
    assert client.erase("wf") is None
    server.script = [refused(404, "NOT_FOUND")]
    with pytest.raises(NotFoundError):
        client.erase("wf")


def warnings_in(caplog):
    """Of ours; what others log depends on who else has set up logging in this process."""
    ours = [record for record in caplog.records if record.name == "snapstate_sdk"]
    assert {record.levelname for record in ours} <= {"WARNING"}
    return [record.getMessage() for record in ours]


def test_the_first_retry_of_a_call_is_logged_and_no_other(server, saved, refused, hang_up, caplog):
    unavailable = refused(503, "X", headers={"Retry-After": "0"})
    server.script = [hang_up, hang_up, saved, unavailable, hang_up, saved, saved]
    with SnapStateClient("snp_secret", server.url, deadline=20) as client:
        for step in (1, 2, 3):
            client.save("wf", step, {})
    lost, put_off = warnings_in(caplog)
    assert lost.startswith(f"POST /checkpoints failed at {server.url} (RemoteProtocolError: ")
    assert lost.endswith("; trying again, for up to 20 seconds")
    assert "(503: X, so to speak); trying again" in put_off


def test_what_a_proxy_says_is_logged_in_one_line(server, client, reply, saved, caplog):
    server.script = [reply(502, b"<html>\n<p>bad\r\ngateway</p>\n", {"Content-Type": "text/html"}), saved]
    client.save("wf", 1, {})
    [warning] = warnings_in(caplog)
    assert "(502: <html> <p>bad gateway</p>); trying again" in warning


def test_a_call_that_is_not_sent_again_logs_nothing(server, impatient, refused, hang_up, caplog):
    server.script = [refused(429, "X", headers={"Retry-After": "3600"}), hang_up]
    for act in (lambda: impatient.resume("wf"), lambda: impatient.test_webhook("wh_1")):
        with pytest.raises(SnapStateError):
            act()
    assert warnings_in(caplog) == []
