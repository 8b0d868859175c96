# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Paths, the cache folder, messages and locks shared by the harness."""

import contextlib
import fcntl
import os
import sys

QEMU_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TREE = os.path.dirname(QEMU_DIR)

# Exit statuses of the harness itself; anything else is the script's own.
EXIT_TIMEOUT = 124
EXIT_HARNESS = 125
EXIT_SPLAT = 126


class HarnessError(Exception):
    """Something that stops a run before a verdict; text is for a person."""


def say(message):
    print("vm: " + message, file=sys.stderr, flush=True)


def cache_dir():
    path = os.environ.get("UBOE_CACHE")
    if not path:
        if os.geteuid() == 0:
            path = "/var/cache/uboe"
        else:
            base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
            path = os.path.join(base, "uboe")
    os.makedirs(path, exist_ok=True)
    return os.path.realpath(path)


def build_dir():
    return os.path.abspath(os.environ.get("UBOE_BUILD") or os.path.join(TREE, "build"))


@contextlib.contextmanager
def locked(name):
    """Holds CACHE/NAME.lock; two runs never make the same thing at once."""
    path = os.path.join(cache_dir(), name + ".lock")
    with open(path, "a", encoding="ascii") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another process that makes " + name)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
