"""Rules that the pages state, over values by chance, each applied here a second time: which reports --only takes, what --redact puts in
the place of a value, which registers a brief has (docs/json.md), what a jetsam report says of memory, and the stacks of a stackshot.
Usage: rules.py TOOL FOLDER [SEED]"""
import json, os, random, re, string, subprocess, sys

TOOL, FOLDER = sys.argv[1].split(), sys.argv[2]
WRONG = []


def run(*options):
    return subprocess.run(TOOL + ["crash", "-q", "--no-cache", *options], capture_output=True, text=True).stdout


def write(name, words):
    with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
        file.write(words)
    return file.name


def expect(what, got, want):
    if got != want:
        WRONG.append("%s: %s, not %s" % (what, got, want))
    return 1


# ---- --only ----


def is_alike(text, pattern):
    """Letters of either case; a * at the end takes all that begin so."""
    lower = lambda s: "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in s)
    text, pattern = lower(text), lower(pattern)
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern


def only(rng):
    joints, reports, tried = "_ 09/:@AZ[`az{-.~", [], 0
    for number in range(60):
        kind = "EXC_" + "".join(rng.choice("AB" + joints) for _ in range(rng.randint(1, 6)))
        version = rng.choice(["1.0", "1.10", "2.0"]) + rng.choice(["", " (9)", " (10)"])
        process = rng.choice(["App", "app", "Ap@", "Ap`", "Apple", "Other"])
        words = "Incident Identifier: %d\nProcess: %s [%d]\nVersion: %s\nException Type:  %s\n\nThread 0 Crashed:\n0   App  0x0000000100000010 main + 0\n" % (
            number, process, number, version, kind)
        reports.append((kind.strip(), version, process, write("only%d.crash" % number, words)))
    names = [report[3] for report in reports]

    def takes(what, pattern, fits):
        found = {int(json.loads(line)["incident"]) for line in run("--json", "--only", "%s=%s" % (what, pattern), *names).splitlines()}
        return expect("--only %s=%s" % (what, pattern), sorted(found), [n for n, report in enumerate(reports) if fits(report)])
    patterns = {re.split(r"[^A-Za-z0-9_]", rng.choice(reports)[0])[0] for _ in range(16)} | {rng.choice(reports)[0] for _ in range(8)} | {"A", "b*", "exc_*"}
    for pattern in sorted(patterns - {""}):
        tried += takes("kind", pattern, lambda r: any(is_alike(word, pattern) for word in [r[0]] + re.split(r"[^A-Za-z0-9_]+", r[0]) if word))
    for pattern in ("1.0", "1.0 (9)", "1.1*", "1.10", "2.0 (1*", "1"):
        tried += takes("version", pattern, lambda r: is_alike(r[1], pattern) or is_alike(r[1].split(" ")[0], pattern))
    for pattern in ("app", "App*", "ap@", "ap`", "AP*"):
        tried += takes("process", pattern, lambda r: is_alike(r[2], pattern))
    return tried


# ---- --redact ----


def sip(key, data):
    """SipHash-2-4 after its authors' paper."""
    mask = (1 << 64) - 1
    rotated = lambda x, n: (x << n | x >> (64 - n)) & mask
    v = [key[i % 2] ^ c for i, c in enumerate((0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573))]

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & mask
            v[1] = rotated(v[1], 13) ^ v[0]
            v[0] = rotated(v[0], 32)
            v[2] = (v[2] + v[3]) & mask
            v[3] = rotated(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & mask
            v[3] = rotated(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & mask
            v[1] = rotated(v[1], 17) ^ v[2]
            v[2] = rotated(v[2], 32)
    data = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for at in range(0, len(data), 8):
        word = int.from_bytes(data[at:at + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


# The paper's example: the key 00 to 0f, the text 00 to 0e.
assert sip((0x0706050403020100, 0x0f0e0d0c0b0a0908), bytes(range(15))) == 0xa129ca6149be45e5

WORDS = "some words"
KEY = tuple(sip((0, 0), n.to_bytes(8, "little") + WORDS.encode()) for n in (0, 1))


def keyed(value, count=0):
    return sip(KEY, count.to_bytes(8, "little") + value.encode())


def redacted(value, word="reporter"):
    """What stands in its place: a number keeps its digits, an identifier its dashes; of others a word says what they were."""
    if re.fullmatch("[0-9]+", value):
        out, rest = "", keyed(value)
        for i in range(len(value)):
            out += str(rest % 9 + 1) if i % 16 == 0 else str(rest % 10)
            rest = keyed(value, i) if i % 16 == 15 else rest // 10
        return out
    if re.fullmatch("[0-9A-Fa-f-]+", value) and len(value.replace("-", "")) >= 8:
        digits, count = "0123456789abcdef" if re.search("[a-f]", value) else "0123456789ABCDEF", len(value.replace("-", ""))
        hashes = [keyed(value, n) for n in range(count // 16 + 1)]
        left = iter([digits[hashes[n // 16] >> 4 * (n % 16) & 15] for n in range(count)])
        return "".join("-" if c == "-" else next(left) for c in value)
    return "%s-%010x" % (word, keyed(value) >> 24)


# What the members of reports name: of each kind an incident, a device, a person. Apple's .ips, events of three services,
# Crashpad's annotations, Electron's. `device.name` is the member name of an object that is called device.
FIELDS = {
    "incident": "incident incident_id incidentIdentifier event_id report.id",
    "reporter": "crashReporterKey anonymousUUID betaIdentifier guid client_id",
    "vendor": "deviceIdentifierForVendor",
    "device": "deviceIdentifier device_app_hash deviceName computerName hostName server_name serialNumber udid systemId hardwareUUID device.name device.id",
    "session": "sleepWakeUUID bootSessionUUID session sessionID session.id",
    "user": "userName userID user.id user.name user.email user.ip_address usr.id usr.name usr.email",
    None: "app.id app.name binary.email binary.ip_address guide incidents userNames identifier",
}


def fields(rng):
    """Each member of a text, with what stands in its place."""
    rows = [(key, word) for word, keys in FIELDS.items() for key in keys.split()]
    lines = []
    for at, (key, word) in enumerate(2 * rows):
        value = rng.choice(["Zyx %d", "Zyx%d"] if at < len(rows) else ["%08d", "7a%06d-12", "7A%06d-12"]) % rng.randrange(10 ** 6)
        inner, _, name = key.rpartition(".")
        shown = lambda v: '{"%s":{"x":7,"%s":"%s"}}' % (inner, name, v) if inner else '{"%s":"%s"}' % (name, v)
        lines.append((key, shown(value), shown(redacted(value, word) if word else value)))
    body = '{"usedImages":[],"threads":[],"all":[%s\n]}\n'
    name = write("fields.ips", '{"bug_type":"309"}\n' + body % ",".join("\n" + was for _, was, _ in lines))
    got = run("--redact-key", WORDS, name).split("\n")
    for (key, was, want), line in zip(lines, got[2:]):
        if line.rstrip(",") != want:
            WRONG.append("--redact: %s becomes %s, and not %s" % (was, line, want))
    return len(lines) if len(got) >= len(lines) + 2 else 0


def redact(rng):
    values = ["1234567", "12345678", "1234567-", "abcdef0", "abcdef01", "ABCDEF01", "-------1", "a-b-c-d-e-f-0-1", "0123456g", "0123456G", "0123456/8a", "0123456:8a", "0123456@8a", "0123456`8a"]
    values += ["".join(rng.choice(string.digits) for _ in range(length)) for length in (1, 15, 16, 17, 31, 32, 33, 40)]
    values += ["".join(rng.choice(rng.choice(["0123456789", "0123456789abcdef", "0123456789ABCDEF-", "0123456789-g"])) for _ in range(rng.randint(1, 40))) for _ in range(80)]
    names = [write("redact%03d.crash" % n, "CrashReporter Key:   %s\nProcess: demo [1]\n\nThread 0 Crashed:\n0   demo  0x0000000100000010 main + 0\n" % value)
             for n, value in enumerate(values)]
    run("--redact-key", WORDS, "--force", "-o", FOLDER + "/redacted/", *names)
    for number, value in enumerate(values):
        with open("%s/redacted/redact%03d.crash" % (FOLDER, number), encoding="utf-8") as file:
            got = file.readline().rstrip("\n").partition(":   ")[2]
        if got != redacted(value):
            WRONG.append("--redact: %s becomes %s, and not %s" % (value, got, redacted(value)))
    return len(values)


# ---- Registers of briefs ----


def briefs(rng):
    """Those that hold the address of the access, or less by no more than a page; the first two arguments; four at most."""
    cases = []
    for number in range(60):
        at = rng.choice([0x20, 0x1008, 0x16fdff000])
        near = lambda: {"value": max(0, at - rng.choice([-1, 0, 1, 0xfff, 0x1000, 0x1001, 0x2000]))}
        state = {"flavor": "ARM_THREAD_STATE64", "x": [near() if rng.random() < 0.4 else {"value": 1 << 40} for _ in range(8)], "fp": {"value": 1 << 41}, "lr": {"value": 1 << 41},
                 "sp": {"value": 1 << 41}, "pc": {"value": 1 << 41}, "cpsr": {"value": 1 << 29}, "far": {"value": at}, "esr": {"value": 0x92000006}}
        body = {"osVersion": {"train": "iPhone OS 17.4", "build": "21E219"}, "faultingThread": 0, "usedImages": [], "exception": {
            "type": "EXC_BAD_ACCESS", "signal": "SIGSEGV", "subtype": "KERN_INVALID_ADDRESS at 0x%016x" % at, "codes": "0x0000000000000001, 0x%016x" % at},
            "threads": [{"triggered": True, "threadState": state, "frames": []}]}
        held = [("x%d" % i, one["value"]) for i, one in enumerate(state["x"])] + [(name, state[name]["value"]) for name in ("fp", "lr", "sp", "pc", "cpsr")]
        want = [{"name": name, "value": hex(value)} for name, value in held if 0 <= at - value < 0x1000 or name in ("x0", "x1")]
        cases.append((write("brief%d.ips" % number, '{"bug_type":"309","os_version":"iPhone OS 17.4 (21E219)"}\n' + json.dumps(body) + "\n"), want[:4]))
    for (name, want), line in zip(cases, run("--brief", *[name for name, _ in cases]).splitlines()):
        expect(name, json.loads(line).get("registers"), want)
    return len(cases)


# ---- Jetsam ----


def megabytes(pages, size):
    return "%d MB (%d pages)" % (round(pages * size / 2**20 + 1e-9), pages) if size else "%d pages" % pages


def jetsam(rng):
    cases = []
    for number in range(40):
        size = rng.choice([None, 4096, 16384])
        processes = [{"name": "p%d" % n, "pid": n} | {key: value for key, value in (
            ("rpages", rng.choice([1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 100000])), ("lifetimeMax", rng.choice([200000, 1])), ("states", [["frontmost"], ["active", "idle"], []][n % 3]),
            ("reason", rng.choice(["per-process-limit", "something-else"]))) if rng.random() < 0.7} for n in range(rng.choice([0, 1, 4, 5, 6, 9]))]
        largest = rng.choice([None, "p0", "gone"])
        status = ({"pageSize": size} if size else {}) | rng.choice([{}, {"memoryPages": {"free": 4321}}])
        body = {"processes": processes, "memoryStatus": status} | ({"largestProcess": largest} if largest else {})
        want, ended = [], [p for p in processes if "reason" in p]
        for p in ended[:4]:
            line = "ended: %s [%d], %s" % (p["name"], p["pid"], p["reason"])
            line += ": it used more memory than one process may" if p["reason"] == "per-process-limit" else ""
            line += "; it held " + megabytes(p["rpages"], size) if "rpages" in p else ""
            line += ", at most " + megabytes(p["lifetimeMax"], size) if "lifetimeMax" in p else ""
            want.append(line + (", " + " and ".join(p["states"]) if p.get("states") else ""))
        if len(ended) > 4:
            want.append("and %d more were ended" % (len(ended) - 4))
        if not ended:
            want.append("no process is marked as ended: the report shows what each held when memory was short")
        if largest:
            pages = next((p["rpages"] for p in processes if p["name"] == largest and "rpages" in p), None)
            want.append("the largest process: " + largest + (", " + megabytes(pages, size) if pages is not None else ""))
        if "memoryPages" in status:
            want.append("free memory of the machine: " + megabytes(4321, size))
        cases.append((write("jetsam%d.ips" % number, '{"bug_type":"298","timestamp":"2026-03-14","os_version":"iPhone OS 17.4 (21E219)"}\n' + json.dumps(body) + "\n"), want))
    for name, want in cases:
        explained = json.loads(run("--summary", "--json", name))["explanation"]
        expect(name, [line for line in explained if re.match("ended:|and [0-9]|no process|the largest|free memory", line)], want)
    return len(cases)


# ---- Stackshots ----


def stackshots(rng):
    cases = []
    for number in range(40):
        images, at = [], 0x100000000
        for n in range(rng.randint(0, 4)):
            at += 0x100000
            images.append(["%08x-0000-4000-8000-%012x" % (n + 1, n)] + [at] + rng.choice([[], ["T"], ["P"], ["S"], ["A"]]))
        frames = lambda: [rng.choice([[rng.randrange(len(images) + 1), rng.choice([0, 16, 4095])], [0x200000000, 32], [0, 0], [7], "x"]) for _ in range(rng.randint(0, 4))]
        processes, want = {}, []
        for pid in range(rng.randint(1, 3)):
            threads = {}
            for tid in range(rng.randint(0, 3)):
                one = {"id": 100 * pid + tid} | {key: value for key, value in (("name", "n"), ("dispatch_queue_label", "q"), ("kernelFrames", frames()), ("userFrames", frames()))
                                                if rng.random() < 0.7}
                threads[str(tid)] = one
                told = []
                for key in ("kernelFrames", "userFrames"):
                    for place, pair in enumerate(one.get(key, ())):
                        if type(pair) is not list or len(pair) < 2:
                            continue
                        image = images[pair[0]] if pair[0] < len(images) else None
                        address = (image[1] if image else pair[0]) + pair[1]
                        if address:
                            told.append({"index": len(told), "address": hex(address), "return_address": place > 0,
                                         "in": image[0].upper() if image and image[2:] != ["A"] else None})
                want.append({"process": "p%d [%d]" % (pid, pid), "number": one["id"], "name": one.get("name"), "queue": one.get("dispatch_queue_label"), "frames": told})
            processes[str(pid)] = {"procname": "p%d" % pid, "pid": pid, "threadById": threads}
        body = {"processByPid": processes, "reason": "why", "binaryImages": images, "build": "iPhone OS 17.4 (21E219)", "product": "iPhone14,5", "date": "2026-03-14"}
        cases.append((write("shot%d.ips" % number, '{"bug_type":"288","timestamp":"2026-03-14","os_version":"x"}\n' + json.dumps(body) + "\n"), want))
    for (name, want), line in zip(cases, run("--json", *[name for name, _ in cases]).splitlines()):
        document = json.loads(line)
        got = [{key: thread.get(key) for key in ("process", "number", "name", "queue")} | {"frames": [
            {key: frame[key] for key in ("index", "address", "return_address")} |
            {"in": None if frame["image"] is None else document["images"][frame["image"]]["uuid"]} for frame in thread["frames"]]} for thread in document["threads"]]
        expect(name, got, want)
    return len(cases)


def main():
    rng = random.Random(sys.argv[3] if len(sys.argv) > 3 else "1")
    os.makedirs(FOLDER, exist_ok=True)
    tried = [rule(rng) for rule in (only, redact, fields, briefs, jetsam, stackshots)]
    print("\n".join(WRONG[:20]))
    print("%d of %d" % (len(WRONG), sum(tried)))
    sys.exit(bool(WRONG))


main()
