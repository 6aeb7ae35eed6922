"""An operator's second factor: codes of an app (TOTP), and recovery codes of which only fingerprints are kept.

After each wrong code the next has to wait twice as long as the one before; the libraries' own rows count that.
"""

import base64
import hashlib
import io
import math
import secrets
from datetime import datetime
from typing import Any

import django_otp
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp.qr import write_qrcode_image

from snapstate_project.common.audit import record

RECOVERY_CODES = 10
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
NAME = "app"


def device_of(user: Any) -> TOTPDevice | None:
    found: TOTPDevice | None = TOTPDevice.objects.filter(user=user, confirmed=True).first()
    return found


def offered_to(user: Any) -> TOTPDevice:
    """What the enrolment page shows: the same key until it is confirmed, in all tabs that are open."""
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        device: TOTPDevice
        device, _ = TOTPDevice.objects.get_or_create(user=user, confirmed=False, defaults={"name": NAME})
    return device


def qr_code(device: TOTPDevice) -> str:
    """An image as a data: URL, so that nothing is asked of anybody."""
    image = io.BytesIO()
    write_qrcode_image(device.config_url, image)
    return f"data:image/svg+xml;base64,{base64.b64encode(image.getvalue()).decode()}"


def key_text(device: TOTPDevice) -> str:
    """As it is typed by hand: base32, in groups of four."""
    text = base64.b32encode(device.bin_key).decode().rstrip("=")
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


def enrol(user: Any, code: str) -> list[str] | None:
    """Confirms what was offered by a first code of it; the recovery codes, shown only now. None: a wrong code."""
    with transaction.atomic():
        device = offered_to(user)
        if not django_otp.verify_token(user, device.persistent_id, code):
            return None
        TOTPDevice.objects.filter(user=user, confirmed=True).delete()
        TOTPDevice.objects.filter(pk=device.pk).update(confirmed=True)
        record(user, "Second factor turned on")
        return renew_recovery_codes(user)


def renew_recovery_codes(user: Any) -> list[str]:
    """Ten new ones; those before are worth nothing from now on."""
    codes = [new_code() for _ in range(RECOVERY_CODES)]
    with transaction.atomic():
        StaticDevice.objects.filter(user=user).delete()
        device = StaticDevice.objects.create(user=user, name="recovery codes")
        StaticToken.objects.bulk_create(StaticToken(device=device, token=fingerprint(code)) for code in codes)
        record(user, "Recovery codes made")
    return codes


def new_code() -> str:
    text = "".join(secrets.choice(ALPHABET) for _ in range(12))
    return f"{text[:4]}-{text[4:8]}-{text[8:]}"


def fingerprint(code: str) -> str:
    """80 bits of a SHA-256: a recovery code is random, and cannot be guessed from it."""
    plain = "".join(character for character in code.lower() if character.isalnum())
    return base64.b32encode(hashlib.sha256(plain.encode()).digest())[:16].decode()


def verify(user: Any, code: str) -> bool:
    """A code of the app, or a recovery code, which is used up by it."""
    plain = code.strip().replace(" ", "")
    if plain.isascii() and plain.isdigit():
        device, token = TOTPDevice.objects.filter(user=user, confirmed=True).first(), plain
    else:
        device, token = StaticDevice.objects.filter(user=user, confirmed=True).first(), fingerprint(plain)
    if device is None or not django_otp.verify_token(user, device.persistent_id, token):
        return False
    if isinstance(device, StaticDevice):
        record(user, "Recovery code used")
    return True


def seconds_to_wait(user: Any, *, now: datetime | None = None) -> int:
    """Until a code is looked at again, of the app's and of the recovery codes the longer wait; 0: at once."""
    now = now or timezone.now()
    devices = [*TOTPDevice.objects.filter(user=user), *StaticDevice.objects.filter(user=user)]
    until = [device.verify_is_allowed()[1] for device in devices]
    waits = [(told["locked_until"] - now).total_seconds() for told in until if told]
    return max((math.ceil(wait) for wait in waits), default=0)


def recovery_codes_left(user: Any) -> int:
    return int(StaticToken.objects.filter(device__user=user).count())


def turn_off(user: Any, *, what: str = "Second factor turned off") -> None:
    """By its owner, or by an administrator for one who has lost the app and the codes."""
    with transaction.atomic():
        TOTPDevice.objects.filter(user=user).delete()
        StaticDevice.objects.filter(user=user).delete()
        record(user, what)
