"""Files of rules by chance, and whose code each address is by `machsym owners --help`, applied here a second time. The truth about functions
is llvm-nm's, written down here; that about object files is how the fixture was linked.
Usage: owners.py TOOL PROGRAM FOLDER [SEED]"""
import os, random, subprocess, sys

# llvm-nm of map-arm64-d4-O0/program, and the object that each came from.
FUNCTIONS = [(0x100000448, 0x1000004a4, "main", "main.o"), (0x1000004a4, 0x1000004c4, "twice", "main.o"), (0x1000004c4, 0x100000510, "util_sum", "libutil.a(util.o)"),
             (0x100000510, 0x100000548, "twice", "libutil.a(util.o)"), (0x100000548, 0x1000005a8, "clamp", "libutil.a(util.o)"),
             (0x1000005a8, 0x10000062c, "util_mix", "libutil.a(util_with_a_long_name.o)"), (0x10000062c, 0x10000068c, "clamp", "libutil.a(util_with_a_long_name.o)")]
TEXT = 0x100000000
SINGLE = ("main", "util_sum", "util_mix", "_main", "_util_sum")
LINKMAP = [(0x100000448, 0x5c, 1), (0x1000004a4, 0x10, 1), (0x1000004c4, 0x84, 2)]
FILES = {1: ("/b/main.o", "main.o"), 2: ("/sdk/libsdk.a[2](first.o)", "libsdk.a(first.o)")}


def holding(address):
    return next((f for f in FUNCTIONS if f[0] <= address < f[1]), None)


def end_of(written, base):
    """Where an end of `between` begins and ends, in the file's addresses."""
    if written.startswith("0x"):
        at = (int(written, 16) - base) % 2**64
        function = holding(at)
        return at, function[1] if function else at + 1
    return next((lo, hi) for lo, hi, name, _ in FUNCTIONS if name == written.removeprefix("_"))


def generate(rng):
    """The lines, and for each that may answer: a function from an address to the owner or None."""
    lines, rules, base, applies, maps = [], [], 0, True, []
    for number in range(rng.randint(2, 9)):
        kind = rng.choice(["between", "between", "prefix", "prefix", "all", "image", "at", "slide", "objects", "linkmap", "object", "comment"])
        owner = "O%d" % number
        if kind == "between":
            ends = [rng.choice(SINGLE) if rng.random() < 0.4 else "%#x" % (rng.choice(FUNCTIONS)[rng.randrange(2)] + rng.choice([-1, 0, 4]) + base) for _ in range(2)]
            lines.append("between %s .. %s = %s" % (*ends, owner))
            spans = [end_of(end, base) for end in ends]
            lo, hi = min(s[0] for s in spans), max(s[1] for s in spans)
            rule = lambda at, lo=lo, hi=hi, owner=owner: owner if lo <= at < hi else None
        elif kind == "prefix":
            text = rng.choice(["util", "util_sum", "util_sum2", "m", "c", "tw", "U"])
            lines.append("prefix %s = %s" % (text, owner))
            rule = lambda at, text=text, owner=owner: owner if holding(at) and holding(at)[2].startswith(text) else None
        elif kind == "all":
            lines.append("all = " + owner)
            rule = lambda at, owner=owner: owner
        elif kind == "objects":
            lines.append("objects")
            rule = lambda at: holding(at) and holding(at)[3]
            maps += [lambda at: holding(at) and holding(at)[3]] if applies else []
        elif kind == "linkmap":
            lines.append("linkmap link map.txt")
            member = lambda at, which: next((FILES[n][which] for lo, size, n in LINKMAP if lo <= at < lo + size), None)
            rule = lambda at: member(at, 1)
            maps += [lambda at: member(at, 0)] if applies else []
        elif kind == "object":
            text = rng.choice(["util.o", "main.o", "long", "sdk", "libutil", "nothing"])
            lines.append("object %s = %s" % (text, owner))
            rule = lambda at, text=text, owner=owner: owner if any(text in (own(at) or "") for own in maps) else None
        else:
            if kind == "image":
                name = rng.choice(["program", "other", "*", "_program"])
                applies, words = name in ("program", "*", "_program"), "image " + name
            elif kind == "comment":
                words = rng.choice(["# between", "", "   "])
            else:
                amount = rng.choice([0, 0x4000, 0x4000000])
                base, words = amount, "at %x" % (TEXT + amount) if kind == "at" else "slide %x" % amount
            lines.append(words)
            continue
        rules += [rule] if applies else []
    return lines, rules


def main():
    tool, program, folder = sys.argv[1].split(), sys.argv[2], sys.argv[3]
    rng = random.Random(sys.argv[4] if len(sys.argv) > 4 else "1")
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/link map.txt", "w", encoding="utf-8") as file:
        file.write("# Path: program\n# Object files:\n" + "".join("[%3d] %s\n" % (n, path) for n, (path, _) in FILES.items()))
        file.write("# Symbols:\n# Address\tSize    \tFile  Name\n" + "".join("0x%X\t0x%08X\t[%3d] _f\n" % row for row in LINKMAP))
    asked = sorted({at + add for lo, hi, _, _ in FUNCTIONS for at in (lo, hi) for add in (-1, 0, 4)})
    wrong = tried = 0
    for number in range(80):
        lines, rules = generate(rng)
        path = "%s/rules%d" % (folder, number)
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        run = subprocess.run(tool + ["owners", "--rules", path, program, *["%x" % at for at in asked]], capture_output=True, text=True)
        got = [line.split(" ", 1)[1] for line in run.stdout.splitlines()]
        want = [next((owner for rule in rules for owner in [rule(at)] if owner), "(no owner)") for at in asked]
        tried += 1
        if got != want:
            wrong += 1
            at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), None)
            print("%s: %s: %s" % (path, "; ".join(lines), run.stderr[:200] if at is None else "%#x: %s, not %s" % (asked[at], got[at], want[at])))
    print("%d of %d" % (wrong, tried))
    sys.exit(wrong != 0)


main()
