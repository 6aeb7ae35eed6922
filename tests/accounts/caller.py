"""A process that calls with one key until it is refused; says `in` after its first call, and then why it was refused.

Run as `python -m tests.accounts.caller <secret>` with Django's environment set.
"""

import asyncio
import sys

import django

django.setup()

from accounts.admission import admit  # noqa: E402 (Django must be set up first)
from snapstate_project.common.errors import ApiError  # noqa: E402


async def call_until_refused(secret: str) -> str:
    called = False
    while True:
        try:
            caller, _ = await admit(secret)
        except ApiError as error:
            return error.code
        if not called:
            print("in", flush=True)
        called = True
        if "checkpoints:write" not in caller.scopes:
            return "SCOPE_GONE"
        await asyncio.sleep(0.001)


print(asyncio.run(call_until_refused(sys.argv[1])), flush=True)
