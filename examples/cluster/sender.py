"""What sends to the service in the demo, the faults and the load: reports that all differ, and a sender that repeats until 202."""
import http.client
import io
import os
import random
import threading
import time
import urllib.parse
import zipfile

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/fixtures")
TEMPLATES = ["reports/demo.ips", "reports/demo.crash", "reports/demo-macos.crash", "apple/ios.ips"]
CODE = (0x940, 0xaf8)  # where the demo program has code
UUID = ("4c4c44b5-5555-3144-a1ba-79ca685dec58", "4c4c44b555553144a1ba79ca685dec58", "4C4C44B5-5555-3144-A1BA-79CA685DEC58")


def reports(count, seed=20, unknown=20):
    """Reports of the demo program: incident and crashed address differ; of one in UNKNOWN no dSYM ever comes."""
    chance = random.Random(seed)
    templates = [open(os.path.join(FIXTURES, name), encoding="utf-8").read() for name in TEMPLATES]
    for i in range(count):
        offset = chance.randrange(*CODE)
        text = chance.choice(templates)
        text = text.replace("0x0000000102a30aec", "0x%016x" % (0x102a30000 + offset)).replace("2796", str(offset))
        text = text.replace("7A9B6C1E-0000-4000-8000-000000000001", "7A9B6C1E-0000-4000-8000-%012X" % i).replace(
            "7A9B6C1E-0000-4000-8000-000000000002", "7A9B6C1E-0000-4000-8001-%012X" % i)
        if unknown and i % unknown == 0:
            for uuid in UUID:
                text = text.replace(uuid, uuid[:-2] + "99")
        yield text.encode()


def dsym():
    """The demo's dSYM, zipped."""
    out = io.BytesIO()
    top = os.path.join(FIXTURES, "bin")
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder, _, names in os.walk(os.path.join(top, "demo.app.dSYM")):
            for name in names:
                path = os.path.join(folder, name)
                archive.write(path, os.path.relpath(path, top))
    return out.getvalue()


class Sender:
    """Sends until all was accepted, over a number of connections at a time."""

    def __init__(self, url, token, threads=8):
        self.host, self.token, self.threads = urllib.parse.urlsplit(url).netloc, token, threads
        self.accepted, self.refused, self.longest = set(), 0, 0.0
        self.lock = threading.Lock()

    def once(self, connection, path, body):
        connection.request("POST", path, body, {"Authorization": "Bearer " + self.token})
        answer = connection.getresponse()
        return answer.status, answer.read()

    def send(self, path, body, connection=None):
        """The answer of 202, after as many attempts as it takes."""
        begin, connection = time.monotonic(), connection or http.client.HTTPConnection(self.host, timeout=30)
        while True:
            try:
                status, answer = self.once(connection, path, body)
            except (OSError, http.client.HTTPException):
                status, answer = 503, b""
                connection.close()
            if status == 202:
                with self.lock:
                    self.longest = max(self.longest, time.monotonic() - begin)
                return answer
            if status != 503:
                raise SystemExit("%d %r" % (status, answer))
            with self.lock:
                self.refused += 1
            time.sleep(0.2)

    def send_all(self, bodies, progress=lambda count: None):
        bodies, next_lock = iter(bodies), threading.Lock()

        def work():
            connection = http.client.HTTPConnection(self.host, timeout=30)
            while True:
                with next_lock:
                    body = next(bodies, None)
                if body is None:
                    return
                answer = self.send("/reports", body, connection)
                with self.lock:
                    self.accepted.add(answer.split(b'"')[3].decode())
                    progress(len(self.accepted))

        threads = [threading.Thread(target=work, daemon=True) for _ in range(self.threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
