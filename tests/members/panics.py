"""Panics of the kernel as xnu prints them (osfmk/arm64, osfmk/i386: model_dep.c; OSKext::printKextsInBacktrace), alone and as strings of panic-full
reports. Its texts are made by chance, and each line says what it means. Usage: panics.py TOOL FOLDER [SEED]"""
import json
from texts import frame, main

KERNEL, TEXT, EXEC = "4C4C4443-5555-3144-A1A7-F7BC8031A5D0", 0xfffffe0052294000, 0xfffffe0056920000
KEXTS = [("com.apple.driver.Watchdog", "1.0", "BDBB2E95-0C68-3FC0-9B7F-0DB0514437BC", 0xfffffe00415372a0, 0xfffffe004153d093),
         ("com.apple.iokit.IOPCIFamily", "2.9", "7E6672DD-F880-3B24-A0F9-C39A7F79FA46", 0xfffffe0014677640, 0xfffffe0014678763),
         ("com.example.Outer", "900.4.2d1", "B3A7BE9C-2002-3891-B7D1-A84CEA0AC9E0", 0xfffffe0014690000, 0xfffffe0014690fff)]
REASONS = ["watchdog timeout: no checkins from watchdogd in 94 seconds (1536 total checkins since monitoring last enabled)", "what @file.c:12",
           "Kernel trap at 0xffffff7f983a8e5a, type 14=page fault, registers:", "\"a process (pid 7): it ended\" @x.c:1"]
NAMES = ["_panic", "__ZN3Foo3barEv", "_IOUSBDevice::get(int)"]
# lines of a panic that say nothing of what is read
OTHERS = ["Debugger message: panic", "Memory ID: 0x1", "OS release type: User", "Kernel version: Darwin Kernel Version 25.6.0: root:xnu-1/RELEASE_ARM64",
          "Fileset Kernelcache UUID: DC901C02455A8411D94142773EE435E4", "Boot session UUID: 7A9B6C1E-0000-4000-8000-000000000003",
          "KernelCache base:  0xfffffe005228c000", "Kernel slide:      0x000000004b290000", "Kernel text exec slide: 0x000000004f91c000",
          "CORE 0: PC=0xfffffe0044249718, LR=0xfffffe004424973c, FP=0xfffffe51bc08b8e0", "mach_absolute_time: 0x1ab63abf038", "",
          "  Zone map: 0xfffffe1002000000 - 0xfffffe3602000000", "CR0: 0x000000008001003b, CR2: 0x0000000000000008, CR3: 0x0000000019c3a000",
          "last loaded kext at 8130103: com.apple.driver.usb.cdc 5.0.0 (addr 0xffffff7f97d00000, size 28672)", "loaded kexts: (none)"]


def header(rng, want):
    """Lines of what happened, and of the kernel: its UUID may be told or not, its addresses in one of two forms or both."""
    lines = []
    reason = rng.choice(REASONS)
    want["event"] = reason
    if rng.random() < 0.3:
        lines += ["Anonymous UUID:       7A9B6C1E-0000-4000-8000-000000000005", "", "*** Panic Report ***"]
    lines.append("panic(cpu %d caller 0xfffffe0057271718): %s" % (rng.randint(0, 31), reason))
    mixed = rng.sample(OTHERS, rng.randint(0, 6))
    if rng.random() < 0.7:
        mixed.append("OS version: 25G83")
        want["os"] = "25G83"
    if rng.random() < 0.5:
        mixed.append("System model name: Mac15,3 (Mac15)")
        want["hardware"] = "Mac15,3 (Mac15)"
    rng.shuffle(mixed)
    uuid, base, kernel = None, None, rng.choice(["", "text", "text exec", "both"])
    if rng.random() < 0.8:
        uuid = KERNEL
        mixed.append("Kernel UUID: " + rng.choice([KERNEL, KERNEL.replace("-", "").lower()]))
    for key, address in (("text", TEXT), ("text exec", EXEC)):
        if kernel in (key, "both"):
            base = address
            mixed.append("Kernel %s base: %s0x%016x" % (key, rng.choice(["", "     "]), address))
    return lines + mixed, None if base is None else (uuid, base)


def image_at(address, kernel, kexts):
    """Kernel extensions say their last byte, or nothing, as the kernel: those reach to the next image."""
    images = sorted([(k[3], k[2], last) for k, last in kexts] + ([(kernel[1], kernel[0], None)] if kernel else []), key=lambda image: image[0])
    base, uuid, last = next((i for i in reversed(images) if i[0] <= address), (None, None, None))
    return (uuid, base) if base is not None and (address <= last if last else address - base < 1 << 31) else None


def backtrace(rng, places):
    """A line of arm64 or of Intel each, with and without a name."""
    is_arm, lines, frames = rng.random() < 0.5, [], []
    number = rng.choice([0, 562, 4294967297])
    if is_arm:
        lines.append("Panicked thread: 0xf4fffe186a31e560, backtrace: 0xfffffebfcc0076d0, tid: %d" % number)
    else:
        lines.append("Backtrace (CPU %d), %sFrame : Return Address" % (rng.randint(0, 9), rng.choice(["", "panicked thread: 0xffffff86cf3e5aa0, "])))
    for index in range(rng.randint(1, 6)):
        address, name, place = rng.choice(places), None, None
        if is_arm:
            line = "\t\t  lr: 0x%016x  fp: 0x%016x" % (address, rng.choice([0, 0xfffffebfcc007770]))
            if rng.random() < 0.3:  # as machsym adds it
                name = rng.choice(NAMES)
                place = rng.choice([None, "panic.c:12"])
                line += " %s + 4%s" % (name, " (%s)" % place if place else "")
        else:
            line = "0x%016x : 0x%016x " % (0xffffff80727fb7a0 + 16 * index, address)
            if rng.random() < 0.5:
                name = rng.choice(NAMES)
                line += "%s : %s%s" % (rng.choice(["mach_kernel", "com.apple.x"]), name, rng.choice([" + 0x18", " + 0xabc", ""]))
        lines.append(line)
        frames.append(frame(index, address, True, None, name, place))  # each is an address that a call returns to
    return lines, {"kind": "thread", "number": number if is_arm else 0, "crashed": True, "frames": frames}


def panic(rng):
    want = {"format": "kernel panic"}
    lines, kernel = header(rng, want)
    kexts = [(k, k[4] if rng.random() < 0.7 else None) for k in KEXTS if rng.random() < 0.6]
    places = [base + add for base in [TEXT, EXEC] + [k[3] for k in KEXTS] for add in (0, 0x18, 0x100000)] + [k[4] + add for k in KEXTS for add in (0, 2)]
    stack, thread = backtrace(rng, places)
    for one in thread["frames"]:
        one["image"] = image_at(one["address"], kernel, kexts)
    task, process = rng.choice([
        (["Panicked task 0xf4fffe2402035c88: 0 pages, 623 threads: pid 412: demo"], "demo [412]"), ([], ""),
        (["Panicked task 0xf4fffe2402035c88: 31 pages, 1 threads: pid 0: a b"], "a b [0]"),
        (["BSD process name corresponding to current thread: demo"], "demo"),
        (["Process name corresponding to current thread (0xffffff86cf3e5aa0): demo 2"], "demo 2")])
    want["process"] = process
    after = [] if not kexts else ["      Kernel Extensions in backtrace:"]
    for (name, version, uuid, first, _), last in kexts:
        after.append(rng.choice(["         ", "            dependency: "]) + "%s(%s)[%s]@0x%x%s" % (name, version, uuid, first, "->0x%x" % last if last else ""))
    lines += task + stack + after if thread["number"] else stack + after + [""] + task
    want["names"] = (["kernel"] if kernel else []) + [k[0] for k, _ in kexts]
    own = {(k[2], k[3]): k[0] for k in KEXTS}
    want["extensions"] = ", ".join(dict.fromkeys(own[one["image"]] for one in thread["frames"] if one["image"] in own))
    return lines, want | {"threads": [thread], "images": sorted([(kernel[0], kernel[1])] if kernel else []) + [(k[2], k[3]) for k, _ in kexts]}


def generate(rng, number):
    lines, want = panic(rng)
    if number % 3 != 2:
        return rng.choice(["\n", "\n", "\r\n"]).join(lines) + "\n", want
    # panic-full; that of a Mac with a T2 has the coprocessor's beside it, which may be all there is
    while not lines[0].startswith("panic("):
        lines, want = panic(rng)
    document, said = {}, "\n".join(lines) + "\n"
    for key, member in (("build", "os"), ("product", "hardware"), ("date", "date"), ("incident", "incident")):
        if rng.random() < 0.7:
            document[key] = {"date": "2026-09-14 14:08:48.37 +0100"}.get(key, "a " + key)
            want[member] = want.get(member) or document[key]
    kind = rng.randint(0, 3)
    if kind == 0:
        document |= {"macOSPanicString": said, "panicString": "Unexpected SoC (system) watchdog reset"}
    elif kind == 1:
        document |= {"macOSPanicString": "not yet set", "panicString": said}
    elif kind == 2:
        document |= {"panicString": "Unexpected SoC (system) watchdog reset occurred\nbug_type: 210\n", "macOSPanicString": "not yet set"}
        want |= {"event": "Unexpected SoC (system) watchdog reset occurred", "threads": [], "images": [], "names": [], "extensions": ""}
        for key in ("process", "os", "hardware"):
            want[key] = {"os": document.get("build", ""), "hardware": document.get("product", "")}.get(key, "")
    else:
        document["panicString"] = said
    return json.dumps({"bug_type": "210"}) + "\n" + json.dumps(document, indent=rng.choice([None, 1])) + "\n", want


def more(document):
    """What the sentences say of kernel extensions."""
    said = [word.split(": ", 1)[1] for word in document["words"] if word.startswith("kernel extensions on the stack, innermost first: ")]
    return document | {"extensions": "".join(said)}


if __name__ == "__main__":
    main(generate, more)
