"""Faults of a PostgreSQL, of its replica, of the network and of all at once, while reports of real size come to two servers: half of them
to one of the two until it is taken, and never again, the others three times to each. Prints a table: how many were lost, new twice, or differ from the results of a server with SQLite. server.sh runs it with few reports,
make soak-server DATABASE=postgres with many. OLDER in the environment is a machsym-server of before, which runs beside the newest.
Usage: server_faults.py MACHSYM-SERVER MACHSYM FOLDER REPORTS [SEED]."""
import collections
import http.client
import os
import random
import signal
import subprocess
import sys
import threading
import time

import server as base
import server_cluster
import server_process
import server_reports

COUNT = int(sys.argv[4])
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else time.time_ns()
MANY = COUNT >= 5000
OPTIONS = ("--machsym", base.MACHSYM, "--workers=2")
SILENT = 24  # seconds: longer than a server waits for the other end
NETWORK = ("machsym%d" % os.getpid(), "10.213.97.1", "10.213.97.2")
chance = random.Random(SEED)


def results(server, keys):
    """The kept result of each report. Of many reports one in ten has its whole answer, too, which a worker makes of the kept report."""
    found, keys = {}, sorted(keys)

    def ask(some):
        connection = http.client.HTTPConnection(server.address, timeout=60)

        def get(path):
            connection.request("GET", path, headers={"Authorization": "Bearer " + server.token})
            answer = connection.getresponse()
            text = answer.read()
            return text if answer.status == 200 else None

        for number, key in some:
            brief = get("/reports/%s?as=brief" % key)
            whole = get("/reports/" + key) if brief and (not MANY or number % 10 == 0) else b""
            found[key] = None if brief is None or whole is None else (brief, base.plain(whole) if whole else None)

    threads = [threading.Thread(target=ask, args=(list(enumerate(keys))[i::4],)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return found


def wholes(server):
    """What is told of all reports together."""
    groups = [(g["hash"], g["title"], g["count"]) for g in server.json("GET", "/groups")[1]["groups"]]
    return groups, server.json("GET", "/missing")[1]


class Truth:
    """What a server with SQLite says, without faults."""

    def __init__(self, bodies):
        server = base.Server("truth%d" % time.time_ns(), *OPTIONS)
        server_process.send_symbols(server)
        load = base.Load(server, bodies)
        load.run(lambda: time.sleep(0.1))
        server.settle(300)
        self.bodies, self.results, self.wholes = bodies, results(server, load.ids), wholes(server)
        server.end()
        base.check(all(self.results.values()), "SQLite has all results")


class Pair:
    """Two servers with one store, on one database."""

    def __init__(self, name, url, programs=(base.SERVER, base.SERVER)):
        self.servers = []
        for i, program in enumerate(programs):
            folder = "%s/%s%d" % (base.WORK, name, i)
            if i:
                os.mkdir(folder)
                os.symlink("%s/%s0/store" % (base.WORK, name), folder + "/store")
            base.SERVER = program
            self.servers.append(base.Server("%s%d" % (name, i), *OPTIONS, "--database", url, token=self.servers[0].token if i else None))
        base.SERVER = sys.argv[1]

    def end(self):
        for server in self.servers:
            if server.process.poll() is None:
                server.end(signal.SIGKILL)

    def kill(self):
        for server in self.servers:
            base.kill_all([*server.children(), server.process.pid])
            server.end(signal.SIGKILL)

    def start(self):
        for server in self.servers:
            server.start()


class Reports:
    """Reports of each row, and the truth about them. Few reports are the same in all rows; many are shared out, none twice."""

    def __init__(self):
        self.maker, self.number, self.few = server_reports.Maker(SEED), 0, None

    def of(self, share):
        if self.few:
            return self.few
        count = COUNT * share // 100 if MANY else COUNT
        truth = Truth([self.maker.next(self.number + i) for i in range(count)])
        self.number += count
        self.few = None if MANY else truth
        return truth


def phase(what, truth, pair, times, fault):
    """One row: `fault` happens some times while reports come."""
    begin = time.monotonic()
    try:
        server_process.send_symbols(pair.servers[0])
        bodies = list(truth.bodies)
        chance.shuffle(bodies)
        once, often = bodies[::2], bodies[1::2]
        loads = [base.Load(pair.servers[0], once[::2], 1), base.Load(pair.servers[1], once[1::2], 1),
                 base.Load(pair.servers[0], often), base.Load(pair.servers[1], often[::-1])]
        threads = [t for load in loads for t in load.threads]
        for t in threads:
            t.start()
        meanwhile = 0
        for turn in range(times):
            time.sleep(chance.uniform(0.3, 1.5) if MANY else chance.uniform(0.02, 0.1))  # few reports are sent in half a second
            meanwhile += any(t.is_alive() for t in threads)
            fault(turn)
        for t in threads:
            t.join()
        base.check(meanwhile > 0, what + ": while reports come")
        settled = [server.settle(300) for server in pair.servers][-1]
        found = results(pair.servers[1], truth.results)
        lost = sum(found[key] is None for key in found)
        new = sum((load.new for load in loads), collections.Counter())
        twice = sum(n > 1 for n in new.values())
        different = sum(found[key] is not None and found[key] != truth.results[key] for key in found)
        base.check((lost, twice, different) == (0, 0, 0), what, lost, twice, different)
        base.check(settled["done"] == len(bodies) and settled["failed"] == 0, what + ": each is done once", settled)
        base.check(wholes(pair.servers[0]) == truth.wholes, what + ": groups and missing images", wholes(pair.servers[0]), truth.wholes)
        print("| %s | %d | %d | %d | %d | %d | %.1f s | %.0f s |" % (what, len(bodies), times, lost, twice, different,
                                                                     max(load.longest for load in loads), time.monotonic() - begin), flush=True)
    finally:
        pair.end()


def restarts(cluster, truth):
    """kill -9 and pg_ctl stop -m immediate in turn."""
    def fault(turn):
        (cluster.stop if turn % 2 else cluster.kill)()
        time.sleep(chance.uniform(0, 0.5))
        cluster.start()
    phase("PostgreSQL: kill -9 and stop -m immediate in turn", truth, Pair("restart", fresh(cluster, "restarts")), 20 if MANY else 2, fault)


def all_at_once(cluster, truth):
    pair = Pair("all", fresh(cluster, "together"))

    def fault(_):
        cluster.kill()
        pair.kill()
        cluster.start()
        pair.start()
    phase("all killed at once", truth, pair, 10 if MANY else 3, fault)


def newer_schema(cluster, truth):
    """A newer program takes the database for a while: this one's servers wait."""
    url = fresh(cluster, "newer")
    pair = Pair("newer", url)

    def fault(_):
        cluster.sql("UPDATE machsym_schema SET version = version + 1", "newer")
        time.sleep(2)
        status, said = pair.servers[0].json("POST", "/reports", b"a report that is not taken")
        base.check(status == 503, "a newer schema", status, said)
        cluster.sql("UPDATE machsym_schema SET version = version - 1", "newer")
    phase("a newer schema for two seconds", truth, pair, 1, fault)


def older_program(cluster, truth):
    """A server of before runs on, while the newest brings its schema along. Reports that it refuses are sent again, to its successor."""
    pair = Pair("older", fresh(cluster, "older"), (os.environ["OLDER"],) * 2)

    def fault(turn):
        server = pair.servers[turn]
        time.sleep(1)
        server.end(signal.SIGKILL)
        server.start()
    phase("two versions of the program at once", truth, pair, 2, fault)


def fresh(cluster, name):
    """The address of a database of its own."""
    cluster.call("createdb", "-h", cluster.folder, "-U", "machsym", name)
    return cluster.url.replace("/reports?", "/%s?" % name)


def failover(programs, truth):
    """The primary is killed, and its replica becomes one. With many reports the next replica follows, and so on."""
    clusters = [server_cluster.Cluster(programs, ("shared_buffers=16MB", "max_wal_senders=4"))]
    try:
        clusters += [server_cluster.Cluster(programs, ("shared_buffers=16MB",), of=clusters[0])]
        follow(clusters[0])
        url = clusters[1].url.replace("host=", "host=%s," % clusters[0].folder)

        def fault(_):
            clusters[0].kill()
            time.sleep(chance.uniform(0, 1))
            clusters[1].sql("SELECT pg_promote()")
        phase("failover to a replica, synchronous commit", truth, Pair("failover", url), 1, fault)
    finally:
        for cluster in clusters:
            cluster.end()


def follow(primary):
    """Commits wait for a replica from now on."""
    primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'", "postgres")
    primary.sql("SELECT pg_reload_conf()", "postgres")
    end = time.monotonic() + 60
    while primary.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", "postgres") != "1":
        base.check(time.monotonic() < end, "the replica follows")
        time.sleep(0.1)


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


def cut(programs, truth):
    """The database is in a network namespace, whose only cable loses all packets without a word."""
    name, here, there = NETWORK
    try:
        ip("netns", "add", name)
        ip("link", "add", name[-12:] + "a", "type", "veth", "peer", "name", "far", "netns", name)
    except (OSError, subprocess.CalledProcessError):
        print("skipped: no network namespace can be made here")
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
        return 1
    try:
        ip("addr", "add", here + "/30", "dev", name[-12:] + "a")
        ip("link", "set", "dev", name[-12:] + "a", "up")
        ip("-n", name, "addr", "add", there + "/30", "dev", "far")
        ip("-n", name, "link", "set", "dev", "far", "up")
        rights = str(server_cluster.NO_RIGHTS)
        inside = ("nsenter", "--net=/run/netns/" + name, "setpriv", "--reuid", rights, "--regid", rights, "--clear-groups")
        cluster = server_cluster.Cluster(programs, ("shared_buffers=16MB", "listen_addresses=" + there), inside)
        try:
            with open(cluster.folder + "/db/pg_hba.conf", "a", encoding="ascii") as file:
                file.write("host all all %s/32 trust\n" % here)
            cluster.sql("SELECT pg_reload_conf()")
            url = "postgres://machsym@%s/reports?sslmode=disable" % there

            def fault(turn):
                ip("-n", name, "link", "set", "dev", "far", "down")
                time.sleep(2 if turn % 2 else SILENT)
                ip("-n", name, "link", "set", "dev", "far", "up")
            phase("the network cut silently", truth, Pair("cut", url), 6 if MANY else 1, fault)
        finally:
            cluster.end()
    finally:
        ip("netns", "del", name)
    return 0


def main():
    programs = server_cluster.programs()
    if not programs or os.getuid() != 0:
        print("skipped: faults of PostgreSQL: they need postgresql-15 and root")
        return 1
    print("seed", SEED)
    print("| fault | reports | faults | lost | twice | different | longest until taken | all |\n|---|---|---|---|---|---|---|---|", flush=True)
    reports = Reports()
    cluster = server_cluster.Cluster(programs)
    try:
        restarts(cluster, reports.of(25))
        all_at_once(cluster, reports.of(20))
        newer_schema(cluster, reports.of(10))
        if "OLDER" in os.environ:
            older_program(cluster, reports.of(10))
    finally:
        cluster.end()
    failover(programs, reports.of(20))
    return cut(programs, reports.of(15))


if __name__ == "__main__":
    skipped = main()
    print("%d passed, %d failed, %d skipped" % (*base.counts, skipped))
    sys.exit(base.counts[1] != 0)
