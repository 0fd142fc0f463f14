#!/usr/bin/python3
"""Takes uploaded archives of dSYMs, keeps what they have in the folder of symbols, puts it into Redis in chunks, and lets the reports go on
that waited for it. Makes chunks again that have expired. Usage: builder.py CONFIG NAME. All that it does may be done twice, or by two at once."""
import base64
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import TimeoutError as NotYet

import common
from common import BUILDS, FOREVER, GROUP, SHARDS, Unavailable, Worker, WorkerError, WorkerGone, key, log, stream

STALE = 30  # seconds after which what another builder has in hand is taken over, unless it says that it is at work; both may finish it
RENEW = 10  # seconds after which it says so again
TIMEOUT = 1800  # seconds that one archive may take
IDLE = 0.2
FLUSH = 500  # waiting reports that go on at a time: Redis does nothing else meanwhile
CHUNK = 10000  # bytes of text of a chunk: some kilobytes in Redis
FULL = ("No space left on device", "Disk quota exceeded")  # errors that go away by themselves, or with an operator
FULL_WAIT = 5  # seconds


class Builder:
    def __init__(self, config, name):
        self.config, self.name = config, name
        self.cluster = common.Cluster(config)
        self.flush_script = self.cluster.script_of("flush.lua")
        self.symbols, self.incoming, self.failed = (os.path.join(config["folder"], name) for name in ("symbols", "incoming", "failed"))
        for folder in (self.symbols, self.failed):
            os.makedirs(folder, exist_ok=True)
        self.prefix = common.chunk_prefix(config)
        self.counts = {"built": 0, "failed_builds": 0, "released": 0, "chunks": 0}
        self.stopping, self.begins = False, True

    # ---- One dSYM ----

    def add(self, archive):
        """Puts the images of an archive into the folder of symbols: their UUIDs, and what was wrong."""
        command = [self.config["machsym"], "store", "add", "--json", "-j", "1", self.symbols, os.path.join(self.incoming, archive)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False, env={**os.environ, "LC_ALL": "C"})
        except subprocess.TimeoutExpired:
            return [], "it takes more than %d s" % TIMEOUT
        return [json.loads(line)["uuid"] for line in done.stdout.splitlines()], done.stderr.strip() if done.returncode else None

    def spread(self, uuid):
        """Puts an image into Redis in chunks. The index of the chunks comes last: who finds it knows that all are there."""
        image = self.prefix + "image:" + uuid
        path = os.path.join(self.symbols, uuid[:2], uuid + ".symmap")
        with Worker(["--paths"], machsym=self.config["machsym"]) as tool:
            made, = tool.ask({"do": "build", "path": path, "as": "chunks", "chunk": CHUNK}, TIMEOUT)["maps"]
        values = {self.prefix + value["key"]: base64.b64decode(value["value"]) for value in made["values"]}
        self.cluster.put({name: value for name, value in values.items() if name != image}, common.KEEP_CHUNKS)
        self.cluster.put({image: values[image]}, common.KEEP_CHUNKS)
        self.cluster.confirmed(common.has_dsym(uuid), [("SET", common.has_dsym(uuid), self.name)], FOREVER)
        self.counts["chunks"] += len(values)

    def release(self, uuid):
        """Reports that wait for an image go on."""
        for tag in SHARDS:
            command = ("EVALSHA", self.flush_script, 4, stream(tag), key("built", tag, uuid), key("wait", tag, uuid), "wanted:{%s}" % tag,
                       FLUSH, uuid, common.BUILT)
            released = FLUSH
            while released == FLUSH:
                released, = self.cluster.confirmed(stream(tag), [command], FOREVER)
                self.counts["released"] += released

    # ---- Work ----

    def build(self, job):
        """Does a job: an archive in the folder, or "uuid:UUID", an image whose chunks are gone. Says what was wrong."""
        if job.startswith("uuid:"):
            uuids, why = [job[5:]], None
        elif os.path.exists(os.path.join(self.incoming, job)):
            uuids, why = self.add(job)
        else:
            return None  # another builder did it, or this one before it ended
        for uuid in uuids:
            try:
                self.spread(uuid)
            except NotYet:
                why = "%s: it takes more than %d s" % (uuid, TIMEOUT)
                continue
            except (WorkerError, WorkerGone) as error:
                why = "%s: %s" % (uuid, error)
                continue
            self.cluster.run(common.asked(uuid), [("DEL", common.asked(uuid))], FOREVER)
            self.release(uuid)
        log("built", job=job, uuids=uuids, why=why)
        return why

    def put_away(self, job, why):
        """An archive goes when its images are in the symbols; one that failed is kept, as it was accepted."""
        try:
            if why:
                os.rename(os.path.join(self.incoming, job), os.path.join(self.failed, job))
            else:
                os.unlink(os.path.join(self.incoming, job))
        except FileNotFoundError:
            pass

    def work(self, entry, job, deliveries):
        done = [("XACK", stream(BUILDS), GROUP, entry), ("XDEL", stream(BUILDS), entry)]
        why = "given out %d times, and each worker that had it ended" % (deliveries - 1)
        if deliveries <= common.DELIVERIES:
            why = self.build(job)
        if why and any(full in why for full in FULL):
            time.sleep(FULL_WAIT)
            done.insert(0, ("XADD", stream(BUILDS), "*", "id", job))
        elif why:
            self.counts["failed_builds"] += 1
            done.insert(0, ("XADD", "dead:{%s}" % BUILDS, "MAXLEN", "~", common.MAX_DEAD, "*", "id", job, "error", why[:1000]))
            self.put_away(job, why)
        else:
            self.counts["built"] += 1
            self.put_away(job, why)
        self.cluster.run(stream(BUILDS), done, FOREVER)

    def renew(self, entry, ended):
        """Says that a job is at work, without counting as giving it out. A builder that is stopped or lost says nothing."""
        while not ended.wait(RENEW):
            try:
                self.cluster.run(stream(BUILDS), [("XCLAIM", stream(BUILDS), GROUP, self.name, 0, entry, "JUSTID")], 0)
            except (Unavailable, common.redis.ResponseError) as error:
                log("unavailable", what="renew", why=str(error))

    def work_renewed(self, entry, job, deliveries):
        ended = threading.Event()
        renewing = threading.Thread(target=self.renew, args=(entry, ended), daemon=True)
        renewing.start()
        try:
            self.work(entry, job, deliveries)
        finally:
            ended.set()
            renewing.join()

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
                for entry, job, _ in entries:
                    deliveries = common.in_hand(self.cluster, BUILDS, entry, self.name)
                    if deliveries:
                        self.work_renewed(entry, job, deliveries)
                if time.monotonic() > next_stats:
                    next_stats = time.monotonic() + common.STATS / 3
                    common.tell(self.cluster, self.name, self.counts)
            except Unavailable as error:
                log("unavailable", why=str(error))
            except common.redis.ResponseError as error:
                if "NOGROUP" not in str(error):
                    raise
                common.make_group(self.cluster, BUILDS)
            if not entries:
                time.sleep(IDLE)
        log("stop", **self.counts)


if __name__ == "__main__":
    common.run(Builder(common.settings(), sys.argv[2]))
