#!/usr/bin/env python3
"""A kernel collection whose images have their tables together, so that each of them takes memory for all.

usage: collection.py OUT ADDRESSES IMAGES [over]

Image kN has a page of its own with the function kN_fN, and says that a function begins at each of its instructions. ADDRESSES gets
lines of an address and what `machsym atos` says of it, image after image, then all again from the end. With `over` each image says
that it has the code of all before it.
"""
import struct
import sys

PAGE = 0x40000
STARTS = PAGE // 4
BASE = 0xFFFFFE0007000000


def segment(name, addr, size):
    fields = struct.pack("<II16sQQQQIIII", 0x19, 152, name.encode().ljust(16, b"\0"), addr, size, 0, 0, 5, 5, 1, 0)
    return fields + struct.pack("<16s16sQQ8I", b"__text", name.encode().ljust(16, b"\0"), addr, size, 0, 0, 0, 0, 0x80000400, 0, 0, 0)


def main(out, addresses, images, over=None):
    images = int(images)
    names = [b"k%05d\0" % i for i in range(images)]
    image = 32 + 152 + 24 + 16
    entries = b"".join(
        struct.pack("<IIQQII", 0x80000035, 40, BASE + i * PAGE, 32 + images * 40 + i * image, 32, 0) + name.ljust(8, b"\0")
        for i, name in enumerate(names))
    at = 32 + images * (40 + image)
    strings, table, lines = b"\0", b"", []
    for i in range(images):
        table += struct.pack("<IBBHQ", len(strings), 0x0F, 1, 0, BASE + i * PAGE + 16 * i)
        strings += b"_k%05d_f%d\0" % (i, i)
        lines.append("%x k%05d_f%d (in k%05d) + 0\n" % (BASE + i * PAGE + 16 * i, i, i, i))
    strings_at = at + len(table)
    tables = struct.pack("<6I", 2, 24, at, images, strings_at, len(strings))
    tables += struct.pack("<4I", 0x26, 16, strings_at + len(strings), STARTS)
    inner = b""
    for i in range(images):
        begin = 0 if over else i
        text = segment("__TEXT", BASE + begin * PAGE, (i + 1 - begin) * PAGE)
        inner += struct.pack("<8I", 0xFEEDFACF, 0x100000C, 0, 11, 3, len(text + tables), 0, 0) + text + tables
    head = struct.pack("<8I", 0xFEEDFACF, 0x100000C, 0, 12, images, len(entries), 0, 0)
    with open(out, "wb") as f:
        f.write(head + entries + inner + table + strings + b"\4" * (STARTS - 1) + b"\0")
    with open(addresses, "w") as f:
        f.writelines(lines + lines[::-1])


main(*sys.argv[1:])
