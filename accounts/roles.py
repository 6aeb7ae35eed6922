"""What each group of operators may do, as data: permissions by their names, granted anew with every migration.

viewers see how it goes; support helps customers; finance sees and settles money; administrators may do everything.
A group of your own may hold any mixture: these four are put right again, others are left alone.
"""

from collections.abc import Callable

OF_OPERATORS = ("admin", "auth", "auditlog", "axes", "contenttypes", "otp_static", "otp_totp", "sessions")
"""Apps whose rows are about the operators themselves: for administrators only."""

MONEY = frozenset(
    {
        "accounts.view_revenue",
        "billing.view_invoice",
        "billing.view_meterreport",
        "billing.view_stripeevent",
        "billing.view_subscription",
        "billing.settle_meterreport",
    }
)
HELP = frozenset(
    {
        "accounts.add_account",
        "accounts.change_account",
        "accounts.suspend_account",
        "accounts.add_apikey",
        "accounts.change_apikey",
        "checkpoints.change_workflow",
        "checkpoints.retry_archiving",
        "webhooks.change_endpoint",
        "webhooks.resend_delivery",
    }
)
TERMS = frozenset({"accounts.change_account"})


def sees(permission: str) -> bool:
    """Looking at what is no money, and not about operators. To look at a state is a permission of its own."""
    app, _, name = permission.partition(".")
    return name.startswith("view_") and app not in OF_OPERATORS and permission not in MONEY | {"checkpoints.view_state"}


ROLES: dict[str, Callable[[str], bool]] = {
    "viewers": sees,
    "support": lambda permission: sees(permission) or permission in HELP,
    "finance": lambda permission: sees(permission) or permission in MONEY | TERMS,
    "administrators": lambda _permission: True,
}
