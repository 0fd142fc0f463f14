#!/usr/bin/env python3
"""Stacks of generated programs at any of their instructions, of C with Swift's calling conventions, async frames, tail calls
and stacks of variable size, and in handlers of signals that interrupt them (arm64). An emulator runs them, and knows who
called. Each moment becomes a core file and a minidump, which machsym and lldb read. The last lines say how many stacks there were, and
of how many each reader had all frames.
usage: generated.py TOOL FOLDER LLDB's-folder-of-Python-modules (may be empty) STACKS [SEED]"""
import collections
import json
import os
import random
import struct
import subprocess
import sys

sys.path.insert(0, "tests/stacks")
sys.path.insert(0, "tests/unwind")
sys.path.insert(0, "tests")
import core as cores  # noqa: E402
import stacks as st  # noqa: E402
import steps  # noqa: E402

PLAIN = ["-O0", "-O1", "-O2", "-Os", "-O2 -fomit-frame-pointer", "-Os -fomit-frame-pointer"]
OUTLINED = ["-Oz -mllvm -enable-machine-outliner", "-Oz -fomit-frame-pointer -mllvm -homogeneous-prolog-epilog=true",
            "-Oz -mllvm -homogeneous-prolog-epilog=true -mllvm -enable-machine-outliner"]
BUILDS = [("arm64", flags) for flags in PLAIN + OUTLINED] + [("x86_64", flags) for flags in PLAIN]
SOURCES, FUNCTIONS = 2, 14
SIGNALLED = 0.3  # how many moments of arm64 are in a handler

# What libplatform has in C for arm64: the kernel calls it with the handler, how it wants to be called, the signal, siginfo_t
# and ucontext_t.
HANDLER = """
extern long chain(long, long);
N void __sigreturn(void *u, int style, long token) { for (;;) sink = 1; }
N void handler(int sig, void *info, void *u) { long t[6]; touch(t); sink = chain(sig, t[1]); }
void _sigtramp(void (*f)(int, void *, void *), int style, int sig, void *info, void *u, long token)
{ f(sig, info, u); __sigreturn(u, 30, token); __builtin_trap(); }
"""
ASYNC = """
struct context { struct context *parent; void *resume; long v[4]; };
__attribute__((swiftasynccall, noinline)) void wait_%d(__attribute__((swift_async_context)) struct context *c, long x, long y)
{ c->v[0] = f%d(x, y); c->v[1] = f%d(c->v[0], x); sink = c->v[1]; }
"""


def source(count, seed, arm):
    """The C of steps.py; some functions become Swift's, and some are called by async ones."""
    made = steps.Source(count, seed)
    chance = made.chance
    text = made.text()
    for i in range(1, count):
        if chance.random() < 0.4:
            text = text.replace("N long f%d(long x, long y)" % i, "N __attribute__((swiftcall)) long f%d(long x, long y)" % i)
    begin = text.index("long run(void)")
    wait = ASYNC % (0, count - 1, count // 2)
    text = text[:begin] + wait + text[begin:].replace("return sink;", "struct context c; wait_0(&c, 3, 4); return sink;")
    if arm:
        text += HANDLER + "N long chain(long x, long y) { return f%d(x, y) + f%d(y, x); }\n" % (count - 1, count // 3)
    return text


def build(folder, arch, flags, text, name):
    path = os.path.join(folder, name)
    with open(path + ".c", "w", encoding="ascii") as file:
        file.write(text)
    subprocess.run(["clang-22", "-target", arch + "-apple-macos12", "-w", "-g", "-funwind-tables", "-fswift-async-fp=always", *flags.split(),
                    "-ffreestanding", "-fno-stack-protector", "-c", path + ".c", "-o", path + ".o"], check=True)
    subprocess.run(["ld64.lld-22", "-arch", arch, "-platform_version", "macos", "12", "12", "-no_fixup_chains", "-e", "_start", "-o", path,
                    path + ".o"], check=True)
    names = subprocess.run(["llvm-nm-22", path], capture_output=True, text=True, check=True).stdout.splitlines()
    return st.Program(path), {line.split()[2]: int(line.split()[0], 16) + st.SLIDE for line in names if " U " not in line}


def deliver(mu, symbols, pc):
    """Does what xnu's sendsig does: siginfo_t, ucontext_t and the mcontext below the red zone, and _sigtramp is next."""
    at = st.registers(True)
    values = [mu.reg_read(at["x%d" % i]) for i in range(29)] + [mu.reg_read(at[name]) for name in ("fp", "lr", "sp")] + [pc]
    frame = (values[31] - 128 - 976) & ~15
    mcontext = struct.pack("<QII33QII", 0xBAD, 0x92000006, 0, *values, 0x60001000, 0) + bytes(528)
    ucontext = struct.pack("<II24xQQQ", 0, 0, 0, len(mcontext), frame + 160)
    mu.mem_write(frame, struct.pack("<iii", 11, 0, 1).ljust(104, b"\0") + ucontext + mcontext)
    mu.reg_write(at["sp"], frame)
    for name, value in (("x0", symbols["_handler"]), ("x1", 30), ("x2", 11), ("x3", frame), ("x4", frame + 104), ("x5", 0)):
        mu.reg_write(at[name], value)
    mu.reg_write(at["pc"], symbols["__sigtramp"])


class Moments:
    """Runs a program twice: to count its instructions, and to take some. The first visits of each place are as likely as all
    others."""

    def __init__(self, program, symbols, rng):
        self.program, self.symbols, self.rng = program, symbols, rng
        self.arm = program.cpu == cores.ARM64
        self.places = collections.defaultdict(list)
        at = [0]

        def note(_, address, __):
            if len(self.places[address]) < 3:
                self.places[address].append(at[0])
            at[0] += 1
        program.run(note)

    def take(self, count):
        """(registers and stack), the frames: no signal."""
        chosen = {self.rng.choice(self.places[place]) for place in self.rng.sample(sorted(self.places), min(count, len(self.places)))}
        seen, at = [], [0]

        def each(mu, address, backs):
            if at[0] in chosen:
                seen.append((st.moment(mu, self.arm, address), [address] + backs))
            at[0] += 1
        self.program.run(each)
        return seen

    def take_signal(self):
        """The same in a handler: a signal comes anywhere, and the moment is after some instructions more."""
        when, after, at, got = self.rng.choice(self.places[self.rng.choice(sorted(self.places))]), self.rng.randrange(120), [0], []
        below = []

        def each(mu, address, backs):
            at[0] += 1
            if at[0] - 1 == when:
                deliver(mu, self.symbols, address)
                below.append([address] + backs)
            elif below and at[0] - 1 == when + 1 + after:
                got.append((st.moment(mu, True, address), [address] + backs[:len(backs) - len(below[0]) + 1] + below[0]))
                mu.emu_stop()
        self.program.run(each)
        return got


def files(folder, name, program, values, stack):
    content = st.dump_of(program, dict(values), stack), st.core_of(program, values, stack, True)
    for kind, raw in zip(("dmp", "core"), content):
        os.makedirs(os.path.join(folder, kind), exist_ok=True)
        st.write(os.path.join(folder, kind, name + "." + kind), raw)


def machsym(tool, folder, symbols):
    """Frames of all files of a folder, in the order of their names."""
    command = [tool, "crash", "-q", "--json", "--no-cache", "--no-inline", "-j1", "-d", symbols, folder]
    lines = subprocess.run(command, capture_output=True, check=False).stdout.splitlines()
    return [[int(frame["address"], 16) for frame in json.loads(line)["threads"][0]["frames"]] for line in lines]


def ask_lldb(lldb, path, program):
    debugger = lldb.SBDebugger.Create()
    debugger.SetAsync(False)
    process = debugger.CreateTarget(program or "").LoadCore(path)
    frames = [frame.GetPC() for frame in process.GetThreadAtIndex(0) if not frame.IsInlined()]
    lldb.SBDebugger.Destroy(debugger)
    return frames


def compare(tool, folder, program, moments, lldb, told):
    """Returns how many of machsym's are wrong."""
    wrong = 0
    for i, ((values, stack), _, _) in enumerate(moments):
        files(folder, "%04d" % i, program, values, stack)
    found = {kind: machsym(tool, os.path.join(folder, kind), program.path) for kind in ("dmp", "core")}
    for i, (_, truth, what) in enumerate(moments):
        told["stacks"] += 1
        told["stacks, " + what] += 1
        for kind in ("dmp", "core"):
            ours = found[kind][i] if i < len(found[kind]) else []
            told["machsym, %s: equal" % kind] += ours == truth
            if ours != truth:
                wrong += 1
                print("%s, %s, %s: %s, not %s" % (os.path.basename(program.path), what, kind, list(map(hex, ours)), list(map(hex, truth))))
            if lldb is None:
                continue
            theirs = ask_lldb(lldb, os.path.join(folder, kind, "%04d.%s" % (i, kind)), program.path if kind == "dmp" else None)
            told["lldb, %s: equal" % kind] += theirs == truth
            if theirs != truth:
                told["lldb, %s: differs, %s" % (kind, what)] += 1
    return wrong


def main():
    tool, folder, modules, wanted = *sys.argv[1:4], int(sys.argv[4])
    rng = random.Random(int(sys.argv[5]) if len(sys.argv) > 5 else 42)
    lldb = None
    if modules:
        sys.path.append(modules)
        import lldb  # pylint: disable=import-outside-toplevel
    told, wrong = collections.Counter(), 0
    each = -(-wanted // (len(BUILDS) * SOURCES))
    for number in range(len(BUILDS) * SOURCES):
        arch, flags = BUILDS[number % len(BUILDS)]
        arm = arch == "arm64"
        program, symbols = build(folder, arch, flags, source(FUNCTIONS, rng.randrange(1 << 30), arm), "%s%s-%d" % (arch, flags.replace(" ", ""), number))
        moments = Moments(program, symbols, rng)
        signals = int(each * SIGNALLED) if arm else 0
        taken = [(*one, "at any instruction") for one in moments.take(each - signals)]
        for _ in range(signals):
            taken += [(*one, "in a handler") for one in moments.take_signal()]
        here = os.path.join(folder, "stacks-%d" % number)
        wrong += compare(tool, here, program, taken, lldb, told)
    for what, count in sorted(told.items()):
        print("%6d %s" % (count, what))
    print("%d stacks, %d wrong" % (told["stacks"], wrong))
    sys.exit(wrong > 0 or told["stacks"] < wanted * 9 // 10)


if __name__ == "__main__":
    main()
