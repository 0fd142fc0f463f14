#!/usr/bin/env python3
"""Compares JSON with a page that describes it (docs/json.md). Usage: json_page.py PAGE FILE...; a FILE holds
objects one after the other. Every member has to be on the page, have its type and be there unless it may be
absent. Every schema and member of the page has to be in some FILE. The last line is "N passed, N failed, 0
skipped"."""
import json
import re
import sys

counts = [0, 0]


def check(ok, what):
    counts[not ok] += 1
    if not ok and counts[1] <= 20:
        print("failed: " + what)


def read_page(path):
    kinds, members = {}, None
    for line in open(path, encoding="utf-8"):
        heading = re.match(r"###? (\S+)$", line)
        row = re.match(r"\| (\w+)(\??) \| ([^|]+?) \|", line)
        if heading:
            members = kinds.setdefault(heading[1], {})
        elif row and members is not None and row[1] != "member":
            members[row[1]] = (row[3], row[2] == "?")
    return kinds


PLAIN = {"id": lambda v: isinstance(v, str) or PLAIN["number"](v), "text": lambda v: isinstance(v, str), "bool": lambda v: isinstance(v, bool),
         "number": lambda v: type(v) is int and 0 <= v < 2**64,
         "hex": lambda v: isinstance(v, str) and re.fullmatch("0x[0-9a-f]+", v),
         "uuid": lambda v: isinstance(v, str) and re.fullmatch("[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}", v),
         "hash": lambda v: isinstance(v, str) and re.fullmatch("[0-9a-f]{16}", v),
         "modules": lambda v: isinstance(v, dict) and all(found in (True, False, None) for found in v.values()),
         "texts": lambda v: isinstance(v, dict) and all(isinstance(t, str) for t in v.values()),
         "hexes": lambda v: isinstance(v, dict) and all(PLAIN["hex"](h) for h in v.values()),
         "counts": lambda v: isinstance(v, dict) and all(type(n) is int for n in v.values())}


def fits(value, kind, where):
    """Whether a value is of a kind; the members of objects are checked on the way."""
    if kind.endswith("?"):
        return value is None or fits(value, kind[:-1], where)
    if kind.startswith("["):
        return isinstance(value, list) and all([fits(v, kind[1:-1], where) for v in value])
    name = kind.strip("{}")
    if "/" in name and isinstance(value, dict):
        value = dict(value)
        if value.pop("schema", None) != name:
            return False
    if name in PLAIN:
        return bool(PLAIN[name](value))
    if name not in kinds or not isinstance(value, dict):
        return False
    compare(value, name, where)
    return True


def compare(value, name, where):
    for key, item in value.items():
        known = kinds[name].get(key)
        check(known is not None, "%s: %s has a member %s that the page does not have" % (where, name, key))
        if known is not None:
            seen.add((name, key))
            check(fits(item, known[0], where), "%s: %s.%s is no %s: %.80r" % (where, name, key, known[0], item))
    for key, (_, may_be_absent) in kinds[name].items():
        check(may_be_absent or key in value, "%s: %s lacks %s" % (where, name, key))


kinds, seen = read_page(sys.argv[1]), set()
for path in sys.argv[2:]:
    text = open(path, encoding="utf-8").read()
    at, decoder = 0, json.JSONDecoder()
    check(text.strip() != "", path + " is empty")
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, end = decoder.raw_decode(text, at)
        check(path.endswith(".json") or "\n" not in text[at:end], path + ": an object of several lines")
        at = end
        first = next(iter(value), None)
        check(first == "schema", "%s: the first member is %s" % (path, first))
        name = value.pop("schema", None)
        check(name in kinds, "%s: the page has no %s" % (path, name))
        if name in kinds:
            compare(value, name, path)
for name, members in kinds.items():
    for key in members:
        check((name, key) in seen, "the page has %s.%s, and nothing printed it" % (name, key))
print("%d passed, %d failed, 0 skipped" % tuple(counts))
sys.exit(counts[1] != 0)
