"""docs/facts.md against the tool: every row of its tables, and no row of the tool's that the page lacks.

python3 tests/facts_page.py MACHSYM WORK
"""

import json
import re
import subprocess
import sys

machsym, work = sys.argv[1:3]
TYPES = {"GUARD_TYPE_MACH_PORT": 1, "GUARD_TYPE_FD": 2, "GUARD_TYPE_VN": 4, "GUARD_TYPE_VIRT_MEMORY": 5}


def table(text, head):
    """The rows of the table with this head."""
    lines = text[text.index(head):].split("\n")[2:]
    rows = []
    for line in lines:
        if not line.startswith("| "):
            break
        rows.append([cell.strip() for cell in line.strip("|\n ").split(" | ")])
    return rows


def report(head):
    return (f"Process:             demo [1]\n{head}\n\nThread 0 Crashed:\n"
            "0   demo                          \t0x0000000102a30aec 0x102a30000 + 2796\n\n")


def count(path, pattern):
    with open(path, encoding="utf-8") as source:
        return len(re.findall(pattern, source.read()))


def main():
    with open("docs/facts.md", encoding="utf-8") as source:
        page = source.read()
    guards = table(page, "| type | flavor | name | words | source |")
    kills = table(page, "| code | words |")
    ends = table(page, "| namespace | code | words | source |")
    cases = []
    for kind, flavor, name, words, _ in guards:
        code = TYPES[kind] << 61 | int(flavor) << 32
        cases.append((f"Exception Type:  EXC_GUARD\nException Codes: 0x{code:016x}, 0x0000000000000000", words, name))
    for code, words in kills:
        cases.append((f"Exception Type:  EXC_CRASH (SIGKILL)\nTermination Reason: Namespace SPRINGBOARD, Code {code}", words, None))
    for space, code, words, _ in ends:
        code = code if code != "others" else "1234"
        cases.append((f"Exception Type:  EXC_CRASH (SIGKILL)\nTermination Reason: Namespace {space}, Code {code}", words, None))
    with open(f"{work}/page.crash", "w", encoding="utf-8") as out:
        out.write("".join(report(head) for head, _, _ in cases))
    got = subprocess.run([machsym, "crash", "-q", "--no-cache", "--json", f"{work}/page.crash"], capture_output=True, check=True)
    lines = got.stdout.decode("utf-8").splitlines()
    bad = len(lines) != len(cases)
    for line, (head, words, name) in zip(lines, cases):
        facts = json.loads(line)["facts"]
        if not any(words in sentence for sentence in facts["words"]) or (name and facts["guard"].get("flavor") != name):
            print(f"{head!r}: {words!r} is not what the tool says: {facts}")
            bad += 1
    for path, pattern, rows in (("report/tell/guard.c", r"\{GUARD_\w+, [^,}]*, \"", guards), ("report/tell/termination.c", r"\{SPACE_\w+, \d", ends),
                                ("report/tell/termination.c", r"\{0x[0-9a-f]{8},", kills)):
        if count(path, pattern) != len(rows):
            print(f"{path} has {count(path, pattern)} rows, the page {len(rows)}")
            bad += 1
    print(f"{len(cases)} rows, {bad} wrong")
    return 1 if bad else 0


sys.exit(main())
