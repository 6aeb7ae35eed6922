"""What operators see of several rooms at once; the rooms reach it through settings, for they never import upwards."""

from collections.abc import Iterable
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from accounts.operator_views import OperatorView, account_or_404
from billing.models import Invoice, UsageRecord
from billing.periods import month_of
from billing.serializers import InvoiceSerializer, UsageReportSerializer
from billing.usage import UsageThisMonth, usage_of
from snapstate_project.common.api import json_response


def usage_this_month(account_ids: Iterable[UUID]) -> dict[UUID, UsageThisMonth]:
    """Of every account asked for, in one query; zeros for an account without use."""
    ids = list(account_ids)
    month = month_of(timezone.now())[0].date()
    records = {record.account_id: record for record in UsageRecord.objects.filter(account_id__in=ids, month=month)}
    return {id_: sums(records.get(id_) or UsageRecord()) for id_ in ids}


def sums(record: UsageRecord) -> UsageThisMonth:
    """Reads are the calls that handed out checkpoints."""
    return {
        "checkpoint_writes": record.checkpoint_writes,
        "checkpoint_reads": record.resume_calls + record.replay_calls,
        "resume_calls": record.resume_calls,
        "replay_calls": record.replay_calls,
        "storage_bytes_written": record.storage_bytes_written,
    }


class AccountUsageView(OperatorView):
    @extend_schema(
        operation_id="getAccountUsage",
        summary="Get an account's usage and charge of this month",
        description="What the account itself sees at `/usage`.",
        responses=UsageReportSerializer,
    )
    def get(self, request: Request, account_id: str) -> HttpResponse:  # noqa: ARG002
        return json_response(usage_of(account_or_404(account_id).pk))


class AccountInvoicesView(OperatorView):
    @extend_schema(
        operation_id="listAccountInvoices",
        summary="List an account's invoices, newest first",
        description="As Stripe last told of them; empty without Stripe.",
        responses=InvoiceSerializer(many=True),
    )
    def get(self, request: Request, account_id: str) -> HttpResponse:  # noqa: ARG002
        invoices = Invoice.objects.of_customer(account_or_404(account_id).stripe_customer_id)
        return json_response(InvoiceSerializer(invoices, many=True).data)
