# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Command line of qemu/vm."""

import argparse
import os
import shutil
import sys

import chroot
import guest
import kernels
import uml
from common import EXIT_HARNESS, HarnessError, build_dir, say

EPILOG = """
Everything after -- is the program to run in the guest as root, and its arguments.
It sees the host's files read only, its own /tmp and /run, /out (kept by --out DIR)
and /shared (common to all guests of the run).
Exit status: the program's own; 124 timeout, 125 no verdict, 126 kernel report or leak.
"""


class Options(argparse.Namespace):
    def extra_env(self):
        return ["env " + text for text in self.env]

    @staticmethod
    def kmod_dir(name):
        return os.path.join(build_dir(), "kmod-" + name)


def add_run_options(parser, timeout):
    parser.add_argument("--timeout", type=int, default=timeout, metavar="S",
                        help="host's limit in seconds (default %(default)s)")
    parser.add_argument("--out", metavar="DIR", help="host folder for /out")
    parser.add_argument("--keep", metavar="DIR",
                        help="work in DIR and leave logs there")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--allow", action="append", default=[], metavar="REGEX",
                        help="kernel report that is expected in this run")
    parser.add_argument("--append", action="append", default=[], metavar="TEXT",
                        help="more kernel command line")


def add_uml_options(parser):
    parser.add_argument("--debug", action="store_true",
                        help="KASAN, lockdep, kmemleak ... kernel")
    parser.add_argument("--mem", default="1G")
    parser.add_argument("--cpu", type=int, metavar="N", help="host CPU to pin to")
    parser.add_argument("--no-kmemleak", action="store_true")
    add_run_options(parser, 300)


def add_qemu_options(parser):
    parser.add_argument("--kernel", required=True, metavar="NAME",
                        help="one of qemu/kernels.json: " + ", ".join(kernels.names()))
    parser.add_argument("--hosts", type=int, default=1, choices=(1, 2))
    parser.add_argument("--smp", type=int, help="CPUs (default 2, with two hosts 1)")
    parser.add_argument("--mem", default="1G")
    parser.add_argument("--mtu", type=int, default=1500)
    parser.add_argument("--icount", action="store_true",
                        help="one instruction is one ns; one CPU")
    parser.add_argument("--pcap", metavar="FILE",
                        help="packets of the wire between two hosts")
    parser.add_argument("--qemu", metavar="PROGRAM",
                        help="another qemu-system-x86_64")
    parser.add_argument("--vfio-user", action="append", default=[], metavar="SOCKET",
                        help="attach the PCI device served at SOCKET (to host a, "
                        "a second one to host b); takes qemu/vm qemu's program")
    parser.add_argument("--qemu-arg", action="append", default=[], metavar="ARG")
    add_run_options(parser, 300)


def make_parser():
    parser = argparse.ArgumentParser(
        prog="qemu/vm", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = parser.add_subparsers(dest="verb", required=True)
    for verb, text in (("uml", "run a script in User-Mode Linux"),
                       ("shell-uml", "a prompt in User-Mode Linux")):
        add_uml_options(sub.add_parser(verb, help=text))
    for verb, text in (("run", "run a script in QEMU with a Debian kernel"),
                       ("shell", "a prompt in QEMU with a Debian kernel")):
        add_qemu_options(sub.add_parser(verb, help=text))
    one = sub.add_parser("kernel", help="fetch a Debian kernel, print its paths")
    one.add_argument("name", choices=kernels.names())
    sub.add_parser("kernels", help="list the kernels of qemu/kernels.json")
    sub.add_parser("qemu", help="fetch a QEMU with vfio-user-pci, print its program")
    jail = sub.add_parser("chroot-trixie",
                          help="run a command in a Debian 13 tree, this tree mounted")
    jail.add_argument("--writable", action="append", default=[], metavar="DIR",
                      help="host folder that the command may write (build output)")
    return parser


def split_command(argv):
    if "--" in argv:
        cut = argv.index("--")
        return argv[:cut], argv[cut + 1:]
    return argv, []


def print_kernel(name):
    kernel = kernels.get(name)
    print("release=" + kernel.release)
    print("kdir=" + kernel.kdir)
    print("vmlinux=" + kernel.vmlinux)
    print("modules=" + kernel.modules)
    print("cc=" + kernel.cc)


def dispatch(args, command):
    shell = ["bash", "-i"]
    if args.verb == "uml":
        return uml.run(args, command)
    if args.verb == "shell-uml":
        return uml.run(args, command or shell, interactive=True)
    if args.verb == "run":
        return guest.run(args, command)
    if args.verb == "shell":
        return guest.run(args, command or shell, interactive=True)
    if args.verb == "kernel":
        print_kernel(args.name)
        return 0
    if args.verb == "kernels":
        print("\n".join(kernels.names()))
        return 0
    if args.verb == "qemu":
        print(guest.vfio_user_qemu())
        return 0
    return chroot.run(args, command)


def main():
    argv, command = split_command(sys.argv[1:])
    args = make_parser().parse_args(argv, namespace=Options())
    try:
        return dispatch(args, command)
    except HarnessError as error:
        say(str(error))
        return EXIT_HARNESS
    except KeyboardInterrupt:
        if shutil.which("stty") and sys.stdin.isatty():
            os.system("stty sane")
        say("interrupted")
        return 130
