#!/usr/bin/env python3
"""Stacks of programs that a kernel runs: generated C and C++ for Linux, x86_64 on this machine and aarch64 under qemu, with the C library,
gcc's unwinder and the kernel's own frames of signals. Each instruction is a step (process.py), and calls and returns tell the true stack; in
programs that gcc makes with -finstrument-functions, their own log has to agree with it. The same bytes of code and __eh_frame at the same
addresses then become a Mach-O image, and the registers and the stack at some moments a core file and a minidump. Every frame that machsym finds
there must be the true one, by its address; names are not compared.
usage: twins.py TOOL FOLDER ARCH (x86_64, arm64) STACKS [SEED]; status 77: no process can be followed here"""
import collections
import json
import os
import random
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, "tests/stacks")
sys.path.insert(0, "tests/unwind")
sys.path.insert(0, "tests")
import core as cores  # noqa: E402
import minidump as md  # noqa: E402
import process as run  # noqa: E402
import steps  # noqa: E402
import throws  # noqa: E402

INSTRUMENTED = " -finstrument-functions"
BUILDS = [("x86_64", "gcc", "-O2"), ("arm64", "gcc", "-O1 -mbranch-protection=standard" + INSTRUMENTED), ("x86_64", "gcc", "-O0" + INSTRUMENTED),
          ("arm64", "clang-22", "-O1"), ("x86_64", "clang-22", "-Os"), ("arm64", "gcc", "-O2"),
          ("x86_64", "gcc", "-O1 -fno-omit-frame-pointer"), ("arm64", "gcc", "-Os -fomit-frame-pointer"),
          ("x86_64", "gcc", "-Os" + INSTRUMENTED), ("arm64", "gcc", "-O0"), ("x86_64", "clang-22", "-O0"), ("arm64", "clang-22", "-Oz"),
          ("x86_64", "gcc", "-O3 -mno-red-zone"), ("arm64", "gcc", "-O3 -fstack-clash-protection"), ("x86_64", "gcc", "-O2" + INSTRUMENTED),
          ("arm64", "gcc", "-O2" + INSTRUMENTED), ("x86_64", "clang-22", "-O2 -fcf-protection=full"),
          ("arm64", "clang-22", "-O2 -fomit-frame-pointer"), ("arm64", "gcc", "-O2 -fomit-frame-pointer -mbranch-protection=pac-ret+leaf"),
          ("x86_64", "gcc", "-O2 -fcf-protection=full -fstack-clash-protection -fstack-protector-all")]
FUNCTIONS, THROWING, VISITS = 14, 14, 3
PHASES = ("calls", "flies", "crashes")  # functions that main calls
STEPS = {"x86_64": 60000, "arm64": 9000}  # of a phase
EACH = {"at any instruction": 0.5, "exception in flight": 0.3, "in a handler": 0.2}  # share of the moments
UNWINDERS = ("_Unwind_", "longjmp", "__longjmp", "siglongjmp")

SUPPORT = r"""
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
typedef long function(long, long);
extern volatile long sink;
long run(void), throws(long, long), f%(top)d(long, long), f%(third)d(long, long);
void touch(void *);
#define N __attribute__((noinline, noclone))
#define OUTSIDE __attribute__((no_instrument_function))
void *volatile logged[65536];
volatile long logged_count;
OUTSIDE void __cyg_profile_func_enter(void *f, void *from) { long n = logged_count; logged_count = n + 1; logged[n] = from; }
OUTSIDE void __cyg_profile_func_exit(void *f, void *from) { logged_count--; }
N long through(function *f, long x, long y) { long t[5]; touch(t); return f(x, y) + t[1]; }
N void handler(int number, siginfo_t *info, void *context) { long t[6]; touch(t); sink = f%(top)d(number, t[1]) + f%(third)d(3, number); }
N void crash_leaf(long *p, long x) { %(leaf)s }
N void crash_frame(long *p, long x) { long t[9]; touch(t); *p = t[x & 7]; touch(t); }
long *volatile nowhere;
N void crash_nowhere(long *p, long x) { long t[4]; touch(t); ((void (*)(long))p)(t[x & 1]); touch(t + 1); }
N long crash_deep(long x, long y)
{
    long t[3];
    touch(t);
    if (x < %(deep)d)
        return crash_deep(x + 1, y * 3) + t[x & 1];
    %(crash)s(nowhere, x);
    return t[y & 1];
}
N long crashes(long x) { return crash_deep(x, 7) + 2; }
N long calls(long x) { return run() + x; }
N long flies(long x) { return throws(x, 6) + 1; }
char other[65536];
#ifdef __aarch64__
/* As glibc does for x86_64: rules for all registers that the kernel wrote. Column 32 is the pc. */
void restorer(void);
__asm__(".text\n.cfi_startproc simple\n.cfi_signal_frame\n.cfi_return_column 32\n.cfi_def_cfa sp, 0\n"
        "%(rules)s"
        "nop\nrestorer: mov x8, #139\nsvc #0\n.cfi_endproc\n.type restorer, %%function\n.size restorer, . - restorer\n");
struct { void *handler; unsigned long flags; void (*restorer)(void); unsigned long mask; } action =
    { handler, SA_SIGINFO | %(where)s | 0x04000000, restorer, 0 };
#define HANDLE() syscall(SYS_rt_sigaction, SIGUSR1, &action, 0, 8)
#else
struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO | %(where)s };
#define HANDLE() sigaction(SIGUSR1, &action, 0)
#endif
int main(void)
{
    stack_t there = { .ss_sp = other, .ss_size = sizeof other };
    sigaltstack(&there, 0);
    HANDLE();
    sink = run();
    sink = throws(5, 6); /* gcc's unwinder sorts the table of a static program at the first throw, for a million steps */
    sink = calls(3);
    sink = flies(5);
    sink = crashes(sink & 1);
    return 0;
}
"""
RUNTIME = """
extern "C" {
typedef long function(long, long);
extern volatile long sink;
void touch(void *);
long through(function *f, long x, long y);
#define N __attribute__((noinline))
}
struct guard { long v; N guard(long x); N ~guard(); };
guard::guard(long x) : v(x) { sink = x; }
guard::~guard() { long t[4]; touch(t); sink = v; }
template <class T> struct holder { T v[3]; holder(T x) { v[0] = x; touch(v); } ~holder() { touch(v); sink = (long)v[0]; } };
extern "C" {
"""


def source(count, seed):
    """The C of steps.py for a system that has the functions of C."""
    made = steps.Source(count, seed)
    lines = [line for line in made.text().splitlines() if not line.startswith(("void *mem", "__asm__", "long __stack_chk"))]
    return "\n".join(lines).replace("void start(void) { run(); sink = 0; }", "")


def build(folder, arch, compiler, flags, rng, name):
    """Returns the path of the program."""
    path = os.path.join(folder, name)
    gcc = "x86_64-linux-gnu-" if arch == "x86_64" else "aarch64-linux-gnu-"
    support = {"top": FUNCTIONS - 1, "third": FUNCTIONS // 3, "deep": rng.randrange(1, 30), "crash": rng.choice(("crash_leaf", "crash_frame", "crash_nowhere")),
               "leaf": rng.choice(("*p = x;", "sink = x * 3; p[x & 1] = 4;")), "where": rng.choice(("0", "SA_ONSTACK")),
               "rules": "".join(".cfi_offset %d, %d\\n" % (i, 312 + 8 * i) for i in range(33))}
    texts = {"-c.c": source(FUNCTIONS, rng.randrange(1 << 30)), "-cpp.cpp": throws.source(THROWING, FUNCTIONS, rng.randrange(1 << 30), RUNTIME),
             "-support.c": SUPPORT % support}
    for suffix, text in texts.items():
        with open(path + suffix, "w", encoding="ascii") as file:
            file.write(text)
        command = [gcc + ("g++" if suffix == "-cpp.cpp" else "gcc")]
        if compiler != "gcc" and suffix != "-support.c":
            command = [compiler, "--target=" + ("x86_64" if arch == "x86_64" else "aarch64") + "-linux-gnu"]
        subprocess.run(command + ["-w", "-g0", "-fno-pie", "-fexceptions", "-fasynchronous-unwind-tables", *flags.split(), "-c", path + suffix,
                                  "-o", path + suffix + ".o"], check=True)
    subprocess.run([gcc + "g++", "-static", "-no-pie", "-Wl,--build-id=none", "-o", path] + [path + suffix + ".o" for suffix in texts], check=True)
    return path


class Program:
    """An ELF program, and its twin: a Mach-O image whose __TEXT has the same bytes at the same addresses, after a page for its header."""
    PAGE = 0x10000

    def __init__(self, path, arch):
        with open(path, "rb") as file:
            raw = file.read()
        self.arm, self.cpu = arch == "arm64", cores.ARM64 if arch == "arm64" else cores.X86_64
        self.path, self.sections, self.functions, self.symbols = path + ".twin", {}, {}, {}
        at, size, count = struct.unpack_from("<Q", raw, 32)[0], *struct.unpack_from("<HH", raw, 54)
        parts = [struct.unpack_from("<IIQQQQQ", raw, at + size * i) for i in range(count)]
        parts = [part for part in parts if part[0] == 1 and not part[1] & 2]  # loaded, and never written
        self.base = min(part[3] for part in parts) // self.PAGE * self.PAGE - self.PAGE
        self.size = (max(part[3] + part[6] for part in parts) - self.base + 0xfff) & ~0xfff
        text = bytearray(self.size)
        for _, _, offset, address, _, filed, _ in parts:
            text[address - self.base:address - self.base + filed] = raw[offset:offset + filed]
        self.parts = [(part[3], part[3] + part[5]) for part in parts if part[1] & 1]
        self.read_sections(raw)
        self.uuid = "%032X" % random.Random(raw[-4096:]).getrandbits(128)
        self.write(text)
        self.text = bytes(text)

    def read_sections(self, raw):
        at, size, count, names = struct.unpack_from("<Q", raw, 40)[0], *struct.unpack_from("<HHH", raw, 58)
        rows = [struct.unpack_from("<IIQQQQIIQQ", raw, at + size * i) for i in range(count)]
        for row in rows:
            name = raw[rows[names][4] + row[0]:].split(b"\0", 1)[0].decode()
            self.sections[name] = (row[3], row[5])
            if row[1] == 2:  # SHT_SYMTAB
                strings = rows[row[6]][4]
                for off in range(row[4], row[4] + row[5], 24):
                    where, kind, _, _, value, length = struct.unpack_from("<IBBHQQ", raw, off)
                    if kind & 15 in (1, 2, 10):  # data, functions, those chosen at run time
                        symbol = raw[strings + where:].split(b"\0", 1)[0].decode()
                        self.symbols[symbol] = value
                        if kind & 15 != 1 and length:
                            self.functions[value] = (value + length, symbol)
        self.starts = sorted(self.functions)

    def write(self, text):
        """Writes the Mach-O file."""
        code = (self.parts[0][0], self.parts[-1][1] - self.parts[0][0])
        strings, table = b"\0", b""
        for value in self.starts:
            table += struct.pack("<IBBHQ", len(strings), 0x0E, 1, 0, value)
            strings += b"_" + self.functions[value][1].encode() + b"\0"
        sections = [("__text", *code, 0x80000400), ("__eh_frame", *self.sections[".eh_frame"], 0)]
        content = cores.name16("__TEXT") + struct.pack("<QQQQIIII", self.base, self.size, 0, self.size, 5, 5, len(sections), 0)
        for name, address, size, flags in sections:
            content += cores.name16(name) + cores.name16("__TEXT") + struct.pack("<QQ8I", address, size, address - self.base, 4, 0, 0, flags, 0, 0, 0)
        linkedit = cores.name16("__LINKEDIT") + struct.pack("<QQQQIIII", self.base + self.size, (len(table) + len(strings) + 0xfff) & ~0xfff, self.size,
                                                           len(table) + len(strings), 1, 1, 0, 0)
        commands = [cores.command(0x19, content), cores.command(0x19, linkedit), cores.command(0x1B, bytes.fromhex(self.uuid)),
                    cores.command(2, struct.pack("<IIII", self.size, len(self.starts), self.size + len(table), len(strings))),
                    cores.command(0x32, struct.pack("<IIII", 1, 0xB0000, 0xB0000, 0))]
        head = cores.header(self.cpu, cores.EXECUTE, commands)
        assert len(head) <= self.PAGE
        text[:len(head)] = head
        with open(self.path, "wb") as file:
            file.write(bytes(text) + table + strings)

    def name(self, address):
        """The function that an address lies in."""
        lo, hi = 0, len(self.starts)
        while lo < hi:
            middle = (lo + hi) // 2
            lo, hi = (middle + 1, hi) if self.starts[middle] <= address else (lo, middle)
        if lo == 0 or address >= self.functions[self.starts[lo - 1]][0]:
            return ""
        return self.functions[self.starts[lo - 1]][1]

    def code(self, address):
        """The beginning of an instruction."""
        off = address - self.base
        return self.text[off:off + 8] if 0 <= off < self.size else b"\0" * 8


Moment = collections.namedtuple("Moment", "values stacks truth logged what")


class Run:
    """Runs a program and takes some moments of it. A place counts three times for each kind of moment, and all are as likely."""

    def __init__(self, program, process, rng, wanted):
        self.program, self.process, self.rng = program, process, rng
        self.calls = run.Calls(program.arm, program.code)
        self.room = {what: max(1, round(share * wanted)) for what, share in EACH.items()}
        self.taken = {what: [] for what in EACH}
        self.seen, self.visits, self.steps, self.flying = collections.Counter(), collections.Counter(), 0, False
        self.at = {name: program.symbols.get(name) for name in ("__cxa_throw", "__cxa_rethrow", "__cxa_begin_catch", "uw_install_context_1")}
        self.top, self.installs = 0, False  # installs: gcc's unwinder overwrites its own frame by the one that it goes to

    def take(self, what):
        process, program = self.process, self.program
        low, other = (process.sp - 256) & ~15, program.symbols["other"]
        stacks = [(low, process.read(low, self.top - low))] if not other <= process.sp <= other + 65536 else []
        if not stacks:
            main = next(entry for entry in self.calls.entries[::-1] if entry[0] is None)[2]
            stacks = [(low, process.read(low, other + 65536 - low)), (main - 256, process.read(main - 256, self.top - main + 256))]
        count, = struct.unpack("<q", process.read(program.symbols["logged_count"], 8))
        logged = struct.unpack("<%dQ" % count, process.read(program.symbols["logged"], 8 * count)) if count > 0 else ()
        return Moment(process.registers(), stacks, [process.pc] + self.calls.backs(), logged[::-1], what)

    def offer(self):
        what = "in a handler" if self.calls.in_handler() else "exception in flight" if self.flying else "at any instruction"
        self.visits[what, self.process.pc] += 1
        if self.calls.torn or self.installs or self.visits[what, self.process.pc] > VISITS:
            return
        self.seen[what] += 1
        if len(self.taken[what]) < self.room[what]:
            self.taken[what].append(self.take(what))
        elif (place := self.rng.randrange(self.seen[what])) < self.room[what]:
            self.taken[what][place] = self.take(what)

    def step(self, interrupt):
        """Returns the signal that stopped the process."""
        process, pc, sp = self.process, self.process.pc, self.process.sp
        if interrupt:
            if not process.interrupt(run.signal.SIGUSR1, self.program.symbols["handler"]):
                raise RuntimeError("%s: a signal at %#x does not reach its handler" % (self.program.path, pc))
            stopped = run.STEPPED
            self.calls.interrupted(pc, sp, process)
        else:
            unwinds = self.program.name(pc).startswith(UNWINDERS)
            stopped = process.step()
            if stopped == run.STEPPED:
                self.calls.step(pc, unwinds, process)
            if unwinds and self.calls.kind(pc) in ("ret", "jump") and not self.program.name(process.pc).startswith(("_U", "uw_")):
                self.installs = False
        if process.pc in (self.at["__cxa_throw"], self.at["__cxa_rethrow"]):
            self.flying = True
        elif process.pc == self.at["__cxa_begin_catch"]:
            self.flying = False
        elif process.pc == self.at["uw_install_context_1"]:
            self.installs = True
        return stopped

    def reach(self, name):
        if not self.process.go(self.program.symbols[name]):
            raise RuntimeError("%s does not reach %s" % (self.program.path, name))
        self.calls.begins(self.process)

    def go(self, limit):
        """Returns the moments."""
        for name in ("__libc_start_main", "__libc_start_call_main", "main"):
            self.reach(name)
        self.top, below = self.process.sp + 512, len(self.calls.entries)
        crash = []
        for name in PHASES:
            del self.calls.entries[below:]
            self.flying = self.calls.torn = self.installs = False
            self.reach(name)
            for _ in range(limit):
                self.offer()
                handled = self.calls.in_handler()
                stopped = self.step(not handled and not self.calls.torn and self.rng.random() < 1 / 600)
                self.steps += 1
                if stopped != run.STEPPED:
                    crash = [self.take("crash")]
                    break
                if len(self.calls.entries) <= below:
                    break
        return sum(self.taken.values(), crash)


def agrees(program, moment):
    """Whether the program's own log of -finstrument-functions has the same calls. It lags by what the innermost function does first and last, and
    tells nothing while it is written."""
    truth, log = moment.truth, list(moment.logged)
    if any(program.name(frame).startswith("__cyg_profile_func_") for frame in truth):
        return True
    ours = [back for frame, back in list(zip(truth, truth[1:]))[1:] if program.name(frame - 1).lstrip("fg").isdigit()]
    return set(log) <= set(truth) and sum(back not in log for back in ours) <= 1


def files(folder, name, program, moment):
    """Writes a moment as a core file that has the program in its memory, and as a minidump that has not."""
    arm, values = program.arm, moment.values
    trap = (8, 0x92000046) if arm else (0, 14, 6)
    memory = [(program.base, program.text)] + list(moment.stacks)
    core = cores.core(program.cpu, [cores.state(program.cpu, dict(values), trap)], memory,
                      [("all image infos", cores.all_image_infos([(program.base, program.path, program.uuid)]))])
    dump = md.Dump(4)
    dump.system(md.ARM64 if arm else md.AMD64, md.MAC, (14, 3, 1), "23D60")
    uuid = program.uuid
    uuid = "-".join((uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:]))
    dump.modules([dump.module(program.base, program.size, program.path, uuid)])
    dump.threads([dump.thread(1, (md.arm64 if arm else md.x86_64)(values), moment.stacks[0])])
    dump.memory(moment.stacks)
    for kind, raw in (("core", core), ("dmp", bytes(dump.data))):
        os.makedirs(os.path.join(folder, kind), exist_ok=True)
        with open(os.path.join(folder, kind, name + "." + kind), "wb") as file:
            file.write(raw)


def machsym(tool, folder, symbols):
    """Frames of all files of a folder, in the order of their names: address, function."""
    command = [tool, "crash", "-q", "--json", "--no-cache", "--no-inline", "--no-demangle", "-j1", *(["-d", symbols] if symbols else []), folder]
    lines = subprocess.run(command, capture_output=True, check=False).stdout.splitlines()
    return [[(int(frame["address"], 16), frame.get("symbol", "")) for frame in json.loads(line)["threads"][0]["frames"]] for line in lines]


def compare(tool, folder, program, moments, told):
    """Returns how many stacks of machsym's are wrong."""
    wrong = 0
    for i, moment in enumerate(moments):
        files(folder, "%04d" % i, program, moment)
        told["stacks", moment.what] += 1
        told["frames", moment.what] += len(moment.truth)
    for kind in ("core", "dmp"):
        ours = machsym(tool, os.path.join(folder, kind), program.path)
        for i, moment in enumerate(moments):
            got = ours[i] if i < len(ours) else []
            told["files", kind] += 1
            if [address for address, _ in got] != moment.truth:
                wrong += 1
                show = lambda frames: " ".join("%x %s," % (frame, program.name(frame - (k > 0))) for k, frame in enumerate(frames))  # noqa: E731
                print("%s %04d, %s, %s:\n  %s\n  not %s" % (os.path.basename(program.path), i, moment.what, kind, show([one for one, _ in got]),
                                                       show(moment.truth)))
    return wrong


def main():
    tool, folder, arch, wanted = *sys.argv[1:4], int(sys.argv[4])
    rng = random.Random(int(sys.argv[5]) if len(sys.argv) > 5 else 42)
    builds = [one[1:] for one in BUILDS if one[0] == arch and (one[1] == "gcc" or shutil.which(one[1]))]
    if arch == "x86_64" and not run.can_follow():
        sys.exit(77)
    told, wrong, stacks, number = collections.Counter(), 0, 0, 0
    each = max(8, min(40, -(-wanted // len(builds))))
    while stacks < wanted:
        compiler, flags = builds[number % len(builds)]
        name = "%s-%s%s-%d" % (arch, compiler, flags.replace(" ", ""), number)
        path = build(folder, arch, compiler, flags, rng, name)
        program = Program(path, arch)
        process = run.Native([path]) if arch == "x86_64" else run.Emulated([path], os.path.join(folder, "gdb-%d" % number))
        try:
            one = Run(program, process, rng, each)
            moments = one.go(STEPS[arch] if wanted > 20 else STEPS[arch] // 3)
        finally:
            process.end()
        told["steps", arch] += one.steps
        for i, moment in enumerate(moments):
            if INSTRUMENTED in flags and compiler == "gcc":
                told["log of -finstrument-functions", "equal" if agrees(program, moment) else "differs"] += 1
                if not agrees(program, moment):
                    wrong += 1
                    print("%s %04d, %s: the log has %s, the calls are %s" % (name, i, moment.what, list(map(hex, moment.logged)), list(map(hex, moment.truth))))
        here = os.path.join(folder, "twins-%d" % number)
        bad = compare(tool, here, program, moments, told)
        if not bad and "KEEP" not in os.environ:
            shutil.rmtree(here)
        wrong += bad
        stacks += len(moments)
        number += 1
    for (what, kind), count in sorted(told.items()):
        print("%6d %s, %s" % (count, what, kind))
    print("%d programs, %d stacks, %d wrong" % (number, stacks, wrong))
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
