"""The Admin API's bodies: what operators send (strict: no unknown field, no text for a number) and what they get."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NoReturn

from django.core.validators import RegexValidator
from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.keys import SCOPES
from accounts.models import MOST_DAYS, MOST_KEPT, PLAN_SHAPE, PLAN_TOLD, Account
from snapstate_project.common.query import moment
from snapstate_project.common.times import iso

HIGHEST_RATE_LIMIT = 1_000_000_000
SHOWN_ONCE = "Store this key now: it is not kept and cannot be shown again."


class Strict(serializers.Serializer[Any]):
    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            unknown = {str(name): ["is not a known field"] for name in data if name not in self.fields}
            if unknown:
                raise serializers.ValidationError(unknown)
        return super().to_internal_value(data)


class Text(serializers.CharField):
    def to_internal_value(self, data: Any) -> str:
        return super().to_internal_value(data) if isinstance(data, str) else refuse("must be a string")


class Email(Text, serializers.EmailField):
    pass


class WholeNumber(serializers.IntegerField):
    def to_internal_value(self, data: Any) -> int:
        return super().to_internal_value(data) if type(data) is int else refuse("must be a whole number")


class Moment(serializers.DateTimeField):
    """In: a time with its zone; out: UTC with milliseconds."""

    def to_internal_value(self, value: Any) -> datetime:
        try:
            return moment(value if isinstance(value, str) else "")
        except ValueError as error:
            refuse(str(error))

    def to_representation(self, value: datetime) -> str:
        return iso(value)


@extend_schema_field({"type": "string", "title": "AccountStatus", "enum": Account.Status.values})
class Status(serializers.ChoiceField):
    pass


@extend_schema_field({"type": "string", "title": "Scope", "enum": list(SCOPES)})
class Scope(serializers.ChoiceField):
    pass


def refuse(message: str) -> NoReturn:
    raise serializers.ValidationError(message)


# --- What operators send ---


class AccountRegistrationSerializer(Strict):
    email = Email(max_length=254)
    name = Text(max_length=200, required=False, allow_blank=True)


class AccountChangesSerializer(Strict):
    plan = Text(max_length=40, required=False, validators=[RegexValidator(PLAN_SHAPE, PLAN_TOLD)])
    status = Status(choices=Account.Status.values, required=False)
    rate_limit_max = WholeNumber(
        min_value=1,
        max_value=HIGHEST_RATE_LIMIT,
        allow_null=True,
        required=False,
        help_text="Calls per key and window; null: the standard limit.",
    )

    keep_last = WholeNumber(
        min_value=1,
        max_value=MOST_KEPT,
        allow_null=True,
        required=False,
        help_text="Newest checkpoints kept of each workflow that says nothing itself; null: all.",
    )
    archive_days = WholeNumber(
        min_value=1,
        max_value=MOST_DAYS,
        allow_null=True,
        required=False,
        help_text="Days that archived checkpoints are kept; null: for ever.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return attrs or refuse("nothing to change: send plan, status, rate_limit_max, keep_last or archive_days")


class KeyRequestSerializer(Strict):
    label = Text(max_length=100, required=False, allow_blank=True)  # type: ignore[assignment]
    scopes = serializers.ListField(child=Scope(choices=SCOPES), required=False, help_text="All, if left out.")
    expires_at = Moment(required=False, allow_null=True)

    def validate_expires_at(self, value: datetime | None) -> datetime | None:
        return value if value is None or value > timezone.now() else refuse("must be in the future")


# --- What they get ---


class AccountSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    email = serializers.EmailField()
    name = serializers.CharField()
    plan = serializers.CharField()
    status = Status(choices=Account.Status.values)
    stripe_customer_id = serializers.CharField(allow_null=True)
    created_at = Moment()
    updated_at = Moment()


class UsageThisMonthSerializer(serializers.Serializer[Any]):
    checkpoint_writes = serializers.IntegerField()
    checkpoint_reads = serializers.IntegerField()
    resume_calls = serializers.IntegerField()
    replay_calls = serializers.IntegerField()
    storage_bytes_written = serializers.IntegerField()


class AccountDetailSerializer(AccountSerializer):
    rate_limit_max = serializers.IntegerField(allow_null=True, help_text="Null: the standard limit.")
    keep_last = serializers.IntegerField(allow_null=True, help_text="Null: every checkpoint is kept.")
    archive_days = serializers.IntegerField(allow_null=True, help_text="Null: the archive keeps for ever.")
    usage_this_month = UsageThisMonthSerializer()


class AccountPageSerializer(serializers.Serializer[Any]):
    accounts = AccountSerializer(many=True)
    total = serializers.IntegerField()


class KeySerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    key_prefix = serializers.CharField(source="prefix", help_text="The key's first 12 characters.")
    label = serializers.CharField()  # type: ignore[assignment]
    scopes = serializers.ListField(child=Scope(choices=SCOPES))
    last_used_at = Moment(allow_null=True)
    expires_at = Moment(allow_null=True)
    revoked_at = Moment(allow_null=True)
    created_at = Moment()


class KeyListSerializer(serializers.Serializer[Any]):
    keys = KeySerializer(many=True)
    has_more = serializers.BooleanField()
    next_cursor = serializers.CharField(allow_null=True)


class FreshKeySerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    account_id = serializers.UUIDField()
    key_prefix = serializers.CharField(source="prefix", help_text="The key's first 12 characters.")
    label = serializers.CharField()  # type: ignore[assignment]
    scopes = serializers.ListField(child=Scope(choices=SCOPES))
    expires_at = Moment(allow_null=True)
    created_at = Moment()


class IssuedKeySerializer(FreshKeySerializer):
    api_key = serializers.CharField(help_text="The secret, shown only here.")
    note = serializers.CharField()
