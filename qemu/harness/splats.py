# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Finds reports of kernel trouble in a log of /dev/kmsg records."""

import os
import re

from common import HarnessError, QEMU_DIR

# A report that is allowed takes this many lines with it at most.
REPORT_LINES = 80
# Lines that only ever continue a report.
CONTINUATION = re.compile(r"Call Trace:|Modules linked in:|WARNING: suspicious RCU")
HEAD_LINES = 8


def load(path):
    with open(path, encoding="utf-8") as handle:
        return [re.compile(line.rstrip("\n"), re.DOTALL) for line in handle
                if line.strip() and not line.startswith("#")]


def parse_kmsg(data):
    """Returns the text lines; raises HarnessError if the start was lost."""
    lines = []
    expected = 0
    for record in data.decode("utf-8", "replace").splitlines():
        if record.startswith(" "):          # a dictionary line of the record
            continue
        head, sep, text = record.partition(";")
        fields = head.split(",")
        if not sep or len(fields) < 3 or not fields[1].isdigit():
            raise HarnessError("kernel log is damaged: " + record[:80])
        seq = int(fields[1])
        if seq < expected:
            raise HarnessError("kernel log is damaged: record order")
        if seq > expected:
            raise HarnessError(
                "kernel log lost records %d to %d; nothing can be said of them "
                "(less logging, or a larger log_buf_len)" % (expected, seq - 1))
        expected = seq + 1
        stamp = int(fields[2]) / 1e6
        lines.append("[%12.6f] %s" % (stamp, text))
    if not lines:
        raise HarnessError("kernel log is empty")
    return lines


def scan(lines, extra_allow=()):
    """Returns the reports that are not allowed, each a list of lines."""
    deny = load(os.path.join(QEMU_DIR, "splats.deny"))
    allow = load(os.path.join(QEMU_DIR, "splats.allow"))
    allow += [re.compile(text, re.DOTALL) for text in extra_allow]
    reports = []
    quiet_until = -1
    loud_until = -1
    for number, line in enumerate(lines):
        if not any(pattern.search(line) for pattern in deny):
            continue
        if number < max(quiet_until, loud_until) and CONTINUATION.search(line):
            continue
        head = "\n".join(lines[number:number + HEAD_LINES])
        if any(pattern.search(head) for pattern in allow):
            quiet_until = number + REPORT_LINES
            continue
        if number < loud_until:             # more of a report we have
            continue
        loud_until = number + REPORT_LINES
        reports.append(lines[number:number + 40])
    return reports
