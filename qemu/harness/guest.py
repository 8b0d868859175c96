# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs a script in one or two QEMU guests with a Debian kernel."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import kernels
from common import EXIT_TIMEOUT, HarnessError, cache_dir, locked, say
from debian import AptDir, unpack
from initramfs import Archive
from runs import (Guest, base_config, guest_init, resolve_command, visible_command,
                  work_dir)
from verdict import judge, show_log_tail

# What PID 1 needs before it can see the host's files.
BOOT_MODULES = ["virtio_pci", "virtio_console", "virtio_net", "9p", "9pnet_virtio"]
HOSTS = {
    "a": {"v4": "10.0.0.1/24", "v6": "fd00::1/64", "mac": "52:54:00:00:00:0a"},
    "b": {"v4": "10.0.0.2/24", "v6": "fd00::2/64", "mac": "52:54:00:00:00:0b"},
}
QEMU = "qemu-system-x86_64"


def vfio_user_qemu():
    """A QEMU (10.1 or later) that has vfio-user-pci: the host's or our own."""
    system = shutil.which(QEMU)
    if system and _has_vfio_user(system):
        return system
    path = os.path.join(cache_dir(), "qemu-vfio-user")
    program = os.path.join(path, QEMU)
    if not os.path.exists(program):
        with locked("qemu-vfio-user"):
            if not os.path.exists(program):
                _fetch_qemu(path)
    return program


def _has_vfio_user(program):
    # Never ask for the whole device list: it loads modules of other builds.
    run = subprocess.run([program, "-device", "vfio-user-pci,help"], check=False,
                         capture_output=True, stdin=subprocess.DEVNULL)
    # Without that device QEMU ends with status 0 all the same on some versions.
    return run.returncode == 0 and b"socket=" in run.stdout


def _fetch_qemu(path):
    apt = AptDir("qemu", ["trixie", "trixie-backports"], full_closure=True)
    apt.update()
    say("downloading a QEMU with vfio-user-pci (about 40 MB)")
    debs = apt.download_closure("trixie-backports", ["qemu-system-x86"])
    tmp = tempfile.mkdtemp(prefix="tmp.qemu.", dir=cache_dir())
    try:
        root = os.path.join(tmp, "root")
        os.mkdir(root)
        for deb in debs:
            unpack(deb, root, ["./usr/share/doc", "./usr/share/locale"])
        # It runs with its own loader and libraries, whatever the host's are.
        lib = path + "/root/usr/lib/x86_64-linux-gnu"
        share = path + "/root/usr/share"
        with open(os.path.join(tmp, QEMU), "w", encoding="ascii") as out:
            out.write(
                "#!/bin/sh\nQEMU_MODULE_DIR=%s/qemu exec %s/root/usr/lib64/"
                "ld-linux-x86-64.so.2 --library-path %s %s/root/usr/bin/%s "
                "-L %s/qemu -L %s/seabios -L %s/root/usr/lib/ipxe/qemu \"$@\"\n"
                % (lib, path, lib, path, QEMU, share, share, path))
        os.chmod(os.path.join(tmp, QEMU), 0o755)
        os.chmod(tmp, 0o755)
        shutil.rmtree(path, ignore_errors=True)
        os.rename(tmp, path)
    except BaseException:
        shutil.rmtree(tmp, ignore_errors=True)
        raise
    apt.remove()
    if not _has_vfio_user(os.path.join(path, QEMU)):
        raise HarnessError("the QEMU that was fetched has no vfio-user-pci")


class Machine:
    """One guest: its folder, initramfs and QEMU command line."""

    def __init__(self, args, kernel, host, work, command, interactive):
        self.args = args
        self.kernel = kernel
        self.host = host
        self.label = "%s/%s" % (kernel.name, host) if args.hosts == 2 else kernel.name
        self.work = os.path.join(work, host)
        self.wire = work
        self.shared = os.path.join(work, "shared")
        self.interactive = interactive
        out = args.out or os.path.join(work, "out")
        self.out = os.path.join(out, host) if args.hosts == 2 else out
        control = os.path.join(self.work, "control")
        for folder in (self.out, self.shared, control):
            os.makedirs(folder, exist_ok=True)
        self.control = control
        self.verdict_path = os.path.join(self.work, "verdict")
        self.log_path = os.path.join(self.work, "console.log")
        self.initrd = os.path.join(self.work, "initrd.cpio")
        self._write_initramfs(visible_command(command, control))

    def _write_initramfs(self, command):
        args, kernel = self.args, self.kernel
        archive = Archive()
        for name in ("dev", "proc", "sys", "host", "new", "modules"):
            archive.directory(name)
        archive.device("dev/console", 5, 1)
        with open(guest_init(), "rb") as handle:
            archive.file("init", handle.read(), 0o755)
        config = ["lane qemu"]
        for path in kernel.module_order(BOOT_MODULES):
            config.append("insmod " + archive.module(path))
        config += base_config(command, {
            "UBOE_LANE": "qemu", "UBOE_KERNEL": kernel.name, "HOST": self.host,
            "UBOE_KMOD": args.kmod_dir(kernel.name),
            "UBOE_HOSTS": str(args.hosts)})
        config += args.extra_env()
        config += ["verdict uboe.verdict",
                   "share out %s /out" % self.out,
                   "share shared %s /shared" % self.shared,
                   "share control %s /run/control" % self.control,
                   "modules %s %s" % (kernel.release, kernel.modules)]
        if args.hosts == 2:
            row = HOSTS[self.host]
            config.append("net eth0 %d %s %s" % (args.mtu, row["v4"], row["v6"]))
        if self.interactive:
            config += ["tty /dev/hvc0",
                       "env UBOE_TERM=" + os.environ.get("TERM", "dumb")]
        else:
            config.append("output uboe.output")
        archive.file("vm.conf", ("\n".join(config) + "\n").encode())
        archive.write(self.initrd)

    def argv(self):
        args = self.args
        smp = args.smp or (1 if args.hosts == 2 or args.icount else 2)
        if args.icount and smp != 1:
            raise HarnessError("--icount works with one CPU only")
        argv = [args.qemu or QEMU, "-nodefaults", "-no-user-config", "-no-reboot",
                "-display", "none", "-cpu", "max", "-smp", str(smp), "-m", args.mem,
                "-serial", "file:" + self.log_path, "-monitor", "none"]
        if args.icount:
            argv += ["-accel", "tcg", "-icount", "shift=0,sleep=off"]
        else:
            argv += ["-accel", "tcg,thread=multi"]
        argv += self._machine_args()
        argv += ["-kernel", self.kernel.vmlinux, "-initrd", self.initrd, "-append",
                 " ".join(["console=ttyS0", "panic=-1", "quiet", "log_buf_len=4M",
                           "nokaslr", "mitigations=off"] + args.append)]
        argv += ["-virtfs", "local,path=/,mount_tag=hostroot,security_model=none,"
                 "readonly=on,multidevs=remap"]
        for tag, path in (("out", self.out), ("shared", self.shared),
                          ("control", self.control)):
            argv += ["-virtfs", "local,path=%s,mount_tag=%s,security_model=none,"
                     "multidevs=remap" % (path, tag)]
        argv += ["-device", "virtio-serial-pci",
                 "-chardev", "file,id=verdict,path=" + self.verdict_path,
                 "-device", "virtserialport,chardev=verdict,name=uboe.verdict",
                 "-chardev", "stdio,id=output,signal=" +
                 ("off" if self.interactive else "on"),
                 "-device", "virtconsole,chardev=output" if self.interactive else
                 "virtserialport,chardev=output,name=uboe.output"]
        argv += self._wire_args()
        return argv + args.qemu_arg

    def _machine_args(self):
        sockets = self.args.vfio_user
        position = "ab".index(self.host)
        if position >= len(sockets):
            return ["-M", "q35"]
        # The device process maps the guest's memory.
        device = {"driver": "vfio-user-pci",
                  "socket": {"type": "unix", "path": os.path.abspath(sockets[position])}}
        return ["-M", "q35,memory-backend=mem", "-object",
                "memory-backend-memfd,id=mem,size=%s,share=on" % self.args.mem,
                "-device", json.dumps(device)]

    def _wire_args(self):
        if self.args.hosts == 1:
            return []
        peer = "b" if self.host == "a" else "a"
        argv = ["-netdev", "dgram,id=wire,local.type=unix,local.path=%s,"
                "remote.type=unix,remote.path=%s" % (
                    os.path.join(self.wire, self.host + ".sock"),
                    os.path.join(self.wire, peer + ".sock")),
                "-device", "virtio-net-pci,netdev=wire,romfile=,mac=%s,host_mtu=%d" % (
                    HOSTS[self.host]["mac"], self.args.mtu)]
        if self.args.pcap and self.host == "a":
            argv += ["-object", "filter-dump,id=dump,netdev=wire,file=" +
                     os.path.abspath(self.args.pcap)]
        return argv

    def start(self):
        argv = self.argv()
        with open(os.path.join(self.work, "command"), "w", encoding="utf-8") as out:
            out.write("\n".join(argv) + "\n")
        if self.interactive:
            guest = Guest(argv, None, None, None, new_session=False)
        else:
            # At the end of its input QEMU would close the output port too.
            guest = Guest(argv, subprocess.PIPE, subprocess.PIPE, None)
            prefix = (self.host + "| ").encode() if self.args.hosts == 2 else b""
            guest.copy_output(prefix)
        return guest

    def judge(self):
        return judge(self.verdict_path, self.label, os.path.join(self.out, "dmesg"),
                     allow=self.args.allow, scan_log=not self.interactive)


def run(args, command, interactive=False):
    if args.vfio_user and not args.qemu:
        args.qemu = vfio_user_qemu()
    if not args.qemu and not shutil.which(QEMU):
        raise HarnessError("%s is missing; run tools/setup/deps" % QEMU)
    if interactive and args.hosts == 2:
        raise HarnessError("a prompt is for one host; run a script on two")
    if args.pcap and args.hosts != 2:
        raise HarnessError("--pcap needs --hosts 2")
    kernel = kernels.get(args.kernel)
    command = resolve_command(command)
    with work_dir(args.keep) as work:
        machines = [Machine(args, kernel, host, work, command, interactive)
                    for host in "ab"[:args.hosts]]
        guests = []
        statuses = []
        deadline = None if interactive else time.monotonic() + args.timeout
        try:
            for machine in machines:
                guests.append(machine.start())
            for machine, guest in zip(machines, guests):
                statuses.append(None if guest.wait(deadline) else EXIT_TIMEOUT)
        finally:
            for guest in guests:
                guest.kill()
        sys.stdout.flush()
        for number, machine in enumerate(machines):
            if statuses[number] is None:
                statuses[number] = machine.judge()
                if statuses[number] == 125:
                    show_log_tail(machine.log_path, machine.label)
            else:
                say("%s: timeout after %d s" % (machine.label, args.timeout))
                show_log_tail(machine.log_path, machine.label)
        # The first host that failed speaks for the run.
        return next((status for status in statuses if status), 0)
