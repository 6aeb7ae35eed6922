"""Runs a command tied to its parent: when the parent dies, however it dies, the command is told to stop.

    python tether.py PARENT_PID SIGNAL UID:GID COMMAND…        (UID:GID is `-` to stay who we are)

Its own file, started by path: it runs before the command and needs nothing of the project, and it
drops its rights only after Python has started, since the other user may not be able to read Python.
"""

import ctypes
import os
import sys

PR_SET_PDEATHSIG = 1


def drop_rights(user: str) -> None:
    if user == "-":
        return
    uid, gid = (int(part) for part in user.split(":"))
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
    os.chdir("/")


def tie_to(parent: int, signal_number: int) -> None:
    """Linux only; elsewhere a parent killed outright leaves its servers behind."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
    if os.getppid() != parent:  # it died before the tie was made
        sys.exit(f"the parent {parent} is gone")


def main(parent: str, signal_number: str, user: str, *command: str) -> None:
    drop_rights(user)
    tie_to(int(parent), int(signal_number))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
