#!/usr/bin/env python3
"""Small caches that make `machsym cache extract` and `machsym map build` work on what no builder writes.

usage: hostile.py OUT KIND [IMAGES]

names    4,096 symbols share one name of 128 KB: half a gigabyte if each got its own
symtabs  two symbol tables
indirect two tables of indirect symbols
methods  a method list at the very end of all addresses, of an image at their begin
names-of-one    IMAGES names of one image
over-each-other IMAGES images with UUIDs of their own and one table of 20,000 symbols for all
"""
import struct
import sys

TEXT, LINKEDIT = 0x1000, 0x2000  # offsets in the file
NAME = b"\0" + b"a" * (1 << 17) + b"\0"


def name16(text):
    return text.encode().ljust(16, b"\0")


def segment(name, addr, off, size, sections=b""):
    return struct.pack("<II16sQQQQIIII", 0x19, 72 + len(sections), name16(name), addr, size, off, size, 7, 5, len(sections) // 80, 0) + sections


def section(name, addr, size, flags):
    return struct.pack("<16s16sQQIIIIIIII", name16(name), name16("__TEXT"), addr, size, TEXT, 0, 0, 0, flags, 0, 0, 0)


def image(kind, base):
    """The header and load commands, and what is in __LINKEDIT."""
    count = 4096 if kind == "names" else 1
    symbols = struct.pack("<IBBHQ", 1, 0x0E, 1, 0, base + 0xF00) * count
    strings = NAME if kind == "names" else b"\0_one\0\0\0"
    linkedit = symbols + strings
    sections = section("__text", base + 0xF00, 0x100, 0x80000400)
    if kind == "methods":
        sections += section("__objc_methlist", (1 << 64) - 8, 0x1000, 0)
    symtab = struct.pack("<IIIIII", 2, 24, LINKEDIT, count, LINKEDIT + len(symbols), len(strings))
    dysymtab = struct.pack("<II18I", 0xB, 80, *[0] * 12, LINKEDIT, 1, *[0] * 4)
    commands = [
        segment("__TEXT", base, TEXT, 0x1000, sections),
        segment("__LINKEDIT", base + 0x1000, LINKEDIT, len(linkedit)),
    ]
    commands += [symtab] * (2 if kind == "symtabs" else 1) + [dysymtab] * (2 if kind == "indirect" else 1)
    header = struct.pack("<IIIIIIII", 0xFEEDFACF, 0x0100000C, 0, 6, len(commands), sum(map(len, commands)), 0x80000000, 0)
    return header + b"".join(commands), linkedit


def many(out, kind, count):
    base, symbols, room = 0x180000000, 20000, 328
    own = 1 if kind == "names-of-one" else count
    paths = b"".join(b"/usr/lib/lib%06d.dylib\0" % i for i in range(count))
    lists, at = 0x88, 0x88 + 32 * count
    text = (at + len(paths) + 0xFFF) & ~0xFFF
    code = (own * room + 0xFFF) & ~0xFFF
    linkedit = text + code + 20 * symbols
    table = b"".join(struct.pack("<IBBHQ", 1 + 8 * i, 0x0F, 1, 0, base + code + 16 * i) for i in range(symbols))
    strings = b"\0" + b"".join(b"_f%05d\0" % i for i in range(symbols))
    images = b""
    for i in range(own):
        commands = [
            segment("__TEXT", base + room * i, text + room * i, code + 20 * symbols - room * i, section("__text", base + code, 16 * symbols, 0x80000400)),
            segment("__LINKEDIT", base + code + 20 * symbols, linkedit, len(table) + len(strings)),
            struct.pack("<IIIIII", 2, 24, linkedit, symbols, linkedit + len(table), len(strings)),
            struct.pack("<II16s", 0x1B, 24, b"an image's %5d" % i),
        ]
        images += struct.pack("<IIIIIIII", 0xFEEDFACF, 0x0100000C, 0, 6, 4, sum(map(len, commands)), 0x80000000, 0) + b"".join(commands)
        images = images.ljust(room * (i + 1), b"\0")
    header = bytearray(0x68)
    header[0:16] = b"dyld_v1   arm64\0"
    struct.pack_into("<IIII", header, 0x10, 0x68, 1, lists, count)
    end = linkedit + len(table) + len(strings)
    file = bytes(header) + struct.pack("<QQQII", base, end - text, text, 5, 5)
    file += b"".join(struct.pack("<QQQII", base + (i % own) * room, 0, 0, at + 25 * i, 0) for i in range(count))
    file = (file + paths).ljust(text, b"\0") + images
    with open(out, "wb") as f:
        f.write(file.ljust(linkedit, b"\0") + table + strings)


def main(out, kind, count=0):
    if count:
        many(out, kind, int(count))
        return
    base = 0 if kind == "methods" else 0x180000000
    text, linkedit = image(kind, base)
    header = bytearray(0x68)
    header[0:16] = b"dyld_v1   arm64\0"
    struct.pack_into("<IIII", header, 0x10, 0x68, 1, 0x88, 1)
    file = bytes(header) + struct.pack("<QQQII", base, 0x1000 + len(linkedit), TEXT, 5, 5)
    file += struct.pack("<QQQII", base, 0, 0, 0xA8, 0) + b"/usr/lib/libhostile.dylib\0"
    file = file.ljust(TEXT, b"\0") + text.ljust(0x1000, b"\0") + linkedit
    with open(out, "wb") as f:
        f.write(file)


main(*sys.argv[1:])
