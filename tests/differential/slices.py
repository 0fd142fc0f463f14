"""Mach-O slices with DWARF: cut out, described, and without their symbol table."""
import os
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "tool"))
from macho import LC_DYSYMTAB, LC_SYMTAB, Image  # noqa: E402

ABI64, ABI64_32 = 0x01000000, 0x02000000
ARCHS = {
    (7, 3): "i386", (7 | ABI64, 3): "x86_64", (7 | ABI64, 8): "x86_64h",
    (12, 6): "armv6", (12, 9): "armv7", (12, 10): "armv7f", (12, 11): "armv7s", (12, 12): "armv7k",
    (12 | ABI64, 0): "arm64", (12 | ABI64, 1): "arm64v8", (12 | ABI64, 2): "arm64e",
    (12 | ABI64_32, 0): "arm64_32", (12 | ABI64_32, 1): "arm64_32",
}
MH_OBJECT = 1
N_STAB = 0xE0
INSTRUCTIONS = 0x80000400  # S_ATTR_PURE_INSTRUCTIONS | S_ATTR_SOME_INSTRUCTIONS


def parts_of(data):
    """The thin images in the file: [bytes]."""
    if len(data) < 28:
        return []
    magic = struct.unpack_from(">I", data)[0]
    if magic in (0xCEFAEDFE, 0xCFFAEDFE):
        return [data]
    if magic not in (0xCAFEBABE, 0xCAFEBABF):
        return []
    count = struct.unpack_from(">I", data, 4)[0]
    step, fields = (20, ">II") if magic == 0xCAFEBABE else (32, ">QQ")
    if count > 40:  # a Java class file has the same magic
        return []
    places = [struct.unpack_from(fields, data, 8 + i * step + 8) for i in range(count)]
    return [data[at:at + size] for at, size in places if len(data[at:at + size]) >= 28]


def inflate(image):
    """Decompresses the sections of compressed debug info, which LLVM does not read, and appends them to the
    file."""
    for segment in image.segments:
        for section in segment.sections:
            body = image.content(section)
            if not section.name.startswith("__zdebug_") or body[:4] != b"ZLIB":
                continue
            plain = zlib.decompress(body[12:])
            section.name = "__" + section.name[3:]
            section.set_name(image, section.name)
            place = len(image.data) - segment.fileoff  # bytes and addresses of a segment lie side by side
            section.addr, section.size, section.offset = segment.vmaddr + place, len(plain), len(image.data)
            section.set_place(image, section.addr, section.size, section.offset)
            image.data += plain
            segment.filesize = place + len(plain)
            segment.vmsize = max(segment.vmsize, segment.filesize)
            segment.set_size(image, segment.vmsize, segment.filesize)


class Slice:
    def __init__(self, path, data):
        self.path = path
        self.image = Image(data)
        self.arch = ARCHS.get((self.image.cputype, self.image.cpusubtype & 0xFFFFFF))
        inflate(self.image)

    def is_object(self):
        """Relocations of an object file refer to its symbols, so it has no copy without them."""
        return self.image.filetype == MH_OBJECT

    def text(self):
        """Executable sections as (address, size)."""
        step = 64 if self.image.is64 else 56
        found = []
        for s in self.image.sections():
            flags = struct.unpack_from("<I", self.image.data, s.at + step)[0]
            if flags & INSTRUCTIONS and s.size:
                found.append((s.addr, s.size))
        return found

    def places(self):
        return [(s.addr, s.size) for s in self.image.sections() if s.size]

    def symbols(self):
        """{address: names}, one leading underscore dropped (but from __hidden#N_); only symbols defined in
        a section."""
        at, found = self.image.command(LC_SYMTAB), {}
        if at is None:
            return found
        symoff, count, stroff, strsize = struct.unpack_from("<4I", self.image.data, at + 8)
        strings = bytes(self.image.data[stroff:stroff + strsize])
        fields, step = ("<IBBHQ", 16) if self.image.is64 else ("<IBBHI", 12)
        for i in range(count):
            strx, kind, section, _, value = struct.unpack_from(fields, self.image.data, symoff + i * step)
            end = strings.find(b"\0", strx)
            if kind & N_STAB == 0 and section and end >= 0:
                name = strings[strx:end].decode(errors="replace")
                plain = name[1:] if name.startswith("_") and not name.startswith("__hidden#") else name
                found.setdefault(value, set()).add(plain)
        return found

    def write(self, path):
        with open(path, "wb") as f:
            f.write(self.image.data)

    def write_without_symbols(self, path):
        data = bytearray(self.image.data)
        at = self.image.command(LC_SYMTAB)
        if at is not None:
            struct.pack_into("<I", data, at + 12, 0)
        at = self.image.command(LC_DYSYMTAB)
        if at is not None:
            struct.pack_into("<18I", data, at + 8, *[0] * 18)
        with open(path, "wb") as f:
            f.write(data)


def slices_in(path):
    """Every slice of the file that holds .debug_info, plain or compressed; damaged files hold none."""
    try:
        with open(path, "rb") as f:
            parts = parts_of(f.read())
    except OSError:
        return []
    found = []
    for part in parts:
        try:
            one = Slice(path, part)
        except (AssertionError, struct.error, UnicodeDecodeError):
            continue
        info = one.image.section("__debug_info")
        if one.arch and info is not None and info.size:
            found.append(one)
    return found
