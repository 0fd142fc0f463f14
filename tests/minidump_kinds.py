#!/usr/bin/env python3
"""Minidumps of each kind of exception, of other systems, and hostile ones, by the writer of tests/minidump.py.
usage: minidump_kinds.py FOLDER"""
import struct
import sys

sys.path.insert(0, "tests")
import core as cores  # noqa: E402
import minidump as md  # noqa: E402

folder = sys.argv[1]
TRAP, PLAY, BLOCK, MAIN = md.STACK
ANNOTATED = "00000000-0000-0000-0000-000000000000"


def save(name, dump):
    with open("%s/%s.dmp" % (folder, name), "wb") as file:
        file.write(bytes(dump.data))


def start(streams=8, platform=md.MAC, processor=md.ARM64):
    dump = md.Dump(streams)
    dump.system(processor, platform, (14, 3, 1), "23D60")
    dump.modules([dump.module(md.LOAD, 0x4000, "/Applications/demo", md.UUID),
                  dump.module(0x1B0000000, 0x90000, "/usr/lib/system/libsystem_c.dylib", "00010203-0405-0607-0809-0A0B0C0D0E0F")])
    return dump


def one_thread(dump, exception=None, **more):
    """The demo's stack, and an exception: number, flags, address, information."""
    stack, fp = md.frames([PLAY, BLOCK, MAIN])
    context = md.arm64({"pc": TRAP, "sp": md.STACK_BASE, "fp": fp, **more})
    dump.threads([dump.thread(771, context, (md.STACK_BASE, stack))])
    if exception is not None:
        dump.exception(771, *exception, context)


# Crashpad: the number that the kernel told and its codes are the parameters; in EXC_CRASH, 10, the first code has what it came from.
dump = start()
one_thread(dump, (0, 0, TRAP, [10, 6 << 24, 0]))
dump.crashpad(ANNOTATED, ANNOTATED, [], [(1, ["abort() called"], [], [])])
save("abort", dump)
dump = start()
one_thread(dump, (1, 1, 0x10, [10, 11 << 24 | 1 << 20 | 1, 0x10]))
save("wrapped", dump)
dump = start()
one_thread(dump, (6, 1, TRAP, [6, 1, TRAP]))
save("trap", dump)
dump = start()  # the upper half of the code, which the flags have room for
one_thread(dump, (12, 0x40000001, TRAP, [12, 0x4000000100000002, 7]))
save("guard", dump)
dump = start()
one_thread(dump, (5, 0x10003, TRAP, [5, 0x10003, 6]))
save("signal", dump)
dump = start()
one_thread(dump, (0x43507378, 0, TRAP, [0x43507378, 0, 0]))
save("simulated", dump)
dump = start()
one_thread(dump, (0x43506E78, 0, TRAP, [0x43506E78, 0, 0]))
dump.crashpad(ANNOTATED, ANNOTATED, [], [(0, [], [], [("exceptionName", 1, "NSRangeException"), ("exceptionReason", 1, "index 7 beyond bounds")])])
save("thrown", dump)

for name, event in (("illegal", (2, 1, TRAP, [2, 1, TRAP])), ("arithmetic", (3, 1, TRAP, [3, 1, TRAP])), ("intel", (1, 13, TRAP, [1, 13, 0])),
                    ("resource", (11, 3, TRAP, [0x3000000000000064, 0x50]))):  # Breakpad: the codes alone
    dump = start()
    one_thread(dump, event)
    dump.names([(1, "of no thread"), (771, "a\U0001F600b")])
    save(name, dump)

# No exception: Breakpad tells who asked for the dump.
dump = start()
contexts = [md.arm64({"pc": pc}) for pc in (TRAP, PLAY)]
dump.threads([dump.thread(771 + i, context) for i, context in enumerate(contexts)])
dump.breakpad(1, 772)
save("asked", dump)

# A call of an address without code: the caller is where calls leave it.
dump = start()
stack, fp = md.frames([BLOCK, MAIN])
context = md.arm64({"pc": 0x10, "sp": md.STACK_BASE, "fp": fp, "lr": PLAY | 0x51 << 56})
dump.threads([dump.thread(771, context, (md.STACK_BASE, stack))])
dump.exception(771, 1, 1, 0x10, [1, 1, 0x10], context)
save("nowhere", dump)
dump = start(processor=md.AMD64)
context = md.x86_64({"rip": 0x10, "rsp": md.STACK_BASE, "rbp": fp})
dump.threads([dump.thread(771, context, (md.STACK_BASE, struct.pack("<Q", PLAY) + stack[8:]))])
dump.exception(771, 1, 1, 0x10, [1, 1, 0x10], context)
save("nowhere-x86", dump)

# A call of a plug-in that was unloaded. Others were where a library is now, at one place, or have no path; one was there twice.
PLUGIN = 0x1C0000000
gone = [(PLUGIN, 0x10000, "/Applications/plug in.dylib"), (0x1AFFFF000, 0x2000, "/before.dylib"), (0x1B0088000, 0x10000, "/after.dylib"),
        (0x1D0000000, 0x2000, "/left.dylib"), (0x1D0001000, 0x2000, "/right.dylib"), (PLUGIN, 0x10000, "/Applications/plug in.dylib"),
        (0x1E0000000, 0x1000, ""), (0x1F0000000, 0, "/empty.dylib"), (0xFFFFFFFFFFFFF000, 0x2000, "/last.dylib")]
for name, more in (("unloaded", {}), ("unloaded-newer", {"header": 20, "size": 40})):
    dump = start()
    stack, fp = md.frames([BLOCK, PLUGIN + 0x40, MAIN])
    context = md.arm64({"pc": PLUGIN + 0x1234, "sp": md.STACK_BASE, "fp": fp, "lr": PLAY})
    dump.threads([dump.thread(771, context, (md.STACK_BASE, stack))])
    dump.exception(771, 1, 1, PLUGIN + 0x1234, [1, 1, PLUGIN + 0x1234], context)
    dump.unloaded(gone, **more)
    save(name, dump)
for name, at in (("below", PLUGIN - 1), ("first", PLUGIN), ("end", PLUGIN + 0xFFFF), ("past", PLUGIN + 0x10000)):
    dump = start()
    one_thread(dump, (1, 1, at, [1, 1, at]))
    dump.unloaded(gone)
    save("unloaded-" + name, dump)
dump = start()  # a thread there that did not crash: the call had no effect
context = md.arm64({"pc": PLUGIN + 0x1234, "sp": md.STACK_BASE, "fp": fp, "lr": PLAY})
dump.threads([dump.thread(771, context, (md.STACK_BASE, stack))])
dump.memory([(PLAY - 4, struct.pack("<I", 0xD63F0100))])  # blr x8
dump.unloaded(gone)
save("unloaded-asleep", dump)
for name, at, value in (("count", 8, 1 << 31), ("header", 0, 8), ("record", 4, 20)):
    dump = start()
    one_thread(dump)
    dump.unloaded(gone)
    entry = next(32 + 12 * i for i in range(dump.count) if struct.unpack_from("<I", dump.data, 32 + 12 * i)[0] == md.UNLOADED)
    struct.pack_into("<I", dump.data, struct.unpack_from("<I", dump.data, entry + 8)[0] + at, value)
    save("unloaded-" + name, dump)

# The thread that crashed is not in the list.
dump = start()
dump.threads([dump.thread(771 + i, context) for i, context in enumerate(contexts)])
dump.exception(900, 1, 1, 8, [1, 1, 8], contexts[0])
save("lost", dump)

# Texts that look like what a report consists of.
dump = start()
one_thread(dump, (1, 1, 8, [1, 1, 8]))
frame = "0   demo 0x0000000102a30a7c 0x102a30000 + 2684"
dump.names([(771, "n\n" + frame)])
dump.modules([dump.module(md.LOAD, 0x4000, "/x\nThread 0 Crashed:", md.UUID)])
struct.pack_into("<I", dump.data, 32 + 12, 0)  # the list of images that was there first is of no kind now
dump.crashpad(ANNOTATED, ANNOTATED, [(frame, frame), ("Thread 0 Crashed:", "\r" + frame)],
              [(0, ["Thread 7 Crashed:", frame, "[  0] 4C4C44B5-5555-3144-A1BA-79CA685DEC58 0x1 /x", "Crashed: 0", "\t" + frame,
                    "0x1 - 0x2 x arm64 <4c4c44b555553144a1ba79ca685dec58> /x", "\n\n" + frame, "12 x (in y) + 1 [0x102a30a7c]"], [], [])])
save("hostile", dump)

# Other systems and processors.
for name, platform, version, path, code in (("linux", md.LINUX, (6, 1, 0), "/lib/libc.so.6", 11),
                                            ("windows", md.NT, (10, 0, 19045), "C:\\Windows\\ntdll.dll", 0xC0000005)):
    dump = md.Dump(4)
    dump.system(md.AMD64, platform, version, "")
    program = "C:\\app\\app.exe" if platform == md.NT else "/usr/bin/app"
    more = [(0x7FFB00000000, r"\\server\share\net.dll"), (0x7FFC00000000, r"ab\cd.dll")] if platform == md.NT else []
    of_pe = {"uuid": md.UUID} if platform == md.NT else {"record": b"LEpB" + bytes(20)}
    dump.modules([dump.module(0x7FF600000000, 0x8000, program, md.UUID), dump.module(0x7FFA00000000, 0x90000, path, **of_pe)] +
                 [dump.module(base, 0x1000, name, **of_pe) for base, name in more])
    context = md.x86_64({"rip": 0x7FF600001234, "rsp": md.STACK_BASE, "rbp": 0})
    dump.threads([dump.thread(1, context, (md.STACK_BASE, bytes(64)))])
    dump.exception(1, code, 0, 0x7FF600001234, [], context)
    save(name, dump)
dump = start(processor=0)
dump.threads([dump.thread(1, struct.pack("<I", 0x10007).ljust(716, b"\0"))])
save("i386", dump)

# Memory: a stack that goes round, ranges that overlap, one list of large ranges.
dump = start()
raw, fp = md.frames([PLAY, BLOCK, MAIN, PLAY, BLOCK])
raw = bytearray(raw)
struct.pack_into("<Q", raw, len(raw) - 0x30, fp)
context = md.arm64({"pc": TRAP, "sp": md.STACK_BASE, "fp": fp})
dump.threads([dump.thread(1, context, (md.STACK_BASE, bytes(raw)))])
save("loop", dump)
dump = start()
raw, fp = md.frames([PLAY, BLOCK, MAIN])
context = md.arm64({"pc": TRAP, "sp": md.STACK_BASE, "fp": fp})
dump.threads([dump.thread(1, context)])
dump.memory([(md.STACK_BASE + 0x40, raw[0x40:]), (md.STACK_BASE, raw[:0x50]), (md.STACK_BASE + 0x8, raw[0x8:0x20]), (0, bytes(16))])
save("overlap", dump)
dump = start()
dump.threads([dump.thread(1, context)])
dump.memory64([(0x1000, bytes(32)), (md.STACK_BASE, raw)])
save("memory64", dump)

dump = start()
dump.threads([dump.thread(1, context, (md.STACK_BASE, raw))])
dump.memory([(0xFFFFFFFFFFFFFFF8, bytes(16))])
save("last", dump)
dump = start()
dump.modules([dump.module(0xFFFFFFFFFFFFF000, 0x4000, "/x", md.UUID)])
struct.pack_into("<I", dump.data, 32 + 12, 0)
dump.threads([dump.thread(1, context, (md.STACK_BASE, raw))])
save("last-image", dump)
dump = start()
dump.threads([dump.thread(1, context)])
dump.memory64([(md.STACK_BASE, raw)])
struct.pack_into("<Q", dump.data, dump.data.rindex(struct.pack("<QQ", md.STACK_BASE, len(raw))) - 16, 1 << 40)
save("memory64-count", dump)

# Threads that share their registers and a stack of many frames.
dump = start()
raw, fp = md.frames([PLAY] * 600, gap=0)
where = struct.pack("<Q", md.STACK_BASE) + dump.located(raw)
registers = dump.located(md.arm64({"pc": TRAP, "sp": md.STACK_BASE, "fp": fp}))
dump.threads([struct.pack("<IIIIQ", i, 0, 0, 0, 0) + where + registers for i in range(2000)])
save("many", dump)

# ---- Core files ----


def save_core(name, cpu, traps, memory=(), notes=(), pc=TRAP):
    """A thread a trap, each with the demo's stack."""
    raw, fp = md.frames([PLAY, BLOCK, MAIN])
    values = {"pc": pc, "sp": md.STACK_BASE, "fp": fp, "lr": PLAY, "rip": pc, "rsp": md.STACK_BASE, "rbp": fp}
    program = cores.image(cpu, cores.EXECUTE, md.UUID, 0x4000)
    content = cores.core(cpu, [cores.state(cpu, values, trap) for trap in traps], [(md.LOAD, program), (md.STACK_BASE, raw)] + list(memory), notes)
    with open("%s/%s.core" % (folder, name), "wb") as file:
        file.write(content)
    return content


CALM = (0, 0x56000080)
save_core("brk", cores.ARM64, [CALM, (0, 0xF2000001)])
save_core("state", cores.ARM64, [(0, 0x3A000000), CALM])
save_core("nowhere", cores.ARM64, [(0x10, 0x82000006), CALM], pc=0x10)
save_core("two", cores.ARM64, [(8, 0x92000006), (8, 0x92000006)])
save_core("none", cores.ARM64, [None, CALM])
save_core("x86-int3", cores.X86_64, [(0, 133, 0), (0, 3, 0)])
save_core("x86-ud2", cores.X86_64, [(0, 6, 0), (0, 0, 0)])
save_core("x86-gp", cores.X86_64, [(0, 13, 0)])
save_core("last", cores.ARM64, [CALM], [(0xFFFFFFFFFFFFFFF8, bytes(16))])
save_core("spec", cores.ARM64, [CALM], notes=[("main bin spec", cores.main_bin_spec(md.UUID, 0xFFFFFFFFFFFFFFFF)), ("main bin spec", lambda at: b"short")])
save_core("program", cores.ARM64, [CALM], notes=[("main bin spec", cores.main_bin_spec("21222324-2526-2728-292a-2b2c2d2e2f30", md.LOAD + 0x10000))])  # known from nothing else
content = bytearray(save_core("processor", cores.ARM64, [CALM]))
struct.pack_into("<I", content, 4, 7)
with open(folder + "/processor.core", "wb") as file:
    file.write(content)
