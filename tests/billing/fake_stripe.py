"""Stripe as far as we speak to it, over real HTTP: customers, meter events that are counted once, signed events.

Tests say what it should do next: `fail` answers, `hang_up` counts and breaks the line, `hold` counts and says nothing.
"""

import itertools
import json
import threading
import time
import uuid
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import stripe

SECRET = "whsec_a-secret-of-the-tests"


class FakeStripe:
    def __init__(self) -> None:
        self.customers: dict[str, dict[str, Any]] = {}
        self.by_key: dict[str, str] = {}
        self.meter_events: dict[str, dict[str, Any]] = {}
        self.objects: dict[str, dict[str, Any]] = {}
        self.subscriptions: dict[str, dict[str, Any]] = {}
        self.ended: dict[str, dict[str, str]] = {}
        self.posts: Counter[str] = Counter()
        self.fail: list[tuple[int, dict[str, Any]]] = []
        self.hang_up = self.hold = False
        self.counted, self.lock = threading.Event(), threading.Lock()
        self.numbers, self.name = itertools.count(1), uuid.uuid4().hex[:8]
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"stripe": self}))
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def summed(self, customer: str, event_name: str) -> int:
        """What the meter of a customer would be billed by."""
        mine = [event for event in self.meter_events.values() if event["payload[stripe_customer_id]"] == customer]
        return sum(int(event["payload[value]"]) for event in mine if event["event_name"] == event_name)

    # --- What it answers ---

    def make_customer(self, form: dict[str, str], key: str) -> tuple[int, dict[str, Any]]:
        if key not in self.by_key:
            new = f"cus_{self.name}{next(self.numbers):05d}"
            metadata = {name[9:-1]: value for name, value in form.items() if name.startswith("metadata[")}
            self.customers[new] = {"id": new, "object": "customer", "email": form["email"], "metadata": metadata}
            self.by_key[key] = new
        return 200, self.customers[self.by_key[key]]

    def list_customers(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        found = [customer for customer in self.customers.values() if customer["email"] == form["email"]]
        return 200, {"object": "list", "data": found, "has_more": False, "url": "/v1/customers"}

    def count(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        name, customer = form["identifier"], form["payload[stripe_customer_id]"]
        if name in self.meter_events:
            return refused(f"An event already exists with identifier {name}.")
        if customer not in self.customers:
            return refused(f"No such customer: {customer}")
        if not form["payload[value]"].isdigit() or not time.time() - 35 * 86_400 < int(form["timestamp"]):
            return refused("Invalid value or timestamp")
        self.meter_events[name] = form
        return 200, {"object": "billing.meter_event", "identifier": name}

    def subscribe(self, customer: str) -> str:
        new = f"sub_{self.name}{next(self.numbers):05d}"
        self.subscriptions[new] = {"id": new, "object": "subscription", "customer": customer, "status": "active"}
        return new

    def list_subscriptions(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if form["customer"] not in self.customers:
            return refused(f"No such customer: '{form['customer']}'", code="resource_missing")
        found = [each for each in self.subscriptions.values() if each["customer"] == form["customer"]]
        return 200, {"object": "list", "data": found, "has_more": False, "url": "/v1/subscriptions"}

    def cancel(self, name: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if name not in self.subscriptions:
            return 404, refused(f"No such subscription: '{name}'", code="resource_missing")[1]
        self.ended[name] = form
        return 200, self.subscriptions.pop(name) | {"status": "canceled"}

    # --- What it tells ---

    def event(self, kind: str, told: dict[str, Any], *, created: int, **more: Any) -> dict[str, Any]:
        event_id = f"evt_{self.name}{next(self.numbers):05d}"
        data = {"object": told}
        return {"id": event_id, "object": "event", "type": kind, "created": created, "data": data, **more}


def refused(message: str, **more: str) -> tuple[int, dict[str, Any]]:
    return 400, {"error": {"type": "invalid_request_error", "message": message, **more}}


def signed(event: dict[str, Any], secret: str = SECRET, at: int | None = None) -> tuple[bytes, dict[str, str]]:
    """A body as Stripe sends it, pretty-printed, and the headers over just these bytes."""
    body = json.dumps(event, indent=2, ensure_ascii=False)
    signature = stripe.WebhookSignature.generate_signature_header(body, secret, at)
    return body.encode(), {"Stripe-Signature": signature, "Content-Type": "application/json; charset=utf-8"}


class Handler(BaseHTTPRequestHandler):
    stripe: FakeStripe

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/v1/customers":
            self.answer(*self.stripe.list_customers(dict(parse_qsl(url.query))))
        elif url.path == "/v1/subscriptions":
            self.answer(*self.stripe.list_subscriptions(dict(parse_qsl(url.query))))
        else:
            self.answer(200, self.stripe.objects[url.path.rpartition("/")[2]])

    def do_DELETE(self) -> None:
        url = urlsplit(self.path)
        form = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        if self.stripe.fail:
            return self.answer(*self.stripe.fail.pop(0))
        return self.answer(*self.stripe.cancel(url.path.rpartition("/")[2], dict(parse_qsl(form or url.query))))

    def do_POST(self) -> None:
        form = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        with self.stripe.lock:
            self.stripe.posts[self.path] += 1
            if self.stripe.fail:
                return self.answer(*self.stripe.fail.pop(0))
            if self.path == "/v1/customers":
                status, body = self.stripe.make_customer(form, self.headers["Idempotency-Key"])
            else:
                status, body = self.stripe.count(form)
        if self.path != "/v1/customers":
            self.stripe.counted.set()
            if self.stripe.hold:
                time.sleep(60)
            if self.stripe.hang_up:
                self.close_connection = True
                return None
        return self.answer(status, body)

    def answer(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        pass
