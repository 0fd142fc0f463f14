#!/usr/bin/env python3
"""Minidumps of the demo program, written from the documented layout: learn.microsoft.com, minidumpapiset.h; minidump_format.h of
Breakpad (streams of 0x4767, contexts); minidump_extensions.h of Crashpad (streams of 0x4350). Nothing is copied.
usage: minidump.py FOLDER: writes the samples of tests/fixtures/services there"""
import struct
import sys

sys.path.insert(0, "tests/fixtures/tool")
from reports import LOAD, STACK, UUID  # noqa: E402

SYSTEM, MODULES, THREADS, MEMORY, EXCEPTION, MEMORY64, UNLOADED, MISC, NAMES = 7, 4, 3, 5, 6, 9, 14, 15, 24
CRASHPAD, BREAKPAD, ASSERTION = 0x43500001, 0x47670001, 0x47670002
MAC, IOS, NT, LINUX = 0x8101, 0x8102, 2, 0x8201
AMD64, ARM64, ARM64_OLD = 9, 12, 0x8003
STACK_BASE = 0x16FDFF000
TIME = 1773476813
X86_64 = ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi"] + ["r%d" % i for i in range(8, 16)] + ["rip"]


def guid(text):
    """A UUID as Microsoft stores it: the first three numbers little endian."""
    raw = bytes.fromhex(text.replace("-", ""))
    return raw[3::-1] + raw[5:3:-1] + raw[7:5:-1] + raw[8:]


def arm64(registers, old=False):
    """Crashpad's context, or Breakpad's first one."""
    iregs = [registers.get("x%d" % i, 0x11 * i) for i in range(29)] + [registers.get(name, 0) for name in ("fp", "lr", "sp", "pc")]
    cpsr = registers.get("cpsr", 0x60001000)
    if old:
        return struct.pack("<Q33QI", 0x80000006, *iregs, cpsr).ljust(796, b"\0")
    return struct.pack("<II33Q", 0x400007, cpsr, *iregs).ljust(792, b"\0")


def x86_64(registers):
    values = [registers.get(name, 0x11 * i) for i, name in enumerate(X86_64)]
    head = struct.pack("<48xII6HI48x", 0x10000F, 0x1F80, 0x2B, 0, 0, 0, 0, 0x23, registers.get("rfl", 0x246))
    return (head + struct.pack("<17Q", *values)).ljust(1232, b"\0")


class Dump:
    """A file that grows: add() puts bytes somewhere and tells where, stream() makes one of the directory."""

    def __init__(self, streams, time=TIME):
        self.data = bytearray(32 + 12 * streams)
        self.count, self.room = 0, streams
        struct.pack_into("<4sIIIIIQ", self.data, 0, b"MDMP", 0xA793, streams, 32, 0, time, 0)

    def add(self, content, align=4):
        self.data += bytes(-len(self.data) % align)
        self.data += content
        return len(self.data) - len(content)

    def located(self, content):
        return struct.pack("<II", len(content), self.add(content)) if content else bytes(8)

    def stream(self, kind, content):
        assert self.count < self.room
        struct.pack_into("<III", self.data, 32 + 12 * self.count, kind, len(content), self.add(content))
        self.count += 1

    def utf16(self, text):
        raw = text.encode("utf-16-le")
        return self.add(struct.pack("<I", len(raw)) + raw + b"\0\0")

    def utf8(self, text):
        raw = text.encode()
        return self.add(struct.pack("<I", len(raw)) + raw + b"\0")

    # ---- Streams ----

    def system(self, processor, platform, version, build):
        self.stream(SYSTEM, struct.pack("<HHHBBIIIIIHH24x", processor, 0, 0, 8, 1, *version, platform, self.utf16(build), 0, 0))

    def misc(self, pid, started, flags=3):
        self.stream(MISC, struct.pack("<6I", 24, flags, pid, started, 0, 0))

    def module(self, base, size, path, uuid=None, record=None):
        if uuid is not None:
            record = b"RSDS" + guid(uuid) + struct.pack("<I", 0) + path.split("/")[-1].encode() + b"\0"
        name = self.utf16(path)
        return struct.pack("<QIIII52x", base, size, 0, 0, name) + self.located(record or b"") + bytes(8 + 16)

    def modules(self, modules, pad=False):
        self.stream(MODULES, struct.pack("<I", len(modules)) + (bytes(4) if pad else b"") + b"".join(modules))

    def unloaded(self, modules, header=12, size=24):
        """modules: (base, size, path). header and size: of a newer version, if they are larger"""
        records = b"".join(struct.pack("<QIIII", base, length, 0, 0, self.utf16(path)).ljust(size, b"\xee") for base, length, path in modules)
        self.stream(UNLOADED, struct.pack("<III", header, size, len(modules)).ljust(header, b"\xee") + records)

    def memory(self, ranges):
        """ranges: (address, bytes)"""
        self.stream(MEMORY, struct.pack("<I", len(ranges)) + b"".join(struct.pack("<Q", at) + self.located(raw) for at, raw in ranges))

    def memory64(self, ranges):
        at = self.add(b"".join(raw for _, raw in ranges))
        self.stream(MEMORY64, struct.pack("<QQ", len(ranges), at) + b"".join(struct.pack("<QQ", *pair) for pair in
                                                                              ((where, len(raw)) for where, raw in ranges)))

    def thread(self, number, context, stack=None):
        where, raw = stack or (0, b"")
        return struct.pack("<IIIIQQ", number, 0, 0, 0, 0, where) + self.located(raw) + self.located(context)

    def threads(self, threads, pad=False):
        self.stream(THREADS, struct.pack("<I", len(threads)) + (bytes(4) if pad else b"") + b"".join(threads))

    def names(self, names):
        self.stream(NAMES, struct.pack("<I", len(names)) + b"".join(struct.pack("<IQ", number, self.utf16(name)) for number, name in names))

    def exception(self, thread, code, flags, address, information, context):
        values = list(information) + [0] * (15 - len(information))
        self.stream(EXCEPTION, struct.pack("<IIIIQQII15Q", thread, 0, code, flags, 0, address, len(information), 0, *values) +
                    self.located(context))

    def simple(self, pairs):
        return struct.pack("<I", len(pairs)) + b"".join(struct.pack("<II", self.utf8(key), self.utf8(value)) for key, value in pairs)

    def objects(self, objects):
        """objects: (name, type, text)"""
        return struct.pack("<I", len(objects)) + b"".join(struct.pack("<IHHI", self.utf8(name), kind, 0, self.utf8(value))
                                                           for name, kind, value in objects)

    def crashpad(self, report, client, pairs, modules):
        """modules: (index, messages, pairs, objects)"""
        links = b""
        for index, messages, simple, objects in modules:
            texts = struct.pack("<I%dI" % len(messages), len(messages), *[self.utf8(text) for text in messages])
            info = struct.pack("<I", 1) + self.located(texts) + self.located(self.simple(simple)) + self.located(self.objects(objects))
            links += struct.pack("<I", index) + self.located(info)
        self.stream(CRASHPAD, struct.pack("<I", 1) + guid(report) + guid(client) + self.located(self.simple(pairs)) +
                    self.located(struct.pack("<I", len(modules)) + links) + struct.pack("<IQ", 0, 0))

    def breakpad(self, dumping, asking):
        self.stream(BREAKPAD, struct.pack("<III", 3, dumping, asking))

    def assertion(self, expression, function, file, line):
        self.stream(ASSERTION, b"".join(text.encode("utf-16-le").ljust(256, b"\0") for text in (expression, function, file)) +
                    struct.pack("<II", line, 0))


def frames(returns, base=STACK_BASE, gap=0x20):
    """A stack whose records of frames have these return addresses, the innermost first: its bytes, and where the first record is."""
    raw = bytearray(0x10)
    for i, back in enumerate(returns):
        above = base + len(raw) + 16 + gap if i + 1 < len(returns) else 0
        raw += struct.pack("<QQ", above, back) + bytes(gap)
    return bytes(raw), base + 0x10


APP = "/private/var/containers/Bundle/Application/0C1D/Demo Player.app/demo"
DYLD = ("/usr/lib/dyld", 0x1B0000000, "00010203-0405-0607-0809-0A0B0C0D0E0F")
REPORT, CLIENT = "10111213-1415-1617-1819-1A1B1C1D1E1F", "20212223-2425-2627-2829-2A2B2C2D2E2F"


def crashpad():
    """What Crashpad writes on an iPhone: two threads. The second one reads from 0x8."""
    trap, play, block, main = STACK
    dump = Dump(9)
    stack, fp = frames([play, block, main])
    crashed = arm64({"pc": trap, "sp": STACK_BASE, "fp": fp, "lr": play, "x0": 0})
    other, other_fp = frames([block, main], STACK_BASE + 0x10000)
    dump.system(ARM64, IOS, (17, 4, 0), "21E219")
    dump.misc(412, TIME - 2)
    dump.modules([dump.module(LOAD, 0x4000, APP, UUID), dump.module(DYLD[1], 0x90000, DYLD[0], DYLD[2])])
    dump.threads([dump.thread(771, arm64({"pc": play, "sp": STACK_BASE + 0x10000, "fp": other_fp}), (STACK_BASE + 0x10000, other)),
                  dump.thread(772, crashed, (STACK_BASE, stack))])
    dump.names([(771, "main"), (772, "CrPlayer")])
    dump.memory([(STACK_BASE, stack), (STACK_BASE + 0x10000, other), (LOAD, bytes(64))])
    dump.exception(772, 1, 1, 8, [1, 1, 8], crashed)
    dump.crashpad(REPORT, CLIENT, [("_version", "1.2"), ("user", "7\n0   not 0x0000000102a30aec a frame")],
                  [(0, [], [("mode", "shuffle")], [("ptype", 1, "player"), ("blob", 0x8001, "\1\2")]),
                   (1, ["dyld: lazy symbol binding failed"], [], [])])
    dump.stream(0x12345, b"of a kind that nobody knows")
    return bytes(dump.data)


def breakpad():
    """What Breakpad writes: its first context for arm64, codes in the record's own fields, lists that are aligned."""
    trap, play, block, main = STACK
    dump = Dump(6)
    stack, fp = frames([play, block, main])
    crashed = arm64({"pc": trap, "sp": STACK_BASE, "fp": fp, "lr": play, "x0": 0}, old=True)
    dump.system(ARM64_OLD, MAC, (14, 3, 1), "23D60")
    dump.modules([dump.module(LOAD, 0x4000, "/Applications/Demo Player.app/Contents/MacOS/demo", UUID)], pad=True)
    dump.threads([dump.thread(0x507, crashed, (STACK_BASE, stack))], pad=True)
    dump.exception(0x507, 1, 2, 0x8, [], crashed)
    dump.breakpad(0x1103, 0x507)
    dump.assertion("item != NULL", "-[Player skip:]", "player.mm", 19)
    return bytes(dump.data)


def main(folder):
    for name, content in (("crashpad.dmp", crashpad()), ("breakpad.dmp", breakpad())):
        with open("%s/%s" % (folder, name), "wb") as file:
            file.write(content)


if __name__ == "__main__":
    main(sys.argv[1])
