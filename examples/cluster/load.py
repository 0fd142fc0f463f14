#!/usr/bin/python3
"""How many reports a second the service does with 1, 2 and 4 symbolicators, against the tool alone; latency; what a dSYM takes in Redis.
load.py [--reports=N] [DSYM.zip or .dSYM ...]. Seconds of CPU are told besides those of the clock, as they say how many machines it takes."""
import argparse
import base64
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import common
import faults
import sender
import service

RATE = 50  # reports a second while latency is measured
SECONDS = 10


def cpu(pids):
    """Seconds of CPU of processes and of the tools that they started."""
    total = 0
    for pid in pids:
        children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False).stdout.split()
        for one in [pid, *children]:
            with open("/proc/%s/stat" % one, encoding="ascii") as file:
                total += sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13]))
    return total / os.sysconf("SC_CLK_TCK")


def alone(bodies, symbols):
    """Reports a second of one thread of machsym worker, which gets and prints what a symbolicator's does."""
    lines = b"".join(json.dumps({"id": i, "do": "crash", "base64": base64.b64encode(body).decode(), "want": ["json", "signature", "summary"]}
                                ).encode() + b"\n" for i, body in enumerate(bodies))
    begin, before = time.monotonic(), os.times()
    subprocess.run([faults.MACHSYM, "worker", "--no-cache", "-d", symbols], input=lines, stdout=subprocess.DEVNULL, check=False)
    after = os.times()
    return time.monotonic() - begin, after.children_user + after.children_system - before.children_user - before.children_system


def drain(s, to, bodies, count):
    """Sends reports while symbolicators are stopped, then lets a number of them go on and waits until all is done. Their start is not measured."""
    cluster, names = common.Cluster(s.config), ["symbolicator%d" % i for i in range(count)]
    for name in names:
        s.held.discard(name)
        s.launch(name)
    s.wait_for(lambda: all(name in told(cluster) for name in names), "the symbolicators")
    for name in names:
        s.kill(name, signal.SIGSTOP)
    redis = [s.processes["redis%d" % i].pid for i in range(service.NODES)]
    begin, ingest, before_redis = time.monotonic(), cpu([s.processes["ingest"].pid]), cpu(redis)
    to.send_all(bodies)
    sent, ingest = time.monotonic() - begin, cpu([s.processes["ingest"].pid]) - ingest
    pids = [s.processes[name].pid for name in names]
    before, begin = cpu(pids), time.monotonic()
    for name in names:
        s.kill(name, signal.SIGCONT)
    s.wait_for(lambda: faults.left(cluster) == 0, "the results", 600)
    done, mine, theirs = time.monotonic() - begin, cpu(pids) - before, cpu(redis) - before_redis
    print("| %d | %.0f | %.0f | %.2f | %.2f | %.2f |" % (
        count, len(bodies) / sent, len(bodies) / done, *(1000 * seconds / len(bodies) for seconds in (ingest, mine, theirs))), flush=True)
    for name in names:
        end(s, cluster, name)


def end(s, cluster, name):
    s.held.add(name)
    s.processes[name].terminate()
    s.processes[name].wait()
    cluster.run("stats", [("HDEL", "stats", name)])


def told(cluster):
    """What symbolicators have counted, by name, of those that run now."""
    answer, = cluster.run("stats", [("HGETALL", "stats")])
    return [name.decode() for name, text in zip(answer[::2], answer[1::2]) if time.time() - json.loads(text)["at"] < 2]


def memory(s):
    """Bytes that the primaries use."""
    cluster = common.Cluster(s.config)
    return sum(common.info(cluster.client(address).execute_command("INFO", "memory"))["used_memory"] for address in cluster.primaries())


def latency(s, to, bodies):
    """Milliseconds from acceptance to the result, at a steady rate."""
    begin, ids = time.monotonic(), []
    for i, body in enumerate(bodies):
        time.sleep(max(0.0, begin + i / RATE - time.monotonic()))
        ids.append(json.loads(to.send("/reports", body))["id"])
    cluster = common.Cluster(s.config)
    s.wait_for(lambda: faults.left(cluster) == 0, "the results")
    results, _, _ = faults.stored(cluster)
    took = sorted(results[i][0]["at"] - results[i][0]["arrived"] for i in ids)
    print("latency at %d reports a second: p50 %d ms, p99 %d ms" % (RATE, took[len(took) // 2], took[-1 - len(took) // 100]), flush=True)


def chunks(s):
    """What the chunks of each image take in Redis."""
    by_image = {}
    for port in s.ports:
        if s.cli(port, "role").startswith("slave"):
            continue
        for name in s.cli(port, "--scan", "--pattern", "chunk:*").split():
            uuid = re.search("[0-9A-F]{8}-[0-9A-F-]{27}", name).group()
            image = by_image.setdefault(uuid, [0, 0])
            image[0] += 1
            image[1] += int(s.cli(port, "memory", "usage", name))
    for uuid, (count, size) in by_image.items():
        file, = [p for p in subprocess.run(["find", s.folder + "/symbols", "-path", "*%s.dSYM*" % uuid, "-type", "f"], capture_output=True,
                                           text=True, check=True).stdout.splitlines() if "/DWARF/" in p]
        print("dSYM of %d KB: %d keys, %d KB in Redis" % (os.path.getsize(file) // 1024, count, size // 1024))


def needs(s, body):
    """Keys that one report costs when nothing is known, and further ones."""
    asked = []
    cluster, prefix = common.Cluster(s.config), common.chunk_prefix(s.config)

    def find(name):
        asked.append(name)
        return cluster.run(prefix + name, [("GET", prefix + name)])[0]

    with common.Worker(["--no-cache"], find, faults.MACHSYM) as tool:
        for _ in range(2):
            tool.ask({"do": "crash", "base64": base64.b64encode(body).decode()})
            print("keys of Redis read: %d" % len(asked))


def zipped(path):
    """The bytes of an archive, or of a dSYM bundle as one."""
    if os.path.isdir(path):
        path = shutil.make_archive(os.path.join(tempfile.mkdtemp(prefix="load-"), "dsym"), "zip", os.path.dirname(os.path.abspath(path)),
                                   os.path.basename(os.path.abspath(path)))
        with open(path, "rb") as file:
            data = file.read()
        shutil.rmtree(os.path.dirname(path))
        return data
    with open(path, "rb") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=10000)
    parser.add_argument("dsyms", nargs="*")
    args = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="load-")
    try:
        with service.Service(folder, faults.MACHSYM, symbolicators=1) as s:
            cluster, to = common.Cluster(s.config), sender.Sender(s.url, s.config["token"])
            to.send("/dsyms", sender.dsym())
            for path in args.dsyms:
                to.send("/dsyms", zipped(path))
            s.wait_for(lambda: faults.left(cluster) == 0, "the dSYMs")
            chunks(s)
            needs(s, next(sender.reports(1, unknown=0)))
            latency(s, to, list(sender.reports(RATE * SECONDS, 1, 0)))
            end(s, cluster, "symbolicator0")
            bodies = list(sender.reports(args.reports, 2, 0))
            clock, seconds = alone(bodies, folder + "/symbols")
            print("the tool alone: %.0f reports a second, %.2f ms of CPU a report" % (len(bodies) / clock, 1000 * seconds / len(bodies)))
            print("| symbolicators | accepted/s | done/s | ingest ms | symbolicators ms | Redis, six nodes, ms |\n|---|---|---|---|---|---|")
            before = memory(s)
            for count in (1, 2, 4):
                drain(s, to, list(sender.reports(args.reports, 2 + count, 0)), count)
            print("a report with its result: %d bytes in Redis; it came with %d" % (
                (memory(s) - before) // (3 * args.reports), sum(map(len, bodies)) // len(bodies)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
