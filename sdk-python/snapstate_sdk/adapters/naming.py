"""Names of threads, namespaces and sessions as workflow ids: any text has one, and no two texts share one."""

import re
from hashlib import sha256

# Our separator, the escape itself, what workflow ids must not contain, and what is no UTF-8.
RESERVED = re.compile("[~%\x00-\x1f\x7f-\x9f\ud800-\udfff]")
LONGEST_PREFIX = 40
LONGEST_PART = 96


def workflow_id(prefix: str, *parts: str) -> str:
    """At most 40 characters of prefix and two parts of 96: it stays below 255 with a short last part."""
    return "~".join([prefix, *map(part, parts)])


def part(text: str) -> str:
    """Readable where it can be; a hash where it would be too long. What is escaped cannot be taken for a hash."""
    escaped = RESERVED.sub(lambda found: f"%{ord(found[0]):06x}", text)
    if len(escaped) <= LONGEST_PART:
        return escaped
    return f"%sha256.{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def checked_prefix(prefix: str) -> str:
    if not 1 <= len(prefix) <= LONGEST_PREFIX or RESERVED.search(prefix):
        raise ValueError(f"prefix: 1 to {LONGEST_PREFIX} characters without ~, % and control characters")
    return prefix
