"""What lldb prints for `bt`, `bt all` and `image list`, as its thread-stop-format and frame-format have it (CoreProperties.td of LLVM), alone and
after a report that lists images. Its texts are made by chance, and each line says what it means. Usage: lldb.py TOOL FOLDER [SEED]"""
from texts import frame, main

IMAGES = [("/private/var/demo.app/demo", "4C4C44B5-5555-3144-A1BA-79CA685DEC58", 0x102a30000),
          ("/private/var/demo.app/demoKit", "4C4C44B5-5555-3144-A1BA-79CA685DEC59", 0x103a30000),
          ("/usr/lib/dyld", "00000000-0000-0000-0000-00000000ABC2", 0x1a1200000),
          ("/apps/Other Things.framework/Other Things", "0FBB2A6D-6C0A-3B54-B3A5-0D1AC2C2F5C1", 0x1b0000000)]
OPEN = 1 << 31  # `image list` tells no end: an image reaches to the next one, and no branch of a program reaches further
# what stopped a thread: the exception, its codes
REASONS = [("EXC_BREAKPOINT (code=1, subcode=0x102a30aec)", "EXC_BREAKPOINT", "code=1, subcode=0x102a30aec"),
           ("EXC_BAD_ACCESS (code=EXC_I386_GPFLT)", "EXC_BAD_ACCESS", "code=EXC_I386_GPFLT"), ("EXC_CRASH", "EXC_CRASH", ""),
           ("signal SIGABRT", "SIGABRT", ""), ("signal SIGSEGV (address=0x8)", "SIGSEGV", "address=0x8"), ("breakpoint 1.1", "", ""),
           ("step over", "", ""), ("Fatal error: Index out of range", "", ""), ("signal SIGSEGV (code=1", "SIGSEGV", ""), ("", "", "")]
NAMES = ["f", "-[Player play:]", "+[A b]", "operator+", "std::function<void (int)>::operator()(int) const", "main(argc=1, argv=0x16d)",
         "closure #1 in A.b()", "look at me", "A::operator+=(A const&)", "f(words=\"a at b\")"]
FILES = ["main.mm", "a b.c", "File+More.swift", "<compiler-generated>"]


def symbol_of(rng):
    """A symbol, with its mark of an inlined call in either form, and what it says: name, place, whether it is inlined."""
    name, place, is_inlined = rng.choice(NAMES), None, False
    if rng.random() < 0.15:
        return "___lldb_unnamed_symbol%d%s" % (rng.randint(1, 9999), rng.choice(["", " + 88", "$$demo + 12"])), None, None, False
    text = name
    if rng.random() < 0.2:
        text, is_inlined = "%s [inlined] %s" % (rng.choice(NAMES), name), True
    if rng.random() < 0.4:
        text += " + %d" % rng.choice([0, 4, 1234567])
    if rng.random() < 0.5:
        place = "%s:%d%s" % (rng.choice(FILES), rng.randint(0, 999), rng.choice(["", ":1", ":80"]))
        text += " at " + place
    for mark in rng.choice(["", "", "opt", "artificial", "inlined", "opt inlined", "inlined opt", "opt artificial"]).split():
        text += " [%s]" % mark
        is_inlined |= mark == "inlined"
    return text, name, place, is_inlined


def addresses(rng):
    """Where frames are: at edges too."""
    own = rng.choice(IMAGES)
    if rng.random() < 0.1:
        return rng.choice([0, 8, IMAGES[0][2] - 1, IMAGES[-1][2] + OPEN - 1, IMAGES[-1][2] + OPEN])
    return own[2] + rng.choice([0, 1, 0xaec, 0xaff, 0xb00, 0x1000, 0xffff])


def module_of(image):
    return image[0].rsplit("/", 1)[-1] if image else ""


def stacks(rng, listed_at, is_after):
    """Lines, what each thread says, which module each frame names, and why the process stopped."""
    lines, threads, named, stop = [], [], [], ("", "", "")
    selected = rng.randint(-1, 2)
    lies, left = rng.randint(0, 9), rng.choice([module_of(image) for image in IMAGES] + ["", "else", "dem", "demoKits"])
    for at in range(rng.randint(1, 3)):
        number, name, queue = rng.choice([at + 1, 0, 77]), rng.choice([None, "n", "worker 1"]), rng.choice([None, "com.apple.main-thread", "q (serial)"])
        reason = rng.choice(REASONS)
        thread = {"kind": "thread", "number": number, "name": name, "queue": queue, "crashed": at == selected and reason[0] != ""}
        if at > 0 and rng.random() < 0.2:  # a stack alone: its first frame begins it
            thread, reason = {"kind": "thread", "name": None, "queue": None, "crashed": False}, ("", "", "")
        else:
            lines.append("%s thread #%d%s%s%s" % ("*" if at == selected else " ", number, ", name = '%s'" % name if name else "",
                                                 ", queue = '%s'" % queue if queue else "", ", stop reason = " + reason[0] if reason[0] else ""))
        if at == selected:
            stop = reason
        frames, inlined = [], None
        count = rng.randint(1, 5)
        for index in range(count):
            address = addresses(rng) if inlined is None else inlined[0]
            is_return = index > 0 if inlined is None else inlined[1]
            image = listed_at(address)
            module = module_of(image) or rng.choice(["", "far"])
            if is_after and len(named) == lies:  # one frame that may be of another program
                module = left
            line = "  %s frame #%d: 0x%016x" % ("*" if at == selected and index == 0 else " ", index, address)
            given = place = inlined = None
            if not module or rng.random() < 0.1:
                line += module and " " + module
            else:
                text, given, place, is_inlined = symbol_of(rng)
                while is_inlined and index + 1 == count:  # into whom is the next frame's
                    text, given, place, is_inlined = symbol_of(rng)
                line += " %s`%s" % (module, text)
                inlined = (address, is_return) if is_inlined else None
            lines.append(line + rng.choice(["", "", "  "]))
            frames.append(frame(index, address, is_return, image, given, place))
            named.append(module)
        threads.append(thread | {"frames": frames})
    return lines, threads, named, stop


def after_report(rng):
    """A report that lists images, with their ends, in two forms. Its text, and what is listed where."""
    ends = {image: rng.choice([0x10000, 0xb00]) for image in IMAGES}
    listed = [image for image in IMAGES if rng.random() < 0.8] or IMAGES[:1]
    text = ["Incident Identifier: 7A9B6C1E-0000-4000-8000-000000000001", "Process: demo [412]", "Identifier: org.example.demo", "Report Version: 104", "",
            "Thread 0:", "0   dyld  0x00000001a1200aec 0x1a1200000 + 2796", "", "Binary Images:"]
    for image in listed:
        form = rng.choice(["0x%x - 0x%x %s arm64  <%s> %s", "0x%x - 0x%x +org.example.%s (1.0 - 1) <%s> %s"])
        text.append(form % (image[2], image[2] + ends[image] - 1, module_of(image).replace(" ", ""), image[1], image[0]))
    return text + [""], listed, lambda address: next((image for image in listed if 0 <= address - image[2] < ends[image]), None)


def settle(threads, named, listed):
    """A frame agrees with the list if it names the image that is listed where it lies, or lies in none and names none that is listed."""
    every = [one for thread in threads for one in thread["frames"]]
    names = [module_of(image) for image in listed]
    agrees = all(name == module_of(one["image"]) if one["image"] else name not in names for one, name in zip(every, named))
    for thread in threads:
        borrowed = any(one["image"] for one in thread["frames"])
        thread["borrowed_images"] = ("used" if agrees else "refused") if borrowed else None
    if not agrees:
        for one in every:
            one["image"] = None


def image_of(image):
    return image and image[1:]


def generate(rng, number):
    facts = {"format": "lldb backtrace"}
    if number % 3 == 0:
        text, listed, listed_at = after_report(rng)
    else:
        listed_at = lambda address: next((i for i in reversed(IMAGES) if i[2] <= address < i[2] + OPEN), None)
    lines, threads, named, stop = stacks(rng, listed_at, number % 3 == 0)
    if number % 3 == 0:
        settle(threads, named, listed)
        lines, facts = text + lines, {}  # the report is of its own kind
        threads.insert(0, {"kind": "thread", "number": 0, "frames": [frame(0, 0x1a1200aec, False, listed_at(0x1a1200aec))]})
    elif number % 3 == 1:
        lines = rng.choice([["Process 412 stopped"], [], ["(lldb) bt all"]]) + lines + ["(lldb) image list"]
        lines += ["[%3d] %s 0x%016x %s " % (i, image[1], image[2], image[0]) for i, image in enumerate(IMAGES)]
    for one in (one for thread in threads for one in thread["frames"]):
        one["image"] = image_of(one["image"]) if number % 3 != 2 else None
    return "\n".join(lines) + "\n", facts | {"exception": stop[1], "codes": stop[2], "threads": threads}


if __name__ == "__main__":
    main(generate)
