#!/usr/bin/python3
"""What machsym-server takes of time, CPU, memory and disk for reports of 12 to 26 KB, and what `machsym worker` alone takes for the same.
Usage, from the top of the checkout: bench/server.py [N [SERVER [MACHSYM]]]. Prints a row of Markdown for each measure."""
import base64
import glob
import http.client
import json
import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import types

sys.path.insert(0, "tests")
import server_reports
from server_process import children_of, cpu_of, resident_now, resident_of, send_symbols

SENDERS, CONNECTIONS, DSYMS = 2, int(os.environ.get("CONNECTIONS", "8")), list(server_reports.DSYMS.values())


def send(address, token, seed, start, count, out):
    """One sender, over several connections; `out` gets the seconds that each report took."""
    bodies = [body for i, body in enumerate(server_reports.reports(count * SENDERS, seed)) if i % SENDERS == start]
    took = []

    def over_one(bodies):
        to = http.client.HTTPConnection(address, timeout=60)
        for body in bodies:
            begin = time.perf_counter()
            to.request("POST", "/reports", body, {"Authorization": "Bearer " + token})
            answer = to.getresponse()
            answer.read()
            if answer.status != 201:
                raise SystemExit(answer.status)
            took.append(time.perf_counter() - begin)

    threads = [threading.Thread(target=over_one, args=(bodies[i::CONNECTIONS],)) for i in range(CONNECTIONS)]
    out.put(None)  # ready
    GO.wait()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    out.put(took)


def alone(machsym, count):
    """CPU a report of the worker by itself, asked as the server asks."""
    lines = b"".join(b'{"do":"crash","want":["uses","brief","signature"],"base64":"%s"}\n' % base64.b64encode(body)
                     for body in server_reports.reports(count, 1))
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    said = subprocess.run([machsym, "worker", "-j", "1", *(w for d in DSYMS for w in ("-d", d))], input=lines, capture_output=True, check=False).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert said.count(b"\n") == count
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return count / (time.perf_counter() - begin), cpu / count * 1000, len(said) / count


def ask(address, token, path):
    to = http.client.HTTPConnection(address, timeout=60)
    to.request("GET", path, headers={"Authorization": "Bearer " + token})
    return json.loads(to.getresponse().read())


def disk_of(folder):
    return sum(os.stat(path).st_blocks * 512 for path in glob.glob(folder + "/machsym.db*") if not path.endswith("-reserve"))


def whole(server, machsym, count, folder):
    process = subprocess.Popen([server, "--data", folder, "--listen", "127.0.0.1:0", "--machsym", machsym], stdout=subprocess.PIPE)
    address = process.stdout.readline().decode().strip().replace("http://", "")
    token = process.stdout.readline().decode().split()[1]
    send_symbols(types.SimpleNamespace(address=address, token=token))
    out = multiprocessing.Queue()
    senders = [multiprocessing.Process(target=send, args=(address, token, 1, i, count // SENDERS, out)) for i in range(SENDERS)]
    for s in senders:
        s.start()
    for _ in senders:
        out.get()
    GO.set()
    begin = time.perf_counter()
    ended, memory = threading.Event(), {}
    watcher = threading.Thread(target=watch, args=(process.pid, address, token, count, memory, ended))
    watcher.start()
    took = sorted(t for _ in senders for t in out.get())
    accepted = time.perf_counter() - begin
    while ask(address, token, "/health")["waiting"]:
        time.sleep(0.02)
    done = time.perf_counter() - begin
    ended.set()
    watcher.join()
    assert ask(address, token, "/health")["failed"] == 0
    workers = children_of(process.pid)
    row = {"accepted a second": count / accepted, "ms of the slowest of 100": took[len(took) * 99 // 100] * 1000, "done a second": count / done,
           "ms of CPU a report, server": cpu_of(process.pid) / count * 1000, "ms of CPU a report, workers": sum(map(cpu_of, workers)) / count * 1000,
           **memory, "MB of memory, server at most": resident_of(process.pid), "MB of memory, a worker": max(map(resident_of, workers))}
    row["ms from sending one to its result, slowest of 100"] = rest(address, token)
    process.terminate()
    process.wait()
    row["KB of disk a report with its result"] = disk_of(folder) / (count + 200) / 1024
    return row


def watch(pid, address, token, count, memory, ended):
    """Notes the memory of the server and of its workers after each quarter of the reports."""
    while not ended.wait(0.2):
        done = ask(address, token, "/health")["done"]
        quarter = done * 4 // count
        if quarter and "quarter %d" % quarter not in str(memory):
            memory["MB of memory after quarter %d: server and workers" % quarter] = resident_now(pid)


def rest(address, token):
    """Of one report at a time."""
    took = []
    for body in server_reports.reports(200, 2):
        to = http.client.HTTPConnection(address, timeout=60)
        begin = time.perf_counter()
        to.request("POST", "/reports", body, {"Authorization": "Bearer " + token})
        key = json.loads(to.getresponse().read())["id"]
        while True:
            to.request("GET", "/reports/" + key, headers={"Authorization": "Bearer " + token})
            answer = to.getresponse()
            answer.read()
            if answer.status == 200:
                break
        took.append(time.perf_counter() - begin)
    return sorted(took)[len(took) * 99 // 100] * 1000


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    server = sys.argv[2] if len(sys.argv) > 2 else "build/machsym-server"
    machsym = os.path.abspath(sys.argv[3] if len(sys.argv) > 3 else "build/machsym")
    a_second, cpu, said = alone(machsym, min(count, 3000))
    print("| machsym worker alone | %.0f a second, %.2f ms of CPU a report, %.1f KB of answer |" % (a_second, cpu, said / 1024), flush=True)
    folder = tempfile.mkdtemp(dir=os.environ.get("BENCH_DIR"))
    try:
        for what, value in whole(server, machsym, count, folder).items():
            print("| %s | %.2f |" % (what, value), flush=True)
    finally:
        shutil.rmtree(folder)


GO = multiprocessing.Event()
main()
