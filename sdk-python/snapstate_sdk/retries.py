"""When a call is sent again, and how long before: what was lost or put off is, what was refused is not."""

import logging
import random
import ssl
import time
from dataclasses import dataclass
from typing import Generic, NoReturn, TypeVar

import httpx2

from snapstate_sdk.call import Answer, Call
from snapstate_sdk.errors import ConnectionFailedError, NotFoundError, UnsendableValueError
from snapstate_sdk.refusals import UNAVAILABLE, not_ours, refusal_of, retry_after_of

T = TypeVar("T")
logger = logging.getLogger("snapstate_sdk")

LOST = (httpx2.TransportError, httpx2.DecodingError)
NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
HOPELESS = (httpx2.LocalProtocolError, httpx2.UnsupportedProtocol)  # what we ask for is wrong: it would be so again
FIRST_WAIT, LONGEST_WAIT = 0.1, 8.0
SHORTEST_ATTEMPT = 0.5  # with less time left, one would end in doubt more likely than in an answer


@dataclass(frozen=True, slots=True)
class Patience:
    """`timeout`: seconds for each step of an attempt. `deadline`: seconds for a call, all its attempts and waits
    together. `max_attempts`: None for as many as the deadline allows."""

    timeout: float
    deadline: float
    max_attempts: int | None


@dataclass(frozen=True, slots=True)
class Wait:
    """Seconds before the next attempt."""

    seconds: float


class Attempts(Generic[T]):
    """The attempts of one call: told how each went, it says how long to wait, or raises what the caller gets."""

    def __init__(self, call: Call[T], patience: Patience, base_url: str) -> None:
        self.call = call
        self.patience = patience
        self.base_url = base_url
        self.give_up_at = time.monotonic() + patience.deadline
        self.made = 0
        self.in_doubt = False  # an earlier attempt may have been carried out

    def timeout(self) -> float:
        """Seconds for each step of the next attempt."""
        self.made += 1
        return max(0.001, min(self.patience.timeout, self.give_up_at - time.monotonic()))

    def check_time(self) -> None:
        """Between two pieces of an answer: one that trickles in must not outlive the deadline."""
        if time.monotonic() > self.give_up_at:
            raise httpx2.ReadTimeout("the answer was still coming in at the deadline")

    def result_of(self, answer: Answer) -> T | Wait:
        """What the caller asked for, or the time until it is asked for again. Raises what is final."""
        status = answer.status
        if status < 300 or status in self.call.understood:
            return self._read(answer)
        if status == 429 or status in UNAVAILABLE:
            return self._after_refusal(answer)
        refusal = refusal_of(answer)
        if isinstance(refusal, NotFoundError) and self.call.gone_is_done and self.in_doubt:
            return self.call.read(answer)
        raise refusal

    def _read(self, answer: Answer) -> T | Wait:
        try:
            return self.call.read(answer)
        except ValueError as error:
            if "json" in answer.headers.get("Content-Type", "json"):
                return self.after_loss(error, f"the answer was cut short: {error}")
            raise not_ours(answer) from error
        except (KeyError, TypeError, AttributeError) as error:
            raise not_ours(answer) from error

    def after_loss(self, error: Exception, what: str = "") -> Wait:
        """Nothing came back, or not all of it."""
        if isinstance(error, HOPELESS):
            raise UnsendableValueError("request", str(error)) from error
        self.in_doubt = self.in_doubt or not isinstance(error, NEVER_SENT)
        what = what or f"{type(error).__name__}: {error}"
        if distrust := _distrust(error):
            self._fail(distrust, what, error)
        if self.in_doubt and not self.call.repeatable:
            self._fail("it may have been done, and is not sent twice", what, error)
        wait = self._back_off()
        if not self._have_time_for(wait):
            self._fail("gave up", what, error)
        return self._wait(wait, what)

    def _after_refusal(self, answer: Answer) -> Wait:
        refused = answer.status in (429, 503)  # before anything was done; but an erase may go on after its 503
        self.in_doubt = self.in_doubt or not refused or (answer.status == 503 and self.call.gone_is_done)
        named = retry_after_of(answer)
        wait = named + random.uniform(0, 0.25) if named else self._back_off()  # noqa: S311
        if not (refused or self.call.repeatable) or not self._have_time_for(wait):
            raise refusal_of(answer)
        return self._wait(wait, f"{answer.status}: {' '.join(str(refusal_of(answer)).split())}")

    def _wait(self, seconds: float, what: str) -> Wait:
        """The first time it is said: who waits in silence looks as if they hung."""
        if self.made == 1:
            left = self.give_up_at - time.monotonic()
            said = "%s failed at %s (%s); trying again, for up to %.0f seconds"
            logger.warning(said, self._asked(), self.base_url, what, left)
        return Wait(seconds)

    def _have_time_for(self, wait: float) -> bool:
        most = self.patience.max_attempts
        least = min(SHORTEST_ATTEMPT, self.patience.timeout)
        return (most is None or self.made < most) and time.monotonic() + wait + least < self.give_up_at

    def _back_off(self) -> float:
        """Twice as long each time, and never the same for two clients that failed together."""
        longest = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(self.made - 1, 10))
        return random.uniform(longest / 2, longest)  # noqa: S311

    def _fail(self, outcome: str, what: str, error: Exception) -> NoReturn:
        tried = f"tried {'once' if self.made == 1 else f'{self.made} times'} at {self.base_url}"
        message = f"{self._asked()} failed, {tried}; {outcome} ({what})"
        raise ConnectionFailedError(message, in_doubt=self.in_doubt) from error

    def _asked(self) -> str:
        return f"{self.call.method} {self.call.path.partition('?')[0]}"


def _distrust(error: BaseException | None) -> str:
    """Why there is no TLS, where a second later it would be the same; "" elsewhere."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return "the server's certificate is not trusted"
        if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
            return "nobody speaks TLS there: does the address begin with http://?"
        error = error.__cause__ or error.__context__
    return ""
