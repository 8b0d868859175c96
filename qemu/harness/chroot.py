# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs a command in a Debian 13 tree made by qemu/trixie-root."""

import os
import subprocess

from common import HarnessError, QEMU_DIR, TREE


def run(args, command):
    if not command:
        raise HarnessError("no command after --")
    if os.geteuid() != 0:
        raise HarnessError("chroot-trixie needs root")
    made = subprocess.run([os.path.join(QEMU_DIR, "trixie-root")], check=False,
                          stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        raise HarnessError("there is no Debian 13 tree")
    root = made.stdout.strip().splitlines()[-1]
    # All mounts live and die with the command's own mount namespace.
    script = r'''
set -eu
root=$1; tree=$2; cwd=$3; writable=$4; shift 4
show() { mkdir -p "$root$1"; mount --bind "$1" "$root$1"; }
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/run"
show "$tree"
for dir in $writable; do mkdir -p "$dir"; show "$dir"; done
exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
	HOME=/root LC_ALL=C.UTF-8 TERM="${TERM:-dumb}" CI="${CI:-}" \
	UBOE_TREE="$tree" UBOE_BUILD="$tree/build-trixie" UBOE_CACHE=/var/cache/uboe \
	sh -c 'cd "$0" && exec "$@"' "$cwd" "$@"
'''
    cwd = os.getcwd() if os.getcwd().startswith(TREE) else TREE
    return subprocess.run(
        ["unshare", "--mount", "--fork", "--pid", "--kill-child", "sh", "-c",
         script, "sh", root, TREE, cwd, " ".join(args.writable)] + command,
        check=False).returncode
