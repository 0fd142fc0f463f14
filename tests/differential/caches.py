#!/usr/bin/env python3
"""Another reader of shared caches, Debian's librust-object-dev (0.30), reads those that tests/cache builds: every image, every
symbol and its address must be what LLVM's tools said of the dylibs. It knows neither arm64_32 nor the records of other files
that have a suffix, and reads neither local symbols nor Objective-C. LLVM's tools read what `machsym cache extract` makes of them."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
tests = os.path.dirname(here)
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(tests, "cache"))
from build import main as build # noqa: E402
from variants import VARIANTS # noqa: E402

UNKNOWN = {"ios16": "Unexpected SubCache UUID", "watchos9": "Unrecognized dyld cache magic"}
TEXT = "t"


def crate(name):
    found = glob.glob("/usr/share/cargo/registry/%s-*/src/lib.rs" % name)
    return found[0] if found else None


def compile_reader(folder):
    def rustc(*arguments):
        subprocess.run(["rustc", "--edition", "2018", "--cap-lints", "allow", "-L", folder, "--out-dir", folder, *arguments],
                       check=True)

    def extern(name): # by its path: a newer toolchain has a memchr of its own
        return "--extern", "%s=%s/lib%s.rlib" % (name, folder, name)

    library = ["--crate-type", "rlib", "--crate-name"]
    rustc(*library, "memchr", crate("memchr"))
    features = ["--cfg", 'feature="read_core"', "--cfg", 'feature="macho"']
    rustc(*library, "object", *features, *extern("memchr"), crate("object"))
    rustc(*extern("object"), os.path.join(here, "caches.rs"))
    return os.path.join(folder, "caches")


def expected(folder, variant):
    """{(kind, image, address, name)} of truth.tsv that the reader must print."""
    rows = set()
    with open(os.path.join(folder, "truth.tsv"), encoding="utf-8") as f:
        for line in f:
            kind, path, address, name = line.rstrip("\n").split("\t")
            if kind == "image":
                rows.add((kind, path, address, "-"))
            elif len(kind) == 1 and (kind.isupper() or variant["locals"] == "keep"):
                rows.add(("symbol", path, address, name))
            elif kind == TEXT and variant["locals"] == "redact":
                rows.add(("symbol", path, address, "<redacted>"))
    return rows


def compare(reader, folder, name):
    files = sorted(glob.glob(os.path.join(folder, "dyld*")))
    result = subprocess.run([reader, *files], capture_output=True, text=True, check=False)
    if name in UNKNOWN:
        return 0, 0 if result.stderr.strip() == UNKNOWN[name] else 1
    rows = [tuple(line.split("\t")) for line in result.stdout.splitlines()[1:]]
    alias = [r for r in rows if r[1] == "/usr/lib/libbase.1.dylib"]
    assert bool(alias) == (VARIANTS[name]["list"] == "old")
    got, want = set(rows) - set(alias), expected(folder, VARIANTS[name])
    for row in sorted(got ^ want)[:10]:
        print("%s: %s: %s" % (name, "only the reader has" if row in got else "the reader lacks", "\t".join(row)))
    return len(got & want), len(got ^ want)


def read_llvm(path):
    """{(kind, address, name)}: what LLVM's tools say of a file."""
    def run(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    rows = set()
    for line in run("llvm-nm-22", "--format=posix", path):
        name, kind, value, _ = line.rsplit(" ", 3)
        if kind in "TSDt":
            rows.add((kind, int(value, 16), name))
    for line in run("llvm-objdump-22", "--macho", "--exports-trie", path):
        if line.startswith("0x"):
            rows.add(("export", int(line.split()[0], 16), line.split()[1]))
    for line in run("llvm-objdump-22", "--macho", "--function-starts=addrs", path)[1:]:
        rows.add(("start", int(line, 16), "-"))
    return rows


def compare_extracted(folder, name):
    """LLVM's tools read images that `machsym cache extract` made of a cache as the dylibs that went into it."""
    cache = min(glob.glob(os.path.join(folder, "dyld*")), key=len)
    images, want = set(), set()
    with open(os.path.join(folder, "truth.tsv"), encoding="utf-8") as f:
        for line in f:
            kind, path, address, symbol = line.rstrip("\n").split("\t")
            images |= {path} if kind == "image" else set()
            if kind in ("T", "S", "D", "export", "start") or (kind == TEXT and VARIANTS[name]["locals"] != "strip"):
                want.add((path, kind, int(address, 16), symbol))
    got, out = set(), os.path.join(folder, "extracted")
    for path in images:
        subprocess.run([os.environ["MACHSYM"], "cache", "extract", cache, path, "-o", out], check=True)
        got |= {(path,) + row for row in read_llvm(out)}
    if VARIANTS[name]["locals"] == "strip": # names of methods came from Objective-C, others are nowhere
        got = {row for row in got if row[1] != TEXT}
    for row in sorted(got ^ want)[:10]:
        print("%s: extracted: %s: %s" % (name, "only LLVM has" if row in got else "LLVM lacks", row))
    return len(got & want), len(got ^ want)


def main():
    if not shutil.which("llvm-nm-22") or not shutil.which("llvm-objdump-22"):
        print("skipped: differential: shared caches: llvm-nm-22 and llvm-objdump-22 are not installed")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        build(os.path.join(tests, "fixtures", "bin", "cache"), folder)
        for name in sorted(VARIANTS):
            good, bad = compare_extracted(os.path.join(folder, name), name)
            print("%s: LLVM reads %d symbols, exports and starts of extracted images alike, %d not" % (name, good, bad))
            passed, failed = passed + good, failed + bad
    if not shutil.which("rustc") or not crate("object") or not crate("memchr"):
        print("skipped: differential: shared caches: rustc and librust-object-dev are not installed")
        print("%d passed, %d failed, 1 skipped" % (passed, failed))
        return failed != 0
    with tempfile.TemporaryDirectory() as folder:
        reader = compile_reader(folder)
        build(os.path.join(tests, "fixtures", "bin", "cache"), folder)
        for name in sorted(VARIANTS):
            good, bad = compare(reader, os.path.join(folder, name), name)
            print("%s: %d images and symbols are equal, %d are not" % (name, good, bad))
            passed, failed = passed + good, failed + bad
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
