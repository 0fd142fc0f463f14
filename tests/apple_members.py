"""Apple's text of a report without one of its members: what is gone has the member's value in it, and nothing else changes. The truth is
the text of the whole report, which tests/golden/README.md says what was held against. Usage: apple_members.py TOOL FOLDER REPORT..."""
import difflib, json, os, subprocess, sys

# What decides the form of all of the text, or the thread, is not for this test.
SHAPE = {"faultingThread", "usedImages", "threads", "cpuType", "bug_type", "platform", "sharedCache", "train"}
# What stands ahead of a value of several lines, or in the place of a flag.
WORDS = {"ktriageinfo": "Kernel Triage:", "vmSummary": "VM Region Summary:", "isCorpse": "EXC_CORPSE_NOTIFY", "translated": "(Translated)"}
FALLBACK = ("???", "Unknown", "Unspecified", " 0", "()", "(Native)")


def members(value, path=()):
    for key in sorted(value):
        if key in SHAPE:
            continue
        if isinstance(value[key], dict):
            yield from members(value[key], path + (key,))
        elif isinstance(value[key], (str, int)):
            yield path + (key,), value[key]


def is_left_of(line, whole):
    """Whether a line is what is left of another one when some of it goes."""
    rest = iter(whole)
    return all(char in rest for char in line)


def without(document, path):
    copy = json.loads(json.dumps(document))
    at = copy
    for key in path[:-1]:
        at = at[key]
    del at[path[-1]]
    return copy


def main():
    tool, folder, wrong, tried = sys.argv[1], sys.argv[2], [], 0
    for report in sys.argv[3:]:
        head, body = open(report, encoding="utf-8").read().split("\n", 1)
        document, end = json.JSONDecoder().raw_decode(body.lstrip())
        cases = [((), "", document)] + [(path, value, without(document, path)) for path, value in members(document)]
        names = ["%s/%s.%d.ips" % (folder, os.path.basename(report)[:-4], i) for i in range(len(cases))]
        for name, (_, _, changed) in zip(names, cases):
            with open(name, "w", encoding="utf-8") as file:
                file.write(head + "\n" + json.dumps(changed, indent=2) + "\n")
        subprocess.run([tool, "crash", "-q", "--no-cache", "--to=text", "-o", folder + "/said/"] + names, capture_output=True)
        said = []
        for name in names:
            with open("%s/said/%s" % (folder, os.path.basename(name).replace(".ips", ".crash")), encoding="utf-8") as file:
                said.append(file.read().split("\n"))
        for (path, value, _), lines in zip(cases[1:], said[1:]):
            words = str(value).split("\n") + [WORDS.get(path[-1], str(value))]
            gone = [line for line in difflib.ndiff(said[0], lines) if line[0] in "+-"]
            minus, plus = [line[2:] for line in gone if line[0] == "-"], [line[2:] for line in gone if line[0] == "+"]
            tried += 1
            strange = [line for line in minus if line.strip() and not any(word.strip() in line for word in words if word.strip())]
            fresh = [line for line in plus if line.strip() and not any(word in line for word in FALLBACK) and
                     not any(is_left_of(line, whole) for whole in minus)]
            if strange or fresh or len(plus) > len(minus):
                wrong.append("%s without %s (%s): lost %s, new %s" % (os.path.basename(report), ".".join(path), words[0], strange, fresh or plus))
    print("\n".join(wrong))
    print("%d of %d members" % (len(wrong), tried))
    sys.exit(bool(wrong) or tried < 100)


main()
