"""Two servers on one PostgreSQL whose process is killed while reports come: none is lost, none is there twice, and all is told as a server
with SQLite tells it. Usage: server_postgres.py MACHSYM-SERVER MACHSYM FOLDER. server.sh runs it."""
import os
import signal
import subprocess
import sys
import time

import server
import server_cluster
from server import DSYM, MACHSYM, SERVER, WORK, Load, Server, check, plain, read, variants

REPORTS = 300


def told(asked, keys):
    """What a server tells of reports, their groups and what is missing."""
    briefs = {key: asked.ask("GET", "/reports/%s?as=brief" % key) for key in keys}
    for some in sorted(keys)[:10]:
        status, text = asked.ask("GET", "/reports/" + some)
        briefs[some] += (status, plain(text) if status == 200 else text)
    groups = [(g["hash"], g["title"], g["count"]) for g in asked.json("GET", "/groups")[1]["groups"]]
    return briefs, groups, asked.json("GET", "/missing")[1]


def compare(one, other, keys, what):
    for name, left, right in zip(("reports", "groups", "missing"), told(one, keys), told(other, keys)):
        check(left == right and left, "%s: %s are those of SQLite" % (what, name), left, right)
    check(one.settle()["done"] == len(keys), "%s: each is there once" % what, one.settle())


def away(cluster, servers):
    """While the database is away a server says so, and it is alive."""
    cluster.kill()
    time.sleep(1.1)  # tokens are remembered for a second
    for one in servers:
        status, said = one.json("POST", "/reports", b"a report that is not taken")
        check(status == 503 and said["error"] == "the database cannot be reached: try again later", "the database is away", status, said)
    cluster.start()


def run(cluster):
    bodies = variants(REPORTS)
    plainly = Server("sqlite", "--machsym", MACHSYM, "--workers=2")
    one = Server("one", "--machsym", MACHSYM, "--workers=2", "--database", cluster.url)
    os.mkdir(WORK + "/two")
    os.symlink(WORK + "/one/store", WORK + "/two/store")
    two = Server("two", "--machsym", MACHSYM, "--workers=2", "--database", cluster.url, token=one.token)
    try:
        loads = [Load(one, bodies), Load(two, bodies[::-1])]
        turns, meanwhile = iter(range(3)), []

        def fault():
            time.sleep(0.3)
            if next(turns, None) is not None:
                meanwhile.append(any(t.is_alive() for load in loads for t in load.threads))
                away(cluster, (one, two))

        for t in loads[1].threads:
            t.start()
        loads[0].run(fault)
        for t in loads[1].threads:
            t.join()
        while turns.__length_hint__():
            fault()
        check(any(meanwhile), "the database is killed while reports come")
        new = loads[0].new + loads[1].new
        check(not new or max(new.values()) == 1, "by two servers each is new once", new.most_common(3))
        for body in bodies:
            plainly.ask("POST", "/reports", body)
        keys = loads[0].ids
        for asked in (plainly, one, two):
            asked.settle(120)
        compare(two, plainly, keys, "after kills")
        for asked in (plainly, one):
            status, said = asked.json("POST", "/symbols?name=demo", read(DSYM))
            check(status == 200 and said["redone"] == REPORTS, "a dSYM that comes to one server", status, said)
        plainly.settle(120)
        two.settle(120)
        compare(two, plainly, keys, "with a dSYM")
        sender = subprocess.run([SERVER, "--data", two.data, "--database", cluster.url, "--new-token", "send"], capture_output=True, check=True)
        check(one.ask("POST", "/reports", bodies[0], token=sender.stdout.decode().strip())[0] == 200, "a token of one is one of the other")
        for asked in (one, two):
            check(asked.end() == 0, "SIGTERM ends it well")
            check(b"sekrit" not in read(asked.data + ".log"), "no log has the password")
        for wrong in (cluster.url.replace("/reports?", "/nothing?"), "mysql://x:sekrit@h/x"):
            done = subprocess.run([SERVER, "--data", two.data, "--database", wrong], capture_output=True, timeout=60)
            check(done.returncode == 1 and b"database" in done.stderr and b"sekrit" not in done.stderr, "no such database", done.stderr)
    finally:
        for asked in (plainly, one, two):
            if asked.process.poll() is None:
                asked.end(signal.SIGKILL)


def main():
    programs = server_cluster.programs()
    if not programs:
        print("skipped: PostgreSQL: it needs postgresql-15")
        return 1
    try:
        cluster = server_cluster.Cluster(programs)
    except PermissionError:
        print("skipped: PostgreSQL: root cannot become another user here, and PostgreSQL refuses root")
        return 1
    try:
        run(cluster)
    finally:
        cluster.end()
    return 0


if __name__ == "__main__":
    skipped = main()
    print("%d passed, %d failed, %d skipped" % (*server.counts, skipped))
    sys.exit(server.counts[1] != 0)
