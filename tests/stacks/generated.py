#!/usr/bin/env python3
"""Stacks of generated programs at any of their instructions: C with Swift's calling conventions, async frames, tail calls
and stacks of variable size; C++ with exceptions on their way (throws.py); handlers of signals that interrupt them (arm64). An emulator runs them,
and knows who called. Each moment becomes a core file and a minidump, which machsym and lldb read, also as LLVM's yaml2obj and yaml2macho-core write
them. Every frame of machsym's must be the emulator's. The last lines say how many stacks and frames there were, and how many lldb has otherwise;
README.md of this folder says why.
usage: generated.py TOOL FOLDER LLDB's-folder-of-Python-modules (may be empty) SUFFIX (of LLVM's yaml tools; -: none) STACKS [SEED]"""
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
import throws  # noqa: E402

OUTLINED, PIECES = " -mllvm -enable-machine-outliner", " -mllvm -homogeneous-prolog-epilog=true"
BUILDS = [("arm64", "-O0"), ("x86_64", "-O2 -fomit-frame-pointer"), ("arm64", "-Oz" + OUTLINED), ("x86_64", "-Os"),
          ("arm64", "-O2 -fomit-frame-pointer"), ("arm64", "-Oz -fomit-frame-pointer" + PIECES), ("x86_64", "-O0"), ("arm64", "-O1"),
          ("arm64", "-Oz" + PIECES + OUTLINED), ("x86_64", "-O1"), ("arm64", "-Os"), ("x86_64", "-Os -fomit-frame-pointer"), ("arm64", "-O2"),
          ("x86_64", "-O2"), ("arm64", "-Os -fomit-frame-pointer")]
FUNCTIONS, THROWING = 14, 14
SIGNALLED, THROWN = 0.2, 0.3  # how many moments of arm64 are in a handler, and how many of all are between a throw and its catch
LEAST = 0.6  # lldb has all frames of this share of the files

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
N long through(function *f, long x, long y) { long t[5]; touch(t); return f(x, y) + t[1]; }
extern long throws(long, long);
"""


def source(count, seed, arm):
    """The C of steps.py; some functions become Swift's, and some are called by async ones."""
    made = steps.Source(count, seed)
    chance = made.chance
    text = made.text()
    for i in range(1, count):
        if chance.random() < 0.4:
            text = text.replace("N long f%d(long x, long y)" % i, "N __attribute__((swiftcall)) long s%d(long x, long y)" % i)
            text = text.replace("f%d(" % i, "s%d(" % i)
    begin = text.index("long run(void)")
    called = [name for name in ("%s%d" % (kind, i) for i in range(count) for kind in "fs") if name + "(long" in text]
    for i in range(count):  # C++ calls all of them as plain C
        if "s%d" % i in called:
            text = text[:begin] + "N long f%d(long x, long y) { return s%d(x + 1, y); }\n" % (i, i) + text[begin:]
    begin = text.index("long run(void)")
    wait = ASYNC % (0, count - 1, count // 2)
    text = text[:begin] + wait + text[begin:].replace("return sink;", "struct context c; wait_0(&c, 3, 4); return throws(5, 6);")
    if arm:
        text += HANDLER + "N long chain(long x, long y) { return f%d(x, y) + f%d(y, x); }\n" % (count - 1, count // 3)
    return text


def build(folder, arch, flags, seed, name):
    path = os.path.join(folder, name)
    rng = random.Random(seed)
    texts = {".c": source(FUNCTIONS, rng.randrange(1 << 30), arch == "arm64"),
             ".cpp": throws.source(THROWING, FUNCTIONS, rng.randrange(1 << 30))}
    for suffix, text in texts.items():
        with open(path + suffix, "w", encoding="ascii") as file:
            file.write(text)
        subprocess.run(["clang-22", "-target", arch + "-apple-macos12", "-w", "-g", "-funwind-tables", "-fswift-async-fp=always",
                        *(["-fexceptions"] if suffix == ".cpp" else []), *flags.split(), "-ffreestanding", "-fno-stack-protector",
                        "-c", path + suffix, "-o", path + suffix + ".o"], check=True)
    subprocess.run(["ld64.lld-22", "-arch", arch, "-platform_version", "macos", "12", "12", "-no_fixup_chains", "-e", "_start", "-o", path,
                    path + ".c.o", path + ".cpp.o"], check=True)
    names = subprocess.run(["llvm-nm-22", path], capture_output=True, text=True, check=True).stdout.splitlines()
    program, symbols = st.Program(path), {line.split()[2]: int(line.split()[0], 16) + st.SLIDE for line in names if " U " not in line}
    program.trampoline = symbols.get("__sigtramp", 0)
    return program, symbols


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
        self.runtime = throws.Runtime(program, symbols, rng.random())
        self.places = {False: collections.defaultdict(list), True: collections.defaultdict(list)}  # by whether an exception is on its way

        def note(at, _, address, __):
            if len(self.places[self.runtime.flying][address]) < 3:
                self.places[self.runtime.flying][address].append(at)
        self.run(note)

    def run(self, each):
        """each(number of the instruction, emulator, address, return addresses)"""
        at = [0]

        def step(mu, address, backs):
            self.runtime.step(mu, address)
            each(at[0], mu, address, backs)
            at[0] += 1
            self.runtime.land(mu, address)
        self.runtime.begin()
        self.program.run(step)

    def choose(self, count, flying):
        places = self.places[flying]
        return {self.rng.choice(places[place]) for place in self.rng.sample(sorted(places), min(count, len(places)))}

    def take(self, count, flying):
        """(registers and stack), the frames: no signal."""
        chosen, seen = self.choose(count, flying), []

        def each(at, mu, address, backs):
            if at in chosen:
                seen.append((st.moment(mu, self.arm, address), [address] + backs))
        self.run(each)
        return seen

    def take_signal(self):
        """The same in a handler: a signal comes anywhere, and the moment is after some instructions more."""
        when, after, got, below = self.choose(1, self.rng.random() < 0.2).pop(), self.rng.randrange(120), [], []

        def each(at, mu, address, backs):
            if at == when:
                deliver(mu, self.symbols, address)
                below.append([address] + backs)
            elif below and at == when + 1 + after:
                got.append((st.moment(mu, True, address), [address] + backs[:len(backs) - len(below[0]) + 1] + below[0]))
                mu.emu_stop()
        self.run(each)
        return got


def shell(*command):
    return subprocess.run(command, capture_output=True, check=True).stdout


def files(folder, name, program, moment, suffix):
    """Writes a moment as each kind of file."""
    values, stack = moment
    made = {"dmp": st.dump_of(program, dict(values), stack), "core": st.core_of(program, values, stack, True)}
    for kind, raw in made.items():
        os.makedirs(os.path.join(folder, kind), exist_ok=True)
        st.write(os.path.join(folder, kind, name + "." + kind), raw)
    if suffix == "-":
        return
    again, scratch = os.path.join(folder, "dmp of yaml2obj"), os.path.join(folder, "yaml")
    os.makedirs(again, exist_ok=True)
    st.write(scratch, shell("obj2yaml" + suffix, os.path.join(folder, "dmp", name + ".dmp")))
    shell("yaml2obj" + suffix, scratch, "-o", os.path.join(again, name + ".dmp"))
    if program.cpu != cores.ARM64:
        return  # yaml2macho-core writes no x86_64
    again = os.path.join(folder, "core of yaml2macho-core")
    os.makedirs(again, exist_ok=True)
    flow = ", ".join("{name: %s, value: 0x%x}" % (register, values[register]) for register in cores.ARM_ORDER)
    st.write(scratch, ("cpu: arm64\nthreads:\n  - regsets:\n      - flavor: gpr\n        registers: [%s]\n      - flavor: exc\n"
                       "        registers: [{name: far, value: 0x8}, {name: esr, value: 0x92000006}, {name: exception, value: 0x0}]\n"
                       "memory-regions:\n  - addr: 0x%x\n    UInt8: [%s]\n" % (flow, stack[0], ", ".join(map(str, stack[1])))).encode())
    shell("yaml2macho-core" + suffix, "-L", "%s,0x%x" % (program.uuid, program.base + st.SLIDE), "-i", scratch,
          "-o", os.path.join(again, name + ".core"))


def machsym(tool, folder, symbols):
    """Frames of all files of a folder, in the order of their names."""
    command = [tool, "crash", "-q", "--json", "--no-cache", "--no-inline", "-j1", *(["-d", symbols] if symbols else []), folder]
    lines = subprocess.run(command, capture_output=True, check=False).stdout.splitlines()
    return [[int(frame["address"], 16) for frame in json.loads(line)["threads"][0]["frames"]] for line in lines]


def ask_lldb(lldb, path, program):
    debugger = lldb.SBDebugger.Create()
    debugger.SetAsync(False)
    process = debugger.CreateTarget(program or "").LoadCore(path)
    frames = [frame for frame in process.GetThreadAtIndex(0) if not frame.IsArtificial()]  # what call sites say of tail calls
    # an inlined call has the pc; the function around it, which comes next, has where the call begins
    frames = [frame.GetPC() for below, frame in zip([None] + frames, frames) if below is None or not below.IsInlined()]
    lldb.SBDebugger.Destroy(debugger)
    return frames


def difference(theirs, truth):
    """How lldb's frames differ."""
    same = next((i for i, (one, other) in enumerate(zip(theirs, truth)) if one != other), min(len(theirs), len(truth)))
    if same == len(theirs):
        return "ends early"
    if same == len(truth):
        return "goes on after the last one"
    if theirs[same:same + 1] == truth[same + 1:same + 2]:
        return "lacks the caller" if same == 1 else "lacks a frame"
    return "has another caller" if same == 1 else "has another frame above"


def bare(tool, folder, program, moments, told):
    """Dumps without the program: a frame pointer leads from the handler over the trampoline to what the signal interrupted. Returns how many lack that."""
    wrong, ours = 0, machsym(tool, os.path.join(folder, "dmp"), None)
    for i, (_, truth, what) in enumerate(moments):
        trampoline = [k for k, frame in enumerate(truth) if program.trampoline < frame <= program.trampoline + 0x40]
        if what == "in a handler" and "omit" not in program.path and trampoline and trampoline[0] > 0:
            told["stacks without the program", what] += 1
            interrupted = truth[trampoline[0] + 1]
            if interrupted not in ours[i]:
                wrong += 1
                print("%s %04d, without the program: %s lack %#x" % (os.path.basename(program.path), i, list(map(hex, ours[i])), interrupted))
    return wrong


def compare(tool, folder, program, moments, lldb, suffix, told):
    """Returns how many of machsym's are wrong."""
    wrong = 0
    for i, (moment, _, _) in enumerate(moments):
        files(folder, "%04d" % i, program, moment, suffix)
    for kind in sorted(name for name in os.listdir(folder) if name != "yaml"):
        here = os.path.join(folder, kind)
        ours = machsym(tool, here, program.path)
        for i, (_, truth, what) in enumerate(moments):
            told["files", kind] += 1
            got = ours[i] if i < len(ours) else []
            if got != truth:
                wrong += 1
                print("%s %04d, %s, %s: %s, not %s" % (os.path.basename(program.path), i, what, kind, list(map(hex, got)), list(map(hex, truth))))
            if lldb is None:
                continue
            path = os.path.join(here, "%04d.%s" % (i, kind.split()[0]))
            theirs = ask_lldb(lldb, path, None if kind == "core" else program.path)
            told["lldb", "equal" if theirs == truth else "differs"] += 1
            if theirs != truth:
                told["lldb, %s: %s" % (what, difference(theirs, truth)), kind] += 1
                if os.environ.get("SHOW"):
                    print("lldb, %s: %s, %s: %s, not %s" % (path, what, difference(theirs, truth), list(map(hex, theirs)), list(map(hex, truth))))
    for _, truth, what in moments:
        told["stacks", what] += 1
        told["frames", what] += len(truth)
    return wrong + bare(tool, folder, program, moments, told)


def main():
    tool, folder, modules, suffix, wanted = *sys.argv[1:5], int(sys.argv[5])
    rng = random.Random(int(sys.argv[6]) if len(sys.argv) > 6 else 42)
    lldb = None
    if modules:
        sys.path.append(modules)
        import lldb  # pylint: disable=import-outside-toplevel
    told, wrong, stacks, number = collections.Counter(), 0, 0, 0
    each = max(10, min(40, -(-wanted // len(BUILDS))))
    while stacks < wanted:
        arch, flags = BUILDS[number % len(BUILDS)]
        program, symbols = build(folder, arch, flags, rng.random(), "%s%s-%d" % (arch, flags.replace(" ", ""), number))
        moments = Moments(program, symbols, rng)
        signals = round(each * SIGNALLED) if arch == "arm64" else 0
        flying = round(each * THROWN)
        taken = [(*one, "at any instruction") for one in moments.take(each - signals - flying, False)]
        taken += [(*one, "exception in flight") for one in moments.take(flying, True)]
        for _ in range(signals):
            taken += [(*one, "in a handler") for one in moments.take_signal()]
        here = os.path.join(folder, "stacks-%d" % number)
        wrong += compare(tool, here, program, taken, lldb, suffix, told)
        stacks += len(taken)
        number += 1
    for (what, kind), count in sorted(told.items()):
        print("%6d %s, %s" % (count, what, kind))
    equal, differs = told["lldb", "equal"], told["lldb", "differs"]
    print("%d programs, %d stacks, %d wrong; lldb has %d of %d" % (number, stacks, wrong, equal, equal + differs))
    sys.exit(wrong > 0 or (lldb is not None and equal < LEAST * (equal + differs)))


if __name__ == "__main__":
    main()
