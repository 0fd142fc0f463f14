"""make soak-server: the faults of server.py with many reports of real size, each sent three times. Prints a table: how many were lost,
done twice or differ from `machsym crash -d` on the dSYMs, and the longest time until a report was taken, restarts and all.
Usage: server_soak.py MACHSYM-SERVER MACHSYM FOLDER REPORTS [SEED]."""
import base64
import hashlib
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

import server as base
import server_process
import server_reports

COUNT = int(sys.argv[4])
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else time.time_ns()
OPTIONS = ("--machsym", base.WORK + "/evil", "--workers=2", "--worker-seconds=2", "--worker-memory=1024")


def truths(bodies, symbols):
    """What the tool says with the dSYMs, by one worker, in the order of the reports; None: it is no report."""
    lines = b"".join(b'{"do":"crash","base64":"%s"}\n' % base64.b64encode(body) for body in bodies)
    said = subprocess.run([base.MACHSYM, "worker", "-j", "2", *(w for s in symbols for w in ("-d", s))], input=lines, capture_output=True, check=False).stdout
    for line in said.splitlines():
        answer = json.loads(line)
        yield [base.without_place(r["json"]) for r in answer["reports"]] if "reports" in answer else None


def verify(server, load, symbols, evil):
    """How many were lost, new twice, and differ."""
    lost = different = 0
    keys = sorted(k for k in load.ids if k not in evil)
    connection = http.client.HTTPConnection(server.address, timeout=60)
    for at in range(0, len(keys), 500):
        some = keys[at:at + 500]
        for key, wanted in zip(some, truths([load.ids[k] for k in some], symbols)):
            connection.request("GET", "/reports/" + key, headers={"Authorization": "Bearer " + server.token})
            answer = connection.getresponse()
            text = answer.read()
            lost += answer.status != 200
            if answer.status == 200 and base.plain(text) != wanted:
                different += 1
                print("differs", key, base.first_difference(base.plain(text), wanted))
    return lost, sum(n > 1 for n in load.new.values()), different


def retry_failed(server, bad):
    """Reports whose workers were killed three times have failed: they are listed, and done when somebody asks for it. How many."""
    listed = [r["id"] for r in server.json("GET", "/reports?state=failed&limit=1000")[1]["reports"] if r["id"] not in bad]
    for key in listed:
        base.check(server.ask("POST", "/reports/%s/retry" % key)[0] == 204, "a failed report is tried again", key)
    return len(listed)


class Soak:
    def __init__(self):
        self.chance = random.Random(SEED)
        self.maker = server_reports.Maker(SEED)
        self.number = 0

    def bodies(self, count):
        made = [self.maker.next(self.number + i) for i in range(count)]
        self.number += count
        return made

    def phase(self, what, share, fault, symbols_first=True, evil=()):
        """One row of the table."""
        count, begin = max(40, COUNT * share // 100), time.monotonic()
        server = base.Server("soak%d" % self.number, *OPTIONS)
        try:
            if symbols_first:
                server_process.send_symbols(server)
            bodies = self.bodies(count) + list(evil)
            self.chance.shuffle(bodies)
            load = base.Load(server, bodies)
            times = fault(server, load)
            said = server.settle(300)
            bad = {hashlib.sha256(b).hexdigest() for b in evil}
            given_up = retry_failed(server, bad)
            said = server.settle(300) if given_up else said
            symbols = [*server_reports.DSYMS.values(), *([] if symbols_first else [base.FIXTURES + "bin/demo"])]
            lost, twice, different = verify(server, load, symbols, bad)
            base.check(said["failed"] == len(bad) and said["done"] == count, what + ": each is done once, and evil ones fail", said)
            base.check((lost, twice, different) == (0, 0, 0), what, lost, twice, different)
            if not symbols_first:
                base.check(server.json("GET", "/missing")[1]["missing"] != [], "builds without a dSYM are missing")
        finally:
            server.end(signal.SIGKILL)
        row(what, count, times, given_up, lost, twice, different, load.longest, time.monotonic() - begin)

    def killed(self, server, load):
        """kill -9 of workers and, each third time, of the server."""
        times = 0

        def fault():
            nonlocal times
            time.sleep(self.chance.uniform(0.05, 0.4))
            base.kill_all(server.children()[:self.chance.randrange(1, 3)])
            times += 1
            if times % 3 == 0:
                server.end(signal.SIGKILL)
                server.start("--test-clock", self.chance.choice(("1h", "0s", "-1h")))
        load.run(fault)
        return times

    def all_killed(self, server, load):
        """kill -9 of all at once, at least 50 times."""
        times = 0

        def fault():
            nonlocal times
            time.sleep(self.chance.uniform(0.02, 0.3))
            base.kill_all(server.children())
            server.end(signal.SIGKILL)
            server.start()
            times += 1
        load.run(fault)
        while times < 50:
            fault()
        return times

    def ended(self, server, load):
        """SIGTERM and a start."""
        times = 0

        def fault():
            nonlocal times
            time.sleep(self.chance.uniform(0.3, 1))
            base.check(server.end() == 0, "SIGTERM ends it well")
            server.start()
            times += 1
        load.run(fault)
        return times

    def stopped(self, server, load):
        """SIGSTOP of the server, and of workers for longer than their deadline."""
        times = 0

        def fault():
            nonlocal times
            whom = self.chance.choice([server.process.pid] + server.children())
            try:
                os.kill(whom, signal.SIGSTOP)
                time.sleep(self.chance.uniform(0.5, 4))
                os.kill(whom, signal.SIGCONT)
            except ProcessLookupError:
                pass
            times += 1
            time.sleep(0.5)
        load.run(fault)
        return times

    def quiet(self, server, load):
        load.run(lambda: time.sleep(0.1))
        return 0

    def symbols_late(self, server, load):
        """A damaged dSYM first, then the binary, then the right one, while reports come."""
        demo = base.read(base.DSYM)
        damaged = bytearray(demo)
        damaged[len(demo) // 2:len(demo) // 2 + 2000] = bytes(2000)
        steps = [bytes(damaged), base.read(base.FIXTURES + "bin/demo"), None]

        def fault():
            time.sleep(0.5)
            if steps:
                body = steps.pop(0)
                if body is None:
                    server_process.send_symbols(server)
                else:
                    base.check(server.json("POST", "/symbols?name=demo", body)[0] == 200, "a damaged dSYM and a binary are taken")
        load.run(fault)
        while steps:
            fault()
        return 3


def memory(count):
    """Memory of the server and its workers after each quarter of many reports, each sent once. It may not grow."""
    server, seen, lock = base.Server("soakmemory", "--machsym", base.MACHSYM, "--workers=2"), [], threading.Lock()
    server_process.send_symbols(server)
    bodies = enumerate(server_reports.reports(count, SEED))

    def send():
        connection = http.client.HTTPConnection(server.address, timeout=60)
        while True:
            with lock:
                number, body = next(bodies, (count, None))
            if body is None:
                return
            connection.request("POST", "/reports", body, {"Authorization": "Bearer " + server.token})
            answer = connection.getresponse()
            answer.read()
            base.check(answer.status == 201, "it is taken", answer.status)
            if number % 1000 == 999:
                server.settle(300)  # results keep up
            if number * 4 // count < (number + 1) * 4 // count:
                seen.append(server_process.resident_now(server.process.pid))

    senders = [threading.Thread(target=send) for _ in range(base.SENDERS)]
    for s in senders:
        s.start()
    for s in senders:
        s.join()
    said = server.settle(300)
    base.check(said["done"] == count and len(seen) == 4, "each is done", said)
    base.check(seen[3] < seen[0] * 1.25 + 8, "memory is flat", seen)
    server.end()
    print("memory over %d reports, after each quarter: %s MB" % (count, ", ".join("%.0f" % s for s in seen)), flush=True)


def row(*cells):
    print("| %s | %d | %d | %d | %d | %d | %d | %.1f s | %.0f s |" % cells, flush=True)


def main():
    print("seed", SEED)
    print("| fault | reports | faults | tried again by hand | lost | twice | different | longest until taken | all |\n|---|---|---|---|---|---|---|---|---|", flush=True)
    base.prepare()
    soak = Soak()
    soak.phase("none", 15, soak.quiet)
    soak.phase("kill -9 of workers and server, the clock shifted", 25, soak.killed)
    soak.phase("kill -9 of all", 15, soak.all_killed)
    soak.phase("SIGTERM and start", 15, soak.ended)
    soak.phase("SIGSTOP of server and workers", 10, soak.stopped)
    evil = [base.variants(1)[0].replace(b"Demo Player", b"PLEASE-%s %d" % (word, i)) for word in (b"HANG", b"DIE", b"EAT") for i in range(3)]
    soak.phase("reports that hang a worker, kill it, eat its memory", 10, soak.quiet, evil=evil)
    soak.phase("a damaged dSYM, the binary, the right dSYM", 10, soak.symbols_late, symbols_first=False)
    memory(5 * COUNT)
    begin, before = time.monotonic(), base.counts[1]
    if all([base.test_full("soakfull", turn) for turn in range(4)]):
        print("a full disk, then a megabyte, then room, 4 times: %d checks failed, %.0f s" % (base.counts[1] - before, time.monotonic() - begin))
    base.test_parts("soakparts")
    print("%d passed, %d failed, 0 skipped" % tuple(base.counts))
    sys.exit(base.counts[1] != 0)


main()
