#!/usr/bin/env python3
"""Stacks of programs of our own, which an emulator (unicorn) runs: where it is at every instruction, and who called. Such a
moment becomes a minidump or a core file, whose frames are known.
usage: stacks.py TOOL FOLDER LLDB's-folder-of-Python-modules (may be empty)
       stacks.py samples FOLDER: writes the samples beside this file, and prints their frames"""
import json
import os
import random
import struct
import subprocess
import sys

try:
    import unicorn
except ImportError:  # who takes only what builds and writes
    unicorn = None

sys.path.insert(0, "tests")
import core as cores  # noqa: E402
import minidump as md  # noqa: E402

STACK_TOP, STACK_SIZE, SLIDE = 0x16FE00000, 0x20000, 0x2340000
ARM_NAMES = ["x%d" % i for i in range(29)] + ["fp", "lr", "sp", "pc"]
BUILDS = [(arch, flags) for arch in ("arm64", "x86_64") for flags in
          ("-O0", "-O1", "-O2", "-Os", "-O2 -fomit-frame-pointer", "-Os -fomit-frame-pointer", "-Oz -moutline -fomit-frame-pointer",
           "-Oz -moutline")
          if arch == "arm64" or "-moutline" not in flags]


def build(folder, arch, flags, source="tests/stacks/calls.c"):
    path = os.path.join(folder, "%s%s" % (arch, flags.replace(" ", "")))
    subprocess.run(["clang-22", "-target", arch + "-apple-macos11", "-g", "-funwind-tables", *flags.split(), "-ffreestanding", "-fno-stack-protector",
                    "-c", source, "-o", path + ".o"], check=True)
    subprocess.run(["ld64.lld-22", "-arch", arch, "-platform_version", "macos", "11", "11", "-e", "_main", "-o", path, path + ".o"],
                   check=True)
    return path


class Program:
    """A Mach-O file: where its segments are, its UUID, its functions. shadow, while it runs: of each call the return address, the
    stack pointer, and the registers that functions preserve, if keeps is set."""

    def __init__(self, path):
        self.path, self.keeps, self.shadow = path, False, []
        with open(path, "rb") as file:
            raw = file.read()
        _, self.cpu, _, _, count, _, _, _ = struct.unpack_from("<8I", raw)
        at, self.segments = 32, []
        for _ in range(count):
            kind, size = struct.unpack_from("<II", raw, at)
            if kind == 0x19:
                name, address, length, offset, filed = struct.unpack_from("<16s4Q", raw, at + 8)
                self.segments.append((name.rstrip(b"\0").decode(), address, length, raw[offset:offset + filed]))
            elif kind == 0x1B:
                self.uuid = raw[at + 8:at + 24].hex().upper()
            elif kind == 0x80000028:
                self.entry = struct.unpack_from("<Q", raw, at + 8)[0]
            at += size
        self.base, self.size = [(address, length) for name, address, length, _ in self.segments if name == "__TEXT"][0]

    def run(self, each):
        """each(emulator, address, the return addresses below it, innermost first): before every instruction."""
        arm = self.cpu == cores.ARM64
        mu = unicorn.Uc(unicorn.UC_ARCH_ARM64 if arm else unicorn.UC_ARCH_X86, unicorn.UC_MODE_ARM if arm else unicorn.UC_MODE_64)
        for name, address, length, content in self.segments:
            if name not in ("__PAGEZERO", "__LINKEDIT"):
                mu.mem_map(address + SLIDE, (length + 0xFFF) & ~0xFFF)
                mu.mem_write(address + SLIDE, content)
        mu.mem_map(STACK_TOP - STACK_SIZE, STACK_SIZE)
        sp_of, pc_of = registers(arm)["sp"], registers(arm)["pc"]
        mu.reg_write(sp_of, STACK_TOP - 0x100 - (0 if arm else 8))
        kept = [registers(arm)[name] for name in kept_of(arm)] if self.keeps else []
        shadow, returned = self.shadow, [False]
        shadow.clear()

        def step(mu, address, size, _):
            sp = mu.reg_read(sp_of)
            word = bytes(mu.mem_read(address, size))
            if shadow and shadow[-1][0] == address and (returned[0] or sp >= shadow[-1][1]):  # outlined prologues leave sp lower
                shadow.pop()
            returned[0] = arm and struct.unpack("<I", word)[0] & 0xFFFFFC1F == 0xD65F0000
            each(mu, address, [frame[0] for frame in reversed(shadow)])
            if is_call(arm, word) and mu.reg_read(pc_of) == address:  # each may have gone elsewhere
                shadow.append((address + size, sp, [mu.reg_read(number) for number in kept]))
        mu.hook_add(unicorn.UC_HOOK_CODE, step)
        start = self.base + SLIDE + self.entry
        try:
            mu.emu_start(start, 0, count=200000)
        except unicorn.UcError:
            each(mu, mu.reg_read(pc_of), [frame[0] for frame in reversed(shadow)])


def kept_of(arm):
    """The registers that a function preserves."""
    return ["x%d" % i for i in range(19, 29)] + ["fp"] if arm else ["rbx", "rbp", "r12", "r13", "r14", "r15"]


def is_call(arm, word):
    if arm:
        value = struct.unpack("<I", word)[0]
        return value & 0xFC000000 == 0x94000000 or value & 0xFFFFFC1F == 0xD63F0000
    return word[0] == 0xE8 or (word[0] == 0xFF and word[1] >> 3 & 7 == 2) or (word[0] in (0x41, 0x40) and word[1] == 0xFF and
                                                                             word[2] >> 3 & 7 == 2)


def registers(arm):
    from unicorn import arm64_const, x86_const  # pylint: disable=import-outside-toplevel
    if arm:
        names = {"x%d" % i: getattr(arm64_const, "UC_ARM64_REG_X%d" % i) for i in range(29)}
        names.update({"fp": arm64_const.UC_ARM64_REG_X29, "lr": arm64_const.UC_ARM64_REG_X30, "sp": arm64_const.UC_ARM64_REG_SP,
                      "pc": arm64_const.UC_ARM64_REG_PC})
        return names
    names = {name: getattr(x86_const, "UC_X86_REG_" + name.upper()) for name in md.X86_64}
    names.update({"sp": names["rsp"], "pc": names["rip"]})
    return names


def moment(mu, arm, address):
    """The registers, and the used part of the stack."""
    values = {name: mu.reg_read(number) for name, number in registers(arm).items()}
    values["pc" if arm else "rip"] = address
    low = (values["sp"] - 256) & ~15  # what lies below the stack pointer
    return values, (low, bytes(mu.mem_read(low, STACK_TOP - low)))


def dump_of(program, values, stack):
    arm = program.cpu == cores.ARM64
    dump = md.Dump(4)
    dump.system(md.ARM64 if arm else md.AMD64, md.MAC, (14, 3, 1), "23D60")
    uuid = program.uuid
    uuid = "-".join((uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:]))
    dump.modules([dump.module(program.base + SLIDE, program.size, program.path, uuid)])
    context = md.arm64 if arm else md.x86_64
    dump.threads([dump.thread(1, context(values), stack)])
    dump.memory([stack])
    return bytes(dump.data)


def core_of(program, values, stack, with_image):
    memory = [stack]
    if with_image:
        memory += [(address + SLIDE, content) for name, address, _, content in program.segments if content and name == "__TEXT"]
    uuid = program.uuid
    state = cores.state(program.cpu, dict(values), (0, 0x92000006) if program.cpu == cores.ARM64 else (0, 14, 4))
    return cores.core(program.cpu, [state], memory, [("all image infos", cores.all_image_infos([(program.base + SLIDE, program.path, uuid)]))])


def ask(tool, paths, symbols):
    """The frames of each file, which one process answers: to start one for each would take ten times as long."""
    command = [tool, "crash", "-q", "--to=json", "--no-cache", "--no-inline"] + (["-d", symbols] if symbols else []) + paths
    text = subprocess.run(command, capture_output=True, timeout=600, check=False).stdout.decode()
    found, at, reader = [], 0, json.JSONDecoder()
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        got, at = reader.raw_decode(text, at)
        found.append([int(frame["address"], 16) for frame in got["threads"][0]["frames"]])
    if len(found) != len(paths):
        raise ValueError("%d answers to %d files" % (len(found), len(paths)))
    return found


def ask_lldb(lldb, paths):
    """Frames as lldb finds them in core files."""
    debugger = lldb.SBDebugger.Create()
    debugger.SetAsync(False)
    found = []
    for path in paths:
        target = debugger.CreateTarget("")
        found.append([frame.GetPC() for frame in target.LoadCore(path).GetThreadAtIndex(0) if not frame.IsInlined()])
        debugger.DeleteTarget(target)
    lldb.SBDebugger.Destroy(debugger)
    return found


def moments(program, rng, count):
    """Some moments of a run just before a call, where every function has its frame; and the crash."""
    arm, seen, wanted, at = program.cpu == cores.ARM64, [], set(), [0]

    def note(mu, address, _):
        if is_call(arm, bytes(mu.mem_read(address, 4))):
            wanted.add(at[0])
        at[0] += 1
    program.run(note)
    crash = at[0] - 1
    wanted = set(rng.sample(sorted(wanted), min(count, len(wanted)))) | {crash}
    at[0] = 0

    def take(mu, address, backs):
        if at[0] in wanted:
            seen.append((moment(mu, arm, address), [address] + backs))
        at[0] += 1
    program.run(take)
    return seen


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def samples(folder):
    """The samples beside this program: a core file with the program in its memory, and a dump of another, which needs the file."""
    for arch, flags, name in (("arm64", "-Oz -moutline -fomit-frame-pointer", "arm64.core"), ("x86_64", "-Os -fomit-frame-pointer", "x86_64.dmp")):
        path = build(folder, arch, flags)
        program = Program(path)
        (values, stack), truth = max(moments(program, random.Random(1), 10000), key=lambda one: len(one[1]))
        subprocess.run(["llvm-strip-22", path], check=True)
        program.path = "/Applications/calls.app/calls"
        make = core_of(program, values, stack, True) if name.endswith("core") else dump_of(program, values, stack)
        write("tests/stacks/" + name, make)
        if name.endswith("dmp"):
            write("tests/stacks/x86_64.program", open(path, "rb").read())
            import check  # pylint: disable=import-outside-toplevel
            write("tests/stacks/x86_64.json", (check.kscrash(program, values, truth[:1] + truth[2:], stack) + "\n").encode())
        print(name, " ".join("0x%x" % address for address in truth))


def main():
    tool, folder, modules = sys.argv[1:4]
    lldb = None
    if modules:
        sys.path.append(modules)
        import lldb  # pylint: disable=import-outside-toplevel
    rng, failed, count = random.Random(42), 0, 0
    for arch, flags in BUILDS:
        program = Program(build(folder, arch, flags))
        taken = moments(program, rng, 40)
        dump_files, core_files = ([os.path.join(folder, "%d.%s" % (i, kind)) for i in range(len(taken))] for kind in ("dmp", "core"))
        for ((values, stack), _), dump, core in zip(taken, dump_files, core_files):
            write(dump, dump_of(program, values, stack))
            write(core, core_of(program, values, stack, True))
        got = {"dumps": ask(tool, dump_files, program.path), "cores": ask(tool, core_files, None)}
        if lldb is not None:
            got["lldb"] = ask_lldb(lldb, core_files)
        for what, answers in got.items():
            for (_, truth), frames in zip(taken, answers):
                if frames != truth:
                    failed += 1
                    print("%s %s, %s: %s, not %s" % (arch, flags, what, list(map(hex, frames)), list(map(hex, truth))))
        count += len(taken)
    print("%d stacks, %d failed" % (count, failed))
    sys.exit(failed > 0 or count < 500)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "samples":
        samples(sys.argv[2])
    else:
        main()
