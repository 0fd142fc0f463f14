#!/usr/bin/python3
"""Takes reports and zipped dSYMs over HTTP, and shows groups. Usage: ingest.py CONFIG NAME.

  POST /reports       a report: 202 and its id when a replica has it, too; else 503, and the sender repeats
  POST /dsyms         a zip or tar with dSYMs: 202 when it lies in the durable folder
  GET /               the page; /groups the same as JSON; /reports/ID a result; /metrics for Prometheus; /health

Uploads need "Authorization: Bearer TOKEN". No text of a request becomes a part of a path: files have names of their own."""
import hashlib
import hmac
import http.server
import json
import os
import re
import socket
import socketserver
import sys
import tempfile
import threading
import time
import zlib

import common
import page
from common import Unavailable, key, log, stream

CONNECTIONS = 256  # at a time: each has a thread
TIMEOUT = 30  # seconds that a sender may be silent, and in which it has to send the head of a request
SLOWEST = 100000  # bytes a second that a body has to come with
WATCH = 1  # seconds between two looks at memory and backlog
PIECE = 1 << 20


class Watch(threading.Thread):
    """Looks each second whether there is room for more: memory of the nodes, and reports that wait."""

    def __init__(self, cluster, most):
        super().__init__(daemon=True)
        self.cluster, self.most = cluster, most
        self.full, self.backlog, self.memory = "not looked yet", {}, {}

    def look(self):
        why = None
        for tag in common.SHARDS:
            try:
                text, length = self.cluster.run(stream(tag), [("INFO", "memory"), ("XLEN", stream(tag))], 0)
                node = self.cluster.address(stream(tag))
            except Unavailable as error:  # it takes no reports by itself; the bounds of the others hold
                log("unavailable", what="watch", shard=tag, why=str(error))
                continue
            info = common.info(text)
            self.backlog[tag] = length
            self.memory[node] = info["used_memory"]
            if info["maxmemory"] and info["used_memory"] > common.MAX_MEMORY * info["maxmemory"]:
                why = "a node of Redis has less than %d %% of its memory left" % round(100 * (1 - common.MAX_MEMORY))
            if length > self.most:
                why = "%d reports wait" % length
        self.full = why

    def run(self):
        while True:
            time.sleep(WATCH)
            self.look()


class Together:
    """Writes of many senders that one node gets at a time, with one WAIT for all: who comes while a node is asked waits, and the next one
    writes for all who wait."""

    class Write:
        def __init__(self, name, commands):
            self.name, self.commands = name, commands
            self.is_done, self.error = False, None

    def __init__(self, cluster):
        self.cluster = cluster
        self.guard = threading.Lock()
        self.nodes = {}  # address: (lock of who writes, those that wait)

    def confirmed(self, name, commands):
        """As the cluster's."""
        write = self.Write(name, commands)
        self.cluster.by_node([name])
        with self.guard:
            writing, waiting = self.nodes.setdefault(self.cluster.address(name), (threading.Lock(), []))
            waiting.append(write)
        with writing:
            if not write.is_done:
                with self.guard:
                    some = waiting[:]
                    waiting.clear()
                self.write(some)
        if write.error:
            raise write.error

    def write(self, some):
        error = None
        try:
            self.cluster.confirmed(some[0].name, [command for write in some for command in write.commands])
        except (Unavailable, common.redis.RedisError) as why:
            error = why
        for write in some:
            write.is_done, write.error = True, error


class Deadlines(threading.Thread):
    """Ends connections that are too slow for what they are at, however they drip: each holds a thread."""

    def __init__(self):
        super().__init__(daemon=True)
        self.lock = threading.Lock()
        self.until = {}

    def set(self, connection, seconds):
        with self.lock:
            self.until[connection] = time.monotonic() + seconds

    def drop(self, connection):
        with self.lock:
            self.until.pop(connection, None)

    def run(self):
        while True:
            time.sleep(WATCH)
            with self.lock:
                for connection in [c for c, until in self.until.items() if until < time.monotonic()]:
                    del self.until[connection]
                    try:
                        connection.shutdown(socket.SHUT_RDWR)
                    except OSError:  # the sender was faster
                        pass


class Ingest:
    def __init__(self, config):
        self.config = config
        self.cluster = common.Cluster(config)
        self.together = Together(self.cluster)
        self.watch = Watch(self.cluster, config["backlog"])
        self.incoming = os.path.join(config["folder"], "incoming")
        os.makedirs(self.incoming, exist_ok=True)
        self.page = page.Page(self.cluster)
        self.counts = {"accepted": 0, "accepted_dsyms": 0}
        self.lock = threading.Lock()

    def count(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1

    def report(self, body):
        """Keeps a report. Its id is its content's, so that one that is sent twice is one."""
        if self.watch.full:
            raise Unavailable(self.watch.full)
        report = hashlib.sha256(body).hexdigest()[:32]
        tag = common.shard_of(report)
        self.together.confirmed(stream(tag), [("SET", key("raw", tag, report), zlib.compress(body, 1), "EX", common.KEEP),
                                              ("XADD", stream(tag), "*", "id", report)])
        return report

    def dsym(self, file, length):
        """Keeps an archive of dSYMs in the durable folder, and tells the builders."""
        with tempfile.NamedTemporaryFile(dir=self.incoming, prefix=".", delete=False) as out:
            try:
                sha = hashlib.sha256()
                while length:
                    piece = file.read(min(PIECE, length))
                    if not piece:
                        raise ConnectionError("the upload ended early")
                    sha.update(piece)
                    out.write(piece)
                    length -= len(piece)
                out.flush()
                os.fsync(out.fileno())
                name = sha.hexdigest()[:32]
                os.rename(out.name, os.path.join(self.incoming, name))
            except BaseException:
                os.unlink(out.name)
                raise
        folder = os.open(self.incoming, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
        self.cluster.confirmed(stream(common.BUILDS), [("XADD", stream(common.BUILDS), "*", "id", name)])
        return name

    def programs(self):
        """What symbolicators and builders told lately."""
        answer, = self.cluster.run("stats", [("HGETALL", "stats")])
        now, found = time.time(), {}
        for name, text in zip(answer[::2], answer[1::2]):
            told = json.loads(text)
            if now - told.pop("at") < common.STATS:
                found[name.decode()] = told
        return found

    def health(self):
        """What is wrong; nothing when all is well."""
        wrong = []
        try:
            self.cluster.refresh()
            programs = self.programs()
            wrong += ["no " + kind for kind in ("symbolicator", "builder") if not any(n.startswith(kind) for n in programs)]
        except Unavailable as error:
            wrong.append(str(error))
        return wrong + ([self.watch.full] if self.watch.full else [])

    def metrics(self):
        lines = []

        def family(name, kind, about, samples):
            lines.extend(["# HELP crash_%s %s" % (name, about), "# TYPE crash_%s %s" % (name, kind)])
            lines.extend("crash_%s%s %s" % (name, "{%s}" % ",".join('%s="%s"' % l for l in labels) if labels else "", value)
                         for labels, value in samples)

        with self.lock:
            counts = dict(self.counts)
        family("uploads_total", "counter", "requests by their answer", [((("answer", name),), n) for name, n in sorted(counts.items())])
        family("backlog", "gauge", "reports that wait, by shard", [((("shard", tag),), n) for tag, n in sorted(self.watch.backlog.items())])
        family("redis_bytes", "gauge", "memory of the primaries",
               [((("node", "%s:%d" % at),), n) for at, n in sorted(self.watch.memory.items())])
        family("up", "gauge", "1 when all is well", [((), int(not self.health()))])
        programs = self.programs()
        for what in sorted({what for told in programs.values() for what in told}):
            family(what + "_total", "counter", "as symbolicators and builders count it",
                   [((("program", name),), told[what]) for name, told in sorted(programs.items()) if what in told])
        return "\n".join(lines) + "\n"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "crashes", ""
    timeout = TIMEOUT
    wbufsize = -1  # an answer leaves in one piece
    disable_nagle_algorithm = True

    def handle_one_request(self):
        self.server.deadlines.set(self.connection, TIMEOUT)
        super().handle_one_request()

    def finish(self):
        self.server.deadlines.drop(self.connection)
        super().finish()

    def log_message(self, *_):
        pass  # answer() logs

    def answer(self, status, body, kind="application/json", **headers):
        data = (json.dumps(body) + "\n" if kind == "application/json" else body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind + "; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", page.CSP)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status, why):
        """An error; the connection ends, as the body was not read."""
        self.server.ingest.count("refused_%d" % status)
        self.close_connection = True
        log("refused", status=status, why=why)
        self.answer(status, {"error": why}, Connection="close", **({"Retry_After": "1"} if status == 503 else {}))

    def length(self, most):
        """Bytes of the body; None when the request is refused."""
        given = self.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), ("Bearer " + self.server.ingest.config["token"]).encode()):
            return self.refuse(401, "no token, or a wrong one: Authorization: Bearer TOKEN")
        # A proxy in front and this server have to agree on where a body ends, or one sender's bytes become another one's request.
        lengths = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers or len(lengths) != 1 or not re.fullmatch(r"[0-9]{1,12}", lengths[0]):
            return self.refuse(411, "one Content-Length is wanted, and no Transfer-Encoding")
        if not 0 < int(lengths[0]) <= most:
            return self.refuse(413, "the body is empty, or longer than %d bytes" % most)
        self.server.deadlines.set(self.connection, TIMEOUT + int(lengths[0]) / SLOWEST)
        if self.expects:
            self.send_response_only(100)
            self.end_headers()
            self.wfile.flush()
        return int(lengths[0])

    def handle_expect_100(self):
        """curl asks before it sends much. length() answers, when it knows that the body is wanted."""
        self.expects = True
        return True

    def parse_request(self):
        self.expects = False
        return super().parse_request()

    def do_POST(self):
        ingest = self.server.ingest
        try:
            if self.path == "/reports":
                length = self.length(common.MAX_REPORT)
                if length is None:
                    return
                body = self.rfile.read(length)
                if len(body) < length:
                    self.close_connection = True
                    return
                report = ingest.report(body)
                ingest.count("accepted")
                self.answer(202, {"id": report})
            elif self.path == "/dsyms":
                length = self.length(common.MAX_DSYM)
                if length is None:
                    return
                name = ingest.dsym(self.rfile, length)
                ingest.count("accepted_dsyms")
                log("dsym", id=name, bytes=length)
                self.answer(202, {"id": name})
            else:
                self.refuse(404, "POST /reports or /dsyms")
        except (Unavailable, OSError, common.redis.RedisError) as error:
            if isinstance(error, (ConnectionError, TimeoutError)):
                self.close_connection = True
                return
            self.refuse(503, "%s; send it again" % error)

    def do_GET(self):
        ingest = self.server.ingest
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # a body that is not read must not be taken for the next request
        try:
            if self.path == "/":
                self.answer(200, ingest.page.html(), "text/html")
            elif self.path == "/groups":
                self.answer(200, ingest.page.json())
            elif self.path == "/style.css":
                self.answer(200, page.STYLE, "text/css")
            elif self.path == "/metrics":
                self.answer(200, ingest.metrics(), "text/plain; version=0.0.4")
            elif self.path == "/health":
                wrong = ingest.health()
                self.answer(503 if wrong else 200, {"ok": not wrong, "wrong": wrong})
            elif re.fullmatch(r"/reports/[0-9a-f]{32}", self.path):
                result = ingest.page.result(self.path[-32:])
                self.answer(200 if result else 404, result or {"error": "there is no result of this id"})
            else:
                self.refuse(404, "/, /groups, /reports/ID, /metrics or /health")
        except Unavailable as error:
            self.refuse(503, str(error))


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, address, ingest):
        self.ingest = ingest
        self.deadlines = Deadlines()
        self.deadlines.start()
        self.room = threading.BoundedSemaphore(CONNECTIONS)
        super().__init__(address, Handler)

    def process_request(self, request, client_address):
        self.room.acquire()  # further ones wait in the queue of the system
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.room.release()

    def handle_error(self, request, client_address):
        log("error", why=repr(sys.exc_info()[1]))


def main():
    config = common.settings()
    ingest = Ingest(config)
    ingest.watch.look()
    ingest.watch.start()
    server = Server(("127.0.0.1", config["http_port"]), ingest)
    log("start", port=config["http_port"])
    server.serve_forever()


if __name__ == "__main__":
    main()
