#!/usr/bin/env python3
"""What crash/1 says of the state of a thread is what the report's own bytes say: registers and instructions of an .ips are read here
once more, and those of Apple's text of the same incident (tests/golden/apple, published pairs in form) are equal. What registers point
to is what their image's symbols say. Old MetricKit has its version and device.
Usage: brief.py MACHSYM WORK. The last line is "N passed, N failed, 0 skipped"."""
import base64
import json
import re
import shlex
import subprocess
import sys

MACHSYM, WORK = shlex.split(sys.argv[1]), sys.argv[2]
FIXTURES = "tests/fixtures/"
LOOK = ["--no-cache", "-d", FIXTURES + "bin/demo.app.dSYM"]
PAIRS = ["ios", "mac-arm64", "mac-intel", "mac-rosetta", "mac26", "simulator"]
UUID = "4C4C44B5-5555-3144-A1BA-79CA685DEC58"
counts = [0, 0]


def check(ok, what, seen=""):
    counts[not ok] += 1
    if not ok:
        print("failed: %s: %.900s" % (what, seen))


def crash(*arguments, data=b"", status=0):
    done = subprocess.run(MACHSYM + ["crash", "-q", *LOOK, *arguments], input=data, capture_output=True, timeout=120)
    check(done.returncode == status, "status %d of %s" % (done.returncode, " ".join(arguments)), done.stderr.decode())
    return done.stdout.decode()


def reports_of(*arguments, **how):
    return [json.loads(line) for line in crash("--json", *arguments, **how).splitlines()]


def crashed_of(report):
    return next((t for t in report["threads"] if t.get("registers") or t.get("instructions")), {})


# ---- Registers ----

def state_of(path):
    """Registers by name, and the instructions, of an .ips: read by Python."""
    text = open(path, encoding="utf-8").read()
    report = json.loads(text[text.index("\n") + 1:])
    thread = next(t for t in report["threads"] if t.get("triggered"))
    state = thread.get("threadState", {})
    registers = {"x%d" % i: r["value"] for i, r in enumerate(state.get("x", []))}
    for source in (state, state.get("rosetta", {})):
        registers.update({name: r["value"] for name, r in source.items() if isinstance(r, dict) and "value" in r})
    stream = thread.get("instructionState", {}).get("instructionStream", {})
    return registers, bytes(stream.get("bytes", [])).hex(), stream.get("offset")


def test_registers():
    for name in PAIRS:
        ips, text = FIXTURES + "apple/%s.ips" % name, "tests/golden/apple/%s.txt" % name
        (one,), (two,) = reports_of(ips), reports_of(text)
        thread, same = crashed_of(one), crashed_of(two)
        registers, code, at = state_of(ips)
        check({r["name"]: int(r["value"], 16) for r in thread["registers"]} == registers, name + ": registers are those of the JSON", thread)
        check(len(registers) == len(thread["registers"]), name + ": each once", thread)
        check(thread.get("instructions", {}).get("bytes", "") == code and thread.get("instructions", {}).get("at") == at, name + ": instructions", thread)
        for member in ("registers", "esr", "instructions"):
            check(thread.get(member) == same.get(member), "%s: %s of the text" % (name, member), (thread.get(member), same.get(member)))
        check(one["pid"] == two["pid"], name + ": pid", (one.get("pid"), two.get("pid")))


def with_state(**members):
    """demo.ips with members of a thread's state, and of the report."""
    head, body = open(FIXTURES + "reports/demo.ips", encoding="utf-8").read().split("\n", 1)
    report = json.loads(body)
    thread = next(t for t in report["threads"] if t.get("triggered"))
    thread["threadState"] = members.pop("state")
    report.update(members)
    return (head + "\n" + json.dumps(report)).encode(), report


def test_targets():
    """A register names the function that a frame at its address names, whatever bits of authentication it has; of lr the call before."""
    base = with_state(state={})[1]["usedImages"][0]["base"]
    state = {"x": [{"value": base + 0xaec}, {"value": 0x80 << 56 | base + 0x9b6}, {"value": 5}, {"value": base + 0x8020}, {"value": base - 1}],
             "lr": {"value": base + 0x9b8}, "pc": {"value": base + 0xaec, "matchesCrashFrame": 1}}
    report, = reports_of("-", data=with_state(state=state)[0])
    registers = {r["name"]: r for r in crashed_of(report)["registers"]}
    atos = subprocess.run(MACHSYM + ["atos", "--json", "-i", "--lines=people", "-o", LOOK[-1], "-l", hex(base), hex(base + 0xaec), hex(base + 0x9b6),
                                     hex(base + 0x9b7)], capture_output=True, timeout=60)
    truth = [[(f["name"], f["file"], f["line"]) for f in json.loads(line)["frames"]] for line in atos.stdout.decode().splitlines()]
    for name, frames in (("x0", truth[0]), ("x1", truth[1]), ("pc", truth[0]), ("lr", truth[2])):
        got = [(c["name"], c["file"], c["line"] or 0) for c in registers[name]["calls"]]
        check(got == frames and frames, name + " points to", (got, frames))
        check(registers[name]["image"] == 0, name + " points into", registers[name])
    check(registers["x0"]["image_offset"] == "0xaec", "offset in the image", registers["x0"])
    check("image" not in registers["x2"] and "image" not in registers["x4"], "what is no address of an image", registers)
    region = "0x10 is not in any region.\nREGION TYPE START - END [ VSIZE] PRT/MAX\nMALLOC_TINY 600000000000-600000100000 [ 1024K] rw-/rwx SM=PRV"
    report, = reports_of("-", data=with_state(state={"x": [{"value": 0x600000000010}, {"value": 0x600000100000}]}, vmRegionInfo=region)[0])
    first, second = crashed_of(report)["registers"]
    check(first.get("region") == "MALLOC_TINY" and "region" not in second, "the region of memory", (first, second))
    code = {"beforePC": base64.b64encode(bytes(range(16))).decode(), "atPC": base64.b64encode(bytes(range(200, 216))).decode()}
    report, = reports_of("-", data=with_state(state={}, instructionByteStream=code)[0])
    want = (bytes(range(16)) + bytes(range(200, 216))).hex()
    check(crashed_of(report).get("instructions") == {"bytes": want, "at": 16}, "instructionByteStream", crashed_of(report))


def test_parts():
    """Of a document of several reports each has its own registers and images."""
    report = json.load(open(FIXTURES + "reports/demo-kscrash.json", encoding="utf-8"))
    thread = next(t for t in report["crash"]["threads"] if t["crashed"])
    thread["registers"] = {"basic": {"x0": 5, "pc": thread["backtrace"]["contents"][0]["instruction_addr"]}, "exception": {"far": 7}}
    one, = reports_of("-", data=json.dumps(report).encode())
    check([r["name"] for r in crashed_of(one)["registers"]] == ["x0", "pc", "far"] and crashed_of(one)["registers"][1]["calls"], "KSCrash's", one)
    many = reports_of("-", data=json.dumps([report, report, report]).encode())
    check([crashed_of(m)["registers"] for m in many] == [crashed_of(one)["registers"]] * 3, "registers of parts", many)


# ---- MetricKit ----

def test_old_metrickit():
    """Version and device stand beside the stack, in metaData, or in the payload."""
    stack = {"callStackPerThread": True, "callStacks": [{"threadAttributed": True, "callStackRootFrames": [
        {"binaryName": "demo", "binaryUUID": UUID, "offsetIntoBinaryTextSegment": 2796, "address": 4372728556}]}]}
    app, device = {"appVersion": "1.0.2", "appBuildVersion": "7"}, {"osVersion": "iPhone OS 14.2 (18B92)", "deviceType": "iPhone12,1"}
    for diagnostic, payload in (({"diagnosticMetaData": {**app, **device}}, {}), ({**app, **device}, {}), ({"metaData": {**app, **device}}, {}),
                                ({}, {"metaData": {**app, **device}}), ({}, {"appVersion": "1.0.2", "metaData": {"appBuildVersion": "7", **device}}),
                                ({"diagnosticMetaData": {**app, **device}}, {"appVersion": "9", "metaData": {"deviceType": "other"}})):
        document = {**payload, "crashDiagnostics": [{"version": "1.0.0", "callStackTree": stack, **diagnostic}]}
        report, = reports_of("-", data=json.dumps(document).encode())
        got = [report.get(m) for m in ("version", "os", "hardware")]
        check(got == ["1.0.2 (7)", "iPhone OS 14.2 (18B92)", "iPhone12,1"], "old MetricKit: %s %s" % (list(diagnostic), list(payload)), got)


def main():
    for name, test in sorted(globals().items()):
        if name.startswith("test_"):
            test()
    print("%d passed, %d failed, 0 skipped" % (counts[0], counts[1]))
    return counts[1] != 0


sys.exit(main())
