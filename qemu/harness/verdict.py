# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Reads what a guest's PID 1 reports (see qemu/init.c) and judges it."""

import os

import splats
from common import EXIT_HARNESS, EXIT_SPLAT, HarnessError, say


class Verdict:
    def __init__(self, path):
        self.status = None
        self.sections = {}
        try:
            with open(path, "rb") as handle:
                data = handle.read()
        except FileNotFoundError:
            data = b""
        self._parse(data)

    def _parse(self, data):
        if not data:
            raise HarnessError("the guest gave no verdict")
        pos = 0
        ended = False
        while pos < len(data) and not ended:
            eol = data.find(b"\n", pos)
            if eol < 0:
                break
            word, _, rest = data[pos:eol].decode("ascii", "replace").partition(" ")
            pos = eol + 1
            if word == "exit":
                self.status = int(rest)
            elif word == "signal":
                self.status = 128 + int(rest)
            elif word in ("kmsg", "kmemleak"):
                size = int(rest)
                self.sections[word] = data[pos:pos + size]
                pos += size
            elif word == "end":
                ended = True
            elif word != "uboe-verdict":
                raise HarnessError("the guest's verdict is damaged: " + word[:40])
        if not ended or self.status is None:
            raise HarnessError("the guest's verdict is truncated")


def is_complete(path):
    """True once the last line of a report is there."""
    try:
        with open(path, "rb") as handle:
            handle.seek(0, os.SEEK_END)
            handle.seek(max(0, handle.tell() - 5))
            return handle.read() == b"\nend\n"
    except OSError:
        return False


def judge(path, label, log_path, want_kmemleak=False, allow=(), scan_log=True):
    """Returns the exit status of a run; says why when it is not the script's."""
    try:
        verdict = Verdict(path)
    except HarnessError as error:
        say("%s: %s" % (label, error))
        return EXIT_HARNESS
    status = verdict.status
    try:
        if "kmsg" not in verdict.sections:
            raise HarnessError("the guest could not read its kernel log")
        lines = splats.parse_kmsg(verdict.sections["kmsg"])
        with open(log_path, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
        reports = splats.scan(lines, allow) if scan_log else []
        if want_kmemleak and "kmemleak" not in verdict.sections:
            raise HarnessError("the guest could not read kmemleak's report")
    except HarnessError as error:
        say("%s: %s" % (label, error))
        return status or EXIT_SPLAT
    leaks = verdict.sections.get("kmemleak", b"").decode("utf-8", "replace")
    for report in reports:
        say("%s: kernel report:\n  %s" % (label, "\n  ".join(report)))
    if leaks.strip():
        say("%s: memory leaks:\n%s" % (label, leaks.rstrip()[:6000]))
    if reports or leaks.strip():
        say("%s: %d kernel report(s)%s" % (
            label, len(reports), ", memory leaked" if leaks.strip() else ""))
        return status or EXIT_SPLAT
    return status


def show_log_tail(path, label, count=40):
    if not os.path.exists(path):
        return
    with open(path, "rb") as handle:
        lines = handle.read().decode("utf-8", "replace").splitlines()
    if lines:
        say("%s: end of the console:\n  %s" % (label, "\n  ".join(lines[-count:])))
