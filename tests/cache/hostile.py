#!/usr/bin/env python3
"""Small caches of one image that make `machsym cache extract` work on what no builder writes.

usage: hostile.py OUT KIND

names    4,096 symbols share one name of 128 KB: half a gigabyte if each got its own
symtabs  two symbol tables
indirect two tables of indirect symbols
methods  a method list at the very end of all addresses, of an image at their begin
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


def main(out, kind):
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
