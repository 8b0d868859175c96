#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Speaks uverbs to a uboe device without a provider: what the kernel refuses, and
what it leaves behind when any one of its allocations fails. Results in KTAP."""

import ctypes
import errno
import os
import socket
import struct
import sys

GET_CONTEXT, ALLOC_PD, REG_MR, CREATE_CQ, CREATE_QP, CREATE_SRQ = 0, 3, 9, 18, 24, 32
VERBS_IOCTL, DRIVER_ID, TOKEN_ALLOC, TOKEN_FREE = 0xc0181b01, 0x5542, 0x1000, 0x1001
GROUP_ALLOC, GROUP_FREE, TARGET_OPEN, TM_SET, TM_QUERY = 0x1002, 0x1003, 0x1004, 0x1005, 0x1006
CREATE, MODIFY, DESTROY = 4, 5, 7
ARENA_BASE, MAX_ARENAS, ARENA_MAX = 0x10000, 4096, 64 << 20
PAGE, MB = os.sysconf("SC_PAGESIZE"), 1 << 20
PROT_RW, MAP_SHARED, MAP_PRIVATE, MAP_ANON = 3, 1, 2, 0x20
LOCAL, WRITE, READ, ATOMIC, MW, ZERO, ODP = 1, 2, 4, 8, 16, 32, 64
RC, UC, UD, DRIVER = 2, 3, 4, 255
RAW, UM, RM = 0, 1, 3
EID = socket.inet_pton(socket.AF_INET6, "::ffff:10.9.0.1")
EID6 = socket.inet_pton(socket.AF_INET6, "fd00:9::1")
NOSUP, INVAL = -errno.EOPNOTSUPP, -errno.EINVAL

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                      ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.write.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]


class Fault:
    """Lets the nth allocation of one system call fail."""

    path = "/proc/thread-self/fail-nth"
    nth = 0
    reached = False

    def __enter__(self):
        if self.nth:
            self.file = os.open(self.path, os.O_RDWR)
            os.pwrite(self.file, b"%d\0" % self.nth, 0)

    def __exit__(self, *_):
        if self.nth:
            left = int(os.pread(self.file, 16, 0).split(b"\0")[0] or 0)
            os.pwrite(self.file, b"0\0", 0)
            os.close(self.file)
            self.reached = left == 0


fault = Fault()


def tm_ctx(tail=0, prio=0, vl=0, weight=0, parent=0, peak=0, burst=0):
    """struct uboe_tm_ctx, whose last reserved word is @tail"""
    return struct.pack("<BBHIIIII16xQI72xI", prio, vl, weight, parent, peak, burst, 0, 0, 0, 0,
                       tail)


class Context:
    """An open device: methods return a negative errno, or 0 and set self.out."""

    def __init__(self):
        self.fd = os.open("/dev/infiniband/uverbs0", os.O_RDWR | os.O_CLOEXEC)
        self.out = b""

    def close(self):
        os.close(self.fd)

    def command(self, number, core, driver, out_len):
        out = ctypes.create_string_buffer(out_len)
        body = struct.pack("Q", ctypes.addressof(out)) + core + driver
        request = struct.pack("IHH", number, (8 + len(body)) // 4, out_len // 4) + body
        buf = ctypes.create_string_buffer(request, len(request))
        with fault:
            ret = libc.write(self.fd, buf, len(request))
            err = ctypes.get_errno()
        self.out = out.raw
        return -err if ret < 0 else 0

    def get(self, version=1, flags=0, tail=b"", cut=0, room=32):
        driver = struct.pack("II", version, flags)
        return self.command(GET_CONTEXT, b"", driver[:len(driver) - cut] + tail, 8 + room)

    def arena(self, number, size, prot=PROT_RW, flags=MAP_SHARED, page=None):
        page = ARENA_BASE + number if page is None else page
        with fault:
            at = libc.mmap(None, size, prot, flags, self.fd, page * PAGE)
            err = ctypes.get_errno()
        self.out = at
        return -err if at == ctypes.c_void_p(-1).value else 0

    def pd(self):
        return self.command(ALLOC_PD, b"", b"", 4)

    def cq(self, ring, rec, shift=6, flags=0, cqe=10, vector=0, tail=b"", cut=0):
        core = struct.pack("QIIiI", 0, cqe, vector, -1, 0)
        driver = struct.pack("QQII", ring, rec, shift, flags)
        return self.command(CREATE_CQ, core, driver[:len(driver) - cut] + tail, 8 + 8)

    def mr(self, pd, start, length, iova, access, driver=b""):
        core = struct.pack("QQQII", start, length, iova, pd, access)
        return self.command(REG_MR, core, driver, 12)

    def method(self, number, *attrs, room=4):
        """A method of the device; each attribute is an object's handle, bytes for the
        kernel, or None for what comes in self.out: @room bytes, a number of 32 bits"""
        out, keep = ctypes.create_string_buffer(room), []
        request = struct.pack("HHHHQII", 24 + 16 * len(attrs), 0, number, len(attrs), 0,
                              DRIVER_ID, 0)
        for i, a in enumerate(attrs):
            length, data = 0, a
            if a is None:
                length, data = room, ctypes.addressof(out)
            elif isinstance(a, bytes) and len(a) <= 8:
                length, data = len(a), int.from_bytes(a, "little")
            elif isinstance(a, bytes):
                keep.append(ctypes.create_string_buffer(a, len(a)))
                length, data = len(a), ctypes.addressof(keep[-1])
            request += struct.pack("HHHHQ", 0x1000 + i, length, 1, 0, data)
        buf = ctypes.create_string_buffer(request, len(request))
        with fault:
            ret = libc.ioctl(self.fd, ctypes.c_ulong(VERBS_IOCTL), buf)
            err = ctypes.get_errno()
        self.out = out.raw
        return -err if ret < 0 else 0

    def group(self, pd, number=0, token=0, policy=0, flags=0, rsvd=0):
        return self.method(GROUP_ALLOC, pd, struct.pack("IIBBB5x", number, token, policy, flags,
                                                         rsvd), None)

    def free_group(self, number):
        return self.method(GROUP_FREE, struct.pack("I", number))

    def target(self, peer, kind, mine=EID, rsvd=0):
        return self.method(TARGET_OPEN, mine + socket.inet_pton(socket.AF_INET6, peer) +
                            struct.pack("II", kind, rsvd), None)

    def tm(self, verb, level, number=0, mask=0, rsvd=0, tail=0, cut=0, **fields):
        """A command of UBOE_MBOX_TM"""
        ctx = tm_ctx(tail, **fields)
        return self.method(TM_SET, struct.pack("IIII", verb, level << 24 | number, mask, rsvd),
                           ctx[:len(ctx) - cut])

    def tm_query(self, level, number=0, room=128):
        return self.method(TM_QUERY, struct.pack("I", level << 24 | number), None, room=room)

    def alloc_token(self):
        return self.method(TOKEN_ALLOC, None)

    def free_token(self, number):
        return self.method(TOKEN_FREE, struct.pack("I", number))

    def srq(self, pd, number=0, token=0, native=True, flags=0, tail=b""):
        core = struct.pack("QIIII", 0, pd, 10, 1, 0)
        driver = struct.pack("QQQBB6xQ", at(0, 20480), at(0, 24576), at(0, 28672), 6, 0, flags)
        if native:
            driver += struct.pack("II", number, token) + tail
        return self.command(CREATE_SRQ, core, driver, 16 + 8)

    def qp(self, pd, cq, **kw):
        a = {"sq": at(0, 8192), "page": at(0, 16384), "ring": at(0, 20480),
             "idx": at(0, 24576), "rec": at(0, 28672), "shift": 6, "sge_shift": 0,
             "sq_shift": 6, "flags": 0, "type": RC, "send_wr": 10, "recv_wr": 10,
             "send_sge": 1, "recv_sge": 1, "inline": 0, "rsvd": 0, "rq_rsvd": 0, "tail": b"",
             "srq": None}
        a.update(kw)
        if a["srq"] is not None:
            a.update({"ring": 0, "idx": 0, "rec": 0, "shift": 0})
        core = struct.pack("QIIIIIIIIIBBBB", 0, pd, cq, cq, a["srq"] or 0, a["send_wr"],
                           a["recv_wr"], a["send_sge"], a["recv_sge"], a["inline"], 0,
                           a["type"], a["srq"] is not None, 0)
        driver = struct.pack("QQQQQBBB5xBB2xI", a["sq"], a["page"], a["ring"], a["idx"],
                             a["rec"], a["shift"], a["sge_shift"], a["rq_rsvd"],
                             a["sq_shift"], a["rsvd"], a["flags"])
        return self.command(CREATE_QP, core, driver + a["tail"], 32 + 8)

    def handle(self):
        return struct.unpack("I", self.out[:4])[0]


def at(arena, offset):
    return arena << 32 | offset


class Report:
    count = failed = 0

    def result(self, ok, name, note=""):
        self.count += 1
        self.failed += not ok
        print("%s %d %s%s" % ("ok" if ok else "not ok", self.count, name,
                              "" if ok else " # " + note), flush=True)

    def expect(self, name, got, want):
        want = want if isinstance(want, tuple) else (want,)
        self.result(got in want, name, "got %d, not %s" % (got, want))


report = Report()


def opened():
    context = Context()
    if context.get() or context.arena(0, MB):
        raise SystemExit("Bail out! no context")
    return context


def test_context():
    for name, args, want in (
            ("unknown version", {"version": 2}, NOSUP), ("unknown flag", {"flags": 1}, NOSUP),
            ("short request", {"cut": 4}, INVAL),
            ("unknown tail", {"tail": b"\1" + bytes(7)}, NOSUP),
            ("longer request that says no more", {"tail": bytes(8)}, 0)):
        context = Context()
        report.expect("context: " + name, context.get(**args), want)
        context.close()
    context = Context()
    report.expect("context: room for more", context.get(room=72), 0)
    ranges = struct.unpack("8I", context.out[40:72])
    report.result(ranges == (900, 901, 16, 0, 0, 0, 0, 0), "context: lock buffers", str(ranges))
    report.result(not any(context.out[72:]), "context: nothing behind them")
    context.close()


def test_arena():
    c = opened()
    for name, args, want in (
            ("number in use", (0, MB), -errno.EBUSY), ("number too high", (MAX_ARENAS, PAGE), INVAL),
            ("number below", (0, PAGE, PROT_RW, MAP_SHARED, ARENA_BASE - 1), INVAL),
            ("offset 0", (0, PAGE, PROT_RW, MAP_SHARED, 0), INVAL),
            ("private", (1, PAGE, PROT_RW, MAP_PRIVATE), INVAL),
            ("executable", (1, PAGE, 7), -errno.EPERM), ("too large", (1, ARENA_MAX + PAGE), INVAL),
            ("highest number", (MAX_ARENAS - 1, PAGE), 0)):
        report.expect("arena: " + name, c.arena(*args), want)
    report.expect("arena: unmapped again", c.arena(2, 2 * PAGE), 0)
    libc.munmap(c.out, 2 * PAGE)
    report.expect("cq in an arena that is not mapped any more", c.cq(at(2, 0), at(2, PAGE)), 0)
    c.close()


def test_cq():
    c = opened()
    last = MB - PAGE
    for name, args, want in (
            ("fine", {}, 0), ("unaligned ring", {"ring": at(0, 32)}, INVAL),
            ("no such arena", {"ring": at(7, 0)}, INVAL),
            ("arena number 2^32-1", {"ring": at(0xffffffff, 0)}, INVAL),
            ("ring that ends at the end", {"ring": at(0, last)}, 0),
            ("ring beyond the end", {"ring": at(0, last + 64)}, INVAL),
            ("offset near 2^32", {"ring": at(0, 0xffffffc0)}, INVAL),
            ("record beyond the end", {"rec": at(0, MB)}, INVAL),
            ("shift 5", {"shift": 5}, INVAL), ("shift 21", {"shift": 21}, INVAL),
            ("shift 2^31 + 6", {"shift": 0x80000006}, INVAL),
            ("ring larger than the arena", {"shift": 20}, INVAL),
            ("more entries than the ring", {"cqe": 65}, INVAL), ("no entries", {"cqe": 0}, INVAL),
            ("2^32-1 entries", {"cqe": 0xffffffff}, INVAL), ("unknown flag", {"flags": 2}, NOSUP),
            ("unknown tail", {"tail": bytes(7) + b"\1"}, NOSUP), ("short", {"cut": 4}, INVAL),
            ("no such vector", {"vector": 4096}, INVAL)):
        a = {"ring": at(0, 0), "rec": at(0, PAGE)}
        a.update(args)
        report.expect("cq: " + name, c.cq(**a), want)
    c.close()


def test_qp():
    c = opened()
    c.pd()
    pd = c.handle()
    c.cq(at(0, 0), at(0, PAGE))
    cq = c.handle()
    for name, args, want in (
            ("fine", {}, 0), ("two queues on one page", {}, 0), ("flag", {"flags": 32}, NOSUP),
            ("reserved byte", {"rsvd": 1}, INVAL), ("reserved byte of rq", {"rq_rsvd": 1}, INVAL),
            ("UD", {"type": UD}, NOSUP), ("UC", {"type": UC}, NOSUP),
            ("sq shift 16", {"sq_shift": 16}, INVAL), ("sq shift 255", {"sq_shift": 255}, INVAL),
            ("rq shift 5", {"shift": 5}, INVAL), ("rq shift 16", {"shift": 16}, INVAL),
            ("sge shift 3", {"sge_shift": 3}, INVAL), ("sge shift 255", {"sge_shift": 255}, INVAL),
            ("more sends than the ring", {"send_wr": 65}, INVAL),
            ("2^32-1 sends", {"send_wr": 0xffffffff}, INVAL),
            ("more receives than the ring", {"recv_wr": 65}, INVAL),
            ("14 send SGEs", {"send_sge": 14}, INVAL), ("5 receive SGEs", {"recv_sge": 5}, INVAL),
            ("209 bytes inline", {"inline": 209}, INVAL),
            ("page off its stride", {"page": at(0, 64)}, INVAL),
            ("page beyond the end", {"page": at(0, MB)}, INVAL),
            ("sq beyond the end", {"sq": at(0, MB - 2048)}, INVAL),
            ("index ring beyond the end", {"idx": at(0, MB)}, INVAL),
            ("unknown flag", {"flags": 32}, NOSUP),
            ("a place in a lock buffer", {"flags": 16}, INVAL),
            ("of type 1", {"tail": bytes(8) + b"\1" + bytes(23)}, INVAL),
            ("with an EID", {"tail": bytes(31) + b"\1"}, INVAL),
            ("send only", {"flags": 5, "tail": bytes(8)}, INVAL),
            ("ordered by the target", {"flags": 9, "tail": bytes(8)}, INVAL),
            ("native without an SRQ", {"flags": 1, "tail": bytes(8)}, INVAL),
            ("a number without being native", {"tail": b"\1" + bytes(7)}, INVAL),
            ("a token without being native", {"tail": bytes(7) + b"\1"}, INVAL),
            ("unknown tail", {"tail": bytes(32) + b"\1" + bytes(7)}, NOSUP)):
        report.expect("qp: " + name, c.qp(pd, cq, **args), want)
    c.close()


def test_native():
    """What URMA has and verbs has not"""
    exists = -errno.EEXIST
    c = opened()
    c.pd()
    pd = c.handle()
    c.cq(at(0, 0), at(0, PAGE))
    cq = c.handle()
    for name, args, want in (
            ("as verbs has it", {"native": False}, 0), ("a number", {"number": 77}, 0),
            ("in use", {"number": 77}, exists), ("beyond the last", {"number": 1 << 20}, exists),
            ("a token for nobody", {"token": 1}, INVAL), ("any", {}, 0)):
        report.expect("srq: " + name, c.srq(pd, **args), want)
    srq = c.handle()
    for name, number, flags, want in (
            ("any number", 0, 1, 0), ("well known", 77, 1, 0), ("in use", 77, 1, exists),
            ("QP1", 1, 1, exists), ("beyond the last", 65536 + 1024, 1, exists),
            ("with a token", 65536 + 1023, 3, 0), ("a token without native", 0, 2, INVAL)):
        tail = struct.pack("II", number, 0xfeedf00d if flags & 1 else 0)
        report.expect("jetty: " + name,
                      c.qp(pd, cq, srq=srq, flags=flags, tail=tail), want)
    for name, number, flags, args, want in (
            ("the first", 900, 17, {}, 0), ("in use", 900, 17, {}, exists),
            ("another number", 902, 17, {}, INVAL), ("any number", 0, 17, {}, INVAL),
            ("with a ring", 901, 17, {"sq": at(0, 8192)}, INVAL),
            ("of another depth", 901, 17, {"sq_shift": 5}, INVAL),
            ("not asked for", 901, 1, {"sq": at(0, 8192)}, INVAL),
            ("not native", 0, 16, {}, INVAL), ("the last", 901, 17, {}, 0)):
        args = {"sq": 0, "sq_shift": 4, **args}
        report.expect("lock buffer: " + name,
                      c.qp(pd, cq, srq=srq, flags=flags, tail=struct.pack("II", number, 0), **args),
                      want)
    test_segments(c, pd)
    test_targets(c, pd, cq, srq)
    c.close()


def test_targets(c, pd, cq, srq):
    """What receives and sends without a connection"""
    busy, gone, away = -errno.EBUSY, -errno.ENOENT, -errno.EADDRNOTAVAIL
    other = opened()
    c.cq(at(0, 0), at(0, PAGE))
    cqn = struct.unpack("II", c.out[8:16])[0]

    def direct(flags, number, token=0, rsvd=0):
        return c.srq(pd, flags=flags, token=token, tail=struct.pack("II", number, rsvd))

    def jetty(flags, kind, group=0, eid=EID, **kw):
        tail = struct.pack("IIII", 0, 0, kind, group) + eid
        kw.setdefault("srq", srq)
        return c.qp(pd, cq, flags=flags, type=DRIVER, tail=tail, **kw)

    jfs = {"srq": None, "ring": 0, "idx": 0, "rec": 0, "shift": 0, "recv_wr": 0, "recv_sge": 0}
    for name, got, want in (
            ("a target of UM", direct(1, cqn), 0), ("of RM, with a token", direct(6, cqn, 5), 0),
            ("without a JFC", direct(1, 0), INVAL), ("no such JFC", direct(1, 99999), INVAL),
            ("a JFC, no target", direct(0, cqn), INVAL), ("a token, no target", direct(4, 0), INVAL),
            ("a token that does not count", direct(1, cqn, 5), INVAL),
            ("reserved word", direct(1, cqn, 0, 1), INVAL), ("unknown flag", direct(8, 0), NOSUP)):
        report.expect("jfr: " + name, got, want)
    report.expect("group: any number", c.group(pd), 0)
    group = c.handle()
    other.pd()
    other.group(other.handle(), 4711)
    for name, got, want in (
            ("in use", c.group(pd, 4711), -errno.EEXIST), ("the last", c.group(pd, 65536), 0),
            ("beyond the last", c.group(pd, 65537), -errno.EEXIST),
            ("unknown policy", c.group(pd, policy=2), NOSUP),
            ("unknown flag", c.group(pd, flags=2), NOSUP),
            ("a token that does not count", c.group(pd, token=1), INVAL),
            ("reserved byte", c.group(pd, rsvd=1), INVAL),
            ("no protection domain", c.group(99999), gone),
            ("free another's", c.free_group(4711), gone), ("free", c.free_group(65536), 0),
            ("free twice", c.free_group(65536), gone), ("free 2^32-1", c.free_group(0xffffffff), gone)):
        report.expect("group: " + name, got, want)
    for name, got, want in (
            ("UM", jetty(1, UM), 0), ("RM", jetty(1, RM), 0), ("of type RC", jetty(1, 2), NOSUP),
            ("raw", jetty(5, RAW, **jfs), 0), ("raw with an SRQ", jetty(1, RAW), INVAL),
            ("raw of 8 blocks", jetty(5, RAW, sq_shift=3, send_wr=1, **jfs), 0),
            ("raw of 4", jetty(5, RAW, sq_shift=2, send_wr=1, **jfs), INVAL),
            ("raw, ordered", jetty(13, RAW, **jfs), INVAL),
            ("raw from another's address", jetty(5, RAW, eid=bytes(16), **jfs), away),
            ("not native", jetty(0, RM), (NOSUP, INVAL)), ("no SRQ", jetty(1, RM, **jfs), INVAL),
            ("another's address", jetty(1, UM, eid=bytes(15) + b"\1"), away),
            ("no address", jetty(1, RM, eid=bytes(16)), away),
            ("RM, ordered by the target", jetty(9, RM), 0), ("UM likewise", jetty(9, UM), INVAL),
            ("ordered JFS", jetty(13, RM, **jfs), 0), ("unknown flag", jetty(33, RM), NOSUP),
            ("a place in a lock buffer", jetty(17, RM), INVAL),
            ("JFS", jetty(5, RM, **jfs), 0), ("JFS with an SRQ", jetty(5, UM), INVAL),
            ("JFS with a token", jetty(7, UM, **jfs), INVAL),
            ("JFS in a group", jetty(5, UM, group, **jfs), INVAL),
            ("JFS with receives", jetty(5, UM, **{**jfs, "recv_wr": 1}), INVAL),
            ("in a group", jetty(1, UM, group), 0), ("no such group", jetty(1, UM, 77), gone),
            ("another's group", jetty(1, UM, 4711), gone),
            ("of the other type", jetty(1, RM, group), INVAL)):
        report.expect("jetty: " + name, got, want)
    report.expect("group: free with a member", c.free_group(group), busy)
    for name, got, want in (
            ("UM", c.target("::ffff:10.9.0.2", UM), 0), ("RM", c.target("::ffff:10.9.0.2", RM), 0),
            ("once more", c.target("::ffff:10.9.0.2", RM), 0),
            ("type 2", c.target("::ffff:10.9.0.2", 2), NOSUP),
            ("reserved word", c.target("::ffff:10.9.0.2", RM, rsvd=1), INVAL),
            ("not from here", c.target("::ffff:10.9.0.2", RM, bytes(16)), away),
            ("multicast", c.target("ff02::1", RM), away), ("nowhere", c.target("::", UM), away),
            ("other family", c.target("fd00:77::1", RM), (-errno.ENETUNREACH, INVAL)),
            ("no route", c.target("2001:db8::1", UM, EID6), -errno.ENETUNREACH)):
        report.expect("target: " + name, got, want)
    other.close()


def test_segments(c, pd):
    buf = libc.mmap(None, MB, PROT_RW, MAP_PRIVATE | MAP_ANON, -1, 0)
    other = opened()

    def segment(flags, token_id, token=0xdeadbeef, rsvd=0, va=4711, tail=b""):
        return c.mr(pd, buf, PAGE, buf, LOCAL | READ,
                    struct.pack("IIIIQ", flags, token_id, token, rsvd, va) + tail)

    report.expect("token id: reserve", c.alloc_token(), 0)
    mine = c.handle()
    other.alloc_token()
    foreign = other.handle()
    for name, got, want in (
            ("any TokenID", segment(1, 0), 0), ("reserved one", segment(3, mine), 0),
            ("once more", segment(1, mine), -errno.EEXIST),
            ("of another context", segment(1, foreign), -errno.ENOENT),
            ("never reserved", segment(1, 0xfffff), -errno.ENOENT),
            ("2^32-1", segment(1, 0xffffffff), -errno.ENOENT),
            ("unknown flag", segment(5, 0), NOSUP), ("no token, not native", segment(2, 0), INVAL),
            ("an id, not native", segment(0, mine, 0, 0, 0), INVAL),
            ("nothing, not native", segment(0, 0, 0, 0, 0), 0),
            ("reserved word", segment(1, 0, 1, 1), INVAL),
            ("address that wraps", segment(1, 0, 1, 0, (1 << 64) - 1), INVAL),
            ("unknown tail", segment(1, 0, tail=bytes(7) + b"\1"), NOSUP)):
        report.expect("segment: " + name, got, want)
    for name, got, want in (
            ("free in use", c.free_token(mine), -errno.EBUSY),
            ("free another's", c.free_token(foreign), -errno.ENOENT),
            ("free its own", other.free_token(foreign), 0),
            ("free twice", other.free_token(foreign), -errno.ENOENT)):
        report.expect("token id: " + name, got, want)
    other.alloc_token() # left to the end of the context
    other.close()


def test_tm():
    """Traffic management, and who may"""
    port, group, queue, jetty = 1, 2, 5, 6
    c = opened()
    tree = lambda: (c.tm_query(port), c.out, c.tm_query(group), c.out)
    report.expect("tm: no port yet", c.tm_query(port), -errno.ENOENT)
    report.expect("tm: a port", c.tm(CREATE, port, peak=2000, burst=3), 0)
    report.expect("tm: a group", c.tm(CREATE, group, 31, weight=1), 0)
    report.expect("tm: query", c.tm_query(port), 0)
    report.result(c.out == tm_ctx(peak=2000, burst=3), "tm: the answer", c.out.hex())
    before = tree()
    os.seteuid(65534)
    report.expect("tm: query by anybody", c.tm_query(port), 0)
    for name, verb in (("create", CREATE), ("modify", MODIFY), ("destroy", DESTROY)):
        report.expect("tm: %s by anybody" % name, c.tm(verb, port), -errno.EPERM)
    os.seteuid(0)
    for name, got, want in (
            ("query as a verb", c.tm(6, port), NOSUP), ("no verb", c.tm(0, port), NOSUP),
            ("verb 2^32-1", c.tm(0xffffffff, port), NOSUP),
            ("reserved word", c.tm(MODIFY, port, 0, 4, 1), INVAL),
            ("reserved word of the context", c.tm(MODIFY, port, 0, 4, tail=1), INVAL),
            ("a mask of create", c.tm(CREATE, group, 0, 4, weight=1), INVAL),
            ("a mask of destroy", c.tm(DESTROY, group, 31, 4), INVAL),
            ("a context of destroy", c.tm(DESTROY, group, 31, weight=1), INVAL),
            ("a short context", c.tm(MODIFY, port, 0, 4, cut=4), INVAL),
            ("level 0", c.tm(CREATE, 0), INVAL), ("level 255", c.tm(CREATE, 255), INVAL),
            ("group 32", c.tm(CREATE, group, 32, weight=1), INVAL),
            ("rate", c.tm(MODIFY, port, 0, 4, peak=999), INVAL),
            ("a port's weight", c.tm(MODIFY, port, 0, 2, weight=2), NOSUP),
            ("mask 2^32-1", c.tm(MODIFY, port, 0, 0xffffffff), NOSUP),
            ("it exists", c.tm(CREATE, port), -errno.EEXIST),
            ("it has children", c.tm(DESTROY, port), -errno.EBUSY),
            ("a queue", c.tm(CREATE, queue, 0), NOSUP),
            ("no such jetty", c.tm(CREATE, jetty, 0xffffff, parent=0xffffffff), -errno.ENOENT),
            ("query of level 0", c.tm_query(0), -errno.ENOENT),
            ("query of level 255", c.tm_query(255), -errno.ENOENT),
            ("query with little room", c.tm_query(port, room=64), INVAL)):
        report.expect("tm: " + name, got, want)
    report.result(tree() == before, "tm: nothing has changed", "%s" % (tree(),))
    report.expect("tm: modify", c.tm(MODIFY, port, 0, 4, peak=1000), 0)
    report.expect("tm: the group goes", c.tm(DESTROY, group, 31), 0)
    report.expect("tm: the port goes", c.tm(DESTROY, port), 0)
    report.expect("tm: and is gone", c.tm(DESTROY, port), -errno.ENOENT)
    c.close()


def test_mr():
    c = opened()
    c.pd()
    pd = c.handle()
    buf = libc.mmap(None, 4 * MB, PROT_RW, MAP_PRIVATE | MAP_ANON, -1, 0)
    for name, args, want in (
            ("all rights, odd start", (buf + 100, 100000, buf + 100,
                                       LOCAL | WRITE | READ | ATOMIC), 0),
            ("length 0", (buf, 0, buf, LOCAL), INVAL),
            ("length 2^64-1", (buf, (1 << 64) - 1, buf, LOCAL), INVAL),
            ("iova that wraps", (buf, 2 * PAGE, (1 << 64) - PAGE, LOCAL), INVAL),
            ("memory that is not there", (PAGE, 2 * PAGE, PAGE, LOCAL), -errno.EFAULT),
            ("64 TiB", (buf, 1 << 46, buf, LOCAL), (-errno.EFAULT, -errno.ENOMEM, INVAL)),
            ("remote write without local write", (buf, PAGE, buf, WRITE), INVAL),
            ("on demand", (buf, PAGE, buf, LOCAL | ODP), (NOSUP, INVAL)),
            ("memory windows", (buf, PAGE, buf, LOCAL | MW), NOSUP),
            ("zero based", (buf, PAGE, buf, LOCAL | ZERO), NOSUP)):
        report.expect("mr: " + name, c.mr(pd, *args), want)
    libc.munmap(buf, 4 * MB)
    c.close()


def sweep(name, call):
    """call() with its first, second ... allocation failing, until none is left to fail"""
    seen = set()
    for fault.nth in range(1, 300):
        seen.add(call())
        if not fault.reached:
            break
    points, fault.nth = fault.nth - 1, 0
    report.result(seen <= {0, -errno.ENOMEM} and 0 in seen and points > 0,
                  "%s: each of %d allocations may fail" % (name, points), "gave %s" % seen)


def get_context():
    context = Context()
    ret = context.get()
    context.close()
    return ret


def test_faults():
    c = opened()
    numbers = iter(range(1, MAX_ARENAS))
    buf = libc.mmap(None, MB, PROT_RW, MAP_PRIVATE | MAP_ANON, -1, 0)
    c.pd()
    pd = c.handle()
    c.cq(at(0, 0), at(0, PAGE))
    cq = c.handle()
    sweep("context", get_context)
    sweep("arena", lambda: c.arena(next(numbers), 16 * PAGE))
    sweep("pd", c.pd)
    sweep("cq", lambda: c.cq(at(0, 0), at(0, PAGE)))
    sweep("qp", lambda: c.qp(pd, cq))
    sweep("mr", lambda: c.mr(pd, buf, 300000, buf, LOCAL | WRITE | READ))
    sweep("token id", c.alloc_token)
    sweep("srq", lambda: c.srq(pd))
    sweep("group", lambda: c.group(pd))
    hosts = iter(range(2, 250))
    sweep("target", lambda: c.target("::ffff:10.9.0.%d" % next(hosts), RM))
    c.srq(pd)
    srq = c.handle()
    sweep("RM jetty", lambda: c.qp(pd, cq, srq=srq, flags=1, type=DRIVER,
                                   tail=struct.pack("IIII", 0, 0, RM, 0) + EID))
    c.close()


def main():
    print("TAP version 14")
    for test in (test_context, test_arena, test_cq, test_qp, test_native, test_tm, test_mr):
        test()
    if os.path.exists(Fault.path):
        test_faults()
    print("1..%d" % report.count)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
