#!/usr/bin/env python3
"""Core files of macOS, of the demo program and of a generator, written from the documented layout: mach-o/loader.h,
mach-o/dyld_images.h, the thread states of mach, lldb.llvm.org on notes of core files. Nothing is copied.
usage: core.py FOLDER: writes the samples of tests/fixtures/services there"""
import struct
import sys

sys.path.insert(0, "tests")
sys.path.insert(0, "tests/fixtures/tool")
import minidump as md  # noqa: E402

CORE, EXECUTE, DYLIB, DYLINKER = 4, 2, 6, 7
ARM64, X86_64 = 0x0100000C, 0x01000007
X86_ORDER = ["rax", "rbx", "rcx", "rdx", "rdi", "rsi", "rbp", "rsp"] + ["r%d" % i for i in range(8, 16)] + ["rip", "rfl"]
ARM_ORDER = ["x%d" % i for i in range(29)] + ["fp", "lr", "sp", "pc"]


def name16(text):
    return text.encode().ljust(16, b"\0")


def command(kind, content):
    content += bytes(-len(content) % 8)
    return struct.pack("<II", kind, 8 + len(content)) + content


def segment(name, address, size, offset=0, length=0, sections=()):
    """sections: (name, address)"""
    content = name16(name) + struct.pack("<QQQQIIII", address, size, offset, length, 5, 5, len(sections), 0)
    for section, where in sections:
        content += name16(section) + name16(name) + struct.pack("<QQ8I", where, 16, *[0] * 8)
    return command(0x19, content)


def header(cpu, kind, commands, subtype=0):
    raw = b"".join(commands)
    return struct.pack("<IIIIIIII", 0xFEEDFACF, cpu, subtype, kind, len(commands), len(raw), 0, 0) + raw


def image(cpu, kind, uuid, size, path=None, preferred=0x100000000, sections=()):
    """The header of an image as it lies in memory."""
    commands = [segment("__TEXT", preferred, size), command(0x1B, bytes.fromhex(uuid.replace("-", "")))]
    if path and kind == DYLINKER:
        commands.append(command(0xF, struct.pack("<I", 12) + path.encode() + b"\0"))
    elif path:
        commands.append(command(0xD, struct.pack("<IIII", 24, 0, 0, 0) + path.encode() + b"\0"))
    if sections:
        commands.append(segment("__DATA", preferred + size, 0x1000, sections=sections))
    return header(cpu, kind, commands)


def state(cpu, registers, trap=None, unified=False):
    """An LC_THREAD. trap: far and esr, or cr2, the number of the trap, and its error code."""
    if cpu == ARM64:
        raw = struct.pack("<33QII", *[registers.get(name, 0) for name in ARM_ORDER], registers.get("cpsr", 0x60001000), 0)
        states = [(6, raw)] + ([(7, struct.pack("<QII", *trap, 0))] if trap else [])
    else:
        raw = struct.pack("<18Q3Q", *[registers.get(name, 0) for name in X86_ORDER], 0x2B, 0, 0)
        states = [(4, raw)] + ([(6, struct.pack("<HHIQ", trap[1], 0, trap[2], trap[0]))] if trap else [])
    content = b""
    for flavor, raw in states:
        if unified:
            outer = {(ARM64, 6): 1, (X86_64, 4): 7, (X86_64, 6): 9}.get((cpu, flavor))
            if outer:
                raw, flavor = struct.pack("<II", flavor, len(raw) // 4) + raw, outer
        content += struct.pack("<II", flavor, len(raw) // 4) + raw
    return command(4, content)


def core(cpu, threads, memory, notes=()):
    """memory: (address, bytes). notes: (name, a function that makes the bytes of where they begin in the file)."""
    size = 32 + sum(map(len, threads)) + 72 * len(memory) + 40 * len(notes)
    at, commands, tail = size, list(threads), b""
    for address, raw in memory:
        commands.append(segment("", address, len(raw), at + len(tail), len(raw)))
        tail += raw
    for name, make in notes:
        raw = make(at + len(tail))
        commands.append(command(0x31, name16(name) + struct.pack("<QQ", at + len(tail), len(raw))))
        tail += raw
    return header(cpu, CORE, commands) + tail


def all_image_infos(images):
    """images: (address, path, UUID)"""
    def make(at):
        paths, raw = b"", b""
        first = at + 24 + 48 * len(images)
        for address, path, uuid in images:
            raw += struct.pack("<Q", first + len(paths)) + bytes.fromhex(uuid.replace("-", "")) + struct.pack("<QQII", address, 0, 0, 0)
            paths += path.encode() + b"\0"
        return struct.pack("<IIQII", 1, len(images), at + 24, 48, 0) + raw + paths
    return make


def main_bin_spec(uuid, address):
    raw = struct.pack("<IIQ", 1, 2, address) + bytes.fromhex(uuid.replace("-", "")) + struct.pack("<II", 14, 1)
    return lambda at: raw


def load_binary(uuid, address, name):
    raw = struct.pack("<I", 1) + bytes.fromhex(uuid.replace("-", "")) + struct.pack("<QQ", address, 0) + name.encode() + b"\0"
    return lambda at: raw


APP = "/Applications/Demo Player.app/Contents/MacOS/demo"
DYLD_BASE, LIST, DYLD_UUID = 0x1B0000000, 0x1B0093000, "00010203-0405-0607-0809-0A0B0C0D0E0F"


def demo_threads():
    """The second one reads from 0x8; the first one called the kernel."""
    trap, play, block, main = md.STACK
    stack, fp = md.frames([play, block, main])
    other, other_fp = md.frames([block, main], md.STACK_BASE + 0x10000)
    threads = [state(ARM64, {"pc": play, "sp": md.STACK_BASE + 0x10000, "fp": other_fp}, (0, 0x56000080)),
               state(ARM64, {"pc": trap, "sp": md.STACK_BASE, "fp": fp, "lr": play}, (8, 0x92000006))]
    return threads, [(md.STACK_BASE, stack), (md.STACK_BASE + 0x10000, other)]


def noted():
    """As lldb saves one: a note lists the images."""
    threads, memory = demo_threads()
    memory.insert(0, (md.LOAD, image(ARM64, EXECUTE, md.UUID, 0x4000)))
    return core(ARM64, threads, memory, [("all image infos", all_image_infos([(md.LOAD, APP, md.UUID), (DYLD_BASE, "/usr/lib/dyld", DYLD_UUID)]))])


def linked():
    """As the kernel writes one: the dynamic linker's own list in memory tells the images."""
    threads, memory = demo_threads()
    dyld = image(ARM64, DYLINKER, DYLD_UUID, 0x90000, "/usr/lib/dyld", preferred=0, sections=[("__all_image_info", LIST - DYLD_BASE)])
    path = LIST + 0x100
    info = struct.pack("<IIQ", 15, 1, LIST + 0x40).ljust(0x40, b"\0") + struct.pack("<QQQ", md.LOAD, path, 0)
    memory = [(md.LOAD, image(ARM64, EXECUTE, md.UUID, 0x4000)), (DYLD_BASE, dyld),
              (LIST, info.ljust(0x100, b"\0") + APP.encode() + b"\0")] + memory
    return core(ARM64, threads, memory)


def main(folder):
    for name, content in (("noted.core", noted()), ("linked.core", linked())):
        with open("%s/%s" % (folder, name), "wb") as file:
            file.write(content)


if __name__ == "__main__":
    main(sys.argv[1])
