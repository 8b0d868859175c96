# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""A private apt folder: packages of any Debian suite, nothing on the host changes.

The archive's address is read from the host's own apt configuration, or from
UBOE_DEBIAN_MIRROR (…/debian) and UBOE_DEBIAN_SECURITY_MIRROR.
"""

import os
import re
import shutil
import subprocess

from common import HarnessError, cache_dir, say

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def host_suite():
    with open("/etc/os-release", encoding="utf-8") as handle:
        for line in handle:
            key, _, value = line.strip().partition("=")
            if key == "VERSION_CODENAME":
                return value.strip('"')
    return ""


def mirrors():
    """Returns (main, security) archive addresses."""
    main = os.environ.get("UBOE_DEBIAN_MIRROR")
    security = os.environ.get("UBOE_DEBIAN_SECURITY_MIRROR")
    if not main or not security:
        out = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(REPO_URI) $(LABEL)",
             "Created-By: Packages"],
            check=False, capture_output=True, text=True).stdout
        for line in out.splitlines():
            uri, _, label = line.partition(" ")
            if label == "Debian":
                main = main or uri.rstrip("/")
            elif label == "Debian-Security":
                security = security or uri.rstrip("/")
    if not main:
        raise HarnessError(
            "no Debian archive is configured in apt; set UBOE_DEBIAN_MIRROR")
    if not security:
        security = re.sub(r"/debian$", "/debian-security", main)
    return main, security


class AptDir:
    """An apt state folder of its own for a list of suites."""

    def __init__(self, name, suites, full_closure=False):
        self.path = os.path.join(cache_dir(), "apt-" + name)
        self.suites = suites
        self.status = "/var/lib/dpkg/status"
        if full_closure:
            self.status = os.path.join(self.path, "var/lib/dpkg/status")

    def options(self):
        return ["-o", "Dir=" + self.path,
                "-o", "Dir::State::status=" + self.status,
                "-o", "APT::Sandbox::User=root",
                "-o", "APT::Install-Recommends=false",
                "-o", "APT::Architecture=amd64",
                "-o", "Acquire::Languages=none",
                "-o", "Acquire::Retries=3",
                "-o", "APT::Get::AllowUnauthenticated=false"]

    def apt(self, tool, *args, check=True):
        run = subprocess.run([tool, "-qq"] + self.options() + list(args),
                             check=False, capture_output=True, text=True,
                             stdin=subprocess.DEVNULL)
        if check and run.returncode != 0:
            raise HarnessError("%s %s failed:\n%s" % (
                tool, " ".join(args), run.stderr.strip()[-2000:]))
        return run.stdout

    def update(self):
        main, security = mirrors()
        shutil.rmtree(self.path, ignore_errors=True)
        for sub in ("etc/apt/apt.conf.d", "etc/apt/preferences.d",
                    "etc/apt/sources.list.d", "var/lib/apt/lists/partial",
                    "var/cache/apt/archives/partial", "var/lib/dpkg"):
            os.makedirs(os.path.join(self.path, sub), exist_ok=True)
        # Proxies and the like of the host.
        for entry in os.scandir("/etc/apt/apt.conf.d"):
            if entry.is_file():
                shutil.copy(entry.path, os.path.join(self.path, "etc/apt/apt.conf.d"))
        open(os.path.join(self.path, "var/lib/dpkg/status"), "a",
             encoding="ascii").close()
        signed = "[arch=amd64 signed-by=%s]" % KEYRING if os.path.exists(KEYRING) \
            else "[arch=amd64]"
        with open(os.path.join(self.path, "etc/apt/sources.list"), "w",
                  encoding="ascii") as out:
            for suite in self.suites:
                uri = security if suite.endswith("-security") else main
                out.write("deb %s %s %s main\n" % (signed, uri, suite))
        say("reading package lists of " + ", ".join(self.suites))
        # One unreachable suite must not hide the others: the caller notices
        # when the package it wants is in none of them.
        self.apt("apt-get", "update", check=False)

    def names(self, prefix):
        return self.apt("apt-cache", "pkgnames", prefix).split()

    def download(self, packages, folder):
        os.makedirs(folder, exist_ok=True)
        run = subprocess.run(
            ["apt-get", "-qq"] + self.options() + ["download"] + packages,
            cwd=folder, check=False, capture_output=True, text=True,
            stdin=subprocess.DEVNULL)
        if run.returncode != 0:
            raise HarnessError("cannot download %s:\n%s" % (
                " ".join(packages), run.stderr.strip()[-2000:]))
        return sorted(os.path.join(folder, f) for f in os.listdir(folder)
                      if f.endswith(".deb"))

    def download_closure(self, suite, packages):
        """Downloads packages with everything they depend on."""
        self.apt("apt-get", "-y", "--download-only", "-t", suite, "install", *packages)
        folder = os.path.join(self.path, "var/cache/apt/archives")
        return sorted(os.path.join(folder, f) for f in os.listdir(folder)
                      if f.endswith(".deb"))

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


def unpack(deb, folder, excluded=()):
    """Unpacks a package's files, without those below the excluded paths."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb],
                          stdout=subprocess.PIPE) as packer:
        tar = subprocess.run(
            ["tar", "-C", folder, "-xf", "-", "--no-same-owner"] +
            ["--exclude=" + pattern for pattern in excluded],
            stdin=packer.stdout, check=False)
    if tar.returncode != 0 or packer.returncode != 0:
        raise HarnessError("cannot unpack " + deb)
