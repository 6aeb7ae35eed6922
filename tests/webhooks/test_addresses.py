"""Deliveries go to public addresses only: judged at registration where it can be seen, and at every connection."""

import re
from datetime import timedelta
from ipaddress import ip_address

import pytest
from django.conf import settings

from tests.webhooks.receiver import Answering
from tests.webhooks.steps import deliver, delivery, happened, queue, saved
from webhooks import sender
from webhooks.addresses import is_public, target_of
from webhooks.errors import AddressRefused

INSIDE = [
    *("0.0.0.0", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "169.254.169.254", "172.16.0.1"),
    *("172.31.255.255", "192.0.0.192", "192.168.0.1", "198.18.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.1"),
    *("192.88.99.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "168.63.129.16"),
    *(
        "::",
        "::1",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "::ffff:0:127.0.0.1",
    ),
    *("64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::1", "2002:7f00:1::1", "2002:a9fe:a9fe::"),
    *("2001::1", "2001:db8::1", "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1"),
    *("100::1", "5f00::1", "4000::1"),
]
OUTSIDE = ["1.1.1.1", "8.8.8.8", "172.32.0.1", "2606:4700::1111", "2a00:1450::1", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8"]

REFUSED = [
    *("http://127.0.0.1", "http://[::1]", "http://169.254.169.254", "http://[::ffff:10.0.0.1]", "http://2130706433"),
    *("http://0177.0.0.1", "https://user:pw@hooks.example.com", "file:///etc/passwd", "ftp://hooks.example.com"),
    *("https://127.0.0.1", "https://2130706433", "https://0177.0.0.1", "https://0x7f.1", "https://127.1", "https://0"),
    *(
        "https://0x7f000001",
        "https://017700000001",
        "https://[::ffff:7f00:1]",
        "https://[::]",
        "https://[fe80::1%25lo]",
    ),
    *("https://localhost", "https://LOCALHOST.", "https://a.localhost", "https://metadata.google.internal"),
    *("https://printer.local", "https://intranet", "https://nas.lan", "https://1.1.1.1.1", "https://①②⑦.0.0.1"),
    *("https://user@hooks.example.com", "https://:@hooks.example.com", "https://hooks.example.com\\@127.0.0.1"),
    *("https://hooks.example.com:0", "https://hooks.example.com:65536", "https://hooks.example.com:x", "https://"),
    *("https:///hook", "//hooks.example.com", "hooks.example.com", "", " https://hooks.example.com", "https://a b.com"),
    *("https://hooks.example.com/a b", "https://hooks.example.com/\n", "https://hooks.example.com/#f", "gopher://a.b"),
    *("http://hooks.example.com", "javascript:alert(1)", "https://[", "https://[v1.ab]:x", "https://a..example.com"),
    "https://hooks.example.com/" + "a" * 2_048,
]


def public(text):
    return is_public(ip_address(text))


@pytest.mark.parametrize("address", INSIDE)
def test_an_address_inside_is_not_public(address):
    assert not public(address)


@pytest.mark.parametrize("address", OUTSIDE)
def test_an_address_outside_is_public(address):
    assert public(address)


@pytest.mark.parametrize("url", REFUSED)
def test_a_url_that_leads_inside_is_refused_at_registration_and_by_the_sender(api, url):
    answer = api.post("/webhooks", json={"url": url, "events": ["checkpoint.saved"]})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["details"][0]["path"] == "url"
    assert (sender.post(url, {}, b"{}").error or "").startswith("refused: ")


@pytest.mark.parametrize(
    ("url", "host", "port", "path"),
    [
        ("https://Hooks.Example.com.", "hooks.example.com", 443, "/"),
        ("https://1.1.1.1:8443/a?b=c", "1.1.1.1", 8443, "/a?b=c"),
        ("HTTPS://[2606:4700::1111]:444?x", "2606:4700::1111", 444, "/?x"),
        ("https://xn--bcher-kva.example/%C3%A9?q=%20", "xn--bcher-kva.example", 443, "/%C3%A9?q=%20"),
    ],
)
def test_a_public_url_is_taken(url, host, port, path):
    target = target_of(url)
    assert (target.host, target.port, target.path) == (host, port, path)


@pytest.mark.parametrize("scheme", ["HTTP", "Http", "http"])
def test_a_scheme_is_taken_in_either_case_as_the_document_says(api, account, hook, receiver, scheme):
    to = receiver(200)
    url = to.url.replace("http", scheme)
    written = api.get("/openapi.json").json()["components"]["schemas"]["WebhookRegistration"]["properties"]["url"]
    assert re.search(written["pattern"], url)
    assert hook(url)["url"] == url
    happened(account, saved())
    queue()
    deliver()
    assert len(to.got) == 1


def test_http_is_for_development(monkeypatch):
    monkeypatch.setattr(settings, "WEBHOOK_ALLOW_HTTP", True)
    assert target_of("http://hooks.example.com").port == 80
    with pytest.raises(AddressRefused):
        target_of("http://127.0.0.1")


def test_over_http_a_network_of_one_s_own_is_reached_by_address_alone_and_the_refusal_says_so(monkeypatch):
    monkeypatch.setattr(settings, "WEBHOOK_ALLOW_HTTP", False)
    monkeypatch.setattr(settings, "WEBHOOK_PRIVATE_NETWORKS", ["127.0.0.0/8"])
    assert target_of("http://127.0.0.1:3000/").port == 3000
    with pytest.raises(AddressRefused, match=r"or name its host by its address, as http://127.0.0.1 does"):
        target_of("http://localhost:3000/")
    with pytest.raises(AddressRefused, match=r"must begin with https://\Z"):
        target_of("http://1.1.1.1/")


@pytest.fixture
def by_name(monkeypatch, hook, resolved, receiver):
    """A webhook at a name that the test resolves, and the receiver that it leads to."""
    monkeypatch.setattr(settings, "WEBHOOK_ALLOW_HTTP", True)
    monkeypatch.setattr(settings, "WEBHOOK_PRIVATE_NETWORKS", ["127.0.0.1/32"])
    to = receiver(500)
    return hook(f"http://rebound.example.com:{to.port}/hook"), to


def last_error(hook):
    return delivery(hook).attempts[-1]["error"]


def test_a_name_that_is_rebound_is_refused_at_the_next_attempt(account, by_name, resolved):
    registered, to = by_name
    resolved(["127.0.0.1"], ["169.254.169.254"])
    happened(account, saved())
    queue()
    deliver()
    assert (len(to.got), to.got[0].headers["Host"]) == (1, f"rebound.example.com:{to.port}")
    deliver(timedelta(seconds=6))
    assert (len(to.got), last_error(registered)) == (1, "refused: 169.254.169.254 is not a public address")


def test_the_address_that_was_checked_is_the_one_that_is_used(account, by_name, resolved):
    """A second look at the name would lead elsewhere: there is none."""
    registered, to = by_name
    resolved(["127.0.0.1"], ["10.0.0.1"], ["127.0.0.1"])
    happened(account, saved())
    queue()
    deliver()
    assert (len(to.got), last_error(registered)) == (1, None)


@pytest.mark.parametrize("addresses", [["127.0.0.1", "10.0.0.1"], ["::1", "127.0.0.1"], ["127.0.0.2"]])
def test_one_address_inside_spoils_the_name(account, by_name, resolved, addresses):
    registered, to = by_name
    resolved(addresses)
    happened(account, saved())
    queue()
    deliver()
    assert (to.got, last_error(registered).startswith("refused: ")) == ([], True)


def test_the_next_address_is_tried_when_the_first_takes_no_connection(account, by_name, resolved, monkeypatch):
    registered, to = by_name
    monkeypatch.setattr(settings, "WEBHOOK_PRIVATE_NETWORKS", ["127.0.0.0/8"])
    resolved(["127.0.0.9", "127.0.0.1"])
    happened(account, saved())
    queue()
    deliver()
    assert (len(to.got), last_error(registered)) == (1, None)


def test_a_redirect_is_not_followed(account, hook, receiver):
    elsewhere = receiver(200)
    registered = hook(receiver(Answering(302, {"Location": elsewhere.url})).url)
    happened(account, saved())
    queue()
    deliver()
    (attempt,) = delivery(registered).attempts
    assert elsewhere.got == []
    assert (attempt["status_code"], attempt["error"]) == (302, "redirects are not followed")
