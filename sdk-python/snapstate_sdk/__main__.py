"""The `snapstate` command; without the packages it stands on, it says what to install."""

import sys
from collections.abc import Callable

app: Callable[..., object] | None
try:
    from snapstate_sdk.cli import app
except ModuleNotFoundError as missing:
    if (missing.name or "").partition(".")[0] not in ("typer", "rich"):
        raise
    app = None


def main() -> int:
    """Ends the process by itself when the command line is there."""
    if app is None:
        sys.stderr.write("The command line needs two more packages: pip install 'snapstate-sdk[cli]'\n")
        return 1
    app(prog_name="snapstate")
    return 0


if __name__ == "__main__":
    sys.exit(main())
