"""The usage object and invoices, as the API describes them."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from billing.models import Invoice
from snapstate_project.common.times import iso


class UsagePeriodSerializer(serializers.Serializer[object]):
    start = serializers.DateTimeField(help_text="The first moment of the month, UTC.")
    end = serializers.DateTimeField(help_text="The first moment of the next month: not part of this one.")


class UsageCountSerializer(serializers.Serializer[object]):
    count = serializers.IntegerField(help_text="Units used this month.")
    free_remaining = serializers.IntegerField(help_text="Units left that cost nothing.")
    billable = serializers.IntegerField(help_text="Units beyond the free ones.")


class StorageUsageSerializer(serializers.Serializer[object]):
    current = serializers.FloatField(help_text="Gigabytes (2^30 bytes) held now, compressed.")
    free_remaining = serializers.FloatField(help_text="What the month's figure, the mean of its samples, leaves free.")
    billable = serializers.FloatField(help_text="Gigabytes of the month's figure beyond the free one.")


class UsageByMeterSerializer(serializers.Serializer[object]):
    checkpoint_writes = UsageCountSerializer()
    storage_gb = StorageUsageSerializer()
    resume_calls = UsageCountSerializer()
    replay_calls = UsageCountSerializer()


class UsageReportSerializer(serializers.Serializer[object]):
    period = UsagePeriodSerializer()
    usage = UsageByMeterSerializer()
    estimated_charge = serializers.RegexField(r"^\$\d+\.\d{2}$", help_text='Dollars so far this month: "$0.00".')


class StripeEventSerializer(serializers.Serializer[object]):
    """Stripe's own: only what is read of it."""

    id = serializers.CharField()
    object = serializers.CharField(help_text="`event`")
    type = serializers.CharField()
    created = serializers.IntegerField(help_text="Seconds since 1970.")
    data = serializers.JSONField()  # type: ignore[assignment]


class StripeEventReceivedSerializer(serializers.Serializer[object]):
    received = serializers.BooleanField()


class InvoiceSerializer(serializers.Serializer[object]):
    id = serializers.CharField(help_text="Stripe's.")
    amount_due = serializers.IntegerField(help_text="In the smallest unit of the currency: cents.")
    amount_paid = serializers.IntegerField()
    status = serializers.CharField(help_text="As Stripe has it: draft, open, paid, uncollectible or void.")
    period_start = serializers.SerializerMethodField()
    period_end = serializers.SerializerMethodField()
    invoice_pdf = serializers.URLField(allow_null=True)

    @extend_schema_field(serializers.DateTimeField)
    def get_period_start(self, invoice: Invoice) -> str:
        return iso(invoice.period_start)

    @extend_schema_field(serializers.DateTimeField)
    def get_period_end(self, invoice: Invoice) -> str:
        return iso(invoice.period_end)
