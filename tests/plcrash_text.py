"""Reports of PLCrashReporter that a generator writes, and what they say, read by its schema, PLCrashReport.proto, and written in the
form of Apple's text. Usage: plcrash_text.py TOOL FOLDER"""
import random, subprocess, sys, time

SYSTEMS = ["Mac OS X ", "iPhone OS ", "iPhone Simulator ", "", "tvOS "]
# mach/machine.h: (type, subtype): the name of the architecture, and what Apple calls such a processor.
PROCESSORS = {(0x0100000c, 0): ("arm64", "ARM-64"), (0x0100000c, 2): ("arm64e", "ARM-64"), (0x01000007, 3): ("x86_64", "X86-64"),
              (12, 9): ("armv7", "ARM"), (7, 3): ("i386", "X86"), (18, 0): ("ppc", "PPC")}
EXCEPTIONS = [None, "EXC_BAD_ACCESS", "EXC_BAD_INSTRUCTION", "EXC_ARITHMETIC", "EXC_EMULATION", "EXC_SOFTWARE", "EXC_BREAKPOINT"]
LENGTHS = [16, 16, 16, 15, 17]  # of a UUID: only 16 bytes are one


def number(value):
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(n, value):
    """A field of a message: an integer, a text, or a message as a list of (number, value)."""
    if value is None:
        return b""
    if isinstance(value, int):
        return number(n << 3) + number(value)
    if isinstance(value, list):
        value = b"".join(field(*each) for each in value)
    elif isinstance(value, str):
        value = value.encode()
    return number(n << 3 | 2) + number(len(value)) + value


def generate(rng):
    """A report as a dictionary."""
    maybe = lambda value: value if rng.random() < 0.8 else None
    at, images = 0x100000000, []
    for i in range(rng.randint(0, 4)):
        at += rng.choice([0, 0, 0x4000])
        size = rng.choice([0x1000, 0x4000])
        images.append({"base": at, "size": size, "path": maybe("/Applications/%s%d" % (rng.choice(["demo", "l" * 70]), i)),
                       "uuid": maybe(bytes(rng.randrange(256) for _ in range(rng.choice(LENGTHS)))),
                       "arch": maybe(rng.choice(list(PROCESSORS)))})
        at += size
    rng.shuffle(images)
    edges = [0x50, 0x100000000] + [image["base"] + add for image in images for add in (0, 0x10, image["size"] - 1, image["size"])]

    def frame():
        pc = rng.choice(edges)
        symbol = maybe({"name": maybe(rng.choice(["f", "-[A b:]"])), "start": pc + rng.choice([-4, 0, 0, 8])})
        return {"pc": pc | rng.choice([0, 0, 0x51 << 56]), "symbol": symbol}
    threads = [{"number": i, "crashed": rng.random() < 0.3, "frames": [frame() for _ in range(rng.randint(0, 12))],
                "registers": [("x%d" % k, rng.randrange(1 << 40)) for k in range(rng.choice([0, 0, 3, 4, 5]))]} for i in range(rng.randint(1, 3))]
    mach = {"type": rng.choice([1, 1, 2, 6]), "codes": [rng.choice([1, 2, 3, 13])] + [rng.randrange(1 << 36) for _ in range(rng.randint(0, 1))]}
    return {
        "system": (rng.randint(0, 5), "17.%d" % rng.randint(0, 9), maybe(rng.choice([0, 1773476813, 951782400])), maybe("21E219")),
        "app": (maybe("org.example.demo"), maybe("34"), maybe("1.2")), "images": images, "threads": threads,
        "thrown": rng.choice([None, ("NSRangeException", "beyond", [frame() for _ in range(rng.randint(0, 3))])]),
        "signal": ("SIGSEGV", "SEGV_MAPERR", rng.randrange(1 << 36), maybe(mach)),
        "process": maybe((maybe("demo"), rng.randint(1, 999), maybe("/bin/demo"), maybe("launchd"), 1, rng.randint(0, 1), maybe(1773476000))),
        "machine": (maybe("iPhone14,5"), rng.choice(list(PROCESSORS)), rng.choice([1, 1, 1, 0])),  # 1: Mach's numbers
        "info": (rng.randint(0, 1), maybe(bytes(range(rng.choice(LENGTHS))))), "custom": maybe("user=7")}


def written(r):
    def frames(all_frames, n):
        return [(n, [(3, f["pc"])] + ([] if f["symbol"] is None else [(6, [(1, f["symbol"]["name"]), (2, f["symbol"]["start"])])])) for f in all_frames]
    name, code, address, mach = r["signal"]
    process = r["process"] and [(n, v) for n, v in zip(range(1, 8), r["process"])]
    message = [(1, [(1, r["system"][0]), (2, r["system"][1]), (4, r["system"][2]), (5, r["system"][3])]), (2, list(zip((1, 2, 3), r["app"])))]
    message += [(3, [(1, t["number"])] + frames(t["frames"], 2) + [(3, int(t["crashed"]))] + [(4, [(1, a), (2, b)]) for a, b in t["registers"]])
                for t in r["threads"]]
    message += [(4, [(1, i["base"]), (2, i["size"]), (3, i["path"]), (4, i["uuid"])] + ([] if i["arch"] is None else
                [(5, [(1, 1), (2, i["arch"][0]), (3, i["arch"][1])])])) for i in r["images"]]
    if r["thrown"]:
        message.append((5, [(1, r["thrown"][0]), (2, r["thrown"][1])] + frames(r["thrown"][2], 3)))
    message.append((6, [(1, name), (2, code), (3, address)] + ([] if mach is None else [(4, [(1, mach["type"])] + [(2, c) for c in mach["codes"]])])))
    if process:
        message.append((7, process))
    message += [(8, [(1, r["machine"][0]), (2, [(1, r["machine"][2]), (2, r["machine"][1][0]), (3, r["machine"][1][1])])]), (9, list(zip((1, 2), r["info"])))]
    return b"plcrash\x01" + b"".join(field(n, v) for n, v in message) + field(10, r["custom"])


def named(image):
    base = (image["path"] or "").rsplit("/", 1)[-1][:64]
    return base or "???"


def expected(r):
    lines = []

    def put(key, value):
        if value:
            lines.append((key + ":").ljust(21) + value)
    when = lambda seconds: seconds and time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    images = sorted(r["images"], key=lambda image: image["base"])
    put("Incident Identifier", r["info"][1] and len(r["info"][1]) == 16 and "00010203-0405-0607-0809-0A0B0C0D0E0F")
    put("Hardware Model", r["machine"][0])
    process = r["process"] or (None, 0, None, None, 0, 1, None)
    put("Process", process[0] and "%s [%d]" % (process[0], process[1]))
    put("Path", process[2])
    identifier, build, version = r["app"]
    put("Identifier", identifier)
    put("Version", "%s (%s)" % (version, build) if version and build else version or build)
    put("Code Type", r["machine"][2] and PROCESSORS[r["machine"][1]][1] + (" (Native)" if process[5] else " (Translated)"))
    put("Parent Process", process[3] and "%s [%d]" % (process[3], process[4]))
    lines.append("")
    put("Date/Time", when(r["system"][2]))
    put("Launch Time", when(process[6]))
    put("OS Version", (SYSTEMS + [""])[r["system"][0]] + r["system"][1] + (" (%s)" % r["system"][3] if r["system"][3] else ""))
    put("Report Version", "104")
    lines.append("")
    name, code, address, mach = r["signal"]
    if mach:
        put("Exception Type", "%s (%s)" % (EXCEPTIONS[mach["type"]], name))
        why = {1: "KERN_INVALID_ADDRESS", 2: "KERN_PROTECTION_FAILURE"}.get(mach["codes"][0])
        put("Exception Subtype", mach["type"] == 1 and why and "%s at 0x%016x" % (why, address))
        put("Exception Codes", ", ".join("0x%016x" % c for c in mach["codes"]))
    else:
        put("Exception Type", name)
        put("Exception Codes", "%s at 0x%016x" % (code, address))
    put("Exception Note", r["info"][0] and "SIMULATED (this is NOT a crash)")
    if r["thrown"]:
        lines.extend(["", "Application Specific Information:",
                      "*** Terminating app due to uncaught exception '%s', reason: '%s'" % r["thrown"][:2]])
    lines.append("")

    def put_frames(frames):
        for n, frame in enumerate(frames):
            plain = frame["pc"] & ((1 << 47) - 1)
            image = next((i for i in reversed(images) if i["base"] <= plain), None)
            image = image if image and plain < image["base"] + image["size"] else None
            base = image["base"] if image else 0
            symbol = frame["symbol"] or {"name": None, "start": 0}
            line = str(n).ljust(4) + (named(image) if image else "???")
            line = line.ljust(34) + "\t0x%016x 0x%x + %d" % (frame["pc"], base, plain - base)
            if image and symbol["name"] and symbol["start"] <= plain:
                line += " (%s + %d)" % (symbol["name"], plain - symbol["start"])
            lines.append(line)
        lines.append("")
    if r["thrown"] and r["thrown"][2]:
        lines.append("Last Exception Backtrace:")
        put_frames(r["thrown"][2])
    for thread in r["threads"]:
        lines.append("Thread %d%s" % (thread["number"], " Crashed:" if thread["crashed"] else ":"))
        put_frames(thread["frames"])
    for thread in r["threads"]:
        if thread["registers"]:
            lines.append("Thread %d crashed with Thread State:" % thread["number"])
            digits = 16 if r["machine"][1][0] >> 24 or not r["machine"][2] else 8  # CPU_ARCH_ABI64
            each = ["%6s: 0x%0*x" % (name, digits, value) for name, value in thread["registers"]]
            lines.extend("".join(each[i:i + 4]) for i in range(0, len(each), 4))
            lines.append("")
    lines.append("Binary Images:")
    for image in images:
        uuid = "  <%s>" % image["uuid"].hex() if image["uuid"] and len(image["uuid"]) == 16 else ""
        arch = PROCESSORS[image["arch"]][0] if image["arch"] else "unknown-arch"
        lines.append("0x%016x - 0x%016x %s %s%s %s" % (image["base"], image["base"] + image["size"] - 1, named(image), arch, uuid,
                                                       image["path"] or ""))
    lines.append("")
    put("Custom Data", r["custom"])
    return "\n".join(lines) + "\n"


def main():
    tool, folder = sys.argv[1:]
    rng, wrong = random.Random(7), 0
    reports = [generate(rng) for _ in range(60)]
    for i, report in enumerate(reports):
        with open("%s/g%02d.plcrash" % (folder, i), "wb") as file:
            file.write(written(report))
    names = ["%s/g%02d.plcrash" % (folder, i) for i in range(len(reports))]
    subprocess.run([tool, "crash", "-q", "--no-cache", "--to=text", "-o", folder + "/said/"] + names, capture_output=True)
    for i, report in enumerate(reports):
        with open("%s/said/g%02d.crash" % (folder, i)) as file:
            said = file.read()
        want = expected(report)
        if said != want:
            wrong += 1
            differ = [pair for pair in zip(said.split("\n") + [""], want.split("\n") + [""]) if pair[0] != pair[1]]
            print("report %d: %r, not %r" % (i, *differ[0]))
    print("%d of %d reports differ" % (wrong, len(reports)))
    sys.exit(wrong > 0)


main()
