# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Debian's kernels, unpacked into the cache: image, modules and headers.

A cached kernel is CACHE/kernel-NAME/ with
  vmlinux       the ELF image (boots seconds faster than vmlinuz under TCG)
  modules/RELEASE/   modules with modules.dep
  headers/      what `make -C DIR M=` wants
  info.json     name, release, version, cc
"""

import contextlib
import json
import lzma
import os
import re
import shutil
import subprocess
import tempfile

from common import HarnessError, QEMU_DIR, cache_dir, locked, say
from debian import AptDir, host_suite, unpack


class Kernel:
    def __init__(self, path):
        self.path = path
        with open(os.path.join(path, "info.json"), encoding="utf-8") as handle:
            info = json.load(handle)
        self.name = info["name"]
        self.release = info["release"]
        self.cc = info["cc"]

    @property
    def vmlinux(self):
        return os.path.join(self.path, "vmlinux")

    @property
    def kdir(self):
        return os.path.join(self.path, "headers")

    @property
    def modules(self):
        return os.path.join(self.path, "modules", self.release)

    def module_order(self, names):
        """Files of the named modules and of all they need, in load order."""
        depends = {}
        with open(os.path.join(self.modules, "modules.dep"), encoding="utf-8") as dep:
            for line in dep:
                target, _, rest = line.partition(":")
                depends[target] = rest.split()
        by_name = {}
        for target in depends:
            base = os.path.basename(target).split(".ko")[0].replace("-", "_")
            by_name[base] = target
        with open(os.path.join(self.modules, "modules.builtin"), encoding="utf-8") as lst:
            builtin = {os.path.basename(l.strip())[:-3].replace("-", "_") for l in lst}
        order = []
        for name in names:
            name = name.replace("-", "_")
            if name in builtin:
                continue
            if name not in by_name:
                raise HarnessError("kernel %s has no module %s" % (self.release, name))
            # modules.dep lists the dependencies last-needed first.
            for target in reversed([by_name[name]] + depends[by_name[name]]):
                if target not in order:
                    order.append(target)
        return [os.path.join(self.modules, target) for target in order]


def table():
    with open(os.path.join(QEMU_DIR, "kernels.json"), encoding="utf-8") as handle:
        return json.load(handle)


def names():
    return [row["name"] for row in table()["kernels"]]


def get(name):
    """Returns the named kernel, fetching it if the cache does not have it."""
    path = os.path.join(cache_dir(), "kernel-" + name)
    if not os.path.exists(os.path.join(path, "info.json")):
        rows = [row for row in table()["kernels"] if row["name"] == name]
        if not rows:
            raise HarnessError("no kernel '%s' in qemu/kernels.json (there are: %s)"
                               % (name, ", ".join(names())))
        with locked("kernel-" + name):
            if not os.path.exists(os.path.join(path, "info.json")):
                _fetch(rows[0], path)
    return Kernel(path)


def _version_key(release):
    return [int(n) for n in re.findall(r"[0-9]+", release)]


def _fetch(row, path):
    # Headers and kbuild programs must suit the compiler and libc of this host.
    suites = row["suites"].get(host_suite()) or row["suites"]["any"]
    apt = AptDir("kernel-" + row["name"], suites)
    apt.update()
    releases = []
    for package in apt.names("linux-image-"):
        match = re.fullmatch(row["image"], package)
        if match:
            releases.append(match.group(1))
    if not releases:
        raise HarnessError("no package matches %s in %s" % (
            row["image"], ", ".join(suites)))
    release = max(releases, key=_version_key)
    wanted = ["linux-image-" + release, "linux-headers-" + release,
              "linux-headers-" + re.sub("-amd64$", "-common", release)]
    depends = apt.apt("apt-cache", "depends", "linux-headers-" + release)
    wanted += sorted(set(re.findall(r"Depends: (linux-kbuild-\S+)", depends)))
    compilers = re.findall(r"gcc-[0-9]+", depends)

    tmp = tempfile.mkdtemp(prefix="tmp.kernel.", dir=cache_dir())
    try:
        say("downloading " + ", ".join(wanted))
        debs = apt.download(wanted, os.path.join(tmp, "debs"))
        root = os.path.join(tmp, "root")
        os.mkdir(root)
        excluded = ["*/kernel/" + sub for sub in table()["modules_excluded"]]
        excluded.append("*/usr/share/doc")
        for deb in debs:
            unpack(deb, root, excluded)
        shutil.rmtree(os.path.join(tmp, "debs"))
        extract_vmlinux(os.path.join(root, "boot/vmlinuz-" + release),
                        os.path.join(tmp, "vmlinux"))
        _place_modules(root, tmp, release)
        _place_headers(root, tmp, path, release)
        cc = next((c for c in compilers if shutil.which(c)), "gcc")
        with open(os.path.join(tmp, "info.json"), "w", encoding="utf-8") as out:
            json.dump({"name": row["name"], "release": release, "cc": cc}, out)
        shutil.rmtree(path, ignore_errors=True)
        os.chmod(tmp, 0o755)
        os.rename(tmp, path)
    except BaseException:
        shutil.rmtree(tmp, ignore_errors=True)
        raise
    apt.remove()
    say("kernel %s (%s) is ready" % (row["name"], release))


def _place_modules(root, tmp, release):
    for sub in ("usr/lib/modules", "lib/modules"):
        source = os.path.join(root, sub, release)
        if os.path.isdir(os.path.join(source, "kernel")):
            break
    else:
        raise HarnessError("the kernel package has no modules")
    target = os.path.join(tmp, "modules", release)
    os.makedirs(os.path.dirname(target))
    # depmod looks below BASE/lib/modules.
    shutil.move(source, target)
    for link in ("build", "source"):
        if os.path.islink(os.path.join(target, link)):
            os.unlink(os.path.join(target, link))
    base = os.path.join(tmp, "depmod")
    os.makedirs(os.path.join(base, "lib"))
    os.symlink(os.path.join(tmp, "modules"), os.path.join(base, "lib/modules"))
    depmod = shutil.which("depmod", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if not depmod:
        raise HarnessError("depmod is missing; run tools/setup/deps")
    subprocess.run([depmod, "-b", base, release], check=True,
                   stderr=subprocess.DEVNULL)
    shutil.rmtree(base)


def _place_headers(root, tmp, path, release):
    """Makes the header packages work from the cache: they name /usr/src."""
    headers = os.path.join(tmp, "headers")
    common = re.sub("-amd64$", "-common", release)
    os.makedirs(os.path.join(tmp, "src"))
    shutil.move(os.path.join(root, "usr/src/linux-headers-" + release), headers)
    shutil.move(os.path.join(root, "usr/src/linux-headers-" + common),
                os.path.join(tmp, "common"))
    kbuild = [d for d in os.listdir(os.path.join(root, "usr/lib"))
              if d.startswith("linux-kbuild-")]
    shutil.move(os.path.join(root, "usr/lib", kbuild[0]), os.path.join(tmp, "kbuild"))
    shutil.rmtree(root)
    os.rmdir(os.path.join(tmp, "src"))
    for where in ("headers", "common"):
        for link in ("scripts", "tools"):
            target = os.path.join(tmp, where, link)
            if os.path.islink(target):
                os.unlink(target)
                if os.path.isdir(os.path.join(tmp, "kbuild", link)):
                    os.symlink("../kbuild/" + link, target)
    # A vmlinux here (its BTF) would make each module build want pahole.
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(headers, "vmlinux"))
    for name in ("Makefile", ".kernelvariables"):
        target = os.path.join(headers, name)
        if not os.path.exists(target):
            continue
        with open(target, encoding="utf-8") as handle:
            text = handle.read()
        text = text.replace("/usr/src/linux-headers-" + common,
                            os.path.join(path, "common"))
        with open(target, "w", encoding="utf-8") as handle:
            handle.write(text)


def extract_vmlinux(vmlinuz, target):
    """Takes the ELF image out of a bzImage with an XZ payload."""
    with open(vmlinuz, "rb") as handle:
        image = handle.read()
    if image[0x202:0x206] != b"HdrS":
        raise HarnessError(vmlinuz + " is not a bzImage")
    base = (image[0x1f1] + 1) * 512
    offset = base + int.from_bytes(image[0x248:0x24c], "little")
    length = int.from_bytes(image[0x24c:0x250], "little")
    payload = image[offset:offset + length]
    if payload.startswith(b"\xfd7zXZ\0"):
        # The payload ends in 4 bytes of its unpacked size.
        data = lzma.LZMADecompressor().decompress(payload)
    elif payload.startswith(b"\x28\xb5\x2f\xfd"):
        data = subprocess.run(["zstd", "-dc"], input=payload, check=False,
                              capture_output=True).stdout
    else:
        raise HarnessError(vmlinuz + ": unknown compression of the kernel image")
    if not data.startswith(b"\x7fELF"):
        raise HarnessError(vmlinuz + ": no ELF image inside")
    with open(target, "wb") as handle:
        handle.write(data)
