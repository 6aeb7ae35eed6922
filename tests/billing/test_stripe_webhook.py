"""What Stripe tells is believed when it is signed, once, and in the order in which it happened."""

import json
import time

import pytest

from billing.models import Invoice, StripeEvent, Subscription
from tests.billing.fake_stripe import signed
from tests.events.steps import at_once

NOVEMBER, DECEMBER = 1_793_491_200, 1_796_083_200
START = 1_796_083_300
PATH = "/billing/stripe-webhook"


@pytest.fixture
def invoice(customer):
    """An invoice of the account's as Stripe has it, but for what a test says."""

    def make(number="in_1", **fields):
        usual = {"status": "open", "amount_due": 1234, "amount_paid": 0, "currency": "usd", "created": DECEMBER}
        period = {"period_start": NOVEMBER, "period_end": DECEMBER}
        named = {"id": f"{number}_{customer}", "object": "invoice", "customer": customer, "number": "Nº 1"}
        return {**named, **usual, **period, "invoice_pdf": "https://pay.example/é.pdf", **fields}

    return make


@pytest.fixture
def tell(anonymous, fake):
    """Delivers an event; what was answered."""

    def send(kind, told, created=START, **how):
        body, headers = signed(fake.event(kind, told, created=created), **how)
        return anonymous.post(PATH, content=body, headers=headers)

    return send


def held(told):
    return Invoice.objects.filter(pk=told["id"]).values_list("status", "amount_paid").first()


def test_a_signature_over_a_pretty_printed_body_is_believed(tell, invoice):
    answer = tell("invoice.finalized", invoice())
    assert (answer.status_code, answer.json()) == (200, {"received": True})
    assert held(invoice()) == ("open", 0)


@pytest.mark.parametrize(
    "how", [{"secret": "whsec_of-somebody-else"}, {"at": int(time.time()) - 400}, {"secret": "whsec_"}]
)
def test_a_signature_of_somebody_else_or_of_long_ago_is_refused(tell, invoice, how):
    answer = tell("invoice.paid", invoice(), **how)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "VALIDATION_ERROR")
    assert held(invoice()) is None


@pytest.mark.parametrize("spoil", [lambda body: body.replace(b"1234", b"1"), lambda body: json.dumps(json.loads(body))])
def test_a_body_that_is_not_byte_for_byte_what_was_signed_is_refused(anonymous, fake, invoice, spoil):
    body, headers = signed(fake.event("invoice.paid", invoice(), created=START))
    assert anonymous.post(PATH, content=spoil(body), headers=headers).status_code == 400
    assert held(invoice()) is None


@pytest.mark.parametrize("header", ["", "t=1", "v1=00", "t=x,v1=00", "nonsense", "t=1,v1=\xff", "t=1,v1=é", "t=\xb2"])
def test_a_header_that_is_none_is_refused(anonymous, fake, header):
    headers = {b"Stripe-Signature": header.encode("latin-1"), b"Content-Type": b"application/json"}
    answer = anonymous.post(PATH, content=b"{}", headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "VALIDATION_ERROR")


def test_a_body_that_is_signed_and_no_event_is_refused(anonymous, fake):
    body, headers = signed({"hello": 1})
    assert anonymous.post(PATH, content=body, headers=headers).status_code == 400


def test_nobody_listens_without_a_secret(anonymous, fake, monkeypatch):
    monkeypatch.setattr("django.conf.settings.STRIPE_WEBHOOK_SECRET", "")
    body, headers = signed({"object": "event"}, secret="whsec_")
    assert anonymous.post(PATH, content=body, headers=headers).status_code == 404


def test_a_query_is_refused_and_the_event_not_taken(anonymous, fake, invoice):
    body, headers = signed(fake.event("invoice.paid", invoice(), created=START))
    answer = anonymous.post(f"{PATH}?x=1", content=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["details"][0]["path"]) == (400, "x")
    assert held(invoice()) is None


def test_an_event_told_again_changes_nothing(anonymous, fake, invoice):
    event = fake.event("invoice.finalized", invoice(), created=START)
    first, again = signed(event), signed({**event, "data": {"object": invoice(status="void")}})
    assert [anonymous.post(PATH, content=body, headers=head).status_code for body, head in (first, again)] == [200, 200]
    assert held(invoice()) == ("open", 0)
    assert StripeEvent.objects.filter(pk=event["id"]).count() == 1


def test_an_older_event_does_not_undo_a_newer_one(tell, invoice):
    tell("invoice.paid", invoice(status="paid", amount_paid=1234), created=START + 10)
    tell("invoice.finalized", invoice(), created=START + 5)
    assert held(invoice()) == ("paid", 1234)


def test_two_events_of_one_second_are_settled_by_asking_stripe(tell, fake, invoice):
    paid = invoice(status="paid", amount_paid=1234)
    fake.objects[paid["id"]] = paid
    tell("invoice.paid", paid)
    tell("invoice.finalized", invoice())
    assert held(paid) == ("paid", 1234)


def test_an_event_comes_again_when_stripe_could_not_be_asked(tell, invoice, monkeypatch):
    tell("invoice.paid", invoice(status="paid"))
    monkeypatch.setattr("django.conf.settings.STRIPE_API_BASE", "http://127.0.0.1:1")
    assert tell("invoice.finalized", invoice()).status_code == 503


def test_a_draft_that_was_deleted_stays_so(tell, invoice):
    tell("invoice.deleted", invoice(status="draft"), created=START + 5)
    tell("invoice.created", invoice(status="draft"))
    tell("invoice.updated", invoice(status="draft"), created=START + 5)
    assert held(invoice()) == ("deleted", 0)


def test_events_in_any_order_at_once_end_as_they_happened(tell, invoice):
    steps = [("draft", 0), ("open", 0), ("open", 100), ("paid", 1234)]
    tellings = [
        lambda at=at, status=status, paid=paid: tell(
            "invoice.updated", invoice(status=status, amount_paid=paid), created=START + at
        )
        for at, (status, paid) in enumerate(steps)
    ]
    at_once(*tellings[::-1], *tellings)
    assert held(invoice()) == ("paid", 1234)


def test_what_concerns_nothing_of_ours_is_taken_and_forgotten(tell, customer):
    assert tell("price.created", {"id": "price_1", "object": "price"}).status_code == 200


@pytest.mark.parametrize("kind", ["invoice.upcoming", "invoice.updated"])
@pytest.mark.parametrize("name", [{}, {"id": None}, {"id": ""}, {"id": 7}, {"id": "upcoming_in_1"}])
def test_an_invoice_that_is_only_foreseen_is_noted_and_not_kept(tell, invoice, kind, name):
    events, invoices = StripeEvent.objects.count(), Invoice.objects.count()
    foreseen = {field: value for field, value in invoice(status=None, number=None).items() if field != "id"}
    answer = tell(kind, {**foreseen, **name})
    assert (answer.status_code, answer.json()) == (200, {"received": True})
    assert (StripeEvent.objects.count(), Invoice.objects.count()) == (events + 1, invoices)


def test_what_is_foreseen_is_not_kept_whatever_its_id(tell, invoice):
    assert tell("invoice.upcoming", invoice()).status_code == 200
    assert held(invoice()) is None


def test_an_account_shows_its_invoices_to_operators(operator_api, tell, account, invoice):
    tell("invoice.finalized", invoice("in_1", created=DECEMBER))
    tell("invoice.created", invoice("in_2", created=DECEMBER + 1, status="draft", invoice_pdf=None))
    tell("invoice.deleted", invoice("in_3", status="draft"))
    newest, older = operator_api.get(f"/admin/accounts/{account.id}/invoices").json()
    assert (newest["status"], newest["invoice_pdf"]) == ("draft", None)
    assert older == {
        "id": invoice("in_1")["id"],
        "amount_due": 1234,
        "amount_paid": 0,
        "status": "open",
        "period_start": "2026-11-01T00:00:00.000Z",
        "period_end": "2026-12-01T00:00:00.000Z",
        "invoice_pdf": "https://pay.example/é.pdf",
    }


def test_a_subscription_of_a_customer_we_do_not_know_yet_waits(tell, fake):
    told = {"id": "sub_unknown", "object": "subscription", "customer": "cus_unknown", "status": "unpaid", "created": 1}
    assert tell("customer.subscription.updated", told).status_code == 200
    assert Subscription.objects.get(pk="sub_unknown").applied == ""
