"""Call trees of sample(1) and of spindump, as they print them (tests/fixtures/reports, tests/fixtures/system/SOURCES): a line for each place, deeper
ones called from it. Its texts are made by chance, and each line says what it means. Usage: samples.py TOOL FOLDER [SEED]"""
from texts import frame, main

DEMO, DYLD, KERNEL = ("demo", "4C4C44B5-5555-3144-A1BA-79CA685DEC58", 0x102a30000), ("dyld", "00000000-0000-0000-0000-00000000ABC2", 0x1a1200000), (
    "kernel.release.t8101", "00000000-0000-0000-0000-00000000ABCE", 0xfffffe0007e00000)
OTHER = ("other", "00000000-0000-0000-0000-00000000ABCF", 0x104a30000)
NAMES = ["start", "-[Player play:]", "operator+", "std::function<void (int)>::operator()(int) const", "closure #1 (Int) in A.b()", "f(int) + g"]
PLACES = ["main.mm:12", "a b.c:7", "<compiler-generated>:0"]
OFFSETS = [0, 0x9b8, 0x9fc, 0x3fff]


def tree(rng, depth, images, most=3):
    """Places of a tree in the order of its lines: depth, image, offset, whether a deeper line follows, which it calls."""
    below = tree(rng, depth + 1, images, 2) if depth < 5 and rng.random() < 0.65 else []
    own = [(depth, rng.choice(images), rng.choice(OFFSETS), len(below) > 0)] + below
    return own + (tree(rng, depth, images, most - 1) if most > 1 and rng.random() < 0.4 else [])


def sample(rng):
    lines, threads = ["Analysis of sampling demo (pid 412) every 1 millisecond", "Process:         demo [412]", "Report Version:  7", "----", "", "Call graph:"], []
    for number in range(rng.randint(1, 3)):
        title = "Thread_%d%s" % (4711 + number, rng.choice(["", "   DispatchQueue_1: com.apple.main-thread  (serial)", ": worker"]))
        lines.append("    2426 " + title)
        frames = []
        for index, (depth, image, offset, calls) in enumerate(tree(rng, 0, [DEMO, DYLD, OTHER])):
            address, given, place = image[2] + offset, None, None
            more, others = rng.choice([("", ""), ("", ""), (",12", ",0x%x" % (address + 4)), (",12,...", ",0x%x,..." % (address - 4))])  # several at once
            line = "    " + "".join(rng.choice("+!:| ") + " " for _ in range(depth + 1)) + "%d " % rng.choice([1, 426, 2426])
            if rng.random() < 0.5:
                given = rng.choice(NAMES)
                line += "%s  (in %s) + %s%s  [0x%x%s]" % (given, image[0], rng.choice(["0", "2340"]), more, address, others)
                place = rng.choice([None, rng.choice(PLACES)])
                line += "  " + place if place else ""
            else:
                line += "???  (in %s)  load address 0x%x + 0x%x%s  [0x%x%s]" % (image[0], image[2], offset, more.replace(",1", ",0x1"), address, others)
            lines.append(line)
            frames.append(frame(index, address, calls, image[1:], given, place))
        threads.append({"kind": "thread", "number": number, "name": title, "crashed": False, "callers_first": True, "frames": frames})
    lines += ["", "Total number in stack (recursive counted multiple, when >=5):", "", "Sort by top of stack, same collapsed (when >= 5):",
              "        __workq_kernreturn  (in dyld)        2426", "", "Binary Images:"]
    lines += ["       0x%x -        0x%x  %s (1 - 1) <%s> /usr/lib/%s" % (i[2], i[2] + 0x3fff, i[0], i[1], i[0]) for i in (DEMO, OTHER, DYLD)]
    return lines, {"format": "sample", "process": "demo [412]", "threads": threads}


def spin_line(rng, image, offset, by_uuid):
    """A place, and the name and the place that it says."""
    address, kind = image[2] + offset, rng.random()
    module = "<%s>" % image[1] if by_uuid else image[0]
    if kind < 0.4:
        name, place = rng.choice(NAMES), rng.choice([None, None] + PLACES)
        return "%s + %d (%s%s + %d) [0x%x]" % (name, rng.choice([0, 12]), place + " in " if place else "", module, offset, address), name, place
    if kind < 0.5 and not by_uuid:
        return "??? [0x%x]" % address, None, None
    return "??? (%s + %d) [0x%x]" % (module, offset, address), None, None


def spindump(rng):
    by_uuid = rng.random() < 0.4
    lines, threads = ["Date/Time:        2026-03-14 09:26:53.589 +0100", "OS Version:       macOS 12.6 (Build 21G115)", "Report Version:   35",
                      "Command:          demo", "Event:            hang", ""], []
    if rng.random() < 0.5:  # one line calls the next, without indentation
        title = "Heaviest stack for the main thread of the target process:"
        lines.append(title)
        frames, count = [], rng.randint(1, 5)
        for index in range(count):
            image, offset = rng.choice([DEMO, DYLD]), rng.choice(OFFSETS)
            text, given, place = spin_line(rng, image, offset, by_uuid)
            lines.append("  %d  %s" % (21 - index // 2, text))
            frames.append(frame(index, image[2] + offset, index + 1 < count, image[1:], given, place))
        threads.append({"name": title, "callers_first": True, "frames": frames})
        lines.append("")
    for process, own in (("demo [412]", DEMO), ("helper [413]", OTHER))[:rng.randint(1, 2)]:
        lines += ["Process:          " + process, "Path:             /Applications/" + own[0], ""]
        for number in range(rng.randint(1, 2)):
            title = "Thread 0x%x    %s2 samples (1-2)    priority 31 (base 31)" % (0x1267 + number, rng.choice(["", "DispatchQueue \"q\"(1)    "]))
            lines.append("  " + title)
            frames = []
            for index, (depth, image, offset, calls) in enumerate(tree(rng, 0, [own, own, DYLD, KERNEL])):
                text, given, place = spin_line(rng, image, offset, by_uuid)
                lines.append(" %s%s%d  %s%s" % ("  " * depth, "*" if image is KERNEL else " ", rng.choice([1, 21]), text, rng.choice(["", "", " 1-21"])))
                frames.append(frame(index, image[2] + offset, calls, image[1:], given, place))
            threads.append({"name": title, "process": process, "callers_first": True, "frames": frames})
            lines.append("")
        if not by_uuid:
            lines.append("  Binary Images:")
            lines += ["           0x%x -        %s  %s (1) <%s>  /usr/lib/%s" % (i[2], rng.choice(["0x%x" % (i[2] + 0x3fff), "???"]), i[0], i[1], i[0])
                      for i in sorted({DEMO, own, DYLD}, key=lambda i: i[2])] + [""]
    if not by_uuid:
        lines.append("*0x%x - 0x%x  %s (8020) <%s>  /System/Kernel" % (KERNEL[2], KERNEL[2] + 0xffffff, KERNEL[0], KERNEL[1]))
    return lines, {"format": "spindump", "event": "hang", "threads": threads}


def generate(rng, number):
    lines, want = sample(rng) if number % 2 else spindump(rng)
    for number, thread in enumerate(want["threads"]):
        thread["number"] = number
    return "\n".join(lines) + "\n", want


if __name__ == "__main__":
    main(generate)
