# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Writes a cpio archive (newc) of a few files, as the kernel unpacks it."""

import lzma
import os
import stat


class Archive:
    def __init__(self):
        self.parts = []
        self.inode = 1

    def _entry(self, name, mode, data=b"", rdev=(0, 0)):
        encoded = name.encode() + b"\0"
        fields = [self.inode, mode, 0, 0, 1, 0, len(data), 0, 0,
                  rdev[0], rdev[1], len(encoded), 0]
        self.inode += 1
        header = b"070701" + b"".join(b"%08X" % field for field in fields)
        for blob in (header + encoded, data):
            self.parts.append(blob + b"\0" * (-len(blob) % 4))

    def directory(self, name):
        self._entry(name, stat.S_IFDIR | 0o755)

    def file(self, name, data, mode=0o644):
        self._entry(name, stat.S_IFREG | mode, data)

    def device(self, name, major, minor):
        self._entry(name, stat.S_IFCHR | 0o600, rdev=(major, minor))

    def module(self, path):
        """Adds a module, unpacked; returns its name in the archive."""
        with open(path, "rb") as handle:
            data = handle.read()
        name = os.path.basename(path)
        if name.endswith(".xz"):
            data = lzma.decompress(data)
            name = name[:-3]
        self.file("modules/" + name, data)
        return "/modules/" + name

    def write(self, path):
        self._entry("TRAILER!!!", 0)
        with open(path, "wb") as handle:
            handle.write(b"".join(self.parts))
