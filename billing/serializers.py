"""The usage object, as the API describes it."""

from rest_framework import serializers


class PeriodSerializer(serializers.Serializer[object]):
    start = serializers.DateTimeField(help_text="The first moment of the month, UTC.")
    end = serializers.DateTimeField(help_text="The first moment of the next month: not part of this one.")


class CountedSerializer(serializers.Serializer[object]):
    count = serializers.IntegerField(help_text="Units used this month.")
    free_remaining = serializers.IntegerField(help_text="Units left that cost nothing.")
    billable = serializers.IntegerField(help_text="Units beyond the free ones.")


class StoredSerializer(serializers.Serializer[object]):
    current = serializers.FloatField(help_text="Gigabytes (2^30 bytes) held, compressed.")
    free_remaining = serializers.FloatField()
    billable = serializers.FloatField()


class UsedSerializer(serializers.Serializer[object]):
    checkpoint_writes = CountedSerializer()
    storage_gb = StoredSerializer()
    resume_calls = CountedSerializer()
    replay_calls = CountedSerializer()


class UsageSerializer(serializers.Serializer[object]):
    period = PeriodSerializer()
    usage = UsedSerializer()
    estimated_charge = serializers.RegexField(r"^\$\d+\.\d{2}$", help_text='Dollars so far this month: "$0.00".')
