"""C++ that throws, and what a C++ runtime does for it: the next frame with a landing pad, and its landing pad (the tables of
__gcc_except_tab, as the Itanium ABI for exceptions and LLVM's documentation describe them). An emulator runs the programs; the frames to
land in are those of its call log, so that no unwinder has a part in it."""
import random
import re
import struct
import subprocess

import stacks as st

# The runtime: raise_it never returns, because the emulator goes to a landing pad there. Types are told apart by chance, not by their names.
RUNTIME = """
extern "C" {
typedef long function(long, long);
extern volatile long sink;
void touch(void *);
long through(function *f, long x, long y);
struct type { void *v[2]; };
#define N __attribute__((noinline))
N void raise_it(void) { for (;;) sink = 1; }
N void __cxa_throw(void *p, type *, void (*)(void *)) { long t[3]; touch(t); sink = (long)p; raise_it(); }
N void _Unwind_Resume(void *p) { sink = (long)p; raise_it(); sink = 2; }
N void __cxa_rethrow(void) { long t[9]; touch(t); raise_it(); sink = 3; }
char exception[64];
N void *__cxa_allocate_exception(unsigned long) { return exception; }
N void *__cxa_begin_catch(void *p) { sink = 4; return p; }
N void __cxa_end_catch(void) { sink = 5; }
int __gxx_personality_v0(...) { return 0; }
}
N void ended() __asm__("__ZSt9terminatev");
void ended() { for (;;) sink = 6; }
__asm__(".data\\n.globl __ZTIi, __ZTIl, __ZTId\\n__ZTIi:\\n__ZTIl:\\n__ZTId: .quad 0\\n.text");
struct guard { long v; N guard(long x); N ~guard(); };
guard::guard(long x) : v(x) { sink = x; }
guard::~guard() { long t[4]; touch(t); sink = v; }
template <class T> struct holder { T v[3]; holder(T x) { v[0] = x; touch(v); } ~holder() { touch(v); sink = (long)v[0]; } };
extern "C" {
"""


def source(count, functions, seed, runtime=RUNTIME):
    """g0 to g(count - 1), which call those before them and the C functions f0 to f(functions - 1). runtime ends within extern "C"."""
    pick = random.Random(seed).randrange
    lines = [runtime] + ["long f%d(long, long);" % i for i in range(functions)]
    for i in range(count):
        f = pick(functions)
        if i == 0:
            lines.append("N long g0(long x, long y) { if (((x ^ y) & 3) != 2) throw (int)x; return f%d(x, y); }" % f)
            continue
        g, h = i - 1 - pick(min(i, 4)), pick(max(1, i * 2 // 3))
        kind = [
            "guard a(x); return g%d(x, y) + a.v;" % g,
            "try { return g%d(x, y) + 1; } catch (int v) { return v + f%d(y, x); }" % (g, f),
            "try { return g%d(y, x) + 1; } catch (...) { sink = f%d(x, y); throw; }" % (g, f),
            "if ((x + y) %% %d) throw (long)x; return g%d(x, y);" % (2 + pick(3), g),
            "guard a(x), b(y); long t[%d]; touch(t); return g%d(t[1], y) + g%d(x, a.v) + b.v;" % (8 + pick(600), g, h),
            "long n = (x & 31) + 9; char *p = (char *)__builtin_alloca(n); touch(p); guard a(p[0]); return g%d(n, y) + p[1];" % g,
            "try { guard a(x); try { return g%d(x, y) * 3; } catch (long v) { guard b(v); return g%d(v, y); } } "
            "catch (double v) { return (long)v; } catch (...) { guard c(y); return f%d(y, y); }" % (g, h, f),
            "for (long i = 0; i < 3; i++) { try { sink = g%d(i, y); } catch (int v) { sink = v; } catch (long) { continue; } } return sink;" % g,
            "holder<double> a((double)x); holder<long> b(y); return through(g%d, x, y) + through(f%d, b.v[0], y);" % (g, f),
            "return through(g%d, y, x + %d);" % (g, pick(9)),
            "try { throw 1.5; } catch (double) { return g%d(x, y); }" % g,
            "_Alignas(64) char t[128]; touch(t); guard a(t[2]); return through(g%d, x, t[1]);" % g,
        ][pick(12)]
        lines.append("N long g%d(long x, long y) { %s }" % (i, kind.replace("_Alignas", "alignas")))
    lines.append("N long throws(long x, long y) { long s = 0;")
    for i in range(count):
        lines.append("try { s += g%d(x + %d, y); } catch (...) { s += sink; }" % (i, i))
    return "\n".join(lines) + "\nreturn s; } }\n"


def uleb(raw, at):
    value, shift = 0, 0
    while True:
        value |= (raw[at] & 0x7F) << shift
        shift += 7
        at += 1
        if raw[at - 1] < 0x80:
            return value, at, shift


def sleb(raw, at):
    value, at, shift = uleb(raw, at)
    return (value - (1 << shift) if value >> (shift - 1) & 1 else value), at


class Pads:
    """The landing pads of a program's functions."""

    def __init__(self, program, symbols):
        self.program, self.starts, self.tables = program, sorted(set(symbols.values())), {}
        text = subprocess.run(["llvm-objdump-22", "--unwind-info", program.path], capture_output=True, text=True, check=True).stdout
        for function, table in re.findall(r"\]: function offset=(0x[0-9a-f]+), LSDA offset=(0x[0-9a-f]+)", text):
            self.tables[program.base + st.SLIDE + int(function, 16)] = int(table, 16)
        self.content = [content for name, _, _, content in program.segments if name == "__TEXT"][0]

    def find(self, back, rng):
        """(landing pad, selector) of the call that returns to an address, or None. Which of several types is caught is a matter of chance."""
        start = max(one for one in self.starts if one < back)
        if start not in self.tables:
            return None
        raw, at = self.content, self.tables[start]
        assert raw[at] == 0xFF, "landing pads are offsets in their function"
        types, at = raw[at + 1], at + 2
        if types != 0xFF:
            length, at, _ = uleb(raw, at)
            types = at + length
        kind, (length, at, _) = raw[at], uleb(raw, at + 1)
        actions, off = at + length, back - 1 - start
        while at < actions:
            fields = []
            for _ in range(3):
                if kind == 1:
                    value, at, _ = uleb(raw, at)
                else:
                    value, at = struct.unpack_from("<I", raw, at)[0], at + 4
                fields.append(value)
            action, at, _ = uleb(raw, at)
            if fields[0] <= off < fields[0] + fields[1]:
                selector = self.choose(raw, actions, action, types, rng) if fields[2] else None
                return None if selector is None else (start + fields[2], selector)
        return None

    @staticmethod
    def choose(raw, actions, action, types, rng):
        if action == 0:
            return 0
        at, cleanup = actions + action - 1, False
        while True:
            select, at = sleb(raw, at)
            step, _ = sleb(raw, at)
            cleanup |= select == 0
            if select > 0 and (not any(raw[types - 4 * select:types - 4 * select + 4]) or rng.random() < 0.5):
                return select
            if step == 0:
                return 0 if cleanup else None
            at += step


class Runtime:
    """Throws; step is called before each instruction, land after what is done at it. flying: whether an exception is between its throw and its catch."""

    def __init__(self, program, symbols, seed):
        self.program, self.pads, self.rng, self.flying, self.seed = program, Pads(program, symbols), None, False, seed
        self.at = {name: symbols[symbol] for name, symbol in (("throw", "___cxa_throw"), ("rethrow", "___cxa_rethrow"), ("raise", "_raise_it"),
                                                              ("catch", "___cxa_begin_catch"))}
        program.keeps = True

    def begin(self):
        self.rng, self.flying = random.Random(self.seed), False

    def step(self, mu, address):
        if address in (self.at["throw"], self.at["rethrow"]):
            self.flying = True
        elif address == self.at["catch"]:
            self.flying = False

    def land(self, mu, address):
        """Goes to a landing pad if an exception is raised at the address."""
        if address != self.at["raise"]:
            return
        shadow = self.program.shadow
        while shadow:
            back, sp, saved = shadow.pop()
            pad = self.pads.find(back, self.rng)
            if pad is not None:
                break
        arm = self.program.cpu == st.cores.ARM64
        at = st.registers(arm)
        for name, value in zip(st.kept_of(arm), saved):
            mu.reg_write(at[name], value)
        mu.reg_write(at["sp"], sp)
        mu.reg_write(at["x0" if arm else "rax"], 0x500)
        mu.reg_write(at["x1" if arm else "rdx"], pad[1])
        mu.reg_write(at["pc"], pad[0])
