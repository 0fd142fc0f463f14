#!/usr/bin/env python3
"""What crash/1 says of the state of a thread is what the report's own bytes say: registers and instructions of an .ips are read here
once more, and those of Apple's text of the same incident (tests/golden/apple, published pairs in form) are equal. What registers point
to is what their image's symbols say. Old MetricKit has its version and device.
Usage: brief.py MACHSYM WORK. The last line is "N passed, N failed, 0 skipped"."""
import base64
import json
import os
import random
import shlex
import subprocess
import sys
import urllib.parse

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
    for value, want in ((0x92000006, {"class": "data_abort", "fault": "translation", "access": "read"}),
                        (0x9200004f, {"class": "data_abort", "fault": "permission", "access": "write"}), (0xf2000001, {"class": "brk"})):
        report, = reports_of("-", data=with_state(state={"esr": {"value": value}})[0])
        check(crashed_of(report).get("esr") == dict(want, value=hex(value)), "esr", crashed_of(report).get("esr"))
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


# ---- Briefs ----

def brief_of(line, what):
    """A brief that fits and is valid."""
    check(len(line) + 1 <= 1500, what + ": at most 1,500 bytes", len(line))
    try:
        brief = json.loads(line.decode("utf-8", "strict"))
    except ValueError as error:
        check(False, what + ": JSON in UTF-8", (error, line))
        return {}
    check(brief["schema"] == "crash-brief/1" and isinstance(brief["what"], str) and isinstance(brief["where"], list), what + ": members", brief)
    return brief


def compare(brief, report, what):
    """What a brief says is in crash/1."""
    calls = [c for t in report["threads"] for f in t["frames"] for c in f["calls"]]
    for frame in brief["where"]:
        if "line" in frame and not frame["name"].endswith("..."):
            same = [c for c in calls if c["name"] == frame["name"] and c["line"] == frame["line"] and c["file"].endswith(frame["file"].lstrip("."))]
            check(same and frame.get("link") in (None, same[0].get("link")), what + ": where", frame)
    check(brief["cause"] == report["facts"]["cause"], what + ": cause", brief)
    words, sentence = report["facts"]["words"], report["facts"]["sentence"]
    check(brief["what"] == sentence or (brief["what"].endswith("...") and sentence.startswith(brief["what"][:-3])), what + ": what", (brief, sentence))
    check(all(w in words or (w.endswith("...") and any(x.startswith(w[:-3]) for x in words)) for w in brief.get("words", [])), what + ": words", (brief, words))
    fault = report["facts"].get("fault", {})
    check(all(fault.get(k) == v or k == "region" for k, v in brief.get("fault", {}).items()), what + ": fault", (brief.get("fault"), fault))
    values = {(r["name"], r["value"]) for t in report["threads"] for r in t.get("registers", [])}
    check(all((r["name"], r["value"]) in values for r in brief.get("registers", [])), what + ": registers", brief)


def test_brief():
    link = ["--link=https://host/a/blob/" + "0" * 40 + "/{path}#L{line}", "--source-root=/fixtures="]
    paths = sorted(os.path.join(d, f) for folder in ("reports", "services", "stacks", "system", "apple", "facts") for d, _, files in os.walk(FIXTURES + folder)
                   for f in files if not f.endswith((".md", "SOURCES")))
    seen = 0
    for path in paths:
        arguments = [*LOOK, *link, path]
        json_lines = subprocess.run(MACHSYM + ["crash", "-q", "--json", *arguments], capture_output=True, timeout=60)
        lines = subprocess.run(MACHSYM + ["crash", "-q", "--brief", *arguments], capture_output=True, timeout=60)
        check(lines.returncode == json_lines.returncode, path + ": status", lines.stderr)
        reports = [json.loads(line) for line in json_lines.stdout.splitlines()]
        briefs = lines.stdout.splitlines()
        check(len(reports) == len(briefs), path + ": a line a report", (len(reports), len(briefs)))
        for line, report in zip(briefs, reports):
            compare(brief_of(line, path), report, path)
            seen += 1
    check(seen > 80, "reports", seen)
    for other in ("--summary", "--signature", "--group"):
        done = subprocess.run(MACHSYM + ["crash", "--brief", other, FIXTURES + "reports/demo.ips"], capture_output=True, timeout=60)
        check(done.returncode == 2 and not done.stdout and b"--brief is an answer" in done.stderr, "--brief " + other, done.stderr)


def test_readme():
    """What README shows is what comes; the brief is broken into lines there."""
    block = next(b for b in open("README.md", encoding="utf-8").read().split("```\n") if "--brief" in b and "--summary" in b)
    first, second = block.replace("\\\n", "").split("$ ")[1:]
    for shown, is_brief in ((first, False), (second, True)):
        command, output = shown.split("\n", 1)
        words = shlex.split(command, comments=True)
        done = subprocess.run(MACHSYM + words[1:], capture_output=True, timeout=60)
        text = done.stdout.decode()
        check(words[0] == "machsym" and (output.replace("\n", "") == text.rstrip("\n") if is_brief else output == text), "README: " + command, text)


def test_brief_of_anything():
    """Names of any length and bytes, many images, many words."""
    chance = random.Random(4)
    letters = ['"', "\\", "\x01", "\x7f", "\u00e9", "\u2028", "\U0001f600", "a", "<", "\ud800", "x" * 40]
    head, body = open(FIXTURES + "apple/mac26.ips", encoding="utf-8").read().split("\n", 1)
    for number in range(60):
        def noise():
            return "".join(chance.choice(letters) for _ in range(chance.choice((0, 1, 5, 60, 400, 3000))))
        report = json.loads(body)
        report.update(procName=noise(), vmRegionInfo=noise() + "\n---> " + noise() + " 0-10000 [ 1K] rw-/rwx", asi={noise(): [noise(), noise()]})
        report["bundleInfo"] = {"CFBundleShortVersionString": noise(), "CFBundleVersion": noise()}
        report["osVersion"] = {"train": noise(), "build": noise()}
        report["exception"] = {"type": "EXC_BAD_ACCESS", "signal": "SIGSEGV", "subtype": noise(), "codes": noise()}
        report["termination"] = {"namespace": noise(), "code": 5, "indicator": noise()}
        for image in report["usedImages"]:
            image["name"], image["path"] = noise(), "/Applications/" + noise()
            image["uuid"] = "%08x-0000-4000-8000-000000000000" % chance.getrandbits(32)
        for thread in report["threads"]:
            for frame in thread["frames"]:
                if chance.random() < 0.5:
                    frame.update(symbol=noise(), sourceFile=noise(), sourceLine=3, symbolLocation=1)
        data = (head + "\n" + json.dumps(report)).encode("utf-8", "surrogatepass")
        path = WORK + "/" + "".join(chance.choice("ab \u00e9'") for _ in range(chance.choice((1, 30, 60)))) + ".ips"
        open(path, "wb").write(data)
        done = subprocess.run(MACHSYM + ["crash", "-q", "--brief", *LOOK, path], capture_output=True, timeout=60)
        check(done.stdout.count(b"\n") == 1, "a line", done.stderr)
        brief = brief_of(done.stdout.rstrip(b"\n"), "noise %d" % number)
        check("signature" in brief and "do" in brief and brief["where"], "what matters is there", brief)


def test_brief_cuts():
    """Texts are cut between characters, and end in dots; links are whole or not there; what matters of the registers."""
    head, body = open(FIXTURES + "apple/mac26.ips", encoding="utf-8").read().split("\n", 1)
    report = json.loads(body)
    for number in range(24):
        letter = ("\u00e9", "\u4e16", "\U0001f600")[number % 3]
        report["procName"] = "x" * (number // 3) + letter * 90
        brief = brief_of(crash("--brief", "-", data=(head + "\n" + json.dumps(report)).encode()).encode().rstrip(), "a long name")
        check(brief["app"].rstrip(".").strip("x").strip(letter) == "" and brief["app"].endswith("..."), "cut between characters", brief["app"])
    for length in (0, 100, 250, 500, 1000, 3000):
        template = "https://host/" + "b" * length + "/{path}#L{line}"
        brief = brief_of(crash("--brief", "--link=" + template, FIXTURES + "reports/demo.ips").encode().rstrip(), "links of %d" % length)
        links = [f["link"] for f in brief["where"] if "link" in f]
        check(len(brief["where"]) == 3 and all(template.split("{")[0] in k and "#L" in k for k in links), "links are whole", brief)
        check(length > 100 or len(links) == 3, "short links are there", brief)
    report = json.loads(body)
    thread = next(t for t in report["threads"] if t.get("triggered"))
    far = int(report["exception"]["subtype"].rsplit(" ", 1)[1], 16) + 0x10000
    report["exception"]["subtype"] = "KERN_INVALID_ADDRESS at %#x" % far
    thread["threadState"] = {"x": [{"value": 1 << 40}] * 5 + [{"value": far - 0x18}, {"value": far + 1}], "far": {"value": far}}
    brief = brief_of(crash("--brief", "-", data=(head + "\n" + json.dumps(report)).encode()).encode().rstrip(), "registers")
    check([r["name"] for r in brief["registers"]] == ["x0", "x1", "x5"], "the register whose field was read", brief["registers"])


# ---- Links and lines ----

def calls_of(*arguments):
    report, = reports_of(FIXTURES + "reports/demo.ips", *arguments)
    return [c for t in report["threads"] for f in t["frames"] for c in f["calls"]]


def test_links():
    template = "https://host/{commit}/{path}?v={version}&b={build}#L{line}C{column}"
    calls = calls_of("--link=" + template, "--commit=a b/\u00e9", "--source-root=/nowhere=x", "--source-root=/fixtures/=top dir")
    for call in calls:
        path = urllib.parse.quote("top dir/" + call["file"][len("/fixtures/"):])
        want = "https://host/a%%20b/%%c3%%a9/%s?v=1.2&b=7#L%dC%d" % (path, call["line"], call["column"])
        check(call["link"] == want, "a link", (call.get("link"), want))
    check(all(c["link"] == "vscode://file/fixtures/demo/%s:%d" % (os.path.basename(c["file"]), c["line"])
              for c in calls_of("--link=vscode://file/{path}:{line}")), "without roots", calls)
    check(not any("link" in c for c in calls_of("--link=https://h/{path}", "--source-root=/fixture=")), "a root ends where a part does")
    check(not any("link" in c for c in calls_of("--source-root=/fixtures=")), "no template, no links")
    for wrong in ("javascript:alert({path})", "data:text/html,{path}", "vbscript:{path}", "JavaScript://{path}", "//h/{path}", "{path}", "", "https://h/x",
                  "https://h/{path}\n", 'https://h/"{path}', "https://h/{path}{x}", "https://h/{path", "https://h/}{path}", "https://h/<{path}"):
        done = subprocess.run(MACHSYM + ["crash", "--link=" + wrong, FIXTURES + "reports/demo.ips"], capture_output=True, timeout=60)
        check(done.returncode == 2 and not done.stdout and b"machsym: --link" in done.stderr, "no link: %r" % wrong, done.stderr)
    for wrong in (["--link=https://h/{commit}/{path}"], ["--source-root=x"], ["--source-root==x"], ["--context=2"], ["--sources=.", "--context=0"],
                  ["--sources=.", "--context=21"]):
        done = subprocess.run(MACHSYM + ["crash", *wrong, FIXTURES + "reports/demo.ips"], capture_output=True, timeout=60)
        check(done.returncode == 2 and not done.stdout, "refused: %s" % wrong, done.stderr)
    page = crash("--html", "--link=https://host/{path}#L{line}", FIXTURES + "reports/demo.ips")
    check("https://host/fixtures/demo/player.mm#L19" in page, "links on the page")


def test_paths():
    """A path that leaves its root has no link; "." and ".." in one that does not are taken out."""
    for path in ("../c.c", "/../c.c", "a/../../c.c"):
        check(link_of(path, roots=[]) is None, "a path that leaves everything: " + path, link_of(path, roots=[]))
    for written, want in (("/r/a/../b/./c.c", "b/c.c"), ("/r/../etc/c.c", None), ("/r/a/../../etc/c.c", None), ("/r//b\\c.c", "b/c.c"), ("../c.c", None)):
        got = link_of(written)
        check(got == (want and "https://h/" + want), "path %s" % written, got)


def link_of(path, roots=("--source-root=/r=",)):
    """The link of a call in that file, by way of --line-map: C# lines of the fixture's C++."""
    mapping = {"/fixtures/demo/queue.hpp": {path: {str(n): n for n in range(1, 40)}}}
    open(WORK + "/LineNumberMappings.json", "w", encoding="utf-8").write(json.dumps(mapping))
    calls = calls_of("--line-map", WORK + "/LineNumberMappings.json", "--link=https://h/{path}", *roots)
    call = next(c for c in calls if c["name"] == "require(bool)")
    return call.get("link") if call["file"] == path else "no mapping: %s" % call["file"]


def test_context():
    folder = os.path.abspath(FIXTURES + "src")
    for n in (1, 3, 20):
        for call in calls_of("--sources=" + folder, "--source-root=/fixtures=", "--context=%d" % n):
            lines = open(folder + call["file"][len("/fixtures"):], encoding="utf-8").read().splitlines()
            first = max(1, call["line"] - n)
            check(call["context"] == {"first": first, "lines": lines[first - 1:call["line"] + n]}, "lines of %s" % call["file"], call)
    # what is outside, by a path, by a link to a file and to a folder, and what is no file
    outside, inside = WORK + "/outside", WORK + "/inside"
    for made in (outside, inside + "/demo", inside + "/deep"):
        os.makedirs(made)
    open(outside + "/queue.hpp", "w").write("secret\n" * 50)
    roots = ["--source-root=/fixtures/demo=demo"]
    if hasattr(os, "symlink"):
        os.symlink(outside + "/queue.hpp", inside + "/demo/queue.hpp")
        check(not any("context" in c for c in calls_of("--sources=" + inside, *roots)), "a link that leads out is not followed")
        os.remove(inside + "/demo/queue.hpp")
        os.symlink(outside, inside + "/out")
        check(not any("context" in c for c in calls_of("--sources=" + inside, "--source-root=/fixtures/demo=out")), "nor is a folder")
        open(inside + "/deep/queue.hpp", "w").write("fine\n" * 50)
        os.symlink("../deep/queue.hpp", inside + "/demo/queue.hpp")
        check(any(c.get("context", {}).get("lines") == ["fine"] * 7 for c in calls_of("--sources=" + inside, *roots)), "one that stays inside is")
        os.remove(inside + "/demo/queue.hpp")
    check(not any("context" in c for c in calls_of("--sources=" + inside, "--source-root=/fixtures/demo=../outside")), "a root leads out of the folder")
    os.makedirs(inside + "/demo/queue.hpp")
    check(not any("context" in c for c in calls_of("--sources=" + inside, *roots)), "a folder is no file")
    os.rmdir(inside + "/demo/queue.hpp")
    open(inside + "/demo/queue.hpp", "wb").write(b"\n".join([b"\xff\x01" + b"\xc3\xa9" * 4000] * 8))
    lines = [c["context"]["lines"] for c in calls_of("--sources=" + inside, *roots) if "context" in c]
    check(lines and all(len(x.encode()) < 1500 and x.rstrip("\u00e9") == "\ufffd\x01" for line in lines for x in line), "long lines are cut between characters", lines[:1])
    open(inside + "/demo/queue.hpp", "w").write("one\n")
    check(not any("context" in c for c in calls_of("--sources=" + inside, *roots)), "a file without that line")
    done = subprocess.run(MACHSYM + ["crash", "--sources=" + WORK + "/nothing", FIXTURES + "reports/demo.ips"], capture_output=True, timeout=60)
    check(done.returncode == 1 and b"no folder of sources" in done.stderr, "no folder", done.stderr)


def main():
    for name, test in sorted(globals().items()):
        if name.startswith("test_"):
            test()
    print("%d passed, %d failed, 0 skipped" % (counts[0], counts[1]))
    return counts[1] != 0


sys.exit(main())
