"""Payloads of MetricKit by chance, and what JSON must tell of each diagnostic: by Apple's MXDiagnosticPayload, MXCallStackTree and
MXCrashDiagnostic, mach/exception_types.h, sys/signal.h, and by docs/json.md for trees of samples: the heaviest path comes first, then what
branches off it. Usage: metrickit.py TOOL FOLDER [SEED]"""
import json, os, random, subprocess, sys

BINARIES = [("demo", 0x102a30000, 1), ("libother.dylib", 0x1a0000000, 2), ("dyld", 0x1b0000000, 3), ("libsystem_pthread.dylib", 0x1c0000000, 4), ("libdyld.dylib", 0x1d0000000, 5), ("watch", 0x3000000, 6)]
STARTS = ("dyld", "libdyld.dylib", "libsystem_pthread.dylib")
EXCEPTIONS = {1: "EXC_BAD_ACCESS", 2: "EXC_BAD_INSTRUCTION", 3: "EXC_ARITHMETIC", 4: "EXC_EMULATION", 5: "EXC_SOFTWARE", 6: "EXC_BREAKPOINT", 7: "EXC_SYSCALL",
              8: "EXC_MACH_SYSCALL", 9: "EXC_RPC_ALERT", 10: "EXC_CRASH", 11: "EXC_RESOURCE", 12: "EXC_GUARD", 13: "EXC_CORPSE_NOTIFY"}
SIGNALS = {1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGEMT", 8: "SIGFPE", 9: "SIGKILL", 10: "SIGBUS", 11: "SIGSEGV",
           12: "SIGSYS", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM"}
KINDS = [("crashDiagnostics", None, None), ("hangDiagnostics", "hang", lambda m: m.get("hangDuration")),
         ("cpuExceptionDiagnostics", "cpu usage", lambda m: m.get("totalCPUTime") and m["totalCPUTime"] + " of CPU time" + (" in " + m["totalSampledTime"] if "totalSampledTime" in m else "")),
         ("diskWriteExceptionDiagnostics", "disk writes", lambda m: m.get("writesCaused")), ("appLaunchDiagnostics", "slow launch", lambda m: m.get("launchDuration"))]


def some(rng, members, often=0.7):
    return {key: value for key, value in members.items() if rng.random() < often}


def tree(rng, depth, branching):
    """A frame with what is below it."""
    name, base, number = rng.choice(BINARIES)
    offset = rng.choice([0, 16, 4096, 70000])
    frame = {"binaryName": name, "binaryUUID": "%08X-0000-4000-8000-000000000000" % number, "address": base + offset,
             "offsetIntoBinaryTextSegment": rng.choice([offset, base]) if offset else base, "sampleCount": rng.randint(1, 9)}
    if depth:
        frame["subFrames"] = [tree(rng, depth - 1, branching) for _ in range(rng.choice([1, 1, 2, 3]) if branching else 1)]
    return frame


def generate(rng):
    payload = some(rng, {"timeStampBegin": "2026-03-14 07:00:00 +0000", "timeStampEnd": "2026-03-14 08:00:00 +0000", "appVersion": "9.9"})
    for key, _, _ in KINDS:
        payload[key] = []
        for _ in range(rng.randint(0, 2)):
            meta = some(rng, {
                "appBuildVersion": "34", "appVersion": "1.2", "osVersion": "iPhone OS 17.4 (21E219)", "deviceType": "iPhone14,5", "bundleIdentifier": "org.example.demo",
                "pid": 412, "exceptionType": rng.choice([0] + list(EXCEPTIONS) + [14]), "exceptionCode": rng.choice([0, 1, 2, 3]), "signal": rng.choice([0] + list(SIGNALS) + [16]),
                "virtualMemoryRegionInfo": rng.choice(["0x8 is not in any region.", "0 is not in any region.", "4095 is"]), "terminationReason": "Namespace SIGNAL, Code 11 Segmentation fault: 11",
                "hangDuration": "20 sec", "totalCPUTime": "100 sec", "totalSampledTime": "200 sec", "writesCaused": "2147 MB", "launchDuration": "7 sec"})
            stacks = [some(rng, {"threadAttributed": rng.choice([True, False])}) | {
                "callStackRootFrames": [tree(rng, rng.randint(0, 4), rng.random() < 0.5) for _ in range(rng.choice([1, 1, 1, 2]))]} for _ in range(rng.randint(1, 3))]
            payload[key].append({"version": "1.0.0", "diagnosticMetaData": meta, "callStackTree": {"callStackPerThread": rng.choice([True, False]), "callStacks": stacks}})
    return payload


def branches(frames):
    return len(frames) > 1 or any(branches(frame.get("subFrames", [])) for frame in frames)


def flat(frames, depth=0):
    for frame in frames:
        yield frame, depth
        yield from flat(frame.get("subFrames", []), depth + 1)


def heaviest_first(frames, depth=0):
    """The path, and then the branches: those that leave it last come first."""
    if not frames:
        return []
    best = max(frames, key=lambda frame: frame["sampleCount"])
    others = [frame for frame in frames if frame is not best]
    return [(best, depth)] + heaviest_first(best.get("subFrames", []), depth + 1) + list(flat(others, depth))


def threads_of(diagnostic, is_crash):
    per_thread = diagnostic["callStackTree"]["callStackPerThread"]
    for number, stack in enumerate(diagnostic["callStackTree"]["callStacks"]):
        roots = stack["callStackRootFrames"]
        all_of = list(flat(roots))
        is_tree = not per_thread or branches(roots) or \
            (not is_crash and len(all_of) > 1 and all_of[0][0]["binaryName"] in STARTS and all_of[-1][0]["binaryName"] not in STARTS)
        frames = []
        for index, (frame, depth) in enumerate(heaviest_first(roots) if is_tree else all_of):
            one = {"index": index, "address": hex(frame["address"]), "return_address": "subFrames" in frame if is_tree else depth > 0, "image": frame["binaryName"]}
            if is_tree or not is_crash:
                one["samples"] = frame["sampleCount"]
            frames.append(one | ({"depth": depth} if is_tree else {}))
        yield {"number": number, "crashed": stack.get("threadAttributed", False), "callers_first": is_tree, "frames": frames}


def pair(first, second):
    return "%s (%s)" % (first, second) if first and second else first or (second and "(%s)" % second)


def facts_of(payload, meta, event, amount):
    number, code = meta.get("exceptionType", 0), meta.get("exceptionCode", 0)
    signal = meta.get("signal", 0)
    region, at = meta.get("virtualMemoryRegionInfo", ""), {"0x8": 8, "0": 0, "4095": 4095}
    subtype = ""
    if number == 1 and code in (1, 2):
        subtype = "KERN_INVALID_ADDRESS" if code == 1 else "KERN_PROTECTION_FAILURE"
        subtype += " at 0x%016x" % at[region.split()[0]] if region else ""
    is_ended = "terminationReason" in meta
    return {
        "event": event or "", "amount": amount(meta) or "" if amount else "", "exception": EXCEPTIONS.get(number, number and "exception %d" % number) or "",
        "signal": SIGNALS.get(signal, signal and "signal %d" % signal) or "", "subtype": subtype, "termination": "SIGNAL" if is_ended else "",
        "termination_code": "11" if is_ended else "", "description": "Segmentation fault: 11" if is_ended else "", "os": meta.get("osVersion", ""),
        "hardware": meta.get("deviceType", ""), "identifier": meta.get("bundleIdentifier", ""), "pid": meta.get("pid", ""),
        "version": pair(meta.get("appVersion") or payload.get("appVersion", ""), meta.get("appBuildVersion", "")),
        "date": payload.get("timeStampEnd") or payload.get("timeStampBegin", "")}


def expected(payload):
    for key, event, amount in KINDS:
        for diagnostic in payload[key]:
            yield facts_of(payload, diagnostic["diagnosticMetaData"], event, amount) | {"threads": list(threads_of(diagnostic, event is None))}


def told(line):
    document = json.loads(line)
    document["threads"] = [{key: thread[key] for key in ("number", "crashed", "callers_first")} | {"frames": [
        {key: frame[key] for key in ("index", "address", "return_address", "samples", "depth") if key in frame} |
        {"image": document["images"][frame["image"]]["name"]} for frame in thread["frames"]]} for thread in document["threads"]]
    return document


def main():
    tool, folder = sys.argv[1].split(), sys.argv[2]
    rng = random.Random(sys.argv[3] if len(sys.argv) > 3 else "1")
    os.makedirs(folder, exist_ok=True)
    wrong = tried = 0
    for number in range(60):
        payload = generate(rng)
        path = "%s/%d.json" % (folder, number)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(payload, file)
        want = list(expected(payload))
        lines = subprocess.run(tool + ["crash", "-q", "--no-cache", "--json", path], capture_output=True, text=True).stdout.splitlines()
        if want and len(lines) != len(want):
            print("%s: %d reports, not %d" % (path, len(lines), len(want)))
            wrong += 1
        for part, (line, one) in enumerate(zip(lines, want)):
            got, tried = told(line), tried + 1
            for key, value in one.items():
                if got.get(key, "") != value:
                    wrong += 1
                    print("%s, %d, %s: %s, not %s" % (path, part + 1, key, json.dumps(got.get(key))[:700], json.dumps(value)[:700]))
    print("%d of %d" % (wrong, tried))
    sys.exit(wrong != 0 or tried < 100)


main()
