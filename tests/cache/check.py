#!/usr/bin/env python3
"""check.py MACHSYM CACHES [NAME...]: machsym's answers for the caches that build.py made, against their truth.tsv."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict

sys.dont_write_bytecode = True
from dylib import N_EXT, N_SECT, N_TYPE, Dylib # noqa: E402
from variants import VARIANTS # noqa: E402

passed = failed = 0


def count(ok, what):
    global passed, failed
    passed, failed = passed + ok, failed + (not ok)
    if not ok and failed < 20:
        print("failed: " + what)


def same(got, want, what):
    """Each element of two sets is one check."""
    for element in sorted(got | want):
        where = "nowhere in the truth" if element in got else "missing"
        count(element in got and element in want, "%s: %s: %s" % (what, where, element))


def shown(name):
    return name[1:] if name.startswith("_") else name


class Truth:
    """The rows of truth.tsv: code only, by image."""

    def __init__(self, folder, variant):
        self.images, self.rows = {}, defaultdict(set)
        with open(os.path.join(folder, "truth.tsv"), encoding="utf-8") as f:
            for line in f:
                kind, path, address, name = line.rstrip("\n").split("\t")
                if kind == "image":
                    self.images[path] = int(address, 16), name
                self.rows[kind, path].add((int(address, 16), shown(name)))
        self.is_merged = variant.get("merged", False)
        self.has_locals = bool(variant.get("local_symbols")) or variant["locals"] == "keep"

    def of(self, kind, path):
        return self.rows[kind, path]

    def symbols(self, path):
        return self.of("T", path) | (self.of("t", path) if self.has_locals else set())

    def methods(self, path):
        return {(a, n) for a, n in self.of("t", path) if n.startswith(("-[", "+["))}

    def merged_methods(self, path):
        """Methods of categories as the lists that the cache's builder made name them: without the category."""
        return {(a, re.sub(r"\(.*\)", "", n)) for a, n in self.methods(path)} if self.is_merged else set()

    def code_exports(self, path):
        code = {a for a, _ in self.of("T", path)}
        return {(a, n) for a, n in self.of("export", path) if a in code}

    def islands(self, path):
        starts = {a for a, _ in self.of("start", path)}
        return {(a, n) for a, n in self.of("stub", path) if a in starts}

    def names(self, path):
        """{address of a function: what it may be called}."""
        out = {a: set() for a, _ in self.of("start", path)}
        for a, n in self.symbols(path) | self.methods(path) | self.code_exports(path) | self.islands(path):
            out[a].add(n)
        return out


def lines(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    count(result.returncode == 0, "%s: %s" % (" ".join(command), result.stderr.strip()))
    return [json.loads(line) for line in result.stdout.splitlines()]


def check_symbols(machsym, cache, truth, path, what):
    found = defaultdict(set)
    for row in lines(machsym, "symbols", "--json", "--entry", path, cache):
        found[row["source"]].add((int(row["address"], 16), row["linkage_name"] or "-"))
    same(found.pop("symtab", set()), truth.symbols(path), what + " symtab")
    same(found.pop("exports", set()), truth.code_exports(path), what + " exports")
    objc = found.pop("objc", set())
    same(objc - (truth.merged_methods(path) - truth.methods(path)), truth.methods(path), what + " objc")
    same(found.pop("stub", set()), truth.of("stub", path), what + " stubs")
    same(found.pop("swift", set()), truth.of("swift", path), what + " swift")
    same(found.pop("function_starts", set()), truth.of("start", path), what + " starts")
    count(not found, "%s: other sources: %s" % (what, list(found)))


def check_addresses(machsym, cache, truth, name):
    """The begin and the last instruction of every function of every image, asked of the cache as a whole."""
    want = {}
    for path in truth.images:
        names = truth.names(path)
        starts = sorted(names)
        for start, following in zip(starts, starts[1:]):
            want[start] = want[following - 2] = path, start, names[start]
    given = ["%x" % a for a in want]
    for row in lines(machsym, "atos", "--json", "-o", cache, *given):
        address = int(row["address"], 16)
        path, start, names = want[address]
        frame = row["frames"][0]
        ok = frame["linkage_name"] in (names or {""}) and address - frame["offset"] == start
        ok = ok and row["image"] == os.path.basename(path) and row["uuid"].replace("-", "") == truth.images[path][1]
        count(ok, "%s: %s %s" % (name, row, names))


def best_names(machsym, *file):
    """The name that answers at each address that has one: the first."""
    names = {}
    for row in lines(machsym, "symbols", "--json", *file):
        if row["linkage_name"]:
            names.setdefault(int(row["address"], 16), row["linkage_name"])
    return set(names.items())


def check_extracted(machsym, cache, truth, path, what):
    """An image as a file of its own: its tables, its pointers, and the same answers."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "image")
        lines(machsym, "cache", "extract", "--json", cache, path, "-o", out)
        d = Dylib(out)
        same(best_names(machsym, out), best_names(machsym, "--entry", path, cache), what + " extracted")
    same({(a, shown(n)) for n, _, a in d.exports}, truth.of("export", path), what + " extracted exports")
    defined = {(s[4], shown(s[0])) for s in d.symbols if s[1] & N_EXT and s[1] & N_TYPE == N_SECT}
    same(defined, {row for kind in "TSD" for row in truth.of(kind, path)}, what + " extracted symbols")
    wrong = []
    for address, target in truth.of("pointer", "-"):
        if any(s.vmaddr <= address < s.vmaddr + s.vmsize for s in d.image.segments if s.name != "__LINKEDIT"):
            stored = int.from_bytes(d.read(address, d.width), "little")
            if stored != int(target, 16):
                wrong.append("%x: %x, not %s" % (address, stored, target))
    count(not wrong, "%s: pointers: %s" % (what, wrong[:3]))


def main(machsym, caches, *names):
    for name in names or sorted(VARIANTS):
        folder = os.path.join(caches, name)
        truth = Truth(folder, VARIANTS[name])
        cache = min(glob.glob(os.path.join(folder, "dyld_shared_cache_*")), key=len)
        for path in truth.images:
            check_symbols(machsym, cache, truth, path, name + " " + path)
            check_extracted(machsym, cache, truth, path, name + " " + path)
        check_addresses(machsym, cache, truth, name)
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
