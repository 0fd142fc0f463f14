#!/usr/bin/python3
"""What the service of examples/cluster refuses, and what it shows of hostile reports; Redis speaks TLS. The last line is "N passed,
N failed, 0 skipped"."""
import http.client
import json
import os
import re
import socket
import sys
import tempfile
import time

sys.path.insert(0, "examples/cluster")
import common
import page
import sender
import service

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
    test_redis(started)
print("%d passed, %d failed, 0 skipped" % tuple(counts))
sys.exit(counts[1] != 0)
