#!/usr/bin/env python3
"""Reads symbol maps. Written from docs/symmap.md alone, with Python's standard library, to show that the page is enough.

  symmap.py addresses MAP ...  writes to MAP.addresses the begin, the middle and the end of each range, and what is beside
  symmap.py unwind MAP FILE     compares the unwind tables of a map with the sections of its Mach-O file
  symmap.py compare MAP ...    compares what `machsym map lookup --json --no-demangle MAP <MAP.addresses >MAP.json` said
                               with the answers of this reader; prints the addresses that differ, and one line a map
"""
import json
import struct
import sys

KINDS = ("none name pages index runs symbol_index symbol_runs dict text twins twin_index twin_runs calls unwind_info eh_frame debug_frame "
         "large_frames").split()
SOURCES = "none dwarf symtab stub exports objc block swift function_starts".split()
HEADER = 96
ROW = 32
MOST_ROWS = 64
PAGE = 16384
RUN_HEAD = 36
MOST_STEPS = 8
BLOCK = 1024
UNIT = 8
MOST_LINKS = 4096
PEOPLE = 3
MOST_CALLS = 256  # that an answer has; of more, the innermost
MOST_TEXT = 65536
CPU_TYPE_ARM = 12
CPU_TYPE_X86_64 = 0x01000007


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


def zigzag(number):
    return number // 2 if number % 2 == 0 else -((number + 1) // 2)


class Run:
    """A run, with its parts as lists."""

    def __init__(self, runs, at):
        self.begin, self.length, self.end, self.text, self.base = struct.unpack_from("<5I", runs, at)
        ranges, roots, calls, files = struct.unpack_from("<4H", runs, at + 20)
        link, file, line, column, place, start, size, starts = runs[at + 28:at + RUN_HEAD]
        self.data = runs[at:at + self.length]
        self.at = RUN_HEAD
        begins = [self.base] + [self.base + begin for begin, in self.records(ranges - 1, [starts])]
        ends = begins[1:] + [self.end]
        self.roots = self.records(roots, [1, place, start, size])
        self.files = self.records(files, [place])
        rows = self.records(ranges, [link, file, line, column])
        self.ranges = [(lo, hi) + row for lo, hi, row in zip(begins, ends, rows)]
        self.calls = self.records(calls, [link, file, line, column, place])
        if self.at > self.length:
            raise Damaged("a run is longer than it says")

    def records(self, count, widths):
        """Rows of fields. `widths` has the number of bytes of each field."""
        rows = []
        for _ in range(count):
            row = []
            for width in widths:
                row.append(int.from_bytes(self.data[self.at:self.at + width], "little"))
                self.at += width
            rows.append(tuple(row))
        return rows


class Map:
    def __init__(self, data):
        self.open_header(data)
        self.open_directory(data)
        self.check_pages(data)
        self.kept_blocks = {}

    def open_header(self, data):
        if len(data) < HEADER or data[:8] != b"MACHSYM\n":
            raise Damaged("not a map")
        version, self.flags = struct.unpack_from("<2I", data, 8)
        if version != 3:
            raise Damaged("version %d" % version)
        self.uuid = data[16:32]
        self.cputype, self.cpusubtype, self.text_base, self.text_size = struct.unpack_from("<2I2Q", data, 32)
        self.policy, self.rows, size, self.checksum = struct.unpack_from("<2I2Q", data, 56)
        if size != len(data):
            raise Damaged("the file has another size")
        if self.rows > MOST_ROWS:
            raise Damaged("the directory has %d rows" % self.rows)
        self.columns = self.flags & 1 != 0
        self.is_damaged = self.flags & 4 != 0

    def open_directory(self, data):
        end = HEADER + ROW * self.rows
        head = data[:72] + bytes(8) + data[80:HEADER]
        if checksum(head) ^ checksum(data[HEADER:end]) != self.checksum:
            raise Damaged("the checksum of the header does not match")
        self.numbers = {}
        for kind in KINDS:
            setattr(self, kind, b"")
            self.numbers[kind] = (0, 0)
        for at in range(HEADER, end, ROW):
            kind, flags, begin, length, a, b = struct.unpack_from("<2I2Q2I", data, at)
            if begin + length > len(data) or begin % 8 != 0:
                raise Damaged("a table lies outside")
            if kind < len(KINDS):
                setattr(self, KINDS[kind], data[begin:begin + length])
                self.numbers[KINDS[kind]] = (a, b)
            elif flags & 1 == 0:
                raise Damaged("a table of kind %d" % kind)

    def check_pages(self, data):
        low, high = self.numbers["pages"]
        if checksum(self.pages) != low | high << 32:
            raise Damaged("the checksum of the checksums does not match")
        begin = HEADER + ROW * self.rows + len(self.pages)
        sums = [checksum(data[at:at + PAGE]) for at in range(begin, len(data), PAGE)]
        if struct.pack("<%dQ" % len(sums), *sums) != self.pages:
            raise Damaged("the checksum of a page does not match")

    # ---- text ----

    def block(self, unit):
        """The text of a block, and the unit where the next one begins."""
        if unit not in self.kept_blocks:
            size, = struct.unpack_from("<H", self.text, unit * UNIT)
            packed = self.text[unit * UNIT + 2:unit * UNIT + 2 + size]
            text = packed if size == BLOCK else unpack_lz4(packed, self.dict)
            self.kept_blocks[unit] = text, unit + (2 + size + UNIT - 1) // UNIT
        return self.kept_blocks[unit]

    def texts(self, run, place, count):
        """Returns `count` texts from the place that a field of a run tells."""
        place //= 2
        unit = run.text + place // BLOCK
        piece, unit = self.block(unit)
        piece = piece[place % BLOCK:]
        found = []

        def take(length):
            nonlocal piece, unit
            while len(piece) < length:
                more, unit = self.block(unit)
                piece += more
            taken = piece[:length]
            piece = piece[length:]
            return taken

        for _ in range(count):
            length = shift = 0
            byte = 0x80
            while byte >= 0x80:
                byte = take(1)[0]
                length |= (byte & 0x7F) << shift
                shift += 7
            if length > MOST_TEXT:
                raise Damaged("a text of %d bytes" % length)
            found.append(take(length))
        return found

    def path(self, run, number):
        if number == 0:
            return b""
        parts = self.texts(run, run.files[number - 1][0], 3)
        for i in (1, 2):
            if parts[i][:1] == b"/":
                parts[:i] = [b""] * i
        path = b""
        for part in parts:
            path += b"/" + part if path and part and path[-1:] != b"/" else part
        return path

    # ---- runs ----

    def chain(self, run, number, file, line, column):
        """The frames of a chain."""
        frames = []
        while True:
            if len(frames) == MOST_LINKS:
                raise Damaged("a chain without end")
            is_call = number >= 2 + len(run.roots)
            if is_call:
                caller, next_file, next_line, next_column, place = run.calls[number - 2 - len(run.roots)]
                if caller >= number:
                    raise Damaged("a caller that follows its call")
                source = 1 + place % 2
            else:
                source, place, start, size = run.roots[number - 2]
            frame = {"linkage_name": b"", "name": b"", "file": self.path(run, file), "line": line, "column": column,
                     "inline": is_call, "name_source": SOURCES[source]}
            if place >= 2:
                frame["linkage_name"], frame["name"] = self.texts(run, place, 2)
            frames.append(frame)
            if not is_call:
                break
            number, file, line, column = caller, next_file, next_line, next_column
        if len(frames) > MOST_CALLS + 1:
            frames = frames[:MOST_CALLS] + frames[-1:]
            frames[-2]["callers_left_out"] = True
        for frame in frames:
            self.take_near(frame)
            frame["start"] = self.text_base + run.base - zigzag(start) & (1 << 64) - 1
            frame["size"] = size
        return frames

    def take_near(self, frame):
        """A line of the policy people is stored with a bit that says whether it is one near by."""
        if self.policy == PEOPLE:
            frame["near"] = frame["line"] % 2 == 1
            frame["line"] //= 2

    def all_runs(self, runs):
        at = 0
        while at < len(runs) - 8:
            run = Run(runs, at)
            yield run
            at += run.length

    # ---- lookup ----

    def first_run(self, kind, offset):
        """The position of the run that a lookup begins with; None."""
        index = getattr(self, kind)
        shift, buckets = self.numbers[kind]
        if buckets == 0:
            return None
        number, = struct.unpack_from("<I", index, 4 * min(offset >> shift, buckets - 1))
        if number < 1 << 31:
            return 2 * number
        at = 4 * (number - (1 << 31))
        count, = struct.unpack_from("<I", index, at)
        pairs = struct.iter_unpack("<2I", index[at + 4:at + 4 + 8 * count])
        return 2 * [position for i, (begin, position) in enumerate(pairs) if i == 0 or begin <= offset][-1]

    def find(self, kind, offset):
        """The run that knows an offset, with the range that holds it; None."""
        runs = getattr(self, kind.replace("index", "runs"))
        at = self.first_run(kind, offset)
        for _ in range(1 + MOST_STEPS):
            if at is None or at >= len(runs) - 8:
                return None
            run = Run(runs, at)
            if offset < run.begin:
                return None
            for lo, hi, link, file, line, column in run.ranges:
                if lo <= offset < hi and link != 0:
                    return run, link, file, line, column
            at += run.length
        return None

    def plain(self, address):
        """An address without the bit that marks Thumb code."""
        return address & ~1 if self.cputype == CPU_TYPE_ARM else address

    def lookup(self, address):
        offset = address - self.text_base
        if not 0 <= offset < 1 << 32:
            return []
        hit = self.find("index", offset)
        if hit is not None and hit[1] != 1:
            return self.chain(*hit)
        symbol = self.find("symbol_index", offset)
        frames = self.chain(*symbol) if symbol is not None else []
        if hit is not None:
            if not frames:
                frames = [{"linkage_name": b"", "name": b"", "inline": False, "start": 0, "size": 0,
                           "name_source": "none"}]
            run, _, file, line, column = hit
            frames[0].update(file=self.path(run, file), line=line, column=column)
            self.take_near(frames[0])
        return frames

    def twins_at(self, address):
        """The other functions that share the code at an address, a list of frames each; whether there are more."""
        offset = self.plain(address) - self.text_base
        found = []
        more = False
        for lo, size, at in struct.iter_unpack("<3I", self.twins):
            if not lo <= offset < lo + size:
                continue
            hit = self.find("twin_index", at + offset - lo) if at != 0xFFFFFFFF else None
            more = more or at == 0xFFFFFFFF
            if hit is not None:
                found.append(self.chain(*hit))
                for frame in found[-1]:
                    frame.update(start=self.text_base + lo, size=size)
        return found, more

    def callee(self, return_address, caller, body):
        """The number of the function that is called, by the number of its caller; None."""
        key = (return_address - self.text_base, caller, body - self.text_base)
        called = [row[3] for row in struct.iter_unpack("<4I", self.calls) if row[:3] == key]
        return called[0] if len(called) == 1 else None

    def ranges(self):
        for runs in (self.runs, self.symbol_runs):
            for run in self.all_runs(runs):
                for lo, hi, link, *_ in run.ranges:
                    if link != 0:
                        yield self.text_base + lo, self.text_base + hi


def as_printed(frame, address):
    """A frame with the fields that machsym prints."""
    text = {key: frame[key].decode("utf-8", "replace") for key in ("linkage_name", "name", "file")}
    has_line = frame["line"] != 0 or text["file"] != ""
    left_out = {"callers_left_out": True} if "callers_left_out" in frame else {}
    return {**left_out, "name": text["linkage_name"] or text["name"], "linkage_name": text["linkage_name"], "file": text["file"],
            "line": frame["line"], "column": frame["column"], "inline": frame["inline"],
            "offset": address - frame["start"] & (1 << 64) - 1, "name_source": frame["name_source"],
            "line_source": "near" if frame.get("near") else "dwarf" if has_line else "none"}


def list_addresses(symmap, path):
    addresses = set()
    for lo, hi in symmap.ranges():
        addresses |= {lo - 1, lo, (lo + hi) // 2, hi - 1, hi}
    with open(path, "w") as out:
        out.writelines("%#x\n" % address for address in sorted(addresses) if address >= 0)


def answers_of(symmap, theirs):
    """What this reader and machsym say of an address."""
    address = int(theirs["address"], 16)
    address = symmap.plain(address)
    return [as_printed(frame, address) for frame in symmap.lookup(address)], theirs["frames"]


def others_of(symmap, theirs):
    """The other functions that share the code of an address, by both."""
    address = int(theirs["address"], 16)
    keys = ("name", "linkage_name", "file", "line", "name_source")
    ours = [as_printed(frames[-1], address) for frames in symmap.twins_at(address)[0]]
    return tuple(sorted([frame[key] for key in keys] for frame in told) for told in (ours, theirs.get("folded", [])))


def compare(symmap, path, both):
    """How many addresses there are, and how many have other answers. both: what this reader and machsym say."""
    count = 0
    differing = 0
    with open(path, encoding="utf-8", errors="replace") as answers:
        for line in answers:
            theirs = json.loads(line)
            ours, told = both(symmap, theirs)
            count += 1
            if ours != told:
                differing += 1
                print("%s\n  this reader  %s\n  machsym      %s" % (theirs["address"], ours, told))
    return count, differing


def list_twins(symmap, path):
    addresses = set()
    for lo, size, _ in struct.iter_unpack("<3I", symmap.twins):
        addresses |= {symmap.text_base + lo + at for at in (0, size // 2 & ~3, size - 4)}
    with open(path, "w") as out:
        out.writelines("%#x\n" % address for address in sorted(addresses))


def sections_of(data):
    """The unwind tables and the code of a thin Mach-O file for 64 bits: {name: (address, bytes)}."""
    magic, _, _, _, count = struct.unpack_from("<5I", data)
    at, found = 32, {}
    for _ in range(count if magic == 0xFEEDFACF else 0):
        command, size = struct.unpack_from("<2I", data, at)
        for section in range(at + 72, at + size, 80) if command == 0x19 else ():
            name = data[section:section + 16].rstrip(b"\0").decode()
            address, length, offset = struct.unpack_from("<2QI", data, section + 32)
            if offset != 0 and length != 0:
                found.setdefault(name, (address, data[offset:offset + length]))
        at += size
    return found


def large_frames_of(info, base, text):
    """Functions of a compact table whose size stands in their code, by compact_unwind_encoding.h."""
    commons, common_count, _, _, index, index_count = struct.unpack_from("<6I", info, 4)
    rows = []
    for i in range(index_count):
        first, page, _ = struct.unpack_from("<3I", info, index + 12 * i)
        if page == 0:
            continue
        kind, entries, count = struct.unpack_from("<I2H", info, page)
        own = struct.unpack_from("<H", info, page + 8)[0] + page
        for k in range(count):
            if kind == 2:
                function, encoding = struct.unpack_from("<2I", info, page + entries + 8 * k)
            else:
                entry, = struct.unpack_from("<I", info, page + entries + 4 * k)
                function, number = first + (entry & 0xFFFFFF), entry >> 24
                place = commons + 4 * number if number < common_count else own + 4 * (number - common_count)
                encoding, = struct.unpack_from("<I", info, place)
            if encoding >> 24 & 15 == 3:
                at = base + function + (encoding >> 16 & 255) - text[0]
                rows.append(struct.pack("<I", function) + text[1][at:at + 4])
    return b"".join(rows)


def compare_unwind(symmap, data):
    """Returns what differs."""
    sections = sections_of(data)
    wrong = []
    for kind in ("unwind_info", "eh_frame", "debug_frame"):
        low, high = symmap.numbers[kind]
        if sections.get("__" + kind, (0, b"")) != (low | high << 32, getattr(symmap, kind)):
            wrong.append(kind)
    large = b""
    if symmap.cputype == CPU_TYPE_X86_64 and symmap.unwind_info:
        large = large_frames_of(symmap.unwind_info, symmap.text_base, sections["__text"])
    if symmap.large_frames != large or symmap.numbers["large_frames"][0] != len(large) // 8:
        wrong.append("large_frames")
    return wrong


def main(arguments):
    if len(arguments) == 3 and arguments[0] == "unwind":
        with open(arguments[1], "rb") as file, open(arguments[2], "rb") as program:
            symmap = Map(file.read())
            wrong = compare_unwind(symmap, program.read())
        print("%d bytes, %d large frames, wrong: %s" % (len(symmap.unwind_info + symmap.eh_frame + symmap.debug_frame),
                                                        len(symmap.large_frames) // 8, wrong))
        return
    if len(arguments) < 2 or arguments[0] not in ("addresses", "compare", "twins", "compare-twins"):
        sys.exit(__doc__)
    for path in arguments[1:]:
        try:
            with open(path, "rb") as file:
                symmap = Map(file.read())
        except Damaged as damaged:
            sys.exit("%s: %s" % (path, damaged))
        if arguments[0] == "addresses":
            list_addresses(symmap, path + ".addresses")
        elif arguments[0] == "twins":
            list_twins(symmap, path + ".twins")
        elif arguments[0] == "compare-twins":
            print("%s: %d twins, %d differ" % ((path,) + compare(symmap, path + ".json", others_of)))
        else:
            print("%s: %d addresses, %d differ" % ((path,) + compare(symmap, path + ".json", answers_of)))


if __name__ == "__main__":
    main(sys.argv[1:])
