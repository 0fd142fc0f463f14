#!/usr/bin/python3
"""What the service of examples/cluster refuses, and what it shows of hostile reports; Redis speaks TLS. The last line is "N passed,
N failed, N skipped"."""
import base64
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, "examples/cluster")
import common
import ingest
import page
import sender
import service
import symbolicator

MACHSYM = os.environ.get("MACHSYM", "build/machsym")
counts = [0, 0, 0]  # passed, failed, skipped


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
    """A body that is not read is never taken for a request. A client whose request is refused is not told to
    send."""
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
    check(status == 202, "an invalid archive is taken, and fails later", text)
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
    """Work that is given out late, twice, or to no worker."""
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
    ask_lua, uuid = cluster.script_of("ask.lua"), "00"
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

        def read(self, tags, count, start):
            self.stopping = self.stopping or time.monotonic() > self.end
            return [(tags[0], "1-1", "0" * 32, 0)]

        def work(self, found):
            pass

        def claim(self, tag):
            self.claimed.add(tag)
            self.stopping = self.claimed == set(common.SHARDS)

    busy = Busy(s.config, "busy")
    busy.run()
    check(busy.claimed == set(common.SHARDS), "all shards are looked at", busy.claimed)


def test_sweep(s):
    """Counts, and reports that wait, go when they are too old; a day that is kept, and who waits since then, stay."""
    cluster, tag = common.Cluster(s.config), "test"
    today, past = (time.strftime("%Y-%m-%d", time.gmtime(time.time() - days * 86400)) for days in (0, 40))
    many = ["g%02d" % i for i in range(30)]
    commands = [("ZADD", "groups:{test}", 5, "old"), ("HSET", "parts:{test}:old", past + "\tdemo\t1", 5), ("SET", "title:{test}:old", "x"),
                ("ZADD", "groups:{test}", 5, "gone"), ("ZADD", "groups:{test}", 7, "both"),
                ("HSET", "parts:{test}:both", past + "\tdemo\t1", 4, today + "\tdemo\t1", 3),
                ("ZADD", "wanted:{test}", 2, "A", 1, "B"), ("ZADD", "wait:{test}:A", 100, "report0", int(time.time()), "report1")]
    commands += [c for g in many for c in (("ZADD", "groups:{test}", 9, g), ("HSET", "parts:{test}:" + g, today + "\tdemo\t1", 2))]
    cluster.run("groups:{test}", commands)
    whole, symbolicator.SHARDS = symbolicator.SHARDS, [tag]
    sweeper = symbolicator.Symbolicator(s.config, "sweeper")
    for _ in range(3):  # there are more groups than are looked at in a turn
        sweeper.sweep()
    symbolicator.SHARDS = whole
    groups, parts, title, wanted, waits = cluster.run("groups:{test}", [
        ("ZRANGE", "groups:{test}", 0, -1, "WITHSCORES"), ("HGETALL", "parts:{test}:both"), ("EXISTS", "title:{test}:old"),
        ("ZRANGE", "wanted:{test}", 0, -1, "WITHSCORES"), ("ZRANGE", "wait:{test}:A", 0, -1)])
    scores = dict(zip(groups[::2], map(int, groups[1::2])))
    check(scores == {b"both": 3, **{g.encode(): 2 for g in many}}, "groups count what is kept", scores)
    check(parts == [today.encode() + b"\tdemo\t1", b"3"] and title == 0, "old days are gone", parts)
    check(wanted == [b"A", b"1"] and waits == [b"report1"], "who waits for too long is gone", (wanted, waits))


def test_many_missing(s):
    """A report that names many images waits for a hundred, and says how many it lacks."""
    with open(sender.FIXTURES + "/reports/demo.ips", encoding="utf-8") as file:
        head, body = file.read().split("\n", 1)
    report = json.loads(body)
    image, = [i for i in report["usedImages"] if i["uuid"] == sender.UUID[0]]
    first = len(report["usedImages"])
    report["usedImages"] += [{**image, "uuid": "00000000-0000-0000-0000-%012x" % i, "base": (i + 1) << 32, "name": "n%d" % i} for i in range(300)]
    report["threads"][0]["frames"] = [{"imageOffset": 0x980, "imageIndex": first + i} for i in range(300)]
    status, answer, _ = ask(s, "POST", "/reports", (head + "\n" + json.dumps(report)).encode(), s.config["token"])
    check(status == 202, "a report of 300 images", answer)
    name = json.loads(answer)["id"]
    s.wait_for(lambda: ask(s, "GET", "/reports/" + name)[0] == 200, "the result")
    result = json.loads(ask(s, "GET", "/reports/" + name)[1])
    check(result["lacks"] > 290 and len(result["missing"]) == common.MAX_OF_REPORT, "it waits for some", (result["lacks"], len(result["missing"])))
    cluster, tag = common.Cluster(s.config), common.shard_of(name)
    waits, = cluster.run(common.stream(tag), [("ZCARD", "wanted:{%s}" % tag)])
    check(waits <= common.MAX_OF_REPORT + 5, "and the list of missing dSYMs is bounded", waits)


def drip(port, address, text):
    """A connection that has sent some of what it has to send."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=20, source_address=(address, 0))
    connection.sendall(text)
    return connection


def test_slow(s):
    """Who sends too slowly is cut off, however it drips."""
    server = ingest.Deadlines()
    ours, theirs = socket.socketpair()
    before = ingest.WATCH
    ingest.WATCH = 0.05
    server.start()
    server.set(ours, 0.3)
    theirs.sendall(b"x")
    theirs.settimeout(10)
    check(theirs.recv(1) == b"", "it is cut off")
    server.set(ours, 0)
    server.drop(ours)
    ours.close()
    theirs.close()
    ingest.WATCH = before
    head = b"POST /reports HTTP/1.1\r\nHost: x\r\n"
    some = [drip(s.config["http_port"], "127.0.0.1", head) for _ in range(40)]
    check(ask(s, "GET", "/health")[0] == 200, "forty clients that send half a head do not hinder others")
    for connection in some:
        connection.close()


def test_nginx(s, folder):
    """nginx.conf: slow senders without a token do not hinder others, even if they are more than ingest takes
    connections. The requests of an address at a time are limited."""
    if shutil.which("nginx") is None:
        print("skipped: nginx.conf: there is no nginx")
        counts[2] += 1
        return
    port, = service.free_ports(1)
    with open("examples/cluster/nginx.conf", encoding="utf-8") as file:
        text = file.read()
    for old, new in (("127.0.0.1:8080", "127.0.0.1:%d" % s.config["http_port"]), ("8443 ssl", "127.0.0.1:%d ssl" % port),
                     ("/etc/ssl/crashes.crt", s.folder + "/tls/node.crt"), ("/etc/ssl/private/crashes.key", s.folder + "/tls/node.key"),
                     ("/etc/nginx/crashes.passwords", folder + "/passwords")):
        check(old in text, "nginx.conf has " + old)
        text = text.replace(old, new)
    os.mkdir(folder)
    user = "user root;" if os.geteuid() == 0 else ""  # or it could not read the password
    text = "daemon off; %s pid %s/pid; error_log %s/error;\n" % (user, folder, folder) + text.replace("http {", "http {\n    access_log off;" + "".join(
        " %s_temp_path %s/%s;" % (what, folder, what) for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")), 1)
    with open(folder + "/conf", "w", encoding="utf-8") as file:
        file.write(text)
    with open(folder + "/passwords", "w", encoding="utf-8") as file:
        file.write("me:{PLAIN}secret\n")
    os.chmod(folder, 0o755)
    proxy = subprocess.Popen(["nginx", "-p", folder, "-c", folder + "/conf"], stderr=subprocess.DEVNULL)
    context = ssl.create_default_context(cafile=s.folder + "/tls/ca.crt")

    def post(path="/reports", source="127.0.0.1", **headers):
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=context, source_address=(source, 0))
        connection.request("POST" if path == "/reports" else "GET", path, b"nothing of a report, by nginx" if path == "/reports" else None, headers)
        return connection.getresponse().status

    def answers():
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            return False

    token = {"Authorization": "Bearer " + s.config["token"]}
    half = "POST /reports HTTP/1.1\r\nHost: x\r\n"
    try:
        s.wait_for(answers, "nginx")
        check(post(**token) == 202, "a report by nginx")
        check(post() == 401, "ingest asks for the token")
        check(post("/groups") == 401 and post("/groups", Authorization="Basic " + base64.b64encode(b"me:secret").decode()) == 200, "a password for the page")
        slow = [drip(port, "127.0.0.1", b"") for _ in range(ingest.CONNECTIONS)]
        slow += [context.wrap_socket(drip(port, "127.0.0.1", b""), server_hostname="127.0.0.1") for _ in range(10)]
        for connection in slow[-10:]:
            connection.sendall(half.encode())
        begin = time.monotonic()
        check(post(**token) == 202 and time.monotonic() - begin < 8,
              "clients that send half a head do not hinder others", time.monotonic() - begin)
        slow += [context.wrap_socket(drip(port, "127.0.0.1", b""), server_hostname="127.0.0.1") for _ in range(20)]
        for connection in slow[-20:]:
            connection.sendall((half + "Content-Length: 1000\r\n\r\nhalf a body").encode())
        check(post(**token) == 503, "20 requests of an address at a time are too many")
        check(post(source="127.0.0.2", **token) == 202, "another address has its own")
        for connection in slow:
            connection.close()
    finally:
        proxy.terminate()
        proxy.wait()


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


HANGING_TOOL = """#!/usr/bin/python3
import base64, os, subprocess, sys, time
if sys.argv[1] != "worker":
    os.execv(%(tool)r, [%(tool)r] + sys.argv[1:])
tool = subprocess.Popen([%(tool)r] + sys.argv[1:], stdin=subprocess.PIPE)
for line in sys.stdin.buffer:
    if base64.b64encode(%(hangs)r) in line:
        time.sleep(1000)
    tool.stdin.write(line)
    tool.stdin.flush()
"""
HANGS = b"this report hangs the tool"  # base64 has to show it as it is, so it begins where a triple of bytes does


def soon(what, call, seconds=60):
    """What a call returns, which must not take for ever."""
    result = []
    thread = threading.Thread(target=lambda: result.append(call()), daemon=True)
    thread.start()
    thread.join(seconds)
    check(bool(result), what + " ends")
    return result[0] if result else None


def name_of(answer):
    """The crashed function of an answer's report, or what is wrong."""
    return answer["reports"][0]["signature"] if "reports" in answer else answer


def test_hang(s):
    """A report that hangs the tool has an error, and those beside it their results."""
    tool = os.path.join(s.folder, "hanging")
    service.write_private(tool, HANGING_TOOL % {"tool": os.path.abspath(MACHSYM), "hangs": HANGS})
    os.chmod(tool, 0o700)
    whole, symbolicator.SILENT = getattr(symbolicator, "SILENT", 0), 2
    one = symbolicator.Symbolicator({**s.config, "machsym": tool}, "hung")
    good, = sender.reports(1, seed=5, unknown=0)
    answers = soon("a batch with a report that hangs the tool", lambda: one.answers([good, HANGS, good])) or [{}, {}, {}]
    check(["reports" in answer for answer in answers] == [True, False, True], "those beside it have results", answers)
    check("said nothing for 2 seconds" in json.dumps(answers[1]), "its error says why", answers[1])
    symbolicator.SILENT = whole


def test_damaged_chunk(s):
    """A damaged chunk is made again; one that cannot be had whole is an error of its reports, and no loop."""
    cluster = common.Cluster(s.config)
    check(ask(s, "POST", "/dsyms", sender.dsym(), s.config["token"])[0] == 202, "a dSYM")
    prefix, uuid = common.chunk_prefix(s.config), sender.UUID[2]
    s.wait_for(lambda: cluster.run(common.has_dsym(uuid), [("EXISTS", common.has_dsym(uuid))]) == [1], "its chunks")
    chunk = "%sdwarf:demo:%s:0" % (prefix, uuid)
    whole, = cluster.run(chunk, [("GET", chunk)])
    report, = sender.reports(1, seed=6, unknown=0)
    one = symbolicator.Symbolicator(s.config, "damaged")
    want = name_of(soon("a report", lambda: one.answers([report]))[0])
    check("Player" in str(want) or "demo" in str(want), "a name", want)
    for damage in (whole[:-9] + bytes(9), b"no chunk", b""):
        cluster.run(chunk, [("SET", chunk, damage)])
        one.tool.ask({"do": "reload"})
        answer, = soon("a report with a damaged chunk", lambda: one.answers([report])) or [{}]
        check("reports" in answer, "it has a result, perhaps without names yet", answer)
        s.wait_for(lambda: cluster.run(chunk, [("GET", chunk)]) == [whole], "the chunk that is made again")
        s.wait_for(lambda: cluster.run(common.asked(uuid), [("EXISTS", common.asked(uuid))]) == [0], "the end of its build")
        time.sleep(symbolicator.MISSING)
        one.tool.ask({"do": "reload"})
        check(name_of(one.answers([report])[0]) == want, "and then names", damage)

    class Damaging(symbolicator.Symbolicator):
        def need(self, name):
            value = super().need(name)
            return value if value is None or name.startswith("image:") else b"damaged for ever"

    other = Damaging(s.config, "damaging")
    other.cluster.run = lambda name, commands, *rest, run=other.cluster.run: [0] if commands[0][0] == "DEL" else run(name, commands, *rest)
    answer, = soon("a report whose chunk stays damaged", lambda: other.answers([report])) or [{}]
    check("error" in answer and "damaged" not in answer.get("reports", ""), "it has an error", answer)
    for some in (one, other):
        some.tool.kill()


def kept_results(s):
    """The ids of all results that Redis has."""
    cluster, found = common.Cluster(s.config), set()
    for address in cluster.primaries():
        client, cursor = cluster.client(address), b"0"
        while True:
            cursor, keys = client.execute_command("SCAN", cursor, "MATCH", "result:*", "COUNT", 1000)
            found.update(key.split(b":")[-1].decode() for key in keys)
            if cursor == b"0":
                break
    return found


def work_left(s):
    cluster = common.Cluster(s.config)
    return sum(cluster.run(common.stream(tag), [("XLEN", common.stream(tag))], 30)[0] for tag in [common.BUILDS] + common.SHARDS)


def test_before_restart(s):
    """Reports that have results, and reports that were accepted and wait."""
    to = sender.Sender(s.url, s.config["token"])
    to.send_all(sender.reports(60, seed=7))
    s.wait_for(lambda: work_left(s) == 0, "all results")
    with s.lock:
        s.held.add("symbolicator0")
        s.processes["symbolicator0"].kill()
    to.send_all(sender.reports(30, seed=8))
    check(work_left(s) > 0, "reports wait")
    return to.accepted, kept_results(s)


def test_restart(s, accepted, results):
    """After all nodes were stopped in an orderly way everything is there again."""
    seen = kept_results(s)
    check(results <= seen, "results outlive a restart of all nodes", (len(results), len(seen)))
    s.wait_for(lambda: work_left(s) == 0, "the work that was left")
    seen = kept_results(s)
    check(accepted <= seen, "no accepted report is lost", (len(accepted), len(accepted - seen)))
    errors = [text for text in (open(os.path.join(s.folder, "redis%d" % i, "log"), encoding="utf-8").read() for i in range(service.NODES))
              if "has no permissions" in text or "NOPERM" in text or "truncated" in text]
    check(not errors, "Redis took every command of its file", errors[:1])


with tempfile.TemporaryDirectory() as work:
    with service.Service(work, MACHSYM, symbolicators=1, tls=True) as started:
        started.wait_for(lambda: ask(started, "GET", "/health")[0] == 200, "health")
        test_page(started)
        test_uploads(started)
        test_bodies(started)
        test_work(started)
        test_claims(started)
        test_sweep(started)
        test_many_missing(started)
        test_slow(started)
        test_nginx(started, os.path.join(work, "nginx"))
        test_killed(started, os.path.join(work, "killed"))
        test_redis(started)
        test_hang(started)
        test_damaged_chunk(started)
        before = test_before_restart(started)
    with service.Service(work, MACHSYM, symbolicators=1, tls=True) as started:
        test_restart(started, *before)
print("%d passed, %d failed, %d skipped" % tuple(counts), flush=True)
os._exit(counts[1] != 0)  # a thread may still wait for what never ends
