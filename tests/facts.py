"""The facts of real reports, and of the project's own, against their raw fields.

python3 tests/facts.py MACHSYM WORK FOLDER...

1. The facts of an .ips and of its text are equal. Text lacks the name of an uncaught exception (exceptionReason), mteState, and on arm64
   the instruction that tells the size of the access; and nothing else.
2. No sentence says what a field of the report denies. The fields are read from the report's own bytes here, not from the tool's JSON:
   a rule is a pattern of words, and what the bytes must or must not have.
"""

import json
import os
import re
import subprocess
import sys

machsym, work, folders = sys.argv[1], sys.argv[2], sys.argv[3:]


def read(path):
    with open(path, "rb") as source:
        data = source.read()
    wide = "utf-16-be" if data[:1] in (b"\0", b"\xfe") else "utf-16-le" if data[1:2] in (b"\0", b"\xfe") else "utf-8"
    return data.decode(wide, "replace")


def rows(path):
    """What the tool says of each report of a file."""
    got = subprocess.run([machsym, "crash", "-q", "--no-cache", "--json", path], capture_output=True, check=False)
    return [json.loads(line) for line in got.stdout.decode("utf-8").splitlines()]


def fields(text):
    """What the bytes say, by plain search: they are of any format."""
    found = {"text": text}
    codes = re.search(r'(?:Exception Codes:\s+|"codes"\s*:\s*")(0x[0-9a-fA-F]+), ?(0x[0-9a-fA-F]+)', text)
    found["code"] = int(codes.group(1), 16) & ~0x200 if codes else None
    found["second"] = int(codes.group(2), 16) if codes else None
    esr = re.search(r'esr: (0x[0-9a-f]+)', text)
    number = re.search(r'"esr"\s*:\s*\{[^}]*?"value"\s*:\s*(\d+)', text)
    found["esr"] = int(esr.group(1), 16) if esr else int(number.group(1)) if number else None
    return found


def says(f, *words):
    return any(w in f["text"] for w in words)


def access_is(f, verb):
    """The direction, of the syndrome or of Intel's words for its error."""
    if f["esr"] is not None and f["esr"] >> 26 in (0x24, 0x25):
        return verb == ("write" if f["esr"] >> 6 & 1 else "read")
    if f["esr"] is not None and f["esr"] >> 26 in (0x20, 0x21):
        return verb == "jump"
    return re.search(r"Error Code:|\"err\"", f["text"]) is not None


# words of a sentence, and what has to hold of the bytes
RULES = [
    (r"memory that is not there", lambda f, m: says(f, "KERN_INVALID_ADDRESS") or f["code"] == 1 or "page fault" in f["text"]
     or "data abort" in f["text"] or (f["esr"] is not None and f["esr"] & 0x3c == 4)),
    (r"may not be read or written so", lambda f, m: says(f, "KERN_PROTECTION_FAILURE") or f["code"] == 2
     or (f["esr"] is not None and f["esr"] & 0x3c == 0xc)),
    (r"null pointer", lambda f, m: says(f, "EXC_BAD_ACCESS", "SIGSEGV", "SIGBUS")),
    (r"null pointer: .* 0x([0-9a-f]+)", lambda f, m: int(m.group(1), 16) < 0x1000),
    (r"does not match its signature", lambda f, m: says(f, "KERN_CODESIGN_ERROR") or f["code"] == 0x32),
    (r"is not aligned", lambda f, m: says(f, "ALIGN", "ADRALN") or f["code"] in (0x101, 0x103)),
    (r"tag of the pointer does not fit", lambda f, m: says(f, "MTE", "Tag Check") or f["code"] == 0x106 or "EXC_GUARD" in f["text"]),
    (r"stack overflowed: the access", lambda f, m: says(f, "STACK GUARD", "Stack Guard", "stack size exceeded")),
    (r": (?:a|an) (read|write|jump) (?:of \d+ bytes? )?(?:at|to) 0x", lambda f, m: access_is(f, m.group(1))),
    (r" (?:at|to) 0x([0-9a-f]+)", lambda f, m: re.search("0*" + m.group(1), f["text"], re.I) is not None
     or str(int(m.group(1), 16)) in f["text"]),
    (r", in ([A-Z][A-Za-z_ ]+)$", lambda f, m: m.group(1) in f["text"]),
    (r"^uncaught exception (\S+?)(?::|$)", lambda f, m: m.group(1) in f["text"]),
    (r"^Swift runtime failure: (?:Fatal|fatal|Precondition|Assertion)", lambda f, m: says(f, "atal error", "Precondition failed", "Assertion failed")),
    (r"^a library was misused, (\S+):", lambda f, m: "BUG IN CLIENT OF " + m.group(1) in f["text"]),
    (r"the program called abort", lambda f, m: says(f, "SIGABRT", "Abort trap")),
    (r"an illegal instruction", lambda f, m: says(f, "SIGILL", "EXC_BAD_INSTRUCTION")),
    (r"^a trap: ", lambda f, m: says(f, "SIGTRAP", "EXC_BREAKPOINT") or re.search(r'"exceptionType"\s*:\s*6\b', f["text"]) is not None),
    (r"no access to memory failed", lambda f, m: f["code"] == 0 and "EXC_CRASH" in f["text"]),
    (r"^watchdog: ", lambda f, m: re.search(r"8badf00d|2343432205", f["text"], re.I) is not None),
    (r"^jetsam: ", lambda f, m: says(f, "JETSAM")),
    (r"descriptor (\d+) was", lambda f, m: says(f, "EXC_GUARD") and f["code"] is not None),
    (r"more CPU time than the limit", lambda f, m: says(f, "EXC_RESOURCE") and f["code"] is not None),
]


def check_rules(path, report, f, seen):
    bad = 0
    for sentence in report["facts"]["words"][1:]:
        for number, (pattern, holds) in enumerate(RULES):
            match = re.search(pattern, sentence)
            if match is None:
                continue
            seen[number] = seen.get(number, 0) + 1
            if not holds(f, match):
                print(f"{path}: {sentence!r} against the fields ({pattern})")
                bad += 1
    return bad


def comparable(facts, lacks_name, lacks_code=False):
    """What text can tell: the name of an exception that only exceptionReason has is not in it."""
    facts = json.loads(json.dumps(facts))
    facts.pop("memory_tags", None)
    if lacks_code:
        facts.get("fault", {}).pop("size", None)
        facts["words"] = [re.sub(r" of \d+ bytes?", "", w) for w in facts["words"]]
        facts["sentence"] = re.sub(r" of \d+ bytes?", "", facts["sentence"])
    if lacks_name and facts.get("said", {}).get("kind") in ("exception", "reason"):
        name = facts["said"].pop("name", None)
        facts["said"]["kind"] = "reason"
        start = "uncaught exception" + (f" {name}" if name else "") + ": "
        facts["words"] = ["reason: " + w[len(start):] if w.startswith(start) else w for w in facts["words"]]
        facts["sentence"] = facts["words"][1]
    return facts


def check_pair(path, report, text):
    with open(os.path.join(work, "pair.crash"), "wb") as out:
        out.write(subprocess.run([machsym, "crash", "-q", "--no-cache", "--to=text", path], capture_output=True, check=False).stdout)
    lacks_name = '"exceptionReason"' in text
    if lacks_name and "Exception Reason:" not in read(os.path.join(work, "pair.crash")):
        return 0  # Apple's text of devices has no such line
    other = rows(os.path.join(work, "pair.crash"))[0]["facts"]
    lacks_code = '"instructionByteStream"' in text
    if comparable(report["facts"], lacks_name, lacks_code) == comparable(other, lacks_name, lacks_code):
        return 0
    print(f"{path}:\n  .ips {json.dumps(report['facts'])}\n  text {json.dumps(other)}")
    return 1


def files():
    for folder in folders:
        for place, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if re.search(r"\.(ips|crash|txt|json|plcrash|ndjson)$", name):
                    yield os.path.join(place, name)


def main():
    count = pairs = bad = 0
    seen = {}
    for path in files():
        text = read(path)
        found = rows(path)
        for report in found:
            count += 1
            if len(found) == 1:
                bad += check_rules(path, report, fields(text), seen)
        # an exception is what Apple's text always has
        if len(found) == 1 and found[0]["format"] == "ips" and "exception" in found[0]:
            pairs += 1
            bad += check_pair(path, found[0], text)
            twin = path[:-len("ips")] + "crash"
            if path.endswith(".ips") and os.path.exists(twin) and "incident" in found[0] and found[0]["incident"] in read(twin):
                pairs += 1
                other = rows(twin)[0]["facts"]
                if comparable(found[0]["facts"], True) != comparable(other, True):
                    bad += 1
                    print(f"{path}:\n  {json.dumps(found[0]['facts'])}\n  {twin}: {json.dumps(other)}")
    never = [RULES[i][0] for i in range(len(RULES)) if i not in seen]
    print("rules that no report met:", "; ".join(never))
    print(f"{count} reports, {pairs} pairs, {sum(seen.values())} sentences held against fields, {len(never)} rules unused, {bad} wrong")
    return 1 if bad or count == 0 or pairs == 0 or not seen else 0


sys.exit(main())
