"""Signed, and yet no event that can be read: a client's error, never a fault of ours; and nothing is noted."""

from typing import Any

import pytest

from billing.models import Invoice, StripeEvent, Subscription
from tests.billing.fake_stripe import signed

PATH = "/billing/stripe-webhook"
START = 1_796_083_300
INVOICE = {"id": "in_odd", "object": "invoice", "customer": "cus_odd", "created": START, "currency": "usd",
           "amount_due": 1, "amount_paid": 0, "period_start": START, "period_end": START}  # fmt: skip
SUBSCRIPTION = {"id": "sub_odd", "object": "subscription", "customer": "cus_odd", "status": "active", "created": START}
EVENT = {"id": "evt_odd", "object": "event", "type": "x.made", "created": START, "data": {"object": {}}}

ODD: dict[str, list[Any]] = {
    "id": [None, 7, ["evt_odd"], "evt_odd" * 40, "evt_odd\0"],
    "type": [None, 7, "x" * 101, "\0"],
    "created": [None, "1796083300", 1.5, True, -1, 10**12, 10**30],
    "data": [None, [], {}, {"object": None}, {"object": []}, {"object": "in_odd"}],
}


@pytest.fixture
def refused(anonymous, fake):
    """Whether a signed body is refused, with no trace left."""

    def send(told):
        body, headers = signed(told)
        answer = anonymous.post(PATH, content=body, headers=headers)
        error = answer.json()["error"]
        kept = [model.objects.filter(pk__contains="_odd").exists() for model in (Invoice, StripeEvent, Subscription)]
        return (answer.status_code, error["code"], kept) == (400, "VALIDATION_ERROR", [False] * 3)

    return send


@pytest.mark.parametrize("told", [None, [], [1], "event", 7, True, {}, {"object": "event"}, {"object": ["event"]}])
def test_a_body_that_is_no_event_is_refused(refused, told):
    assert refused(told)


@pytest.mark.parametrize("field", list(EVENT))
def test_an_event_without_one_of_its_members_is_refused(refused, field):
    assert refused({name: value for name, value in EVENT.items() if name != field})


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in ODD.items() for value in values])
def test_an_event_with_a_member_of_another_kind_is_refused(refused, field: str, value: Any):
    assert refused({**EVENT, field: value})


@pytest.mark.parametrize(
    ("told", "field", "value"),
    [
        *((INVOICE, field, None) for field in ("created", "currency", "amount_due", "amount_paid", "period_end")),
        *((INVOICE, "customer", value) for value in ({"id": "cus_odd"}, 7, "c" * 256, "\0")),
        *((INVOICE, field, 10**19) for field in ("amount_due", "period_start")),
        *((INVOICE, field, "x" * 256) for field in ("id", "status", "number", "currency")),
        *((INVOICE, field, "\0") for field in ("status", "number", "currency", "invoice_pdf")),
        *((SUBSCRIPTION, field, None) for field in ("customer", "status", "created")),
        *((SUBSCRIPTION, "cancellation_details", value) for value in ("why", {"reason": 7})),
    ],
)
def test_an_object_with_a_member_of_another_kind_is_refused(refused, told, field, value):
    assert refused({**EVENT, "data": {"object": {**told, field: value}}})


@pytest.mark.parametrize("told", [INVOICE, SUBSCRIPTION])
def test_an_object_without_what_is_kept_is_refused(refused, told):
    without = {name: value for name, value in told.items() if name != "created"}
    assert refused({**EVENT, "data": {"object": without}})
