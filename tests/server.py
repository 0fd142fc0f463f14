"""What server.sh says. Usage: server.py MACHSYM-SERVER MACHSYM FOLDER. Every truth is what `machsym crash` says of the same report
with the dSYMs themselves."""
import collections
import contextlib
import glob
import gzip
import hashlib
import http.client
import http.server
import io
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
import traceback
import urllib.parse
import zipfile

import server_described
import server_process
import server_sources
import server_symbolicator
from zstd_zip import make_zstd_zip

SERVER, MACHSYM, WORK = sys.argv[1:4]
MACHSYM = os.path.abspath(MACHSYM)
FIXTURES = "tests/fixtures/"
DSYM = FIXTURES + "bin/demo.app.dSYM/Contents/Resources/DWARF/demo"
DEMO = "4C4C44B5-5555-3144-A1BA-79CA685DEC58"
described = server_described.Description("server/openapi.json")
counts = [0, 0]

# A worker that reports can hang, kill or make eat memory: the real one does the rest. While there is a file with the script's name and
# ".slow", what the store took is told after a minute; meanwhile there is one with ".taken".
EVIL = """#!%s
import base64, json, os, subprocess, sys, time
if sys.argv[1] != "worker":
    status = subprocess.call(["%s"] + sys.argv[1:])
    if sys.argv[1] == "store" and os.path.exists(sys.argv[0] + ".slow"):
        open(sys.argv[0] + ".taken", "wb").close()
        time.sleep(60)
    sys.exit(status)
real = subprocess.Popen(["%s"] + sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in sys.stdin.buffer:
    request = json.loads(line)
    report = sys.stdin.buffer.read(request["bytes"]) if "bytes" in request else base64.b64decode(request.get("base64", ""))
    if b"PLEASE-HANG" in report:
        subprocess.call(["sleep", "1000"])
    if b"PLEASE-SAY" in report:
        sys.stderr.write("a line\\n\\xe9 {another\\n")
        sys.stderr.flush()
    if b"PLEASE-DIE" in report:
        os.kill(os.getpid(), 11)
    if b"PLEASE-EAT" in report:
        eaten = []
        while True:
            eaten.append(bytearray(1 << 24))
    real.stdin.write(line + report if "bytes" in request else line)
    real.stdin.flush()
    sys.stdout.buffer.write(real.stdout.readline())
    sys.stdout.buffer.flush()
"""


lock = threading.Lock()


def check(good, what, *seen):
    with lock:
        counts[0 if good else 1] += 1
    if not good:
        print("failed:", what, *[str(s)[:600] for s in seen], flush=True)


def write_evil(path):
    """EVIL as a program."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(EVIL % (sys.executable, MACHSYM, MACHSYM))
    os.chmod(path, 0o755)


def scratch():
    """A file for one report; each thread has its own."""
    return WORK + "/report%d" % threading.get_ident()


class Server:
    """One folder; the process may be killed and started again."""

    def __init__(self, name, *options, token=None):
        self.data, self.options, self.token = WORK + "/" + name, options, token
        self.start()

    def start(self, *more):
        self.log = open(self.data + ".log", "ab")
        self.process = subprocess.Popen([SERVER, "--data", self.data, "--listen", "127.0.0.1:0", *self.options, *more],
                                        stdout=subprocess.PIPE, stderr=self.log)
        self.address = self.process.stdout.readline().decode().strip().replace("http://", "")
        if self.token is None:
            self.token = self.process.stdout.readline().decode().split()[1]

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(30)
        self.process.stdout.close()
        self.log.close()
        return self.process.returncode

    def ask(self, method, path, body=None, token=None, **headers):
        to = http.client.HTTPConnection(self.address, timeout=60)
        try:
            to.request(method, path, body, {"Authorization": "Bearer " + (token or self.token), **headers})
            answer = to.getresponse()
            text = answer.read()
            fault = described.fault(method, path, answer, text)
            if fault is not None:
                check(False, "an answer is as described", fault)
            return answer.status, text
        finally:
            to.close()

    def json(self, method, path, body=None, **more):
        status, text = self.ask(method, path, body, **more)
        return status, json.loads(text)

    def new_token(self, wish):
        return subprocess.run([SERVER, "--data", self.data, "--new-token", wish], capture_output=True, check=True).stdout.decode().strip()

    def settle(self, seconds=60):
        """Waits until no report waits. What /health says then."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            said = self.json("GET", "/health")[1]
            if said.get("waiting") == 0:  # an error has none: the database may be away
                return said
            time.sleep(0.05)
        check(False, "reports still wait", said)
        return said

    def children(self):
        """The workers' process ids."""
        return server_process.children_of(self.process.pid)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def reports():
    found = sorted(glob.glob(FIXTURES + "reports/*") + glob.glob(FIXTURES + "apple/*.ips") + glob.glob(FIXTURES + "services/*.*"))
    return [read(path) for path in found]


def plain(text):
    """Lines of crash/1 without what differs by where a file of symbols lies, or by the key of redaction."""
    lines = []
    for line in re.sub("/user-[0-9a-f]+/", "/user-x/", text.decode()).splitlines():
        said = json.loads(line)
        lines.append(without_place(said))
    return lines


def without_place(report):
    """A report of crash/1 without the paths of files of symbols."""
    for image in report["images"]:
        image.pop("symbols", None)
    return report


def truth(body, symbols):
    """What the tool says of a report with the dSYMs; None: it is no report."""
    path = scratch()
    with open(path, "wb") as file:
        file.write(body)
    done = subprocess.run([MACHSYM, "crash", "--json", "--no-cache", "-d", symbols, path], capture_output=True, timeout=60)
    return plain(done.stdout) or None


def brief_of(body, symbols):
    """The brief that the tool says of a report with some symbols."""
    with open(scratch(), "wb") as file:
        file.write(body)
    said = json.loads(subprocess.run([MACHSYM, "crash", "--brief", "--no-cache", "-d", symbols, scratch()], capture_output=True, timeout=60).stdout)
    del said["report"]
    return said


def first_difference(one, other, path=""):
    """Where two values of JSON differ, as text."""
    if isinstance(one, type(other)) and isinstance(one, (dict, list)) and len(one) == len(other):
        keys = one if isinstance(one, dict) else range(len(one))
        for key in keys:
            if isinstance(one, list) or key in other:
                if one[key] != other[key]:
                    return first_difference(one[key], other[key], "%s/%s" % (path, key))
    return "%s: %.300s, not %.300s" % (path, one, other)


def same_as_tool(server, sent, symbols, what):
    different = 0
    for key, body in sent.items():
        status, text = server.ask("GET", "/reports/" + key)
        wanted = truth(body, symbols)
        if (status, wanted) == (422, None):
            continue
        if status != 200 or plain(text) != wanted:
            different += 1
            if different == 1:
                print(what, key, status, first_difference(plain(text) if status == 200 else text, wanted))
    check(different == 0, "%s: %d of %d differ from machsym crash -d" % (what, different, len(sent)))


def same_missing(server, sent, symbols, what):
    """Which images wait, and in how many reports sent: the tool is asked of each."""
    told = {w["uuid"]: w["reports"] for w in server.json("GET", "/missing")[1]["missing"]}
    wanted = collections.Counter()
    for body in sent.values():
        with open(scratch(), "wb") as file:
            file.write(body)
        said = subprocess.run([MACHSYM, "crash", "--missing=json", "--json", "--no-cache", "-d", symbols, scratch()],
                              capture_output=True, timeout=60).stdout
        for uuid in {m["uuid"] for m in json.loads(said)["missing"] if m["uuid"]} if said else ():
            wanted[uuid] += 1
    check(told == dict(wanted), "/missing %s is that of machsym crash" % what, told, dict(wanted))
    return told


def variants(count):
    """Reports of the demo program, none as the other."""
    text = read(FIXTURES + "reports/demo.ips").decode()
    return [text.replace("000000000001", "%012X" % (i + 16)).encode() for i in range(count)]


def test_symbols(server, sent):
    """A damaged dSYM first, then the binary, then the right one: at the end as if only the right ones had come."""
    missing = same_missing(server, sent, WORK + "/nothing", "without a dSYM")
    check(missing.get(DEMO, 0) > 10, "/missing names the program", missing)
    whole = read(DSYM)
    damaged = bytearray(whole)
    at = len(whole) // 2
    damaged[at:at + 2000] = bytes(2000)
    status, said = server.json("POST", "/symbols?name=demo", bytes(damaged))
    check(status == 200 and said["images"][0]["uuid"] == DEMO and said["notes"], "a damaged dSYM is taken with a word", status, said)
    check(said["redone"] >= missing[DEMO], "its reports are done again", said)
    server.settle()
    status, said = server.json("POST", "/symbols?name=demo", read(FIXTURES + "bin/demo"))
    check(status == 200 and said["images"][0]["added"], "the binary comes before the right dSYM", status, said)
    server.settle()
    status, said = server.json("POST", "/symbols?name=../../etc/x%0a%22demo", whole)
    check(status == 200 and said["images"][0]["replaced"], "the right dSYM takes the place of the damaged one", status, said)
    check(said["redone"] >= missing[DEMO], "its reports are done again, once more", said)
    server.settle()
    both = WORK + "/both"
    same_as_tool(server, sent, both, "binary and dSYM")
    status, said = server.json("POST", "/symbols?name=demo", whole)
    check(status == 200 and said["redone"] == 0, "the same dSYM does nothing again", said)
    same_missing(server, sent, both, "with it")
    made = WORK + "/made.symmap"
    subprocess.run([MACHSYM, "map", "build", FIXTURES + "bin/inline-arm64-d5-22.dSYM", "-o", made], capture_output=True, check=True)
    status, said = server.json("POST", "/symbols?name=made.symmap", read(made))
    check(status == 200 and said["images"][0]["added"], "a map is taken when there is no dSYM", status, said)
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.write(FIXTURES + "bin/inline-arm64-d5-22.dSYM/Contents/Resources/DWARF/inline-arm64-d5-22", "a.dSYM/Contents/Resources/DWARF/a")
    status, said = server.json("POST", "/symbols?name=a.dSYM.zip", zipped.getvalue())
    check(status == 200 and said["images"][0]["added"], "a dSYM in a zip", status, said)
    status, said = server.json("POST", "/symbols?name=%s.dSYM.zip" % ("long" * 100), zipped.getvalue())
    check(status == 200 and not said["images"][0]["added"], "a name of 400 letters", status, said)
    status, said = server.json("POST", "/symbols?name=x", b"no symbols at all")
    check(status == 422, "what has no symbols is refused", status, said)
    status, said = server.json("POST", "/symbols?name=demo", whole[:len(whole) // 2])
    check(status in (200, 422) and not (said.get("images") or [{}])[0].get("replaced"), "half a dSYM replaces nothing", status, said)


def test_evil(server, sent):
    """Reports that hang a worker, kill it and eat its memory: they fail with a reason, and no other one waits for them."""
    evil = {}
    for word in ("HANG", "DIE", "EAT"):
        body = variants(1)[0].replace(b"Demo Player", b"PLEASE-" + word.encode())
        evil[word] = server.json("POST", "/reports", body)[1]["id"]
    other = server.new_token("send:other")
    reader = server.new_token("read:other")
    mine = server.json("POST", "/reports", variants(1)[0], token=other)[1]["id"]
    end = time.monotonic() + 20
    while server.ask("GET", "/reports/" + mine, token=reader)[0] != 200 and time.monotonic() < end:
        time.sleep(0.05)
    check(time.monotonic() < end, "another project's report is done meanwhile")
    check(server.ask("GET", "/reports/" + mine)[0] in (200, 404) and server.ask("GET", "/reports/" + evil["DIE"], token=reader)[0] == 404,
          "a project does not see another one's reports")
    server.settle()
    for word, key in evil.items():
        status, said = server.json("GET", "/reports/" + key)
        check(status == 422 and said["state"] == "failed" and said["deaths"] == 3 and said["reason"], "PLEASE-" + word, status, said)
    check("deadline" in server.json("GET", "/reports/" + evil["HANG"])[1]["reason"], "a hanging one says so")
    listed = {r["id"] for r in server.json("GET", "/reports?state=failed")[1]["reports"]}
    check(set(evil.values()) <= listed, "failed reports are listed")
    check(server.ask("POST", "/reports/%s/retry" % evil["DIE"])[0] == 204, "a failed one may be tried again")
    said = server.settle()
    check(server.json("GET", "/reports/" + evil["DIE"])[1]["deaths"] == 3, "it fails again after three deaths", said)
    boundary = {"Content-Type": "multipart/form-data; boundary=x"}
    form = b'--x\r\nContent-Disposition: form-data; name="apple_crash_report"; filename="x"\r\n\r\n%s\r\n--x--\r\n'
    hanging = threading.Thread(target=server.ask, args=("POST", "/applecrashreport", form % variants(1)[0].replace(b"Demo Player", b"PLEASE-HANG")), kwargs=boundary)
    hanging.start()
    time.sleep(0.3)
    begin = time.monotonic()
    status, said = server.json("POST", "/applecrashreport", form % variants(1)[0], **boundary)
    check(status == 200 and said["status"] == "completed" and hanging.is_alive(), "a request that hangs its worker delays no other", time.monotonic() - begin, said)
    hanging.join()
    for key in evil.values():
        check(server.ask("DELETE", "/reports/" + key)[0] == 204 and server.ask("GET", "/reports/" + key)[0] == 404, "a report is deleted")


def test_refusals(server):
    report = variants(1)[0]
    check(server.ask("POST", "/reports", report, token="wrong")[0] == 401, "no token")
    for role, path, method in (("send", "/groups", "GET"), ("read", "/reports", "POST"), ("read", "/symbols", "POST"), ("upload", "/metrics", "GET")):
        check(server.ask(method, path, b"x" if method == "POST" else None, token=server.new_token(role))[0] == 403, role + " may not " + path)
    check(server.ask("POST", "/reports", b"")[0] == 400, "an empty body")
    check(server.ask("POST", "/reports", b"no gzip", **{"Content-Encoding": "gzip"})[0] == 400, "no gzip")
    check(server.ask("POST", "/reports", gzip.compress(bytes(200 << 20)), **{"Content-Encoding": "gzip"})[0] == 413, "a bomb")
    check(server.ask("POST", "/reports", gzip.compress(report)[:-200], **{"Content-Encoding": "gzip"})[0] == 400, "half a gzip")
    check(server.ask("PUT", "/reports", report)[0] == 405, "a method that no path has")
    check(server.json("GET", "/nothing") == (404, {"error": "no such path"}), "an error is JSON")
    check(server.ask("GET", "/reports/x%27%22;--")[0] == 404, "an invalid id")
    with socket.create_connection(server.address.split(":")) as cut:
        cut.sendall(b"POST /reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 5000\r\n\r\nhalf" % server.token.encode())
    second = subprocess.run([SERVER, "--data", server.data, "--listen", "127.0.0.1:0"], capture_output=True, timeout=30)
    check(second.returncode == 1 and b"another machsym-server" in second.stderr, "two servers on one folder", second.stderr)
    older = WORK + "/older"
    with open(older, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\ncase $1 in --version) echo 0.1.9 ;; *) read -r _; echo \'{"error":{"kind":"bad_request","what":"want"}}\' ;; esac\n')
    os.chmod(older, 0o755)
    for wrong, what in (("/nothing/machsym", "not found"), ("/bin/true", "another program"), (older, "another version")):
        done = subprocess.run([SERVER, "--data", WORK + "/misled", "--listen", "127.0.0.1:0", "--machsym", wrong], capture_output=True, timeout=30)
        check(done.returncode == 1 and what.encode() in done.stderr and not done.stdout, "no machsym: " + what, done.stderr)
    with open(server.data + "/machsym.db", "rb") as file:
        check(server.token.encode() not in file.read(), "the database has no token, only its hash")


SENDERS = 4


class Load:
    """Reports on their way: how often each was new, and the longest time from the first try to the first
    answer that a report is kept."""

    def __init__(self, server, bodies, times=3):
        """times: how often each is sent until it is taken; a report that is taken once shows best whether it is lost."""
        self.server, self.bodies, self.times = server, bodies, times
        self.new, self.longest, self.ids = collections.Counter(), 0.0, {}
        self.threads = [threading.Thread(target=self.send, args=(bodies[i::SENDERS],)) for i in range(SENDERS)]

    def send(self, bodies):
        connection = None
        for body in bodies:
            key, begin, times = hashlib.sha256(body).hexdigest(), time.monotonic(), 0
            self.ids[key] = body
            while times < self.times:
                try:
                    if connection is None or connection.of != self.server.address:
                        connection = http.client.HTTPConnection(self.server.address, timeout=60)
                        connection.of = self.server.address
                    connection.request("POST", "/reports", body, {"Authorization": "Bearer " + self.server.token})
                    answer = connection.getresponse()
                    said = json.loads(answer.read())
                    if answer.status in (200, 201):
                        self.longest = max(self.longest, time.monotonic() - begin)
                        self.new[key] += answer.status == 201
                        check(said["id"] == key, "the id is the SHA-256", said)
                        times += 1
                        begin = time.monotonic()
                        continue
                    check(answer.status == 503, "a refusal is 503", answer.status, said)
                except (OSError, http.client.HTTPException, ValueError):
                    connection = None
                time.sleep(0.02)

    def run(self, fault):
        """Sends all while faults happen: fault is asked again and again."""
        for t in self.threads:
            t.start()
        while any(t.is_alive() for t in self.threads):
            fault()
        for t in self.threads:
            t.join()


def kill_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def test_kills(server):
    """kill -9 of the server and of workers at random while reports come, each three times."""
    chance, seed = random.Random(), time.time_ns()
    chance.seed(seed)
    print("seed", seed)
    load, turns = Load(server, variants(400)), iter(range(8))
    before = server.settle()["done"]

    def fault():
        turn = next(turns, None)
        if turn is None:
            time.sleep(0.05)
            return
        time.sleep(chance.uniform(0.1, 0.5))
        kill_all(server.children()[:2])
        if turn % 2:
            server.end(signal.SIGKILL)
            server.start("--test-clock", ("1h", "0s", "1h", "-1h")[turn // 2])  # leases of before end late, too

    load.run(fault)
    while turns.__length_hint__() > 0:
        fault()
    check(max(load.new.values()) == 1 and len(load.new) == len(load.ids) == 400, "each was new once", load.new.most_common(3))
    said = server.settle()
    check(said["done"] - before == 400 and said["failed"] == server.failed, "each of them is done once", before, said)
    sample = dict(chance.sample(sorted(load.ids.items()), 25))
    same_as_tool(server, sample, WORK + "/both", "after kills")


def test_upload_killed(folder):
    """The server is killed when the store has the dSYM and the database does not know it: reports are done again all the same."""
    tool = WORK + "/late"
    write_evil(tool)
    server = Server(folder, "--machsym", tool, "--workers=1", "--worker-seconds=2")
    key = server.json("POST", "/reports", variants(1)[0])[1]["id"]
    server.settle()
    open(tool + ".slow", "wb").close()
    sender = threading.Thread(target=lambda: pass_over(lambda: server.ask("POST", "/symbols?name=demo", read(DSYM))))
    sender.start()
    end = time.monotonic() + 20
    while not os.path.exists(tool + ".taken") and time.monotonic() < end:
        time.sleep(0.02)
    check(bool(glob.glob(server.data + "/store/4C/*.dSYM")), "the store has the dSYM")
    server.end(signal.SIGKILL)
    sender.join()
    os.remove(tool + ".slow")
    server.start()
    server.settle()
    same_as_tool(server, {key: variants(1)[0]}, FIXTURES + "bin/demo.app.dSYM", "upload killed")
    check(os.listdir(server.data + "/spool") == [], "nothing is left of the upload")
    check(server.end() == 0, "SIGTERM ends it well")


def test_parts(folder):
    """An upload in parts that is cut, by a client that goes away and a server that is killed: it goes on with what is not there."""
    server = Server(folder, "--machsym", MACHSYM, "--workers=1")
    key = server.json("POST", "/reports", variants(1)[0])[1]["id"]
    whole = read(DSYM)
    size = len(whole) // 5 + 1
    pieces = [whole[i:i + size] for i in range(0, len(whole), size)]
    names = [hashlib.sha256(piece).hexdigest() for piece in pieces]
    for name, piece in zip(names[:2], pieces):
        check(server.json("PUT", "/parts/" + name, piece) == (201, {"part": name, "new": True}), "a part")
    check(server.ask("PUT", "/parts/" + names[2], pieces[2][:-1])[0] == 422, "a part whose bytes are others is refused")
    head = "PUT /parts/%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n" % (names[2], server.token, size)
    with socket.create_connection(server.address.split(":")) as cut:
        cut.sendall(head.encode() + pieces[2][:size // 2])
        time.sleep(0.2)
    with socket.create_connection(server.address.split(":")) as cut:
        cut.sendall(head.encode() + pieces[2][:size // 2])
        time.sleep(0.2)
        server.end(signal.SIGKILL)
    server.start()
    there = [server.ask("GET", "/parts/" + name)[0] for name in names]
    check(there == [200, 200, 404, 404, 404], "what came whole is there after a kill, and nothing else", there)
    check(sorted(os.listdir(server.data + "/parts")) == sorted(names[:2]), "halves are gone")
    ask = json.dumps({"parts": names})
    status, said = server.json("POST", "/parts?name=demo", ask)
    check(status == 409 and said["missing"] == names[2:], "what is missing is told", status, said)
    for name, piece in zip(names[1:], pieces[1:]):
        check(server.ask("PUT", "/parts/" + name, piece)[0] == (200 if name == names[1] else 201), "the other parts")
    for wrong in ("x", names[0].upper(), names[0] + "0"):
        check(server.ask("GET", "/parts/" + wrong)[0] == 404 and server.ask("PUT", "/parts/" + wrong, b"x")[0] == 404, "no part: " + wrong)
    for wrong in (b"{}", b"[]", b'{"parts":[]}', b'{"parts":["../lock"],"x":1}', b"\xff"):
        check(server.ask("POST", "/parts?name=demo", wrong)[0] == 400, "no list of parts", wrong)
    check(server.json("POST", "/parts?name=demo", b'{"parts":["../lock"]}')[1]["missing"] == ["../lock"], "a part of another name is missing")
    check(server.ask("POST", "/parts?name=demo", ask, token=server.new_token("send"))[0] == 403, "who sends reports sends no symbols")
    status, said = server.json("POST", "/parts?name=demo", ask)
    check(status == 200 and said["images"][0]["uuid"] == DEMO and said["images"][0]["added"] and said["redone"] == 1, "the whole", status, said)
    check(os.listdir(server.data + "/parts") == [] and os.listdir(server.data + "/spool") == [], "no part is left")
    server.settle()
    same_as_tool(server, {key: variants(1)[0]}, FIXTURES + "bin/demo.app.dSYM", "in parts")
    with open(server.data + "/parts/" + names[0], "wb") as file:
        file.write(pieces[0])
    os.utime(server.data + "/parts/" + names[0], (1, 1))
    server.end()
    server.start()
    end = time.monotonic() + 10
    while os.listdir(server.data + "/parts") and time.monotonic() < end:
        time.sleep(0.05)
    check(os.listdir(server.data + "/parts") == [], "a part of long ago is deleted")
    server.end()


def test_settings(folder):
    """Quota, redaction and days of a project. A second project has none of them."""
    server = Server(folder, "--machsym", MACHSYM, "--workers=1")
    check(server.json("POST", "/symbols?name=demo", read(DSYM))[0] == 200, "a dSYM")
    status, text = server.ask("GET", "/symbols/%s/%s/debuginfo" % (DEMO[:2].lower(), DEMO[2:].replace("-", "").lower()))
    check(status == 200 and text == read(DSYM), "the dSYM in the unified layout")
    for wrong in ("4c/00/debuginfo", "../tokens", "4c/4c44b555553144a1ba79ca685dec58/../x", DEMO[:2] + "/" + DEMO[2:] + "/executable"):
        check(server.ask("GET", "/symbols/" + wrong)[0] in (301, 404), "no such symbols: " + wrong)
    other = server.new_token("admin:other")
    bodies = [body.replace(rb"\/private\/var\/containers\/Bundle\/Application\/0C1D", b"/Users/ann/x") for body in variants(4)]
    keys = [server.json("POST", "/reports", body)[1]["id"] for body in bodies[:2]]
    server.settle()
    check(server.ask("PUT", "/project", b'{"quota":3,"redact":true,"keep_days":5}')[0] == 200, "settings")
    check(server.ask("PUT", "/project", b'{"quotas":3}')[0] == 400 and server.ask("PUT", "/project", b'{"quota":-3}')[0] == 400, "wrong settings")
    check(server.json("GET", "/project")[1] == {"quota": 3, "redact": True, "keep_days": 5}, "they are kept")
    said = [server.ask("POST", "/reports", body)[0] for body in (bodies[2], bodies[3], bodies[3], bodies[0])]
    check(said == [201, 429, 429, 200], "the fourth report of a day is over the quota, one that is there is not", said)
    theirs = server.json("POST", "/reports", bodies[3], token=other)
    check(theirs[0] == 201, "another project has no quota", theirs)
    server.settle()
    with open(scratch(), "wb") as file:
        file.write(bodies[0])
    ask = [MACHSYM, "crash", "--json", "--no-cache", "-d", FIXTURES + "bin/demo.app.dSYM", scratch()]
    open_ = plain(subprocess.run(ask, capture_output=True, timeout=60).stdout)
    wanted = plain(subprocess.run([*ask, "--redact"], capture_output=True, timeout=60).stdout)
    told = plain(server.ask("GET", "/reports/" + keys[0])[1])
    incidents = [said[0].pop("incident") for said in (open_, wanted, told)]
    check(incidents[2] != incidents[0], "the incident is redacted: with a key of its own for each run", incidents)
    check("/Users/ann/" in str(open_) and "/Users/ann/" not in str(told), "the name of a user is redacted", told)
    check(told == wanted and told != open_, "results are redacted, those of before too", first_difference(told, wanted))
    check(b"412" in server.ask("GET", "/reports/%s?as=text" % keys[0])[1], "as=text")
    server.end()
    server.start("--test-clock", "144h")
    end = time.monotonic() + 20
    while server.ask("GET", "/reports/" + keys[0])[0] != 404 and time.monotonic() < end:
        time.sleep(0.05)
    check(time.monotonic() < end, "reports of six days ago are deleted")
    check(server.ask("GET", "/reports/" + theirs[1]["id"], token=other)[0] == 200, "another project keeps its own")
    server.end()


def until_closed(server, request, wait=0.0):
    """Sends a request, waits, and gives what comes until the server closes the connection, and when that was."""
    begin, said = time.monotonic(), b""
    with socket.socket() as to:
        if wait:
            to.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # what is not read stays with the server
        to.settimeout(20)
        host, port = server.address.split(":")
        to.connect((host, int(port)))
        to.sendall(request.replace(b"TOKEN", server.token.encode()))
        time.sleep(wait)
        try:
            while True:
                more = to.recv(1 << 20)
                if not more:
                    break
                said += more
        except ConnectionError:
            pass
        except TimeoutError:
            return said, 1000.0
    return said, time.monotonic() - begin


def test_slow(folder):
    """Clients that stop in the middle are cut off, with a token and without; one that sends a little now and then is not."""
    server = Server(folder, "--machsym", MACHSYM, "--workers=1", "--slow-client=1s")
    head = b"POST /reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN\r\nContent-Length: 5000\r\n\r\n"
    for what, request, status in (("half the headers", head[:30], b""), ("headers alone", head, b"400"), ("half a body", head + b"half", b"400"),
                                  ("no token, and half a body", head.replace(b"TOKEN", b"x") + b"half", b"401"),
                                  ("no such path, and half a body", head.replace(b"/reports", b"/nothing") + b"half", b"404")):
        said, after = until_closed(server, request)
        check(after < 10 and status in said[:20], "a client that stops: " + what, after, said)
    big = read(DSYM) + bytes(24 << 20)
    check(server.json("POST", "/symbols?name=demo", big)[0] == 200, "a large file")
    ask = b"GET /symbols/4c/%s/debuginfo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN\r\nConnection: close\r\n\r\n" % DEMO[2:].replace("-", "").encode()
    said, after = until_closed(server, ask)
    check(len(said) > len(big), "it is told", len(said), after)
    said, after = until_closed(server, ask, 4)
    check(0 < len(said) < len(big), "a client that takes nothing is cut off", len(said), after)
    body = variants(1)[0]

    def slowly():
        for i in range(0, len(body), len(body) // 6):
            yield body[i:i + len(body) // 6]
            time.sleep(0.5)

    status, said = server.json("POST", "/reports", slowly())
    check(status == 201 and said["id"] == hashlib.sha256(body).hexdigest(), "a slow client is waited for", status, said)
    to = http.client.HTTPConnection(server.address, timeout=60)
    for pause in (0, 2, 0):  # longer than the deadlines of the request before
        time.sleep(pause)
        to.request("GET", "/health")
        check(json.loads(to.getresponse().read())["healthy"], "a connection is used again")
    to.close()
    server.end()


def flat(frame):
    """A frame of /symbolicate/v5 as calls, the innermost first."""
    calls = frame.get("inlines", []) + ([frame] if "function" in frame else [])
    return [(c["function"], c.get("file"), c.get("line")) for c in calls]


def test_profilers(folder):
    """/symbolicate/v5 answers as atos does, and as llvm-symbolizer, without a token; what is wrong is refused."""
    server = Server(folder, "--machsym", MACHSYM, "--workers=1", "--max-report=1048576", "--profilers=https://example.org")
    check(server.json("POST", "/symbols?name=demo", read(DSYM))[0] == 200, "a dSYM")
    build, offsets = DEMO.replace("-", "") + "0", [0xaec, 0x944, 0x940, 0xa7b, 0xaef, 0, 1 << 40]
    names = [("demo", build), ("other", "0" * 33), ("unused", "1" * 33), ("no id", "x")]
    job = {"memoryMap": names, "stacks": [[[0, o] for o in offsets], [], [[1, 5], [3, 6], [-1, 7]]]}

    def post(body, path="/symbolicate/v5"):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        return server.json("POST", path, body, token="none")

    status, said = post({"jobs": [job, job], "version": 5})
    results = said["results"]
    check(status == 200 and len(results) == 2 and results[0] == results[1], "an answer for each job", said)
    found = {"demo/" + build: True, "other/" + "0" * 33: False, "unused/" + "1" * 33: None, "no id/x": False}
    check(results[0]["found_modules"] == found, "found_modules", results[0]["found_modules"])
    stack, nothing, missing = results[0]["stacks"]
    check(nothing == [] and missing == [{"frame": 0, "module_offset": "0x5", "module": "other"}, {"frame": 1, "module_offset": "0x6", "module": "no id"},
                                        {"frame": 2, "module_offset": "0x7", "module": "<unknown>"}], "frames without symbols", missing)
    shown = subprocess.run([MACHSYM, "atos", "--json", "-i", "--offset", "--lines=people", "-o", DSYM, *map(hex, offsets)], capture_output=True, check=True, timeout=60)
    for i, (frame, line) in enumerate(zip(stack, shown.stdout.splitlines())):
        wanted = json.loads(line)["frames"]
        check((frame["frame"], frame["module"], frame["module_offset"]) == (i, "demo", hex(offsets[i])), "which frame", frame)
        check([(f, os.path.basename(p or ""), n) for f, p, n in flat(frame)] == [(c["name"], os.path.basename(c["file"] or ""), c["line"]) for c in wanted],
              "the calls of %#x" % offsets[i], frame, wanted)
        check(not wanted or int(frame["function_offset"], 16) == wanted[-1]["offset"], "the offset in the function", frame)
    symbolizer = next((s for s in ("llvm-symbolizer", *("llvm-symbolizer-%d" % n for n in range(22, 13, -1))) if shutil.which(s)), None)
    for offset in (0xaec, 0x944, 0xa7b) if symbolizer else ():
        said = json.loads(subprocess.run([symbolizer, "--output-style=JSON", "--obj=" + DSYM, hex(0x100000000 + offset)], capture_output=True, timeout=60).stdout)
        wanted = [(c["FunctionName"], os.path.basename(c["FileName"]), c["Line"]) for c in (said[0] if isinstance(said, list) else said)["Symbol"]]
        seen = [(f, os.path.basename(p), n) for f, p, n in flat(stack[offsets.index(offset)])]
        check(seen == wanted, symbolizer + " of %#x" % offset, seen, wanted)
    check(post(job)[1]["results"] == results[:1], "a job by itself")
    good = {"memoryMap": [["demo", build]], "stacks": [[[0, 1]]]}
    for body in (b"", b"{", b"[]", b"null", b"[" * 99999, {}, {"jobs": 1}, {"jobs": [1]}, {"jobs": [{}]}, dict(good, stacks=1), dict(good, stacks=[1]),
                 dict(good, stacks=[[1]]), dict(good, stacks=[[[0]]]), dict(good, stacks=[[[0, 1, 2]]]), dict(good, stacks=[[[1, 1]]]),
                 dict(good, stacks=[[["x", 1]]]), dict(good, memoryMap=1), dict(good, memoryMap=[1]), dict(good, memoryMap=[["demo"]]),
                 dict(good, memoryMap=[["demo", 1]])):
        status, said = post(body)
        check(status == 400 and said["error"], "%.40r is refused" % (body,), status, said)
    check(post(b" " * ((1 << 20) + 1))[0] == 413, "a body that is too long")
    check(post(good)[0] == 200, "the next one is answered")
    name = "a\"\n\u00e9</script>"
    check(post(dict(good, memoryMap=[[name, build]]))[1]["results"][0]["stacks"][0][0]["module"] == name, "names are texts")
    for path in ("/source/v1", "/asm/v1"):
        status, said = post({"debugName": "demo", "debugId": build}, path)
        check(status == 501 and said["error"], path + " is refused with the reason", status, said)
    to = http.client.HTTPConnection(server.address, timeout=60)
    for method in ("OPTIONS", "POST"):
        to.request(method, "/symbolicate/v5", json.dumps(good) if method == "POST" else None)
        answer = to.getresponse()
        answer.read()
        check(answer.getheader("Access-Control-Allow-Origin") == "https://example.org" and answer.status == (200 if method == "POST" else 204),
              "pages of the origin may ask", answer.status, answer.getheaders())
        check(answer.getheader("Access-Control-Allow-Headers") == "Content-Type", "they may send JSON", answer.getheaders())
    to.request("GET", "/health")
    answer = to.getresponse()
    answer.read()
    check(answer.getheader("Access-Control-Allow-Origin") is None, "and nothing else", answer.getheaders())
    to.close()
    for method, path in (("GET", "/groups"), ("POST", "/reports"), ("GET", "/missing")):
        check(server.ask(method, path, b"x" if method == "POST" else None, token="none")[0] == 401, "all else needs a token: " + path)
    check(server.ask("GET", "/symbolicate/v5", token="none")[0] == 405, "a profiler posts")
    server.end()


def test_closed(folder):
    """Without --profilers they need a token, and no page may ask."""
    server = Server(folder, "--machsym", MACHSYM, "--workers=1")
    to = http.client.HTTPConnection(server.address, timeout=60)
    for method, status in (("OPTIONS", 405), ("POST", 401)):
        to.request(method, "/symbolicate/v5", b"{}" if method == "POST" else None)
        answer = to.getresponse()
        answer.read()
        check(answer.status == status and answer.getheader("Access-Control-Allow-Origin") is None, "no profilers: " + method, answer.status, answer.getheaders())
    to.close()
    server.end()


def test_symbolicator(folder):
    """Symbolicator's API."""
    server = Server(folder, "--machsym", MACHSYM, "--workers=1", "--max-report=4194304")
    server_symbolicator.test(server, check, MACHSYM, DSYM, FIXTURES + "reports/demo.ips")
    check(server.end() == 0, "SIGTERM ends it well")


def test_sources(folder):
    """Symbols that others keep, over HTTP and in a bucket. False: s3rver is not here."""
    def start(name, *options):
        return Server(folder + name, "--machsym", MACHSYM, "--workers=1", *options)

    whole, uuid = read(DSYM), bytes.fromhex(DEMO.replace("-", ""))
    large = [("%08X%s" % (i, DEMO[8:]), whole.replace(uuid, i.to_bytes(4, "big") + uuid[4:]) + bytes(900 << 10)) for i in range(3)]
    sent = variants(20)
    truths = [[brief_of(body, symbols) for body in sent] for symbols in (WORK + "/nothing", DSYM)]
    return server_sources.test(start, check, WORK, whole, read(FIXTURES + "bin/blocks-arm64-d4-22"), read(FIXTURES + "reports/demo.ips"), large, sent, truths)


def zip_of(members):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, body in members.items():
            archive.writestr(name, body)
    return made.getvalue()


def test_packed(folder):
    """Symbols as zstd, tar and .xcarchive pack them, and a shared cache of the system: each is taken, and reports are done again."""
    server = Server(folder, "--machsym", MACHSYM, "--workers=1")
    whole = read(DSYM)
    whole += os.urandom(6 * (128 << 10) - len(whole))  # cannot be packed, and ends with a step of the server's packing
    packed = subprocess.run(["zstd", "-q", "-c"], input=whole, capture_output=True, check=True).stdout
    status, said = server.json("POST", "/symbols?name=demo.zst", packed)
    check(status == 200 and said["images"][0]["uuid"] == DEMO and said["images"][0]["added"], "a dSYM as zstd packs it", status, said)
    status, text = server.ask("GET", "/symbols/%s/%s/debuginfo" % (DEMO[:2].lower(), DEMO[2:].replace("-", "").lower()))
    check(status == 200 and text == whole, "it is served as it was before")
    test_packed_answer(server, whole)
    status, said = server.json("POST", "/symbols?name=x", packed[:-30])
    check(status == 422, "half a zstd file", status, said)
    server.end()
    of_symsorter = {DEMO[:2].lower() + "/" + DEMO[2:].replace("-", "").lower() + "/debuginfo": packed}
    for what, body in (("by symsorter, packed, in a zip", zip_of(of_symsorter)), ("in a zip, by zstd", make_zstd_zip({"demo.dSYM/Contents/Resources/DWARF/demo": whole}))):
        server = Server(folder + what[:2], "--machsym", MACHSYM, "--workers=1")
        status, said = server.json("POST", "/symbols?name=a.zip", body)
        check(status == 200 and said["images"][0]["uuid"] == DEMO and said["images"][0]["added"], "a dSYM " + what, status, said)
        status, text = server.ask("GET", "/symbols/%s/%s/debuginfo" % (DEMO[:2].lower(), DEMO[2:].replace("-", "").lower()))
        check(status == 200 and text == whole, "it is served as it was before: " + what, status)
        server.end()
    server = Server(folder + "2", "--machsym", MACHSYM, "--workers=1")
    key = server.json("POST", "/reports", variants(1)[0])[1]["id"]
    server.settle()
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        for path in (DSYM, FIXTURES + "bin/demo.app.dSYM/Contents/Info.plist"):
            archive.write(path, "App.xcarchive/dSYMs/" + os.path.relpath(path, FIXTURES + "bin"))
        archive.write(FIXTURES + "bin/demo", "App.xcarchive/Products/Applications/demo.app/demo")
    status, said = server.json("POST", "/symbols?name=App.xcarchive.zip", zipped.getvalue())
    check(status == 200 and [i["uuid"] for i in said["images"]] == [DEMO] * len(said["images"]) and said["redone"] == 1, "an .xcarchive in a zip", status, said)
    server.settle()
    same_as_tool(server, {key: variants(1)[0]}, WORK + "/both", "of an .xcarchive")
    test_cache(server)
    server.end()


def test_packed_answer(server, whole):
    """The unified layout, packed for those who take zstd."""
    to = http.client.HTTPConnection(server.address, timeout=60)
    for accepted, more, packed in (("gzip, zstd", {}, True), ("zstd;q=0.5", {}, True), ("zstd;q=0, gzip", {}, False), ("gzip", {}, False),
                                   ("zstd", {"Range": "bytes=0-99"}, False)):
        to.request("GET", "/symbols/4c/%s/debuginfo" % DEMO[2:].replace("-", ""), headers={"Authorization": "Bearer " + server.token, "Accept-Encoding": accepted, **more})
        answer = to.getresponse()
        text, encoding = answer.read(), answer.getheader("Content-Encoding")
        check((encoding == "zstd") == packed and answer.getheader("Vary") == "Accept-Encoding", "packed for " + accepted, answer.getheaders())
        wanted = whole[:100] if more else whole
        if packed:
            check(len(text) < len(wanted), "it is smaller", len(text))
            text = subprocess.run(["zstd", "-dc"], input=text, capture_output=True).stdout
        check(text == wanted, "the file, asked with " + accepted, len(text), len(wanted))
    to.close()


def test_split_cache(folder, caches):
    """A shared cache of several files comes in a zip: names of local symbols, which are in its last file, are those of its truth."""
    server = Server(folder, "--machsym", MACHSYM, "--workers=1")
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(os.listdir(caches)):
            archive.write(caches + "/" + name, "System/Library/Caches/com.apple.dyld/" + name)
    rows = [line.split("\t") for line in read(caches + "/truth.tsv").decode().splitlines()]
    images = {path: (int(address, 16), uuid) for kind, path, address, uuid in rows if kind == "image"}
    status, said = server.json("POST", "/symbols?name=caches.zip", zipped.getvalue())
    check(status == 200 and {i["uuid"].replace("-", "") for i in said["images"]} == {uuid for _, uuid in images.values()}, "a shared cache of several files", status, said)
    names = [(path, int(address, 16) - images[path][0], name) for kind, path, address, name in rows if kind == "t" and not name.startswith("__Z")]
    at = list(images)
    job = {"memoryMap": [[os.path.basename(p), images[p][1] + "0"] for p in at], "stacks": [[[at.index(path), offset] for path, offset, _ in names]]}
    told = server.json("POST", "/symbolicate/v5", json.dumps(job))[1]["results"][0]["stacks"][0]
    wrong = [(frame.get("function"), name) for frame, (_, _, name) in zip(told, names) if frame.get("function") != name.removeprefix("_")]
    check(len(names) > 10 and len(told) == len(names) and not wrong, "names of local symbols", len(names), wrong[:5])
    check(os.listdir(server.data + "/spool") == [], "nothing is left of it")
    twice, plainly = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(twice, "w") as archive:
        for place in "ab":
            archive.write(caches + "/dyld_shared_cache_arm64e", place + "/dyld_shared_cache_arm64e")
    with zipfile.ZipFile(plainly, "w") as archive:
        archive.write(caches + "/dyld_shared_cache_arm64e", "dyld_shared_cache_arm64e")
    changed, header = bytearray(plainly.getvalue()), bytes(range(200))
    changed[40000:40200] = header
    members = {"a/" + name: read(caches + "/" + name) for name in os.listdir(caches)}
    by_zstd = make_zstd_zip(members)
    status, said = server.json("POST", "/symbols?name=caches.zip", by_zstd)
    check(status == 200 and len(said["images"]) == len(images), "caches that zstd packed in a zip", status, said)
    at = by_zstd.index(b"a/dyld_shared_cache_arm64e") + 200
    for what, wrong in (("the same name twice", twice.getvalue()), ("bytes with another checksum", bytes(changed)),
                        ("a damaged header", header + zipped.getvalue()[200:]), ("damage in what zstd packed", by_zstd[:at] + header + by_zstd[at + 200:])):
        status, said = server.json("POST", "/symbols?name=caches.zip", wrong)
        check(status == 422 and os.listdir(server.data + "/spool") == [], what, status, said)
    server.end()


def test_cache(server):
    """A shared cache gives names of the system to a report that was done without them."""
    caches = WORK + "/caches"
    subprocess.run([sys.executable, "tests/cache/build.py", FIXTURES + "bin/cache", caches], check=True, capture_output=True)
    body = read("tests/cache.sh").split(b"report.crash\" <<'END'\n")[1].split(b"\nEND\n")[0] + b"\n"
    key = server.json("POST", "/reports", body)[1]["id"]
    server.settle()
    check(b"zoo_digest" not in server.ask("GET", "/reports/%s?as=text" % key)[1], "no names before")
    check(not any(m["name"] == "Zoo" for m in server.json("GET", "/missing")[1]["missing"]), "images of the system are not missing: there are no dSYMs of them")
    status, said = server.json("POST", "/symbols?name=dyld_shared_cache_arm64e", read(caches + "/ios17/dyld_shared_cache_arm64e"))
    check(status == 200 and len(said["images"]) == 6 and said["redone"] == 1, "a shared cache", status, said)
    server.settle()
    text = server.ask("GET", "/reports/%s?as=text" % key)[1]
    check(all(name in text for name in (b"base_spread + 4", b"zoo_digest + 4", b"-[Animal(Farm) milk:] + 8")), "names of the system", text)
    status, said = server.json("POST", "/symbols?name=x", read(caches + "/ios17/dyld_shared_cache_arm64e")[:3000])
    check(status == 422, "a cache that is cut short", status, said)
    for system in ("ios15", "ios16"):
        test_split_cache("split-" + system, caches + "/" + system)


def test_demo(folder):
    """--demo loads the reports and the dSYM of the sources."""
    server = Server(folder, "--machsym", MACHSYM, "--workers=2", "--demo", FIXTURES)
    end, said = time.monotonic() + 60, {}
    while time.monotonic() < end:
        said = server.json("GET", "/health")[1]
        if said["done"] > 20 and not said["waiting"] and not any(m["uuid"] == DEMO for m in server.json("GET", "/missing")[1]["missing"]):
            break
        time.sleep(0.1)
    titles = [g["title"] for g in server.json("GET", "/groups")[1]["groups"]]
    check(time.monotonic() < end and any("Player skip:" in t for t in titles), "--demo", said, titles)
    unknown = re.sub(DEMO.encode(), DEMO[:-2].encode() + b"99", variants(1)[0], flags=re.IGNORECASE)
    unknown = unknown.replace(b'"name" : "demo"', b'"name" : "%s"' % MARKED.encode())
    check(server.ask("POST", "/reports", unknown)[0] == 201, "a report of a build without a dSYM")
    server.settle()
    test_page(server)
    server.end()


MARKED = "<b id=marked>demo"  # the name of an image, as somebody may send it


def test_page(server):
    """The page in a browser: its token comes by a server between, as if typed."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    status, page = server.ask("GET", "/", token="none")
    check(status == 200 and b"<title>machsym-server" in page and server.token.encode() not in page, "the page", status)
    if browser is None:
        print("skipped: the page in a browser: there is no chromium")
        return

    class Between(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            to = http.client.HTTPConnection(server.address, timeout=60)
            to.request("GET", self.path, headers={k: v for k, v in self.headers.items() if k in ("Authorization", "Accept")})
            answer = to.getresponse()
            text = answer.read()
            if self.path == "/":
                text = text.replace(b"<script>", b"<script>sessionStorage.setItem('token', '%s')</script><script>" % server.token.encode(), 1)
            self.send_response(answer.status)
            for name in ("Content-Type", "Content-Security-Policy", "X-Content-Type-Options"):
                if answer.getheader(name):
                    self.send_header(name, answer.getheader(name))
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, form, *values):
            pass

    between = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Between)
    threading.Thread(target=between.serve_forever, daemon=True).start()
    groups = server.json("GET", "/groups")[1]["groups"]
    done = server.json("GET", "/reports?state=done&limit=1000")[1]["reports"]
    missing = server.json("GET", "/missing")[1]["missing"]
    of_first = server.json("GET", "/reports?group=" + groups[0]["hash"])[1]["reports"]
    check(len(of_first) == groups[0]["count"] and server.json("GET", "/reports?group=x")[1]["reports"] == [], "the reports of a group")
    try:
        for view, wanted in (("groups", [groups[0]["title"], "Groups of equal crashes"]), ("group/" + groups[0]["hash"], [r["id"][:16] for r in of_first]),
                             ("reports", [done[0]["id"][:16], "done"]), ("missing", [missing[0]["uuid"], missing[0]["name"]]),
                             ("report/" + done[0]["id"], ["<iframe", 'class=&quot;report&quot;'])):
            address = "http://127.0.0.1:%d/#%s" % (between.server_address[1], view)
            options = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + WORK + "/chromium", "--run-all-compositor-stages-before-draw", "--virtual-time-budget=10000"]
            dom = subprocess.run([*options, "--dump-dom", address], capture_output=True, timeout=90).stdout.decode()
            unquoted = dom.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
            check(all(w in unquoted for w in wanted), "the page shows " + view, wanted, dom[-1500:])
            check("<b id=" not in dom, "names are texts in " + view, dom[-1500:])
            if os.environ.get("SCREENSHOTS"):
                subprocess.run([*options, "--window-size=1000,700", "--screenshot=%s/%s.png" % (os.environ["SCREENSHOTS"], view.split("/")[0]), address],
                               capture_output=True, timeout=90)
    finally:
        between.shutdown()
        between.server_close()


def pasted(page):
    """The commands of a page, each with the indented lines that continue it."""
    blocks = "\n".join(read(page).decode().split("```")[1::2])
    return re.findall(r"^\$ (.*(?:\n    .*)*)", blocks, re.MULTILINE)


def test_readme(folder):
    """The commands of server/README.md and docs/server.md that ask a server, as somebody pastes them into a shell."""
    commands = [command for page in ("server/README.md", "docs/server.md") for command in pasted(page) if "curl" in command]
    server = Server(folder, "--machsym", MACHSYM, "--workers=1")
    place = WORK + "/pasted"
    shutil.copytree(FIXTURES + "bin/demo.app.dSYM", place + "/App.app.dSYM")
    with open(place + "/report.ips", "wb") as file:
        file.write(variants(1)[0])
    shutil.copy(FIXTURES + "reports/demo.crash", place + "/report.crash")
    key = hashlib.sha256(variants(1)[0]).hexdigest()
    operator = server.new_token("server")
    shell = {"TOKEN": operator, "URL": "http://" + server.address, "PATH": os.environ["PATH"]}
    if shutil.which("zip") is None:
        with open(place + "/zip", "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nshift\nexec "%s" -m zipfile -c "$@"\n' % sys.executable)
        os.chmod(place + "/zip", 0o755)
        shell["PATH"] += ":" + place
    asked = 0
    for line in commands:
        line = line.replace("9c44a1d5...", key)
        if "$URL/requests/" in line:
            waits = server.json("POST", "/symbolicate?timeout=0", b'{"platform": "native", "threads": [], "modules": []}')[1]
            line = re.sub(r"requests/[0-9a-f]+", "requests/" + waits["request_id"], line)
        done = subprocess.run(["bash", "-ec", line.replace("curl ", "curl -sS --fail-with-body ")], cwd=place, env=shell, capture_output=True, timeout=60)
        check(done.returncode == 0 and done.stdout, "pasted: " + line, done.stdout, done.stderr)
        server.settle()
        asked += 1
    check(asked >= 10, "the pages have a curl for each job", asked)
    status, said = server.json("GET", "/missing")
    check(server.ask("GET", "/reports/%s?as=text" % key)[1].count(b"player.mm") > 0 and status == 200, "then the report has lines", said)
    server.end()


def free_port():
    with socket.socket() as any_:
        any_.bind(("127.0.0.1", 0))
        return any_.getsockname()[1]


def test_nginx(folder):
    """nginx.conf in front of the server: with TLS, and its limits let through what the server takes."""
    server = Server(folder, "--machsym", MACHSYM, "--workers=1", "--proxy", "127.0.0.1")
    port, place = free_port(), WORK + "/nginx"
    os.mkdir(place)
    make_certificate(place)
    conf = read("server/packaging/nginx.conf").decode()
    for word, real in (("443 ssl", "127.0.0.1:%d ssl" % port), ("/etc/ssl/crashes.pem", place + "/cert"),
                       ("/etc/ssl/private/crashes.key", place + "/key"), ("127.0.0.1:8080", server.address)):
        check(word in conf, "nginx.conf has " + word)
        conf = conf.replace(word, real)
    temporary = "".join("%s_temp_path %s/%s;\n" % (what, place, what) for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(place + "/conf", "w", encoding="utf-8") as file:
        file.write("daemon off; pid %s/pid; events {}\nhttp {\naccess_log off;\n%s%s}\n" % (place, temporary, conf))
    with open(place + "/log", "wb") as log:
        nginx = subprocess.Popen(["nginx", "-p", place, "-c", place + "/conf", "-e", place + "/error"], stdout=log, stderr=log)
    unchecked = ssl.create_default_context()
    unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE

    def ask(method, path, body):
        to = http.client.HTTPSConnection("127.0.0.1", port, timeout=60, context=unchecked, source_address=("127.0.0.9", 0))
        to.request(method, path, body, {"Authorization": "Bearer " + server.token})
        return to.getresponse().status

    def is_up():
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return True
        return False

    try:
        end = time.monotonic() + 10
        while not is_up() and nginx.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        check(nginx.poll() is None, "nginx takes its file", read(place + "/log"), read(place + "/error"))
        check(ask("POST", "/reports", variants(1)[0]) == 201, "a report through nginx")
        large = read(DSYM) + bytes(20 << 20)
        check(ask("POST", "/symbols?name=demo", large) == 200, "a large file of symbols through nginx")
        check(ask("PUT", "/parts/" + hashlib.sha256(large).hexdigest(), large) == 201, "a part through nginx")
        said = server.json("GET", "/audit", **{"X-Forwarded-For": "192.0.2.7, no address"})[1]["audit"]
        check([(e["action"], e["address"]) for e in said[:2]] == [("upload", "127.0.0.9"), ("send", "127.0.0.9")], "the audit has the address that nginx names", said)
        check(server.json("GET", "/audit")[1]["audit"][0]["address"] == "127.0.0.1", "a header without an address is not believed")
    finally:
        nginx.terminate()
        nginx.wait(20)
        server.end()


def test_folder_name(folder):
    """A folder whose name is no good in an address keeps its own database, also for another process."""
    server = Server(folder, "--machsym", MACHSYM, "--workers=1")
    check(os.path.exists(server.data + "/machsym.db") and not os.path.exists(WORK + "/" + folder.split("?")[0]), "the database lies in its folder")
    check(server.ask("GET", "/groups", token=server.new_token("read"))[0] == 200, "a token that another process made")
    server.end()


def refused(options, what):
    """The server does not start, and says why on its first line; it prints no address and no token."""
    done = subprocess.run([SERVER, *options], capture_output=True, timeout=30)
    check(done.returncode == 1 and not done.stdout and what in done.stderr.decode().splitlines()[0], "refused: %s" % (options,), done.stderr)


def test_starts(folder):
    """What no server can start with: values, folders, databases, a port, certificates; a project's name that cannot be read."""
    place = WORK + "/" + folder
    os.makedirs(place + "/base/machsym.db")
    os.makedirs(place + "/text")
    for name in ("/file", "/text/machsym.db"):
        with open(place + name, "w", encoding="utf-8") as file:
            file.write("no database and no folder, but a text that is as long as the header of one, and longer than that. " * 9)
    whole = ["--data", place + "/data", "--machsym", MACHSYM, "--listen", "127.0.0.1:0"]
    for name in ("workers", "connections", "max-report", "max-upload", "worker-seconds", "worker-memory"):
        for value in ("0", "-1"):
            refused([*whole, "--%s=%s" % (name, value)], "--%s: it must be more than 0" % name)
    for name in ("max-age", "slow-client"):
        refused([*whole, "--%s=0s" % name], "--%s: it must be more than 0" % name)
    refused([*whole, "--cert", place + "/file"], "--cert and --key: name both")
    refused([*whole, "--cert", place + "/file", "--key", place + "/file"], "--cert and --key: tls:")
    for project in ("a\nb", "", "\x1b[2J", "x" * 101, b"\xff"):
        project = project if isinstance(project, bytes) else project.encode()
        refused([*whole, "--new-token", b"send:" + project], "a project's name has")
    check(not os.path.exists(place + "/data/machsym.db-reserve"), "nothing was made of it before")
    refused(["--data", place + "/file", *whole[2:]], "not a directory")
    refused(["--data", place + "/base", *whole[2:]], "unable to open database file")
    refused(["--data", place + "/text", *whole[2:]], "file is not a database")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused([*whole[:-1], "127.0.0.1:%d" % taken.getsockname()[1]], "address already in use")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", place + "/base"], capture_output=True).returncode == 0:
        refused(["--data", place + "/base", *whole[2:]], "read-only file system")
        subprocess.run(["umount", "-l", place + "/base"], check=False)


def test_watch(folder):
    """What an operator watches: /health and the age of the oldest report while one hangs, the limit of connections, lines of JSON in the log."""
    server = Server(folder, "--machsym", WORK + "/evil", "--workers=1", "--worker-seconds=8", "--max-age=1s", "--connections=4")
    check(server.json("GET", "/health")[0] == 200, "nothing waits")
    key = server.json("POST", "/reports", variants(1)[0].replace(b"Demo Player", b"PLEASE-HANG"))[1]["id"]
    # ages are of the system's clock, which may be set back by seconds meanwhile; the report is given up after 24
    end = time.monotonic() + 20
    while (seen := server.json("GET", "/health"))[0] == 200 and time.monotonic() < end:
        time.sleep(0.05)
    check(seen[0] == 503 and not seen[1]["healthy"] and seen[1]["waiting"] == 1 and seen[1]["oldest_seconds"] > 1, "/health while a report waits too long", seen)
    told = dict(line.rsplit(" ", 1) for line in server.ask("GET", "/metrics")[1].decode().splitlines() if line[0] != "#")
    check(float(told["machsym_oldest_seconds"]) > 1 and float(told["machsym_reports_accepted_total"]) == 1, "/metrics: the oldest", told)
    check(all("machsym_%s_seconds_bucket{le=\"+Inf\"}" % what in told for what in ("accept", "work")), "/metrics: histograms", told)
    check(server.ask("DELETE", "/reports/" + key)[0] == 204 and server.json("GET", "/health")[0] == 200, "it is deleted while it is in work")
    held = [socket.create_connection(server.address.split(":")) for _ in range(4)]
    time.sleep(0.2)
    with socket.create_connection(server.address.split(":")) as more:
        more.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        more.settimeout(0.5)
        try:
            seen = more.recv(100)
        except TimeoutError:
            seen = None
        check(seen is None, "a connection over the limit waits", seen)
        held.pop().close()
        more.settimeout(20)
        check(more.recv(100).startswith(b"HTTP/1.1 200"), "and has its answer when another one ends")
    for one in held:
        one.close()
    server.json("POST", "/reports", variants(2)[1].replace(b"Demo Player", b"PLEASE-SAY"))
    server.settle()
    check(server.ask("GET", "/nothing")[0] == 404 and server.end() == 0, "SIGTERM ends it well")
    lines = read(server.data + ".log").decode().splitlines()
    plain_ones = [line for line in lines if not (line.startswith("{") and {"time", "level"} <= json.loads(line).keys())]
    check(not plain_ones and len(lines) > 2, "each line of the log is JSON", plain_ones[:5])
    said = [json.loads(line)["worker"] for line in lines if line not in plain_ones and "worker" in json.loads(line)]
    check(said == ["a line", "\u00e9 {another"], "the log has what workers say", said)


def make_certificate(place):
    """Files with a key and a certificate of 127.0.0.1."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=crashes.example.org", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-days", "2", "-keyout", place + "/key", "-out", place + "/cert"], capture_output=True, check=True)


def test_tls(folder):
    """--cert and --key: openssl shakes hands by TLS 1.2 and 1.3, and not by older ones; a client that checks the certificate sends a report."""
    place = WORK + "/" + folder + "-certificate"
    os.mkdir(place)
    make_certificate(place)
    server = Server(folder, "--machsym", MACHSYM, "--workers=1", "--cert", place + "/cert", "--key", place + "/key")
    address = server.address.replace("https://", "")
    check(server.address.startswith("https://"), "the address is that of TLS", server.address)
    for version, good in (("-tls1_3", True), ("-tls1_2", True), ("-tls1_1", False), ("-tls1", False)):
        done = subprocess.run(["openssl", "s_client", "-connect", address, "-verify_return_error", "-CAfile", place + "/cert", "-verify_ip", "127.0.0.1", version,
                               "-cipher", "DEFAULT:@SECLEVEL=0"], input=b"", capture_output=True, timeout=30)
        check((done.returncode == 0 and b"Verify return code: 0 (ok)" in done.stdout) == good, "openssl s_client " + version, done.returncode, done.stdout[-300:], done.stderr[:300])
    to = http.client.HTTPSConnection(*address.split(":"), timeout=60, context=ssl.create_default_context(cafile=place + "/cert"))
    for _ in range(2):  # the second one over the same connection
        to.request("POST", "/reports", variants(1)[0], {"Authorization": "Bearer " + server.token})
        answer = to.getresponse()
        check(answer.status in (200, 201) and len(json.loads(answer.read())["id"]) == 64, "a report by TLS", answer.status)
    to.close()
    with contextlib.suppress(ConnectionError):
        plainly = http.client.HTTPConnection(address, timeout=60)
        plainly.request("GET", "/health")
        check(plainly.getresponse().status == 400, "without TLS")
    check(server.end() == 0, "SIGTERM ends it well")


def test_audit(folder):
    """Who did what in a project: told to its admin only, page by page, and kept for some days."""
    server = Server(folder, "--machsym", MACHSYM, "--workers=1")
    phone = subprocess.run([SERVER, "--data", server.data, "--new-token", "send", "--token-name", "phone"], capture_output=True, check=True).stdout.decode().strip()
    key = server.json("POST", "/reports", variants(1)[0], token=phone, **{"X-Forwarded-For": "192.0.2.7"})[1]["id"]
    server.json("POST", "/reports", variants(1)[0], token=phone)
    check(server.json("POST", "/symbols?name=demo", read(DSYM))[0] == 200, "a dSYM")
    server.settle()
    for form in ("", "?as=brief", "?as=text", "?as=state", "?as=nothing"):
        server.ask("GET", "/reports/" + key + form)
    server.ask("GET", "/reports/" + "0" * 64)
    server.ask("GET", "/symbols/%s/%s/debuginfo" % (DEMO[:2].lower(), DEMO[2:].replace("-", "").lower()))
    check(server.ask("PUT", "/project", b'{"quota":3}')[0] == 200, "settings")
    check(server.ask("DELETE", "/reports/" + key)[0] == 204 and server.ask("DELETE", "/reports/" + key)[0] == 404, "a report is deleted once")
    said = server.json("GET", "/audit?limit=1000")[1]
    mine = said["audit"][-1]["object"].split()[1]
    wanted = [("", "", "token", "admin " + mine), ("", "", "token", "send phone"), ("phone", "127.0.0.1", "send", key), (mine, "127.0.0.1", "upload", DEMO)]
    wanted += [(mine, "127.0.0.1", "read", key)] * 3
    wanted += [(mine, "127.0.0.1", "download", DEMO + " debuginfo"), (mine, "127.0.0.1", "settings", '{"keep_days":0,"quota":3,"redact":false}'),
               (mine, "127.0.0.1", "delete", key)]
    told = [(e["token"], e["address"], e["action"], e["object"]) for e in said["audit"]][::-1]
    check(told == wanted and said["next"] is None, "the audit", first_difference(told, wanted))
    pages, ask = [], "/audit?limit=3"
    while ask:
        page = server.json("GET", ask)[1]
        pages += [e for e in page["audit"] if e["action"] != "audit"]
        ask = page["next"] and "/audit?limit=3&before=" + page["next"]
    check(pages == said["audit"], "its pages are the whole", first_difference(pages, said["audit"]))
    check(server.json("GET", "/audit?until=%s" % said["audit"][-2]["time"])[1]["audit"] == said["audit"][-1:], "until a time")
    check(len(server.json("GET", "/audit?since=9999-01-01T00:00:00Z")[1]["audit"]) == 0, "since a time")
    for wrong in ("since=yesterday", "before=x", "before=1-2x", "until=1"):
        check(server.ask("GET", "/audit?" + wrong)[0] == 400, "refused: " + wrong)
    check(server.ask("GET", "/audit", token=server.new_token("read"))[0] == 403, "a reader may not")
    theirs = server.json("GET", "/audit", token=server.new_token("admin:other"))[1]["audit"]
    check([e["action"] for e in theirs] == ["token"], "another project has its own", theirs)
    server.end()
    server.start("--audit-days=1", "--test-clock", "49h")
    end = time.monotonic() + 20
    while any(e["action"] != "audit" for e in server.json("GET", "/audit")[1]["audit"]) and time.monotonic() < end:
        time.sleep(0.05)
    check(time.monotonic() < end, "it leaves after its days")
    server.end()


def test_projects(folder):
    """An admin of a project manages that one only; one of the role server all."""
    server = Server(folder, "--machsym", MACHSYM, "--workers=1")
    operator = server.new_token("server")
    status, said = server.json("POST", "/tokens?project=player", b'{"role":"admin","name":"ann"}', token=operator)
    check(status == 201, "the operator makes an admin of a project", status, said)
    ann = said["token"]
    status, said = server.json("POST", "/tokens", b'{"role":"send","name":"phone"}', token=ann)
    check(status == 201, "who makes a token", status, said)
    phone = said["token"]
    key = server.json("POST", "/reports", variants(1)[0], token=phone)[1]["id"]
    server.settle()
    check(server.ask("GET", "/reports/" + key, token=ann)[0] == 200 and server.ask("GET", "/reports/" + key)[0] == 404, "the report is the project's")
    check(server.ask("GET", "/reports/%s?project=player" % key, token=operator)[0] == 200 and server.ask("GET", "/reports/" + key, token=operator)[0] == 404, "the operator names the project")
    names = [(t["name"], t["role"]) for t in server.json("GET", "/tokens", token=ann)[1]["tokens"]]
    check(names == [("ann", "admin"), ("phone", "send")], "its tokens", names)
    for method, path, body in (("GET", "/tokens", None), ("POST", "/tokens", b'{"role":"send"}'), ("DELETE", "/tokens/ann", None), ("PUT", "/project", b'{"quota":1}'),
                               ("GET", "/project", None), ("GET", "/audit", None), ("GET", "/reports/" + key, None), ("DELETE", "/reports/" + key, None), ("GET", "/groups", None)):
        for project in ("player", "", "default%20"):
            check(server.ask(method, path + "?project=" + project, body)[0] == 403, "an admin of another project: %s %s" % (method, path), project)
        check(server.ask(method, path, body, token=phone)[0] == 403, "who may only send: " + path)
    check(server.ask("DELETE", "/tokens/phone")[0] == 404 and server.ask("DELETE", "/reports/" + key)[0] == 404, "and without a name it sees its own")
    for wrong in (b'{"role":"server"}', b'{"role":"all"}', b'{}', b'{"role":"send","name":"a/b"}', b'{"role":"send","name":"\\n"}', b'{"role":"send","of":"x"}'):
        check(server.ask("POST", "/tokens", wrong, token=ann)[0] == 400, "no such token", wrong)
    check(server.ask("POST", "/tokens", b'{"role":"read","name":"phone"}', token=ann)[0] == 409, "a name is one token's")
    check(server.ask("POST", "/tokens", b'{"role":"read","name":"phone"}')[0] == 201, "and each project's own")
    check(server.ask("POST", "/tokens", b'{"role":"server"}', token=operator)[0] == 400 and server.ask("POST", "/tokens?project=", b'{"role":"admin"}', token=operator)[0] == 400
          and server.ask("GET", "/groups?project=%0a", token=operator)[0] == 403, "what the operator may not")
    status, said = server.json("POST", "/tokens?project=", b'{"role":"server","name":"second"}', token=operator)
    check(status == 201 and server.ask("GET", "/tokens?project=player", token=said["token"])[0] == 200, "a second operator", status, said)
    check(server.ask("PUT", "/project?project=player", b'{"quota":1}', token=operator)[0] == 200 and server.json("GET", "/project")[1]["quota"] == 0, "settings of a project")
    check(server.ask("POST", "/reports", variants(2)[1], token=phone)[0] == 429, "they hold")
    check(server.ask("DELETE", "/tokens/phone", token=ann)[0] == 204 and server.ask("POST", "/reports", variants(1)[0], token=phone)[0] == 401, "a revoked token is refused at once")
    check(server.ask("DELETE", "/reports/" + key, token=ann)[0] == 204, "its admin deletes")
    done = [(e["token"], e["action"], e["object"]) for e in server.json("GET", "/audit", token=ann)[1]["audit"]][::-1]
    check([d for d in done if d[1] in ("token", "revoke", "delete")] == [(hashlib.sha256(operator.encode()).hexdigest()[:8], "token", "admin ann"), ("ann", "token", "send phone"),
                                                                        ("ann", "revoke", "phone"), ("ann", "delete", key)], "the audit has who made tokens", done)
    server.end()


def test_forget(folder):
    """A user's reports are deleted, and no others; redaction does not hide whose they are."""
    server = Server(folder, "--machsym", MACHSYM, "--workers=2")
    key = b"00000000-0000-4000-8000-0000000000AA"
    ios, sentry, text = read(FIXTURES + "apple/ios.ips"), json.loads(read(FIXTURES + "reports/demo-sentry.json")), read(FIXTURES + "reports/demo.crash")
    check(key in ios and text.count(b"CrashReporter Key:") == 1, "the fixtures are as they were")
    sentry["user"] = {"id": "ann\u00fc 7", "email": "ann@example.org"}
    anns = [ios, json.dumps(sentry).encode(), re.sub(rb"(CrashReporter Key: +)[^\n]+", lambda key: key.group(1) + "ann\u00fc 7  ".encode(), text)]
    others = [ios.replace(key, key.replace(b"AA", b"AB")), text, json.dumps(dict(sentry, user={"id": "ann"})).encode()]
    for turn, redact in enumerate((False, True)):
        check(server.ask("PUT", "/project", json.dumps({"redact": redact}).encode())[0] == 200, "settings")
        keys = [server.json("POST", "/reports", body)[1]["id"] for body in anns + others]
        server.settle()
        said = [server.json("DELETE", "/reports?user=" + urllib.parse.quote(user)) for user in ("ann\u00fc 7", key.decode(), "nobody")]
        check(said == [(200, {"deleted": 2, "waiting": 0}), (200, {"deleted": 1, "waiting": 0}), (200, {"deleted": 0, "waiting": 0})], "a user's reports, redacted: %s" % redact, said)
        told = [server.ask("GET", "/reports/" + k)[0] for k in keys]
        check(told == [404] * 3 + [200] * 3, "only theirs are gone", told)
        count = server.settle()["done"]
        check(count == 3, "no others", count)
        check(sum(g["count"] for g in server.json("GET", "/groups")[1]["groups"]) == 3, "groups count those that stay")
    for wrong in ("", "?user=", "?user=%20"):
        check(server.ask("DELETE", "/reports" + wrong)[0] == 400, "no user is named", wrong)
    check(server.ask("DELETE", "/reports?user=ann", token=server.new_token("read"))[0] == 403, "a reader may not")
    server.end()


def test_schemas(folder):
    """A database of the first schema is opened, and the report that its server had leased is done; one of a newer program is refused."""
    with open("server/sqlite.go", encoding="utf-8") as file:
        first = file.read().split("var steps = []string{`")[1].split("`")[0]
    data, body, token = WORK + "/" + folder, variants(1)[0], "ms_old"
    key = hashlib.sha256(body)
    os.mkdir(data)
    old = sqlite3.connect(data + "/machsym.db")
    old.executescript(first + "PRAGMA user_version = 1;")
    old.execute("INSERT INTO token VALUES(?, 'admin', 'default')", (hashlib.sha256(token.encode()).hexdigest(),))
    old.execute("INSERT INTO report(project, id, received, since, body, state, lease, until)"
                " VALUES('default', ?, 1, 1, ?, 1, 7, 9000000000000000)", (key.digest(), gzip.compress(body)))
    old.commit()
    old.close()
    server = Server(folder, "--machsym", MACHSYM, "--workers=1", token=token)
    server.settle()
    same_as_tool(server, {key.hexdigest(): body}, WORK + "/nothing", "the first schema")
    server.end()
    newer = sqlite3.connect(data + "/machsym.db")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    done = subprocess.run([SERVER, "--data", data, "--listen", "127.0.0.1:0"], capture_output=True, timeout=30)
    check(done.returncode == 1 and b"newer machsym-server" in done.stderr, "the database of a newer program", done.stderr)


def small_disk(folder, megabytes):
    """A folder on a disk of its own. None: none can be mounted here."""
    data = WORK + "/" + folder
    os.mkdir(data)
    size = "size=%dm" % megabytes
    return None if subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", data], capture_output=True).returncode else data


def test_full(folder, turn):
    """A full disk: every request has its answer, and all that was taken is done as soon as there is a little room. False: not here."""
    data = small_disk("%s%d" % (folder, turn), 40)
    if data is None:
        return False
    try:
        fill_and_free(data, turn)
    finally:
        subprocess.run(["umount", "-l", data], check=False)
    return True


def long_reports(first, step):
    """Reports without end of 12 KB that cannot be compressed much, none as the other; every step-th one."""
    text = read(FIXTURES + "reports/demo.ips").decode()
    while True:
        yield text.replace("000000000001", "%012X" % (first + 16)).replace("Demo Player", "Demo " + os.urandom(4000).hex()).encode()
        first += step


def send_until(server, bodies, refusals, taken, said):
    """Sends reports until more than `refusals` were refused. Counts answers of HTTP, and errors without an
    answer."""
    for body in bodies:
        try:
            status, answer = server.json("POST", "/reports", body)
        except (OSError, http.client.HTTPException) as error:
            status, answer = repr(error), None
        said[status] += 1
        if status == 201:
            taken.append(answer["id"])
        if said[503] > refusals or len(said) > 2:
            return


def fill_and_free(data, turn):
    """Four senders fill the disk while two workers work; then a megabyte is free, then all."""
    ballast, padded = data + "/ballast", read(DSYM) + bytes(1 << 20)
    with open(ballast, "wb") as file:
        file.write(bytes(12 << 20))
    server = Server(os.path.basename(data), "--machsym", MACHSYM, "--workers=2")
    taken, said = [], collections.Counter()
    senders = [threading.Thread(target=send_until, args=(server, long_reports(i, 4), 200, taken, said)) for i in range(4)]
    for s in senders:
        s.start()
    for s in senders:
        s.join(100)
    check(set(said) == {201, 503} and len(taken) > 20, "a full disk is 503, and no connection is dropped", said)
    before = server.json("GET", "/health")[1]
    os.truncate(ballast, 11 << 20)
    wanted, end = before["done"] + min(before["waiting"], 40), time.monotonic() + 20
    while server.json("GET", "/health")[1]["done"] < wanted and time.monotonic() < end:
        time.sleep(0.05)
    after = server.json("GET", "/health")[1]
    check(after["done"] >= wanted, "with a megabyte free results go on", before, after)
    os.remove(ballast)
    check(server.settle()["failed"] == 0, "none has failed")
    lost = [key for key in taken if server.ask("GET", "/reports/" + key)[0] != 200]
    check(not lost, "with room again all reports that were taken have a result", len(lost), len(taken))
    check(taken_again(server), "and the next one is taken")
    if turn == 0:
        with open(ballast, "wb") as file:  # room for the upload, and not for its place in the store
            file.write(bytes(room_of(data) - len(padded) - (96 << 10)))
        status, answer = server.json("POST", "/symbols?name=demo", padded)
        check(status == 503 and os.listdir(data + "/spool") == [], "symbols that find no room: send them again", status, answer)
    if turn == 1:
        fill(ballast)
        send_until(server, long_reports(1 << 20, 1), 3, [], collections.Counter())
        server.settle()
        stay = [key for key in taken if server.ask("DELETE", "/reports/" + key)[0] != 204]
        check(not stay, "reports are deleted while the disk is full", len(stay))
        check(taken_again(server), "others take the place of those that are deleted")
        os.remove(ballast)
        time.sleep(1.1)
        check(taken_again(server) and os.path.exists(data + "/machsym.db-reserve"), "room is kept again as soon as there is some")
    server.end()


def fill(path):
    """Takes all room of a disk that others write to as well."""
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(64 << 10))


def taken_again(server):
    """Whether a report is taken before long."""
    end = time.monotonic() + 10
    while server.ask("POST", "/reports", next(long_reports(0, 1)))[0] != 201:
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def room_of(path):
    said = os.statvfs(path)
    return said.f_bavail * said.f_bsize


def pass_over(do):
    try:
        do()
    except (OSError, http.client.HTTPException):
        pass


def test_main():
    """One server, from its first report to kills of all."""
    server = Server("data", "--machsym", WORK + "/evil", "--workers=2", "--worker-seconds=2", "--worker-memory=1024")
    try:
        sent = {}
        for body in reports():
            first = server.json("POST", "/reports", body)
            again = [server.json("POST", "/reports", body), server.json("POST", "/reports", gzip.compress(body), **{"Content-Encoding": "gzip"})]
            check(first[0] == 201 and {(s, a["id"]) for s, a in again} == {(200, first[1]["id"])}, "sent three times is once", first, again)
            sent[first[1]["id"]] = body
        server.settle()
        test_symbols(server, sent)
        key = next(iter(sent))
        test_forms(server, sent, key)
        test_refusals(server)
        test_evil(server, sent)
        server.failed = server.settle()["failed"]
        check(server.end() == 0, "SIGTERM ends it well")
        server.start()
        same_as_tool(server, {key: sent[key]}, WORK + "/both", "after a stop and a start")
        test_kills(server)
        check(server.end() == 0, "SIGTERM ends it well after all that")
    finally:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


def test_forms(server, sent, key):
    """What is told of reports and of all together."""
    check(server.ask("GET", "/reports/" + key + "?as=text")[1].startswith(b"Incident Identifier"), "as=text")
    check(server.json("GET", "/reports/" + key + "?as=brief")[1]["schema"] == "crash-brief/1", "as=brief")
    page = server.ask("GET", "/reports/" + key + "?as=html")[1]
    check(page.startswith(b"<!") and page.count(b'class="report">') == 1, "as=html", page[:80])
    check(server.ask("GET", "/reports/" + key + "?as=nothing")[0] == 400, "as=nothing")
    groups = server.json("GET", "/groups")[1]["groups"]
    check(sum(g["count"] for g in groups) == len(sent) - server.settle()["failed"], "each result is in one group", groups)
    status, said = server.json("POST", "/symbolicate/v5", json.dumps({"jobs": [{"memoryMap": [["demo", DEMO.replace("-", "") + "0"]], "stacks": [[[0, 2796]]]}]}))
    check(status == 200 and said["results"][0]["stacks"][0][0]["function"] == "-[Player skip:]", "/symbolicate/v5", said)
    check(b"machsym_accept_seconds_bucket" in server.ask("GET", "/metrics")[1], "/metrics")
    check(server.ask("GET", "/openapi.json")[1].decode() == described.text, "/openapi.json")


# Tests that run beside each other: most of their time is waited for deadlines, restarts and disks. Each list runs in its order.
LANES = ([test_main],
         [lambda: test_full("full", 0)],
         [lambda: test_full("full", 1), lambda: test_watch("watch")],
         [lambda: test_upload_killed("killed"), lambda: test_parts("parts"), lambda: test_packed("packed"), lambda: test_demo("demo")],
         [lambda: test_slow("slow"), lambda: test_profilers("profilers"), lambda: test_closed("closed"), lambda: test_readme("readme"),
          lambda: test_settings("settings"), lambda: test_audit("audit"), lambda: test_forget("forget"), lambda: test_projects("projects"), lambda: test_nginx("behind"), lambda: test_folder_name("what?mode=memory#1 %41\n"), lambda: test_schemas("old"),
          lambda: test_starts("starts"), lambda: test_tls("tls"),
          lambda: test_symbolicator("symbolicator")],
         [lambda: test_sources("sources")])


def run_lane(lane, skipped):
    for test in lane:
        try:
            if test() is False:
                skipped.add("a full disk: no tmpfs can be mounted" if lane is not LANES[-1] else "a bucket: s3rver of npm is not here")
        except Exception:
            traceback.print_exc()
            check(False, "a test ends")


def prepare():
    """What several tests use."""
    write_evil(WORK + "/evil")
    os.mkdir(WORK + "/nothing")
    os.mkdir(WORK + "/both")
    shutil.copy(FIXTURES + "bin/demo", WORK + "/both")
    shutil.copytree(FIXTURES + "bin/demo.app.dSYM", WORK + "/both/demo.dSYM")


def main():
    skipped = set()
    prepare()
    threads = [threading.Thread(target=run_lane, args=(lane, skipped)) for lane in LANES]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(not described.unasked(), "every path was asked", described.unasked())
    for why in sorted(skipped):
        print("skipped: " + why)
    return len(skipped)


if __name__ == "__main__":
    not_here = main()
    print("%d passed, %d failed, %d skipped" % (*counts, not_here))
    sys.exit(counts[1] != 0)
