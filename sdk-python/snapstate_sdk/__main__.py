"""The `snapstate` command; without the extra it stands on, it says what to install."""

import sys


def main() -> int:
    sys.stderr.write("The command line needs two more packages: pip install 'snapstate-sdk[cli]'\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
