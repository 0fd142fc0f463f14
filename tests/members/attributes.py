"""Each attribute and language that DWARF has a number for, the words of inlining, accessibility, virtuality, calling conventions and others,
and numbers beside them, as `dwarfdump --lookup` prints them: functions with all attributes, a unit for each language. Truth: llvm-dwarfdump. Usage: attributes.py TOOL FOLDER TRUTH"""
import os, struct, subprocess, sys

# What a function's own code and name need, or other entries, which have tests of their own (names_of_apple.sh): not numbers alone.
LINKED = {0x01, 0x02, 0x03, 0x10, 0x11, 0x12, 0x31, 0x40, 0x47, 0x49, 0x55, 0x6E, 0x2007}
LANGUAGE = 0x13
# Ordering, visibility, inline, accessibility, calling convention, identifier case, virtuality, defaulted, and a class's runtime
WORDED = (0x09, 0x17, 0x20, 0x32, 0x36, 0x42, 0x4C, 0x8B, 0x3FE6)
ATTRIBUTES = [a for a in (*range(1, 0x90), *range(0x2001, 0x2010), *range(0x2100, 0x2140), *range(0x3E00, 0x3E10), *range(0x3FE0, 0x3FF4))
              if a not in LINKED | {LANGUAGE}]
BASE = 0x100000000
UNIT_SIZE = 0x100


def uleb(n):
    out = bytearray()
    while True:
        out.append(n & 127 | (n > 127) << 7)
        n >>= 7
        if n == 0:
            return bytes(out)


def abbreviation(code, tag, children, pairs):
    return uleb(code) + uleb(tag) + bytes([children]) + b"".join(uleb(a) + uleb(f) for a, f in pairs) + b"\0\0"


def unit(language, at, function, form_of):
    """A unit in the language with one function, which has these (attribute, value)."""
    body = uleb(1) + struct.pack("<HQI", language, at, UNIT_SIZE) + uleb(form_of) + struct.pack("<QI", at, UNIT_SIZE) + b"".join(bytes([v]) for _, v in function) + b"\0"
    head = struct.pack("<HIB", 4, 0, 8)
    return struct.pack("<I", len(head) + len(body)) + head + body


def mach_o(sections, size):
    """sections: (name, bytes)"""
    commands = struct.pack("<II", 0x1B, 24) + bytes(range(16))
    commands += struct.pack("<II16sQQQQIIII", 0x19, 152, b"__TEXT", BASE, size, 0, 0, 5, 5, 1, 0)
    commands += struct.pack("<16s16sQQIIIIIIII", b"__text", b"__TEXT", BASE, size, 0, 0, 0, 0, 0x80000400, 0, 0, 0)
    at = 32 + len(commands) + 72 + 80 * len(sections)
    rows, first = b"", at
    for name, data in sections:
        rows += struct.pack("<16s16sQQIIIIIIII", name, b"__DWARF", BASE + size + at - first, len(data), at, 0, 0, 0, 0, 0, 0, 0)
        at += len(data)
    whole = sum(len(data) for _, data in sections)
    commands += struct.pack("<II16sQQQQIIII", 0x19, 72 + len(rows), b"__DWARF", BASE + size, 0x100000, at - whole, whole, 7, 3, len(sections), 0) + rows
    return struct.pack("<8I", 0xFEEDFACF, 0x100000C, 0, 10, 3, len(commands), 0, 0) + commands + b"".join(data for _, data in sections)


def written(path, units):
    """units: (language, [(attribute, value), ...])"""
    abbrev = abbreviation(1, 0x11, 1, [(LANGUAGE, 5), (0x11, 1), (0x12, 6)])
    info = b""
    for i, (language, function) in enumerate(units):
        abbrev += abbreviation(2 + i, 0x2E, 0, [(0x11, 1), (0x12, 6)] + [(a, 0x0B) for a, _ in function])
        info += unit(language, BASE + UNIT_SIZE * i, function, 2 + i)
    with open(path, "wb") as file:
        file.write(mach_o(((b"__debug_abbrev", abbrev + b"\0"), (b"__debug_info", info)), UNIT_SIZE * max(16, len(units))))


def run(program, at, path):
    return subprocess.run([program, "--lookup=%#x" % at, path], capture_output=True, text=True).stdout.splitlines()


def main():
    tool, folder, truth = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "all.dwarf")
    plain = [a for a in ATTRIBUTES if a not in WORDED]
    units = [(0x0C, [(a, 1) for a in plain[i:i + 60]]) for i in range(0, len(plain), 60)]
    units += [(0x0C, [(a, v) for a in WORDED]) for v in (*range(0x48), *range(0xB0, 0xE0), 0xFF)]
    units += [(language, []) for language in (*range(0x48), 0x8000, 0x8001, 0x8002, 0x8E57, 0xB000)]
    written(path, units)
    named = 0
    for i, (language, function) in enumerate(units):
        want, got = (run(program, BASE + UNIT_SIZE * i + 1, path) for program in (truth, tool))
        assert len(want) == len(got) > 5, (language, function, want, got)
        for w, g in zip(want, got):
            # attributes of entries that are no code are numbers here, by choice
            same = w == g or ("DW_AT_unknown_" in g and "DW_AT_unknown_" not in w and g.endswith("\t(0x01)"))
            assert same, (hex(language), w, g)
            named += w == g and "DW_AT_" in g and i < 5 and "unknown" not in g
    assert named > 80, named


if __name__ == "__main__":
    main()
