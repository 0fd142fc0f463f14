#!/usr/bin/python3
"""What the service of examples/cluster refuses, and what it shows of hostile reports; Redis speaks TLS. The last line is "N passed,
N failed, 0 skipped"."""
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "examples/cluster")
import common
import page
import sender
import service
import symbolicator

MACHSYM = os.environ.get("MACHSYM", "build/machsym")
counts = [0, 0]


def check(ok, what, seen=""):
    counts[not ok] += 1
    if not ok:
        print("failed: %s: %.600s" % (what, seen))


def ask(s, method, path, body=None, token=None, headers=()):
    connection = http.client.HTTPConnection("127.0.0.1", s.config["http_port"], timeout=20)
    given = dict(headers) if token is None else {"Authorization": "Bearer " + token, **dict(headers)}
    connection.request(method, path, body, given)
    answer = connection.getresponse()
    return answer.status, answer.read().decode(), answer.headers


def raw(s, text):
    """All that is answered to bytes, until the server ends the connection."""
    with socket.create_connection(("127.0.0.1", s.config["http_port"]), timeout=60) as connection:
        connection.sendall(text.encode())
        return b"".join(iter(lambda: connection.recv(1 << 16), b"")).decode()


def test_bodies(s):
    """A body that is not read is never taken for a request, and nobody is told to send one that is refused."""
    post = "POST /reports HTTP/1.1\r\nHost: x\r\n%s\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    allowed = "Authorization: Bearer %s\r\n" % s.config["token"]
    for what, request, status in (
            ("two lengths", post % (allowed + "Content-Length: 5\r\nContent-Length: 6\r\n"), 411),
            ("a length and chunks", post % (allowed + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 411),
            ("the body of a GET", post.replace("POST /reports", "GET /groups") % "Content-Length: 44\r\n", 200),
            ("no token, and it waits", post % "Expect: 100-continue\r\nContent-Length: 5\r\n", 401)):
        seen = raw(s, request)
        check(seen.startswith("HTTP/1.1 %d " % status) and seen.count("HTTP/1.1 ") == 1, what, seen)
    seen = raw(s, post % (allowed + "Expect: 100-continue\r\nConnection: close\r\nContent-Length: 5\r\n"))
    check(seen.startswith("HTTP/1.1 100 ") and "HTTP/1.1 202 " in seen, "a body that is wanted is asked for", seen)


def test_uploads(s):
    token, report = s.config["token"], b"nothing of a report"
    check(ask(s, "POST", "/reports", report)[0] == 401, "no token")
    for wrong in ("x", token[:-1], token + "x", "\u00e9"):
        check(ask(s, "POST", "/reports", report, wrong)[0] == 401, "a wrong token", wrong)
    check(ask(s, "POST", "/dsyms", report)[0] == 401, "no token for a dSYM")
    check(ask(s, "POST", "/reports", b"", token)[0] == 413, "an empty report")
    for length, status in ((str(common.MAX_REPORT + 1), 413), ("9" * 12, 413), ("-1", 411), ("1e3", 411), ("", 411)):
        with socket.create_connection(("127.0.0.1", s.config["http_port"]), timeout=20) as raw:
            raw.sendall(("POST /reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %s\r\n\r\n" % (token, length)).encode())
            check(raw.recv(1000).split(b" ")[1] == b"%d" % status, "a body of %r bytes" % length)
    for path in ("/reports/../../../etc/passwd", "/reports/" + "0" * 31, "/reports/%2e%2e", "/../config.json", "/incoming", "/reports/"):
        status, text, _ = ask(s, "GET", path)
        check(status == 404 and token not in text and "root:" not in text, "GET " + path, text)
        check(ask(s, "POST", path, report, token)[0] == 404, "POST " + path)
    check(ask(s, "GET", "/reports/" + "0" * 32)[0] == 404, "a report that is not there")
    with socket.create_connection(("127.0.0.1", s.config["http_port"]), timeout=20) as raw:
        raw.sendall(("POST /dsyms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 1000\r\n\r\nhalf" % token).encode())
    status, text, _ = ask(s, "POST", "/dsyms", b"no archive", token)
    check(status == 202, "an archive that is none is taken, and fails later", text)
    s.wait_for(lambda: not os.listdir(s.folder + "/incoming"), "the archive")
    check(True, "half an upload leaves nothing")


def test_page(s):
    """Text of a report that is HTML, a path, a control character: the page shows it as text."""
    hostile = "<script>alert(1)</script>\"'&\x1b[31m/../../x"
    with open(sender.FIXTURES + "/reports/demo.crash", encoding="utf-8") as file:
        text = file.read()
    text = text.replace("1.2 (7)", hostile).replace("demo [412]", "<b>demo</b> [412]")
    text = text.replace("demo arm64", "<i>demo arm64").replace(sender.UUID[1], sender.UUID[1][:-2] + "98")
    status, answer, _ = ask(s, "POST", "/reports", text.encode(), s.config["token"])
    check(status == 202, "a hostile report", answer)
    first = json.loads(answer)["id"]
    check(json.loads(ask(s, "POST", "/reports", text.encode(), s.config["token"])[1])["id"] == first, "the same report has the same id")
    s.wait_for(lambda: ask(s, "GET", "/reports/" + first)[0] == 200, "the result")
    result = json.loads(ask(s, "GET", "/reports/" + first)[1])
    check(result["reports"][0]["json"]["machsym"] and result["symbols"] == {}, "versions of tool and symbols", result)
    check(result["reports"][0]["json"]["version"].startswith("<script>"), "the result has it as it was", result)
    time.sleep(page.FRESH + 1)
    _, shown, headers = ask(s, "GET", "/")
    check("<p>1 reports;" in shown and shown.count("<td class=\"number\">1<td>") == 1, "sent twice and counted once", shown)
    check("&lt;script&gt;" in shown and "<script" not in shown and "<b>" not in shown and "<i>" not in shown, "the page escapes", shown)
    check("\x1b" not in shown and not re.search(r"\son\w+=|style=|javascript:", shown), "no control characters, no scripts")
    check("default-src 'none'" in headers["Content-Security-Policy"] and headers["X-Content-Type-Options"] == "nosniff", "headers")
    check(sender.UUID[2][:-2] + "98" in shown, "a missing dSYM", shown)
    metrics = ask(s, "GET", "/metrics")[1]
    check(all(re.fullmatch(r'# (HELP|TYPE) .*|crash_\w+(\{\w+="[^"\\]*"(,\w+="[^"\\]*")*\})? [0-9.e+]+', line) for line in metrics.splitlines()),
          "metrics are Prometheus text", metrics)
    check('crash_uploads_total{answer="accepted"} 2' in metrics, "uploads are counted", metrics)


def test_work(s):
    """What is given out late, twice, or to nobody."""
    cluster, gone = common.Cluster(s.config), "f" * 32
    tag = common.shard_of(gone)
    count = ("GET", "reports:{%s}" % tag)
    before, = cluster.run(common.stream(tag), [count])
    cluster.run(common.stream(tag), [("XADD", common.stream(tag), "*", "id", gone, "attempt", 1)])
    s.wait_for(lambda: cluster.run(common.stream(tag), [("XLEN", common.stream(tag))])[0] == 0, "a report that has expired")
    seen = cluster.run(common.stream(tag), [count, ("EXISTS", common.key("result", tag, gone)), ("XLEN", "dead:{%s}" % tag)])
    check(seen == [before, 0, 0], "a report that has expired is not counted again, and is no dead letter", seen)
    check(common.in_hand(cluster, tag, "1-1", "nobody") == 0, "work that another one has done is not in hand")

    many = {"chunk:test:%d" % i: b"%d" % i for i in range(1000)}
    cluster.put(many, 60)
    check(all(cluster.run(name, [("GET", name)]) == [many[name]] for name in list(many)[::50]), "many keys are set")
    ask_lua, uuid = cluster.script(open("examples/cluster/ask.lua", encoding="utf-8").read()), "00"
    command = ("EVALSHA", ask_lua, 2, "in:{test}", "asked:{test}:00", "uuid:" + uuid, 60)
    check([cluster.run("in:{test}", [command, ("XLEN", "in:{test}")]) for _ in range(2)] == [[1, 1], [0, 1]], "builders are asked once")

    class Unconfirmed(common.Cluster):
        replicas = [0, 0, 1]

        def run(self, name, commands, seconds=common.ANSWER):
            return [b"OK"] * (len(commands) - 1) + [self.replicas.pop(0)]

    lonely = Unconfirmed(s.config)
    try:
        lonely.confirmed("x", [("SET", "x", 1)])
        check(False, "what no replica has is not confirmed")
    except common.Unavailable:
        check(lonely.confirmed("x", [("SET", "x", 1)], 60) == [b"OK"] and not lonely.replicas, "it is repeated until a replica has it")


def test_claims(s):
    """What somebody lost had in hand is taken over even while new reports keep coming."""
    class Busy(symbolicator.Symbolicator):
        claimed, end = set(), time.monotonic() + 60

        def mine(self, tag):
            pass

        def take(self, tag, start):
            self.stopping = self.stopping or time.monotonic() > self.end
            return [("1-1", "0" * 32, 0)]

        def work(self, tag, entries):
            pass

        def claim(self, tag):
            self.claimed.add(tag)
            self.stopping = self.claimed == set(common.SHARDS)

    busy = Busy(s.config, "busy")
    busy.run()
    check(busy.claimed == set(common.SHARDS), "all shards are looked at", busy.claimed)


def is_running(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="ascii") as file:
            return file.read().rsplit(") ", 1)[1][0] != "Z"
    except FileNotFoundError:
        return False


def test_killed(s, folder):
    """When the service is killed nothing of it is left; a port that is taken is told at once."""
    program = """import sys, time
sys.path.insert(0, "examples/cluster")
import service
s = service.Service(sys.argv[1], "none")
s.command = lambda name: ["sleep", "1000"]
s.launch("redis0")
print(s.processes["redis0"].pid, flush=True)
time.sleep(1000)"""
    killed = subprocess.Popen([sys.executable, "-c", program, folder], stdout=subprocess.PIPE)
    pid = int(killed.stdout.readline())
    check(is_running(pid), "it runs")
    killed.kill()
    killed.communicate()
    s.wait_for(lambda: not is_running(pid), "the end of its process")
    try:
        service.Service(folder, "none", s.config["http_port"]).start()
        check(False, "a port that is taken")
    except SystemExit as error:
        check("port %d is taken" % s.config["http_port"] in str(error), "a port that is taken", error)


def test_redis(s):
    """Who may do what in Redis, and that nothing goes without TLS."""
    cluster = common.Cluster(s.config)
    for command in (("FLUSHALL",), ("CONFIG", "GET", "*"), ("KEYS", "*"), ("SHUTDOWN",), ("ACL", "LIST"), ("CLUSTER", "RESET")):
        try:
            cluster.run("x", [command])
            check(False, "the service's user may not: %s" % (command,))
        except common.redis.exceptions.NoPermissionError:
            check(True, "no permission")
    for user, password in (("default", ""), ("crashes", "wrong")):
        try:
            common.Cluster({**s.config, "user": user, "password": password}).refresh()
            check(False, "user %s gets in" % user)
        except common.Unavailable:
            check(True, "no such user")
    with socket.create_connection(("127.0.0.1", s.ports[0]), timeout=20) as raw:
        raw.sendall(b"PING\r\n")
        try:
            seen = raw.recv(100)
        except ConnectionResetError:
            seen = b""
        check(b"PONG" not in seen, "no answer without TLS", seen)
    for name in ("config.json", "redis0/redis.conf"):
        check(os.stat(os.path.join(s.folder, name)).st_mode & 0o77 == 0, name + " is for its user only")
    logs = "".join(open(os.path.join(s.folder, name), encoding="utf-8").read() for name in os.listdir(s.folder) if name.endswith(".log"))
    check(all(json.loads(line)["event"] for line in logs.splitlines() if line), "logs are JSON lines", logs)
    check(s.config["token"] not in logs and s.config["password"] not in logs, "no secrets in logs")


with tempfile.TemporaryDirectory() as work, service.Service(work, MACHSYM, symbolicators=1, tls=True) as started:
    started.wait_for(lambda: ask(started, "GET", "/health")[0] == 200, "health")
    test_page(started)
    test_uploads(started)
    test_bodies(started)
    test_work(started)
    test_claims(started)
    test_killed(started, os.path.join(work, "killed"))
    test_redis(started)
print("%d passed, %d failed, 0 skipped" % tuple(counts))
sys.exit(counts[1] != 0)
