#!/usr/bin/env python3
"""Core files that a generator writes (tests/core.py), and what lldb reads of them: threads, registers, memory. Core files of LLVM's
yaml2macho-core, which knows nothing of that writer, say what their YAML says.
usage: core_lldb.py TOOL FOLDER LLDB's-folder-of-Python-modules YAML2MACHO-CORE (the last two may be empty)"""
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, "tests")
import core as cores  # noqa: E402
import minidump as md  # noqa: E402

tool, folder, modules, yaml2core = sys.argv[1:5]
failed = passed = 0


def check(ok, what):
    global failed, passed
    failed += not ok
    passed += ok
    if not ok:
        print("failed:", what)


def ask(path):
    done = subprocess.run([tool, "crash", "-q", "--to=json", "--no-cache", path], capture_output=True, timeout=60, check=False)
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        return done.returncode, {}


def uuid_of(rng):
    return "%08X-%04X-%04X-%04X-%012X" % tuple(rng.getrandbits(bits) for bits in (32, 16, 16, 16, 48))


def generate(rng):
    cpu = rng.choice([cores.ARM64, cores.X86_64])
    fp, sp, pc = ("fp", "sp", "pc") if cpu == cores.ARM64 else ("rbp", "rsp", "rip")
    names = [name for name in (cores.ARM_ORDER if cpu == cores.ARM64 else cores.X86_ORDER) if name != "rfl"]
    base, images, memory = 0x100000000, [], []
    for i in range(rng.randint(1, 4)):
        size = rng.choice([0x4000, 0x8000])
        path = "/usr/lib/lib%d.dylib" % i if i else "/Applications/demo.app/demo"
        images.append((base, size, path, uuid_of(rng)))
        memory.append((base, cores.image(cpu, cores.DYLIB if i else cores.EXECUTE, images[-1][3], size, path if i else None)))
        base += size + rng.choice([0, 0x4000])

    def code():
        base, size, _, _ = rng.choice(images)
        return base + rng.randrange(0x800, size, 4)
    threads, states = [], []
    crashed = rng.randint(0, 3)
    for i in range(4):
        at = 0x16F000000 + 0x100000 * i
        returns = [code() for _ in range(rng.randint(0, 30))]
        raw, first = md.frames(returns, at, rng.choice([0, 0x10, 0x40]))
        values = {name: rng.getrandbits(64) for name in names}
        values.update({fp: first if returns else 0, sp: at, pc: code()})
        trap = (8, 0x92000006) if cpu == cores.ARM64 else (8, 14, 4)
        calm = (0, 0x56000080) if cpu == cores.ARM64 else (0, 133, 0)
        unified = rng.random() < 0.3
        states.append(cores.state(cpu, values, trap if i == crashed else calm, unified))
        threads.append({"unified": unified, "frames": [values[pc]] + returns, "registers": values, "stack": (at, raw)})
        memory.append((at, raw))
    notes = []
    how = rng.choice(["list", "each", "headers"])
    if how == "list":
        notes.append(("all image infos", cores.all_image_infos([(base, path, uuid) for base, _, path, uuid in images])))
    elif how == "each":
        notes.append(("main bin spec", cores.main_bin_spec(images[0][3], images[0][0])))
        notes += [("load binary", cores.load_binary(uuid, base, path)) for base, _, path, uuid in images]
    else:  # the program's path is not told
        images[0] = images[0][:2] + (None,) + images[0][3:]
    return cores.core(cpu, states, memory, notes), {"images": images, "threads": threads, "crashed": crashed, "names": names}


def compare(got, truth, what):
    images = [(int(image["base"], 16), image["path"] or None, image["uuid"]) for image in got.get("images", [])]
    check(images == [(base, path, uuid) for base, _, path, uuid in truth["images"]], "%s: images %s" % (what, images))
    frames = [[int(frame["address"], 16) for frame in thread["frames"]] for thread in got.get("threads", [])]
    check(frames == [thread["frames"] for thread in truth["threads"]], "%s: frames" % what)
    check([thread["crashed"] for thread in got.get("threads", [])] == [i == truth["crashed"] for i in range(len(truth["threads"]))],
          "%s: who crashed" % what)
    told = got["threads"][truth["crashed"]].get("registers", []) if got.get("threads") else []
    told = {register["name"]: int(register["value"], 16) for register in told}
    want = truth["threads"][truth["crashed"]]["registers"]
    check(all(told.get(name) == want[name] for name in truth["names"]), "%s: registers" % what)
    check(got.get("exception") == "EXC_BAD_ACCESS", "%s: exception" % what)


def compare_lldb(lldb, path, truth, what):
    debugger = lldb.SBDebugger.Create()
    debugger.SetAsync(False)
    process = debugger.CreateTarget("").LoadCore(path)
    check(process.IsValid() and process.GetNumThreads() == len(truth["threads"]), "%s: lldb: threads" % what)
    for i, thread in enumerate(truth["threads"]):
        one = process.GetThreadAtIndex(i)
        at, raw = thread["stack"]
        check(process.ReadMemory(at, len(raw), lldb.SBError()) == raw, "%s: lldb: memory" % what)
        if thread["unified"]:  # which lldb does not read
            continue
        check(one.GetFrameAtIndex(0).GetPC() == thread["frames"][0], "%s: lldb: thread" % what)
        general = one.GetFrameAtIndex(0).GetRegisters().GetValueAtIndex(0)
        told = {value.GetName(): value.GetValueAsUnsigned() for value in general}
        check(all(told.get(name) == thread["registers"][name] for name in truth["names"]), "%s: lldb: registers" % what)
    lldb.SBDebugger.Destroy(debugger)


def of_yaml(rng, path, what):
    """arm64 is what yaml2macho-core writes of the processors that are read here."""
    at, base, uuid = 0x16F000000, 0x100000000, uuid_of(rng)
    returns = [base + rng.randrange(0x100, 0x4000, 4) for _ in range(rng.randint(1, 9))]
    raw, first = md.frames(returns, at)
    values = {name: rng.getrandbits(63) for name in cores.ARM_ORDER}
    values.update({"fp": first, "sp": at, "pc": base + 0xAEC})
    flow = ", ".join("{name: %s, value: 0x%x}" % item for item in values.items())
    with open(path + ".yaml", "w", encoding="utf-8") as file:
        file.write("cpu: arm64\nthreads:\n  - regsets:\n      - flavor: gpr\n        registers: [%s]\n      - flavor: exc\n"
                   "        registers: [{name: far, value: 0x8}, {name: esr, value: 0x92000006}, {name: exception, value: 0x0}]\n"
                   "memory-regions:\n  - addr: 0x%x\n    UInt8: [%s]\n" % (flow, at, ", ".join(map(str, raw))))
    subprocess.run([yaml2core, "-L", "%s,0x%x" % (uuid, base), "-i", path + ".yaml", "-o", path], check=True)
    status, got = ask(path)
    check(status == 0, "%s: status" % what)
    compare(got, {"images": [(base, 0, None, uuid)], "threads": [{"frames": [values["pc"]] + returns, "registers": values}], "crashed": 0,
                  "names": cores.ARM_ORDER}, what)


def main():
    lldb = None
    if modules:
        sys.path.append(modules)
        import lldb  # pylint: disable=import-outside-toplevel
    rng = random.Random(42)
    for i in range(40):
        content, truth = generate(rng)
        path = os.path.join(folder, "%d.core" % i)
        with open(path, "wb") as file:
            file.write(content)
        status, got = ask(path)
        check(status == 0, "%d: status %d" % (i, status))
        compare(got, truth, str(i))
        if lldb is not None:
            compare_lldb(lldb, path, truth, str(i))
    for i in range(10 if yaml2core else 0):
        of_yaml(rng, os.path.join(folder, "yaml-%d.core" % i), "yaml %d" % i)
    print("%d of %d steps failed" % (failed, passed + failed))
    sys.exit(failed > 0)


main()
