#!/usr/bin/env python3
"""Minidumps that a generator writes (tests/minidump.py), and what lldb reads of them: threads, registers, images, memory. The same
dumps written anew by LLVM's yaml2obj, which lays them out in its own way, give the same report.
usage: minidump_lldb.py TOOL FOLDER [LLDB's folder of Python modules] [SUFFIX of obj2yaml and yaml2obj]"""
import json
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, "tests")
import minidump as md  # noqa: E402

tool, folder = sys.argv[1], sys.argv[2]
COUNT = 40
failed = passed = 0


def check(ok, what):
    global failed, passed
    failed += not ok
    passed += ok
    if not ok:
        print("failed:", what)


def generate(rng):
    """A dump, and what is in it."""
    kind = rng.choice(["arm64", "arm64 old", "x86_64"])
    fp, sp, pc = ("rbp", "rsp", "rip") if kind == "x86_64" else ("fp", "sp", "pc")
    dump = md.Dump(8)
    dump.system({"arm64": md.ARM64, "arm64 old": md.ARM64_OLD, "x86_64": md.AMD64}[kind], rng.choice([md.MAC, md.IOS]),
                (rng.randint(10, 26), rng.randint(0, 9), rng.randint(0, 9)), "23A%d" % rng.randint(1, 999))
    pid = rng.randint(2, 99999)
    dump.misc(pid, md.TIME - rng.randint(1, 9))
    base, images = 0x100000000, []
    for i in range(rng.randint(1, 5)):
        uuid = "%08X-%04X-%04X-%04X-%012X" % tuple(rng.getrandbits(bits) for bits in (32, 16, 16, 16, 48))
        size = rng.choice([0x4000, 0x8000])
        images.append((base, size, "/usr/lib/lib%d.dylib" % i if i else "/Applications/demo.app/demo", uuid))
        base += size + rng.choice([0, 0x4000])
    dump.modules([dump.module(*image) for image in images], rng.random() < 0.3)

    def code():
        base, size, _, _ = rng.choice(images)
        return base + rng.randrange(0x100, size, 4)
    threads, ranges = [], []
    for i in range(rng.randint(1, 6)):
        at = 0x16F000000 + 0x100000 * i
        returns = [code() for _ in range(rng.randint(0, 30))]
        raw, first = md.frames(returns, at, rng.choice([0, 0x10, 0x40]))
        values = {fp: first if returns else 0, sp: at, pc: code(), "lr": code()}
        values.update(("x%d" % k, rng.getrandbits(64)) for k in range(29))
        values.update((name, rng.getrandbits(64)) for name in md.X86_64 if name not in (fp, sp, pc))
        context = md.x86_64(values) if kind == "x86_64" else md.arm64(values, kind == "arm64 old")
        threads.append({"id": 100 + i, "frames": [values[pc]] + returns, "registers": values, "context": context, "stack": (at, raw)})
        ranges.append((at, raw))
    held = rng.random() < 0.5  # in the records of the threads, or in the list of memory alone
    dump.threads([dump.thread(t["id"], t["context"], t["stack"] if held else None) for t in threads], rng.random() < 0.3)
    dump.memory(ranges)
    dump.names([(t["id"], "worker %d" % t["id"]) for t in threads])
    crashed = rng.randrange(len(threads))
    code0, code1 = rng.choice([1, 2]), rng.randrange(1 << 47)
    dump.exception(threads[crashed]["id"], 1, code0, code1, rng.choice([[], [1, code0, code1]]), threads[crashed]["context"])
    names = ["x%d" % k for k in range(29)] + ["fp", "lr", "sp", "pc"] if kind != "x86_64" else md.X86_64
    return bytes(dump.data), {"images": images, "threads": threads, "crashed": crashed, "codes": (code0, code1), "names": names, "pid": pid}


def ask(path):
    done = subprocess.run([tool, "crash", "-q", "--to=json", "--no-cache", path], capture_output=True, timeout=60, check=False)
    try:
        return done.returncode, json.loads(done.stdout)
    except ValueError:
        return done.returncode, {}


def compare(got, truth, what):
    images = [(int(image["base"], 16), image["path"], image["uuid"]) for image in got.get("images", [])]
    check(images == [(base, path, uuid) for base, _, path, uuid in truth["images"]], "%s: images" % what)
    frames = [[int(frame["address"], 16) for frame in thread["frames"]] for thread in got.get("threads", [])]
    check(frames == [thread["frames"] for thread in truth["threads"]], "%s: frames" % what)
    check([thread["crashed"] for thread in got.get("threads", [])] == [i == truth["crashed"] for i in range(len(truth["threads"]))],
          "%s: who crashed" % what)
    told = got["threads"][truth["crashed"]].get("registers", []) if got.get("threads") else []
    told = {register["name"]: int(register["value"], 16) for register in told}
    want = truth["threads"][truth["crashed"]]["registers"]
    check(all(told.get(name) == want[name] for name in truth["names"]), "%s: registers" % what)
    check(got.get("codes") == "0x%016x, 0x%016x" % truth["codes"], "%s: codes" % what)


def compare_lldb(lldb, path, truth, what):
    debugger = lldb.SBDebugger.Create()
    debugger.SetAsync(False)
    process = debugger.CreateTarget("").LoadCore(path)
    check(process.IsValid() and process.GetNumThreads() == len(truth["threads"]), "%s: lldb: threads" % what)
    for i, thread in enumerate(truth["threads"]):
        one = process.GetThreadAtIndex(i)
        check(one.GetThreadID() == thread["id"] and one.GetFrameAtIndex(0).GetPC() == thread["frames"][0], "%s: lldb: thread" % what)
        general = one.GetFrameAtIndex(0).GetRegisters().GetValueAtIndex(0)
        told = {value.GetName(): value.GetValueAsUnsigned() for value in general}
        check(all(told.get(name) == thread["registers"][name] for name in truth["names"]), "%s: lldb: registers" % what)
        error = lldb.SBError()
        at, raw = thread["stack"]
        check(process.ReadMemory(at, len(raw), error) == raw, "%s: lldb: memory" % what)
    modules = [(module.GetObjectFileHeaderAddress().GetLoadAddress(process.GetTarget()), module.GetUUIDString())
               for module in process.GetTarget().module_iter()]
    check([uuid for _, uuid in modules] == [uuid for _, _, _, uuid in truth["images"]], "%s: lldb: images %s" % (what, modules))
    reason = process.GetThreadAtIndex(truth["crashed"]).GetStopDescription(200)
    check("EXC_BAD_ACCESS (code=%d, address=0x%x)" % truth["codes"] == reason, "%s: lldb: %s" % (what, reason))
    lldb.SBDebugger.Destroy(debugger)


def rewrite(path, suffix, what, truth):
    """The streams that LLVM knows; names of threads are not among them, and what they refer to would be elsewhere."""
    yaml = subprocess.run(["obj2yaml" + suffix, path], capture_output=True, text=True, check=False).stdout
    yaml = re.sub(r"  - Type: +0x18\n    Content: .*\n", "", yaml)
    with open(path + ".yaml", "w", encoding="utf-8") as file:
        file.write(yaml)
    subprocess.run(["yaml2obj" + suffix, path + ".yaml", "-o", path + ".again"], check=False)
    with open(path, "rb") as one, open(path + ".again", "rb") as other:
        check(one.read() != other.read(), "%s: yaml2obj lays it out in its own way" % what)
    status, got = ask(path + ".again")
    check(status == 0, "%s: yaml2obj: status" % what)
    compare(got, truth, "%s: yaml2obj" % what)


def main():
    lldb = None
    if len(sys.argv) > 3 and sys.argv[3]:
        sys.path.append(sys.argv[3])
        import lldb  # pylint: disable=import-outside-toplevel
    rng = random.Random(42)
    for i in range(COUNT):
        content, truth = generate(rng)
        path = os.path.join(folder, "%d.dmp" % i)
        with open(path, "wb") as file:
            file.write(content)
        status, got = ask(path)
        check(status == 0, "%d: status %d" % (i, status))
        compare(got, truth, str(i))
        names = [thread["name"] for thread in got.get("threads", [])]
        check(names == ["worker %d" % thread["id"] for thread in truth["threads"]], "%d: names" % i)
        if lldb is not None:
            compare_lldb(lldb, path, truth, str(i))
        if len(sys.argv) > 4:
            rewrite(path, sys.argv[4], str(i), truth)
    print("%d of %d steps failed" % (failed, passed + failed))
    sys.exit(failed > 0)


main()
