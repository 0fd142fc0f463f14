"""A report of PLCrashReporter without one fact: its line is gone, and no key stands without a value. The truth is its schema,
PLCrashReport.proto. Usage: plcrash.py REPORT TOOL"""
import re, subprocess, sys, tempfile

SYSTEM, APPLICATION, SIGNAL, PROCESS, MACHINE, INFO = 1, 2, 6, 7, 8, 9
LINES = {  # of a message and its field: the keys that go with it
    (APPLICATION, 1): {"Identifier"}, (PROCESS, 1): {"Process"}, (PROCESS, 3): {"Path"}, (PROCESS, 4): {"Parent Process"},
    (PROCESS, 7): {"Launch Time"}, (MACHINE, 1): {"Hardware Model"}, (SYSTEM, 4): {"Date/Time"}, (INFO, 2): {"Incident Identifier"},
    (APPLICATION, 0): {"Identifier", "Version"}, (PROCESS, 0): {"Process", "Path", "Parent Process", "Launch Time"},
}


# mach/machine.h, and what Apple's reports call these processors.
PROCESSORS = {7: "X86", 0x01000007: "X86-64", 12: "ARM", 0x0100000c: "ARM-64", 18: "PPC"}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """[(number, first byte, first byte of the value or None, end)]"""
    found, at = [], 0
    while at < len(data):
        begin = at
        tag, at = varint(data, at)
        value = None
        if tag & 7 == 0:
            _, at = varint(data, at)
        elif tag & 7 == 1:
            at += 8
        elif tag & 7 == 5:
            at += 4
        else:
            size, at = varint(data, at)
            value = at
            at += size
        found.append((tag >> 3, begin, value, at))
    return found


def number_of(value):
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def packed(number, value):
    return bytes([number << 3 | 2]) + number_of(len(value)) + value


def text_of(tool, data):
    with tempfile.NamedTemporaryFile(suffix=".plcrash") as file:
        file.write(data)
        file.flush()
        said = subprocess.run([tool, "crash", "-q", "--no-cache", "--to=text", file.name], capture_output=True, text=True)
    return said.stdout


def keys(text):
    return set(re.findall(r"^([A-Z][A-Za-z/ ]*): ", text, re.M))


def main():
    whole, tool = open(sys.argv[1], "rb").read(), sys.argv[2]
    head, body = whole[:8], whole[8:]
    all_keys = keys(text_of(tool, whole))
    tried, wrong = set(), []
    for number, begin, value, end in fields(body):
        if number not in (SYSTEM, APPLICATION, PROCESS, MACHINE, INFO):
            continue
        message = body[value:end]
        cuts = [(0, body[:begin] + body[end:])]
        for inner, first, _, last in fields(message):
            cuts.append((inner, body[:begin] + packed(number, message[:first] + message[last:]) + body[end:]))
        for inner, cut in cuts:
            text = text_of(tool, head + cut)
            tried.add((number, inner))
            bare = [line for line in text.split("\n") if re.fullmatch(r"[A-Z][A-Za-z/ ]*: *", line) and not re.match("Thread|Binary", line)]
            gone = all_keys - keys(text)
            if bare:
                wrong.append("without %d.%d: %s" % (number, inner, bare))
            if (number, inner) in LINES and gone != LINES[number, inner]:
                wrong.append("without %d.%d: %s are gone" % (number, inner, sorted(gone)))
    for number, begin, value, end in fields(body):
        for kind, words in PROCESSORS.items() if number == MACHINE else ():
            inner = b"".join(body[value:end][first:last] for n, first, _, last in fields(body[value:end]) if n != 2)
            inner += packed(2, b"\x08\x01\x10" + number_of(kind) + b"\x18\x00")
            text = text_of(tool, head + body[:begin] + packed(number, inner) + body[end:])
            tried.add(kind)
            if not re.search(r"^Code Type: +%s \(Native\)$" % words, text, re.M):
                wrong.append("processor %#x is not %s" % (kind, words))
    wrong += ["processor %#x was not tried" % kind for kind in PROCESSORS if kind not in tried]
    wrong += ["%d.%d is not in the report" % pair for pair in LINES if pair not in tried]
    print("\n".join(wrong))
    sys.exit(bool(wrong))


main()
