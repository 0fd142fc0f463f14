"""Mach-O headers read a second time, after loader.h and fat.h: what `machsym info --quick` tells of each slice, section, platform and version, in
text and JSON, of fixtures and of copies in which headers' fields are changed; and in which of several files an address is looked up, at each
edge of their sections. llvm-readobj tells the sections, too. Usage: images.py TOOL FOLDER [SEED]"""
import json, os, random, re, shutil, struct, subprocess, sys, uuid

BIN = "tests/fixtures/bin/"
TYPES = "? OBJECT EXECUTE FVMLIB CORE PRELOAD DYLIB DYLINKER BUNDLE DYLIB_STUB DSYM KEXT FILESET".split()
PLATFORMS = ["unknown", "macOS", "iOS", "tvOS", "watchOS", "bridgeOS", "Mac Catalyst", "iOS simulator", "tvOS simulator", "watchOS simulator",
             "DriverKit", "visionOS", "visionOS simulator"]
MIN_VERSIONS = {0x24: "macOS", 0x25: "iOS", 0x2F: "tvOS", 0x30: "watchOS"}
ZERO_FILLED = (1, 12, 18)  # S_ZEROFILL, S_GB_ZEROFILL, S_THREAD_LOCAL_ZEROFILL
FIXTURES = ["demo", "inline-arm64-d5-22", "map-arm64-d4-O0/program", "inline-fat.dwarf", "inline-fat64.dwarf", "zoo-x86_64-opcodes", "plain-arm64.kext",
            "plain-arm64.dylinker", "plain-i386-d5.o", "plain-armv7k.o", "inline-arm64_32-d4-22.dwarf", "exports-x86_64-opcodes.dylib", "symbols.o", "cold-x86_64-d4-14.dwarf"]


def text(field):
    return field.split(b"\0")[0].decode()


def commands(data, begin, wide):
    """(kind, where it begins, its bytes) of each load command."""
    count, at = struct.unpack_from("<I", data, begin + 16)[0], begin + (32 if wide else 28)
    for _ in range(count):
        kind, size = struct.unpack_from("<II", data, at)
        yield kind, at, data[at:at + size]
        at += size


def slices(data):
    magic = struct.unpack_from(">I", data)[0]
    if magic in (0xCAFEBABE, 0xCAFEBABF):
        for i in range(struct.unpack_from(">I", data, 4)[0]):
            yield struct.unpack_from(">IIII" if magic == 0xCAFEBABE else ">IIQQ", data, 8 + i * (20 if magic == 0xCAFEBABE else 32))[2:4]
    else:
        yield 0, len(data)


def read(data, begin, size):
    """What the headers of a slice say, and of each section where its header stands."""
    wide = data[begin:begin + 4] == b"\xcf\xfa\xed\xfe"
    found = {"type": struct.unpack_from("<I", data, begin + 12)[0], "uuid": None, "platforms": [], "source": 0, "encrypted": False, "sections": [],
             "offset": begin, "size": size, "segments": []}
    for kind, at, body in commands(data, begin, wide):
        if kind == (0x19 if wide else 1):
            name = text(body[8:24])
            addr, length, off, filesize = struct.unpack_from("<4Q" if wide else "<4I", body, 24)
            found["segments"].append((name, addr, length))
            executes = struct.unpack_from("<I", body, 60 if wide else 44)[0] & 4 != 0
            head, each = (72, 80) if wide else (56, 68)
            for i in range(struct.unpack_from("<I", body, head - 8)[0]):
                one = body[head + i * each:head + (i + 1) * each]
                where, length = struct.unpack_from("<2Q" if wide else "<2I", one, 32)
                off, _, _, _, flags = struct.unpack_from("<5I", one, 48 if wide else 40)
                there = 0 if flags & 0xFF in ZERO_FILLED or off == 0 else max(0, min(length, size - off))
                found["sections"].append({"segment": text(one[16:32]), "name": text(one[:16]), "addr": where, "size": length, "there": there,
                                          "code": flags & 0x80000400 != 0, "executes": executes and text(one[16:32]) == name, "header": at + head + i * each})
        elif kind == 0x1B:
            found["uuid"] = str(uuid.UUID(bytes=body[8:24])).upper()
        elif kind == 0x32:
            found["platforms"].append((PLATFORMS[p] if (p := struct.unpack_from("<I", body, 8)[0]) < 13 else "unknown", *struct.unpack_from("<2I", body, 12)))
        elif kind in MIN_VERSIONS:
            found["platforms"].append((MIN_VERSIONS[kind], *struct.unpack_from("<2I", body, 8)))
        elif kind == 0x2A:
            found["source"] = struct.unpack_from("<Q", body, 8)[0]
        elif kind in (0x21, 0x2C):
            found["encrypted"] |= struct.unpack_from("<I", body, 16)[0] != 0
    if not any(s["code"] for s in found["sections"]):  # a file that marks no code
        for s in found["sections"]:
            s["code"] = s["executes"]
    return found


def version(number, full=False):
    short = "%d.%d" % (number >> 16, number >> 8 & 255)
    return short + ".%d" % (number & 255) if full or number & 255 else short


def missing(section, encrypted):
    if section["there"] >= section["size"]:
        return ""
    if section["there"]:
        return ", cut short"
    return ", encrypted" if encrypted and section["segment"] == "__TEXT" else ", no bytes in the file"


def shown(found):
    """The lines of `info --quick` without the architecture, which llvm-readobj calls otherwise."""
    kind = TYPES[found["type"]] if found["type"] < len(TYPES) else "?"
    lines = ["%s, %s, %d bytes at offset %d" % (kind, found["uuid"] or "no UUID", found["size"], found["offset"])]
    lines += ["  platform: %s, minimum %s, SDK %s" % (name, version(least), version(sdk)) for name, least, sdk in found["platforms"]] or ["  platform: unknown"]
    if found["source"]:
        v = found["source"]
        lines.append("  source version: %d.%d.%d.%d.%d" % (v >> 40, v >> 30 & 1023, v >> 20 & 1023, v >> 10 & 1023, v & 1023))
    for s in found["sections"]:
        lines.append("    %-10s %-17s 0x%012x %10d bytes%s%s" % (s["segment"], s["name"], s["addr"], s["size"], ", code" if s["code"] else "", missing(s, found["encrypted"])))
    return lines


def run(tool, *words):
    return subprocess.run([tool, *words], capture_output=True, text=True)


def check(tool, path, data):
    parts = [read(data, *where) for where in slices(data)]
    said = run(tool, "info", "--quick", path)
    got = [re.sub(r"^\w+ (?=[A-Z?_]+, )", "", line) for line in said.stdout.splitlines()[1:]]
    got = [line for line in got if not line.startswith(("  text:", "  sections:", "  encrypted by", "  damaged:", "  compressed"))]
    want = [line for part in parts for line in shown(part)]
    assert got == want, "%s:\n%s" % (path, "\n".join(["- " + w for w in want if w not in got] + ["+ " + g for g in got if g not in want]) or "another order")
    for part, line in zip(parts, run(tool, "info", "--quick", "--json", path).stdout.splitlines()):
        told = json.loads(line)
        assert [(s["segment"], s["name"], int(s["address"], 16), s["size"], s["bytes_in_file"], s["code"]) for s in told["sections"]] == \
            [(s["segment"], s["name"], s["addr"], s["size"], s["there"], s["code"]) for s in part["sections"]], path
        assert [(p["platform"], p["minimum"], p["sdk"]) for p in told["platforms"]] == [(n, version(a, True), version(b, True)) for n, a, b in part["platforms"]], path
        assert (told["uuid"], told["offset"], told["size"], told["encrypted"]) == (part["uuid"], part["offset"], part["size"], part["encrypted"]), path
    return parts


def sections_of_llvm(path):
    said = subprocess.run(["llvm-readobj-22", "--sections", path], capture_output=True, text=True).stdout
    field = lambda name: re.findall(r"^ +%s: (\S+)" % name, said, re.M)
    return list(zip(field("Segment"), field("Name"), [int(a, 16) for a in field("Address")], [int(s, 16) for s in field("Size")]))


def changed(data, rng):
    """A copy with other fields: what sort of file it is, versions, platforms, sections that are cut or are code."""
    data, part = bytearray(data), read(data, 0, len(data))
    if rng.random() < 0.5 and part["type"] != 1:
        struct.pack_into("<I", data, 12, rng.choice([2, 5, 6, 7, 8, 9, 10, 11]))
    for kind, at, body in commands(bytes(data), 0, True):
        if kind == 0x32:
            struct.pack_into("<3I", data, at + 8, rng.randrange(15), *[rng.choice([0, 0x10000, 0xB0000, 0xE0500, 0xF0001, 0xFFFFFFFF, rng.getrandbits(24)]) for _ in range(2)])
        elif kind == 0x2A:
            struct.pack_into("<Q", data, at + 8, rng.choice([0, 1, 1 << 40, 1023, 1023 << 10, 0x123456789ABCDEF, rng.getrandbits(64)]))
        elif kind == 0x1B:
            data[at + 8:at + 24] = rng.randbytes(16)
    for s in part["sections"]:
        if rng.random() < 0.3:
            struct.pack_into("<I", data, s["header"] + 64, rng.choice([0, 0x80000000, 0x400, 0x80000400, 1, 12, 18, 8, 2]))
    return bytes(data)


def check_targets(tool, rng):
    """Of several files the first answers that has the address in its __TEXT or in a section that is not debug info, however addresses count."""
    names = ["demo", "map-arm64-d4-O0/program", "zoo-x86_64-opcodes", "plain-arm64.kext", "exports-x86_64-opcodes.dylib"]
    parts = {name: read(data := open(BIN + name, "rb").read(), 0, len(data)) for name in names}
    for _ in range(60):
        chosen = rng.sample(names, 2)
        base = rng.choice([0, 0x1000, 0x104000000, 0x7FF800000000])
        text_addr = {name: next((a for seg, a, n in parts[name]["segments"] if seg == "__TEXT"), 0) for name in chosen}
        form, moved = rng.choice([([], lambda name, a: a), (["-s", hex(base)], lambda name, a: a + base), (["-l", hex(base)], lambda name, a: a - text_addr[name] + base),
                                  (["-offset"], lambda name, a: a - text_addr[name])])
        spans = [[(moved(name, a), moved(name, a + n)) for seg, a, n in parts[name]["segments"] if seg == "__TEXT"] +
                 [(moved(name, s["addr"]), moved(name, s["addr"] + s["size"])) for s in parts[name]["sections"] if s["segment"] != "__DWARF"] for name in chosen]
        edges = sorted({edge + d for each in spans for span in each for edge in span for d in (-1, 0) if edge + d >= 0})
        at = rng.sample(edges, min(40, len(edges)))
        said = run(tool, "atos", "--json", *form, *sum((["-o", BIN + name] for name in chosen), []), *["%#x" % a for a in at])
        rows = [json.loads(line) for line in said.stdout.splitlines()]
        assert len(rows) == len(at), said.stderr
        for a, row in zip(at, rows):
            first = next((name for name, each in zip(chosen, spans) if any(lo <= a < hi for lo, hi in each)), None)
            assert row.get("image") == (first and os.path.basename(first)), (form, chosen, hex(a), first, row)


def check_first_section(tool, folder):
    """A file whose first section lies outside of its __TEXT: that section's addresses are the file's, too."""
    with open(BIN + "map-arm64-d4-O0/program", "rb") as file:
        data = bytearray(file.read())
    first = read(bytes(data), 0, len(data))["sections"][0]
    struct.pack_into("<Q", data, first["header"] + 32, 0x200000000)
    path = os.path.join(folder, "moved")
    with open(path, "wb") as file:
        file.write(data)
    for at, image in ((0x1FFFFFFFF, None), (0x200000000, "moved"), (0x1FFFFFFFF + first["size"], "moved"), (0x200000000 + first["size"], None)):
        row = json.loads(run(tool, "atos", "--json", "-o", path, "-o", BIN + "demo", hex(at)).stdout)
        assert row.get("image") == image, row


def main():
    tool, folder = sys.argv[1:3]
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    os.makedirs(folder)
    for name in FIXTURES:
        with open(BIN + name, "rb") as file:
            data = file.read()
        path = os.path.join(folder, name.replace("/", "-"))  # without a dSYM beside it
        with open(path, "wb") as file:
            file.write(data)
        parts = check(tool, path, data)
        if shutil.which("llvm-readobj-22"):
            assert sections_of_llvm(BIN + name) == [(s["segment"], s["name"], s["addr"], s["size"]) for part in parts for s in part["sections"]], name
    for i in range(40):
        with open(BIN + rng.choice(["demo", "map-arm64-d4-O0/program", "zoo-x86_64-opcodes"]), "rb") as file:
            data = changed(file.read(), rng)
        path = os.path.join(folder, "changed%d" % i)
        with open(path, "wb") as file:
            file.write(data)
        check(tool, path, data)
    check_targets(tool, rng)
    check_first_section(tool, folder)


main()
