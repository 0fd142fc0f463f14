"""Minidumps by chance, every field varied, and the text that must come of each. The truth is a second reader of the documented layout, below:
learn.microsoft.com, minidumpapiset.h and winnt.h (contexts); minidump_format.h of Breakpad; minidump_extensions.h of Crashpad; mach/exception.h. It
knows only the bytes. Apple's layout of the text is that of crash reports of format 104. Usage: minidumps.py TOOL FOLDER [SEED]"""
import itertools, json, os, random, re, shutil, struct, subprocess, sys, time
sys.path.insert(0, "tests")
import minidump as md  # noqa: E402

COUNT, LEAST = 400, 400
THREADS, MODULES, MEMORY, EXCEPTION, SYSTEM, MEMORY64, MISC, NAMES = 3, 4, 5, 6, 7, 9, 15, 24
CRASHPAD, BREAKPAD, ASSERTION = 0x43500001, 0x47670001, 0x47670002
SYSTEMS = {0x8101: "macOS ", 0x8102: "iPhone OS ", 2: "Windows ", 0x8201: "Linux ", 0x8203: "Android "}
PROCESSORS = {9: "x86_64", 12: "arm64", 0x8003: "arm64"}
EXCEPTIONS = ["BAD_ACCESS", "BAD_INSTRUCTION", "ARITHMETIC", "EMULATION", "SOFTWARE", "BREAKPOINT", "SYSCALL", "MACH_SYSCALL", "RPC_ALERT", "CRASH",
              "RESOURCE", "GUARD", "CORPSE_NOTIFY"]
SIGNALS = "HUP INT QUIT ILL TRAP ABRT EMT FPE KILL BUS SEGV SYS PIPE ALRM TERM".split()
INTEGER, CONTROL = 2, 1
# name, offset, bytes, group: winnt.h, as Apple's text orders them
AMD64 = [(name, 0x78 + 8 * at, 8, CONTROL if name == "rsp" else INTEGER) for name, at in zip(
    "rax rbx rcx rdx rdi rsi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15".split(), (0, 3, 1, 2, 7, 6, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15))] + \
    [("rip", 0xf8, 8, CONTROL), ("rfl", 0x44, 4, CONTROL)]


def arm64(cpsr):
    return [("x%d" % i, 8 + 8 * i, 8, INTEGER) for i in range(29)] + \
        [(name, 8 + 8 * (29 + i), 8, CONTROL) for i, name in enumerate(("fp", "lr", "sp", "pc"))] + [("cpsr", cpsr, 4, CONTROL)]


# the processor, where the flags are, which bit says that it is such a context, its registers
CONTEXTS = [("arm64", 0, 0x400000, arm64(4)), ("arm64", 0, 0x80000000, arm64(272)), ("x86_64", 48, 0x100000, AMD64)]
PLAIN = ("Fatal error", "Assertion failed", "Precondition failed", "BUG IN CLIENT", "Terminating app", "*** Terminating", "CoreFoundation")


def line(key, value):
    return (key + ": ").ljust(21) + value + "\n" if value else ""


def shown(text):
    return text.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def plain(arch, pc):
    """The 47 bits of an address on arm64; above them signatures are."""
    low = (1 << 47) - 1
    return pc if arch != "arm64" else pc & low if not pc >> 55 & 1 else pc | (1 << 64) - 1 - low


class Reader:
    def __init__(self, data):
        self.data, self.damage = data, None
        count, at = self.number(8), self.number(12)
        self.streams = {}
        for i in range(count):
            kind, size, where = struct.unpack_from("<3I", data, at + 12 * i)
            if not self.streams.get(kind, (0, 0))[1]:
                self.streams[kind] = self.held(where, size, at + 12 * i + 4, "a stream reaches past the end of the file") \
                    if kind in (3, 4, 5, 6, 7, 9, 15, 24, CRASHPAD, BREAKPAD, ASSERTION) else (0, 0)

    def number(self, at, size=4):
        return int.from_bytes(self.data[at:at + size], "little")

    def note(self, at, what):
        self.damage = self.damage or (at, what)

    def held(self, at, size, field, what):
        """A place, cut at the end of the file."""
        if size > max(len(self.data) - at, 0):
            self.note(field, what)
        return at, max(0, min(size, len(self.data) - at))

    def located(self, at, what):
        return self.held(self.number(at + 4), self.number(at), at, what)

    def stream(self, kind, least):
        at, size = self.streams.get(kind, (0, 0))
        if 0 < size < least:
            self.note(at, "a stream is cut short")
        return at if size >= least else None

    def records(self, place, size):
        at, length = place
        if length < 4:
            if length:
                self.note(at, "a list is cut short")
            return []
        count = self.number(at)
        first = 8 if length - 8 == count * size else 4  # Breakpad aligns some
        if count > (length - first) // size:
            self.note(at, "a list is longer than what holds it")
        return [at + first + size * i for i in range(min(count, (length - first) // size))]

    def text(self, field, width=4, wide=False):
        at = self.number(field, width)
        if at == 0:
            return ""
        what = "a text lies outside the file"
        head = self.held(at, 4, field, what)
        if head[1] < 4:
            return ""
        at, size = self.held(at + 4, self.number(at), field, what)
        return self.wide(at, size) if wide else self.data[at:at + size].decode()

    def wide(self, at, size):
        raw = self.data[at:at + size // 2 * 2].decode("utf-16-le", "surrogatepass").split("\0")[0]
        return re.sub("[\ud800-\udfff]", "\ufffd", raw)

    def state(self, place):
        """The processor, and registers as [(name, value, digits)]."""
        at, size = self.located(place, "registers lie outside the file")
        for arch, flags_at, flag, rows in CONTEXTS:
            if size < max(row[1] + row[2] for row in rows) or self.arch not in (arch, "any") or not self.number(at + flags_at) & flag:
                continue
            groups = self.number(at + flags_at) & 3
            if flag == 0x80000000:  # Breakpad's has all or none
                groups = 3 if groups & INTEGER else 0
            return arch, [(name, self.number(at + where, width), 2 * width) for name, where, width, group in rows if group & groups]
        if size:
            self.note(place, "registers are damaged, or of a processor that is neither arm64 nor x86_64")
        return None

    # ---- The parts ----

    def read(self):
        at = self.stream(SYSTEM, 28)
        self.system = at
        self.platform = self.number(at + 20) if at is not None else 0
        processor = self.number(at, 2) if at is not None else 0xFFFF
        self.arch = PROCESSORS.get(processor, "any" if processor == 0xFFFF else None)
        self.is_apple = self.platform in (0x8101, 0x8102)
        self.modules = [self.module(at) for at in self.records(self.streams.get(MODULES, (0, 0)), 108)]
        self.memory = [(self.number(at, 8), self.located(at + 8, "memory lies outside the file"))
                       for at in self.records(self.streams.get(MEMORY, (0, 0)), 16)]
        at = self.stream(MEMORY64, 16)
        if at is not None:
            where, held = self.number(at + 8, 8), (self.streams[MEMORY64][1] - 16) // 16
            if self.number(at, 8) > held:
                self.note(at, "a list is longer than what holds it")
            for i in range(min(self.number(at, 8), held)):
                record = at + 16 + 16 * i
                self.memory.append((self.number(record, 8), self.held(where, self.number(record + 8, 8), record, "memory lies outside the file")))
                where += self.memory[-1][1][1]
        self.threads = []
        for at in self.records(self.streams.get(THREADS, (0, 0)), 48):
            self.memory.append((self.number(at + 24, 8), self.located(at + 32, "memory lies outside the file")))
            self.threads.append({"id": self.number(at), "name": "", "state": self.state(at + 40), "crashed": False, "asked": False})
        for at in self.records(self.streams.get(NAMES, (0, 0)), 12):
            thread = self.thread(self.number(at))
            if thread and not thread["name"]:
                thread["name"] = self.text(at + 4, 8, True)
        self.pieces, end = [], 0
        for base, (at, size) in sorted((base, (at, size)) for base, (at, size) in self.memory if size):
            if base + size > end:
                skip = max(0, end - base)
                self.pieces.append((base + skip, at + skip, size - skip))
                end = base + size

    def module(self, at):
        uuid, other = "", ""
        cv, size = self.located(at + 76, "the identity of an image lies outside the file")
        if self.data[cv:cv + 4] == b"LEpB" and size >= 4 or self.platform in (0x8201, 0x8203):
            other = " (ELF)"
        elif self.platform == 2:
            other = " (PE)"
        elif size >= 24 and self.data[cv:cv + 4] == b"RSDS":
            uuid = "%08x%04x%04x" % struct.unpack_from("<IHH", self.data, cv + 4) + self.data[cv + 12:cv + 20].hex()
        last = (1 << 64) - 1
        if self.number(at, 8) + self.number(at + 8) > last:
            self.note(at, "an image reaches past the last address")
        path = self.text(at + 20, 4, True)
        name = path.split("/")[-1]
        while len(name.encode()) > 64:
            name = name[:-1]
        return {"base": self.number(at, 8), "end": min(self.number(at, 8) + self.number(at + 8), last), "path": path, "name": name or "???",
                "arch": self.arch if self.arch in ("arm64", "x86_64") else "unknown-arch", "other": other,
                "uuid": "  <%s>" % uuid if uuid.strip("0") else ""}

    def thread(self, number):
        return next((thread for thread in self.threads if thread["id"] == number), None)

    def word(self, address):
        raw = b""
        for byte in range(8):
            at = next((at + address + byte - base for base, at, size in self.pieces if base <= address + byte < base + size), None)
            if at is None:
                return None
            raw += self.data[at:at + 1]
        return int.from_bytes(raw, "little")

    def image(self, pc):
        below = [module for module in sorted(self.modules, key=lambda module: module["base"]) if module["base"] <= pc]
        return below[-1] if below and pc < below[-1]["end"] else None

    def frames(self, thread, bad_jump):
        """By frame pointers; of a call of an address without code the caller is where calls leave it."""
        if thread["state"] is None:
            return []
        arch, values = thread["state"][0], {name: value for name, value, _ in thread["state"][1]}
        names = ("rbp", "rsp", "rip") if arch == "x86_64" else ("fp", "sp", "pc")
        fp, sp, pc = [values.get(name) for name in names]
        if pc is None:
            return []
        found = [(plain(arch, pc), "context")]
        if thread["crashed"] and bad_jump:
            caller = values.get("lr") if arch == "arm64" else self.word(sp) if sp is not None else None
            if caller is not None and self.image(plain(arch, caller)):
                found.append((plain(arch, caller), "leaf"))
                sp = sp + 8 if arch == "x86_64" and sp is not None else sp
        while fp is not None and sp is not None and len(found) < 512:
            fp &= ~(1 << 60)  # Swift marks asynchronous contexts
            above, back = self.word(fp), self.word(fp + 8)
            if fp < sp or fp % 8 or above is None or back is None or plain(arch, back) < 4096:
                break
            fp, sp = above, fp + 16
            found.append((plain(arch, back), "fp"))
        while self.modules and len(found) > 1 and self.image(found[-1][0]) is None:
            found.pop()
        return found

    # ---- What happened ----

    def exception(self):
        """Returns the lines, and whether the program counter is the address that could not be read."""
        at = self.stream(EXCEPTION, 168)
        if at is None:
            return "", False
        thread = self.thread(self.number(at))
        if thread is None:
            thread = {"id": self.number(at), "name": "", "state": None, "asked": False}
            self.threads.append(thread)
        thread["crashed"] = True
        own = self.state(at + 160)
        thread["state"] = own or thread["state"]
        kind, codes, count = self.number(at + 8), [self.number(at + 12), 0], self.number(at + 32)
        given = [self.number(at + 40 + 8 * i, 8) for i in range(3)]
        signal, is_set = 0, False
        if count >= 3 and given[0] in (kind, 10):  # Crashpad: what the kernel told
            codes = given[1:]
            if given[0] == 10:  # EXC_CRASH: the signal, and what it came from
                signal, origin, is_set = codes[0] >> 24 & 255, codes[0] >> 20 & 15, True
                kind, codes[0] = (origin, codes[0] & 0xFFFFF) if origin else (10, 0)
        elif count == 2:
            codes = given[:2]
        elif kind == 1:
            codes[1] = self.number(at + 24, 8)
        if not is_set and kind == 0x43506E78:  # an uncaught exception
            kind, codes, signal = 10, [0, 0], 6
        elif not is_set:
            signal = {1: 11 if codes[0] in (1, 13) else 10, 2: 4, 3: 8, 5: codes[1] if codes[0] == 0x10003 else 0, 6: 5}.get(kind, 0)
        if kind == 0x43507378:
            return line("Exception Note", "SIMULATED (this is NOT a crash)"), False
        if not self.is_apple:
            return line("Exception Type", "exception 0x%08x" % kind), False
        name = "EXC_" + EXCEPTIONS[kind - 1] if 0 < kind <= len(EXCEPTIONS) else "exception 0x%08x" % kind
        if name[0] == "E" and 0 < signal <= len(SIGNALS):
            name += " (SIG%s)" % SIGNALS[signal - 1]
        said = line("Exception Type", name)
        if kind == 1 and codes[0] in (1, 2):
            said += line("Exception Subtype", "%s at 0x%016x" % (("KERN_INVALID_ADDRESS", "KERN_PROTECTION_FAILURE")[codes[0] - 1], codes[1]))
        said += line("Exception Codes", "0x%016x, 0x%016x" % tuple(codes))
        pc = [(thread["state"][0], value) for name, value, _ in (thread["state"] or (0, ()))[1] if name in ("pc", "rip")]
        return said, kind == 1 and bool(pc) and plain(*pc[0]) == plain(pc[0][0], codes[1])

    def annotations(self):
        """Pairs (image, key, value), and messages (image, text)."""
        pairs, messages = [], []
        at = self.stream(CRASHPAD, 52)
        if at is None:
            return pairs, messages, ""
        what = "annotations lie outside the file"
        ids = ""
        for key, where in (("Incident Identifier", at + 4), ("CrashReporter Key", at + 20)):
            number = "%08X-%04X-%04X-" % struct.unpack_from("<IHH", self.data, where) + self.data[where + 8:where + 10].hex().upper() + \
                "-" + self.data[where + 10:where + 16].hex().upper()
            ids += line(key, number) if number.strip("0-") else ""
        pairs += [("", self.text(one), self.text(one + 4)) for one in self.records(self.located(at + 36, what), 8)]
        for link in self.records(self.located(at + 44, what), 12):
            info, size = self.located(link + 4, what)
            number = self.number(link)
            image = self.modules[number]["path"].split("/")[-1] if number < len(self.modules) else ""
            if size < 28:
                continue
            messages += [(image, self.text(one)) for one in self.records(self.located(info + 4, what), 4)]
            pairs += [(image, self.text(one), self.text(one + 4)) for one in self.records(self.located(info + 12, what), 8)]
            pairs += [(image, self.text(one), self.text(one + 8) if self.number(one + 4, 2) == 1 else "(no text)")
                      for one in self.records(self.located(info + 20, what), 12)]
        return pairs, messages, ids

    def assertion(self):
        at = self.stream(ASSERTION, 776)
        return [] if at is None else [("", "Assertion failed: (%s), function %s, file %s, line %d." % (
            *(self.wide(at + 256 * i, 256) for i in range(3)), self.number(at + 768)))]

    def os_version(self):
        at = self.system
        if at is None:
            return ""
        version = [self.number(at + 8), self.number(at + 12)] + [self.number(at + 16)] * (self.number(at + 16) != 0)
        build = self.text(at + 24, 4, True)
        return line("OS Version", SYSTEMS.get(self.platform, "") + ".".join(map(str, version)) + (" (%s)" % shown(build) if build else ""))

    def head(self, pairs):
        misc, date = self.stream(MISC, 16), lambda seconds: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)) if seconds else ""
        flags = self.number(misc + 4) if misc is not None else 0
        path = self.modules[0]["path"] if self.modules else ""
        process = shown(path.split("/")[-1]) + (" [%d]" % self.number(misc + 8) if flags & 1 else "") if path else ""
        version = next((value for image, key, value in pairs if key in ("ver", "_version") and not image and value), "")
        # The processor as the system says it: ARM-64 of Apple's text
        return line("Process", process) + line("Path", shown(path)) + line("Version", shown(version)) + \
            line("Code Type", {"arm64": "ARM-64", "x86_64": "X86-64"}.get(self.arch, "")) + "\n" + line("Date/Time", date(self.number(20))) + \
            line("Launch Time", date(self.number(misc + 12)) if flags & 2 else "") + self.os_version() + line("Report Version", "104")

    def report(self):
        """The text, and how each of its frames was found."""
        self.read()
        pairs, messages, ids = self.annotations()
        head = self.head(pairs)
        thrown = [next((value for _, name, value in reversed(pairs) if name == key), "") for key in ("exceptionName", "exceptionReason")]
        if thrown[0]:
            messages.append(("", "*** Terminating app due to uncaught exception '%s', reason: '%s'" % tuple(thrown)))
        messages += self.assertion()
        event, bad_jump = self.exception()
        asking = self.stream(BREAKPAD, 12)
        if asking is not None and not self.streams.get(EXCEPTION, (0, 0))[1] and self.number(asking) & 2:
            thread = self.thread(self.number(asking + 8))
            if thread:
                thread["asked"] = True
        text = ids + head + "\n" + event
        crashed = [i for i, thread in enumerate(self.threads) if thread["crashed"]]
        text += line("Triggered by Thread", str(crashed[0])) if crashed else ""
        said = ""
        for image, message in messages:
            message = message.strip(" \t")
            if message:
                said += "" if message.startswith(PLAIN) or "a" <= message[0] <= "z" else "in %s: " % shown(image)
                said += shown(message) + "\n"
        text += ("\nApplication Specific Information:\n" + said if said else "") + "\n"
        how = []
        for number, thread in enumerate(self.threads):
            text += "Thread %d name:  %s\n" % (number, shown(thread["name"])) if thread["name"] else ""
            text += "Thread %d%s\n" % (number, " Crashed:" if thread["crashed"] else ":")
            for index, (pc, by) in enumerate(self.frames(thread, bad_jump)):
                image = self.image(pc)
                base = image["base"] if image else 0
                left = "%-3d " % index + shown(image["name"] if image else "???")
                text += left + " " * (34 - len(left.encode())) + "\t0x%016x 0x%x + %d\n" % (pc, base, pc - base)
                how.append(by)
            text += "\n"
        for number, thread in enumerate(self.threads):
            if (thread["crashed"] or thread["asked"]) and thread["state"] and thread["state"][1]:
                arch, values = thread["state"]
                text += "Thread %d %s with %s Thread State%s:\n" % (number, "crashed" if thread["crashed"] else "stopped",
                                                                      *{"arm64": ("ARM", " (64-bit)"), "x86_64": ("X86", " (64-bit)")}[arch])
                for at in range(0, len(values), 4):
                    text += "".join("%6s: 0x%0*x" % (name, digits, value) for name, value, digits in values[at:at + 4]) + "\n"
                text += "\n"
        text += "Binary Images:\n"
        for module in sorted(self.modules, key=lambda module: module["base"]):
            text += "0x%016x - 0x%016x %s %s%s%s %s\n" % (module["base"], max(module["end"] - 1, module["base"]), shown(module["name"]), module["arch"],
                                                         module["other"], module["uuid"], shown(module["path"]))
        if pairs:
            text += "\n" + "".join(line("Annotation", "%s%s: %s" % (shown(image) + ": " if image else "", shown(key), shown(value)))
                                   for image, key, value in pairs)
        if self.damage:
            text += "\nThe report is damaged at byte %d: %s\n" % self.damage
        return text, how


# ---- The generator ----

TEXTS = ["worker", "a b", "caf\u00e9", "\U0001F600", "x\ny", "t\tu", "7", "main queue", "0   demo 0x1"]
MESSAGES = ["abort() called", "Fatal error: index", "BUG IN CLIENT OF LIBMALLOC: x", "Say it", "  blanks ", "\u00e9clair", "in x", "zed", "{", "`",
            "Precondition failed: no", "Assertion failed: y", "CoreFoundation 1", "Terminating app now", "*** Terminating app due to uncaught exception 'a'", ""]
PATHS = ["/Applications/demo.app/demo", "/usr/lib/dyld", "/usr/lib/" + "n" * 63, "/usr/lib/" + "n" * 64, "/usr/lib/" + "n" * 65, "/a/" + "m" * 63 + "\u00e9",
         "/a/" + "m" * 62 + "\u00e9", "name", "/x/" + "i" * 28, "/x/" + "i" * 29, "/x/" + "i" * 30, "/x/" + "i" * 31, "/a b/c\u00e9d", "/a/\U0001F600", ""]


def number(rng):
    """Numbers whose bytes all differ, so that no two fields can be taken for each other."""
    return rng.choice([rng.getrandbits(64), rng.getrandbits(32), rng.getrandbits(8), 0])


class Chance:
    def __init__(self, rng):
        self.rng = rng
        self.dump = md.Dump(14, rng.choice([0, md.TIME, 1, 951782400, 4107542399, rng.getrandbits(32)]))
        self.processor = rng.choice([9, 9, 12, 12, 12, 0x8003, 0x8003, 0xFFFF, 5])
        self.arch = {9: "x86_64", 12: "arm64", 0x8003: "old", 5: "arm64"}.get(self.processor) or rng.choice(["x86_64", "arm64", "old"])
        self.bases = []

    def maybe(self, odds=0.7):
        return self.rng.random() < odds

    def code(self):
        base, size = self.rng.choice(self.bases or [(0x100000000, 0x4000)])
        return base + self.rng.choice([0, size - 1, size, self.rng.randrange(max(size, 1))])

    def modules(self):
        rng, at, made = self.rng, 0x100000000, []
        for _ in range(rng.choice([0, 1, 2, 3, 5])):
            size = rng.choice([0, 1, 0x4000, 0xFFFFF])
            path = rng.choice(PATHS)
            uuid = "%08X-%04X-%04X-%04X-%012X" % tuple(rng.getrandbits(bits) for bits in (32, 16, 16, 16, 48))
            cv = b"RSDS" + md.guid(uuid) + struct.pack("<I", 7)
            record = rng.choice([cv + b"demo\0", cv + b"demo\0", cv, cv[:-1], b"", b"LEpB" + bytes(20), b"LEp", b"NB10" + cv[4:], b"RSDS" + bytes(20)])
            raw = bytearray(self.dump.module(at, size, path, record=record))
            if not path and self.maybe():
                struct.pack_into("<I", raw, 20, 0)
            made.append(bytes(raw))
            self.bases.append((at, size))
            at += size + rng.choice([0x1000, 0x100000])
        if self.maybe(0.03):  # at the end of all addresses, or past it
            made.append(self.dump.module((1 << 64) - 0x4000, rng.choice([0x3FFF, 0x4000, 0x5000]), "/last"))
        rng.shuffle(made)
        self.dump.modules(made, self.maybe(0.3))

    def context(self, values):
        rng = self.rng
        values = {name: number(rng) for name in ["x%d" % i for i in range(29)] + md.X86_64} | \
            {name: rng.getrandbits(32) for name in ("cpsr", "rfl")} | values
        raw = bytearray(md.x86_64(values) if self.arch == "x86_64" else md.arm64(values, self.arch == "old"))
        flags = 48 if self.arch == "x86_64" else 0
        if self.maybe(0.3):
            struct.pack_into("<I", raw, flags, struct.unpack_from("<I", raw, flags)[0] & ~3 | rng.choice([0, 1, 2]))
        elif self.maybe(0.05):
            struct.pack_into("<I", raw, flags, 0)
        cut = {"x86_64": 256, "arm64": 272, "old": 276}[self.arch]
        return bytes(raw if self.maybe(0.9) else raw[:rng.choice([cut, cut, cut, cut - 1])])

    def signed(self, address):
        return address | self.rng.choice([0, 0, 0x51 << 48 | 1 << 47, 0x7F << 56]) if self.arch != "x86_64" else address

    def stack(self, at):
        """Registers, and pieces of memory."""
        rng = self.rng
        fp, sp, pc = ("rbp", "rsp", "rip") if self.arch == "x86_64" else ("fp", "sp", "pc")
        returns = [self.signed(rng.choice([self.code(), self.code(), self.code(), 0x200000000000 + at])) for _ in range(rng.choice([0, 1, 3, 9]))]
        if returns and self.maybe(0.2):
            returns[-1] = rng.choice([0, 4095, 4096, 1])
        raw, first = md.frames(returns, at, rng.choice([0, 8, 0x10, 0x44]))
        raw = bytearray(raw)
        if returns and self.maybe(0.2):  # Swift's mark
            above = struct.unpack_from("<Q", raw, first - at)[0]
            struct.pack_into("<Q", raw, first - at, above | 1 << 60 if above else 0)
        if self.arch == "x86_64":
            struct.pack_into("<Q", raw, 0, self.code())
        values = {fp: first | rng.choice([0, 0, 1 << 60]) if returns else rng.choice([0, at + 1, at - 8, (1 << 64) - 16, (1 << 64) - 8]),
                  sp: rng.choice([at, at, at, first, first + 1, first + 8]), pc: self.signed(self.code()), "lr": self.signed(self.code())}
        cut = rng.choice([len(raw), len(raw), rng.randrange(len(raw) + 1), max(len(raw) - 1, 0)])
        middle = rng.randrange(cut + 1)
        pieces = rng.choice([[(at, raw[:cut])], [(at, raw[:middle]), (at + middle, raw[middle:cut])],
                             [(at, raw[:middle]), (at + middle // 2, raw[middle // 2:cut])]])
        rng.shuffle(pieces)
        return values, [(where, bytes(piece)) for where, piece in pieces]

    def threads(self):
        rng, made, ranges, far = self.rng, [], [], []
        self.ids, self.values = [], []
        for i in range(rng.choice([0, 1, 2, 3, 5])):
            values, pieces = self.stack(0x16F000000 + 0x100000 * i)
            own = pieces.pop() if pieces and self.maybe(0.5) else None
            (ranges if self.maybe(0.5) else far).extend(pieces)
            self.ids.append(rng.choice([100 + i, 100 + i, 100, rng.getrandbits(32)]))
            self.values.append(values)
            made.append(self.dump.thread(self.ids[-1], self.context(values) if self.maybe(0.95) else b"", own))
        rng.shuffle(ranges)
        if ranges or self.maybe(0.5):
            self.dump.memory(ranges)
        if far or self.maybe(0.3):
            self.dump.memory64(far)
        self.dump.threads(made, self.maybe(0.3))
        if self.maybe():
            self.dump.names([(rng.choice(self.ids + [7]), rng.choice(TEXTS + [""])) for _ in range(rng.randint(0, 6))])

    def exception(self):
        rng = self.rng
        kind = rng.choice([1, 1, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14, 0, 0x43507378, 0x43506E78, 0xC0000005])
        at = rng.randrange(len(self.ids)) if self.ids and self.maybe(0.9) else None
        values = self.values[at] if at is not None else self.stack(0x17F000000)[0]
        pc = values.get("pc", values.get("rip"))
        address = rng.choice([pc, 8, number(rng), self.signed(pc)])
        codes = [rng.choice([1, 2, 3, 13, 0x10003, rng.getrandbits(32)]), address]
        if self.maybe(0.3):
            codes = [rng.randrange(20) << 24 | rng.randrange(14) << 20 | rng.choice([1, 2, 13, 0xFFFFF]), address]
        if kind == 5:
            codes[1] = rng.choice([0, 1, 6, 15, 16, 300])
        given = rng.choice([[], [kind] + codes, [kind] + codes, [10] + codes, [10] + codes, [kind, codes[0]], codes, [kind + 1] + codes, [kind] + codes + [9]])
        context = self.context(values) if self.maybe(0.8) else b""
        self.dump.exception(self.ids[at] if at is not None else 4242, kind, codes[0] & 0xFFFFFFFF, address, given, context)

    def crashpad(self):
        rng = self.rng
        keys = ["ver", "_version", "version", "exceptionName", "exceptionReason", "mode", "x\ny"]

        def pairs(most):
            return [(rng.choice(keys), rng.choice(TEXTS + ["", "1.2"])) for _ in range(rng.randint(0, most))]
        modules = [(rng.choice([0, 1, 4, 9]), [rng.choice(MESSAGES) for _ in range(rng.randint(0, 3))], pairs(2),
                    [(rng.choice(keys), rng.choice([0, 1, 1, 2, 0x8001, 0x101]), rng.choice(TEXTS)) for _ in range(rng.randint(0, 2))])
                   for _ in range(rng.randint(0, 3))]
        ids = ["%08X-%04X-%04X-%04X-%012X" % tuple(rng.getrandbits(bits) * self.maybe(0.8) for bits in (32, 16, 16, 16, 48)) for _ in range(2)]
        self.dump.crashpad(*ids, pairs(4), modules)

    def make(self):
        rng, dump = self.rng, self.dump
        if self.maybe(0.9) or self.processor not in (9, 12, 0x8003):
            dump.system(self.processor, rng.choice([0x8101, 0x8101, 0x8102, 2, 0x8201, 0x8203, 0x8202, 0]),
                        (rng.getrandbits(5), rng.getrandbits(4), rng.choice([0, rng.getrandbits(32)])), rng.choice(["23D60", "", "a\tb"]))
        self.modules()
        self.threads()
        parts = [lambda: dump.misc(rng.getrandbits(32), rng.choice([0, md.TIME, rng.getrandbits(32)]), rng.randrange(8)), self.exception, self.crashpad,
                 lambda: dump.stream(BREAKPAD, struct.pack("<III", rng.randrange(4), rng.choice(self.ids or [7]), rng.choice((self.ids or [7]) + [7]))),
                 lambda: dump.assertion(rng.choice(["x != NULL", "", "a" * 127]), rng.choice(["f", ""]), rng.choice(["p.mm", "caf\u00e9.c"]), rng.getrandbits(32))]
        rng.shuffle(parts)
        for part in parts:
            if self.maybe(0.6):
                part()
        if self.maybe(0.2) and dump.count < dump.room:  # of two streams of a kind the first one counts
            dump.stream(MISC, struct.pack("<6I", 24, 3, 77, md.TIME, 0, 0))
        if self.maybe(0.3):
            self.damage()
        return bytes(dump.data)

    def damage(self):
        """One field leads out of the file, or is too small or too large."""
        rng, data = self.rng, self.dump.data
        at = 32 + 12 * rng.randrange(self.dump.count)
        kind, size, where = struct.unpack_from("<III", data, at)
        how = rng.randrange(4)
        if how == 0 and kind != MEMORY64:  # a stream that is cut
            struct.pack_into("<I", data, at + 4, rng.choice([3, 11, 15, 27, 51, 167, 775]) if size > 4 else size)
        elif how == 1:
            struct.pack_into("<I", data, at + 8, len(data) - rng.choice([0, 1, 2]))
        elif how == 2 and kind in (MODULES, THREADS, NAMES, MEMORY):
            struct.pack_into("<I", data, where, struct.unpack_from("<I", data, where)[0] + rng.choice([1, 2, 1 << 31]))
        elif how == 3 and kind == MODULES and size >= 112:
            struct.pack_into("<I", data, where + size - 108 + rng.choice([20, 76, 80]), len(data) - rng.choice([-5, 0, 3, 4, 5]))


def odd(text, more=b""):
    """Unpaired surrogates, a NUL in a text, an odd number of bytes: places in UTF-16, by hand. more: bytes after the text."""
    dump = md.Dump(4)
    dump.system(12, 0x8101, (14, 0, 0), "")
    at = dump.add(struct.pack("<I", len(text)) + text + more)
    raw = bytearray(dump.module(0x100000000, 0x4000, "/x"))
    struct.pack_into("<I", raw, 20, at)
    dump.modules([bytes(raw)])
    dump.threads([dump.thread(1, md.arm64({"pc": 0x100000010}))])
    return bytes(dump.data)


ODD = [b"/\0a\0\0\xd8b\0", b"/\0\0\xdca\0", b"/\0\xff\xdb\xff\xdf", b"/\0\0\xd8\0\xdc", b"/\0\0\xd8\0\xd8\0\xdc", b"/\0a\0\0\0b\0", b"/\0a\0b", b"/\0\0\xd8",
       b"/\0\xff\xd7\0\xe0", b"/\0\xff\xdb\0\xe0", b"/\0\0\xd8\xff\xdf", b"/\0\xff\xdf"]


def faults(folder, i, data, complaints):
    """What is wrong with the answers for a dump."""
    path, reader = "%s/%03d.dmp" % (folder, i), Reader(data)
    want, how = reader.report()
    if reader.damage:
        damage = (path,) + reader.damage[::-1]
        form = "machsym: %s: the report is damaged: %s; the rest is answered (binary, offset %d)" if how else "machsym: %s: %s, at byte %d"
        if form % damage not in complaints:
            yield "this is not said: " + form % damage
    if reader.damage and not how:  # nothing is left of it
        if os.path.exists("%s/text/%03d.crash" % (folder, i)):
            yield "it has a report"
        return
    try:
        with open("%s/text/%03d.crash" % (folder, i), encoding="utf-8", newline="") as file:
            told = file.read()
        with open("%s/json/%03d.json" % (folder, i), encoding="utf-8") as file:
            by = [frame["found_by"] for thread in json.load(file)["threads"] for frame in thread["frames"]]
    except (OSError, ValueError) as error:
        yield str(error)
        return
    for number, (ours, theirs) in enumerate(itertools.zip_longest(told.split("\n"), want.split("\n"))):
        if ours != theirs:
            yield "line %d: %r, not %r" % (number + 1, ours, theirs)
            break
    if by != how:
        yield "frames found by %r, not %r" % (by, how)


def main():
    tool, folder = sys.argv[1].split(), sys.argv[2]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    seed = sys.argv[3] if len(sys.argv) > 3 else "1"
    dumps = [Chance(random.Random("%s %d" % (seed, i))).make() for i in range(COUNT)] + [odd(text) for text in ODD] + [odd(b"/\0\0\xd8", b"\0\xdc"), odd(b"/\0\0\xd8\0", b"\xdc")]
    paths = ["%s/%03d.dmp" % (folder, i) for i in range(len(dumps))]
    for path, data in zip(paths, dumps):
        with open(path, "wb") as file:
            file.write(data)
    for form in ("text", "json"):
        said = subprocess.run(tool + ["crash", "-q", "--no-cache", "--to=" + form, "-o", "%s/%s/" % (folder, form)] + paths, capture_output=True, text=True)
    complaints = set(said.stderr.split("\n"))
    wrong = 0
    for i, data in enumerate(dumps):
        found = list(faults(folder, i, data, complaints))
        wrong += bool(found)
        for fault in found:
            print("%03d.dmp: %s" % (i, fault))
    print("%d of %d dumps are read as the second reader reads them" % (len(dumps) - wrong, len(dumps)))
    sys.exit(wrong != 0 or len(dumps) < LEAST)


if __name__ == "__main__":
    main()
