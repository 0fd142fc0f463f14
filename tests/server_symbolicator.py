"""Symbolicator's API of machsym-server, for server.py. Requests and answers have the shapes of Symbolicator's public tests; what frames
are called is llvm-symbolizer's word, or that of machsym atos where it is not installed."""
import json
import os
import shutil
import subprocess
import time

UUID = "4c4c44b5-5555-3144-a1ba-79ca685dec58"
OTHER = "2d903291-397d-3d14-bfca-52c7fb8c5e01"
BASE, SIZE = 0x102A30000, 16384
TEXT = 0x100000000  # where the demo program's __TEXT stands in its file
NONE = {"has_debug_info": False, "has_unwind_info": False, "has_symbols": False, "has_sources": False}
DWARF = dict(NONE, has_debug_info=True, has_symbols=True)

# As Symbolicator's own sample has it: frames of images that the list lacks, a name and a line that it does not use, a frame of no image.
REPORT = """Incident Identifier: 00000000-0000-4000-8000-000000000001
CrashReporter Key:   none
Hardware Model:      MacBookPro14,3
Process:         Player [412]
Path:            /Applications/The Player.app/Contents/MacOS/Player
Identifier:      org.example.player
Version:         4.21.1
Code Type:       X86-64 (Native)
Parent Process:  launchd [1]

Date/Time:       2019-01-09 17:42:22 +0000
OS Version:      Mac OS X 10.14.0 (18A391)
Report Version:  104

Exception Type:  SIGSEGV
Exception Codes: SEGV_MAPERR at 0x88
Crashed Thread:  1

Application Specific Information:
objc_msgSend() selector name: respondsToSelector:
  more information here

Thread 0:
0   libsystem_kernel.dylib              0x00007fff61bc6c2a 0x7fff61bc6000 + 3114
1   Player                              0x0000000108b7092b 0x10864e000 + 5384491
2   Player                              0x0000000108b702a6 a_function_here + 64
3   libdyld.dylib                       0x00007fff61a8e085 start + 0
4   Elsewhere                           0x00000000000ea004 main (main.m:16)

Thread 1 Crashed: Test Thread Name
0   libsystem_kernel.dylib              0x00007fff61bc85be 0x7fff61bc6000 + 9662
1   ???                                 0x0000000054485244 0x0 + 0

Thread 1 crashed with X86-64 Thread State:
   rip: 0x00000001090a0132    rbp: 0x0000700015a616d0    rsp: 0x0000700015a613f0    rax: 0x20261bb4775b008f
 rflags: 0x0000000000010206     cs: 0x000000000000002b

Binary Images:
       0x10864e000 -        0x10ee0ffff +Player x86_64 (4.21.1 - 7) <2d903291397d3d14bfca52c7fb8c5e01> /Applications/The Player.app/Contents/MacOS/Player
       0x112bb2000 -        0x112dc3fff  libPhysics.dylib x86_64 (0.0.0 - 0.0.0) <6deccee4a0523ea4bb67957b06f53ad2> /Applications/The Player.app/Contents/Frameworks/libPhysics.dylib
"""


def form(parts, boundary="sym--bol"):
    """A multipart body, and its header."""
    body = b"".join(b'--%s\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n' % (
        boundary.encode(), name.encode(), b'; filename="x"' if name == "apple_crash_report" else b"", value) for name, value in parts)
    return body + b"--%s--\r\n" % boundary.encode(), {"Content-Type": "multipart/form-data; boundary=" + boundary}


def report_module(path, code, base, size, status):
    debug = "-".join((code[:8], code[8:12], code[12:16], code[16:20], code[20:]))
    return {"debug_status": status, "features": NONE, "arch": "unknown", "type": "macho", "code_id": code, "code_file": path, "debug_id": debug,
            "debug_file": path, "image_addr": hex(base), "image_size": size}


def report_answer():
    player = "/Applications/The Player.app/Contents/MacOS/Player"

    def frames(*of):
        return [{"status": s, "original_index": i, "instruction_addr": hex(a), **({"package": p} if p else {})} for i, (s, a, p) in enumerate(of)]

    return {
        "status": "completed", "timestamp": 1547055742, "crashed": True, "crash_reason": "SIGSEGV",
        "crash_details": "objc_msgSend() selector name: respondsToSelector:\n  more information here",
        "system_info": {"os_name": "macOS", "os_version": "10.14.0", "os_build": "18A391", "cpu_arch": "x86_64", "device_model": "MacBookPro14,3"},
        "stacktraces": [
            {"thread_id": 0, "is_requesting": False, "frames": frames(
                ("unknown_image", 0x7fff61bc6c2a, "libsystem_kernel.dylib"), ("missing", 0x108b7092b, player), ("missing", 0x108b702a6, player),
                ("unknown_image", 0x7fff61a8e085, "libdyld.dylib"), ("unknown_image", 0xea004, "Elsewhere"))},
            {"thread_id": 1, "thread_name": "Test Thread Name", "is_requesting": True,
             "registers": {"rip": "0x1090a0132", "rbp": "0x700015a616d0", "rsp": "0x700015a613f0", "rax": "0x20261bb4775b008f", "rflags": "0x10206", "cs": "0x2b"},
             "frames": frames(("unknown_image", 0x7fff61bc85be, "libsystem_kernel.dylib"), ("unknown_image", 0x54485244, None))}],
        "modules": [report_module(player, OTHER.replace("-", ""), 0x10864e000, 108797951, "missing"),
                    report_module("/Applications/The Player.app/Contents/Frameworks/libPhysics.dylib", "6deccee4a0523ea4bb67957b06f53ad2", 0x112bb2000, 2170879, "unused")]}


def calls_of(machsym, dsym, offset):
    """What is at an offset of the demo program: function, file, line, innermost first; where the function begins, where that is known."""
    symbolizer = next((s for s in ("llvm-symbolizer", *("llvm-symbolizer-%d" % n for n in range(22, 13, -1))) if shutil.which(s)), None)
    if symbolizer:
        said = json.loads(subprocess.run([symbolizer, "--output-style=JSON", "--obj=" + dsym, hex(TEXT + offset)], capture_output=True, check=True, timeout=60).stdout)
        found = (said[0] if isinstance(said, list) else said)["Symbol"]
        start = int(found[-1].get("StartAddress") or "0", 16)
        return [(c["FunctionName"], c["FileName"], c["Line"]) for c in found], start - TEXT if start else None
    said = json.loads(subprocess.run([machsym, "atos", "--json", "-i", "--offset", "-o", dsym, hex(offset)], capture_output=True, check=True, timeout=60).stdout)
    return [(c["name"], c["file"], c["line"]) for c in said["frames"]], offset - said["frames"][-1]["offset"]


class Case:
    def __init__(self, server, check, machsym, dsym):
        self.server, self.check, self.machsym, self.dsym = server, check, machsym, dsym

    def symbolicate(self, body, query=""):
        return self.server.json("POST", "/symbolicate" + query, body if isinstance(body, bytes) else json.dumps(body).encode())

    def report(self, parts, query="", **headers):
        body, kind = form(parts)
        return self.server.json("POST", "/applecrashreport" + query, body, **kind, **headers)

    def asked(self, *frames, **more):
        """A request for frames of the demo program."""
        module = {"type": "macho", "debug_id": UUID, "code_file": "/x/demo", "image_addr": hex(BASE), "image_size": SIZE, **more.pop("module", {})}
        return {"platform": "native", "modules": [module], "threads": [{"frames": list(frames)}], **more}

    def test_missing(self):
        """Before any symbols are there."""
        status, said = self.report([("apple_crash_report", REPORT.encode()), ("sources", b"[]")])
        self.check((status, said) == (200, report_answer()), "/applecrashreport of an unknown program", status, said)
        status, said = self.symbolicate(self.asked({"instruction_addr": hex(BASE + 0xaec)}, sources=[], unknown="value", signal=None))
        wanted = {"status": "completed", "stacktraces": [{"frames": [{"status": "missing", "original_index": 0, "instruction_addr": hex(BASE + 0xaec), "package": "/x/demo"}]}],
                  "modules": [{"debug_status": "missing", "features": NONE, "arch": "unknown", "type": "macho", "debug_id": UUID, "code_file": "/x/demo",
                               "image_addr": hex(BASE), "image_size": SIZE}]}
        self.check((status, said) == (200, wanted), "/symbolicate without symbols", status, said)
        pe = {"stacktraces": [{"registers": {"eip": "0x0000000001509530"}, "frames": [{"instruction_addr": "0x749e8630"}]}],
              "modules": [{"type": "pe", "debug_id": "ff9f9f78-41db-88f0-cded-a9e1e9bff3b5-1", "code_file": "C:\\kernel32.dll", "image_addr": "0x749d0000", "image_size": 851968}]}
        status, said = self.symbolicate(pe)
        self.check(said["modules"][0]["debug_status"] == "unsupported" and said["stacktraces"] == [
            {"registers": {"eip": "0x1509530"}, "frames": [{"status": "missing", "original_index": 0, "instruction_addr": "0x749e8630", "package": "C:\\kernel32.dll"}]}],
                   "a module of Windows is unsupported", said)
        for kind, wanted in (("elf", "unsupported"), ("wasm", "unsupported"), ("symbolic", "missing"), ("", "missing")):
            said = self.symbolicate(self.asked({"instruction_addr": BASE}, module={"type": kind}))[1]
            self.check(said["modules"][0]["debug_status"] == wanted, "a module of type %r" % kind, said)

    def test_found(self):
        """With the dSYM: names, lines and places."""
        for offset, adjust in ((0xaec, None), (0xa7c, True), (0xaec, False), (0x944, False)):
            frame = {"instruction_addr": hex(BASE + offset), **({} if adjust is None else {"adjust_instruction_addr": adjust})}
            said = self.symbolicate(self.asked(frame))[1]
            frames = said["stacktraces"][0]["frames"]
            calls, start = calls_of(self.machsym, self.dsym, offset - 1 if adjust else offset)
            self.check([(f.get("function"), f.get("abs_path"), f.get("lineno")) for f in frames] == calls, "the calls at %#x" % offset, frames, calls)
            self.check(all(f["status"] == "symbolicated" and f["original_index"] == 0 and f["instruction_addr"] == hex(BASE + offset) and f["package"] == "/x/demo"
                           and f["filename"] == os.path.basename(f["abs_path"]) and f["symbol"] for f in frames), "each call is a frame of one index", frames)
            self.check(start is None or int(frames[-1]["sym_addr"], 16) == BASE + start, "where the function begins", frames[-1], start)
        module = said["modules"][0]
        self.check((module["debug_status"], module["arch"], module["features"], "candidates" in module) == ("found", "arm64", DWARF, False), "the module is found", module)
        module = self.symbolicate(self.asked({"instruction_addr": BASE + 0xaec}, options={"dif_candidates": True}))[1]["modules"][0]
        place = "symbols/" + UUID[:2] + "/" + UUID.replace("-", "")[2:]
        self.check(module.get("candidates") == [{"source": "machsym", "location": place + "/debuginfo", "download": {"status": "ok", "features": DWARF}, "debug": {"status": "ok"}},
                                                {"source": "machsym", "location": place + "/executable", "download": {"status": "notfound"}}], "candidates", module)
        self.check(self.server.ask("GET", "/" + place + "/debuginfo")[0] == 200, "a candidate's location is a path of the server")

    def test_addresses(self):
        """Which frames are return addresses; relative addresses; modules that overlap, or are there twice."""
        at = {"instruction_addr": hex(BASE + 0xa7c)}

        def lines(body):
            return [f.get("lineno") for f in self.symbolicate(body)[1]["stacktraces"][0]["frames"] if "sym_addr" in f]

        exact, caller = calls_of(self.machsym, self.dsym, 0xa7c)[0][-1][2], calls_of(self.machsym, self.dsym, 0xa7b)[0][-1][2]
        self.check(exact != caller, "the two addresses differ")
        self.check(lines(self.asked(at, at)) == [exact, caller], "the first frame of a stack is exact, others are return addresses")
        self.check(lines(self.asked(dict(at, adjust_instruction_addr=True), dict(at, adjust_instruction_addr=False), dict(at, adjust_instruction_addr="auto"))) ==
                   [caller, exact, caller], "adjust_instruction_addr")
        stack = {"frames": [at], "registers": {"pc": hex(BASE)}}
        for signal, pc, wanted in ((11, BASE, caller), (6, BASE, exact), (None, BASE, exact), (11, BASE + 0xa7c, exact)):
            body = self.asked(signal=signal)
            body["threads"] = [dict(stack, registers={"pc": hex(pc)})]
            self.check(lines(body) == [wanted], "signal %r, pc %#x" % (signal, pc), lines(body), wanted)
        said = self.symbolicate(self.asked({"instruction_addr": "0xaec", "addr_mode": "rel:0"}, {"instruction_addr": "0xaec", "addr_mode": "rel:7"}))[1]["stacktraces"][0]["frames"]
        self.check(said[-2]["status"] == "symbolicated" and said[-2]["instruction_addr"] == hex(BASE + 0xaec), "an address relative to a module", said)
        self.check(said[-1] == {"status": "unknown_image", "original_index": 1, "instruction_addr": "0xaec", "addr_mode": "rel:7"}, "a module that is not there", said[-1])
        body = self.asked(at)
        body["modules"] += [dict(body["modules"][0], debug_id=OTHER), dict(body["modules"][0], debug_id=OTHER, image_addr=1, image_size=1 << 50), {}]
        said = self.symbolicate(body)[1]
        self.check([m["debug_status"] for m in said["modules"]] == ["found", "unused", "unused", "unused"], "of equal modules the first, of nested ones the inner", said["modules"])
        body["modules"][0]["image_addr"] = hex(BASE + 0x1000)
        self.check([m["debug_status"] for m in self.symbolicate(body)[1]["modules"]] == ["unused", "missing", "unused", "unused"], "a module that begins later does not count")
        for addr in (BASE + SIZE, BASE - 1, 0, (1 << 64) - 1):
            said = self.symbolicate(self.asked({"instruction_addr": hex(addr)}))[1]
            self.check(said["stacktraces"][0]["frames"] == [{"status": "unknown_image", "original_index": 0, "instruction_addr": hex(addr)}], "outside: %#x" % addr, said)
        said = self.symbolicate(self.asked({"instruction_addr": hex(BASE + 5)}))[1]["stacktraces"][0]["frames"]
        self.check([f["status"] for f in said] == ["missing_symbol"], "an address without a function", said)

    def test_report(self, demo):
        """A report of the demo program: each frame is named as machsym crash names it."""
        shown = subprocess.run([self.machsym, "crash", "--json", "--no-cache", "-d", self.dsym, demo], capture_output=True, check=True, timeout=60).stdout
        wanted = json.loads(shown)
        with open(demo, "rb") as file:
            status, said = self.report([("apple_crash_report", file.read()), ("options", b'{"dif_candidates":true}')])
        self.check(status == 200 and len(said["stacktraces"]) == len(wanted["threads"]), "a stack for each thread", said)
        for stack, thread in zip(said["stacktraces"], wanted["threads"]):
            calls = [(f["original_index"], f.get("function"), f.get("lineno")) for f in stack["frames"] if f["status"] == "symbolicated"]
            truth = [(i, c["name"], c["line"]) for i, f in enumerate(thread["frames"]) for c in f["calls"]]
            self.check(calls == truth and stack["is_requesting"] == thread["crashed"], "a thread as machsym crash has it", stack, truth)
        self.check(said["crash_reason"] == "EXC_BREAKPOINT (SIGTRAP)" and said["system_info"]["os_name"] == "iPhone OS", "of the report", said)
        self.check(said["modules"][0]["debug_status"] == "found" and said["modules"][0]["candidates"][0]["download"]["status"] == "ok", "its module", said["modules"][0])

    def test_refusals(self):
        """What is wrong is refused, and the next request is answered."""
        good = self.asked({"instruction_addr": hex(BASE + 0xaec)})
        frames = [dict(good["threads"][0]["frames"][0], **bad) for bad in (
            {"instruction_addr": "0x10000000000000000"}, {"instruction_addr": -1}, {"instruction_addr": "-0x1"}, {"instruction_addr": ""}, {"instruction_addr": 1.5},
            {"instruction_addr": None}, {"addr_mode": "rel"}, {"addr_mode": "rel:-1"}, {"addr_mode": "rel:99999999999"}, {"addr_mode": 1}, {"adjust_instruction_addr": "maybe"})]
        bodies = [b"", b"{", b"[]", b"1", b"[" * 99999, dict(good, modules=1), dict(good, modules=[1]), dict(good, threads=[1]), dict(good, threads=[{"frames": 1}]),
                  dict(good, threads=[{"frames": [{}]}]), dict(good, sources=1), dict(good, signal=-1), dict(good, stacktraces=[]), dict(good, modules=[{"image_addr": "x"}]),
                  dict(good, modules=[{"image_size": -5}]), dict(good, modules=[{}] * 10001), dict(good, threads=[{"frames": [], "registers": {"pc": "x"}}]),
                  *(dict(good, threads=[{"frames": [f]}]) for f in frames)]
        for body in bodies:
            status, said = self.symbolicate(body)
            self.check(status == 400 and said["error"], "%.60r is refused" % (body,), status, said)
        many = dict(good, threads=[{"frames": [{"instruction_addr": BASE + 0xaec}] * 100000}])
        status, said = self.symbolicate(many)
        self.check(status == 200 and said["stacktraces"][0]["frames"][-1]["original_index"] == 99999, "100,000 frames are answered", status)
        many["threads"].append(good["threads"][0])
        self.check(self.symbolicate(many)[0] == 400, "one more is refused")
        self.check(self.symbolicate(dict(good, platform="\u0000 what", modules=[]))[1]["stacktraces"][0]["frames"][0]["status"] == "unknown_image", "an unknown platform")
        for query in ("?timeout=x", "?timeout=-1", "?timeout=601", "?timeout=1.5"):
            self.check(self.symbolicate(good, query)[0] == 400, query)
        self.check(self.symbolicate(b" " * ((4 << 20) + 1))[0] == 413, "a body that is too long")
        report = ("apple_crash_report", REPORT.encode())
        body, kind = form([report])
        for sent, headers in ((body[:len(body) // 2], kind), (body[:-8], kind), (b"", kind), (body, {}), (body, {"Content-Type": "multipart/form-data"}),
                              (body, {"Content-Type": "multipart/form-data; boundary=other"}), (form([])[0], kind), (form([("other", b"x")])[0], kind),
                              (form([report, report])[0], kind), (form([report, ("sources", b"{")])[0], kind), (form([report, ("options", b"[]")])[0], kind),
                              (form([("apple_crash_report", b"")])[0], kind)):
            status, said = self.server.json("POST", "/applecrashreport", sent, **headers)
            self.check(status == 400 and said["error"], "a form of %d bytes is refused: %r" % (len(sent), headers), status, said)
        for wrong in (b"no report", REPORT.encode() * 2):
            status, said = self.report([("apple_crash_report", wrong)])
            self.check((status, said["status"]) == (200, "failed") and said["message"], "%.20r fails" % wrong, status, said)
        self.check(self.report([report])[1] == report_answer(), "the next one is answered")

    def test_access(self):
        for path in ("/symbolicate", "/applecrashreport", "/requests/1"):
            method = "GET" if path.startswith("/req") else "POST"
            self.check(self.server.ask(method, path, token="none")[0] == 401, path + " needs a token")
            self.check(self.server.ask(method, path, token=self.server.new_token("send"))[0] == 403, path + " needs the role read")
            self.check(self.server.ask("DELETE", path)[0] == 405, path + " has one method")
        self.check(self.server.ask("GET", "/healthcheck", token="none") == (200, b"ok"), "/healthcheck")
        self.check(self.server.ask("POST", "/healthcheck")[0] == 405, "/healthcheck is read")

    def test_pending(self):
        """A request that outlasts its timeout goes on, and only its project gets the answer."""
        body = self.asked({"instruction_addr": hex(BASE + 0xaec)})
        self.check(self.symbolicate(body, "?timeout=60&scope=any")[1]["status"] == "completed", "an answer before the timeout")
        status, said = self.symbolicate(body, "?timeout=0")
        self.check((status, said["status"], said["retry_after"]) == (200, "pending", 1), "an answer that is not waited for", said)
        key = "/requests/" + said["request_id"]
        self.check(self.server.ask("GET", key, token=self.server.new_token("read:other"))[0] == 404, "another project's request is not there")
        self.check(self.server.ask("GET", key + "?timeout=x")[0] == 400, "a timeout that is no number")
        said = self.server.json("GET", key + "?timeout=60")[1]
        self.check(said == self.symbolicate(body)[1], "the answer comes", said)
        self.check(self.server.json("GET", key)[1] == said, "and stays for a client that lost it")
        for name in ("", "0" * 32, "../symbols", "x" * 5000):
            self.check(self.server.ask("GET", "/requests/" + name)[0] in (404, 301), "no such request: %.40r" % name)


def test(server, check, machsym, dsym, demo):
    case = Case(server, check, machsym, dsym)
    case.test_access()
    case.test_missing()
    with open(dsym, "rb") as file:
        check(server.json("POST", "/symbols?name=demo", file.read())[0] == 200, "a dSYM")
    case.test_found()
    case.test_addresses()
    case.test_report(demo)
    case.test_pending()
    case.test_refusals()
    begin = time.monotonic()
    case.test_found()
    check(time.monotonic() - begin < 30, "nothing waits after all that")
