"""What Stripe was told (the ledger of MeterReports), and what it told us: invoices, subscriptions, ids of events."""

from django.db import models


class MeterReport(models.Model):
    """Billable units beyond `start` (what the ledger had before), which Stripe is told of under one identifier.

    The rows of an account, month and meter follow one another without a gap: `start` is unique, so that of two who
    write the next row one wins. `in_doubt_since`: when a send began of which nobody knows whether Stripe counted it.
    """

    class State(models.TextChoices):
        WAITING = "waiting"  # to be sent, or to be repeated while in doubt
        SENT = "sent"
        DOUBTFUL = "doubtful"  # in doubt for too long: an operator looks it up, nobody sends it again
        REFUSED = "refused"  # Stripe said no, and has not counted it

    account = models.ForeignKey("accounts.Account", on_delete=models.PROTECT, related_name="+", db_index=False)
    month = models.DateField()
    meter = models.CharField(max_length=20)
    start = models.BigIntegerField()
    units = models.BigIntegerField()
    identifier = models.CharField(max_length=100, unique=True)
    at = models.DateTimeField(help_text="The time that Stripe books it at: within its month.")
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    in_doubt_since = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        default_permissions = ("view",)
        permissions = [("settle_meterreport", "Can send a refused report again, and settle a doubtful one")]
        verbose_name = "report to Stripe"
        verbose_name_plural = "reports to Stripe"
        constraints = (
            models.UniqueConstraint(fields=["account", "month", "meter", "start"], name="one_report_from_a_start"),
            models.CheckConstraint(condition=models.Q(units__gt=0), name="reports_are_of_something"),
        )
        indexes = (
            models.Index(fields=["attempts", "id"], condition=models.Q(state="waiting"), name="reports_waiting"),
            models.Index(fields=["-month", "-id"], name="report_by_month"),
        )

    def __str__(self) -> str:
        return self.identifier


class Mirrored(models.Model):
    """An object of Stripe's as its newest event has it; `told_at`: that event's time, in Stripe's seconds.

    `customer` is Stripe's id, not a key of ours: an event may come before we know whose it is.
    """

    id = models.CharField(primary_key=True, max_length=255)
    customer = models.CharField(max_length=255, db_index=True)
    status = models.CharField(max_length=40)
    created_at = models.DateTimeField()
    told_at = models.BigIntegerField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.id


class InvoiceQuerySet(models.QuerySet["Invoice"]):
    def of_customer(self, customer: str | None) -> "InvoiceQuerySet":
        """Newest first, without drafts that are gone; of an account that Stripe does not know there are none."""
        found = self.filter(customer=customer) if customer else self.none()
        return found.exclude(status=Invoice.DELETED).order_by("-created_at", "-id")


class Invoice(Mirrored):
    """Amounts in the smallest unit of the currency, as Stripe has them; `status` deleted: a draft that is gone."""

    DELETED = "deleted"

    number = models.CharField(max_length=100, blank=True, default="")
    currency = models.CharField(max_length=3)
    amount_due = models.BigIntegerField()
    amount_paid = models.BigIntegerField()
    period_start = models.DateTimeField()
    period_end = models.DateTimeField()
    invoice_pdf = models.TextField(null=True, blank=True)  # noqa: DJ001 (null is what Stripe says and what callers get)

    objects = InvoiceQuerySet.as_manager()

    class Meta:
        default_permissions = ("view",)
        indexes = (models.Index(fields=["-created_at", "-id"], name="invoice_newest"),)


class Subscription(Mirrored):
    """`applied`: the status that the account has felt the consequence of, if it has one."""

    ended_unpaid = models.BooleanField(default=False)
    applied = models.CharField(max_length=40, blank=True, default="")

    class Meta:
        default_permissions = ("view",)


class StripeEvent(models.Model):
    """The id of an event that was dealt with: it will not be again."""

    id = models.CharField(primary_key=True, max_length=255)
    type = models.CharField(max_length=100)
    created_at = models.DateTimeField()
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        default_permissions = ("view",)

    def __str__(self) -> str:
        return self.id
