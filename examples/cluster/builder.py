#!/usr/bin/python3
"""Takes uploaded archives of dSYMs, puts what they have into the symbols, and lets the reports go on that waited for it.
Usage: builder.py CONFIG NAME. All that it does may be done twice, or by two at once."""
import json
import os
import signal
import subprocess
import sys
import time

import common
from common import BUILDS, GROUP, SHARDS, Unavailable, key, log, stream

STALE = 30  # seconds after which what another builder has in hand is taken over; both may finish it
TIMEOUT = 1800  # seconds that one archive may take
IDLE = 0.2
FULL = ("No space left on device", "Disk quota exceeded")  # errors that go away by themselves, or with an operator
FULL_WAIT = 5  # seconds
FLUSH = 500  # waiting reports that go on at a time: Redis does nothing else meanwhile


class Builder:
    def __init__(self, config, name):
        self.config, self.name = config, name
        self.cluster = common.Cluster(config)
        with open(__file__.replace("builder.py", "flush.lua"), encoding="utf-8") as file:
            self.flush_script = self.cluster.script(file.read())
        self.symbols = os.path.join(config["folder"], "symbols")
        self.incoming = os.path.join(config["folder"], "incoming")
        self.failed = os.path.join(config["folder"], "failed")
        os.makedirs(self.symbols, exist_ok=True)
        os.makedirs(self.failed, exist_ok=True)
        self.counts = {"built": 0, "failed_builds": 0, "released": 0}
        self.stopping, self.begins = False, True

    def build(self, archive):
        """UUIDs of the images of an archive, which are in the symbols now; and what was wrong."""
        command = [self.config["machsym"], "store", "add", "--json", "-j", "1", self.symbols, os.path.join(self.incoming, archive)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False,
                              env={**os.environ, "LC_ALL": "C"})
        return [json.loads(line)["uuid"] for line in done.stdout.splitlines()], done.stderr.strip() if done.returncode else None

    def release(self, uuid):
        """Reports that wait for an image go on."""
        for tag in SHARDS:
            command = ("EVALSHA", self.flush_script, 4, stream(tag), key("built", tag, uuid), key("wait", tag, uuid), "wanted:{%s}" % tag,
                       FLUSH, uuid, common.BUILT)
            released = FLUSH
            while released == FLUSH:
                released, = self.cluster.run(stream(tag), [command], common.KEEP)
                self.counts["released"] += released

    def work(self, entry, archive, deliveries):
        done = [("XACK", stream(BUILDS), GROUP, entry), ("XDEL", stream(BUILDS), entry)]
        why = "given out %d times, and whoever had it ended" % (deliveries - 1)
        path = os.path.join(self.incoming, archive)
        if not os.path.exists(path):
            why = None  # it was done by another builder, or by this one before it ended
        elif deliveries <= common.DELIVERIES:
            uuids, why = self.build(archive)
            for uuid in uuids:
                self.release(uuid)
            log("built", archive=archive, uuids=uuids, why=why)
            if why and any(full in why for full in FULL):
                time.sleep(FULL_WAIT)
                return self.cluster.run(stream(BUILDS), [("XADD", stream(BUILDS), "*", "id", archive)] + done, common.KEEP)
        if why:
            self.counts["failed_builds"] += 1
            done.insert(0, ("XADD", "dead:{%s}" % BUILDS, "MAXLEN", "~", common.MAX_DEAD, "*", "id", archive, "error", why[:1000]))
        self.counts["built"] += 1
        try:
            if why:
                os.rename(path, os.path.join(self.failed, archive))
            else:
                os.unlink(path)
        except FileNotFoundError:
            pass  # another builder had it too
        return self.cluster.run(stream(BUILDS), done, common.KEEP)

    def take(self):
        """Entries: what this program had in hand when it ended; then what another one left, and a new one."""
        name = stream(BUILDS)
        if self.begins:
            mine, = self.cluster.run(name, [("XREADGROUP", "GROUP", GROUP, self.name, "COUNT", 1, "STREAMS", name, "0")], 0)
            found = common.parse(mine[0][1])
            self.begins = bool(found)
            return found
        claimed, new = self.cluster.run(name, [("XAUTOCLAIM", name, GROUP, self.name, STALE * 1000, "0-0", "COUNT", 1),
                                               ("XREADGROUP", "GROUP", GROUP, self.name, "COUNT", 1, "STREAMS", name, ">")], 0)
        return common.parse(claimed[1]) + (common.parse(new[0][1]) if new else [])

    def run(self):
        log("start", name=self.name)
        next_stats = 0.0
        while not self.stopping:
            entries = []
            try:
                entries = self.take()
                for entry, archive, _ in entries:
                    (_, _, _, deliveries), = self.cluster.run(stream(BUILDS), [("XPENDING", stream(BUILDS), GROUP, entry, entry, 1)])[0]
                    self.work(entry, archive, deliveries)
                if time.monotonic() > next_stats:
                    next_stats = time.monotonic() + common.STATS / 3
                    common.tell(self.cluster, self.name, self.counts)
            except Unavailable as error:
                log("unavailable", why=str(error))
            except subprocess.TimeoutExpired:
                log("too_long", entries=len(entries))
            except common.redis.ResponseError as error:
                if "NOGROUP" not in str(error):
                    raise
                common.make_group(self.cluster, BUILDS)
            if not entries:
                time.sleep(IDLE)
        log("stop", **self.counts)


def main():
    builder = Builder(common.settings(), sys.argv[2])

    def stop(*_):
        builder.stopping = True

    signal.signal(signal.SIGTERM, stop)
    builder.run()


if __name__ == "__main__":
    main()
