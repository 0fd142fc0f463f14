#!/usr/bin/env python3
"""crash --check-stack, over reports that are made of runs in an emulator (see stacks.py): no frame of a true stack is doubted,
and wrong ones are noticed. Truth: the emulator's calls.
usage: check.py TOOL FOLDER [MOMENTS of each build]"""
import collections
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, "tests/stacks")
sys.path.insert(0, "tests")
sys.path.insert(0, "tests/unwind")
import stacks as st  # noqa: E402
import steps  # noqa: E402
import core as cores  # noqa: E402

ARM_ORDER = ["x%d" % i for i in range(29)] + ["fp", "lr", "sp", "pc"]
X86_ORDER = ["rax", "rbx", "rcx", "rdx", "rdi", "rsi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"]


def report(program, values, frames, uuid=True):
    arm = program.cpu == cores.ARM64
    base = program.base + st.SLIDE
    lines = ["Process:             calls [1]", "Code Type:           %s (Native)" % ("ARM-64" if arm else "X86-64"),
             "Exception Type:      EXC_BAD_ACCESS (SIGSEGV)", "Triggered by Thread: 0", "", "Thread 0 Crashed:"]
    lines += ["%-4d%-30s\t%#018x %#x + %d" % (i, "calls", address, base, address - base) for i, address in enumerate(frames)]
    lines += ["", "Thread 0 crashed with %s:" % ("ARM Thread State (64-bit)" if arm else "X86 Thread State (64-bit)")]
    names = ARM_ORDER if arm else X86_ORDER
    for at in range(0, len(names), 4):
        lines.append("".join("%6s: 0x%016x" % (name, values[name]) for name in names[at:at + 4]))
    words = program.uuid.lower() if uuid else ""
    lines += ["", "Binary Images:", "%#18x - %#18x calls %s  %s/Applications/calls" %
              (base, base + program.size - 1, "arm64" if arm else "x86_64", "<%s> " % words if uuid else ""), ""]
    return "\n".join(lines)


def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def message(*fields):
    """Fields of PLCrashReport.proto: (number, value)."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            raw = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(raw)) + raw
    return out


def plcrash(program, values, frames):
    """The same as PLCrashReporter writes it."""
    arm = program.cpu == cores.ARM64
    names = ARM_ORDER if arm else X86_ORDER
    processor = message((1, 1), (2, program.cpu), (3, 0))
    thread = message((1, 0), *[(2, message((3, frame))) for frame in frames], (3, 1),
                     *[(4, message((1, name), (2, values[name]))) for name in names])
    image = message((1, program.base + st.SLIDE), (2, program.size), (3, "/Applications/calls"), (4, bytes.fromhex(program.uuid)),
                    (5, processor))
    return b"plcrash\x01" + message(
        (1, message((1, 0), (2, "14.3.1"), (3, 2 if arm else 1), (4, 1700000000))), (2, message((1, "calls"), (2, "1"))), (3, thread), (4, image),
        (6, message((1, "SIGSEGV"), (2, "SEGV_MAPERR"), (3, 8))), (7, message((1, "calls"), (2, 1), (3, "/Applications/calls"), (4, "launchd"), (5, 1), (6, 1))),
        (8, message((1, "Mac"), (2, processor), (3, 1), (4, 1))))


def kscrash(program, values, frames, stack):
    """The same as KSCrash writes it: 10 words below the stack pointer and 20 above it."""
    arm = program.cpu == cores.ARM64
    low, content = stack
    sp = values["sp" if arm else "rsp"]
    start, end = max(sp - 80, low), min(sp + 160, low + len(content))
    names = ["x%d" % i for i in range(29)] + ["x29", "lr", "sp", "pc"] if arm else X86_ORDER
    thread = {"index": 0, "crashed": True, "current_thread": True,
              "registers": {"basic": {name: values["fp" if name == "x29" else name] for name in names}},
              "backtrace": {"skipped": 0, "contents": [
                  {"object_name": "calls", "object_addr": program.base + st.SLIDE, "instruction_addr": frame} for frame in frames]},
              "stack": {"grow_direction": "-", "dump_start": start, "dump_end": end, "stack_pointer": sp, "overflow": False,
                        "contents": content[start - low:end - low].hex().upper()}}
    return json.dumps({
        "report": {"version": "3.5.0", "id": "7A9B6C1E-0000-4000-8000-000000000001", "process_name": "calls", "type": "standard"},
        "binary_images": [{"image_addr": program.base + st.SLIDE, "image_vmaddr": program.base, "image_size": program.size,
                           "name": "/Applications/calls", "uuid": program.uuid, "cpu_type": program.cpu, "cpu_subtype": 0}],
        "system": {"cpu_arch": "arm64" if arm else "x86_64", "process_name": "calls"},
        "crash": {"error": {"mach": {"exception": 1, "exception_name": "EXC_BAD_ACCESS"}, "type": "mach"}, "threads": [thread]}})


def every(program, rng, count):
    """Moments anywhere, and those of stacks.py."""
    seen, at, total = [], [0], [0]

    def note(*_):
        total[0] += 1
    program.run(note)
    wanted = set(rng.sample(range(total[0]), min(count, total[0])))

    def take(mu, address, backs):
        if at[0] in wanted:
            seen.append((st.moment(mu, program.cpu == cores.ARM64, address), [address] + backs))
        at[0] += 1
    program.run(take)
    return seen


def ask(tool, folder, symbols, *options):
    command = [tool, "crash", "-q", "--json", "--no-cache", "--check-stack", "-j1", *options, "-d", symbols, folder]
    done = subprocess.run(command, capture_output=True, check=False)
    got = {}
    names = sorted(os.listdir(folder))
    lines = done.stdout.splitlines()
    assert len(lines) == len(names), (len(lines), len(names), done.stderr[:500])
    for name, line in zip(names, lines):
        got[name] = json.loads(line)["threads"][0]["frames"]
    return got


def code_of(program):
    name, address, _, content = [one for one in program.segments if one[0] == "__TEXT"][0]
    return name, address + st.SLIDE, content


def plant(rng, program, frames):
    """Wrong stacks: (what, frames)."""
    _, base, content = code_of(program)
    low, high = min(frames), max(frames)
    arm = program.cpu == cores.ARM64
    at = rng.randrange(1, len(frames) - 1)
    anywhere = rng.randrange(low - 200, high + 200) & ~(3 if arm else 0)
    away = frames[at] + rng.choice([-8, -4, 4, 8] if arm else [-3, -2, 2, 3, 4])
    yield "an address of code in place of a frame", frames[:at] + [anywhere] + frames[at + 1:]
    yield "a return address that is off", frames[:at] + [away] + frames[at + 1:]
    yield "a frame left out", frames[:at] + frames[at + 1:]
    if frames[at] != frames[at + 1]:
        yield "two frames changed over", frames[:at] + [frames[at + 1], frames[at]] + frames[at + 2:]
    yield "an address of data in place of a frame", frames[:at] + [base + 16] + frames[at + 1:]
    del content


def put(folder, name, content):
    st.write(os.path.join(folder, name), content.encode())


# How many of 100 are found at least: a few less than were found with 10 and with 40 stacks a program.
LEAST = {
    "an address of code in place of a frame": 95, "a return address that is off": 90, "a frame left out": 70,
    "an address of data in place of a frame": 100, "two frames changed over": 100, "the file of another build": 75,
    "a caller that bytes of the stack tell": 85, "what lr held of an earlier call": 95, "a caller that only lr has": 40}


def main():
    tool, folder = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 40
    rng, failed, true = random.Random(42), 0, 0
    flagged, planted = collections.Counter(), collections.Counter()
    told, before = {"crash": [], "plcrash": []}, None
    found, lost, stale, leftovers = 0, 0, 0, 0
    generated = os.path.join(folder, "generated.c")
    put(folder, "generated.c", steps.Source(200, 7).text() + "int main(void) { start(); return 0; }\n")
    for number, (arch, flags, source) in enumerate([(*one, source) for source in ("tests/stacks/calls.c", generated) for one in st.BUILDS]):
        program = st.Program(st.build(folder, arch, flags, source))
        arm = program.cpu == cores.ARM64
        truths = st.moments(program, rng, count) + every(program, rng, count)
        inputs, wanted = os.path.join(folder, "true%d" % number), {}
        os.mkdir(inputs)
        for i, ((values, stack), frames) in enumerate(truths):
            put(inputs, "true-%04d.crash" % i, report(program, values, frames))
            wanted["true-%04d.crash" % i] = ("", frames)
            st.write(os.path.join(inputs, "true-%04d.plcrash" % i), plcrash(program, values, frames))
            wanted["true-%04d.plcrash" % i] = ("", frames)
            if len(frames) > 2 and frames[0] != frames[1]:
                for k, (what, wrong) in enumerate(plant(rng, program, frames)):
                    put(inputs, "wrong-%04d-%d.crash" % (i, k), report(program, values, wrong))
                    wanted["wrong-%04d-%d.crash" % (i, k)] = (what, wrong)
            # the caller that only lr has
            if arm and len(frames) > 2 and values["lr"] == frames[1]:
                put(inputs, "lr-%04d.crash" % i, report(program, values, frames[:1] + frames[2:]))
                wanted["lr-%04d.crash" % i] = ("lr", frames)
                st.write(os.path.join(inputs, "lr-%04d.plcrash" % i), plcrash(program, values, frames[:1] + frames[2:]))
                wanted["lr-%04d.plcrash" % i] = ("lr", frames)
            # bytes of the stack
            put(inputs, "true-%04d.json" % i, kscrash(program, values, frames, stack))
            wanted["true-%04d.json" % i] = ("", frames)
            if len(frames) > 3 and frames[1] != frames[2]:
                put(inputs, "stack-%04d.json" % i, kscrash(program, values, frames[:1] + frames[2:], stack))
                wanted["stack-%04d.json" % i] = ("stack", frames)
            if arm and len(frames) > 2 and values["lr"] not in frames[:3]:
                put(inputs, "stale-%04d.json" % i, kscrash(program, values, frames[:1] + [values["lr"]] + frames[1:], stack))
                wanted["stale-%04d.json" % i] = ("stale", frames[:1] + [values["lr"]] + frames[1:])
        for name, got in ask(tool, inputs, program.path).items():
            what, frames = wanted[name]
            doubts = [frame["doubt"] for frame in got if "doubt" in frame]
            if what == "":
                true += 1
                if doubts or [int(frame["address"], 16) for frame in got] != frames:
                    failed += 1
                    print("%s %s %s: %s" % (arch, flags, name, doubts[:2]), list(map(hex, frames)), [one["address"] for one in got])
            elif what == "lr":
                addresses, is_inferred = [int(frame["address"], 16) for frame in got], any(frame.get("inferred") for frame in got)
                if is_inferred and (addresses != frames or doubts):
                    failed += 1
                    print("%s %s %s: inferred" % (arch, flags, name), list(map(hex, addresses)), list(map(hex, frames)))
                told[name.split(".")[1]].append(is_inferred)
            elif what == "stack":
                addresses, is_inferred = [int(frame["address"], 16) for frame in got], any(frame.get("inferred") for frame in got)
                if is_inferred and (addresses != frames or doubts):
                    failed += 1
                    print("%s %s %s: inferred" % (arch, flags, name), list(map(hex, addresses)), list(map(hex, frames)), doubts)
                found += is_inferred
                lost += 1
            elif what == "stale":
                addresses = [int(frame["address"], 16) for frame in got]
                if addresses != frames or any("doubt" in frame for frame in got[2:]):
                    failed += 1
                    print("%s %s %s: left over" % (arch, flags, name), list(map(hex, addresses)), list(map(hex, frames)), doubts)
                stale += "doubt" in got[1]
                leftovers += 1
            else:
                planted[what] += 1
                flagged[what] += bool(doubts) or any(frame.get("inferred") for frame in got)
        # the file of another build
        if before is not None and before.cpu == program.cpu:
            inputs = os.path.join(folder, "other%d" % number)
            os.mkdir(inputs)
            for i, ((values, _), frames) in enumerate(truths):
                if len(frames) > 4:
                    put(inputs, "%04d.crash" % i, report(program, values, frames, False).replace("calls", os.path.basename(before.path)))
            for got in ask(tool, inputs, before.path, "--no-uuid").values():
                planted["the file of another build"] += 1
                flagged["the file of another build"] += any("doubt" in frame for frame in got)
        before = program
    print("%d true stacks, %d flagged" % (true, failed))
    tallies = [(what, flagged[what], planted[what]) for what in planted]
    tallies += [("a caller that bytes of the stack tell", found, lost), ("what lr held of an earlier call", stale, leftovers),
                ("a caller that only lr has", sum(told["crash"]), len(told["crash"]))]
    for what, count, of in tallies:
        least = LEAST[what] * of / 100
        failed += count < least or of == 0
        print("%s: %d of %d found%s" % (what, count, of, "" if count >= least else ", less than %d %%" % LEAST[what]))
    if told["crash"] != told["plcrash"]:
        failed += 1
        print("reports of PLCrashReporter: %d of %d callers that only lr has" % (sum(told["plcrash"]), len(told["plcrash"])))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
