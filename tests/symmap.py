#!/usr/bin/env python3
"""Reads symbol maps. Written from docs/symmap.md alone, with Python's standard library, to show that the page is enough.

  symmap.py addresses MAP ...  writes to MAP.addresses the begin, the middle and the end of each range, and what is beside
  symmap.py compare MAP ...    compares what `machsym map lookup --json --no-demangle MAP <MAP.addresses >MAP.json` said
                               with the answers of this reader; prints the addresses that differ, and one line a map
"""
import json
import struct
import sys

TABLES = ("name parts runs buckets symbol_runs symbol_buckets dict blocks data text").split()
SOURCES = "none dwarf symtab stub exports objc block swift function_starts".split()
BLOCK = 1024
MARGIN = 64
MOST_RANGES = 16
MOST_LINKS = 4096
MOST_TEXT = 65536
CPU_TYPE_ARM = 12


class Damaged(Exception):
    pass


def checksum(data):
    mask = (1 << 64) - 1
    factor = 0x9E3779B97F4A7C15
    lanes = [1, 2, 3, len(data)]
    whole = len(data) // 32 * 32
    for numbers in struct.iter_unpack("<4Q", data[:whole]):
        for i in range(4):
            lane = (lanes[i] ^ numbers[i]) * factor & mask
            lanes[i] = lane ^ lane >> 29
    tail = struct.unpack("<4Q", data[whole:].ljust(32, b"\0"))
    total = 0
    for i in range(4):
        lane = (lanes[i] ^ tail[i]) * factor & mask
        total = (total ^ lane ^ lane >> 32) * factor & mask
    return total ^ total >> 29


def unpack_lz4(packed, before):
    """The bytes that an LZ4 block unpacks to, with what stands before them."""
    out = bytearray(before)
    at = 0

    def length(code):
        nonlocal at
        total = code
        more = 255
        while code == 15 and more == 255:
            more = packed[at]
            at += 1
            total += more
        return total

    while at < len(packed):
        token = packed[at]
        at += 1
        literals = length(token >> 4)
        out += packed[at:at + literals]
        at += literals
        if at >= len(packed):
            break
        back = packed[at] | packed[at + 1] << 8
        at += 2
        for _ in range(length(token & 15) + 4):
            out.append(out[-back])
    return bytes(out[len(before):])


class Numbers:
    """Reads ulebs one after the other."""

    def __init__(self, data, at):
        self.data = data
        self.at = at

    def uleb(self):
        number = 0
        for i in range(10):
            byte = self.data[self.at]
            self.at += 1
            number |= (byte & 0x7F) << 7 * i
            if byte < 0x80:
                break
        return number & (1 << 64) - 1


def zigzag(number):
    return number // 2 if number % 2 == 0 else -((number + 1) // 2)


class Map:
    def __init__(self, data):
        self.open_header(data)
        begin, end = 72, 80
        head = data[:begin] + bytes(8) + data[end:256]
        if checksum(head) ^ checksum(data[256:]) != self.checksum:
            raise Damaged("the checksum does not match")
        self.records = len(self.data) - MARGIN
        self.parts = list(struct.iter_unpack("<II", self.parts))
        self.kept_blocks = {}

    def open_header(self, data):
        if len(data) < 256 or data[:8] != b"MACHSYM\n":
            raise Damaged("not a map")
        version, self.flags = struct.unpack_from("<2I", data, 8)
        if version != 1:
            raise Damaged("version %d" % version)
        self.uuid = data[16:32]
        self.cputype, self.cpusubtype, self.text_base, self.text_size = struct.unpack_from("<2I2Q", data, 32)
        self.policy, self.shift, size, self.checksum = struct.unpack_from("<2I2Q", data, 56)
        if size != len(data):
            raise Damaged("the file has another size")
        for i, table in enumerate(TABLES):
            begin, end = struct.unpack_from("<2Q", data, 80 + 16 * i)
            if begin > end or end > size or begin % 8 != 0:
                raise Damaged("a table lies outside")
            setattr(self, table, data[begin:end])
        self.columns = self.flags & 1 != 0
        self.is_damaged = self.flags & 4 != 0

    # ---- text ----

    def block(self, number):
        if number not in self.kept_blocks:
            begin, end = struct.unpack_from("<2I", self.blocks, 4 * number)
            packed = self.text[begin:end]
            self.kept_blocks[number] = packed if len(packed) == BLOCK else unpack_lz4(packed, self.dict)
        return self.kept_blocks[number]

    def packed_text(self, place):
        text = b""
        number = place // BLOCK
        piece = self.block(number)[place % BLOCK:]
        while b"\0" not in piece:
            text += piece
            number += 1
            piece = self.block(number)
        text += piece[:piece.index(b"\0")]
        if len(text) > MOST_TEXT:
            raise Damaged("a name of %d bytes" % len(text))
        return text

    def ref(self, record, ref):
        if ref == 0:
            return b""
        if ref & 1 == 0:
            return self.packed_text((ref >> 1) - 1)
        numbers = Numbers(self.data, record - (ref >> 1))
        length = numbers.uleb()
        return self.data[numbers.at:numbers.at + length]

    # ---- records ----

    def file(self, run, number):
        """The path of a file number in the part that a run stands in."""
        if number == 0:
            return b""
        begin, table = [part for part in self.parts if part[0] <= run][-1]
        count, = struct.unpack_from("<I", self.data, table)
        if number > count:
            return b""
        record = begin + struct.unpack_from("<I", self.data, table + 4 * number)[0]
        numbers = Numbers(self.data, record)
        parts = [self.ref(record, numbers.uleb()) for _ in range(3)]
        for i in (1, 2):
            if parts[i][:1] == b"/":
                parts[:i] = [b""] * i
        path = b""
        for part in parts:
            path += b"/" + part if path and part and path[-1:] != b"/" else part
        return path

    def run(self, start, at):
        """The ranges of a run: begin, end, position of the chain or 0, file, line, column."""
        numbers = Numbers(self.data, at)
        chain = file = line = column = 0
        count = numbers.uleb()
        if count > MOST_RANGES:
            raise Damaged("a run of %d ranges" % count)
        for _ in range(count):
            end = start + numbers.uleb()
            what = numbers.uleb()
            line += zigzag(what >> 2)
            if what & 1:
                back = numbers.uleb()
                chain = at - back if back != 0 else 0
            if what & 2:
                file = numbers.uleb()
            if self.columns:
                column = numbers.uleb()
            yield start, end, chain, file, line, column
            start = end

    def chain(self, run, at, file, line, column):
        """The frames of a chain."""
        frames = []
        while True:
            if len(frames) == MOST_LINKS:
                raise Damaged("a chain without end")
            numbers = Numbers(self.data, at)
            what, function = numbers.uleb(), numbers.uleb()
            frame = {"linkage_name": b"", "name": b"", "file": self.file(run, file), "line": line, "column": column,
                     "inline": what & 1 != 0}
            if function != 0:
                record = at - function
                refs = Numbers(self.data, record)
                frame["linkage_name"] = self.ref(record, refs.uleb())
                frame["name"] = self.ref(record, refs.uleb())
            frames.append(frame)
            if what & 1 == 0:
                break
            frame["name_source"] = "symtab" if what & 2 else "dwarf"
            file, line = numbers.uleb(), numbers.uleb()
            column = numbers.uleb() if self.columns else 0
            at -= what >> 2
        frames[-1]["name_source"] = SOURCES[what >> 1]
        start, size = numbers.uleb(), numbers.uleb()
        for frame in frames:
            frame["start"] = self.text_base + start & (1 << 64) - 1
            frame["size"] = size
        return frames

    # ---- lookup ----

    def find(self, runs, buckets, offset):
        """The range that holds an offset, with the position of its run before it; None."""
        last = len(buckets) // 4 - 2
        if last < 0 or len(runs) == 0:
            return None
        bucket = min(offset >> self.shift, last)
        lo, hi = struct.unpack_from("<2I", buckets, 4 * bucket)
        if bucket == last:
            hi = len(runs) // 8
        for i in range(hi - 1, max(lo - 1, 0) - 1, -1):
            start, at = struct.unpack_from("<2I", runs, 8 * i)
            if start > offset:
                continue
            for one in self.run(start, at):
                if one[0] <= offset < one[1]:
                    return (at,) + one
            return None
        return None

    def plain(self, address):
        """An address without the bit that marks Thumb code."""
        return address & ~1 if self.cputype == CPU_TYPE_ARM else address

    def lookup(self, address):
        offset = address - self.text_base
        if not 0 <= offset < 1 << 32:
            return []
        hit = self.find(self.runs, self.buckets, offset)
        if hit is not None and hit[3] != 0:
            return self.chain(hit[0], *hit[3:])
        symbol = self.find(self.symbol_runs, self.symbol_buckets, offset)
        frames = self.chain(symbol[0], *symbol[3:]) if symbol is not None else []
        if hit is not None:
            if not frames:
                frames = [{"linkage_name": b"", "name": b"", "inline": False, "start": 0, "size": 0,
                           "name_source": "none"}]
            frames[0].update(file=self.file(hit[0], hit[4]), line=hit[5], column=hit[6])
        return frames

    def ranges(self):
        for runs in (self.runs, self.symbol_runs):
            for start, at in struct.iter_unpack("<II", runs):
                for one in self.run(start, at):
                    yield self.text_base + one[0], self.text_base + one[1]


def as_printed(frame, address):
    """A frame with the fields that machsym prints."""
    text = {key: frame[key].decode("utf-8", "replace") for key in ("linkage_name", "name", "file")}
    has_line = frame["line"] != 0 or text["file"] != ""
    return {"name": text["linkage_name"] or text["name"], "linkage_name": text["linkage_name"], "file": text["file"],
            "line": frame["line"], "column": frame["column"], "inline": frame["inline"],
            "offset": address - frame["start"] & (1 << 64) - 1, "name_source": frame["name_source"],
            "line_source": "dwarf" if has_line else "none"}


def list_addresses(symmap, path):
    addresses = set()
    for lo, hi in symmap.ranges():
        addresses |= {lo - 1, lo, (lo + hi) // 2, hi - 1, hi}
    with open(path, "w") as out:
        out.writelines("%#x\n" % address for address in sorted(addresses) if address >= 0)


def compare(symmap, path):
    """How many addresses there are, and how many have other answers."""
    count = 0
    differing = 0
    with open(path, encoding="utf-8", errors="replace") as answers:
        for line in answers:
            theirs = json.loads(line)
            address = int(theirs["address"], 16)
            address = symmap.plain(address)
            ours = [as_printed(frame, address) for frame in symmap.lookup(address)]
            count += 1
            if ours != theirs["frames"]:
                differing += 1
                print("%#x\n  this reader  %s\n  machsym      %s" % (address, ours, theirs["frames"]))
    return count, differing


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("addresses", "compare"):
        sys.exit(__doc__)
    for path in arguments[1:]:
        try:
            with open(path, "rb") as file:
                symmap = Map(file.read())
        except Damaged as damaged:
            sys.exit("%s: %s" % (path, damaged))
        if arguments[0] == "addresses":
            list_addresses(symmap, path + ".addresses")
        else:
            print("%s: %d addresses, %d differ" % ((path,) + compare(symmap, path + ".json")))


if __name__ == "__main__":
    main(sys.argv[1:])
