"""Crashlytics' stacks as the Firebase console hands them out (tests/fixtures/services/SOURCES): a head, then stacks, each after an empty line and
its title. Addresses are offsets in images, whose UUID is told where symbols are missing; older ones are those of the process. Its texts are
made by chance, and each line says what it means. Usage: crashlytics.py TOOL FOLDER [SEED]"""
from layout import thrown
from texts import frame, main

UUIDS = {"demo": "4C4C44B5-5555-3144-A1BA-79CA685DEC58", "demoKit": "4C4C44B5-5555-3144-A1BA-79CA685DEC59", "Other": "0FBB2A6D-6C0A-3B54-B3A5-0D1AC2C2F5C1",
         "libobjc.A.dylib": "7D1F50B3-ED7D-3987-BCED-AD6779B49C86"}
HEAD = {"Application": "identifier", "Bundle Identifier": "identifier", "Version": "version", "Session": "incident", "Session ID": "incident",
        "Date": "date", "OS Version": "os", "Device": "hardware", "Platform": None, "Issue": None, "Issue ID": None, "Orientation": None}
MISSING = ["Missing", "シンボルが不足しています", "Fehlt"]  # in the reader's language
# the line after "Crashed:": exception, signal, subtype, codes
CAUSES = [("EXC_BAD_ACCESS KERN_INVALID_ADDRESS 0x0000000000000008", "EXC_BAD_ACCESS", "", "KERN_INVALID_ADDRESS at 0x0000000000000008", ""),
          ("EXC_BAD_ACCESS KERN_PROTECTION_FAILURE 0x10", "EXC_BAD_ACCESS", "", "KERN_PROTECTION_FAILURE at 0x10", ""),
          ("EXC_BREAKPOINT 0x00000001a1203d44", "EXC_BREAKPOINT", "", "", "0x00000001a1203d44"), ("EXC_BAD_ACCESS KERN_", "EXC_BAD_ACCESS", "", "", "KERN_"),
          ("SIGABRT ABORT 0x00000001d4a50010", "", "SIGABRT", "", "ABORT 0x00000001d4a50010"), ("SIGTRAP", "", "SIGTRAP", "", ""), (None, "", "", "", "")]
SECOND = "0FBB2A6D-6C0A-3B54-B3A5-0D1AC2C2F5C2"  # another image of that name
NAMES = ["mach_msg2_trap", "-[Player play:]", "closure #1 in RootPage.body.getter", "main", "objc_exception_throw"]
TITLES = ["com.apple.uikit.eventfetch-thread", "com.google.firebase.worker", "Thread", "a queue (serial)", "Thready"]
LOWEST = 1 << 32  # below it no 64-bit program is loaded


def frames(rng):
    """Lines, and frames with the UUID that a line tells and the name of the image in place of one."""
    lines, out = [], []
    for index in range(rng.randint(1, 6)):
        name = rng.choice(list(UUIDS))
        address = rng.choice([0xaec, 0x1000, 0x12d12c, LOWEST - 1, LOWEST, 0x102a30a7c])
        given = place = uuid = None
        kind = rng.random() if name != "Other" else 0  # of two images of one name, a name is neither
        if kind < 0.5:
            uuid = UUIDS[name] if name != "Other" else rng.choice([UUIDS[name], SECOND])
            told = "(%s UUID %s)" % (rng.choice(MISSING), rng.choice([uuid, uuid.replace("-", "").lower()]))
        elif kind < 0.6:
            told = "(Missing)"
        else:
            given = told = rng.choice(NAMES)
            if rng.random() < 0.6:
                told += " + %d" % rng.choice([0, 8, 4000])
            if rng.random() < 0.4:
                place = rng.choice(["RootPage.swift:27", "a.m:3", "<compiler-generated>:1"])
                told += " (%s)" % place
        lines.append("%-3d%-30s 0x%x %s" % (index, name, address, told))
        out.append((name, uuid, frame(index, address, index > 0, None, given, place)))
    return lines, out


def titled(rng, at):
    """The lines above a stack, and what they say of it; facts of a crash. Some have their number, some stand twice."""
    kind = rng.choice(["Crashed", "Fatal", "other"]) if at == 0 else "other"
    if kind == "Crashed":
        name, cause = rng.choice(["com.apple.main-thread", "a queue (serial)", "Thread"]), rng.choice(CAUSES)
        title, lines = "Crashed: " + name, [cause[0]] if cause[0] else []
        facts = dict(zip(("exception", "signal", "subtype", "codes"), cause[1:]))
    elif kind == "Fatal":
        name, words = rng.choice(["NSRangeException", "std::out_of_range"]), rng.choice(["", "index 7: beyond bounds", "a b"])
        lines = ["Fatal Exception: " + name + (": " + words if words else "")]
        reason = "the reason: of two words" if rng.random() < 0.4 else ""  # on a line of its own
        lines += [reason] if reason else []
        return lines, {"kind": "last exception", "name": None, "crashed": False}, {"said": thrown(name, words), "reason": reason}
    else:
        title, lines, facts = rng.choice(TITLES), [], {}
        name = title
    thread = {"kind": "thread", "name": None if name == "Thread" else name, "crashed": kind == "Crashed"}
    form = rng.random()
    if form < 0.2:
        return ["#%d. %s" % (at, title)] + lines, thread, facts
    if form < 0.4:
        return [title] + lines + ["Thread : " + title], thread, facts
    return ["Thread : " + title if form < 0.5 and kind == "other" else title] + lines, thread, facts


def generate(rng, _):
    lines, want = ["# Crashlytics - Stack trace"], {"format": "Crashlytics text"}
    for key in rng.sample(list(HEAD), rng.randint(0, len(HEAD))):
        value = rng.choice(["a word", "1.2: (34)"])
        lines.append("# %s: %s" % (key, value))
        want.setdefault(HEAD[key], value)
    want.pop(None, None)
    threads, every = [], []
    for at in range(rng.randint(1, 4)):
        above, thread, facts = titled(rng, at)
        below, listed = frames(rng)
        lines += ["", *above, *below] if at == 0 or rng.random() < 0.8 else ["", "--", "", *above, *below]
        threads.append(thread | {"number": at, "frames": [one for _, _, one in listed]})
        every += listed
        want |= facts
    known = {name for name, uuid, one in every if uuid and one["address"] < LOWEST}
    for name, uuid, one in every:
        if name in known and one["address"] < LOWEST:
            one["image"] = (uuid or UUIDS[name], 0)
    want["images"] = list(dict.fromkeys((uuid, 0) for _, uuid, one in every if uuid and one["address"] < LOWEST))
    return "\n".join(lines) + "\n", want | {"threads": threads}


if __name__ == "__main__":
    main(generate)
