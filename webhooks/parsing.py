"""A request's body judged: the types first, then what they cannot say. Whatever is wrong is a 400 with its path."""

import re
from collections.abc import Callable

import msgspec

from snapstate_project.common.bodies import decoded
from snapstate_project.common.errors import ApiError, ValidationFailed
from webhooks.addresses import target_of
from webhooks.errors import AddressRefused
from webhooks.serializers import NoFields, SecretRequest, WebhookChanges, WebhookRegistration
from webhooks.signing import key_of

LONGEST_SAID = 300
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def parser[Fields](kind: type[Fields]) -> Callable[[bytes], Fields]:
    """A function from a body to its checked fields. Raises ValidationFailed with the path."""
    decoder = msgspec.json.Decoder(kind)

    def parse(body: bytes) -> Fields:
        fields = decoded(body, decoder)
        check(fields)
        return fields

    return parse


def check(fields: object) -> None:
    """What the types cannot say."""
    if isinstance(url := getattr(fields, "url", None), str):
        try:
            target_of(url)
        except AddressRefused as refused:
            raise invalid("url", str(refused)) from None
    for name in ("description", "secret"):
        if isinstance(text := getattr(fields, name, None), str) and CONTROL.search(text):
            raise invalid(name, "must not hold control characters")
    if isinstance(secret := getattr(fields, "secret", None), str):
        try:
            key_of(secret)
        except ValueError as error:
            raise invalid("secret", str(error)) from None


def invalid(path: str, message: str) -> ApiError:
    return ValidationFailed.at(path[:LONGEST_SAID], message[:LONGEST_SAID])


new_webhook = parser(WebhookRegistration)
new_secret = parser(SecretRequest)
no_fields = parser(NoFields)
_changes = parser(WebhookChanges)


def changes(body: bytes) -> dict[str, object]:
    """The fields that were sent, as services.change_endpoint takes them."""
    sent = msgspec.structs.asdict(_changes(body))
    found = {name: value for name, value in sent.items() if value is not msgspec.UNSET}
    if not found:
        raise invalid("body", "names nothing to change: url, events, description or status")
    if found.get("description", "") is None:
        found["description"] = ""
    if "events" in found:
        found["events"] = list(dict.fromkeys(found["events"]))
    return found
