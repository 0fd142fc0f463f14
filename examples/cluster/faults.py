#!/usr/bin/python3
"""Breaks the service while reports come in, and counts: every accepted report has exactly one result, equal to what machsym crash
gives, and is counted once in its groups. Prints a table. faults.py [--short] [--reports=20000] [FAULT ...]"""
import argparse
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import common
import sender
import service

MACHSYM = os.path.abspath(os.environ.get("MACHSYM", os.path.join(service.HERE, "../../build/machsym")))
BACKLOG = 500  # reports of a shard that may wait: few, so that a slow consumer shows
POISON = b"this report ends the tool"
# In place of the tool: it ends as one would that a report makes crash.
POISONED_TOOL = """#!/usr/bin/python3
import base64, os, subprocess, sys
if sys.argv[1] != "worker":
    os.execv(%(tool)r, [%(tool)r] + sys.argv[1:])
tool = subprocess.Popen([%(tool)r] + sys.argv[1:], stdin=subprocess.PIPE)
for line in sys.stdin.buffer:
    if base64.b64encode(%(poison)r) in line:
        tool.kill()
        sys.exit(9)
    tool.stdin.write(line)
    tool.stdin.flush()
tool.stdin.close()
sys.exit(tool.wait())
"""


# ---- Services whose machines are more real; for root ----

class Networked(service.Service):
    """Each node of Redis has a network namespace of its own, and reaches the others and us by a bridge."""
    net = "198.18.%d" % (os.getpid() % 256)  # of the networks that are for tests

    def host(self, i):
        return "%s.%d" % (self.net, 10 + i)

    def ends(self, i):
        """Of the namespace, and of our end of its cable."""
        return "crash%d-%d" % (os.getpid(), i), "cr%d-%d" % (os.getpid(), i)

    def command(self, name):
        command = super().command(name)
        return ["ip", "netns", "exec", self.ends(int(name[5:]))[0], *command] if name.startswith("redis") else command

    def start(self):
        ip("link", "add", self.bridge(), "type", "bridge")
        ip("addr", "add", self.net + ".1/24", "dev", self.bridge())
        ip("link", "set", self.bridge(), "up")
        for i in range(service.NODES):
            space, cable = self.ends(i)
            ip("netns", "add", space)
            ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space)
            ip("link", "set", cable, "master", self.bridge(), "up")
            ip("-n", space, "addr", "add", self.host(i) + "/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                ip("-n", space, "link", "set", device, "up")
        super().start()

    def bridge(self):
        return "cr%d" % os.getpid()

    def stop(self):
        super().stop()
        for i in range(service.NODES):
            ip("netns", "del", self.ends(i)[0], check=False)  # and its cable
        ip("link", "del", self.bridge(), check=False)


class SmallDisk(service.Service):
    """The first node of Redis, a primary at first, has a small disk of its own."""
    SIZE = 400 << 20  # what a third of the reports takes, with room for the file to be written anew

    def disk(self):
        return os.path.join(self.folder, "redis0")

    def start(self):
        os.makedirs(self.disk())
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % self.SIZE, "crash", self.disk()], check=True)
        super().start()

    def stop(self):
        super().stop()
        subprocess.run(["umount", "--lazy", self.disk()], check=False)


def ip(*command, check=True):
    subprocess.run(["ip", *command], check=check, stderr=None if check else subprocess.DEVNULL)


# ---- Faults: each does its harm and takes it back ----

def nothing(_):
    pass


def worker(s):
    """kill -9 of a symbolicator, then of the tool of another one, and so on"""
    for i in range(6):
        name = "symbolicator%d" % (i % 2)
        pids = subprocess.run(["pgrep", "-P", str(s.processes[name].pid)], capture_output=True, text=True, check=False).stdout.split()
        for pid in pids if i % 3 == 2 else [s.processes[name].pid]:
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(1)


def builder(s):
    """kill -9 of the builder, again and again, as a dSYM arrives"""
    for _ in range(6):
        s.kill("builder0")
        time.sleep(0.9)


def builder_stop(s):
    """SIGSTOP of a builder for a minute, with a dSYM in hand perhaps"""
    s.kill("builder0", signal.SIGSTOP)
    time.sleep(60)
    s.kill("builder0", signal.SIGCONT)


def primary(s):
    """kill -9 of a primary: its replica takes over"""
    s.kill(s.primary())


def partition(s):
    """SIGSTOP of a primary for 10 s: its replica takes over, then it comes back and believes that it is the primary"""
    name = s.primary()
    s.kill(name, signal.SIGSTOP)
    time.sleep(10)
    s.kill(name, signal.SIGCONT)


def cable(s):
    """the cable of a primary is out for 15 s: neither nodes nor programs reach it; its replica takes over"""
    end = s.ends(int(s.primary()[5:]))[1]
    ip("link", "set", end, "down")
    time.sleep(15)
    ip("link", "set", end, "up")


def split(s):
    """a primary is cut off from all other nodes for 15 s, while all programs reach it: two take themselves for the primary"""
    lost = int(s.primary()[5:])
    for what in ("add", "del"):
        for i in set(range(service.NODES)) - {lost}:
            ip("-n", s.ends(lost)[0], "route", what, "blackhole", s.host(i) + "/32")
        time.sleep(15 if what == "add" else 0)


def full(s):
    """the disk of a primary, a small one of its own, is full for 5 s"""
    path = os.path.join(s.disk(), "full")
    try:
        with open(path, "wb", 0) as file:
            while True:
                file.write(bytes(1 << 20))
    except OSError:
        pass
    time.sleep(5)
    os.unlink(path)


def file_limit(s):
    """a file of a primary may not grow for 5 s"""
    pid = s.processes[s.primary()].pid
    folder = os.path.join(s.folder, s.primary(), "appendonlydir")
    size = max(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size + 1000, resource.RLIM_INFINITY))
    time.sleep(5)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def memory(s):
    """no node of Redis has memory for 5 s"""
    for limit in ("3mb", "%dmb" % s.memory):
        for port in s.ports:
            s.cli(port, "config", "set", "maxmemory", limit)
        time.sleep(5)


def slow(s):
    """symbolicators do nothing for 15 s: reports wait, and further ones are refused"""
    for how in (signal.SIGSTOP, signal.SIGCONT):
        for name in ("symbolicator0", "symbolicator1"):
            s.kill(name, how)
        time.sleep(15 if how == signal.SIGSTOP else 0)


def expired(s):
    """all chunks are gone from Redis, and from the tool, which is started anew"""
    for _ in range(3):
        for port in s.ports:
            for name in s.cli(port, "--scan", "--pattern", "chunk:*").split():
                s.cli(port, "del", name)
        for name in ("symbolicator0", "symbolicator1"):
            s.kill(name)
        time.sleep(3)


def poison(_):
    """reports that end the tool, among the others"""


def short(s):
    """for CI: a symbolicator and a primary are killed, with poison among the reports"""
    s.kill("symbolicator0")
    s.kill(s.primary())


FAULTS = {f.__name__: f for f in (nothing, worker, builder, builder_stop, primary, partition, cable, split, file_limit, full, memory, slow,
                                    expired, poison)}
NEEDS = {cable: Networked, split: Networked, full: SmallDisk}  # services that only root can start



# ---- What has to come out ----

def truth(folder, symbols, bodies):
    """What machsym crash gives for each report, by id."""
    os.makedirs(folder)
    names = []
    for body in bodies:
        names.append(os.path.join(folder, hashlib.sha256(body).hexdigest()[:32]))
        with open(names[-1], "wb") as file:
            file.write(body)
    done = subprocess.run([MACHSYM, "crash", "-q", "--json", "--no-cache", "-d", symbols, "--files-from=-"], input="\n".join(names), text=True,
                          capture_output=True, check=False)
    return dict(zip((os.path.basename(name) for name in names), (plain(json.loads(line)) for line in done.stdout.splitlines())))


def plain(report):
    """A report without what tells where symbols were found, or why not: of a wrong UUID that is what else there was at the time."""
    for image in report["images"]:
        image.pop("symbols")
        image["status"] = image["status"] == "found"
    return report


def stored(cluster):
    """All results by id; how many reports groups count, and how many they should."""
    results, counted, should = {}, 0, 0
    for address in cluster.primaries():
        client = cluster.client(address)
        cursor = b"0"
        while True:
            cursor, keys = client.execute_command("SCAN", cursor, "COUNT", 1000)
            pipe = client.pipeline(transaction=False)
            wanted = [k for k in keys if k.startswith((b"result:", b"parts:"))]
            for k in wanted:
                pipe.execute_command(*(("HMGET", k, "state", "result") if k.startswith(b"result:") else ("HVALS", k)))
            for k, answer in zip(wanted, pipe.execute()):
                if k.startswith(b"parts:"):
                    counted += sum(map(int, answer))
                else:
                    state = json.loads(answer[0])
                    results[k.split(b":")[-1].decode()] = (state, json.loads(zlib.decompress(answer[1])))
                    should += len(state["groups"])
            if cursor == b"0":
                break
    return results, counted, should


def left(cluster):
    """Work in the streams. That of the builders is looked at first: when there is none, all that they let go is in the others."""
    return sum(cluster.run(common.stream(tag), [("XLEN", common.stream(tag))], 30)[0] for tag in [common.BUILDS] + common.SHARDS)


def released(cluster, uuid):
    """Whether no report waits for an image any more."""
    return not any(cluster.run(common.stream(tag), [("ZCARD", common.key("wait", tag, uuid))], 30)[0] for tag in common.SHARDS)


def run(fault, count):
    """One run in a service of its own: a row of the table, and whether all was well."""
    folder = tempfile.mkdtemp(prefix="faults-")
    tool, harm = MACHSYM, FAULTS.get(fault.__name__, short)
    bodies = list(sender.reports(count))
    if fault in (poison, short):
        tool = folder + "/tool"
        service.write_private(tool, POISONED_TOOL % {"tool": MACHSYM, "poison": POISON})
        os.chmod(tool, 0o700)
        # base64 has to show the poison as it is, so it begins where a triple of bytes does
        bodies[count // 3] = bodies[2 * count // 3 + 1] = POISON
    try:
        with NEEDS.get(fault, service.Service)(folder + "/service", tool, symbolicators=2, builders=2 if fault is builder_stop else 1,
                             backlog=BACKLOG) as s:
            cluster, to = common.Cluster(s.config), sender.Sender(s.url, s.config["token"])
            harmer, hit = threading.Thread(target=harm, args=(s,), daemon=True), threading.Lock()
            uploader = threading.Thread(target=to.send, args=("/dsyms", sender.dsym()), daemon=True)
            started = []

            def progress(sent):
                if sent >= count // 3 and hit.acquire(blocking=False):
                    started.append(time.monotonic())
                    harmer.start()
                    uploader.start()

            to.send_all(bodies, progress)
            sent = time.monotonic()
            harmer.join()
            uploader.join()
            s.wait_for(lambda: left(cluster) == 0 and released(cluster, sender.UUID[2]), "all results of " + fault.__name__, 300)
            done = time.monotonic()
            results, counted, should = stored(cluster)
            want = truth(folder + "/reports", s.folder + "/symbols", [b for b in bodies if b != POISON])
            dead = sum(cluster.run("dead:{%s}" % tag, [("XLEN", "dead:{%s}" % tag)])[0] for tag in common.SHARDS)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    lost = to.accepted - set(results)
    wrong = [r for r, (state, result) in results.items() if r in want and [plain(p["json"]) for p in result.get("reports", [])] != [want[r]]]
    poisoned = [r for r, (state, _) in results.items() if r not in want and "error" in state]
    well = (not lost and not wrong and counted == should and len(results) == len(want) + len(poisoned) and
            len(to.accepted) == len(set(bodies)) and len(poisoned) == dead == (1 if POISON in bodies else 0))
    for report in wrong[:3]:
        print("differs: %s %s" % (report, json.dumps(results[report])[:400]))
    return "| %-12s | %8d | %7d | %4d | %10d | %6d | %9.1f | %9.1f |" % (
        fault.__name__, len(to.accepted), to.refused, len(lost), counted - should, len(wrong), to.longest, done - max(sent, started[0])), well


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="one run of 400 reports with three faults")
    parser.add_argument("--reports", type=int, default=20000)
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=", ".join(FAULTS))
    args = parser.parse_args()
    print("| fault        | accepted | refused | lost | duplicated | differ | longest s | rest s    |\n|---|---|---|---|---|---|---|---|", flush=True)
    failed = 0
    for fault in [short] if args.short else [FAULTS[name] for name in args.faults or FAULTS]:
        if fault in NEEDS and os.geteuid() != 0:
            print("skipped: %s needs root" % fault.__name__, flush=True)
            continue
        row, well = run(fault, 400 if args.short else args.reports)
        failed += not well
        print(row + ("" if well else " failed"), flush=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
