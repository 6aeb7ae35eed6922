"""Before the processes start: migrations, a first account with its key, an operator, and dev.env to find them by.

Each is made once and found again; a key or password that dev.env no longer tells, or that has gone bad, is made anew.
"""

import os
import secrets
import shlex
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.utils import timezone

from accounts import keys, services
from accounts.models import Account, ApiKey
from snapstate_project.dev.home import BASE_DIR, home_folder, read_dev_env, write_private
from snapstate_project.dev.preflight import EMBEDDED

EMAIL = "developer@snapstate.example"
OPERATOR_EMAIL = "operator@snapstate.example"
ADDRESSES = ("REDIS_URL", "CELERY_BROKER_URL", "DATABASE_URL", EMBEDDED)
LABEL = "make up"
RATE_LIMIT = 10_000  # a minute: nobody should meet it by trying things out


def prepare() -> None:
    home = home_folder()
    kept = read_dev_env(home)
    call_command("migrate", verbosity=0, skip_checks=False)
    account = first_account()
    values = {
        "SNAPSTATE_API_URL": f"http://127.0.0.1:{settings.PORT}",
        "SNAPSTATE_API_KEY": first_key(account, kept.get("SNAPSTATE_API_KEY", "")),
        "ADMIN_SECRET": settings.ADMIN_SECRET,
        "OPERATOR_EMAIL": OPERATOR_EMAIL,
        "OPERATOR_PASSWORD": operator_password(kept.get("OPERATOR_PASSWORD", "")),
        **{name: os.environ[name] for name in ADDRESSES if name in os.environ},
        **({} if home == BASE_DIR / ".snapstate" else {"SNAPSTATE_HOME": str(home)}),  # for manage.py: the archive
    }
    write_dev_env(home, values)


def first_account() -> Account:
    account = Account.objects.filter(email=EMAIL).first() or services.create_account(email=EMAIL, name="Developer")
    if account.rate_limit_max is None:
        account = services.set_rate_limit(account, RATE_LIMIT)
    return account


def first_key(account: Account, kept: str) -> str:
    """The key that dev.env tells, if it is still good, else a new one in place of those made here before."""
    mine = ApiKey.objects.in_use(timezone.now()).filter(account=account)
    if kept and mine.filter(digest=keys.digest(kept)).exists():
        return kept
    for lost in mine.filter(label=LABEL):
        services.revoke_key(lost)
    return services.issue_key(account, label=LABEL)[1]


def operator_password(kept: str) -> str:
    """The operator signs in with the e-mail address; the password is random and stands in dev.env alone."""
    user, _ = get_user_model().objects.get_or_create(
        username=OPERATOR_EMAIL, defaults={"email": OPERATOR_EMAIL, "is_staff": True, "is_superuser": True}
    )
    if kept and user.check_password(kept):
        return kept
    password = secrets.token_urlsafe(12)
    user.set_password(password)
    user.save(update_fields=["password"])
    return password


def write_dev_env(home: Path, values: dict[str, str]) -> None:
    """Readable by a shell (`set -a; . dev.env`) and by every .env reader."""
    lines = [f"{name}={shlex.quote(value)}\n" for name, value in values.items()]
    write_private(home / "dev.env", "".join(lines))
