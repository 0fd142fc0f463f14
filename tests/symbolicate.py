#!/usr/bin/env python3
"""Asks examples/symbolicate-v5 by curl and compares its answers. Usage: symbolicate.py MACHSYM WORK. The last line is "N passed, N failed, 0 skipped"."""
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys

MACHSYM, WORK = sys.argv[1], sys.argv[2]
BIN = "tests/fixtures/bin"
DEMO = BIN + "/demo.app.dSYM/Contents/Resources/DWARF/demo"
ID = "4C4C44B555553144A1BA79CA685DEC580"
counts = [0, 0]


def check(ok, what, seen=""):
    counts[not ok] += 1
    if not ok:
        print("failed: %s: %.900s" % (what, seen))


def tool(*arguments):
    return subprocess.run(shlex.split(MACHSYM) + list(arguments), capture_output=True, timeout=60, check=True).stdout.decode()


def post(url, body, *options):
    """The status and the answer."""
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    done = subprocess.run(["curl", "-s", "-w", "\n%{http_code}", "--data-binary", "@-", *options, url], input=body, capture_output=True, timeout=60)
    text, _, status = done.stdout.decode().rpartition("\n")
    return int(status), text


def raw(url, text):
    """All that is answered to bytes, until the server ends the connection."""
    host, port = url.split("/")[2].split(":")
    with socket.create_connection((host, int(port)), timeout=50) as connection:
        try:
            connection.sendall(text.encode())
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(1 << 16), b"")).decode()
        except OSError as error:
            return str(error)


def flat(frame):
    """A frame of the API as calls, the innermost first."""
    calls = frame.get("inlines", []) + ([frame] if "function" in frame else [])
    return [(c["function"], c.get("file"), c.get("line")) for c in calls]


def test_answers(url):
    offsets = [0xaec, 0x944, 0x940, 0xa7b, 0xaef, 0, 1 << 40]
    names = [("demo", ID), ("other", "0" * 33), ("unused", "1" * 33), ("no id", "x")]
    job = {"memoryMap": names, "stacks": [[[0, o] for o in offsets], [], [[1, 5], [3, 6], [-1, 7]]]}
    status, text = post(url, {"jobs": [job, job], "version": 5})
    results = json.loads(text)["results"]
    check(status == 200 and len(results) == 2 and results[0] == results[1], "an answer for each job", text)
    found = {"demo/" + ID: True, "other/" + "0" * 33: False, "unused/" + "1" * 33: None, "no id/x": False}
    check(results[0]["found_modules"] == found, "found_modules", results[0]["found_modules"])
    stack, nothing, missing = results[0]["stacks"]
    check(nothing == [] and missing == [{"frame": 0, "module_offset": "0x5", "module": "other"}, {"frame": 1, "module_offset": "0x6", "module": "no id"},
                                        {"frame": 2, "module_offset": "0x7", "module": "<unknown>"}], "frames without symbols", missing)
    lines = "--lines=people"  # as machsym worker
    shown = [json.loads(line)["frames"] for line in tool("atos", "--json", "-i", "--offset", lines, "-o", DEMO, *[hex(o) for o in offsets]).splitlines()]
    for i, (frame, want) in enumerate(zip(stack, shown)):
        check((frame["frame"], frame["module"], frame["module_offset"]) == (i, "demo", hex(offsets[i])), "which frame", frame)
        check(flat(frame) == [(c["name"], c["file"], c["line"]) for c in want], "the calls of %#x" % offsets[i], (frame, want))
        check(not want or int(frame["function_offset"], 16) == want[-1]["offset"], "the offset in the function", frame)
    status, text = post(url, job)
    check(status == 200 and json.loads(text)["results"] == results[:1], "a job by itself", text)
    return dict(zip(offsets, stack))


def test_others(stack):
    """llvm-symbolizer says the same of each call."""
    symbolizer = next((s for s in ("llvm-symbolizer", *("llvm-symbolizer-%d" % n for n in range(22, 13, -1))) if shutil.which(s)), None)
    if symbolizer is None:
        return
    for offset in (0xaec, 0x944, 0xa7b):
        out = subprocess.run([symbolizer, "--output-style=JSON", "--obj=" + DEMO, hex(0x100000000 + offset)], capture_output=True, timeout=60).stdout
        want = [(s["FunctionName"], s["FileName"], s["Line"]) for s in json.loads(out)[0]["Symbol"]] if out.startswith(b"[") else \
            [(s["FunctionName"], s["FileName"], s["Line"]) for s in json.loads(out)["Symbol"]]
        check(flat(stack[offset]) == want, symbolizer + " of %#x" % offset, (flat(stack[offset]), want))


def test_refusals(url):
    good = {"memoryMap": [["demo", ID]], "stacks": [[[0, 1]]]}
    for body in (b"", b"{", b"[]", b"null", b"[" * 99999, {}, {"jobs": 1}, {"jobs": [1]}, {"jobs": [{}]}, dict(good, stacks=1), dict(good, stacks=[1]),
                 dict(good, stacks=[[1]]), dict(good, stacks=[[[0]]]), dict(good, stacks=[[[0, 1, 2]]]), dict(good, stacks=[[[1, 1]]]),
                 dict(good, stacks=[[["x", 1]]]), dict(good, memoryMap=1), dict(good, memoryMap=[1]), dict(good, memoryMap=[["demo"]]),
                 dict(good, memoryMap=[["demo", 1]])):
        status, text = post(url, body)
        check(status == 400 and json.loads(text)["error"], "%.40r is refused" % (body,), (status, text))
    status, text = post(url, b" " * ((1 << 20) + 1))
    check(status == 413, "a body that is too long", (status, text))
    long = "POST /symbolicate/v5 HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n" % (8 << 20)
    seen = raw(url, long + "\r\n" + " " * (8 << 20))
    check(seen.startswith("HTTP/1.1 413 "), "who sends all of such a body first gets the answer", seen)
    seen = raw(url, long + "Expect: 100-continue\r\n\r\n")
    check(seen.startswith("HTTP/1.1 413 "), "who asks first is refused at once", seen)
    status, text = post(url, good, "-H", "Expect: 100-continue")
    check(status == 200, "who asks first with a body of good length is answered", (status, text))
    status, text = post(url, good, "-H", "Content-Length:", "-H", "Transfer-Encoding: chunked")
    check(status == 411, "a body of no length", (status, text))
    for method, headers, status in (("POST", "Content-Length: 2\r\nContent-Length: 3", 411), ("POST", "Content-Length: " + "9" * 5000, 411),
                                    ("POST", "Content-Length: 2\r\nTransfer-Encoding: chunked", 411), ("GET", "Content-Length: 26", 200)):
        seen = raw(url, "%s /health HTTP/1.1\r\nHost: x\r\n%s\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n" % (method, headers))
        check(seen.startswith("HTTP/1.1 %d " % status) and seen.count("HTTP/1.1 ") == 1, "the body is no request: %s %.60s" % (method, headers), seen)
    status, text = post(url, json.dumps(dict(good, memoryMap=[["\u00e9" * 400000, ID]]), ensure_ascii=False).encode())
    check(status == 413, "a body that JSON makes too long for the worker", (status, text))
    status, text = post(url, good)
    check(status == 200, "the next one is answered", (status, text))
    status, text = post(url + "x", good)
    check(status == 404, "another place", (status, text))
    status, text = post(url, good, "-X", "OPTIONS", "-i")
    check("Access-Control-Allow-Origin: https://example.org" in text, "pages of another origin", text)
    status, text = post(url, dict(good, memoryMap=[["a\"\n\u00e9</script>", ID]]))
    check(status == 200 and json.loads(text)["results"][0]["stacks"][0][0]["module"] == "a\"\n\u00e9</script>", "names are texts", text)


os.makedirs(WORK + "/symbols", exist_ok=True)
tool("map", "build", "--no-progress", "--lines=people", "--store", WORK + "/symbols", DEMO)
for symbols in (BIN + "/demo.app.dSYM", WORK + "/symbols"):
    log = open(WORK + "/server.log", "w", encoding="utf-8")
    server = subprocess.Popen([sys.executable, "examples/symbolicate-v5/server.py", "--port=0", "--max-body=1", "--origin=https://example.org",
                               "--machsym", MACHSYM, "--", "-j2", "--no-cache", "--full-path", "-d", symbols], stdout=subprocess.PIPE, stderr=log)
    try:
        address = server.stdout.readline().decode().strip()
        answers = test_answers(address)
        test_others(answers)
        test_refusals(address)
        worker = json.loads(subprocess.run(["curl", "-s", address.replace("symbolicate/v5", "health")], capture_output=True, timeout=60).stdout)
        check(worker["images_opened"] == 1, "health", worker)
    finally:
        server.kill()
        server.wait()
        log.close()
print("%d passed, %d failed, 0 skipped" % tuple(counts))
sys.exit(counts[1] != 0)
