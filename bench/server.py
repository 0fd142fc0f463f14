#!/usr/bin/python3
"""What machsym-server takes of time, CPU, memory and disk for reports of 12 to 26 KB, and what `machsym worker` alone takes for the same.
Usage, from the top of the checkout: bench/server.py [N [SERVER [MACHSYM]]], or make bench-server; DATABASE=postgres in the environment: with a
PostgreSQL beside it. Prints a table in Markdown, with goals. FIGURES=FILE: writes what bench/plan.py reads, too."""
import glob
import http.client
import json
import multiprocessing
import os
import resource
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types

sys.path.insert(0, "tests")
import server_cluster
import server_reports
from server_process import children_of, cpu_of, resident_now, send_symbols

# Connections of each sender. A report is accepted when it is committed, which takes 10 ms and more: 16 in all would accept 1,600 a second.
SENDERS, CONNECTIONS, DSYMS = 2, int(os.environ.get("CONNECTIONS", "32")), list(server_reports.DSYMS.values())
DISTINCT = 2000  # reports that are made; more are these with other incidents, since making them takes longer than all else


def others(bodies, count):
    """Reports without equals, `count` of them."""
    for number in range(count):
        turn, at = divmod(number, len(bodies))
        yield bodies[at] if turn == 0 else bodies[at].replace(b"7A9B6C1E-", b"%08X-" % (0x10000000 + turn))


class Connection:
    """One report at a time, over a socket: http.client would take half of the CPU that the server takes."""

    def __init__(self, address, token):
        host, port = address.rsplit(":", 1)
        self.head = ("POST /reports HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: " % (address, token)).encode()
        self.socket = socket.create_connection((host, int(port)), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answer, self.begin = b"", 0

    def send(self, body):
        self.answer, self.begin = b"", time.perf_counter()
        self.socket.sendall(b"%s%d\r\n\r\n%s" % (self.head, len(body), body))

    def receive(self):
        """Whether the answer is whole."""
        some = self.socket.recv(1 << 16)
        self.answer += some
        if some and not self.answer.endswith(b"}\n"):
            return False
        if not self.answer.startswith(b"HTTP/1.1 201 "):
            raise SystemExit(self.answer)
        return True


def send(address, token, start, count, out):
    """One sender, over several connections; `out` gets the seconds that each report took, and those of this process's CPU."""
    bodies = [body for i, body in enumerate(server_reports.reports(DISTINCT, 1)) if i % SENDERS == start]
    left = others(bodies, count)
    ready = selectors.DefaultSelector()
    for _ in range(CONNECTIONS):
        one = Connection(address, token)
        ready.register(one.socket, selectors.EVENT_READ, one)
    out.put(None)  # ready
    GO.wait()
    before, took = time.process_time(), []
    for key in list(ready.get_map().values()):
        key.data.send(next(left))
    while len(took) < count:
        for key, _ in ready.select():
            if key.data.receive():
                took.append(time.perf_counter() - key.data.begin)
                body = next(left, None)
                if body is not None:
                    key.data.send(body)
    out.put((took, time.process_time() - before))


def request_of(body):
    """As the server asks."""
    return b'{"bytes":%d,"do":"crash","want":["uses","brief","signature","people"]}\n%s' % (len(body), body)


def alone(machsym, count):
    """Reports a second, CPU a report and bytes of an answer of the worker by itself, asked as the server asks."""
    lines = b"".join(map(request_of, server_reports.reports(count, 1)))
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    said = subprocess.run([machsym, "worker", "-j", "1", *(w for d in DSYMS for w in ("-d", d))], input=lines, capture_output=True, check=False).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert said.count(b"\n") == count
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return count / (time.perf_counter() - begin), cpu / count * 1000, len(said) / count


def times_of_work(machsym, count):
    """Milliseconds of single reports in a worker, ascending: hundredths of all of them."""
    worker = subprocess.Popen([machsym, "worker", "-j", "1", *(w for d in DSYMS for w in ("-d", d))], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    took = []
    for body in server_reports.reports(count, 3):
        begin = time.perf_counter()
        worker.stdin.write(request_of(body))
        worker.stdin.flush()
        assert b'"error"' not in worker.stdout.readline()
        took.append((time.perf_counter() - begin) * 1000)
    worker.communicate()
    took = sorted(took[count // 10:])  # the first ones open the symbols
    return [round(took[len(took) * (2 * i + 1) // 200], 3) for i in range(100)]


def write_figures(path, count, machsym, seen):
    sent = [len(body) for body in server_reports.reports(200, 1)]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"measured": "make bench-server DATABASE=postgres COUNT=%d, %d cores, load %.1f at the end" % (count, os.cpu_count(), os.getloadavg()[0]),
                   "server_ms": round(seen["server"], 3), "database_ms": round(seen["postgres"], 3), "work_ms": times_of_work(machsym, 1000),
                   "sent_kb": round(sum(sent) / len(sent) / 1024, 2), "disk_kb": round(seen["disk"], 2), "log_kb": round(seen["log"], 2)}, file)
        file.write("\n")


def ask(address, token, path):
    to = http.client.HTTPConnection(address, timeout=60)
    to.request("GET", path, headers={"Authorization": "Bearer " + token})
    return json.loads(to.getresponse().read())


def disk_of(folder):
    return sum(os.stat(path).st_blocks * 512 for path in glob.glob(folder + "/machsym.db*") if not path.endswith("-reserve"))


def whole(server, machsym, count, folder, cluster):
    """What the service takes for all reports, by name. With a cluster its database is that PostgreSQL."""
    database = ["--database", cluster.url] if cluster else []
    process = subprocess.Popen([server, "--data", folder, "--listen", "127.0.0.1:0", "--machsym", machsym, *database], stdout=subprocess.PIPE)
    address = process.stdout.readline().decode().strip().replace("http://", "")
    token = process.stdout.readline().decode().split()[1]
    send_symbols(types.SimpleNamespace(address=address, token=token))
    out = multiprocessing.Queue()
    senders = [multiprocessing.Process(target=send, args=(address, token, i, count // SENDERS, out)) for i in range(SENDERS)]
    for s in senders:
        s.start()
    for _ in senders:
        out.get()
    if cluster:
        cluster.fresh()
    GO.set()
    begin = time.perf_counter()
    ended, memory = threading.Event(), []
    watcher = threading.Thread(target=watch, args=(process.pid, address, token, count, memory, ended))
    watcher.start()
    sent = [out.get() for _ in senders]
    took = sorted(t for some, _ in sent for t in some)
    accepted = time.perf_counter() - begin
    while ask(address, token, "/health")["waiting"]:
        time.sleep(0.2)
    done = time.perf_counter() - begin
    ended.set()
    watcher.join()
    assert ask(address, token, "/health")["failed"] == 0
    workers = children_of(process.pid)
    row = {"accepted": count / accepted, "done": count / done, "slowest": took[len(took) * 99 // 100] * 1000, "server": cpu_of(process.pid) / count * 1000,
           "workers": sum(map(cpu_of, workers)) / count * 1000, "senders": sum(cpu for _, cpu in sent) / count * 1000, "memory": memory, "postgres": cluster.cpu() / count * 1000 if cluster else 0,
           "log": cluster.log() / count / 1024 if cluster else 0, "rest": rest(address, token)}
    process.terminate()
    process.wait()
    row["disk"] = (cluster.disk() if cluster else disk_of(folder)) / (count + RESTING) / 1024
    return row


def watch(pid, address, token, count, memory, ended):
    """Notes the memory of the server and of its workers after each eighth of the reports."""
    while not ended.wait(1):
        if ask(address, token, "/health")["done"] * 8 // count > len(memory):
            memory.append(resident_now(pid))


RESTING = 500


def rest(address, token):
    """Milliseconds from sending one to its result, one at a time: 99 of 100 take less."""
    took = []
    for body in server_reports.reports(RESTING, 2):
        to = http.client.HTTPConnection(address, timeout=60)
        begin = time.perf_counter()
        to.request("POST", "/reports", body, {"Authorization": "Bearer " + token})
        key = json.loads(to.getresponse().read())["id"]
        while True:
            to.request("GET", "/reports/" + key + "?as=state", headers={"Authorization": "Bearer " + token})
            answer = to.getresponse()
            if json.loads(answer.read())["state"] == "done":
                break
            time.sleep(0.001)
        took.append(time.perf_counter() - begin)
    return sorted(took)[len(took) * 99 // 100] * 1000


def row(what, form, value, goal="", good=True):
    print("| %s | %s | %s | %s |" % (what, form % value, goal, "" if goal == "" else "yes" if good else "**no**"), flush=True)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    server = sys.argv[2] if len(sys.argv) > 2 else "build/machsym-server"
    machsym = os.path.abspath(sys.argv[3] if len(sys.argv) > 3 else "build/machsym")
    print("| %d reports, load %.1f at the begin | measured | goal | reached |\n|---|---|---|---|" % (count, os.getloadavg()[0]))
    a_second, cpu, said = min((alone(machsym, min(count, DISTINCT)) for _ in range(3)), key=lambda one: one[1])  # others may have disturbed it
    row("`machsym worker` alone, one thread: reports a second", "%.0f", a_second)
    row("`machsym worker` alone: ms of CPU a report", "%.2f", cpu)
    row("`machsym worker` alone: KB of an answer", "%.1f", said / 1024)
    folder = tempfile.mkdtemp(dir=os.environ.get("BENCH_DIR"))
    cluster = server_cluster.Cluster(server_cluster.programs(), server_cluster.USUAL) if os.environ.get("DATABASE") == "postgres" else None
    try:
        seen = whole(server, machsym, count, folder, cluster)
    finally:
        shutil.rmtree(folder)
        if cluster:
            cluster.end()
    most = 1000 if cluster else 1500
    row("accepted a second, while results are made", "%.0f", seen["accepted"], "2000", seen["accepted"] >= 2000)
    row("done a second", "%.0f", seen["done"], most, seen["done"] >= most)
    row("ms until a report is accepted, 99 of 100", "%.1f", seen["slowest"])
    row("ms of CPU a report, server", "%.2f", seen["server"])
    row("ms of CPU a report, workers", "%.2f", seen["workers"])
    row("ms of CPU a report, senders, on the same cores", "%.2f", seen["senders"])
    over = seen["server"] + seen["workers"] - cpu
    if cluster:
        row("ms of CPU a report, PostgreSQL", "%.2f", seen["postgres"])
        row("KB of its log a report", "%.1f", seen["log"])
        row("ms of CPU a report over the tool's own, without PostgreSQL", "%.2f", over)
        over += seen["postgres"]
    goal = 0.8 if cluster else 0.6
    row("ms of CPU a report over the tool's own", "%.2f", over, "%.2f" % goal, over <= goal)
    row("ms of CPU a report, all", "%.2f", over + cpu)
    row("ms from sending one to its result, at rest, 99 of 100", "%.1f", seen["rest"], "30", seen["rest"] < 30)
    row("KB of disk a report with its result", "%.2f", seen["disk"], "6", seen["disk"] <= 6)
    if os.environ.get("FIGURES"):
        write_figures(os.environ["FIGURES"], count, machsym, seen)
    memory = seen["memory"]
    flat = len(memory) > 3 and memory[-1] < memory[1] * 1.25 + 8
    row("MB of memory, server and workers, after each eighth", "%s", ", ".join("%.0f" % m for m in memory), "flat", flat)


GO = multiprocessing.Event()
main()
