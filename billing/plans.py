"""Prices and free allowances as data; every amount is exact, in Decimal dollars."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from types import MappingProxyType

GB = 2**30
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Metric:
    """So many units a month are free; each one beyond costs this."""

    free: Decimal
    price: Decimal

    def billable(self, used: Decimal) -> Decimal:
        return max(used - self.free, Decimal(0))

    def free_remaining(self, used: Decimal) -> Decimal:
        return max(self.free - used, Decimal(0))

    def charge(self, used: Decimal) -> Decimal:
        return self.billable(used) * self.price


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        "checkpoint_writes": Metric(free=Decimal(10_000), price=Decimal("0.001")),
        "storage_gb": Metric(free=Decimal(1), price=Decimal("0.10")),
        "resume_calls": Metric(free=Decimal(5_000), price=Decimal("0.0005")),
        "replay_calls": Metric(free=Decimal(1_000), price=Decimal("0.002")),
    }
)


def charge(used: Mapping[str, Decimal]) -> Decimal:
    """Exact dollars for units used by metric."""
    return sum((METRICS[name].charge(units) for name, units in used.items()), Decimal(0))


def dollars(amount: Decimal) -> str:
    """As in `$1.23`: whole cents, half a cent rounded up."""
    return f"${amount.quantize(CENT, ROUND_HALF_UP)}"
