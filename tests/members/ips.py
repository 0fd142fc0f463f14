"""Incidents that a generator writes as .ips, each member there or not; what JSON must tell of each, by docs/json.md; the text that Apple's
tools show for it, in its five forms, by the pairs that tests/golden/README.md names; and what JSON must tell of that text.
Usage: ips.py TOOL FOLDER [SEED]"""
import base64, json, os, random, subprocess, sys

IOS, MAC, MAC26, CONSOLE, SIMULATOR = "ios", "mac", "mac26", "console", "simulator"
# The platform of the metadata, by mach-o/loader.h, and the system.
FORMS = {IOS: (2, "iPhone OS 17.4"), MAC: (1, "macOS 14.4"), MAC26: (1, "macOS 26.1"), CONSOLE: (7, "macOS 12.5"), SIMULATOR: (7, "macOS 15.3")}
ZERO = "00000000-0000-0000-0000-000000000000"
INTEL = ["rax", "rbx", "rcx", "rdx", "rdi", "rsi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"]
SYMBOLS = {"main": "main", "-[Player play:]": "-[Player play:]", "_ZN4demo4skipEi": "demo::skip(int)", "start with blanks": "start with blanks"}


def some(rng, members, often=0.8):
    """An object with some of its members; those whose value is None are never there."""
    return {key: value for key, value in members.items() if value is not None and rng.random() < often}


def image(rng, number, at):
    path = rng.choice(["/Applications/Demo Player.app/Contents/MacOS/demo", "/usr/lib/system/libsystem_kernel.dylib", "/System/Library/CoreX",
                       "/private/var/L%s.framework/L%s" % ("o" * 30, "o" * 30)]) + "%d" % number
    digits = "%032x" % rng.getrandbits(128)
    own = "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
    return {"base": at} | some(rng, {
        "size": rng.choice([0x1000, 0x4000, 2]), "uuid": rng.choice([own, own, own, ZERO]), "path": path, "arch": rng.choice(["arm64", "arm64e", "x86_64"]),
        "name": os.path.basename(path), "source": "P", "CFBundleIdentifier": rng.choice(["org.example.demo", "com.apple.coreX"]),
        "CFBundleShortVersionString": "1.%d" % number, "CFBundleVersion": "%d" % number})


def frame(rng, images):
    at = rng.randrange(len(images))
    lines = {"sourceLine": rng.randint(1, 300), "sourceFile": rng.choice(["player.mm", "a b.c"])} if rng.random() < 0.2 else {}
    named = {"symbol": rng.choice(list(SYMBOLS))} if rng.random() < 0.6 else {}
    if named:
        named |= some(rng, {"symbolLocation": rng.choice([0, 8, 2340])} | lines, 1 if lines else 0.8)
    if named and rng.random() < 0.2:
        named["inline"] = True
    far = 0x7ff8abcae9a8 if not images[at].get("base") else images[at].get("size", 0x1000)
    return {"imageOffset": rng.choice([0, far // 2, far - 1]) if far < 0x10000 else far, "imageIndex": at} | named


def described(rng, value, words):
    return {"value": value} | ({"description": words} if rng.random() < 0.3 else {})


def stack(rng, images, count):
    """An inlined call has the address of what it was inlined into."""
    frames = [frame(rng, images) for _ in range(count)]
    for inner, outer in zip(frames, frames[1:]):
        if inner.get("inline"):
            outer |= {key: inner[key] for key in ("imageOffset", "imageIndex")}
    for last in frames[-1:]:
        last.pop("inline", None)
    return frames


def state(rng):
    if rng.random() < 0.5:
        value = lambda: {"value": rng.choice([0, 8, rng.getrandbits(64), 0x100004000])}
        return {"flavor": "ARM_THREAD_STATE64", "x": [value() for _ in range(rng.choice([29, 29, 29, 4, 5, 0]))], "fp": value(), "lr": value(), "sp": value(), "pc": value(),
                "cpsr": {"value": rng.getrandbits(32)}} | some(rng, {
                    "far": value(), "esr": described(rng, 0x92000006, "(Data Abort) byte read Translation fault")})
    value = lambda: {"value": rng.getrandbits(48)}
    more = {"cpu": {"value": rng.randint(0, 7)}, "err": {"value": rng.randint(0, 20)},
            "trap": described(rng, 14, "(no mapping for user data read)")} if rng.random() < 0.7 else \
        {"rosetta": {"tmp0": value(), "tmp1": value(), "tmp2": value()}} if rng.random() < 0.5 else {}
    return {"flavor": "x86_THREAD_STATE"} | {name: value() for name in INTEL} | {"rflags": value()} | some(rng, {"cr2": value()}) | more


def stream(rng):
    count = rng.choice([1, 15, 16, 17, 33])
    return {"instructionStream": {"bytes": [rng.randrange(256) for _ in range(count)]} | some(rng, {"offset": rng.choice([0, count // 2, count - 1, count])})}


def thread(rng, images):
    return {"id": 1 + rng.randrange(99)} | some(rng, {"name": rng.choice(["MainThread", "a \"quoted\" one", "ein Fädchen"]), "queue": "com.apple.main-thread"}, 0.4) | {
        "frames": stack(rng, images, rng.choice([0, 1, 3, 12]))}


def asked(names, value=lambda i: i + 1):
    return {name: value(i) for i, name in enumerate(names)}


def incident(rng, form):
    """The metadata, and the report."""
    platform, system = FORMS[form]
    at, images = 0x100000000, []
    for number in range(rng.randint(1, 5)):
        at += 0x4000 * rng.randint(1, 3)
        images.append(image(rng, number, at))
    if rng.random() < 0.3:
        images.append({"base": 0, "size": 0, "uuid": ZERO})
    rng.shuffle(images)
    train, build = system, rng.choice(["21E219", "25B78"])
    head = {"bug_type": "309", "platform": platform, "os_version": "%s (%s)" % (train, build)} | some(rng, {
        "timestamp": "2026-03-14 09:26:53.00 +0100", "app_name": "headed", "app_version": "9.8", "build_version": "76", "bundleID": "org.example.headed",
        "incident_id": "7A9B6C1E-0000-4000-8000-000000000001", "name": "other", "slice_uuid": ZERO})
    threads = [thread(rng, images) for _ in range(rng.randint(1, 4))]
    hit = rng.randrange(len(threads))
    if rng.random() < 0.9:
        threads[hit]["triggered"] = True
        threads[hit] |= some(rng, {"threadState": state(rng), "instructionState": stream(rng)})
    many = lambda words: [words, words + " too"][:rng.randint(1, 2)]
    calls = ("task_for_pid", "thread_create", "thread_set_state")
    body = {"osVersion": {"train": train, "build": build} | some(rng, {"releaseType": "User"})} | some(rng, {
        "procName": rng.choice(["demo", "Demo Player"]), "pid": rng.choice([412, 0]), "procPath": "/Applications/Demo Player.app/Contents/MacOS/demo",
        "bundleInfo": some(rng, {"CFBundleIdentifier": "org.example.demo", "CFBundleShortVersionString": "1.2", "CFBundleVersion": "7",
                                 "DTAppStoreToolsBuild": "15E204"}),
        "storeInfo": some(rng, {"applicationVariant": "1:iPhone14,5:17", "distributorID": "com.apple.AppStore"}), "isBeta": rng.choice([0, 1, True, False]),
        "cpuType": rng.choice(["ARM-64", "X86-64"]), "translated": rng.choice([True, False]), "procRole": "Foreground", "parentProc": "launchd", "parentPid": 1,
        "coalitionName": "org.example.demo", "coalitionID": 1137, "responsibleProc": "Terminal", "responsiblePid": 300, "userID": 501,
        "captureTime": rng.choice(["2026-03-14 09:26:53.5890 +0100", "2026-03-14 09:26:53 +0100", "2026-03-14 09:26:53.58 +0100", "2026-03-14 09:26:53.589 -0130"]),
        "procLaunch": "2026-03-14 09:26:51.1280 +0100", "modelCode": "Mac15,3", "basebandVersion": "2.55.00", "bridgeVersion": some(rng, {"train": "8.4", "build": "21P4222"}),
        "crashReporterKey": "00000000-0000-4000-8000-0000000000BB", "incident": "7A9B6C1E-0000-4000-8000-000000000002",
        "sleepWakeUUID": "00000000-0000-4000-8000-0000000000CC", "uptime": 63000, "wakeTime": 2826, "sip": "enabled", "reportNotes": many("a note"),
        "faultingThread": hit, "legacyInfo": some(rng, {"threadTriggered": some(rng, {"name": "main", "queue": "q"}), "threadHighlighted": hit}),
        "exception": some(rng, {"type": "EXC_BAD_ACCESS", "signal": "SIGSEGV", "subtype": "KERN_INVALID_ADDRESS at 0xe0", "message": "words of it",
                                "codes": "0x0000000000000001, 0x00000000000000e0"}),
        "termination": {"namespace": "SIGNAL"} | some(rng, {"code": rng.choice([11, 3735883980]), "indicator": "Segmentation fault: 11", "reasons": many("a reason"),
                                                             "details": many("a detail"), "byProc": "exc handler", "byPid": 412}),
        "exceptionReason": some(rng, {"composed_message": "what was thrown", "name": "NSRangeException"}), "exceptionNote": "EXC_CORPSE_NOTIFY",
        "isSimulated": rng.choice([True, 1, 0]), "isNonFatal": rng.choice([True, 1, 0]), "isCorpse": rng.choice([True, 1, 0]),
        "vmRegionInfo": "0xe0 is not in any region.\n      UNUSED SPACE AT START\n--->  ", "asi": {"libA": many("abort() called"), "libB": many("second words")},
        "asiSignatures": many("00ff"), "asiBacktraces": ["0   demo                0x0000000100004010 main + 16\n1   demo                0x0000000100004020 start + 0\n"],
        "ktriageinfo": "VM - (arg = 0x0) a fault\nVM - another", "lastExceptionBacktrace": stack(rng, images, 3),
        "extMods": {"targeted": asked(calls), "caller": some(rng, asked(calls, lambda i: 10 + i)), "system": asked(calls, lambda i: 20 + i), "warnings": 0},
        "vmSummary": "ReadOnly portion\n\nTOTAL  2.7G\n", "sharedCache": {"base": 0x180000000, "size": 0x1000, "uuid": ZERO}}, 0.7)
    code = {"beforePC": base64.b64encode(bytes(range(8))).decode(), "atPC": base64.b64encode(b"\xaa\xbb\xcc\xdd").decode()}
    return head, body | some(rng, {"instructionByteStream": some(rng, code)}) | {"threads": threads, "usedImages": images}


# ---- What JSON tells ----


def pair(first, second):
    return "%s (%s)" % (first, second) if first and second else first or second


def facts_of(head, body):
    get = lambda key, *others: str(body.get(key) or next((head[other] for other in others if head.get(other)), ""))
    bundle, exception, end = body.get("bundleInfo", {}), body.get("exception", {}), body.get("termination", {})
    own = pair(bundle.get("CFBundleShortVersionString", ""), bundle.get("CFBundleVersion", ""))
    facts = {
        "process": get("procName", "app_name", "name"), "identifier": bundle.get("CFBundleIdentifier") or head.get("bundleID", ""),
        "version": own or pair(head["app_version"], head.get("build_version", "")) if "app_version" in head or own else "",
        "os": pair(body["osVersion"]["train"], body["osVersion"]["build"]), "hardware": get("modelCode"), "date": get("captureTime", "timestamp"),
        "incident": get("incident", "incident_id"), "bug_type": "309", "exception": exception.get("type", ""), "signal": exception.get("signal", ""),
        "subtype": exception.get("subtype", ""), "codes": exception.get("codes", ""), "termination": end.get("namespace", ""),
        "termination_code": str(end.get("code", "")), "reason": body.get("exceptionReason", {}).get("composed_message", ""),
        "description": "\n".join(([end["indicator"]] if "indicator" in end else []) + end.get("reasons", []) + end.get("details", [])),
        "app_info": "\n".join(line for lines in body.get("asi", {}).values() for line in lines), "pid": body.get("pid", "")}
    return facts


def is_no_image(one):
    return not one["base"] and one.get("uuid", ZERO) == ZERO


def frames_of(frames, images):
    out, index = [], 0
    for each in frames:
        at = each["imageIndex"]
        place = "%s:%d" % (each["sourceFile"], each["sourceLine"]) if "sourceLine" in each else None
        out.append({"index": index, "address": hex(images[at]["base"] + each["imageOffset"]), "return_address": index > 0,
                    "image": None if is_no_image(images[at]) else at, "given": each.get("symbol"), "given_place": place, "calls": []})
        index += not each.get("inline")
    return out


def in_image(images, address):
    """The last image that begins at or below; one without a size reaches the next, at most 2 GB."""
    known = sorted((one["base"], one.get("size", 0), number) for number, one in enumerate(images) if not is_no_image(one))
    below = [each for each in known if each[0] <= address]
    return below[-1][2] if below and address - below[-1][0] < (below[-1][1] or 1 << 31) else None


def registers_of(given, images, apart):
    if given.get("flavor") == "x86_THREAD_STATE":
        names = INTEL + ["rflags", "cr2", "cpu", "err", "trap"]
        found = [(name, given[name]) for name in names if name in given] + list(given.get("rosetta", {}).items())
    else:
        found = [("x%d" % i, one) for i, one in enumerate(given.get("x", ()))]
        found += [(name, given[name]) for name in ("fp", "lr", "sp", "pc", "cpsr", "far", "esr") if name in given]
    # The meaning of the processor's error is told with the error.
    words = {name: one.get("description") for name, one in found}
    if words.get("err") is None and apart:
        words["err"] = words.pop("trap", None)
    out = []
    for name, one in found:
        at = in_image(images, one["value"])
        out.append({"name": name, "value": hex(one["value"])} | ({"note": words[name]} if words.get(name) else {}) |
                   ({} if at is None else {"image": at, "image_offset": hex(one["value"] - images[at]["base"])}))
    return out


def code_of(body, each, crashed):
    given = each.get("instructionState", {}).get("instructionStream", {})
    if given.get("bytes"):
        at = given.get("offset")
        return {"bytes": bytes(given["bytes"]).hex()} | ({"at": at} if at is not None and at < len(given["bytes"]) else {})
    around = body.get("instructionByteStream", {}) if crashed else {}
    before, here = (base64.b64decode(around.get(key, "")).hex() for key in ("beforePC", "atPC"))
    return {"bytes": before + here} | ({"at": len(before) // 2} if here else {}) if before + here else None


def threads_of(body):
    images, out = body["usedImages"], []
    if "lastExceptionBacktrace" in body:
        out.append({"kind": "last exception", "number": 0, "name": None, "queue": None, "crashed": False, "frames": frames_of(body["lastExceptionBacktrace"], images)})
    for number, each in enumerate(body["threads"]):
        crashed = each.get("triggered", False) or body.get("faultingThread") == number
        code = code_of(body, each, crashed)
        registers = registers_of(each["threadState"], images, True) if crashed and "threadState" in each else []
        out.append({"kind": "thread", "number": number, "name": each.get("name"), "queue": each.get("queue"), "crashed": crashed,
                    "frames": frames_of(each["frames"], images)} | ({"registers": registers} if registers else {}) | ({"instructions": code} if code else {}))
    for number, words in enumerate(body.get("asiBacktraces", ())):
        rows = [line.split() for line in words.splitlines()]
        out.append({"kind": "application specific", "number": number, "name": None, "queue": None, "crashed": False, "frames": [
            {"index": int(row[0]), "address": hex(int(row[2], 16)), "return_address": row[0] != "0", "image": in_image(images, int(row[2], 16) - (row[0] != "0")),
             "given": row[3], "given_place": None, "calls": []} for row in rows]})
    return out


def images_of(body):
    out = []
    for one in body["usedImages"]:
        uuid = one.get("uuid", ZERO)
        out.append({"name": one.get("name") or os.path.basename(one.get("path", "")), "path": one.get("path"), "arch": one.get("arch"),
                    "uuid": None if uuid == ZERO else uuid.upper(), "base": hex(one["base"])})
    return out


def told(line):
    document = json.loads(line)
    for each in document["threads"]:
        del each["callers_first"]
        each.pop("esr", None)
        for one in each.get("registers", ()):
            one.pop("region", None)
    document["images"] = [{key: one[key] for key in ("name", "path", "arch", "uuid", "base")} for one in document["images"]]
    return document


def first_of(a, b):
    """What two values have that differs, the first of it in lists."""
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        a, b = next((x, y) for x, y in zip(a, b) if x != y)
    return "%s, not %s" % (json.dumps(a)[:300], json.dumps(b)[:300])


def unlike(document, want):
    for key, value in want.items():
        got = document.get(key, "")
        if got == value:
            continue
        if isinstance(value, list) and isinstance(got, list) and len(got) == len(value):
            for number, (a, b) in enumerate(zip(got, value)):
                keys = [k for k in sorted(set(a) | set(b)) if a.get(k, "") != b.get(k, "") and not (k == "number" and k not in b)]
                if keys:
                    yield "%s %d, %s: %s" % (key, number, keys[0], first_of(a.get(keys[0]), b.get(keys[0])))
        else:
            yield "%s: %s, not %s" % (key, json.dumps(got)[:300], json.dumps(value)[:300])


# ---- Apple's text ----


def is_set(value):
    return value is True or (type(value) is int and value != 0)


def has(value):
    return value is not None and value is not False


class Text:
    """The text of an incident in one of the forms."""

    def __init__(self, form, head, body):
        self.form, self.head, self.body, self.out = form, head, body, []
        self.is_ios = form in (IOS, SIMULATOR)
        self.is_short = form in (MAC, CONSOLE)
        self.is_mac = form != IOS
        self.pick = {IOS: 0, SIMULATOR: 0, MAC: 1, MAC26: 2, CONSOLE: 3}[form]

    def say(self, line=""):
        self.out.append(line)

    def field(self, key, value):
        if has(value):
            self.say((key + ": ").ljust(23 if self.is_short else 21) + str(value))

    def titled(self, key, value):
        if has(value):
            self.say(key + str(value))

    def program(self):
        body, bundle, bought = self.body, self.body.get("bundleInfo", {}), self.body.get("storeInfo", {})
        self.field("Process", "%s [%s]" % (body.get("procName", "???"), body.get("pid", "Unknown")))
        self.field("Path", body.get("procPath"))
        self.field("Identifier", bundle.get("CFBundleIdentifier") or body.get("procName", "???"))
        short, build = bundle.get("CFBundleShortVersionString"), bundle.get("CFBundleVersion", "???")
        self.field("Version", "%s (%s)" % (short, build) if short else build)
        if self.is_ios:
            self.field("AppStoreTools", bundle.get("DTAppStoreToolsBuild"))
            self.field("AppVariant", bought.get("applicationVariant"))
            self.field("Beta", "YES" if is_set(body.get("isBeta")) else None)
        self.field("Code Type", body.get("cpuType", "???") + (" (Translated)" if is_set(body.get("translated")) else " (Native)"))
        if not self.is_short:
            self.field("Role", body.get("procRole", "Unspecified"))
        self.field("Parent Process", "%s [%s]" % (body.get("parentProc", "???"), body.get("parentPid", "Unknown")))
        if not self.is_short and "coalitionName" in body:
            self.field("Coalition", "%s [%s]" % (body["coalitionName"], body.get("coalitionID", "Unknown")))
        if "responsibleProc" in body:
            self.field("Responsible" if self.is_short else "Responsible Process", "%s [%s]" % (body["responsibleProc"], body.get("responsiblePid", "Unknown")))
        if not self.is_ios:
            self.field("User ID", body.get("userID"))
        self.say()

    def console_date(self):
        date = self.body.get("captureTime") or self.head.get("timestamp", "")
        day, _, zone = date.rpartition(" ")
        whole, dot, part = day.partition(".")
        # Three digits of the second, and a colon in the zone; with fewer digits it stays.
        return "%s.%s %s:%s" % (whole, part[:3], zone[:3], zone[3:]) if len(part) >= 3 else date

    def system(self):
        body, bridge = self.body, self.body.get("bridgeVersion", {})
        self.field("Date/Time", self.console_date() if self.form == CONSOLE else body.get("captureTime"))
        if not self.is_short:
            self.field("Launch Time", body.get("procLaunch"))
        if self.form == MAC26:
            self.field("Hardware Model", body.get("modelCode"))
        self.field("OS Version", "%s (%s)" % (body["osVersion"]["train"], body["osVersion"]["build"]))
        if not self.is_short:
            self.field("Release Type", body["osVersion"].get("releaseType"))
        self.field("Baseband Version", body.get("basebandVersion"))
        self.field("Report Version", None if self.form == MAC26 else 104 if self.is_ios else 12)
        if self.form == MAC and "train" in bridge:
            self.field("Bridge OS Version", "%s (%s)" % (bridge["train"], bridge.get("build", "???")))
        if self.is_short:
            self.field("Anonymous UUID", body.get("crashReporterKey"))
        self.say()
        if self.form == MAC26:
            self.field("Crash Reporter Key", body.get("crashReporterKey"))
            self.field("Incident Identifier", body.get("incident"))
            self.say()

    def uptime(self):
        body = self.body
        self.titled("Sleep/Wake UUID:       ", body.get("sleepWakeUUID"))
        if "sleepWakeUUID" in body or self.form == MAC:
            self.say()
        for key, member in (("Time Awake Since Boot: ", "uptime"), ("Time Since Wake:       ", "wakeTime")):
            self.titled(key, "%d seconds" % body[member] if member in body else None)
        self.say()
        if "sip" in body:
            self.say("System Integrity Protection: " + body["sip"] + "\n")
        if self.form == MAC and "reportNotes" in body:
            self.say("Notes:\n" + "\n".join(body["reportNotes"]) + "\n")

    def crashed_thread(self):
        of, is_new = self.body.get("legacyInfo", {}).get("threadTriggered", {}), self.form == MAC26
        words = str(self.body.get("faultingThread", "Unknown"))
        words += "  " + of["name"] if "name" in of else ""
        words += (", Dispatch Queue: " if is_new else "  Dispatch queue: ") + of["queue"] if "queue" in of else ""
        self.say(("Triggered by Thread: " if is_new else "Crashed Thread:".ljust(23)) + words + "\n")

    def ios_thread(self):
        hit, lit = self.body.get("faultingThread"), self.body.get("legacyInfo", {}).get("threadHighlighted")
        self.say(("Triggered by Thread:  %s" % hit if hit is not None else "Highlighted by Thread:  %s" % lit if lit is not None else
                  "Triggered by Thread:  Unknown") + "\n")

    def exception(self):
        of, is_long = self.body.get("exception", {}), self.is_short
        key = lambda name, other=None: ((other if is_long and other else name) + ": ")
        wide = 23 if is_long else 19 if self.form == MAC26 else 17
        self.say(key("Exception Type").ljust(wide) + of.get("type", "???") + (" (%s)" % of["signal"] if "signal" in of else ""))
        self.titled(key("Exception Subtype", "Exception Codes").ljust(wide), of.get("subtype"))
        self.titled(key("Exception Message").ljust(wide), of.get("message"))
        if self.form != CONSOLE or "subtype" not in of:
            self.titled(key("Exception Codes").ljust(wide), of.get("codes"))
        if self.is_ios:
            self.region("")
        if self.form == MAC26:
            self.titled("Exception Reason:  ", self.body.get("exceptionReason", {}).get("composed_message"))
        flags = (("isSimulated", "SIMULATED (this is NOT a crash)"), ("isNonFatal", "NON-FATAL CONDITION (this is NOT a crash)"), ("isCorpse", "EXC_CORPSE_NOTIFY"))
        self.titled(key("Exception Note").ljust(wide), self.body.get("exceptionNote") or next((words for flag, words in flags if is_set(self.body.get(flag))), None))

    def region(self, end):
        self.titled("VM Region Info: ", self.body["vmRegionInfo"] + end if "vmRegionInfo" in self.body else None)

    def termination(self):
        if "termination" not in self.body:
            return
        of = self.body["termination"]
        code = hex(of["code"]) if self.form == CONSOLE and "code" in of else "%s%s %s" % (
            of.get("code", 0), "," if self.form == MAC26 and "indicator" in of else "", of.get("indicator", ""))
        key = ("Termination Reason: %s %s", "Termination Reason:    Namespace %s, Code %s", "Termination Reason:  Namespace %s, Code %s",
               "Termination Reason:    Namespace %s, Code %s")[self.pick]
        self.say(key % (of["namespace"], code))
        for line in of.get("reasons", []) + of.get("details", []):
            self.say(line)
        if "byPid" in of:
            self.say("Terminating Process: ".ljust(23 if self.is_short else 21) + "%s [%d]" % (of.get("byProc", "???"), of["byPid"]))
        if self.form != MAC26:
            self.say()

    def information(self):
        if "asi" in self.body:
            self.say("Application Specific Information:")
            for lines in self.body["asi"].values():
                self.out += lines
            self.say("" if self.form == CONSOLE else "\n")
        if "asiSignatures" in self.body:
            self.say("Application Specific Signatures:\n" + "\n".join(self.body["asiSignatures"]) + "\n")

    def notes(self):
        if "reportNotes" in self.body:
            self.say("Error Formulating Crash Report:\n" + "\n".join(self.body["reportNotes"]) + "\n")

    def backtraces(self):
        for number, words in enumerate(self.body.get("asiBacktraces", ())):
            self.say("Application Specific Backtrace %d:\n%s\n" % (number, words))

    def frames(self, frames):
        number, images = 0, self.body["usedImages"]
        for each in frames:
            one = images[each["imageIndex"]]
            known = not is_no_image(one)
            name = known and (self.form == CONSOLE and one.get("CFBundleIdentifier") or one.get("name") or os.path.basename(one.get("path", ""))) or "???"
            address = one["base"] + each["imageOffset"]
            shown = "0x%016x" % address if self.form == CONSOLE else hex(address)
            if "symbol" in each:
                words = SYMBOLS[each["symbol"]]
                if "symbolLocation" in each and not each.get("inline"):
                    words += " + %d" % each["symbolLocation"]
                words += " (%s:%d)" % (each["sourceFile"], each["sourceLine"]) if "sourceLine" in each else ""
                words += " [inlined]" if each.get("inline") else ""
            else:
                words = "0x%x + %d" % (one["base"], each["imageOffset"]) if known else "???"
            self.say("%-4d%s%s%18s %s" % (number, name.ljust(33 if self.form == CONSOLE else 30), " " if self.form == CONSOLE else "\t", shown, words))
            number += 1
        self.say()

    def threads(self):
        if "lastExceptionBacktrace" in self.body:
            self.say("Last Exception Backtrace:")
            self.frames(self.body["lastExceptionBacktrace"])
        if "ktriageinfo" in self.body:
            self.say("Kernel Triage:\n" + self.body["ktriageinfo"] + "\n")
        for number, each in enumerate(self.body["threads"]):
            name, queue = each.get("name", ""), each.get("queue", "")
            hit = each.get("triggered") or self.body.get("faultingThread") == number
            if self.is_mac:
                title = "Thread %d%s" % (number, " Crashed:" if hit else ":")
                if name or queue:
                    title += ":" if self.form == CONSOLE and not name else ": "
                self.say(title + name + (" Dispatch queue: " + queue if queue else ""))
            else:
                if name or queue:
                    self.say("Thread %d name:  %s%s" % (number, name, " Dispatch queue: " + queue if queue else ""))
                self.say("Thread %d%s" % (number, " Crashed:" if hit else ":"))
            self.frames(each["frames"])
        if self.form != CONSOLE:
            self.say()

    def state(self):
        found = [(n, t) for n, t in enumerate(self.body["threads"]) if t.get("triggered") or self.body.get("faultingThread") == n]
        if not found or "threadState" not in found[0][1]:
            return
        number, each = found[0]
        of = each["threadState"]
        is_intel = of["flavor"] == "x86_THREAD_STATE"
        self.say("Thread %d crashed with %s Thread State (64-bit):" % (number, "X86" if is_intel else "ARM"))
        if is_intel:
            self.intel(of)
        else:
            self.arm(of)
        given = each.get("instructionState", {}).get("instructionStream")
        if given:
            self.say("\nThread %d instruction stream:" % number)
            self.stream(given["bytes"], given.get("offset", -1))
        self.say()

    def register(self, name, one, digits=16):
        words = one.get("description")
        return "%5s: 0x%0*x%s" % (name, digits, one["value"], " " + words if words else "")

    def rows(self, words, blank=""):
        for at in range(0, len(words), 4):
            self.say(blank + "".join(words[at:at + 4]))

    def arm(self, of):
        self.rows([self.register("x%d" % i, one) for i, one in enumerate(of["x"])] + [self.register(name, of[name]) for name in ("fp", "lr")], " ")
        self.rows([self.register("sp", of["sp"]), self.register("pc", of["pc"]), self.register("cpsr", of["cpsr"], 8)], " ")
        self.rows([self.register(name, of[name], digits) for name, digits in (("far", 16), ("esr", 8)) if name in of], " ")

    def intel(self, of):
        last = [self.register(name, of[name]) for name in INTEL] + [self.register("rfl", of["rflags"])] + ([self.register("cr2", of["cr2"])] if "cr2" in of else [])
        for row in range(0, len(last), 4):
            self.say("".join(last[row:row + 4]))
        if "rosetta" in of:
            self.say("".join(self.register(name, of["rosetta"][name]) for name in ("tmp0", "tmp1", "tmp2")) + "\n")
        elif "cpu" in of:
            is_old, words = self.form == CONSOLE, of["trap"].get("description")
            self.say("" if is_old else "  ")
            self.say("Logical CPU:     %d" % of["cpu"]["value"])
            self.say("Error Code:      %s%08x%s" % ("" if is_old else "0x", of["err"]["value"], " " + words if words else ""))
            self.say("Trap Number:     %d" % of["trap"]["value"])

    def stream(self, given, offset):
        for at in range(0, len(given), 16):
            row, mark = given[at:at + 16], offset - at
            line = ""
            for i, byte in enumerate(row):
                line += ("[" if i == mark else "]" if i - 1 == mark and mark >= 0 else "-" if i == 8 else " ") + "%02x" % byte
            is_here = 0 <= mark < len(row)
            line += "] " if mark == len(row) - 1 else "  "
            self.say(" " + line + "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row) + ("\t<==" if is_here else ""))

    def images(self):
        self.say("Binary Images:")
        images = self.body["usedImages"]
        for one in sorted(images, key=lambda one: one["base"]) if self.form == CONSOLE else images:
            is_console, bundle, path = self.form == CONSOLE, one.get("CFBundleIdentifier", ""), one.get("path", "")
            end = (one["base"] + one.get("size", 0) - (not is_console)) & 0xffffffffffffffff
            name = self.is_mac and bundle or one.get("name") or os.path.basename(path) or "???"
            uuid = one.get("uuid", ZERO).lower()
            is_own = is_console and not (bundle.startswith("com.apple.") or path.startswith("/usr/lib/") or path.startswith("/System/"))
            if self.is_mac:
                short, build = one.get("CFBundleShortVersionString"), one.get("CFBundleVersion", "")
                version = ("(%s - %s)" % (short, build) if is_console else "(%s)" % short) if short else "(???)" if is_console else "(*)"
                rest = "%s <%s>" % (version, uuid.upper() if is_console else uuid)
            else:
                rest = "%s  <%s>" % (one.get("arch", "unknown-arch"), uuid.replace("-", ""))
            self.say("%18s - %18s %s%s %s %s" % (hex(one["base"]), hex(end), "+" if is_own else "", name, rest, path or "???"))
        self.say()

    def modifications(self):
        if "extMods" not in self.body:
            return
        self.say("External Modification Summary:")
        for key, words in (("targeted", "Calls made by other processes targeting this process:"), ("caller", "Calls made by this process:"),
                           ("system", "Calls made by all processes on this machine:")):
            self.say((" " if self.form == CONSOLE else "  ") + words)
            for call in ("task_for_pid", "thread_create", "thread_set_state"):
                self.say("    %s: %d" % (call, self.body["extMods"][key].get(call, 0)))
        self.say()

    def whole(self):
        body = self.body
        if self.is_ios:
            for key, value in (("Incident Identifier", body.get("incident")), ("CrashReporter Key", body.get("crashReporterKey")),
                               ("Distributor ID", body.get("storeInfo", {}).get("distributorID")), ("Hardware Model", body.get("modelCode"))):
                self.field(key, value)
        self.program()
        self.system()
        if self.is_ios:
            self.exception()
            self.termination()
            self.ios_thread()
        else:
            self.uptime()
            self.crashed_thread()
            self.exception()
            self.say()
            self.termination()
            if self.form == MAC26:
                self.say()
            self.region("\n")
        self.information()
        if not self.is_ios:
            self.notes()
        self.backtraces()
        self.threads()
        self.state()
        self.images()
        if self.is_ios:
            self.notes()
            self.say("EOF")
        else:
            self.modifications()
            if "vmSummary" in body:
                self.say("VM Region Summary:\n" + body["vmSummary"] + {MAC: "\n", MAC26: "", CONSOLE: ""}[self.form])
                if self.form == CONSOLE and body["vmSummary"].endswith("\n"):
                    self.out[-1] = self.out[-1][:-1]
        return "\n".join(self.out) + "\n"


# ---- What JSON tells of the text ----


def text_facts(form, head, body):
    """Those that the text has, in its words."""
    is_ios, is_short = form in (IOS, SIMULATOR), form in (MAC, CONSOLE)
    of, end, bundle = body.get("exception", {}), body.get("termination", {}), body.get("bundleInfo", {})
    short, build = bundle.get("CFBundleShortVersionString", ""), bundle.get("CFBundleVersion", "")
    date = Text(form, head, body).console_date() if form == CONSOLE else body.get("captureTime", "")
    code = "" if not end else hex(end["code"]) if form == CONSOLE and "code" in end else str(end.get("code", 0))
    return {
        "process": "%s [%s]" % (body.get("procName", "???"), body.get("pid", "Unknown")), "identifier": bundle.get("CFBundleIdentifier") or body.get("procName", "???"),
        "version": pair(short, build) or "", "os": "%s (%s)" % (body["osVersion"]["train"], body["osVersion"]["build"]),
        "hardware": "" if is_short else body.get("modelCode", ""), "date": date, "incident": "" if is_short else body.get("incident", ""), "bug_type": "",
        "exception": pair(of.get("type", "???"), of.get("signal", "")), "signal": "",
        "termination": end.get("namespace", ""), "termination_code": code,
        "app_info": "\n".join(line for lines in body.get("asi", {}).values() for line in lines), "pid": body.get("pid", "")}


def in_text(form, images):
    """The images in the order in which the text lists them."""
    return sorted(images, key=lambda one: one["base"]) if form == CONSOLE else images


def text_frames(frames, images, listed):
    """Text numbers inlined calls, too."""
    out = frames_of(frames, images)
    for number, one in enumerate(out):
        at = one["image"]
        one |= {"index": number, "given": SYMBOLS.get(one["given"]), "image": None if at is None else listed.index(images[at])}
    return out


def text_threads(form, body):
    """In the order of the text, with the state of the thread that the text has it of."""
    images, out = body["usedImages"], threads_of(body | {"usedImages": in_text(form, body["usedImages"])})
    listed = in_text(form, images)
    out.sort(key=lambda each: ["application specific", "last exception", "thread"].index(each["kind"]))
    has_state = False
    for each in out:
        code = each.pop("instructions", None)
        if each["kind"] == "thread":
            given = body["threads"][each["number"]]
            each["frames"] = text_frames(given["frames"], images, listed)
            if has_state or not each["crashed"]:
                each.pop("registers", None)
            elif "threadState" in given and given.get("instructionState", {}).get("instructionStream"):
                each["instructions"] = code
            has_state |= each["crashed"]
        elif each["kind"] == "last exception":
            del each["number"]
            each["frames"] = text_frames(body["lastExceptionBacktrace"], images, listed)
    return out


def text_images(form, body):
    out = []
    for one in in_text(form, body["usedImages"]):
        path, uuid = one.get("path", "???"), one.get("uuid", ZERO)
        name = form != IOS and one.get("CFBundleIdentifier") or one.get("name") or os.path.basename(path)
        out.append({"name": name, "path": path, "arch": one.get("arch") if form == IOS else None, "uuid": None if uuid == ZERO else uuid.upper(),
                    "base": hex(one["base"])})
    return out


def first_unlike(got, want):
    for number, (a, b) in enumerate(zip(got.split("\n"), want.split("\n"))):
        if a != b:
            return "line %d: %r, not %r" % (number + 1, a, b)
    return "%d lines, not %d" % (got.count("\n"), want.count("\n"))


def main():
    tool, folder, seed = sys.argv[1].split(), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "1"
    rng, cases, wrong = random.Random(seed), [], []
    os.makedirs(folder, exist_ok=True)
    for number in range(200):
        form = list(FORMS)[number % len(FORMS)]
        head, body = incident(rng, form)
        name = "%s/%03d.ips" % (folder, number)
        with open(name, "w", encoding="utf-8") as file:
            file.write(json.dumps(head) + "\n" + json.dumps(body, indent=2 if number % 3 else None) + "\n")
        cases.append((name, form, head, body))
    names = [name for name, _, _, _ in cases]
    run = lambda *more: subprocess.run(tool + ["crash", "-q", "--no-cache", *more], capture_output=True, text=True).stdout.splitlines()
    lines = run("--json", *names)
    run("--force", "--to=text", "-o", folder + "/said/", *names)
    for (name, form, head, body), line in zip(cases, lines):
        want = facts_of(head, body) | {"threads": threads_of(body), "images": images_of(body)}
        wrong += ["%s, %s: %s" % (name, form, fault) for fault in unlike(told(line), want)]
        with open(folder + "/said/" + os.path.basename(name).replace(".ips", ".crash"), encoding="utf-8") as file:
            got, want = file.read(), Text(form, head, body).whole()
        with open(name.replace(".ips", ".crash"), "w", encoding="utf-8") as file:
            file.write(want)
        if got != want:
            wrong.append("%s, %s: %s" % (name, form, first_unlike(got, want)))
    for (name, form, head, body), line in zip(cases, run("--json", *[name.replace(".ips", ".crash") for name in names])):
        want = text_facts(form, head, body) | {"threads": text_threads(form, body), "images": text_images(form, body)}
        wrong += ["%s, text of %s: %s" % (name, form, fault) for fault in unlike(told(line), want)]
    print("\n".join(wrong[:40]))
    print("%d faults in %d incidents, seed %s" % (len(wrong), len(lines), seed))
    sys.exit(bool(wrong) or len(lines) < 200)


main()
