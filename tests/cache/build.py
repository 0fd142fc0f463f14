#!/usr/bin/env python3
"""Builds the dyld shared caches that tests read: build.py DYLIBS OUTDIR [NAME...]

DYLIBS is tests/fixtures/bin/cache. OUTDIR/NAME/ gets a cache for each variant of variants.py (or for those named), and
truth.tsv: what must be found in it, from what LLVM's tools said of the dylibs before they went in. README.md tells the rest.
"""
import hashlib
import os
import struct
import sys

sys.dont_write_bytecode = True
import slide  # noqa: E402
from dylib import (LC_CHAINED_FIXUPS, LC_DATA_IN_CODE, LC_DYLD_INFO_ONLY, LC_DYSYMTAB, LC_EXPORTS_TRIE,  # noqa: E402
                   LC_FUNCTION_STARTS, LC_SYMTAB, LC_UUID, N_EXT, N_SECT, N_STAB, N_TYPE, Dylib, uleb_bytes, write_trie)
from objc import optimise  # noqa: E402
from variants import IMAGES, LARGE, VARIANTS  # noqa: E402

HEADER = 0x10000 # room for the header and its tables: nothing points to the first 64 KB of a cache (slide info 4)
SEGMENT_PAGE = 0x4000
STRIDE = 0x1000000 # from one mapping to the next: an address between two belongs to nothing
AUTH_DATA, CONST_DATA = 1, 4
SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "src", "cache")
SWIFT = [os.path.join(SOURCES, "barn.tsv"), os.path.join(SOURCES, "meadow.tsv")]
IN_CACHE = 0x80000000 # MH_DYLIB_IN_CACHE
DROPPED = (LC_CHAINED_FIXUPS, 0x1D, 0x1E) # fixups, code signature, split info
PROTECTION = {"text": 5, "header": 1, "const": 3, "data": 3, "linkedit": 1}


def align(n, to):
    return (n + to - 1) // to * to


class Region:
    """One mapping of one file."""

    def __init__(self, kind, address):
        self.kind, self.address = kind, address
        self.data = bytearray()
        self.off = 0
        self.pointers = {} # offset: (target, top byte, authenticated)
        self.slide_off = self.slide_size = 0

    def end(self):
        return self.address + len(self.data)

    def holds(self, address):
        return self.address <= address < self.end()


class File:
    def __init__(self, suffix, name, spread):
        self.suffix, self.regions = suffix, []
        self.spread = spread # from one mapping to the next in the file
        self.uuid = hashlib.md5((name + suffix).encode()).digest()
        self.tail = b"" # after the mappings
        self.linkedit = None

    def lay_out(self):
        off = 0
        for r in self.regions:
            r.data.extend(bytes(align(len(r.data), SEGMENT_PAGE) - len(r.data)))
            r.off = off
            off = align(off + len(r.data), self.spread)
        return off


class Linkedit:
    """The merged tables after the code and data of a file: one string table for all images."""

    def __init__(self, region, width):
        self.region, self.form = region, "<IBBHQ" if width == 8 else "<IBBHI"
        self.strings, self.known = bytearray(b"\0"), {}

    def string(self, name):
        if name not in self.known:
            self.known[name] = len(self.strings)
            self.strings += name.encode() + b"\0"
        return self.known[name]

    def put(self, blob):
        """Returns the blob's offset in the mapping."""
        data = self.region.data
        data.extend(bytes(-len(data) % 8))
        data.extend(blob)
        return len(data) - len(blob)

    def symbols(self, symbols):
        return b"".join(struct.pack(self.form, self.string(name), *rest) for name, *rest in symbols)


class Image:
    """A dylib on its way into the cache."""

    def __init__(self, dylib, copy):
        self.dylib, self.path, self.uuid = dylib, dylib.path, dylib.uuid
        if copy: # another image with the same contents
            self.path = "%s.%d" % (self.path, copy)
            self.uuid = hashlib.md5(self.path.encode()).digest()
        self.place = {} # segment: (region, new address)

    def moved(self, address):
        s = self.dylib.segment_of(address)
        return address - s.vmaddr + self.place[s.name][1]

    def at(self, address):
        """The region that holds an address of the dylib, and the offset in it."""
        region, base = self.place[self.dylib.segment_of(address).name]
        return region, self.moved(address) - region.address

    def write(self, address, form, value):
        region, off = self.at(address)
        struct.pack_into(form, region.data, off, value)

    def read(self, address, form):
        region, off = self.at(address)
        return struct.unpack_from(form, region.data, off)[0]

    @property
    def address(self):
        return self.place["__TEXT"][1]


def stubs(path):
    """What llvm-objdump --indirect-symbols says of __stubs."""
    in_stubs = False
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("Indirect"):
                in_stubs = "__stubs)" in line
            elif in_stubs and line.startswith("0x"):
                yield int(line.split()[0], 16), line.split()[2]


def read_starts(dylib):
    """What llvm-objdump --function-starts says."""
    with open(dylib.file + ".starts", encoding="utf-8") as f:
        return [int(line, 16) for line in f]


def function_starts(text, addresses):
    distances = [b - a for a, b in zip([text] + sorted(addresses), sorted(addresses))]
    return b"".join(map(uleb_bytes, distances)) + b"\0"


class Cache:
    def __init__(self, name, variant, dylibs):
        self.name, self.v = name, variant
        self.base = variant["base"]
        folder = os.path.join(dylibs, variant["dylibs"])
        dylibs = [Dylib(os.path.join(folder, f)) for f in IMAGES]
        images = [Image(d, copy) for copy in range(variant.get("copies", 1)) for d in dylibs]
        self.images = images[:variant.get("count")]
        self.room, self.stride = variant.get("room", HEADER), variant.get("stride", STRIDE)
        self.paths_off = self.room // 2
        self.width = self.images[0].dylib.width
        self.place_images()
        self.pointers()
        for image in self.images:
            self.adjust_code(image)
            self.adjust_distances(image)
            if self.v.get("stubs") in ("direct", "islands"):
                self.direct_stubs(image)
        self.objc_header = optimise(self)
        self.truth = []
        for file in self.files:
            self.slide_infos(file)
        for file in self.files:
            self.link_edit(file)
        for image in self.images:
            self.load_commands(image)
        self.local_symbols()
        for file in self.files:
            self.header(file)

    # Where everything lies

    def place_images(self):
        self.files, count = [], 0
        for suffix, kinds, members in self.v["files"]:
            file = File(suffix, self.name, self.v.get("spread", 1))
            self.files.append(file)
            for kind in kinds.split():
                region = Region(kind, self.base + count * self.stride)
                count += 1
                if not file.regions:
                    region.data.extend(bytes(self.room))
                file.regions.append(region)
                for image in (self.images[i] for i in members):
                    self.place_segments(image, region)
                if kind == "linkedit":
                    file.linkedit = Linkedit(region, self.width)

    def place_segments(self, image, region):
        for s in image.dylib.image.segments:
            kind = {"__TEXT": "text", "__LINKEDIT": "linkedit"}.get(s.name, "data")
            if s.name == "__DATA_CONST" and any("const" in kinds for _, kinds, _ in self.v["files"]):
                kind = "const"
            if kind != region.kind:
                continue
            if kind == "linkedit":
                image.place[s.name] = region, region.address
                continue
            region.data.extend(bytes(align(len(region.data), SEGMENT_PAGE) - len(region.data)))
            image.place[s.name] = region, region.end()
            content = image.dylib.data[s.fileoff:s.fileoff + s.filesize]
            region.data.extend(content.ljust(align(s.vmsize, SEGMENT_PAGE), b"\0"))

    # What lies there

    def pointers(self):
        exports = {}
        for image in self.images:
            for name, _, address in image.dylib.exports:
                exports.setdefault(name, (image, address))
        for image in self.images:
            for where, (target, name, top) in image.dylib.pointers.items():
                region, off = image.at(where)
                owner, address = image, target
                if name is not None:
                    if name not in exports: # a weak import that no image exports
                        struct.pack_into("<Q" if self.width == 8 else "<I", region.data, off, 0)
                        continue
                    owner, address = exports[name][0], exports[name][1] + target
                signed = self.v["arch"] == "arm64e" and owner.dylib.is_code(address)
                region.data[off:off + self.width] = bytes(self.width)
                region.pointers[off] = owner.moved(address), top, signed

    def adjust_code(self, image):
        """Segments moved apart: ADRP of arm64 and the stubs of x86_64 reach data by the distance. Other code of
        x86_64 is left as it is, because it does not run."""
        for s in image.dylib.text.sections:
            flags = image.dylib.flags(s)
            if flags & 0x80000400 and self.v["dylibs"] != "x86_64":
                for at in range(s.addr, s.addr + s.size - 3, 4):
                    self.adjust_adrp(image, at)
            elif flags & 0xFF == 8:
                for at in range(s.addr, s.addr + s.size, 6):
                    target = at + 6 + image.read(at + 2, "<i")
                    image.write(at + 2, "<i", image.moved(target) - image.moved(at) - 6)

    @staticmethod
    def adjust_distances(image):
        """Swift metadata: distances that lead out of __TEXT. Bit 0 says that they lead to a pointer."""
        for name, _, _, _, at in image.dylib.symbols:
            if "_far_" in name:
                distance = image.read(at, "<i")
                moved = image.moved(at + (distance & ~1)) - image.moved(at)
                image.write(at, "<i", moved | distance & 1)

    def direct_stubs(self, image):
        """What the cache's builder makes of the stubs of arm64: ADRP, ADD, BR to the function itself. Islands are B."""
        for s in image.dylib.stub_sections():
            for at in range(s.addr, s.addr + s.size, 12):
                word = image.read(at, "<I")
                region, slot = self.pointer_of(image.moved(at), word, image.read(at + 4, "<I") >> 10 & 0xFFF)
                target = region.pointers[slot][0]
                if self.v["stubs"] == "islands":
                    image.write(at, "<I", 0x14000000 | target - image.moved(at) >> 2 & 0x3FFFFFF)
                    continue
                pages = (target >> 12) - (image.moved(at) >> 12)
                image.write(at, "<I", word & 0x9F00001F | (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5)
                image.write(at + 4, "<I", 0x91000210 | (target & 0xFFF) << 10)

    def pointer_of(self, address, adrp, words):
        """The region and offset of the pointer that ADRP and LDR at an address of the cache load."""
        pages = (adrp >> 29 & 3) | (adrp >> 5 & 0x7FFFF) << 2
        pages -= (pages & 0x100000) * 2
        slot = (address & ~0xFFF) + pages * 0x1000 + words * 8
        region = next(r for f in self.files for r in f.regions if r.holds(slot))
        return region, slot - region.address

    @staticmethod
    def adjust_adrp(image, at):
        word = image.read(at, "<I")
        if word & 0x9F000000 != 0x90000000:
            return
        pages = (word >> 29 & 3) | (word >> 5 & 0x7FFFF) << 2
        pages -= (pages & 0x100000) * 2
        target = (at & ~0xFFF) + pages * 0x1000
        pages = image.moved(target) - (image.moved(at) & ~0xFFF) >> 12
        image.write(at, "<I", word & 0x9F00001F | (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5)

    def slide_infos(self, file):
        version = self.v["slide"]
        for region in file.regions:
            if region.kind not in ("const", "data"):
                continue
            region.data.extend(bytes(align(len(region.data), SEGMENT_PAGE) - len(region.data)))
            for off, (target, top, _) in sorted(region.pointers.items()):
                self.truth.append(("pointer", "-", region.address + off, "%x" % (target | top << 56)))
            region.slide = slide.VERSIONS[version](region.data, region.address, self.base, region.pointers)

    def link_edit(self, file):
        linkedit = file.linkedit
        file.lay_out()
        if linkedit:
            for image in self.images:
                if image.place["__LINKEDIT"][0] is linkedit.region:
                    self.image_tables(image, linkedit)
            linkedit.strings_off = linkedit.put(bytes(linkedit.strings))
        for region in file.regions:
            if region.kind not in ("const", "data"):
                continue
            if linkedit:
                region.slide_off = linkedit.put(region.slide) + linkedit.region.off
            else:
                region.slide_off = file.lay_out() + len(file.tail)
                file.tail += region.slide
            region.slide_size = len(region.slide)
        file.lay_out()

    def image_tables(self, image, linkedit):
        d = image.dylib
        image.tables = tables = {}
        text = d.text.vmaddr
        trie = write_trie([(n, f, image.moved(a) - image.moved(text)) for n, f, a in d.exports])
        tables["trie"] = linkedit.put(trie), len(trie)
        starts = d.function_starts()
        if self.v.get("stubs") == "islands": # functions of their own, in a section that does not say what is in it
            starts = function_starts(text, set(read_starts(d)) | {address for address, _ in stubs(d.file + ".stubs")})
        tables["starts"] = linkedit.put(starts), len(starts)
        image.locals, kept, renumbered = [], [[], [], []], {}
        for i, (name, kind, sect, desc, value) in enumerate(d.symbols):
            if kind & N_STAB:
                continue
            defined = kind & N_TYPE == N_SECT
            symbol = name, kind, sect, desc, image.moved(value) if defined else value
            group = 0 if not kind & N_EXT else 1 if defined else 2
            if group == 0:
                image.locals.append(symbol)
                if self.v["locals"] == "strip" or self.v["locals"] != "keep" and sect != 1:
                    continue
                if self.v["locals"] != "keep":
                    symbol = ("<redacted>",) + symbol[1:]
            renumbered[i] = group, len(kept[group])
            kept[group].append(symbol)
        first = [0, len(kept[0]), len(kept[0]) + len(kept[1])]
        tables["symbols"] = linkedit.put(linkedit.symbols(sum(kept, []))), sum(map(len, kept))
        tables["groups"] = [(f, len(k)) for f, k in zip(first, kept)]
        indirect = [i if i >= 0x40000000 or i not in renumbered else first[renumbered[i][0]] + renumbered[i][1]
                    for i in d.indirect]
        if self.v.get("stubs"):
            for i in d.stub_numbers():
                indirect[i] = 0x80000000
        tables["indirect"] = linkedit.put(struct.pack("<%dI" % len(indirect), *indirect)), len(indirect)

    def load_commands(self, image):
        d = image.dylib
        data, out, count = bytearray(d.data), b"", 0
        for cmd, at, size in d.image.commands:
            if cmd in DROPPED:
                continue
            self.load_command(image, data, cmd, at)
            out += bytes(data[at:at + size])
            count += 1
        first = 32 if self.width == 8 else 28
        cpu = self.v.get("cpu", struct.unpack_from("<II", data, 4))
        flags = struct.unpack_from("<I", data, 24)[0] | IN_CACHE
        struct.pack_into("<II", data, 4, *cpu)
        struct.pack_into("<III", data, 16, count, len(out), flags)
        region, off = image.at(d.text.vmaddr)
        old = first + sum(size for _, _, size in d.image.commands)
        region.data[off:off + old] = (bytes(data[:first]) + out).ljust(old, b"\0")

    def load_command(self, image, data, cmd, at):
        linkedit, tables = image.place["__LINKEDIT"][0], image.tables
        strings = [f.linkedit for f in self.files if f.linkedit and f.linkedit.region is linkedit][0]
        if cmd in (0x19, 0x1):
            self.segment_command(image, data, next(s for s in image.dylib.image.segments if s.at == at))
        elif cmd == LC_SYMTAB:
            off, count = tables["symbols"]
            struct.pack_into("<4I", data, at + 8, linkedit.off + off, count, linkedit.off + strings.strings_off,
                             len(strings.strings))
        elif cmd == LC_DYSYMTAB:
            groups = tables["groups"]
            off, count = tables["indirect"]
            struct.pack_into("<18I", data, at + 8, *groups[0], *groups[1], *groups[2], 0, 0, 0, 0, 0, 0,
                             linkedit.off + off if count else 0, count, 0, 0, 0, 0)
        elif cmd == LC_DYLD_INFO_ONLY:
            struct.pack_into("<8I", data, at + 8, *[0] * 8)
            struct.pack_into("<II", data, at + 40, linkedit.off + tables["trie"][0], tables["trie"][1])
        elif cmd in (LC_EXPORTS_TRIE, LC_FUNCTION_STARTS):
            off, size = tables["trie" if cmd == LC_EXPORTS_TRIE else "starts"]
            struct.pack_into("<II", data, at + 8, linkedit.off + off, size)
        elif cmd == LC_UUID:
            data[at + 8:at + 24] = image.uuid
        elif cmd == LC_DATA_IN_CODE:
            struct.pack_into("<II", data, at + 8, 0, 0)

    def segment_command(self, image, data, s):
        region, address = image.place[s.name]
        size = len(region.data) if region.kind == "linkedit" else align(s.vmsize, SEGMENT_PAGE)
        off = region.off + address - region.address
        struct.pack_into("<4Q" if self.width == 8 else "<4I", data, s.at + 24, address, size, off, size)
        for section in s.sections:
            moved = section.addr - s.vmaddr
            struct.pack_into("<QQI" if self.width == 8 else "<III", data, section.at + 32, address + moved,
                             section.size, off + moved if section.offset else 0)
            if self.v.get("stubs") == "islands" and image.dylib.flags(section) & 0xFF == 8:
                struct.pack_into("<I", data, section.at + 64, 0x80000400)
            renamed = {"__stubs": "__auth_stubs", "__got": "__auth_got"}.get(section.name)
            if renamed and self.v["arch"] == "arm64e":
                struct.pack_into("<16s", data, section.at, renamed.encode())

    # Local symbols, header, tables

    def local_symbols(self):
        if not self.v.get("local_symbols"):
            return
        entries, symbols, pool = [], b"", Linkedit(None, self.width)
        count = 0
        for image in self.images:
            where = image.address - self.base
            if self.v["local_symbols"] == 12:
                region, off = image.at(image.dylib.text.vmaddr)
                entries.append(struct.pack("<3I", region.off + off, count, len(image.locals)))
            else:
                entries.append(struct.pack("<QII", where, count, len(image.locals)))
            symbols += pool.symbols(image.locals)
            count += len(image.locals)
        first = 24
        strings = first + len(symbols)
        entries_off = align(strings + len(pool.strings), 8)
        chunk = struct.pack("<6I", first, count, strings, len(pool.strings), entries_off, len(entries)) + symbols
        chunk = (chunk + bytes(pool.strings)).ljust(entries_off, b"\0") + b"".join(entries)
        file = self.files[-1] if self.files[-1].suffix == ".symbols" else self.files[0]
        if file.suffix == ".symbols":
            file.regions = []
            file.tail = bytes(self.room)
        file.locals = file.lay_out() + len(file.tail), len(chunk)
        file.tail += chunk

    def header(self, file):
        size = self.v["header"]
        head = bytearray(0x200)
        head[:15] = ("dyld_v1" + self.v.get("magic", self.v["arch"]).rjust(8)).encode()
        put = lambda at, form, *values: struct.pack_into("<" + form, head, at, *values) # noqa: E731
        tables, at = bytearray(), size

        def table(rows):
            nonlocal at
            off = at
            for row in rows:
                tables.extend(row)
                at += len(row)
            return off, len(rows)

        put(0x10, "II", *table([struct.pack("<QQQII", r.address, len(r.data), r.off, PROTECTION[r.kind],
                                            PROTECTION[r.kind]) for r in file.regions]))
        put(0x48, "QQ", *getattr(file, "locals", (0, 0)))
        head[0x58:0x68] = file.uuid
        put(0x68, "Q", 2 if size > 0x1C8 else 1)
        put(0xD8, "I", self.v["platform"])
        put(0xE0, "QQQ", self.base, len(self.files) * 4 * self.stride, 0x20000000)
        put(0x16C, "I", self.v["os"])
        if "alternate" in self.v:
            put(0x170, "II", *self.v["alternate"])
        data = [r for r in file.regions if r.slide_size]
        if size > 0x138:
            put(0x138, "II", *table([struct.pack("<6QII", r.address, len(r.data), r.off, r.slide_off, r.slide_size,
                                                 self.mapping_flags(r), PROTECTION[r.kind], PROTECTION[r.kind])
                                     for r in file.regions]))
        elif data:
            put(0x38, "QQ", data[0].slide_off, data[0].slide_size)
        paths = self.main_header(put, table) if file is self.files[0] else b""
        assert at <= self.paths_off
        whole = ((bytes(head[:size]) + bytes(tables)).ljust(self.paths_off, b"\0") + paths).ljust(self.room, b"\0")
        if file.regions:
            file.regions[0].data[:self.room] = whole
        else:
            file.tail = whole + file.tail[self.room:]

    def mapping_flags(self, region):
        if region.kind == "const":
            return CONST_DATA
        return AUTH_DATA if region.kind == "data" and self.v["arch"] == "arm64e" else 0

    def main_header(self, put, table):
        """What only the main file says: images, their text, the other files. Returns the paths."""
        v = self.v
        alias = "/usr/lib/libbase.1.dylib" # old lists have a second path for an address
        paths, where = b"", {}
        for path in [i.path for i in self.images] + [alias]:
            where[path] = self.paths_off + len(paths)
            paths += path.encode() + b"\0"
        rows = [(i.address, i.path) for i in self.images]
        if v["list"] == "old":
            rows.insert(2, (self.images[1].address, alias))
        put(0x1C0 if v["list"] == "new" else 0x18, "II",
            *table([struct.pack("<QQQII", address, 0, 0, where[path], 0) for address, path in rows]))
        put(0x88, "QQ", *table([struct.pack("<16sQII", i.uuid, i.address, align(i.dylib.text.vmsize, SEGMENT_PAGE),
                                            where[i.path]) for i in self.images] if v["header"] > 0x98 else []))
        others = [(f.uuid, f.regions[0].address - self.base, f.suffix.encode()) for f in self.files[1:] if f.regions]
        if v.get("split") == 1:
            put(0x188, "II", *table([struct.pack("<16sQ", uuid, off) for uuid, off, _ in others]))
        else:
            put(0x188, "II", *table([struct.pack("<16sQ32s", *other) for other in others]))
        if self.files[-1].suffix == ".symbols":
            put(0x190, "16s", self.files[-1].uuid)
        if self.objc_header:
            put(0x1D0, "QQ", self.objc_header[0] - self.base, self.objc_header[1])
        return paths

    # Truth

    def facts(self):
        """(kind, image, address, name): kinds are image (name: its UUID), export, start, stub, swift, pointer,
        and the letters of nm."""
        rows = list(self.truth)
        described = {}
        for path in SWIFT:
            with open(path, encoding="utf-8") as f:
                described.update(line.rstrip("\n").split("\t") for line in f)
        for image in self.images:
            rows.append(("image", image.path, image.address, image.uuid.hex().upper()))
            for line in open(image.dylib.file + ".nm", encoding="utf-8"):
                name, kind, value, _ = line.rstrip("\n").rsplit(" ", 3)
                if kind not in "Uu":
                    rows.append((kind, image.path, image.moved(int(value, 16)), name))
            for line in open(image.dylib.file + ".exports", encoding="utf-8"):
                if line.startswith("0x"):
                    value, name = line.split()[:2]
                    rows.append(("export", image.path, image.moved(int(value, 16)), name))
            for address in read_starts(image.dylib):
                rows.append(("start", image.path, image.moved(address), "-"))
            rows += [("swift", image.path, image.moved(at), described[name]) for name, _, _, _, at in image.dylib.symbols
                     if name in described]
            own = {name for name, _, _ in image.dylib.exports}
            for address, name in stubs(image.dylib.file + ".stubs"):
                is_island = self.v.get("stubs") == "islands"
                if is_island:
                    rows.append(("start", image.path, image.moved(address), "-"))
                if not is_island or name not in own: # a jump to one's own image is no island
                    rows.append(("stub", image.path, image.moved(address), name))
        return sorted(rows, key=lambda r: (r[1], r[0], r[2], r[3]))

    def save(self, folder):
        os.makedirs(folder, exist_ok=True)
        for file in self.files:
            with open(os.path.join(folder, "dyld_shared_cache_" + self.v["arch"] + file.suffix), "wb") as f:
                for region in file.regions:
                    f.seek(region.off)
                    f.write(region.data)
                f.seek(file.lay_out() if file.regions else 0)
                f.write(file.tail)
                f.truncate()
        with open(os.path.join(folder, "truth.tsv"), "w", encoding="utf-8") as f:
            for kind, path, address, name in self.facts():
                f.write("%s\t%s\t%x\t%s\n" % (kind, path, address, name))


def main(dylibs, out, *names):
    for name in names or sorted(VARIANTS):
        Cache(name, {**VARIANTS, **LARGE}[name], dylibs).save(os.path.join(out, name))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
