#!/usr/bin/env python3
"""Drives machsym worker as a service would, and compares its answers with those of the other commands. Usage: worker.py MACHSYM WORK.
The last line is "N passed, N failed, 0 skipped"."""
import base64
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile

MACHSYM, WORK = shlex.split(sys.argv[1]), sys.argv[2]
BIN, REPORTS = "tests/fixtures/bin", "tests/fixtures/reports"
DEMO = BIN + "/demo.app.dSYM"
UUID = "4C4C44B5-5555-3144-A1BA-79CA685DEC58"
SANITIZED = b"__asan_init" in open(MACHSYM[-1], "rb").read() or b"__tsan_init" in open(MACHSYM[-1], "rb").read()
ALL, LOOK = ["--no-cache", "-d", BIN], ["--no-cache", "-d", DEMO]
counts = [0, 0]


def check(ok, what, seen=""):
    counts[not ok] += 1
    if not ok:
        print("failed: %s: %.600s" % (what, seen))


def run(*arguments, data=b""):
    done = subprocess.run(MACHSYM + list(arguments), input=data, capture_output=True, timeout=120)
    return done.stdout


def lines_of(data):
    return [json.loads(line) for line in data.decode().splitlines()]


def ask(requests, *options, status=0):
    """The answers to requests: objects, or lines as they are."""
    data = b"".join(r if isinstance(r, bytes) else json.dumps(r).encode() + b"\n" for r in requests)
    done = subprocess.run(MACHSYM + ["worker"] + list(options), input=data, capture_output=True, timeout=120)
    check(done.returncode == status, "status %d, not %d" % (done.returncode, status), done.stderr.decode())
    return lines_of(done.stdout)


def kind_of(answer):
    return answer.get("error", {}).get("kind")


# ---- Answers are those of the other commands ----

FACTS = ("process", "os", "hardware", "date", "exception", "signal", "app_info")


def stacks_of(report):
    """What the form stacks has to say, of the JSON of a report."""
    threads = [(t["kind"], t["number"], t["name"], t["crashed"], [(f["index"], f["address"], f["return_address"], f["image"]) for f in t["frames"]],
                {r["name"]: r["value"] for r in t.get("registers", [])}) for t in report["threads"]]
    return [report.get(f) for f in FACTS], threads, [[i[k] for k in ("name", "path", "arch", "uuid", "base")] for i in report["images"]]


def stacks_seen(stacks):
    threads = [(t["kind"], t["number"], t["name"], t["crashed"], [(f["index"], f["address"], f["return_address"], f.get("image")) for f in t["frames"]], t["registers"])
               for t in stacks["threads"]]
    return [stacks["facts"].get(f) for f in FACTS], threads, [[i[k] for k in ("name", "path", "arch", "uuid", "base")] for i in stacks["images"]]


def test_crash():
    names = sorted(n for n in os.listdir(REPORTS) if n != "README.md" and os.path.isfile(REPORTS + "/" + n))
    names += ["../services/" + n for n in sorted(os.listdir(REPORTS + "/../services"))]
    paths = [REPORTS + "/" + n for n in names]
    same = WORK + "/same"
    run("crash", "-q", *ALL, "-o", same, *paths)
    wants = ["json", "signature", "same", "images", "uses"]
    requests = [{"id": p, "do": "crash", "base64": base64.b64encode(open(p, "rb").read()).decode(), "want": wants} for p in paths]
    good, failed = [], 0
    data = b"".join(json.dumps(r).encode() + b"\n" for r in requests)
    answers = lines_of(run("worker", *ALL, "-j", "3", data=data))
    check([a["id"] for a in answers] == paths, "an answer for each report, in order")
    for path, answer in zip(paths, answers):
        written = same + "/" + re.sub(r"\.(plcrash|dmp|core)$", ".crash", os.path.basename(path))  # those come out as text
        if "error" in answer:
            check(not os.path.exists(written), path + " fails as machsym crash does", answer)
            failed += 1
            continue
        good.append(answer)
        check(os.path.exists(written) and base64.b64decode(answer["same_base64"]) == open(written, "rb").read(), path + ": same")
    check(len(good) > 30, "reports are answered", "%d, not %d" % (len(good), failed))
    parts = [p for a in good for p in a["reports"]]
    check([p["json"] for p in parts] == lines_of(run("crash", "-q", "--json", *ALL, *paths)), "json is that of machsym crash --json")
    check([p["images"] for p in parts] == [p["json"]["images"] for p in parts], "images by themselves")
    used = [[(i["name"], i["uuid"], i.get("has_debug_info", False)) for i in p["images"] if i["frames"] > 0 and i["uuid"]] for p in parts]
    check([[(u["name"], u["uuid"], u["has_debug_info"]) for u in p["uses"]] for p in parts] == used and sum(map(len, used)) > 50, "uses are the images with frames")
    waits = lines_of(run("worker", *ALL, data=b"".join(json.dumps({k: v for k, v in dict(r, do="missing").items() if k != "want"}).encode() + b"\n" for r in requests)))
    for answer, wait in zip(good, [w for w in waits if "missing" in w]):
        missing = {m["uuid"] for m in wait["missing"]["missing"] if m["uuid"]}
        check({u["uuid"] for p in answer["reports"] for u in p["uses"] if u["missing"]} == missing, "uses: what is missing: " + answer["id"], missing)
    signed = lines_of(run("crash", "-q", "--json", "--signature", *ALL, *paths))
    bare = lines_of(run("worker", *ALL, data=b"".join(json.dumps(dict(r, want=["stacks"])).encode() + b"\n" for r in requests)))
    for answer, stacks in zip(answers, bare):
        if "error" not in answer:
            check([stacks_of(r["json"]) for r in answer["reports"]] == [stacks_seen(r["stacks"]) for r in stacks["reports"]], "stacks are those of the JSON: " + answer["id"])
    people = lines_of(run("worker", *ALL, data=b"".join(json.dumps(dict(r, want=["people"])).encode() + b"\n" for r in requests)))
    hidden = lines_of(run("worker", "--redact", *ALL, data=b"".join(json.dumps(dict(r, want=["same"])).encode() + b"\n" for r in requests)))
    found = 0
    for path, answer, redacted in zip(paths, people, hidden):
        for value in {v for r in answer.get("reports", []) for v in r["people"] if len(v) > 8}:
            found += 1
            forms = [value.encode(form) for form in ("utf-8", "utf-16-le", "utf-16-be")]
            body, same = open(path, "rb").read(), base64.b64decode(redacted["same_base64"])
            check(any(f in body for f in forms) or path.endswith(".dmp"), path + ": people are in the report", value)  # a minidump has bytes
            check(not any(f in same for f in forms), path + ": people are what --redact hides", value)
    check(found > 10, "reports have people", found)
    with open(REPORTS + "/demo-sentry.json", encoding="utf-8") as file:
        event = json.load(file)
    event["user"] = {"id": 7, "email": "a\u00fc@b", "geo": {"city": "x"}, "name": ""}
    answer, = lines_of(run("worker", data=json.dumps({"do": "crash", "report": json.dumps(event), "want": ["people"]}).encode() + b"\n"))
    check([r["people"] for r in answer.get("reports", [])] == [["7", "a\u00fc@b"]], "people of an event", answer)
    bare = lines_of(run("worker", *ALL, data=b"".join(json.dumps({k: v for k, v in dict(r, do="signature").items() if k != "want"}).encode() + b"\n" for r in requests)))
    check([p for a in bare if "reports" in a for p in a["reports"]] == [{k: p[k] for k in ("format", "hash", "signature")} for p in parts],
          "signatures by themselves")
    check([(p["hash"], p["signature"]) for p in parts] == [(s["hash"], s["signature"] or "") for s in signed], "signatures")


def test_crash_text():
    for name in ["demo.ips", "demo.crash", "demo-metrickit.json", "demo-sample.txt"]:
        path = REPORTS + "/" + name
        text = open(path, encoding="utf-8").read()
        answer, = ask([{"do": "crash", "report": text, "want": ["text", "same", "summary", "html"]}], *LOOK)
        page = run("crash", "-q", "--html", *LOOK, path).decode()
        check(answer["html"] == page.replace('{"name":"%s"' % path, '{"name":"report"'), name + ": html")
        texts = "".join(p["text"] for p in answer["reports"])
        check(texts == run("crash", "-q", "--to=text", *LOOK, path).decode(), name + ": text")
        check(answer["same"] == run("crash", "-q", *LOOK, path).decode(), name + ": same as text")
        if len(answer["reports"]) == 1:
            check(answer["reports"][0]["summary"] == run("crash", "-q", "--summary", *LOOK, path).decode(), name + ": summary")
        check("json" not in answer["reports"][0], name + ": what is not wanted is not there")
    options = ["--redact-key=secret", "--full-names", "--no-inline", "--lines=stmt"]
    text = open(REPORTS + "/demo.ips", encoding="utf-8").read().replace('"captureTime"', '"note":"/Users/somebody/x","captureTime"')
    open(WORK + "/private.ips", "w", encoding="utf-8").write(text)
    answer, = ask([{"do": "crash", "report": text, "want": ["same"]}], *LOOK, *options)
    check(answer["same"] == run("crash", "-q", *LOOK, *options, WORK + "/private.ips").decode(), "options of lookups")
    check("somebody" not in answer["same"], "--redact")
    path = REPORTS + "/demo.ips"
    found, refused, other = ask([{"do": "crash", "path": path}, {"do": "crash", "path": "-"}, {"do": "crash", "path": WORK}], *LOOK,
                                "--paths", status=1)
    check([p["json"] for p in found["reports"]] == lines_of(run("crash", "-q", "--json", *LOOK, path)), "--paths")
    check(kind_of(refused) == kind_of(other) == "no_file", "- and folders are no files", (refused, other))


def test_several():
    """A text that holds several reports is answered as machsym crash answers such a file."""
    texts = [open(REPORTS + "/" + n, encoding="utf-8").read() for n in ("demo.ips", "demo.crash", "demo-macos.crash")]
    path = WORK + "/several"
    wants = {"want": ["json", "text", "same", "signature"]}
    for text, count in ((texts[0] + texts[1] + texts[0] + texts[2], 4), (texts[1] + texts[0][:900] + "\n" + texts[2], 2)):
        open(path, "w", encoding="utf-8").write(text)
        answer, bare = ask([dict(wants, do="crash", report=text), {"do": "signature", "report": text}], *LOOK, status=count != 4)
        parts = answer["reports"]
        check([p["json"] for p in parts] == lines_of(run("crash", "-q", "--json", *LOOK, path)) and len(parts) == count, "several: json", parts)
        check("".join(p["text"] for p in parts) == run("crash", "-q", "--to=text", *LOOK, path).decode(), "several: text")
        check(answer["same"] == run("crash", "-q", *LOOK, path).decode(), "several: same")
        page, = ask([{"do": "crash", "report": text, "want": ["html"]}], *LOOK, status=count != 4)
        check(page["html"].count('class="report">') == count, "several: html")
        check([(p["hash"], p["signature"]) for p in parts] == [(p["hash"], p["signature"]) for p in bare["reports"]], "several: signatures")
        broken = subprocess.run(MACHSYM + ["crash", "-q", *LOOK, path], capture_output=True, timeout=60).stderr.decode()
        check("".join("machsym: %s%s\n" % (path, note) for note in answer.get("notes", [])) == broken, "what is damaged is told", (answer.get("notes"), broken))
    lost, = ask([{"do": "crash", "report": texts[0][:900] + "\n" + texts[0][:800]}], *LOOK, status=1)
    check(kind_of(lost) == "no_report", "all are damaged", lost)
    over, = ask([{"do": "crash", "report": texts[1] + texts[0]}], *LOOK, "--limit=0,0.001", status=1)
    check(kind_of(over) == "limit", "the limit holds for all together", over)


def test_damaged():
    """What is left of a damaged report is answered, and that it is damaged."""
    cut = open(REPORTS + "/../services/crash.plcrash", "rb").read()[:700]
    open(WORK + "/cut.plcrash", "wb").write(cut)
    whole = subprocess.run(MACHSYM + ["crash", "-q", "--json", *LOOK, WORK + "/cut.plcrash"], capture_output=True, timeout=60)
    answer, = ask([{"do": "crash", "base64": base64.b64encode(cut).decode()}], *LOOK, status=1)
    report = open(REPORTS + "/demo.ips", "rb").read()
    for i in range(4):  # all lengths of the last group; by lines, without padding, and with a byte that is no digit at each place of a group
        body = report + b" " * i
        said = base64.b64encode(body).decode()
        lines, bare, wrong = base64.encodebytes(body).decode(), said.rstrip("="), said[:100 + i] + "\u00e9" + said[101 + i:]
        first, *others, bad = ask([{"do": "crash", "base64": one} for one in (said, lines, bare, wrong)], *LOOK, status=1)
        check("reports" in first and all(o["reports"] == first["reports"] for o in others), "base64 by lines, and without padding", others)
        check(bad.get("error", {}).get("kind") == "bad_request", "no base64", bad)
    check([p["json"] for p in answer["reports"]] == lines_of(whole.stdout), "the rest of a damaged report", answer)
    check(b"offset %d)" % answer["damaged_at"] in whole.stderr, "where it is damaged", whole.stderr)


def test_frames():
    offsets = [0xaec, 0x944, 0x940, 0xaf0, 0, 1 << 40]
    shown = lines_of(run("atos", "--json", "-i", "--offset", "-o", DEMO, *[hex(o) for o in offsets]))
    ask_offsets = [hex(o) if i % 2 else o for i, o in enumerate(offsets)]
    bare = {"do": "frames", "uuid": UUID, "offsets": ask_offsets}
    maps = WORK + "/demo.symmap"
    run("map", "build", "--lines=people", "-o", maps, DEMO)
    for where in (DEMO, maps):
        lines = ["--lines=atos"] if where == DEMO else []
        answer, back = ask([bare, {"do": "frames", "uuid": UUID.replace("-", "").lower(), "offsets": [o + 1 for o in offsets],
                                   "return_addresses": True, "arch": "arm64"}], "--no-cache", "-d", where, *lines)
        want = shown if where == DEMO else lines_of(run("map", "lookup", "--json", "-i", "--offset", maps, *[hex(o) for o in offsets]))
        check(answer["frames"] == [s["frames"] for s in want], "frames of " + where, answer)
        check((answer["image"], answer["uuid"], answer["arch"]) == (shown[0]["image"], UUID, "arm64"), "the image of " + where, answer)
        names = [[(f["name"], f["line"]) for f in frames] for frames in answer["frames"]]
        check([[(f["name"], f["line"]) for f in frames] for frames in back["frames"]] == names, "return addresses of " + where, back)
    check(len(answer["frames"][0]) >= 1 and answer["frames"][0][0]["line"] > 0, "there are frames", answer)


def test_demangle():
    names = ["_ZN5QueueIiE2atEi", "$s4main3fooyyF", "_RNvCs_1a1b", "main", "", "a\"\\\n\u00e9", "_Z" + "1a" * 9999]
    for style in ("full", "simplified"):
        answer, = ask([{"do": "demangle", "names": names, "style": style}])
        shown = lines_of(run("demangle", "--json", "--style=" + style, "--", *names))
        check(answer["names"] == [s["name"] for s in shown], "demangle " + style, answer)
    answer, = ask([{"do": "demangle", "names": []}])
    check(answer["names"] == [], "no names", answer)


# ---- Building ----

def test_build():
    """Maps are those of map build, chunks those of map export; of a fat file and of an archive there is one for each slice."""
    whole = WORK + "/build.symmap"
    run("map", "build", "--no-progress", "--lines=people", "-o", whole, DEMO)
    data = open(whole, "rb").read()
    dwarf = DEMO + "/Contents/Resources/DWARF/demo"
    inside = base64.b64encode(open(dwarf, "rb").read()).decode()
    demo = {"base64": inside, "name": "demo"}
    archive = WORK + "/two.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        out.write(dwarf, "demo.dSYM/Contents/Resources/DWARF/demo")
        out.write(BIN + "/inline-arm64-d5-22.dSYM/Contents/Resources/DWARF/" + os.listdir(BIN + "/inline-arm64-d5-22.dSYM/Contents/Resources/DWARF")[0],
                  "b.dSYM/Contents/Resources/DWARF/b")
    store = WORK + "/built"
    options = ["--paths", "--build-store", store]
    by_path, by_bytes, chosen, two, kept, of_map = [a["maps"] for a in ask([
        {"do": "build", "path": DEMO}, {"do": "build", **demo, "as": "map"}, {"do": "build", "path": DEMO, "uuid": UUID, "arch": "arm64"},
        {"do": "build", "path": archive}, {"do": "build", "path": archive, "as": "store"}, {"do": "build", "path": whole}], *options)]
    for maps in (by_path, by_bytes, chosen, of_map):
        check(len(maps) == 1 and base64.b64decode(maps[0]["base64"]) == data, "the map is that of map build", maps)
    made = {k: v for k, v in by_bytes[0].items() if k != "base64"}
    check(made == {"image": "demo", "uuid": UUID, "arch": "arm64", "lines": "people", "damaged": False, "size": len(data)}, "what is told of it", made)
    check(len(two) == 2 and base64.b64decode([m for m in two if m["uuid"] == UUID][0]["base64"]) == data, "those of an archive", two)
    check(len(kept) == 2 and open("%s/4C/%s.symmap" % (store, UUID), "rb").read() == data, "a store", kept)
    for size in (100, 700, 1000000):
        shown = lines_of(run("map", "export", "--chunks=%d" % size, "--format=jsonl", whole))
        answer, = ask([{"do": "build", **demo, "as": "chunks", "chunk": size}])
        made = answer["maps"][0]
        check(made["values"][:-1] == shown and made["chunk"] == size, "the chunks are those of map export", made)
        last = made["values"][-1]
        index = json.loads(base64.b64decode(last["value"]))
        check(last["key"] == "image:" + UUID and index["chunk"] == size, "the list of them", last)
        keys = ["%s:demo:%s:%d" % (t, UUID, c + i) for t in ("dwarf", "symbol_table") for c, n in zip(index[t][::2], index[t][1::2]) for i in range(n)]
        check(sorted(keys) == sorted(v["key"] for v in shown), "the list names all", index)
    half = base64.b64encode(open(dwarf, "rb").read()[:9000]).decode()
    bad = [({"do": "build"}, "bad_request"), ({"do": "build", "path": DEMO}, "bad_request"), ({"do": "build", **demo, "as": "store"}, "bad_request"),
           ({"do": "build", **demo, "as": "x"}, "bad_request"), ({"do": "build", **demo, "chunk": 5}, "bad_request"),
           ({"do": "build", **demo, "as": "chunks", "chunk": 0}, "bad_request"), ({"do": "build", **demo, "uuid": "1"}, "bad_request"),
           ({"do": "build", **demo, "arch": 1}, "bad_request"), ({"do": "build", "base64": "AAAA"}, "no_build"), ({"do": "build", "base64": ""}, "bad_request"), ({"do": "build", "path": DEMO, "name": "x"}, "bad_request"),
           ({"do": "build", "base64": "AAAA", "name": "a\0"}, "bad_request"),
           ({"do": "build", **demo, "base64": half}, "no_build"), ({"do": "build", **demo, "arch": "x86_64"}, "no_build")]
    for (request, kind), answer in zip(bad, ask([r for r, _ in bad], status=1)):
        check(kind_of(answer) == kind and answer["error"]["what"], "%.60r is %s" % (request, kind), answer)
    answers = ask([{"do": "build", "path": p} for p in ("-", "/dev/stdin", WORK + "/none", REPORTS, "tests/worker.py")], "--paths", status=1)
    check([kind_of(a) for a in answers] == ["no_file", "no_file", "no_build", "no_build", "no_build"], "what is no file of symbols", answers)
    slow, after = ask([{"do": "build", **demo}, {"do": "stats"}], "--limit=0.0000001,", status=1)
    check(kind_of(slow) == "limit" and "stats" in after, "seconds of a build", slow)
    for request in ({"do": "build", **demo}, {"do": "build", "path": DEMO}, {"do": "build", "path": archive}):
        for megabytes in ("0.0001", "0.01", "0.05"):
            large, after = ask([request, {"do": "stats"}], "--paths", "--limit=0," + megabytes, status=1)
            check(kind_of(large) == "limit" and "memory" in large["error"]["what"] and "stats" in after, "memory of a build", large)
        check("maps" in ask([request], "--paths", "--limit=0,100")[0], "a build in 100 MB")


# ---- Chunks that the host has ----

class Host:
    """Drives a worker that asks for chunks: has(key) is the line that answers a need, or None: it is not answered. One thread reads and answers;
    a few requests are under way at a time, so that it never writes more than a pipe holds but for needs."""

    def __init__(self, has, options=(), slow=0, window=8):
        self.has, self.slow, self.window, self.asked = has, slow, window, []
        self.process = subprocess.Popen(MACHSYM + ["worker", "--host", "--no-cache"] + list(options), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.timer = threading.Timer(60, self.process.kill)
        self.timer.start()

    def send(self, line):
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def ask(self, requests):
        left = [json.dumps(r).encode() + b"\n" for r in reversed(requests)]
        answers = []
        for _ in range(min(self.window, len(left))):
            self.send(left.pop())
        while len(answers) < len(requests):
            time.sleep(self.slow)
            line = self.process.stdout.readline()
            if not line:
                break
            answer = json.loads(line)
            if "need" in answer:
                check(set(answer) == {"schema", "need"}, "a need", answer)
                self.asked.append(answer["need"])
                found = self.has(answer["need"])
                if found is not None:
                    self.send(found)
            else:
                answers.append(answer)
                if left:
                    self.send(left.pop())
        return answers

    def end(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        status = self.process.wait(60)
        self.timer.cancel()
        check(rest == b"", "nothing follows", rest)
        return status


def found(key, value):
    value = None if value is None else base64.b64encode(value).decode()
    return json.dumps({"need": key, "value": value}).encode() + b"\n"


def chunks_of(path, size):
    values = {}
    answer, = ask([{"do": "build", "path": path, "as": "chunks", "chunk": size}], "--paths")
    for made in answer["maps"]:
        values.update((v["key"], base64.b64decode(v["value"])) for v in made["values"])
    return values


def without_files(answer):
    """What an answer says, but for where the symbols of an image were found."""
    for part in answer.get("reports", []):
        for image in part.get("json", {}).get("images", []):
            image.pop("symbols", None)
    return {k: v for k, v in answer.items() if k != "line"}


def test_host():
    """Chunks answer as maps do, for all reports, whatever the size of the chunks."""
    store = WORK + "/maps"
    built, = ask([{"do": "build", "path": BIN, "as": "store"}], "--paths", "--build-store", store)
    names = sorted(n for n in os.listdir(REPORTS) if n != "README.md" and os.path.isfile(REPORTS + "/" + n))
    requests = [{"id": n, "do": "crash", "base64": base64.b64encode(open(REPORTS + "/" + n, "rb").read()).decode(), "want": ["json", "same"]}
                for n in names]
    requests += [{"id": m["uuid"], "do": "frames", "uuid": m["uuid"], "offsets": list(range(0, 4000, 13))} for m in built["maps"] if m["uuid"]]
    data = b"".join(json.dumps(r).encode() + b"\n" for r in requests)
    for options in ([], ["--best-line", "--no-inline"]):
        shown = [without_files(a) for a in lines_of(run("worker", "--no-cache", "-d", store, *options, data=data))]
        for size in (100, 5000):
            values = chunks_of(BIN, size)
            host = Host(lambda key: found(key, values.get(key)), ["-j", "2"] + options)
            answers = [without_files(a) for a in host.ask(requests)]
            host.end()
            check(answers == shown, "chunks of %d bytes answer as maps do" % size,
                  next((pair for pair in zip(answers, shown) if pair[0] != pair[1]), ""))
    check(len(built["maps"]) >= 2 and len(set(host.asked)) > len(built["maps"]), "needs were asked", host.asked)


def test_needs():
    """What goes wrong with a need is an error of the requests that have it."""
    values = chunks_of(DEMO, 100)
    image = "image:" + UUID
    chunk = [k for k in values if k.startswith("dwarf")][-1]
    offsets = {"do": "frames", "uuid": UUID, "offsets": [0xaec]}
    other = next(v for k, v in chunks_of(BIN + "/inline-arm64-d5-22.dSYM", 100).items() if k.startswith("dwarf"))
    wrong = [lambda key: found(key, None), lambda key: found(key, b""), lambda key: found(key, b"x" * 100), lambda key: found(key, values[key][:-9]),
             lambda key: json.dumps({"need": key, "error": "it is down \x01"}).encode() + b"\n", lambda key: json.dumps({"need": key}).encode() + b"\n",
             lambda key: json.dumps({"need": key, "value": "?"}).encode() + b"\n", lambda key: found(key, other),
             lambda key: json.dumps({"need": key, "value": "A" * (1 << 21)}).encode() + b"\n", lambda key: None]
    good = Host(lambda key: found(key, values[key]))
    want, = good.ask([offsets])
    check(len(want["frames"][0]) == 4 and good.end() == 0, "the right answer", want)
    for i, has in enumerate(wrong):
        for spoilt in (image, chunk):
            host = Host(lambda key: has(key) if key == spoilt else found(key, values[key]), ["--need-seconds=0.2", "--max-request=1"])
            answer, after = host.ask([offsets, {"do": "stats"}])
            kind = "no_image" if i == 0 and spoilt == image else "need"
            check(kind_of(answer) == kind and (kind != "need" or spoilt in answer["error"]["what"]), "wrong %d: %s" % (i, spoilt), answer)
            check("stats" in after, "the next request is answered", after)
            host.has = lambda key: found(key, values[key])
            if kind == "need":  # and when it is asked again it is there
                again, = host.ask([offsets])
                check(again.get("frames") == want["frames"], "again %d: %s" % (i, spoilt), again)
            check(host.end() == 1, "an error is the status")
    # invalid lists: rows are pairs of a first chunk and a count of chunks, and ascend; the map is the image's
    listed = json.loads(values[image])
    other_map = json.loads(next(v for k, v in chunks_of(BIN + "/inline-arm64-d5-22.dSYM", 100).items() if k.startswith("image:")))["map"]
    for change in ({"dwarf": listed["dwarf"] + [99999]}, {"dwarf": [0, 0] + listed["dwarf"]}, {"symbol_table": [5, 2, 6, 2]},
                   {"symbol_table": [5, 2, 3, 1]}, {"dwarf": [1, (1 << 64) - 1]}, {"dwarf": None}, {"dwarf": ["x", "y"]}, {"chunk": 0},
                   {"map": ""}, {"map": "?"}, {"map": other_map}, {"map": None}):
        host = Host(lambda key: found(key, json.dumps({**listed, **change}).encode() if key == image else values[key]))
        answer, = host.ask([offsets])
        check(kind_of(answer) == "need" and "no list" in answer["error"]["what"], "a list with %s" % str(change)[:60], answer)
        host.end()
    host = Host(lambda key: found(key, json.dumps({**listed, "symbol_table": [5, 2, 7, 2]}).encode() if key == image else values[key]))
    answer, = host.ask([offsets])
    check(answer.get("frames") == want["frames"], "rows that touch are a list", answer)
    host.end()
    # answers that no request waits for, and invalid answers
    host = Host(lambda key: found(key, b"no") * (key == image) + found("dwarf:x", b"y") + found(key, values[key]))
    answers = host.ask([offsets])
    check(kind_of(answers[0]) == "need", "the first answer counts", answers)
    host.send(b' { "need" : 1}\n{"need":\n{"need":"x"')
    host.process.stdin.close()
    lines = lines_of(host.process.stdout.read())
    check([kind_of(a) for a in lines] == ["bad_request", "bad_json", "bad_json"], "invalid needs", lines)
    host.process.wait(60)
    host.timer.cancel()
    host = Host(lambda key: host.process.stdin.close())
    answer, = host.ask([offsets])
    check(kind_of(answer) == "need" and "ended" in answer["error"]["what"], "the input ends", answer)
    host.process.wait(60)
    host.timer.cancel()
    # nothing reads the needs, though more requests could be answered
    process = subprocess.Popen(MACHSYM + ["worker", "--host"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, restore_signals=False,
                               preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN))
    process.stdout.close()
    began = time.time()
    process.stdin.write(json.dumps(offsets).encode() + b"\n")
    process.stdin.flush()
    check(process.wait(20) == 1 and time.time() - began < 15, "a host that does not read", time.time() - began)
    process.stdin.close()
    answer, = ask([{"need": "x", "value": None}], status=1)
    check(kind_of(answer) == "bad_request", "without --host a need is no request", answer)


def test_needs_shared():
    """Threads that need the same ask once; what was missing is found a second later."""
    values = chunks_of(DEMO, 100)
    keys = set()

    def slowly(key):
        time.sleep(0.1)
        return found(key, values[key])
    host = Host(slowly, ["-j", "4", "--unordered"])
    answers = host.ask([{"do": "frames", "uuid": UUID, "offsets": [0xaec, 0x944]}] * 40)
    check(all(len(a["frames"]) == 2 for a in answers) and len(host.asked) == len(set(host.asked)) == 3, "each need once", host.asked)
    stats = host.ask([{"do": "stats"}])[0]["stats"]
    check(stats["chunks_fetched"] == 2 and stats["needs"] == 3 and stats["chunks_asked"] >= 40 and stats["needs_late"] == 0, "hits are counted", stats)
    host.end()
    host = Host(lambda key: found(key, values[key] if keys else None))
    request = {"do": "frames", "uuid": UUID, "offsets": [0xaec]}
    check([kind_of(a) for a in host.ask([request] * 20)] == ["no_image"] * 20 and len(host.asked) <= 2, "what is missing is remembered", host.asked)
    keys.add(1)
    time.sleep(1.1)
    check(host.ask([request])[0].get("frames"), "and found a second later", host.asked)
    host.end()
    many = chunks_of(DEMO, 1)
    host = Host(lambda key: found(key, many.get(key)), ["--cache=1"])
    host.ask([{"do": "frames", "uuid": UUID, "offsets": list(range(0x940, 0xaf0))}] * 2)
    stats = host.ask([{"do": "stats"}])[0]["stats"]
    check(stats["chunk_bytes"] < (1 << 19) + 16384 and stats["chunks_forgotten"] > 400 and stats["chunks_fetched"] > 800, "the cache of chunks has a bound", stats)
    host.end()


def test_needs_large():
    """A host of one thread that answers needs before it reads on, answers and needs much larger than a pipe, a slow reader: nothing gets stuck."""
    values = chunks_of(DEMO, 100)
    image = "image:" + UUID
    values[image] += b" " * 500000
    large = {"do": "frames", "uuid": UUID, "offsets": [0xaec] * 800}  # a megabyte
    lost = b'{"need":"%s","error":"' + b"e" * 300000 + b'"}\n'
    lists = [0]

    def has(key):
        lists[0] += key == image
        if key not in values:
            return lost % key.encode()
        return found(key, values[key])
    for options in (["-j", "1"], ["-j", "4"], ["-j", "4", "--unordered"]):
        host = Host(has, options, slow=0.001, window=6)
        requests = [dict(large, id=i) if i % 4 == 0 else {"id": i, "do": "frames", "uuid": "%032x" % i, "offsets": [1]} for i in range(60)]
        answers = host.ask(requests)
        check(sorted(a["id"] for a in answers) == list(range(60)), "all are answered: %s" % options, len(answers))
        check(all(len(a["frames"]) == 800 if a["id"] % 4 == 0 else kind_of(a) == "need" for a in answers), "with what was asked: %s" % options)
        host.end()
    # a host that writes all its requests in one thread, and answers needs in another, in between
    host = Host(has, ["-j", "3"])
    lock = threading.Lock()
    names = {"do": "demangle", "names": ["_ZN5QueueIiE2atEi"] * 9000}
    requests = [json.dumps(dict(large if i % 3 else names, id=i)).encode() + b"\n" for i in range(40)]

    def send(line):
        with lock:
            host.send(line)
    thread = threading.Thread(target=lambda: [send(r) for r in requests])
    thread.start()
    ids = []
    while len(ids) < len(requests):
        answer = json.loads(host.process.stdout.readline() or b'{"id":-1}')
        if "need" in answer:
            send(has(answer["need"]))
        else:
            ids.append(answer["id"] if "error" not in answer else -1)
    thread.join()
    check(ids == list(range(len(requests))), "requests before the answer to a need", ids)
    host.end()
    check(lists[0] == 4, "each worker asked once for the list", lists)


JUMPS = """#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int calls;
    long status = syscall(SYS_clock_gettime, clock, now);
    now->tv_sec += clock == CLOCK_REALTIME ? 3600 * calls++ : 0;
    return (int)status;
}
"""


def test_needs_clock():
    """Somebody sets the clock while the worker waits for the answer to a need."""
    library = WORK + "/jumps.so"
    with open(WORK + "/jumps.c", "w", encoding="utf-8") as file:
        file.write(JUMPS)
    if SANITIZED or len(MACHSYM) > 1 or subprocess.run(["cc", "-shared", "-fPIC", "-o", library, WORK + "/jumps.c"], capture_output=True).returncode:
        return
    values = chunks_of(DEMO, 10000)
    for jobs in ("1", "3"):  # with more a thread waits while another one reads
        os.environ["LD_PRELOAD"] = library
        host = Host(lambda key: time.sleep(0.1) or found(key, values.get(key)), ["-j", jobs])
        del os.environ["LD_PRELOAD"]
        answers = host.ask([{"do": "frames", "uuid": UUID, "offsets": [0xaec]} for _ in range(4)])
        check(len(answers) == 4 and all("frames" in a for a in answers), "the clock jumps an hour at each look", answers)
        host.end()


def test_needs_waiting():
    """Requests that wait for the answer to a need take bounded memory, and all of it is freed."""
    process = subprocess.Popen(MACHSYM + ["worker", "--host", "--max-request=8"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    timer = threading.Timer(60, process.kill)
    timer.start()
    process.stdin.write(json.dumps({"do": "frames", "uuid": UUID, "offsets": [1]}).encode() + b"\n")
    process.stdin.flush()
    need = json.loads(process.stdout.readline())["need"]
    for i in range(36):  # four lines of 9 MB
        process.stdin.write(b"x" * (1 << 20) + b"\n" * (i % 9 == 8))
    process.stdin.write(b'{"do":"stats"}\n' * 300 + found(need, None))
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(305)]
    check([kind_of(a) for a in answers] == ["no_image"] + ["too_long"] * 4 + [None] * 300, "all that waited is answered", answers[:20])
    for _ in range(110):
        process.stdin.write(b'{"do":"demangle","names":[]}' + b" " * 900000 + b"\n")
        process.stdin.flush()
        process.stdout.readline()
    process.stdin.close()
    process.stdout.read()
    megabytes = peak(process)
    timer.cancel()
    check(megabytes < (400 if SANITIZED else 60), "memory of requests that wait", megabytes)


def test_new_symbols():
    """What comes into a store while the worker runs is found by itself; what changes, or comes into any other folder, after a reload."""
    request = {"do": "frames", "uuid": UUID, "offsets": [0xaec]}
    profile = {"do": "symbolicate", "memoryMap": [["demo", UUID.replace("-", "") + "0"]], "stacks": [[[0, 0xaec]]]}
    store, folder = WORK + "/late", WORK + "/folder"
    os.makedirs(store + "/4C", exist_ok=True)
    os.makedirs(folder, exist_ok=True)
    host = Host(lambda key: found(key, None), ["-d", store, "-d", folder, "-j", "2", "--build-store", store, "--paths"], window=1)
    check([kind_of(a) for a in host.ask([request] * 3)] == ["no_image"] * 3, "nothing is there")
    check(host.ask([{"do": "build", "path": DEMO, "as": "store"}])[0]["maps"][0]["file"].startswith(store), "a map is built")
    time.sleep(1.1)
    answers = host.ask([request, profile, request])
    check(len(answers[0]["frames"][0]) == 4 and answers[0] == dict(answers[2], line=answers[0]["line"]), "a map in a store is found", answers)
    check(answers[1]["results"][0]["stacks"][0][0]["function"] == "-[Player skip:]", "by profilers, too", answers[1])
    other = BIN + "/inline-arm64-d5-22.dSYM"
    uuid = json.loads(run("info", "--json", "--quick", other).splitlines()[0])["uuid"]
    shutil.copytree(other, folder + "/other.dSYM")
    check([kind_of(a) for a in host.ask([dict(request, uuid=uuid)])] == ["no_image"], "a folder is not looked through again")
    answers = host.ask([{"do": "reload"}, dict(request, uuid=uuid), request])
    check(answers[0]["notes"] == [] and answers[1].get("uuid") == uuid and len(answers[2]["frames"][0]) == 4, "after a reload it is", answers)
    shutil.rmtree(store)
    shutil.rmtree(folder)
    check(kind_of(host.ask([{"do": "reload"}])[0]) == "no_symbols", "folders that are gone")
    check(host.ask([request])[0].get("frames"), "the symbols of before stay")
    stats = host.ask([{"do": "stats"}])[0]["stats"]
    check(stats["images_opened"] == 3 and stats["images_asked"] == 6, "counts go on", stats)
    host.end()
    # many threads, while the symbols change all the time
    host = Host(lambda key: found(key, None), ["-d", DEMO, "-j", "4", "--unordered"])
    answers = host.ask([{"do": "reload"} if i % 7 == 0 else dict(request, id=i) for i in range(300)])
    check(all("notes" in a or len(a["frames"][0]) == 4 for a in answers), "requests and reloads at once", answers)
    check(host.end() == 0, "no error")
    # chunks that were built again
    values = {UUID: chunks_of(DEMO, 100)}
    host = Host(lambda key: found(key, values[UUID].get(key)))
    host.ask([request])
    values[UUID] = chunks_of(DEMO, 1000)
    answers = host.ask([request, {"do": "reload"}, request])
    check([len(a["frames"][0]) for a in answers if "frames" in a] == [4, 4], "chunks of another size", answers)
    check(len([k for k in host.asked if k.startswith("image")]) == 2, "their list is asked for again", host.asked)
    host.end()


# ---- Bytes that follow a line ----

def test_bytes():
    """A report after its line is answered as in base64, whatever it has in it, and however few bytes come at a time."""
    bodies = [open(REPORTS + "/" + n, "rb").read() for n in sorted(os.listdir(REPORTS)) if os.path.isfile(REPORTS + "/" + n)]
    bodies += [b"", b"x", b"\n", b'{"do":"stats"}\n', b"\0" * 70000]
    want = b'"want":["json","brief","people","same","uses"]'
    with_bytes = [b'{"bytes":%d,"id":%d,"do":"crash",%s}\n%s' % (len(b), i, want, b) for i, b in enumerate(bodies)]
    in_base64 = [b'{"id":%d,"do":"crash",%s,"base64":"%s"}\n' % (i, want, base64.b64encode(b)) for i, b in enumerate(bodies)]
    truth = ask(in_base64, *LOOK, status=1)
    check(len(truth) == len(bodies) and sum("reports" in a for a in truth) > 20, "base64")
    for options in ([], ["-j", "4"]):
        check(ask(with_bytes, *LOOK, *options, status=1) == truth, "bytes after a line are those of base64", options)
    kinds = [ask([b'{"bytes":%d,"do":"%s"}\n%s' % (len(bodies[0]), kind, bodies[0])], *LOOK)[0] for kind in (b"signature", b"missing")]
    check("reports" in kinds[0] and "missing" in kinds[1], "signature and missing", kinds)
    process = subprocess.Popen(MACHSYM + ["worker", *LOOK], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    text = with_bytes[0][:300] + with_bytes[0][300:]
    for at in [*range(0, 300), *range(300, len(text), 997)]:
        process.stdin.write(text[at:at + 1] if at < 300 else text[at:at + 997])
        process.stdin.flush()
    answer = json.loads(process.stdout.readline())  # while the input is open
    check(answer == truth[0], "by few bytes at a time", answer)
    process.communicate()
    good, after = {"id": "good", "do": "demangle", "names": ["_Z1fv"]}, b'{"id":"good","do":"demangle","names":["_Z1fv"]}\n'
    for request, kind in ((b'{ "bytes" : 3 ,"do":"crash"}\nabc', "no_report"), (b'{"bytes":3,"do":"stats"}\nabc', "bad_request"), (b'{"bytes":3,"do":"crash","report":"x"}\nabc', "bad_request"),
                          (b'{"bytes":3,"do":"build","name":"x"}\nabc', "bad_request"), (b'{"bytes":"3","do":"crash"}\n', "bad_request"), (b'{"bytes":-3,"do":"crash"}\n', "bad_request"),
                          (b'{"bytes":3.0,"do":"crash"}\nabc', "bad_request"), (b'{"do":"crash","bytes":3}\nabc\n', "bad_request"),
                          (b'{"bytes":1048576,"do":"crash"}\n' + b"{\n" * (1 << 19), "too_long"), (b'{"bytes":3,"do":"%s"}\nabc' % (b"x" * (1 << 20)), "too_long")):
        first, *_, last = ask([request, after], "--no-cache", "--max-request=1", status=1)
        check(kind_of(first) == kind and last["names"] == ["f()"] and last["id"] == good["id"], "%.60r is %s, and the next one is answered" % (request, kind), (first, last))
    for cut in (b'{"bytes":4,"do":"crash"}\nabc', b'{"bytes":4,"do":"crash"}\n', b'{"bytes":4,"do":"crash"}'):
        answer, = ask([cut], "--no-cache", status=1)
        check(kind_of(answer) == "bad_request", "the input ends before all bytes", answer)
    answer, = ask([b'{"bytes":99999999999999999999999,"do":"crash"}\nabc\n'], "--no-cache", status=1)
    check(kind_of(answer) == "too_long", "more bytes than there are", answer)


# ---- Errors are answers ----

def test_errors():
    good = {"id": "good", "do": "demangle", "names": ["_Z1fv"]}
    bad = [(b"{\n", "bad_json"), (b"nonsense\n", "bad_json"), (b"[1]\n", "bad_json"), (b'{"do":"stats"} x\n', "bad_json"),
           (b'{"do":"stats"', "bad_json"), (b"\x00\xff\n", "bad_json"), (b"[" * 5000 + b"\n", "bad_json"), ({}, "bad_request"),
           ({"do": "stop"}, "bad_request"), ({"do": "signature", "report": "x", "want": []}, "bad_request"), ({"do": 1}, "bad_request"), ({"do": "stats", "more": 1}, "bad_request"),
           ({"do": "crash"}, "bad_request"), ({"do": "crash", "report": 1}, "bad_request"),
           ({"do": "crash", "report": "x", "base64": "eA=="}, "bad_request"), ({"do": "crash", "base64": "?"}, "bad_request"),
           ({"do": "crash", "report": "x", "want": ["xml"]}, "bad_request"), ({"do": "crash", "report": "x", "want": "json"}, "bad_request"),
           ({"do": "crash", "path": REPORTS + "/demo.ips"}, "bad_request"), ({"do": "crash", "report": ""}, "no_report"),
           ({"do": "crash", "report": "nothing of a report"}, "no_report"), ({"do": "frames", "uuid": "1", "offsets": []}, "bad_request"),
           ({"do": "frames", "uuid": UUID}, "bad_request"), ({"do": "frames", "uuid": UUID, "offsets": ["x"]}, "bad_request"),
           ({"do": "frames", "uuid": UUID, "offsets": [{}]}, "bad_request"), ({"do": "frames", "uuid": UUID[:-1] + "9", "offsets": [1]}, "no_image"),
           ({"do": "demangle", "names": "x"}, "bad_request"), ({"do": "demangle", "names": ["x", 1]}, "bad_request"),
           ({"do": "demangle", "names": [], "style": "short"}, "bad_request"), ({"id": -1, "do": "stats"}, "bad_request"),
           ({"id": 1.5, "do": "stats"}, "bad_request"), ({"id": [1], "do": "stats"}, "bad_request")]
    requests = []
    for request, _ in bad:
        if isinstance(request, bytes) and not request.endswith(b"\n"):
            request += b"\n"
        requests += [request, good]
    answers = ask(requests, "--no-cache", "-d", DEMO, status=1)
    check(len(answers) == len(requests), "an answer for each")
    for i, (request, kind) in enumerate(bad):
        check(kind_of(answers[2 * i]) == kind and answers[2 * i]["error"]["what"] != "", "%.80r is %s" % (request, kind), answers[2 * i])
        check(answers[2 * i]["line"] == 2 * i + 1 and set(answers[2 * i]) == {"schema", "line", "id", "error"}, "an error and no more")
        check(answers[2 * i + 1] == {"schema": "worker/1", "line": 2 * i + 2, "id": "good", "names": ["f()"]}, "the next one is answered")
    ids = [0, 2**64 - 1, "", "a\"\n\u00e9\U0001f600", "same", "same", None]
    answers = ask([{"id": i, "do": "stats"} if i is not None else {"do": "stats"} for i in ids])
    check([a["id"] for a in answers] == ids, "ids come back, equal ones too", answers)
    answers = ask([b"\n\r\n", {"id": 1, "do": "stats"}, b"  \n", b'{"id":2,"do":"stats"} \r\n', b'{"id":3,"do":"stats"}'])
    check([(a["line"], a["id"]) for a in answers] == [(3, 1), (5, 2), (6, 3)], "blank lines, and a last line without an end", answers)
    answers = ask([{"id": 1, "do": "stats"}, b'{"id":2,"do":"sta'], status=1)
    check([kind_of(a) for a in answers] == [None, "bad_json"], "half a line at the end", answers)
    check(ask([]) == [], "no requests")
    done = subprocess.run(MACHSYM + ["worker", "extra"], capture_output=True, timeout=20)
    check(done.returncode == 2, "operands are refused", done.stderr)


def test_mutations():
    """Requests with bytes changed, taken out, doubled: each line has an answer that is one."""
    chance = random.Random(20)
    text = open(REPORTS + "/demo-lldb.txt", encoding="utf-8").read()
    seeds = [json.dumps(r).encode() for r in (
        {"id": 1, "do": "crash", "report": text, "want": ["json", "text", "same", "summary", "signature"]},
        {"id": "x", "do": "frames", "uuid": UUID, "arch": "arm64", "offsets": ["0xaec", 1, 2], "return_addresses": True},
        {"id": 2, "do": "demangle", "names": ["_ZN5QueueIiE2atEi", "$s4main3fooyyF"], "style": "full"}, {"do": "stats"})]
    lines = []
    for _ in range(1500):
        line = bytearray(chance.choice(seeds))
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(line))
            how = chance.randrange(4)
            if how == 0:
                line[at] = chance.choice(b'"\\{}[],:0x-9\x00\xff u')
            elif how == 1:
                del line[at:at + chance.randrange(1, 9)]
            elif how == 2:
                line[at:at] = line[at:at + chance.randrange(1, 30)]
            else:
                line[at:] = line[at:][:chance.randrange(200)]
            line = line or bytearray(b"{")
        lines.append(bytes(line) if line.strip() else b"{")
    done = subprocess.run(MACHSYM + ["worker", "-j", "2"] + LOOK, input=b"\n".join(lines) + b"\n", capture_output=True, timeout=120)
    answers = lines_of(done.stdout)
    check(done.returncode in (0, 1) and [a["line"] for a in answers] == list(range(1, 1501)), "changed requests", done.stderr.decode())
    kinds = {kind_of(a) for a in answers}
    check({None, "bad_json", "bad_request"} <= kinds, "some are good and some are not", kinds)


# ---- Limits ----

def peak(process):
    """Ends a process and tells how many megabytes it had."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss / 1024


def test_limits():
    process = subprocess.Popen(MACHSYM + ["worker", "--max-request=1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for _ in range(100):
        process.stdin.write(b'{"do":"demangle"' + b"x" * (1 << 20))
    process.stdin.write(b'\n{"do":"stats"}\n' + b"y" * (2 << 20))
    process.stdin.close()
    answers = lines_of(process.stdout.read())
    megabytes = peak(process)
    check([kind_of(a) for a in answers] == ["too_long", None, "too_long"], "a line of 100 MB", answers)
    check(answers[0]["id"] is None and "--max-request" in answers[0]["error"]["what"], "what to do is reported", answers[0])
    check(megabytes < (400 if SANITIZED else 60), "is not kept", megabytes)
    exact = b'{"id":1,"do":"stats"' + b" " * ((1 << 20) - 21) + b"}\n"
    check([kind_of(a) for a in ask([exact, b" " + exact], "--max-request=1", status=1)] == [None, "too_long"], "the longest line")
    text = open(REPORTS + "/demo.crash", encoding="utf-8").read()
    many = text.replace("\nThread 0", "\n" + "".join("%d   demo  0x%016x 0x100000000 + 1\n" % (i, 0x100000aec) for i in range(9)) + "\nThread 0", 1)
    for request in ({"do": "crash", "report": many}, {"do": "frames", "uuid": UUID, "offsets": [0xaec] * 20},
                    {"do": "demangle", "names": ["_Z1fv"] * 20}):
        answer, after = ask([request, {"do": "stats"}], *LOOK, "--limit=0,0.00001", status=1)
        check(kind_of(answer) == "limit" and "stats" in after, "memory of " + request["do"], answer)
        answer, = ask([request], *LOOK, "--limit=0.0000001,", status=1)
        check(kind_of(answer) == "limit", "seconds of " + request["do"], answer)
    sparse = WORK + "/sparse"
    with open(sparse, "wb") as file:
        file.truncate(500 << 20)
    process = subprocess.Popen(MACHSYM + ["worker", "--paths", "--max-request=1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(json.dumps({"do": "crash", "path": sparse}).encode())
    process.stdin.close()
    answer, = lines_of(process.stdout.read())
    megabytes = peak(process)
    os.unlink(sparse)
    check(kind_of(answer) == "no_file" and "--max-request" in answer["error"]["what"], "a file that is too long", answer)
    check(megabytes < (400 if SANITIZED else 60), "is not read", megabytes)
    requests = [{"do": "frames", "uuid": UUID, "offsets": [0xaec]}] * 5 + [{"do": "stats"}]
    for cache in ("1", "100"):
        stats = ask(requests, *LOOK, "--cache=" + cache)[-1]["stats"]
        check((stats["images_asked"], stats["images_opened"], stats["images_open"]) == (5, 1, 1), "one image, opened once", stats)
        check(stats["cache_bytes"] <= stats["cache_max"] == int(cache) << 20 and stats["requests"] == 5, "--cache", stats)
        kept = stats["cache_bytes"] > 0 and stats["cache_forgotten"] == 0
        check(kept or (cache == "1" and stats["cache_forgotten"] == 5), "what fits is kept", stats)
    for option in ("--cache=0", "--cache=x", "--max-request=1025", "--max-request=-1", "-j0"):
        done = subprocess.run(MACHSYM + ["worker", option], capture_output=True, timeout=20)
        check(done.returncode == 2, option, done.stderr)


def test_unread_symbols():
    """The system fails to open a file of symbols: the answer would lack names, and another try may have them."""
    text = open(REPORTS + "/demo.crash", encoding="utf-8").read()
    profile = {"do": "symbolicate", "memoryMap": [["demo", UUID.replace("-", "") + "0"]], "stacks": [[[0, 0xaec]]]}
    process = subprocess.Popen(MACHSYM + ["worker"] + LOOK, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def answer(request):
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    answer({"do": "stats"})
    try:
        files = len(os.listdir("/proc/%d/fd" % process.pid))
        most = resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (files, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    except (AttributeError, OSError):  # no Linux, or an emulator
        most = None
    requests = [{"do": "crash", "report": text, "want": ["text"]}, {"do": "frames", "uuid": UUID, "offsets": [0xaec]}, profile] if most else []
    for request in requests:
        seen = answer(request)
        check(kind_of(seen) == "unread_image" and seen["error"]["what"].endswith("; send the request again"), "a file of symbols that is not read: " + request["do"], seen)
    if most:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, most)
    for request in requests:
        check(kind_of(answer(request)) is None, "and the next try has it", request)
    process.stdin.close()
    process.wait(60)
    process.stdout.close()


def test_many():
    """Memory does not grow with the number of requests."""
    count = 10**6 if os.environ.get("SAMPLE") == "1" else 50000
    with open(WORK + "/many", "w", encoding="utf-8") as file:
        for i in range(count):
            file.write('{"id":%d,"do":"demangle","names":["_ZN5QueueIiE2atEi"]}\n' % i)
    for jobs in ("1", "3"):
        with open(WORK + "/many", "rb") as requests, open(WORK + "/answers", "wb") as answers:
            process = subprocess.Popen(MACHSYM + ["worker", "-j", jobs], stdin=requests, stdout=answers)
            megabytes = peak(process)
        with open(WORK + "/answers", "rb") as answers:
            want = b'{"schema":"worker/1","line":%d,"id":%d,"names":["Queue<int>::at(int)"]}\n'
            check(process.returncode == 0 and all(line == want % (i + 1, i) for i, line in enumerate(answers)), "all in order, -j " + jobs)
        check(os.path.getsize(WORK + "/answers") > count * 60, "all are there")
        check(megabytes < (400 if SANITIZED else 30), "memory of many requests", megabytes)
    os.remove(WORK + "/many")


# ---- Pipes ----

def test_one_at_a_time():
    for options in ([], ["-j", "4"], ["-j", "4", "--unordered"]):
        process = subprocess.Popen(MACHSYM + ["worker"] + options, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        timer = threading.Timer(60, process.kill)
        timer.start()
        for i in range(50):
            process.stdin.write(b'{"id":%d,"do":"stats"}\n' % i)
            process.stdin.flush()
            line = process.stdout.readline()
            if not line or json.loads(line)["id"] != i:
                break
        check(i == 49, "one at a time: %s" % options, line)
        process.stdin.close()
        check(process.wait(60) == 0, "it ends with its input")
        timer.cancel()


def test_order():
    """Slow and fast requests; answers larger than a pipe; a reader that begins late."""
    report = open(REPORTS + "/demo-spindump.txt", encoding="utf-8").read()
    requests = []
    for i in range(400):
        slow = i % 20 == 0
        requests.append({"id": i, "do": "crash", "report": report, "want": ["json", "same", "text"]} if slow
                        else {"id": i, "do": "demangle", "names": ["_ZN5QueueIiE2atEi"] * (500 if i % 3 else 1)})
    data = b"".join(json.dumps(r).encode() + b"\n" for r in requests)
    seen = {}
    for options in (["-j", "1"], ["-j", "4"], ["-j", "4", "--unordered"]):
        process = subprocess.Popen(MACHSYM + ["worker"] + LOOK + options, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        timer = threading.Timer(100, process.kill)
        timer.start()

        def write():
            process.stdin.write(data)
            process.stdin.close()

        writer = threading.Thread(target=write)
        writer.start()
        time.sleep(0.3)
        answers = lines_of(process.stdout.read())
        writer.join()
        process.wait()
        timer.cancel()
        ids = [a["id"] for a in answers]
        check(sorted(ids) == list(range(400)), "each once: %s" % options, ids)
        if "--unordered" in options:
            answers.sort(key=lambda a: a["id"])
        else:
            check(ids == list(range(400)), "in order: %s" % options, ids)
        seen[tuple(options)] = answers
    check(all(v == seen["-j", "1"] for v in seen.values()), "answers are the same whatever the order")


def test_reader_goes():
    for ignored in (False, True):
        process = subprocess.Popen(MACHSYM + ["worker", "-j", "3"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=(lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)) if ignored else None,
                                   restore_signals=not ignored)
        process.stdin.write(b'{"do":"stats"}\n')
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        try:
            for _ in range(2000):
                process.stdin.write(b'{"do":"demangle","names":["_Z1fv"]}\n' * 100)
                process.stdin.flush()
        except BrokenPipeError:
            pass
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
        status = process.wait(60)
        said = process.stderr.read()
        check(status == (0 if ignored else -signal.SIGPIPE) and said == b"", "a reader that went", (status, said))


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
for test in (test_crash, test_crash_text, test_several, test_damaged, test_frames, test_demangle, test_build, test_bytes, test_errors, test_mutations, test_limits, test_unread_symbols, test_many, test_needs_clock, test_needs_waiting, test_one_at_a_time, test_order,
             test_reader_goes, test_host, test_needs, test_needs_shared, test_needs_large, test_new_symbols):
    began = time.time()
    test()
    if os.environ.get("TIMES"):
        print("%s %.1f s" % (test.__name__, time.time() - began))
print("%d passed, %d failed, 0 skipped" % tuple(counts))
sys.exit(counts[1] != 0)
