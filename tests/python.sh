#!/bin/sh
# examples/python/machsym.py answers as `machsym atos` does, for images, maps and a fat file; its structures are laid out
# as the compiler lays out machsym.h's.
. tests/checks
why=
python3 -c 'import ctypes, uuid, typing' 2>/dev/null || why="it needs python3 with ctypes"
[ -z "$RUN$LDFLAGS" ] || why="python runs on this host only"
case "$CFLAGS" in *-fsanitize*) why="python cannot load a sanitized library" ;; esac
if [ -n "$why" ]; then
    skip "$why"
    end
    exit
fi
# apart from $B, where another test may be building the same library
make B="$work/lib" CC="$CC" CFLAGS="$CFLAGS" "$work/lib/libmachsym.so" >"$work/log" 2>&1 || cat "$work/log"
export MACHSYM_LIBRARY="$work/lib/libmachsym.so" PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=examples/python
cat >"$work/check.py" <<'END'
import ctypes, json, os, subprocess, sys, tempfile
import machsym

tool, cc, tmp = sys.argv[1], sys.argv[2], sys.argv[3]
counts = [0, 0]


def check(name, got, want):
    counts[got != want] += 1
    if got != want:
        print("%s:\n  got  %r\n  want %r" % (name, got, want))


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.decode()


# Sizes and offsets, in bits of C that the compiler works out.
lines = []
for name, struct in machsym.LAYOUT.items():
    lines.append("sizeof(machsym_%s)" % name)
    lines += ["offsetof(machsym_%s, %s)" % (name, field[0]) for field in struct._fields_]
lines += ["MACHSYM_OPEN_COPY", "MACHSYM_DEMANGLE_SIMPLIFIED", "MACHSYM_LINES_STMT", "MACHSYM_SOURCE_COUNT"]
with open(tmp + "/layout.c", "w") as out:
    out.write('#include "machsym.h"\n#include <stdio.h>\nint main(void)\n{\n')
    out.writelines('    printf("%%lu\\n", (unsigned long)%s);\n' % line for line in lines)
    out.write("    return 0;\n}\n")
run(cc, "-I.", "-o", tmp + "/layout", tmp + "/layout.c")
want = [int(n) for n in run(tmp + "/layout").split()]
got = []
for name, struct in machsym.LAYOUT.items():
    got.append(ctypes.sizeof(struct))
    got += [getattr(struct, field[0]).offset for field in struct._fields_]
got += [machsym.OPEN_COPY, machsym.DEMANGLE_SIMPLIFIED, machsym.Lines.STMT, len(machsym._sources)]
for line, a, b in zip(lines, got, want):
    check(line, a, b)
check("version", machsym.version(), run(tool, "--version").strip())


def asked(arguments, addresses):
    """What the tool's JSON says of each address, and the same from the module's frames."""
    out = run(tool, "atos", "--json", "-i", *arguments, *["0x%x" % a for a in addresses])
    return [json.loads(line)["frames"] for line in out.splitlines()]


def told(frames, addresses):
    return [[{"name": f.name, "linkage_name": f.linkage_name, "file": f.file, "line": f.line, "column": f.column,
              "inline": f.inline, "offset": (a - f.function_start) & (2**64 - 1), "name_source": f.name_source,
              "line_source": f.line_source} for f in fs] for fs, a in zip(frames, addresses)]


def compare(name, source, arguments, addresses):
    got, want = told(source.lookup(addresses), addresses), asked(arguments, addresses)
    check(name + ": count", len(got), len(want))
    check(name + ": some are known", any(want), True)
    wrong = [("0x%x" % a, g, w) for a, g, w in zip(addresses, got, want) if g != w]
    check("%s: %d addresses" % (name, len(addresses)), wrong[:1], [])


BIN = "tests/fixtures/bin/"
for name in ("demo.app.dSYM", "inline-arm64-d5-22.dSYM", "inline-x86_64-d2-14.dwarf", "inline-arm64_32-d4-22.dwarf",
             "symbols-x86_64", "names-x86_64", "zoo-arm64-chained-relative-strip", "map-x86_64-d4-O2/program"):
    path = BIN + name
    made = tmp + "/made.symmap"
    with machsym.open(path, oso_dirs=[BIN]) as image:
        base = image.addr(0, 0)
        addresses = [base + i * 14 for i in range(1500)] + [0, 2**63]
        compare(name, image, ["-o", path, "--oso-dir", BIN], addresses)
        run(tool, "map", "build", "--oso-dir", BIN, "-o", made, path)
        with machsym.open(made) as other:
            check(name + ": is a map", type(other), machsym.Map)
            compare(name + " map", other, ["-o", made], addresses)

# Policies, slices, runtime addresses.
path = BIN + "inline-fat.dwarf"
for arch, uuid in machsym.slices(path):
    with machsym.open(path, uuid=uuid, lines=machsym.Lines.STMT) as image:
        base = image.addr(0, 0)
        compare(arch, image, ["-o", path, "--uuid", str(uuid), "--lines=stmt"], [base + 0x400 + i * 4 for i in range(200)])
with machsym.open(BIN + "demo.app.dSYM") as image:
    frames = image.lookup([0x102a309b6], load=0x102a30000)[0]
    check("runtime address", [(f.name, f.line) for f in frames],
          [("repeat(int, void (int) block_pointer)", 6), ("main", 12)])
    check("no addresses", image.lookup([]), [])
try:
    image.lookup([1])
    check("a closed image", "answered", "raised")
except ValueError:
    check("a closed image", "raised", "raised")

# Errors, and names.
for how, code in (({}, "ERR_AMBIGUOUS"), ({"arch": "ppc"}, "ERR_ARCH")):
    try:
        machsym.open(path, **how)
        check(code, "opened", code)
    except machsym.MachsymError as err:
        check(code, (err.code, path in str(err)), (code, True))
try:
    machsym.Image(tmp + "/none")
    check("a missing file", "opened", "ERR_IO")
except machsym.MachsymError as err:
    check("a missing file", (err.code, os.strerror(2) in str(err)), ("ERR_IO", True))
for mangled, want in (("_ZN5QueueIiE2atEi", "Queue<int>::at(int)"), ("main", "main"),
                      ("$s4main3fooyyF", "foo()"), ("_RNvC3foo3bar", "foo::bar"), ("", "")):
    check(mangled, machsym.demangle(mangled), want)
check("full", machsym.demangle("$s4main3fooyyF", machsym.DEMANGLE_FULL), "main.foo() -> ()")
check("a long name", machsym.demangle("_Z" + "1f" + "i" * 2000), "f(" + ", ".join(["int"] * 2000) + ")")

out = run(sys.executable, "examples/python/machsym.py", BIN + "demo.app.dSYM", "0x102a30000", "0x102a309b6", "0x1")
check("the program", out, "0x102a309b6 repeat(int, void (int) block_pointer) (/fixtures/demo/main.mm:6)\n"
      "0x102a309b6 main (/fixtures/demo/main.mm:12)\n0x1\n")
print("%d passed, %d failed, 0 skipped" % tuple(counts))
sys.exit(counts[1] != 0)
END
python3 "$work/check.py" "$MACHSYM" "$CC" "$work"
