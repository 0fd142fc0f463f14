"""Limits that answers show, each just below, at and above its edge; docs/facts.md and docs/json.md say what each is.
Usage: edges.py TOOL FOLDER"""
import json, os, subprocess, sys

TOOL, FOLDER = sys.argv[1].split(), sys.argv[2]
BASE = 0x100004000
CASES = []  # which output, the file, what it must have


def image(number=0, **more):
    return {"base": BASE + 0x10000 * number, "size": 0x10000, "name": "own%d" % number, "path": "/Applications/own%d" % number,
            "uuid": "%08X-0000-4000-8000-000000000000" % (number + 1)} | more


def report(kind, want, frames=1, names=("f%d",), images=(image(),), state=None, **body):
    """Puts a case on the list. NAMES: of the functions."""
    stack = [{"imageIndex": n % len(images), "imageOffset": 0x1000 + 16 * n} | ({"symbol": names[0] % n if "%" in names[0] else names[0]} if names[0] else {}) for n in range(frames)]
    thread = {"triggered": True, "frames": stack} | (state or {})
    document = {"procName": "own0", "osVersion": {"train": "iPhone OS 17.4", "build": "21E219"}, "faultingThread": 0, "usedImages": list(images), "threads": [thread]} | body
    path = os.path.join(FOLDER, "%03d.ips" % len(CASES))
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"bug_type":"309","os_version":"iPhone OS 17.4 (21E219)"}\n' + json.dumps(document) + "\n")
    CASES.append((kind, path, want))


def access(address, code=1, name="KERN_INVALID_ADDRESS"):
    return {"type": "EXC_BAD_ACCESS", "signal": "SIGSEGV", "subtype": "%s at 0x%016x" % (name, address), "codes": "0x%016x, 0x%016x" % (code, address)}


def arm(**registers):
    values = {name: {"value": value} for name, value in registers.items() if name[0] != "x"}
    general = [{"value": registers.get("x%d" % n, 0)} for n in range(4)]
    return {"threadState": {"flavor": "ARM_THREAD_STATE64", "x": general} | values}


def faults():
    for address, kind in ((0, "null"), (0xfff, "null"), (0x1000, "unmapped")):
        report("facts", {"fault.kind": kind}, exception=access(address))
    end = 0x16f004000
    region = "0x16f003ff0 is in 0x16f000000-0x16f004000;\n      REGION TYPE\n--->  STACK GUARD  16f000000-16f004000 [   16K] ---/rwx SM=NUL\n"
    for pointer, kind in ((0x16f000000, "stack_overflow"), (end, "stack_overflow"), (end + 0x3fff, "stack_overflow"), (end + 0x4000, "stack_guard"), (end + 0x5000, "stack_guard")):
        report("facts", {"fault.kind": kind}, exception=access(0x16f003ff0, 2, "KERN_PROTECTION_FAILURE"), vmRegionInfo=region, state=arm(sp=pointer))
    for byte, kind in ((0x55, "freed_pattern"), (0xaa, "uninitialized_pattern")):
        for bits in (64, 56, 47):
            first = int.from_bytes(bytes([byte]) * 8, "big") & (1 << bits) - 1 & ~15
            for add, is_one in ((-1, False), (0, True), (0xfff, True), (0x1000, False)):
                report("facts", {"fault.kind": kind if is_one else "unmapped"}, exception=access(first + add))
    at = 0x123456000
    for below, tag, want in ((0, 5, 5), (1, 5, 5), (0xfff, 15, 15), (0x1000, 5, None), (-1, 5, None), (0, 0, None)):
        report("facts", {"fault.tag": want}, exception=access(at, 0x106, "EXC_ARM_MTE_TAGCHECK_FAIL"), state=arm(x1=at - below | tag << 56))


def words():
    for count in (1, 7, 8, 9):
        paths = "".join("\n/private/var/db%d" % n for n in range(count))
        report("summary", {"the file: ": min(count, 8)}, exception={"type": "EXC_CRASH", "signal": "SIGKILL"},
               termination={"namespace": "RUNNINGBOARD", "code": 0xdead10cc, "reasons": ["was suspended with locked system files:" + paths]})
    for percent, says in ((9, (1, 0)), (10, (0, 0)), (49, (0, 0)), (50, (0, 1))):
        report("summary", {"it waited": says[0], "it computed": says[1]}, exception={"type": "EXC_CRASH", "signal": "SIGKILL"}, termination={
            "namespace": "FRONTBOARD", "code": 0x8badf00d, "reasons": ["Elapsed application CPU time (seconds): 0.367, %d%% CPU" % percent]})


def lists():
    for count in (1, 1023, 1024, 1025):
        stream = {"instructionState": {"instructionStream": {"bytes": [7] * count, "offset": 0}}}
        report("json", {"threads.0.instructions.bytes": "07" * min(count, 1024)}, state=stream)
    for length in (254, 255, 256):
        report("json", {"images.0.name": ("n" * length)[:255]}, images=[image(name="n" * length)])
    for count in (1, 2, 3, 4):
        images = [image(n) for n in range(count)]
        report("brief", {"where": min(count, 3)}, frames=count)
        report("brief", {"missing": min(count, 2), "missing_images": count if count > 2 else None}, frames=count, names=(None,), images=images)
    for count in (4, 5, 6):
        report("signature", {" | ": min(count, 5) - 1}, frames=count, exception={"type": "EXC_BAD_ACCESS", "signal": "SIGSEGV"})


def texts():
    """What a brief cuts. Each text has a maximum size in bytes, which counts JSON's escapes and the
    quotes."""
    for letter in ("n", "\u00e4", '"', "\u0001"):
        for length in (20, 23, 24, 25, 46, 47, 48, 49, 50, 51, 54, 55, 77, 78, 79, 107, 108, 109, 110, 120):
            name = letter * length
            report("brief", {"os": (name + " (b)", 50)}, osVersion={"train": name, "build": "b"})
            report("brief", {"app": (name, 80)}, procName=name)
            if letter != '"':
                report("brief", {"where.0.name": (name, 110)}, names=(name,))
                report("brief", {"where.0.image": (name, 50)}, images=[image(name=name)])


def member(value, path):
    for key in path.split("."):
        value = value[int(key)] if isinstance(value, list) else (value or {}).get(key)
    return value


def is_cut(got, whole, most):
    """Whether a text is whole, or the longest part of it that fits, but for what one more character takes."""
    size = lambda text: len(json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f").encode())
    if size(whole) <= most:
        return got == whole
    return got.endswith("...") and whole.startswith(got[:-3]) and most - 9 <= size(got) <= most


def fits(kind, line, key, value):
    if kind in ("summary", "signature"):
        text = "\n".join(json.loads(line)["explanation"]) if kind == "summary" else json.loads(line)["signature"]
        return text.count(key) == value
    document = json.loads(line)
    got = member(document["facts"] if kind == "facts" else document, key)
    if isinstance(value, tuple):
        return is_cut(got, *value)
    return (len(got) if isinstance(got, list) else got) == value


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for make in (faults, words, lists, texts):
        make()
    wrong = 0
    for kind, options in (("facts", ["--json"]), ("json", ["--json"]), ("summary", ["--summary", "--json"]), ("brief", ["--brief"]), ("signature", ["--signature", "--json"])):
        cases = [case for case in CASES if case[0] == kind]
        lines = subprocess.run(TOOL + ["crash", "-q", "--no-cache", *options, *[case[1] for case in cases]], capture_output=True, text=True).stdout.splitlines()
        wrong += len(lines) != len(cases)
        for (_, path, want), line in zip(cases, lines):
            for key, value in want.items():
                if not fits(kind, line, key, value):
                    wrong += 1
                    print("%s, %s: not %s: %s" % (path, key, str(value)[:160], line[:600]))
    print("%d of %d" % (wrong, len(CASES)))
    sys.exit(wrong != 0)


main()
