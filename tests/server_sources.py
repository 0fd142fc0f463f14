"""Sources of symbols of machsym-server, for server.py: a web server and a bucket that are slow, lie, break off and send elsewhere."""
import glob
import http.client
import http.server
import json
import os
import shutil
import subprocess
import threading
import time

UUID = "4C4C44B5-5555-3144-A1BA-79CA685DEC58"
LOW = UUID.replace("-", "").lower()
BASE = 0x102A30000
UNIFIED = "/u/" + LOW[:2] + "/" + LOW[2:] + "/debuginfo"
SSQP = "/q/_.dwarf/mach-uuid-sym-" + LOW + "/_.dwarf"


class Web:
    """A web server on 127.0.0.1 whose answer to a path is one of files; how: what goes wrong."""

    def __init__(self):
        self.files, self.how, self.hits, self.lock = {}, None, [], threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                with outer.lock:
                    outer.hits.append(self.path)
                outer.answer(self)

            def do_HEAD(self):  # buckets are asked so before a file is fetched
                self.do_GET()

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.host = "127.0.0.1:%d" % self.http.server_port

    def answer(self, to):
        body = self.files.get(to.path)
        if isinstance(body, int) or self.how == "500":
            to.send_response(body if isinstance(body, int) else 500)
            to.send_header("Content-Length", "0")
            to.end_headers()
        elif isinstance(body, str):
            to.send_response(302)
            to.send_header("Location", body)
            to.send_header("Content-Length", "0")
            to.end_headers()
        elif body is None:
            to.send_response(404)
            to.send_header("Content-Length", "0")
            to.end_headers()
        else:
            to.send_response(200)
            to.send_header("Last-Modified", "Sat, 28 Nov 2026 10:00:00 GMT")  # with the next one a bucket's object has it
            to.send_header("ETag", '"0123456789abcdef0123456789abcdef"')
            to.send_header("Content-Length", str(len(body)))
            to.end_headers()
            self.send(to, body)

    def send(self, to, body):
        if to.command == "HEAD":
            return
        try:
            if self.how == "cut":
                to.wfile.write(body[:len(body) // 2])
                to.close_connection = True
                return
            for at in range(0, len(body), 2000):
                if self.how == "slow":
                    time.sleep(1)
                to.wfile.write(body[at:at + 2000])
        except OSError:
            pass

    def end(self):
        self.http.shutdown()
        self.http.server_close()


def asked():
    return json.dumps({"threads": [{"frames": [{"instruction_addr": hex(BASE + 0xaec)}]}], "options": {"dif_candidates": True},
                       "modules": [{"type": "macho", "debug_id": UUID.lower(), "debug_file": "/x/Demo Player", "image_addr": hex(BASE), "image_size": 16384}]}).encode()


def module_of(server):
    return server.json("POST", "/symbolicate", asked())[1]["modules"][0]


def told(module):
    """What sources said: status and details."""
    return [(c["download"]["status"], c["download"].get("details", "")) for c in module["candidates"] if c["source"] != "machsym"]


def test_faults(start, check, web, dsym, other):
    """Each fault costs the file and nothing else; then the right file is taken."""
    whole = dsym
    wrong = bytearray(whole)
    wrong[4:2000] = os.urandom(1996)
    cases = (("404", None, None, "notfound", ""), ("wrong bytes", bytes(wrong), None, "error", ""), ("no Mach-O", b"<html>not here</html>" * 100, None, "error", "no file of symbols"),
             ("nothing", b"", None, "error", ""), ("another UUID", other, None, "error", "another UUID"), ("half a file", whole[:len(whole) // 2], None, "error", "cut short"),
             ("a cut connection", whole, "cut", "error", ""), ("500", whole, "500", "error", "500"), ("slow", whole, "slow", "error", "deadline"), ("403", 403, None, "error", "403"),
             ("another host", "http://localhost:1/x", None, "error", "--source-host"), ("a file of the machine", "file:///etc/passwd", None, "error", ""),
             ("itself", UNIFIED, None, "error", "redirects"))
    for name, body, how, status, why in cases:
        server = start("unified=http://%s/u/" % web.host, "--source-timeout=3s")
        web.files, web.how, web.hits = {UNIFIED: body} if body is not None else {}, how, []
        module = module_of(server)
        seen = told(module)
        check(module["debug_status"] == "missing" and seen and seen[0][0] == status and why in seen[0][1], "a source with " + name, module)
        hits = len(web.hits)
        check(module_of(server)["debug_status"] == "missing" and len(web.hits) == hits, "is not asked again at once: " + name, web.hits)
        kept = glob.glob(server.data + "/fetched/??/*") + glob.glob(server.data + "/spool/*")
        check(not kept, "nothing of it is kept: " + name, kept)
        web.how = None
        check(server.end() == 0, "SIGTERM ends it well")


def test_taken(start, check, web, dsym):
    """Both layouts; a report that waited is done again; the cache has a bound, and negative answers an end."""
    for layout, path in (("unified=http://%s/u" % web.host, UNIFIED), ("ssqp=http://%s/q/" % web.host, SSQP)):
        web.files, web.how, web.hits = {path: dsym}, None, []
        server = start(layout)
        module = module_of(server)
        check(module["debug_status"] == "found" and told(module)[-1][0] == "ok" and web.hits == [path], "a file of " + layout, module, web.hits)
        check(module_of(server)["debug_status"] == "found" and web.hits == [path], "comes once", web.hits)
        check(server.end() == 0, "SIGTERM ends it well")
    web.files, web.hits = {}, []
    server = start("ssqp=http://%s/q" % web.host, "--source-retry=1s")
    check(module_of(server)["debug_status"] == "missing", "nothing is there")
    check(web.hits == [SSQP, "/q/demo%20player/mach-uuid-" + LOW + "/demo%20player"], "what an SSQP source is asked for", web.hits)
    web.files = {SSQP: dsym}
    time.sleep(1.1)
    check(module_of(server)["debug_status"] == "found", "asked again after --source-retry")
    check(server.end() == 0, "SIGTERM ends it well")


def test_reports(start, check, web, dsym, report):
    """A report brings its symbols by itself, and is done again with them."""
    web.files, web.how, web.hits = {UNIFIED: dsym}, None, []
    server = start("unified=http://%s/u" % web.host)
    key = server.json("POST", "/reports", report)[1]["id"]
    end = time.monotonic() + 60
    while time.monotonic() < end:
        server.settle()
        said = server.ask("GET", "/reports/" + key)[1]
        waits = UUID in json.dumps(server.json("GET", "/missing")[1])
        if b"player.mm" in said and not waits:
            break
        time.sleep(0.1)
    check(b"player.mm" in said and not waits, "the report has the source's names, and no longer waits", waits, said[:300])
    check(web.hits.count(UNIFIED) == 1, "one request", web.hits)
    check(server.end() == 0, "SIGTERM ends it well")


def test_bad_bucket(start, check, web, dsym, other, reports, truths):
    """A bucket that is slow, breaks off, answers 500 and lies, while reports come: they have the results of a server without symbols, the server
    answers at once, and with the right file all are done again."""
    os.environ["AWS_ACCESS_KEY_ID"] = os.environ["AWS_SECRET_ACCESS_KEY"] = "S3RVER"
    path = "/symbols" + UNIFIED
    for what, body, how in (("slow", dsym, "slow"), ("500", dsym, "500"), ("a cut connection", dsym, "cut"), ("half a file", dsym[:len(dsym) // 2], None), ("another file", other, None)):
        web.files, web.how, web.hits = {path: body}, how, []
        server = start("s3=http://%s/symbols/u" % web.host, "--source-timeout=2s", "--workers=2")
        longest, keys = 0.0, []
        for report in reports:
            begin = time.monotonic()
            status, said = server.json("POST", "/reports", report)
            check(status == 201, "a report is taken meanwhile: " + what, status, said)
            keys.append(said["id"])
            check(server.ask("GET", "/health")[0] == 200, "and the server is in good health")
            longest = max(longest, time.monotonic() - begin)
        settled = server.settle()
        briefs = [server.json("GET", "/reports/%s?as=brief" % key)[1] for key in keys]
        check(briefs == truths[0], "results without the file: " + what, briefs[:1], truths[0][:1])
        waits = {w["uuid"]: w["reports"] for w in server.json("GET", "/missing")[1]["missing"]}
        check(waits.get(UUID) == len(reports) and settled["failed"] == 0, "they wait for it: " + what, waits, settled)
        check(longest < 2, "no request waits for the bucket: " + what, longest)
        check(path in web.hits, "the bucket was asked: " + what, web.hits)
        told = server.ask("GET", "/reports/%s?as=text" % keys[0])
        check(told[0] == 200 and b"player.mm" not in told[1], "a text without the file: " + what, told)
        kept = glob.glob(server.data + "/fetched/??/*")
        check(not kept, "nothing of it is kept: " + what, kept)
        server.end()
        web.files, web.how = {path: dsym}, None
        server.start()
        check(server.ask("POST", "/reports/%s/retry" % keys[0])[0] == 204, "one is tried again")
        end = time.monotonic() + 60
        while UUID in str(server.json("GET", "/missing")[1]) and time.monotonic() < end:
            time.sleep(0.1)
        server.settle()
        briefs = [server.json("GET", "/reports/%s?as=brief" % key)[1] for key in keys]
        check(briefs == truths[1], "all are done again with the right file: " + what, briefs[:1], truths[1][:1])
        check(server.end() == 0, "SIGTERM ends it well")


def test_cache(start, check, web, files):
    """More files than --source-cache has room for: the older go."""
    web.files, web.how = {}, None
    server = start("unified=http://%s/u" % web.host, "--source-cache=1")
    for uuid, body in files:
        low = uuid.replace("-", "").lower()
        web.files["/u/" + low[:2] + "/" + low[2:] + "/debuginfo"] = body
        said = server.json("POST", "/symbolicate", json.dumps({"threads": [{"frames": [{"instruction_addr": 4096}]}],
                                                              "modules": [{"type": "macho", "debug_id": uuid, "image_addr": 1}]}))[1]
        check(said["modules"][0]["debug_status"] == "found", "a large file is taken", said)
        kept = glob.glob(server.data + "/fetched/??/*")
        check(len(kept) == 1 and uuid in kept[0], "it is the only one that stays", kept)
    check(server.end() == 0, "SIGTERM ends it well")


def test_private(start, check, web, dsym):
    """Addresses that are not of the Internet, by number, by name and by redirect; the operator may name a host."""
    web.files, web.how = {UNIFIED: dsym}, None
    port = web.host.split(":")[1]
    for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "10.1.2.3", "169.254.169.254", "0.0.0.0", "2130706433", "100.64.0.1", "[fd00::1]"):
        web.hits = []
        server = start("unified=http://%s:%s/u" % (host, port), "--source-timeout=5s", private=None)
        module = module_of(server)
        check(module["debug_status"] == "missing" and told(module)[0][0] == "error" and not web.hits, "%s is refused" % host, module, web.hits)
        check("no address of the Internet" in told(module)[0][1] or host == "2130706433", "with the reason: " + host, told(module))
        check(server.end() == 0, "SIGTERM ends it well")
    web.files, web.hits = {UNIFIED: "http://localhost:%s/elsewhere" % port, "/elsewhere": dsym}, []
    for more, status in ((["--source-host", "localhost"], "missing"), (["--source-host", "localhost", "--source-private", "localhost"], "found")):
        server = start("unified=http://%s/u" % web.host, *more)
        module = module_of(server)
        check(module["debug_status"] == status, "a redirect to a private address, with %s: %s" % (more, status), module)
        check(server.end() == 0, "SIGTERM ends it well")
    check(web.hits.count("/elsewhere") == 1, "only the second was followed", web.hits)


def test_bucket(start, check, work, dsym):
    """A bucket of s3rver, which npm has. False: it is not here."""
    s3rver = shutil.which("s3rver")
    if s3rver is None:
        return False
    place = work + "/buckets"
    os.makedirs(place)
    with open(work + "/s3.log", "wb") as log:
        process = subprocess.Popen([s3rver, "-d", place, "-a", "127.0.0.1", "-p", "0", "--configure-bucket", "symbols"], stdout=subprocess.PIPE, stderr=log)
    try:
        line = ""
        while "listening" not in line:
            line = process.stdout.readline().decode()
            if not line:
                check(False, "s3rver starts")
                return True
        host = "127.0.0.1:" + line.strip().rpartition(":")[2]
        os.environ["AWS_ACCESS_KEY_ID"] = os.environ["AWS_SECRET_ACCESS_KEY"] = "S3RVER"
        key = "team/" + LOW[:2] + "/" + LOW[2:] + "/debuginfo"
        server = start("s3=http://%s/symbols/team" % host, "--source-retry=1s", private=host)
        module = module_of(server)
        check(module["debug_status"] == "missing" and told(module) == [("notfound", "")] * 2, "an empty bucket", module)
        put(host, "symbols", key, dsym[:3000])
        time.sleep(1.1)
        module = module_of(server)
        check(module["debug_status"] == "missing" and told(module)[0][0] == "error", "half a file in the bucket", module)
        check(server.end() == 0, "SIGTERM ends it well")
        put(host, "symbols", key, dsym)
        server = start("s3=http://%s/symbols/team" % host, private=host)
        check(module_of(server)["debug_status"] == "found", "the file of the bucket")
        check(server.end() == 0, "SIGTERM ends it well")
        process.kill()
        process.wait(10)
        server = start("s3=http://%s/symbols/team" % host, "--source-timeout=5s", private=host)
        module = module_of(server)
        check(module["debug_status"] == "missing" and told(module)[0][0] == "error", "a bucket that is away", module)
        check(server.end() == 0, "SIGTERM ends it well")
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()
    return True


def put(host, bucket, key, body):
    """Puts an object by the browser's form, which needs no signature here."""
    boundary = "sym"
    form = b"".join(b'--sym\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n' % (name, more, value) for name, more, value in (
        (b"key", b"", key.encode()), (b"file", b'; filename="x"', body))) + b"--sym--\r\n"
    to = http.client.HTTPConnection(host, timeout=30)
    to.request("POST", "/" + bucket, form, {"Content-Type": "multipart/form-data; boundary=" + boundary})
    answer = to.getresponse()
    answer.read()
    to.close()
    if answer.status not in (200, 201, 204):
        raise OSError("s3rver says %d" % answer.status)


def test(new_server, check, work, dsym, other, report, large, reports, truths):
    """new_server starts a machsym-server with options. Returns False if the bucket could not be tried."""
    web, number = Web(), iter(range(1000))

    def start(source, *options, private=""):
        named = web.host if private == "" else private
        return new_server("source%d" % next(number), "--source", source, *(["--source-private", named] if named else []), *options)

    try:
        test_faults(start, check, web, dsym, other)
        test_taken(start, check, web, dsym)
        test_reports(start, check, web, dsym, report)
        test_cache(start, check, web, large)
        test_bad_bucket(start, check, web, dsym, other, reports, truths)
        test_private(start, check, web, dsym)
        return test_bucket(start, check, work, dsym)
    finally:
        web.end()
