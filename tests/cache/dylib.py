"""What a shared cache needs to know of a dylib: its symbols, exports, function starts, and pointers with their targets."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures", "tool"))
from macho import LC_DYLD_INFO_ONLY, LC_SYMTAB, LC_UUID, Image  # noqa: E402

LC_ID_DYLIB, LC_DYSYMTAB, LC_FUNCTION_STARTS, LC_DATA_IN_CODE = 0xD, 0xB, 0x26, 0x29
LC_CHAINED_FIXUPS, LC_EXPORTS_TRIE = 0x80000034, 0x80000033
N_STAB, N_TYPE, N_EXT, N_SECT = 0xE0, 0x0E, 0x01, 0x0E


def uleb(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        shift += 7
        at += 1
        if byte < 0x80:
            return value, at


def sleb(data, at):
    first = at
    value, at = uleb(data, at)
    return (value - (1 << 7 * (at - first)) if data[at - 1] & 0x40 else value), at


def uleb_bytes(value):
    out = bytearray()
    while True:
        out.append(value & 0x7F | (0x80 if value > 0x7F else 0))
        value >>= 7
        if not value:
            return bytes(out)


def c_string(data, at):
    end = data.index(b"\0", at)
    return data[at:end].decode(), end + 1


def read_trie(data, at=0, name=""):
    """[(name, flags, offset from the Mach-O header)] of an export trie without re-exports."""
    size, p = uleb(data, at)
    out = []
    if size:
        flags, q = uleb(data, p)
        out.append((name, flags, uleb(data, q)[0]))
    p += size
    count = data[p]
    p += 1
    for _ in range(count):
        edge, p = c_string(data, p)
        child, p = uleb(data, p)
        out += read_trie(data, child, name + edge)
    return out


class TrieNode:
    def __init__(self):
        self.edges, self.payload, self.at = {}, b"", 0

    def add(self, name, payload):
        """Puts a name in; two names share the edges of their common beginning."""
        if not name:
            self.payload = payload
            return
        for edge in list(self.edges):
            common = os.path.commonprefix([edge, name])
            if not common:
                continue
            if common != edge:
                between = TrieNode()
                between.edges[edge[len(common):]] = self.edges.pop(edge)
                self.edges[common] = between
            self.edges[common].add(name[len(common):], payload)
            return
        self.edges[name] = TrieNode()
        self.edges[name].add("", payload)

    def all(self):
        return [self] + [n for edge in sorted(self.edges) for n in self.edges[edge].all()]

    def encoded(self):
        out = uleb_bytes(len(self.payload)) + self.payload + bytes([len(self.edges)])
        for edge in sorted(self.edges):
            out += edge.encode() + b"\0" + uleb_bytes(self.edges[edge].at)
        return out


def write_trie(exports):
    root = TrieNode()
    for name, flags, offset in exports:
        root.add(name, uleb_bytes(flags) + uleb_bytes(offset))
    nodes, settled = root.all(), False
    while not settled: # offsets are as long as their values, which depend on the lengths
        settled, at = True, 0
        for n in nodes:
            settled, n.at = settled and n.at == at, at
            at += len(n.encoded())
    return b"".join(n.encoded() for n in nodes)


class Dylib:
    def __init__(self, path):
        self.file = path
        with open(path, "rb") as f:
            self.image = Image(f.read())
        image = self.image
        self.data = bytes(image.data)
        self.width = 8 if image.is64 else 4
        self.segments = {s.name: s for s in image.segments}
        self.text = self.segments["__TEXT"]
        at = image.command(LC_ID_DYLIB)
        self.path = c_string(self.data, at + self.field(at + 8))[0]
        at = image.command(LC_UUID)
        self.uuid = self.data[at + 8:at + 24]
        self.read_symbols()
        self.exports = [(name, flags, self.text.vmaddr + offset) for name, flags, offset in read_trie(self.trie())]
        self.pointers = {} # address: (target, None, top byte) or (addend, name of an import, top byte)
        if image.command(LC_CHAINED_FIXUPS):
            self.read_chains(image.command(LC_CHAINED_FIXUPS))
        elif image.command(LC_DYLD_INFO_ONLY):
            self.read_opcodes(image.command(LC_DYLD_INFO_ONLY))

    def field(self, at):
        return struct.unpack_from("<I", self.data, at)[0]

    def blob(self, at):
        """What a linkedit_data_command or a pair of offset and size names."""
        off, size = struct.unpack_from("<II", self.data, at)
        return self.data[off:off + size]

    def trie(self):
        at = self.image.command(LC_EXPORTS_TRIE)
        return self.blob(at + 8) if at else self.blob(self.image.command(LC_DYLD_INFO_ONLY) + 40)

    def read_symbols(self):
        at = self.image.command(LC_SYMTAB)
        symoff, count, stroff, _ = struct.unpack_from("<4I", self.data, at + 8)
        form = "<IBBHQ" if self.width == 8 else "<IBBHI"
        self.symbols = []
        for i in range(count):
            strx, kind, sect, desc, value = struct.unpack_from(form, self.data, symoff + i * struct.calcsize(form))
            self.symbols.append((c_string(self.data, stroff + strx)[0], kind, sect, desc, value))
        at = self.image.command(LC_DYSYMTAB)
        off, count = struct.unpack_from("<II", self.data, at + 56)
        self.indirect = list(struct.unpack_from("<%dI" % count, self.data, off))

    def read_chains(self, command):
        """DYLD_CHAINED_PTR_64 with DYLD_CHAINED_IMPORT, which is what lld writes."""
        blob = self.blob(command + 8)
        _, starts, imports, strings, count, form, _ = struct.unpack_from("<7I", blob)
        assert form == 1
        names = [c_string(blob, strings + (self.word(blob, imports + 4 * i) >> 9))[0] for i in range(count)]
        for i, segment in enumerate(self.image.segments):
            off = self.word(blob, starts + 4 + 4 * i)
            if not off:
                continue
            _, page_size, form = struct.unpack_from("<IHH", blob, starts + off)
            assert form == 2
            pages = struct.unpack_from("<H", blob, starts + off + 20)[0]
            for page in range(pages):
                start = struct.unpack_from("<H", blob, starts + off + 22 + 2 * page)[0]
                if start != 0xFFFF:
                    self.read_chain(segment, page * page_size + start, names)

    @staticmethod
    def word(data, at):
        return struct.unpack_from("<I", data, at)[0]

    def read_chain(self, segment, off, names):
        while True:
            raw = struct.unpack_from("<Q", self.data, segment.fileoff + off)[0]
            if raw >> 63:
                entry = (raw >> 24 & 0xFF, names[raw & 0xFFFFFF], 0)
            else:
                entry = (raw & 0xFFFFFFFFF, None, raw >> 36 & 0xFF)
            self.pointers[segment.vmaddr + off] = entry
            step = raw >> 51 & 0xFFF
            if not step:
                return
            off += 4 * step

    def read_opcodes(self, command):
        self.read_rebases(self.blob(command + 8))
        for at in (16, 24, 32): # binds, weak binds, lazy binds
            self.read_binds(self.blob(command + at), lazy=at == 32)

    def read_rebases(self, ops):
        at = where = 0

        def put(count, skip=0):
            nonlocal where
            for _ in range(count):
                off = where - self.segment_of(where).vmaddr + self.segment_of(where).fileoff
                self.pointers[where] = (int.from_bytes(self.data[off:off + self.width], "little"), None, 0)
                where += self.width + skip

        while at < len(ops):
            op, low = ops[at] & 0xF0, ops[at] & 0xF
            at += 1
            if op == 0x00:
                return
            if op == 0x20: # SET_SEGMENT_AND_OFFSET_ULEB
                off, at = uleb(ops, at)
                where = self.image.segments[low].vmaddr + off
            elif op == 0x30: # ADD_ADDR_ULEB
                off, at = uleb(ops, at)
                where += off
            elif op == 0x40: # ADD_ADDR_IMM_SCALED
                where += low * self.width
            elif op == 0x50: # DO_REBASE_IMM_TIMES
                put(low)
            elif op == 0x60: # DO_REBASE_ULEB_TIMES
                count, at = uleb(ops, at)
                put(count)
            elif op == 0x70: # DO_REBASE_ADD_ADDR_ULEB
                skip, at = uleb(ops, at)
                put(1, skip)
            elif op == 0x80: # DO_REBASE_ULEB_TIMES_SKIPPING_ULEB
                count, at = uleb(ops, at)
                skip, at = uleb(ops, at)
                put(count, skip)
            else:
                assert op == 0x10, hex(op)

    def read_binds(self, ops, lazy):
        at = where = addend = 0
        name = ""
        while at < len(ops):
            op, low = ops[at] & 0xF0, ops[at] & 0xF
            at += 1
            if op == 0x00 and not lazy:
                return
            if op == 0x40: # SET_SYMBOL_TRAILING_FLAGS_IMM
                name, at = c_string(ops, at)
            elif op == 0x60: # SET_ADDEND_SLEB
                addend, at = sleb(ops, at)
            elif op == 0x70: # SET_SEGMENT_AND_OFFSET_ULEB
                off, at = uleb(ops, at)
                where = self.image.segments[low].vmaddr + off
            elif op == 0x80: # ADD_ADDR_ULEB
                off, at = uleb(ops, at)
                where = where + off & 0xFFFFFFFFFFFFFFFF
            elif op in (0x90, 0xA0, 0xB0, 0xC0): # DO_BIND, alone, with a step after it, or repeated
                count, skip = 1, 0
                if op == 0xA0:
                    skip, at = uleb(ops, at)
                elif op == 0xB0:
                    skip = low * self.width
                elif op == 0xC0:
                    count, at = uleb(ops, at)
                    skip, at = uleb(ops, at)
                for _ in range(count):
                    self.pointers[where] = (addend, name, 0)
                    where = where + self.width + skip & 0xFFFFFFFFFFFFFFFF
            elif op == 0x20: # SET_DYLIB_ORDINAL_ULEB
                at = uleb(ops, at)[1]
            else:
                assert op in (0x00, 0x10, 0x30, 0x50), hex(op)

    def segment_of(self, addr):
        return next(s for s in self.image.segments if s.vmaddr <= addr < s.vmaddr + max(s.vmsize, 1))

    def read(self, addr, size):
        s = self.segment_of(addr)
        off = addr - s.vmaddr + s.fileoff
        return self.data[off:off + size]

    def is_code(self, addr):
        return any(s.addr <= addr < s.addr + s.size and self.flags(s) & 0x80000400 for s in self.text.sections)

    def flags(self, section):
        return self.field(section.at + (64 if self.width == 8 else 56))

    def stub_sections(self):
        return [s for s in self.text.sections if self.flags(s) & 0xFF == 8]

    def stub_numbers(self):
        """Those of the indirect symbols of all stubs."""
        for s in self.stub_sections():
            first, size = struct.unpack_from("<II", self.data, s.at + (68 if self.width == 8 else 60))
            yield from range(first, first + s.size // size)

    def function_starts(self):
        at = self.image.command(LC_FUNCTION_STARTS)
        return self.blob(at + 8) if at else b""
