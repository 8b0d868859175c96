# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs a script in User-Mode Linux."""

import os
import subprocess
import sys
import time

from common import EXIT_TIMEOUT, HarnessError, QEMU_DIR, say
from runs import (Guest, base_config, guest_init, host_mhz, resolve_command,
                  visible_command, work_dir)
from verdict import judge, show_log_tail


def build(flavour):
    run = subprocess.run([os.path.join(QEMU_DIR, "uml/build"), flavour],
                         check=False, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        raise HarnessError("there is no %s User-Mode Linux kernel" % flavour)
    return run.stdout.strip().splitlines()[-1]


def release_of(kernel_dir):
    with open(os.path.join(kernel_dir, "include/config/kernel.release"),
              encoding="ascii") as handle:
        return handle.read().strip()


def pick_cpu(wanted):
    """One CPU for the guest: unpinned, each of its system calls migrates."""
    allowed = sorted(os.sched_getaffinity(0))
    if wanted is not None:
        if wanted not in allowed:
            raise HarnessError("CPU %d is not available" % wanted)
        return wanted
    # Spread runs that go in parallel.
    return allowed[os.getpid() % len(allowed)]


def run(args, command, interactive=False):
    flavour = "debug" if args.debug else "plain"
    kernel_dir = build(flavour)
    init = guest_init()
    command = resolve_command(command)
    name = "uml-" + flavour
    with work_dir(args.keep) as work:
        out = args.out or os.path.join(work, "out")
        shared = os.path.join(work, "shared")
        control = os.path.join(work, "control")
        for folder in (out, shared, control):
            os.makedirs(folder, exist_ok=True)
        verdict_path = os.path.join(control, "verdict")
        log_path = os.path.join(work, "console.log")
        dmesg_path = os.path.join(out, "dmesg")
        if os.path.exists(verdict_path):
            os.unlink(verdict_path)
        command = visible_command(command, control)
        config = base_config(command, {
            "UBOE_LANE": "uml", "UBOE_KERNEL": name, "HOST": "a",
            "UBOE_KMOD": args.kmod_dir(name)})
        config += args.extra_env()
        config += [
            "lane uml", "verdict /run/control/verdict", "mhz " + host_mhz(),
            "share out %s /out" % os.path.abspath(out),
            "share shared %s /shared" % shared,
            "share control %s /run/control" % control,
        ]
        modules = os.path.join(kernel_dir, "modinst/lib/modules", release_of(kernel_dir))
        if os.path.isdir(modules):
            config.append("modules %s %s" % (release_of(kernel_dir), modules))
        if args.debug and not args.no_kmemleak:
            config.append("kmemleak")
        if interactive:
            config += ["tty /dev/tty0", "env UBOE_TERM=" + os.environ.get("TERM", "dumb")]
        config_path = os.path.join(control, "vm.conf")
        with open(config_path, "w", encoding="utf-8") as handle:
            handle.write("\n".join(config) + "\n")

        argv = ["taskset", "-c", str(pick_cpu(args.cpu)),
                os.path.join(kernel_dir, "linux"), "mem=" + args.mem,
                "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro",
                "init=" + init, "UBOE_CONF=" + config_path, "UBOE_CONSOLE=/dev/tty0",
                "con=null", "con0=fd:0,fd:1", "ssl=null", "stderr=1",
                "console=stderr0", "panic=-1", "quiet", "dummy.numdummies=0",
                "ifb.numifbs=0", "bonding.max_bonds=0",
                "umid=uboe-%d" % os.getpid(), "uml_dir=" + work]
        argv += args.append
        # UML keeps guest memory in a file; a tmpfs makes that memory.
        env = dict(os.environ)
        env["TMPDIR"] = "/dev/shm" if os.access("/dev/shm", os.W_OK) else work
        with open(log_path, "wb") as log:
            pipe = None if interactive else subprocess.PIPE
            guest = Guest(argv, pipe, pipe, log, env, new_session=not interactive)
            if not interactive:
                guest.copy_output()
            deadline = None if interactive else time.monotonic() + args.timeout
            try:
                ended = guest.wait(deadline, verdict_path)
            except KeyboardInterrupt:
                guest.kill()
                raise
            if not ended:
                guest.kill()
                say("%s: timeout after %d s" % (name, args.timeout))
                show_log_tail(log_path, name)
                return EXIT_TIMEOUT
            guest.kill()
        sys.stdout.flush()
        status = judge(verdict_path, name, dmesg_path,
                       want_kmemleak=args.debug and not args.no_kmemleak,
                       allow=args.allow, scan_log=not interactive)
        if not os.path.exists(dmesg_path):
            show_log_tail(log_path, name)
        return status
