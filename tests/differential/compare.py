#!/usr/bin/env python3
"""Compares `machsym atos --lines=dwarf --json -i` with llvm-symbolizer.

Usage: compare.py [-v] KNOWN.md FILE_OR_FOLDER...

Per slice with DWARF: every line-row address, the first and last byte of every range in the DWARF
(functions, inlined calls, blocks), and 2,000 random text addresses. First on the file itself: file, line,
column and the whole chain must be equal; the outermost name may be llvm's with or without the symbol table
(llvm prefers the symbol table's, an alias may win), and an inlined function without a linkage name may have
its copy's symbol. Then everything again on a copy without a symbol table, where names have one source and
must be equal. Every difference gets a class; see classes.py."""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import classes
from dwarf import Dwarf
from slices import slices_in

LIMIT = 0.001
RANDOM_ADDRESSES = 2000
MACHSYM = os.environ.get("MACHSYM", "build/machsym")


def addresses_of(one, dwarf):
    """All addresses of the DWARF and random ones of the code."""
    rng = random.Random(22)
    text = one.text()
    wanted = set(dwarf.addresses)
    for _ in range(RANDOM_ADDRESSES if text else 0):
        addr, size = rng.choices(text, weights=[s for _, s in text])[0]
        wanted.add(addr + rng.randrange(size))
    top = 1 << (64 if one.image.is64 else 32)
    return sorted(a for a in wanted if 0 <= a < top)


def run(command, addresses):
    text = "".join("0x%x\n" % a for a in addresses)
    p = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace")
    lines = [line for line in p.stdout.splitlines() if line.startswith("{")]
    if p.returncode != 0 or len(lines) != len(addresses):
        sys.exit("differential: %s: %d answers to %d addresses, status %d: %s"
                 % (" ".join(command), len(lines), len(addresses), p.returncode, p.stderr[-300:]))
    return [json.loads(line) for line in lines]


Frame = collections.namedtuple("Frame", "name file line column")


def llvm_name(frame):
    """llvm drops Mach-O's underscore, also from `__hidden#12_`, which names a line of a BCSymbolMap; but not from
    DWARF's `_OUTLINED_FUNCTION_0`, where LLVM's outliner left it."""
    name = frame["FunctionName"]
    if name.startswith("_OUTLINED_FUNCTION_"):
        return name[1:]
    return "_" + name if name.startswith("_hidden#") else name


def llvm_frames(path, addresses):
    answers = run(["llvm-symbolizer-22", "--obj=" + path, "--inlines", "--functions=linkage", "--no-demangle",
                   "--output-style=JSON"], addresses)
    chains = []
    for answer in answers:
        chain = [Frame(llvm_name(f), f["FileName"], f["Line"], f["Column"]) for f in answer.get("Symbol", [])]
        chains.append([f for f in chain if f.name or f.file or f.line])
    return chains


def our_frames(path, arch, addresses):
    answers = run([MACHSYM, "atos", "-o", path, "-arch", arch, "--lines=dwarf", "--no-demangle", "--json", "-i"], addresses)
    chains = []
    for answer in answers:
        chain = [Frame(f.get("linkage_name") or f.get("name") or "", f.get("file") or "", f.get("line") or 0,
                       f.get("column") or 0) for f in answer["frames"]]
        chains.append([f for f in chain if f.name or f.file or f.line])
    return chains


class Report:
    def __init__(self, known, verbose):
        self.known, self.verbose = known, verbose
        self.compared = self.slices = 0
        self.counts = collections.Counter()
        self.samples = collections.defaultdict(list)
        self.names_from_symtab = self.names_by_rule = 0

    def differences(self):
        return sum(self.counts.values())

    def add(self, kind, where, address, ours, theirs):
        self.counts[kind] += 1
        if len(self.samples[kind]) < (20 if self.verbose else 3):
            self.samples[kind].append("    %s 0x%x\n      ours %s\n      llvm %s"
                                      % (where, address, show(ours), show(theirs)))

    def finish(self):
        print("compared %d answers; in %d of them llvm took the outermost name from the symbol table, in %d\n"
              "we named an inlined function by the symbol of its copy out of line (both checked, see KNOWN.md)"
              % (self.compared, self.names_from_symtab, self.names_by_rule))
        bad = int(self.slices == 0)
        if bad:
            print("  no file with debug info was there to compare")
        for kind, count in sorted(self.counts.items()):
            share = count / max(self.compared, 1)
            verdict = "known" if kind in self.known else "NOT LISTED in KNOWN.md"
            if kind in self.known and share > LIMIT:
                verdict = "ABOVE 0.1 %"
            bad += verdict != "known"
            print("  %-28s %8d  %.4f %%  %s" % (kind, count, share * 100, verdict))
            if verdict != "known" or self.verbose:
                print("\n".join(self.samples[kind]))
        if not self.counts and not bad:
            print("  no differences")
        # a class is not of one slice, so that a bad one is a failure beside the slices
        print("%d passed, %d failed, 0 skipped" % (self.slices - min(bad, self.slices), bad))
        return 1 if bad else 0


def show(chain):
    frames = ["%s %s:%d:%d" % (f.name or "??", f.file or "??", f.line, f.column) for f in chain]
    return " < ".join(frames) or "nothing"


def outermost_from(theirs, theirs_dwarf):
    """llvm's chain with the outermost name as DWARF has it."""
    if not theirs or not theirs_dwarf:
        return theirs
    return theirs[:-1] + [theirs[-1]._replace(name=theirs_dwarf[-1].name)]


def judge(report, evidence, where, address, ours, theirs, by_dwarf):
    """Counts a difference on the file itself, unless the name rule explains it."""
    if any(classes.named_by_rule(evidence, address, ours, chain) for chain in (theirs, by_dwarf)):
        report.names_by_rule += 1
    else:
        report.add(classes.classify(evidence, address, ours, theirs), where, address, ours, theirs)


def as_told(chain):
    """Of more calls than an answer tells: the innermost ones and the function (MACHSYM_MAX_INLINE_DEPTH)."""
    return chain[:256] + chain[-1:] if len(chain) > 257 else chain


def compare_slice(report, one, folder):
    thin, bare = os.path.join(folder, "thin"), os.path.join(folder, "bare")
    one.write(thin)
    one.write_without_symbols(bare)
    dwarf = Dwarf(thin)
    addresses = addresses_of(one, dwarf)
    where = "%s (%s)" % (one.path, one.arch)
    evidence = classes.Evidence(one, dwarf)
    theirs, ours = [as_told(c) for c in llvm_frames(thin, addresses)], our_frames(one.path, one.arch, addresses)
    theirs_bare, ours_bare = theirs, theirs
    if not one.is_object():
        theirs_bare, ours_bare = [as_told(c) for c in llvm_frames(bare, addresses)], our_frames(bare, one.arch, addresses)
    before = report.differences()
    for i, address in enumerate(addresses):
        by_dwarf = outermost_from(theirs[i], theirs_bare[i])
        report.names_from_symtab += theirs[i] != by_dwarf
        if ours[i] not in (theirs[i], by_dwarf):
            judge(report, evidence, where, address, ours[i], theirs[i], by_dwarf)
        if ours_bare[i] != theirs_bare[i]:
            kind = classes.classify(evidence, address, ours_bare[i], theirs_bare[i])
            report.add(kind, where + " without symbols", address, ours_bare[i], theirs_bare[i])
    report.slices += 1
    report.compared += len(addresses) * (1 if one.is_object() else 2)
    print("%8d addresses, %6d differences  %s"
          % (len(addresses), report.differences() - before, where), flush=True)


def files_under(roots):
    for root in roots:
        if os.path.isfile(root):
            yield root
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                yield os.path.join(folder, name)


def main():
    arguments = sys.argv[1:]
    verbose = arguments[0] == "-v"
    if verbose:
        arguments.pop(0)
    with open(arguments[0], encoding="utf-8") as f:
        known = set(re.findall(r"^## ([a-z0-9-]+)", f.read(), re.MULTILINE))
    report = Report(known, verbose)
    with tempfile.TemporaryDirectory() as folder:
        for path in files_under(arguments[1:]):
            for one in slices_in(path):
                compare_slice(report, one, folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
