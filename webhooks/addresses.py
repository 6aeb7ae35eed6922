"""Where deliveries may go: public addresses only, by a list of what is public. Pure: nothing is resolved here."""

import re
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings

from webhooks.errors import AddressRefused

LONGEST_URL = 2_048
WRITTEN = re.compile(r"[!-~]+")
LABELS = re.compile(r"(?=.{1,253}\Z)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
LIKE_A_NUMBER = re.compile(r"(\A|.*\.)([0-9]+|0x[0-9a-f]*)\.?\Z")
OURS_ALONE = ("localhost", "local", "localdomain", "internal", "intranet", "home.arpa", "lan", "onion")
PORTS = {"https": 443, "http": 80}

NOT_PUBLIC_V4 = tuple(
    map(
        ip_network,
        (
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
            *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15"),
            *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
            "168.63.129.16/32",  # the metadata and agent service of one cloud, at a public address
        ),
    )
)
PUBLIC_V6 = ip_network("2000::/3")
NOT_PUBLIC_V6 = tuple(map(ip_network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")))
NAT64 = ip_network("64:ff9b::/96")

type Address = IPv4Address | IPv6Address


class Target(NamedTuple):
    """An endpoint's URL in parts; `path` with its query, `host` without brackets and in lower case."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def is_public(address: Address) -> bool:
    """IPv4 within IPv6 is judged as what it leads to; tunnels and translations of others' are no way in."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in NOT_PUBLIC_V4)
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address in NAT64:
        return is_public(IPv4Address(address.packed[-4:]))
    return address in PUBLIC_V6 and not any(address in network for network in NOT_PUBLIC_V6)


@cache
def private_networks(written: tuple[str, ...]) -> tuple[object, ...]:
    return tuple(map(ip_network, written))


def is_ours(address: Address) -> bool:
    """In a network of one's own that settings.WEBHOOK_PRIVATE_NETWORKS opens."""
    return any(address in network for network in private_networks(tuple(settings.WEBHOOK_PRIVATE_NETWORKS)))  # type: ignore[operator]


def check_address(address: Address) -> None:
    """Raises AddressRefused."""
    if not (is_public(address) or is_ours(address)):
        raise AddressRefused(f"{address} is not a public address")


def target_of(url: str) -> Target:
    """A URL judged as far as it can be without asking anybody. Raises AddressRefused."""
    if len(url) > LONGEST_URL:
        raise AddressRefused(f"must be at most {LONGEST_URL:,} characters long")
    if not WRITTEN.fullmatch(url) or "\\" in url:
        raise AddressRefused("must be written in ASCII, without spaces or backslashes (percent-encoding, punycode)")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").removesuffix("."), parts.port
    except ValueError as error:
        raise AddressRefused(f"is not a URL: {error}") from None
    if parts.scheme not in PORTS:
        raise AddressRefused("must begin with https://")
    if "@" in parts.netloc:
        raise AddressRefused("must not hold a user or password")
    if "#" in url:
        raise AddressRefused("must not have a fragment")
    if port == 0 or not host:
        raise AddressRefused("must name a host, and no port 0")
    literal = literal_address(host)
    check_scheme(parts.scheme, literal)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port or PORTS[parts.scheme], path)


def literal_address(host: str) -> Address | None:
    """The address that a host is, None for a name. Raises AddressRefused for both where they lead inside."""
    if ":" not in host and not LIKE_A_NUMBER.fullmatch(host):
        check_name(host)
        return None
    try:
        address = ip_address(host)
    except ValueError:
        raise AddressRefused("must name a host, or a public address in its usual form") from None
    check_address(address)
    return address


def check_name(host: str) -> None:
    """Where a network of one's own is open, any name may lead there: its addresses decide."""
    if settings.WEBHOOK_PRIVATE_NETWORKS and LABELS.fullmatch(host):
        return
    if not LABELS.fullmatch(host) or "." not in host or any(f".{host}".endswith(f".{own}") for own in OURS_ALONE):
        raise AddressRefused(f"{host} is not the name of a public host")


def check_scheme(scheme: str, literal: Address | None) -> None:
    """http only in development, or to an address in a network of one's own."""
    if scheme == "https" or settings.WEBHOOK_ALLOW_HTTP or (literal and is_ours(literal)):
        return
    if settings.WEBHOOK_PRIVATE_NETWORKS and literal is None:
        raise AddressRefused("must begin with https://, or name its host by its address, as http://127.0.0.1 does")
    raise AddressRefused("must begin with https://")
