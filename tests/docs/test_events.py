"""The page on webhooks names every event, and every field that each of them has."""

import re

import httpx

from tests.docs.samples import PAGES

ROW = re.compile(r"^\| `([a-z.]+)` \| ([^|]*) \|$", re.MULTILINE)
NAMED = re.compile(r"`([^`]+)`")


def test_the_fields_of_each_event_are_those_that_are_sent(anonymous: httpx.Client):
    page = (PAGES / "webhooks.mdx").read_text()
    table = page.split("| event | has |")[1].split("\n\n")[0]
    document = anonymous.get("/openapi.json").json()
    sent = {}
    for event in document["webhooks"]:
        name = "".join(part.capitalize() for part in re.split("[._]", event))
        sent[event] = sorted(document["components"]["schemas"][f"{name}Data"].get("properties", {}))
    assert {event: sorted(NAMED.findall(has)) for event, has in ROW.findall(table)} == sent
