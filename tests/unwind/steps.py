"""Runs functions of generated C under an emulator and writes, for each of their instructions, the registers, the stack
around it and what its call log says: the caller's stack pointer, pc and saved registers. Where a piece of code of several
functions is on the way, it writes the pcs up to the function that called the piece, and then that function's caller.
tests/unwind/steps.c asks machsym for the same. Usage: steps.py FUNCTIONS SEED FOLDER ARCH FLAG..., to FOLDER/trace. It needs clang-22 and
ld64.lld-22; without the emulator (Debian's python3-unicorn) it ends with status 77. The last line counts."""
import io
import random
import struct
import subprocess
import sys
import zlib

try:
    import unicorn
    from unicorn import arm64_const as a64
    from unicorn import x86_const as x86
except ImportError:
    unicorn = None

STACK, STACK_SIZE, OUT = 0x7f0000000, 0x400000, 0x500000000
VISITS = 2  # of each instruction that are written


class Source:
    """One C file of functions that call those before them."""

    def __init__(self, count, seed):
        self.count = count
        self.chance = random.Random(seed)

    def callee(self, i):
        return self.chance.randrange(max(1, i * 2 // 3))

    def body(self, i):
        pick = self.chance.randrange
        a, b, c = pick(100), pick(1, 50), pick(7)
        f, g = self.callee(i), self.callee(i)
        kinds = [
            lambda: "long v = x * %d + y; return v ^ (v >> %d);" % (a, c),
            lambda: "return f%d(x + %d, y) + f%d(y, x);" % (f, a, g),
            lambda: "return f%d(x, y + %d);" % (f, a),
            lambda: "if (x < %d) return y; return f%d(x, y) * 3 + f%d(y, 1);" % (b, f, g),
            lambda: "long t[%d]; for (int i = 0; i < %d; i++) t[i] = x + i; touch(t); return t[%d] + f%d(y, x);"
            % (8 << c, 4 + c, c, f),
            lambda: "char t[%d]; touch(t); t[%d] = (char)x; return t[x & 3] + f%d(x, y);" % (500 + 97 * a, a, f),
            lambda: "char t[%d]; t[1] = (char)x; touch(t); return t[x & 3];" % (16 + a),
            lambda: "switch (x & 7) { case 0: return y; case 1: return f%d(y, x); case 2: return x * y; case 3: "
            "return sink; case 4: sink = x; return f%d(1, y); case 5: return x - y; case 6: return y / 3; "
            "default: return ~x; }" % (f, g),
            lambda: "return many(x, y, %d, x + 1, y + 1, 6, x, y, 9, x * y) + f%d(x, y);" % (a, f),
            lambda: "long s = 0; for (long i = 0; i < (x & 3) + 1; i++) s += f%d(i, y) * f%d(s, i); return s + x;" % (f, g),
            lambda: "long n = (x & 15) + %d; char *p = __builtin_alloca(n); touch(p); return p[0] + f%d(n, y);" % (b, f),
            lambda: "if (x == 123456789) stop(x); return y + %d;" % a,
            lambda: "if (x == 123456789) stop(f%d(x, y)); sink = f%d(x, y); return sink - y;" % (f, g),
            lambda: "double d = x; d *= real(d, (double)y) + %d.5; return (long)d + f%d(x, y);" % (a, f),
            lambda: "struct big s = big_of(x, y); return s.v[%d] + f%d(y, s.v[1]);" % (c, f),
            lambda: "return table[(x + %d) & 7](x, y) + %d;" % (c, a),
            lambda: "return table[(x + %d) & 7](y, x);" % c,
            lambda: "return list(%d, x, y, f%d(y, x), 1.5);" % (3, f),
            lambda: "long a = f%d(x, 1), b = f%d(y, 2), c = f%d(a, b), d = a * b - c, e = a ^ c; sink = d; "
            "return many(a, b, c, d, e, x, y, a + x, b + y, c) + a + b + c + d + e + f%d(e, x);" % (f, g, f, g),
            lambda: "int ok; if (__builtin_add_overflow((int)x, (int)y, &ok)) __builtin_trap(); return ok;",
            lambda: "while (x > %d) { if (x & 1) sink += x; else if (y > x) return x + y; x >>= 1; } return x;" % c,
            lambda: "if (y & 1) { long t[4] = {x, y, %d, 3}; touch(t); return t[x & 3]; } return x;" % a,
            lambda: "_Alignas(64) char t[128]; touch(t); return t[3] + f%d(x, y);" % f,
        ]
        return self.chance.choice(kinds)()

    def text(self):
        lines = ["#include <stdarg.h>",
                 "typedef long function(long, long);", "struct big { long v[8]; };",
                 "volatile long sink; function *volatile table[8];",
                 "#define N __attribute__((noinline))",
                 "N void touch(void *p) { *(volatile char *)p = 1; }",
                 "N double real(double a, double b) { return a < b ? a * 0.5 : b + 1.25; }",
                 "N void stop(long x) { for (;;) sink = x; }",
                 "N long many(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) "
                 "{ sink = a; return a + b * c - d + e * f - g + h * i + j; }",
                 "N struct big big_of(long x, long y) { struct big s; for (int i = 0; i < 8; i++) s.v[i] = x * i + y; "
                 "return s; }",
                 "N long list(int n, ...) { va_list l; long s = 0; va_start(l, n); while (n-- > 0) s += va_arg(l, long); "
                 "va_end(l); return s; }",
                 "long __stack_chk_guard = 0x1234; N void __stack_chk_fail(void) { stop(1); }",
                 'void *memset(void *p, int c, unsigned long n) { char *t = p; while (n-- > 0) *t++ = (char)c; return p; }',
                 'void *memcpy(void *p, const void *q, unsigned long n) { char *t = p; const char *s = q; '
                 'while (n-- > 0) *t++ = *s++; return p; }',
                 '__asm__(".globl ___chkstk_darwin\\n___chkstk_darwin: ret");']
        for i in range(self.count):
            lines.append("N long f%d(long x, long y) { %s }" % (i, self.body(i) if i else "return x - y;"))
        lines.append("long run(void) { for (int i = 0; i < 8; i++) table[i] = f0; ")
        for i in range(self.count):
            lines.append("sink = f%d(%d, 3) + f%d(%d, -5) + f%d(0, 8);" % (i, i % 11, i, 40 + i, i))
        lines.append("return sink; } void start(void) { run(); sink = 0; }")
        return "\n".join(lines) + "\n"


class Image:
    """A Mach-O file as dyld would lay it out, with its own addresses."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.segments, self.sections = [], {}
        at = 32
        for _ in range(struct.unpack_from("<I", self.data, 16)[0]):
            command, size = struct.unpack_from("<II", self.data, at)
            if command == 0x19:
                addr, length, offset, stored = struct.unpack_from("<QQQQ", self.data, at + 24)
                self.segments.append((addr, length, self.data[offset:offset + stored]))
                for i in range(struct.unpack_from("<I", self.data, at + 64)[0]):
                    here = at + 72 + 80 * i
                    name = self.data[here:here + 16].rstrip(b"\0").decode()
                    self.sections[name] = struct.unpack_from("<QQ", self.data, here + 32)
            at += size


class Arm64:
    cputype, sp, pc, kept = 0x100000c, 31, 32, list(range(19, 30))

    def __init__(self):
        self.uc = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
        self.uc.ctl_set_cpu_model(a64.UC_CPU_ARM64_MAX)  # has retab; nothing is signed, since that is not switched on
        self.uc.reg_write(a64.UC_ARM64_REG_CPACR_EL1, 3 << 20)
        self.names = [a64.UC_ARM64_REG_X0 + i for i in range(29)] + [
            a64.UC_ARM64_REG_X29, a64.UC_ARM64_REG_X30, a64.UC_ARM64_REG_SP, a64.UC_ARM64_REG_PC]

    @staticmethod
    def kind(code):
        word = struct.unpack("<I", code)[0]
        if word >> 26 == 0x25 or word & 0xfefff800 in (0xd63f0000, 0xd63f0800):
            return "call"
        return "ret" if word & 0xfefff000 == 0xd65f0000 else ""

    def begin(self, sp, back):
        self.uc.reg_write(a64.UC_ARM64_REG_SP, sp)
        self.uc.reg_write(a64.UC_ARM64_REG_X30, back)

    def cfa(self):
        return self.uc.reg_read(a64.UC_ARM64_REG_SP)


class X86:
    cputype, sp, pc, kept = 0x1000007, 7, 16, [3, 6, 12, 13, 14, 15]

    def __init__(self):
        self.uc = unicorn.Uc(unicorn.UC_ARCH_X86, unicorn.UC_MODE_64)
        self.names = [getattr(x86, "UC_X86_REG_" + n) for n in
                      "RAX RDX RCX RBX RSI RDI RBP RSP R8 R9 R10 R11 R12 R13 R14 R15 RIP".split()]

    @staticmethod
    def kind(code):
        plain = code.lstrip(b"\x40\x41\x42\x43\x66")
        if plain[:1] == b"\xe8" or plain[:1] == b"\xff" and plain[1] >> 3 & 7 == 2:
            return "call"
        return "ret" if plain[:1] == b"\xc3" else ""

    def begin(self, sp, back):
        self.uc.mem_write(sp - 8, struct.pack("<Q", back))
        self.uc.reg_write(x86.UC_X86_REG_RSP, sp - 8)

    def cfa(self):
        return self.uc.reg_read(x86.UC_X86_REG_RSP) + 8


class Run:
    """outlined: where pieces of several functions are that clang -Oz calls. They may write what a call keeps, the stack
    pointer too, so that of their frames only the return address is true."""

    def __init__(self, image, machine, out, outlined):
        self.outlined = outlined
        self.machine, self.uc, self.out, self.image = machine, machine.uc, out, image
        self.frames, self.before, self.kinds, self.seen = [], None, {}, {}
        self.count, self.last = 0, ({}, {})

    def registers(self):
        return [self.uc.reg_read(n) for n in self.machine.names]

    def depth(self):
        """How many frames are above the first one that neither is a piece's nor was called by one."""
        depth = 0
        while depth + 2 < len(self.frames) and (
                self.frames[-1 - depth][3] in self.outlined or self.frames[-2 - depth][3] in self.outlined):
            depth += 1
        return depth

    def write(self, pc, depth):
        v = self.registers()
        v[self.machine.pc] = pc
        cfa, back, saved, _ = self.frames[-1 - depth]
        sp = v[self.machine.sp]
        ranges = [(sp, min(cfa + 16, sp + 512))]
        if ranges[0][1] < cfa + 16:
            ranges.append((max(cfa - 256, ranges[0][1]), cfa + 16))
        want = dict(zip(self.machine.kept, saved))
        want.update({self.machine.sp: cfa, self.machine.pc: back})
        for now, last in ((dict(enumerate(v)), self.last[0]), (want, self.last[1])):
            changed = sorted(n for n in now if now[n] != last.get(n, 0))
            self.out.write(struct.pack("<Q%dQ" % len(changed), sum(1 << n for n in changed), *(now[n] for n in changed)))
            last.update(now)
        between = [frame[1] for frame in self.frames[:-1 - depth:-1]]
        self.out.write(struct.pack("<B%dQB" % depth, depth, *between, len(ranges)))
        for lo, hi in ranges:
            self.out.write(struct.pack("<QI", lo, hi - lo))
            self.out.write(bytes(self.uc.mem_read(lo, hi - lo)))
        self.count += 1

    def hook(self, uc, pc, size, _):
        kind = self.before and self.kinds[self.before[0]]
        if kind == "call":
            saved = [uc.reg_read(self.machine.names[n]) for n in self.machine.kept]
            self.frames.append((self.machine.cfa(), self.before[0] + self.before[1], saved, pc))
        elif kind == "ret":
            cfa, back, _, entry = self.frames.pop()
            sp = uc.reg_read(self.machine.names[self.machine.sp])
            if back != pc or (sp != cfa and entry not in self.outlined):
                print("the call log is wrong at %#x" % pc)
                uc.emu_stop()
        if pc not in self.kinds:
            self.kinds[pc] = self.machine.kind(bytes(uc.mem_read(pc, size)))
        self.before = (pc, size)
        visits = self.seen.get(pc, 0)
        if visits < VISITS and len(self.frames) > 1:
            self.seen[pc] = visits + 1
            self.write(pc, self.depth())

    def go(self, start):
        lo, end = STACK, STACK + STACK_SIZE
        self.uc.mem_map(lo, STACK_SIZE)
        self.uc.mem_map(OUT, 0x1000)
        for addr, length, data in self.image.segments:
            if addr:  # not __PAGEZERO
                self.uc.mem_map(addr, -(-length // 0x1000) * 0x1000)
                self.uc.mem_write(addr, data)
        self.machine.begin(end - 0x1000, OUT)
        self.frames.append((end - 0x1000, OUT, [0] * len(self.machine.kept), start))
        self.uc.hook_add(unicorn.UC_HOOK_CODE, self.hook)
        try:
            self.uc.emu_start(start, OUT)
        except unicorn.UcError as error:
            sys.exit("%s at %#x" % (error, self.before[0]))


def main():
    if unicorn is None:
        sys.exit(77)
    count, seed, folder, arch = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
    with open(folder + "/steps_made.c", "w", encoding="ascii") as file:
        file.write(Source(count, seed).text())
    program = folder + "/steps_made.out"
    subprocess.run(["clang-22", "--target=%s-apple-macos11" % arch, "-ffreestanding", "-funwind-tables", "-w", "-c", "-o", program + ".o",
                    folder + "/steps_made.c"] + sys.argv[5:], check=True)
    subprocess.run(["ld64.lld-22", "-arch", arch, "-platform_version", "macos", "11", "11", "-no_fixup_chains",
                    "-e", "_start", "-o", program, program + ".o"], check=True)
    image = Image(program)
    symbols = subprocess.run(["llvm-nm-22", program], capture_output=True, text=True, check=True).stdout
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in symbols.splitlines() if " U " not in line}
    outlined = {addr for name, addr in symbols.items() if name.startswith("_OUTLINED_")}
    machine = X86() if arch == "x86_64" else Arm64()
    with io.BytesIO() as out, open(folder + "/trace", "wb") as packed:
        text = [s for s in image.segments if s[0]][0]  # not __PAGEZERO
        out.write(struct.pack("<IQQQQQQ", machine.cputype, text[0], len(text[2]),
                              *(image.sections.get("__unwind_info", (0, 0)) + image.sections.get("__eh_frame", (0, 0)))))
        out.write(text[2])
        run = Run(image, machine, out, outlined)
        run.go(symbols["_start"])
        packed.write(struct.pack("<I", out.tell()) + zlib.compress(out.getvalue(), 9))
    print("%s %s: %d functions, %d instructions, %d steps" % (arch, " ".join(sys.argv[5:]), count, len(run.seen), run.count))
    return 0


if __name__ == "__main__":
    sys.exit(main())
