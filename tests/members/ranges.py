"""Each kind of entry that a list of ranges has, in DWARF 5 and 4, as `dwarfdump --lookup` prints and finds it: where ranges begin, end, and beside
them. Then functions after an entry whose abbreviation is not there. Truth: llvm-dwarfdump. Usage: ranges.py TOOL FOLDER TRUTH"""
import os, struct, sys

from attributes import BASE, abbreviation, mach_o, run, uleb

SIZE = 0x1000
ADDRESSES = [BASE + 0x200, BASE + 0x240, BASE + 0x300, BASE + 0x360]
word = lambda n: struct.pack("<Q", n)
# Of DWARF 5, 7.25: base by index and pairs; base and pairs, another base; indexes; index and length; addresses; address and length; none.
LISTS = [
    uleb(4) + uleb(0x10) + uleb(0x20) + uleb(4) + uleb(0x28) + uleb(0x30),
    uleb(1) + uleb(0) + uleb(4) + uleb(8) + uleb(0x18) + uleb(4) + uleb(0x20) + uleb(0x28),
    uleb(5) + word(BASE + 0x400) + uleb(4) + uleb(0) + uleb(0x10) + uleb(5) + word(BASE + 0x480) + uleb(4) + uleb(0x10) + uleb(0x20),
    uleb(2) + uleb(2) + uleb(3) + uleb(3) + uleb(3) + uleb(0x10),
    uleb(6) + word(BASE + 0x500) + word(BASE + 0x510) + uleb(7) + word(BASE + 0x520) + uleb(0x88),
    b"",
]
# Of DWARF 4, 2.17.3
PAIRS = [
    word(0x10) + word(0x20) + word(0x28) + word(0x30),
    word((1 << 64) - 1) + word(BASE + 0x400) + word(0) + word(0x10) + word((1 << 64) - 1) + word(BASE + 0x480) + word(0x10) + word(0x20),
    b"",
]
# Where those ranges are, and the bounds of LAST.
FOUND = {5: [(0x10, 0x20), (0x28, 0x30), (0x208, 0x218), (0x220, 0x228), (0x400, 0x410), (0x490, 0x4A0), (0x300, 0x360), (0x360, 0x370), (0x500, 0x510),
             (0x520, 0x5A8), (0x700, 0x740)],
         4: [(0x10, 0x20), (0x28, 0x30), (0x400, 0x410), (0x490, 0x4A0), (0x700, 0x740)]}
LAST = BASE + 0x700, 0x40  # a function with its own bounds, after all others


def lists_of(version):
    """The section, and where each list begins."""
    head = struct.pack("<HBBI", 5, 8, 0, 0) if version == 5 else b""
    data, begins = (b"\0" * 4 + head if version == 5 else b""), []
    for one in LISTS if version == 5 else PAIRS:
        begins.append(len(data))
        data += one + (b"\0" if version == 5 else word(0) * 2)
    return (struct.pack("<I", len(data) - 4) + data[4:] if version == 5 else data), begins


def written(path, version, unknown=None):
    """One unit with a function a list. unknown: the function before which an entry of no kind stands."""
    ranges, begins = lists_of(version)
    pairs = [(0x13, 5), (0x11, 1), (0x12, 6)] + ([(0x73, 0x17)] if version == 5 else [])
    abbrev = abbreviation(1, 0x11, 1, pairs) + abbreviation(2, 0x2E, 0, [(0x55, 0x17)]) + abbreviation(3, 0x2E, 0, [(0x11, 1), (0x12, 6)]) + b"\0"
    body = uleb(1) + struct.pack("<HQI", 0x0C, BASE, SIZE) + (struct.pack("<I", 8) if version == 5 else b"")
    for number, begin in enumerate(begins):
        body += (uleb(9) if number == unknown else b"") + uleb(2) + struct.pack("<I", begin)
    body += uleb(3) + struct.pack("<QI", *LAST) + b"\0"
    head = struct.pack("<HBBI", 5, 1, 8, 0) if version == 5 else struct.pack("<HIB", 4, 0, 8)
    sections = [(b"__debug_abbrev", abbrev), (b"__debug_info", struct.pack("<I", len(head) + len(body)) + head + body)]
    if version == 5:
        addresses = struct.pack("<HBB", 5, 8, 0) + b"".join(map(word, ADDRESSES))
        sections += [(b"__debug_rnglists", ranges), (b"__debug_addr", struct.pack("<I", len(addresses)) + addresses)]
    else:
        sections.append((b"__debug_ranges", ranges))
    with open(path, "wb") as file:
        file.write(mach_o(sections, SIZE))


def main():
    tool, folder, truth = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    path, found = os.path.join(folder, "ranges.dwarf"), 0
    for version in (5, 4):
        for unknown in (None, 0, 1, 2):
            written(path, version, unknown)
            for at in sorted({BASE + at for lo, hi in FOUND[version] for at in ((lo - 1, lo, hi - 1, hi) if unknown is None else (lo,))}):
                want, got = (run(program, at, path) for program in (truth, tool))
                is_between = "DW_TAG_subprogram" not in "".join(want)  # of a unit without .debug_aranges nothing is told then, by choice
                assert want == got or (is_between and len(got) == 1), (version, unknown, hex(at), want, got)
                found += "DW_TAG_subprogram" in "".join(got)
    assert found > 40, found


main()
