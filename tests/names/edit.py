#!/usr/bin/env python3
"""Writes names that are one edit away from names that demangle, and what the language's own tool says of
each: edit.py VECTORS COUNT TOOL... > TABLE. An edit drops, doubles, replaces or inserts one character, or
cuts the end. The truth is TOOL's line alone. The names are drawn by a fixed seed, so that they are not chosen
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


def main():
    names = sorted({row.split("\t")[0] for path in sys.argv[1].split(",") for row in open(path, encoding="utf-8")})
    names = [name.strip() for name in names if 6 < len(name) < 70 and name.isascii() and " " not in name]
    rng = random.Random(33)
    asked = sorted({edited(rng, rng.choice(names)) for _ in range(40 * int(sys.argv[2]))})
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
