# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What a User-Mode Linux run and a QEMU run have in common."""

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from common import HarnessError, QEMU_DIR, TREE, build_dir, cache_dir, locked
from verdict import is_complete

# Guests have a tmpfs here, so folders of the host below them are shown apart.
GUEST_OWN = ("/tmp/", "/run/", "/var/tmp/", "/dev/")


def guest_init():
    """Builds the static PID 1 into the cache; returns its path."""
    source = os.path.join(QEMU_DIR, "init.c")
    with open(source, "rb") as handle:
        digest = hashlib.sha256(handle.read()).hexdigest()[:12]
    path = os.path.join(cache_dir(), "init-" + digest)
    if not os.path.exists(path):
        with locked("init"):
            tmp = path + ".tmp"
            run = subprocess.run(
                ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-static", "-s",
                 "-o", tmp, source], check=False)
            if run.returncode != 0:
                raise HarnessError("cannot build qemu/init.c")
            os.rename(tmp, path)
    return path


def host_mhz():
    with open("/proc/cpuinfo", encoding="utf-8") as handle:
        for line in handle:
            if line.startswith("cpu MHz"):
                return line.split(":")[1].strip()
    return "2000.000"


def resolve_command(words):
    """The program by absolute path when it is a file, else by PATH."""
    if not words:
        raise HarnessError("no SCRIPT after --")
    words = list(words)
    if os.path.isfile(words[0]):
        words[0] = os.path.abspath(words[0])
        if not os.access(words[0], os.X_OK):
            raise HarnessError(words[0] + " is not executable")
    for word in words:
        if "\n" in word:
            raise HarnessError("arguments of a guest script must be single lines")
    return words


def visible_command(command, control):
    """A script that lies directly in a folder that guests have their own of
    is copied to where they can see it."""
    if os.path.dirname(command[0]) + "/" in GUEST_OWN:
        copy = os.path.join(control, os.path.basename(command[0]))
        shutil.copy(command[0], copy)
        return ["/run/control/" + os.path.basename(copy)] + command[1:]
    return command


def base_config(command, env, out_name="out"):
    """Directives that every guest gets; see qemu/init.c."""
    config = []
    for path in sorted({TREE, cache_dir(), build_dir(), os.getcwd(),
                        os.path.dirname(command[0])}):
        if path.startswith(GUEST_OWN) and path != "/run/control":
            config.append("host " + path)
    variables = {
        "UBOE_TREE": TREE,
        "UBOE_CACHE": cache_dir(),
        "UBOE_BUILD": build_dir(),
        "UBOE_OUT": "/" + out_name,
        "UBOE_SHARED": "/shared",
        "UBOE_GUEST_LIB": os.path.join(QEMU_DIR, "guest/lib.sh"),
    }
    variables.update(env)
    for name, value in variables.items():
        config.append("env %s=%s" % (name, value))
    config.append("cwd " + os.getcwd())
    for word in command:
        config.append("arg " + word)
    return config


@contextlib.contextmanager
def work_dir(keep=None):
    """A private folder; removed afterwards unless asked to keep it."""
    if keep:
        os.makedirs(keep, exist_ok=True)
        yield os.path.abspath(keep)
        return
    path = tempfile.mkdtemp(prefix="uboe-vm.")
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


class Guest:
    """A process group on the host that is one guest.

    With stdout=PIPE its output is copied to ours (a prefix for each line, if
    given) by a thread: UML cannot wait for regular files.
    """

    def __init__(self, argv, stdin, stdout, stderr, env=None, new_session=True):
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            argv, stdin=stdin, stdout=stdout, stderr=stderr, env=env,
            start_new_session=new_session)
        self.own_group = new_session
        self.pump = None

    def copy_output(self, prefix=b""):
        self.pump = threading.Thread(target=self._copy, args=(prefix,), daemon=True)
        self.pump.start()

    def _copy(self, prefix):
        source = self.process.stdout
        target = sys.stdout.buffer
        try:
            if prefix:
                for line in source:
                    target.write(prefix + line)
                    target.flush()
                return
            while True:
                data = source.read1(65536)
                if not data:
                    break
                target.write(data)
                target.flush()
        except (BrokenPipeError, ValueError):
            pass

    def wait(self, deadline, verdict_path=None):
        """True if it ended, or its verdict is complete, before the deadline
        (None: wait for ever)."""
        while True:
            try:
                self.process.wait(0.02 if verdict_path else 0.2)
                return True
            except subprocess.TimeoutExpired:
                pass
            if verdict_path and is_complete(verdict_path):
                return True
            if deadline is not None and time.monotonic() > deadline:
                return False

    def kill(self):
        """Ends it and all its children; they are in a group of their own."""
        try:
            if self.own_group:
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()
        except ProcessLookupError:
            pass
        self.process.wait()
        if self.pump:
            self.pump.join(5)
