#!/usr/bin/env python3
"""Writes names that are one edit away from names that demangle, and what the language's own tool says of
each: edit.py VECTORS COUNT [--graft] TOOL... > TABLE. An edit drops, doubles, replaces or inserts one character, or
cuts the end. With --graft it changes a number, doubles or drops a piece, or puts in a piece of another name. The truth is TOOL's line alone. The names are drawn by a fixed seed, so that they are not chosen
by hand. Names whose outcome changes nothing (COUNT of all kinds) are kept by one of ten."""
import random
import re
import subprocess
import sys

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"


def edited(rng, name):
    at = rng.randrange(2, len(name))
    kind = rng.randrange(5)
    if kind == 0:
        return name[:at] + name[at + 1:]
    if kind == 1:
        return name[:at] + name[at] + name[at:]
    if kind == 2:
        return name[:at] + rng.choice(LETTERS) + name[at + 1:]
    if kind == 3:
        return name[:at] + rng.choice(LETTERS) + name[at:]
    return name[:at]


def grafted(rng, name, other):
    numbers = [m.span() for m in re.finditer(r"\d+", name)]
    kind = rng.randrange(6)
    if kind < 2 and numbers:
        lo, hi = rng.choice(numbers)
        n = name[lo:hi]
        return name[:lo] + rng.choice(["0" + n, str(int(n) + 1), str(max(0, int(n) - 1)), n + "0", "0", n + "9999999999999999999"]) + name[hi:]
    lo = rng.randrange(2, len(name))
    hi = min(len(name), lo + 1 + rng.randrange(8))
    if kind == 2:
        return name[:hi] + name[lo:]
    if kind == 3:
        return name[:lo] + name[hi:]
    at = rng.randrange(2, len(other))
    return name[:lo] + other[at:at + 1 + rng.randrange(10)] + name[lo if kind == 4 else hi:]


def main():
    graft = "--graft" in sys.argv
    if graft:
        sys.argv.remove("--graft")
    names = sorted({row.split("\t")[0] for path in sys.argv[1].split(",") for row in open(path, encoding="utf-8")})
    names = [name.strip() for name in names if 6 < len(name) < 70 and name.isascii() and " " not in name]
    rng = random.Random(33)
    one = (lambda: grafted(rng, rng.choice(names), rng.choice(names))) if graft else (lambda: edited(rng, rng.choice(names)))
    asked = sorted({one() for _ in range(40 * int(sys.argv[2]))})
    said = subprocess.run(sys.argv[3:], input="\n".join(asked) + "\n", capture_output=True, encoding="ascii",
                          errors="replace", check=True).stdout.split("\n")
    rows = [(name, text) for name, text in zip(asked, said) if text.isascii() and (text != name or rng.random() < 0.1)]
    if all(name.startswith("_R") for name in names):
        # rustc-demangle says what is wrong inside a broken name, shows suffixes and letters as they are, and takes other
        # back-references; LLVM does not. _RC4_init is a name of C.
        rows = [(name, text) for name, text in rows if text not in ("", name) and not set(".B") & set(name) and "\\u" not in text
                and not re.match(r"_RC\d+_", name)]
    rng.shuffle(rows)
    for name, text in sorted(rows[:int(sys.argv[2])]):
        print("%s\t%s" % (name, text))


main()
