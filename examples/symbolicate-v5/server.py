#!/usr/bin/env python3
"""Mozilla's symbolication API, POST /symbolicate/v5, over machsym worker. Shows a service in front of the worker: HTTP, its
limits and its errors are here; symbols are the worker's business. Usage: server.py [options] -- [options of machsym worker]; README.md has more."""
import argparse
import json
import os
import re
import shlex
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bindings/python/src/machsym"))
from worker import Worker, WorkerError, WorkerGone  # noqa: E402

# What the answer's status is, by the kind of the worker's error; 500 for any other.
STATUS = {"bad_json": 400, "bad_request": 400, "too_long": 413, "limit": 503, "need": 503, "memory": 503, "unread_image": 503}

LINGER = 5  # seconds that a refused client has to read the answer, while what it sends is dropped


class Workers:
    """One worker at a time, and another one when it has ended."""

    def __init__(self, options, machsym):
        self.options, self.machsym = options, machsym
        self.lock = threading.Lock()
        self.now = Worker(options, machsym=machsym)

    def ask(self, request):
        worker = self.now
        try:
            return worker.ask(request)
        except WorkerGone:
            with self.lock:
                if self.now is worker:
                    worker.close()
                    self.now = Worker(self.options, machsym=self.machsym)
            return self.now.ask(request)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60  # of a connection on which nothing comes

    def answer(self, status, body):
        data = json.dumps(body).encode() if body is not None else b""
        self.send_response(status)
        if self.server.origin:  # a page of that origin may ask
            self.send_header("Access-Control-Allow-Origin", self.server.origin)
            self.send_header("Access-Control-Allow-Headers", "Content-Type")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status >= 400 or self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def read_body(self):
        """The body; None: the request was refused."""
        # A proxy in front and this server have to agree on where a body ends, or one sender's bytes become another one's request.
        lengths = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers or len(lengths) != 1 or not re.fullmatch("[0-9]{1,12}", lengths[0]):
            self.answer(411, {"error": "one Content-Length is wanted, and no Transfer-Encoding"})
        elif int(lengths[0]) > self.server.max_body:
            self.answer(413, {"error": "the body has more than %d bytes" % self.server.max_body})
        else:
            if self.expects:
                self.send_response_only(100)
                self.end_headers()
            return self.rfile.read(int(lengths[0]))
        return None

    def parse_request(self):
        self.expects = False
        return super().parse_request()

    def handle_expect_100(self):
        """The client asks whether the body is wanted. read_body() answers, when it knows."""
        self.expects = True
        return True

    def finish(self):
        """Takes what the client still sends. To close a connection with unread bytes resets it, and then the client may lose
        the answer."""
        super().finish()
        end = time.monotonic() + LINGER
        try:
            self.connection.shutdown(socket.SHUT_WR)
            while (left := end - time.monotonic()) > 0:
                self.connection.settimeout(left)
                if not self.connection.recv(1 << 16):
                    break
        except OSError:
            pass

    def do_POST(self):
        body = self.read_body()
        if body is None:
            return
        if self.path != "/symbolicate/v5":
            self.answer(404, {"error": "POST /symbolicate/v5"})
            return
        try:
            request = json.loads(body)
            if not isinstance(request, dict):
                raise ValueError("the body is one JSON object")
        except (ValueError, RecursionError) as error:
            self.answer(400, {"error": str(error)})
            return
        known = {k: request[k] for k in ("jobs", "memoryMap", "stacks") if k in request}
        try:
            self.answer(200, {"results": self.server.workers.ask({**known, "do": "symbolicate"})["results"]})
        except WorkerError as error:
            self.answer(STATUS.get(error.kind, 500), {"error": error.what})
        except WorkerGone:
            self.answer(503, {"error": "try again later"})

    def leave_body(self):
        """A body that is not read must not be taken for the next request."""
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True

    def do_GET(self):
        self.leave_body()
        if self.path == "/health":
            self.answer(200, self.server.workers.ask({"do": "stats"})["stats"])
        else:
            self.answer(404, {"error": "POST /symbolicate/v5"})

    def do_OPTIONS(self):
        self.leave_body()
        self.answer(204, None)

    def log_message(self, form, *values):
        sys.stderr.write(json.dumps({"client": self.client_address[0], "said": form % values}) + "\n")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bind", default="127.0.0.1", help="address; others than this machine reach it by 0.0.0.0")
    parser.add_argument("--port", type=int, default=8000, help="0: any that is free")
    parser.add_argument("--max-body", type=int, default=16, help="megabytes of a request")
    parser.add_argument("--origin", help="of pages that may ask, such as https://profiler.firefox.com")
    parser.add_argument("--machsym", default="machsym", help="the program")
    parser.add_argument("worker", nargs="*", help="options of machsym worker, after --")
    o = parser.parse_args()
    server = Server((o.bind, o.port), Handler)
    server.max_body, server.origin = o.max_body << 20, o.origin
    server.workers = Workers(["--max-request=%d" % (2 * o.max_body)] + o.worker, shlex.split(o.machsym))
    print("http://%s:%d/symbolicate/v5" % server.server_address[:2], flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


main()
