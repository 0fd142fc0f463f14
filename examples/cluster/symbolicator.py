#!/usr/bin/python3
"""Takes reports out of the streams, lets machsym worker symbolicate them, and keeps the results. Usage: symbolicator.py CONFIG NAME.
May be killed at any moment: what it had in hand is given out again, and finish.lua makes twice the same as once."""
import base64
import hashlib
import itertools
import json
import re
import sys
import time
import zlib
from concurrent.futures import TimeoutError as NotYet

import common
from common import BUILDS, SHARDS, Unavailable, Worker, WorkerError, WorkerGone, key, log, stream

BATCH = 16  # reports of a shard at a time, which finish.lua keeps as a whole; of all shards of a node
IDLE = 0.05  # seconds between two looks at empty streams
STALE = 30  # seconds after which what another one has in hand is taken over; the tool's --limit is less
NEED = 5  # seconds that a chunk may take
ASKED = 60  # seconds after which the builders are asked again to make an image's chunks, if they have not
MISSING = 2.0  # seconds for which the tool remembers that there were no symbols, and one that Redis' clock is cut off
LIMIT = 20  # seconds of lookups of one report
SILENT = 25  # seconds after which a tool hangs that neither answers nor asks for a chunk: more than LIMIT, less than STALE
CLAIM = 2  # seconds between two looks at what others left
SWEEP = 20  # groups and missing dSYMs of a shard that are looked at for what is too old, every some seconds
SYSTEM = ("/usr/lib/", "/System/", "/Library/Apple/")  # images that no dSYM is uploaded for
BOUNDS = json.dumps({"groups": common.MAX_GROUPS, "parts": common.MAX_PARTS, "waiting": common.MAX_WAITING,
                     "recent": common.MAX_RECENT, "dead": common.MAX_DEAD, "deliveries": common.DELIVERIES})


class Hung(WorkerGone):
    """The tool hangs."""


class Symbolicator:
    def __init__(self, config, name):
        self.config, self.name = config, name
        self.cluster = common.Cluster(config)
        self.finish, self.ask_builders, self.sweeping = (self.cluster.script_of(name) for name in ("finish.lua", "ask.lua", "sweep.lua"))
        self.prefix = common.chunk_prefix(config)
        self.tool = None
        self.heard = 0.0  # when the tool last answered, or asked for a chunk
        self.given = set()  # the names of chunks, and of indexes, that the tool got
        self.versions = {}  # UUID: what tells the chunks of an image from those of another build of its map
        self.counts = {"finished": 0, "errors": 0, "again": 0, "claimed": 0, "deaths": 0, "needs": 0}
        self.stopping = False

    # ---- The tool ----

    def need(self, name):
        """A chunk, or the index of an image's chunks, for the tool. What expired is made again, if there was a dSYM; until then the report
        waits as one of a dSYM that did not come yet."""
        value, = self.cluster.run(self.prefix + name, [("GETEX", self.prefix + name, "EX", common.KEEP_CHUNKS)], NEED)
        uuid = name.split(":")[1 if name.startswith("image:") else 2]
        if value is None and self.cluster.run(common.has_dsym(uuid), [("EXISTS", common.has_dsym(uuid))], NEED)[0]:
            image, asked = self.prefix + "image:" + uuid, common.asked(uuid)
            if self.cluster.run(asked, [("EVALSHA", self.ask_builders, 2, stream(BUILDS), asked, "uuid:" + uuid, ASKED)], NEED)[0]:
                self.cluster.run(image, [("DEL", image)], NEED)
                log("chunks_gone", key=name)
        elif name.startswith("image:") and value is not None:
            self.versions[uuid] = hashlib.sha256(value).hexdigest()[:16]
        self.counts["needs"] += 1
        if value is not None:
            self.given.add(name)
        self.heard = time.monotonic()
        return value

    def drop_damaged(self, what):
        """Whether the tool cannot use what it got: then that is taken out of Redis, so that the builders make it again. The tool names it."""
        damaged = [name for name in list(self.given) if ":".join(name.split(":")[-2:]) + ": " in what]
        for name in damaged:
            self.given.discard(name)
            self.cluster.run(self.prefix + name, [("DEL", self.prefix + name)], common.FOREVER)
            log("chunk_damaged", key=name, why=what)
        return bool(damaged)

    def request(self, report):
        return self.tool.request({"do": "crash", "base64": base64.b64encode(report).decode(), "want": ["json", "signature", "summary"]})

    def result(self, future):
        """What the tool answers. A tool that says nothing for too long hangs."""
        self.heard = time.monotonic()
        while True:
            try:
                return future.result(min(1, SILENT))
            except NotYet:
                if time.monotonic() - self.heard > SILENT:
                    raise Hung("the tool said nothing for %d seconds" % SILENT) from None

    def ask(self, reports):
        """The tool's answer to each report."""
        if self.tool is None:
            self.tool = Worker(["--no-cache", "--limit=%d" % LIMIT], self.need, self.config["machsym"], BATCH * len(SHARDS))
        try:
            futures = [self.request(report) for report in reports]
            return [self.answer(future, report) for future, report in zip(futures, reports)]
        except WorkerGone:
            self.counts["deaths"] += 1
            self.tool.kill()
            self.tool = None
            raise

    def answer(self, future, report):
        """An answer; one that needed what could not be had is asked for again, until Redis can be reached, or the chunks are no longer listed.
        What is damaged again and again is an error."""
        damaged = 0
        while True:
            try:
                return self.result(future)
            except WorkerError as error:
                damaged += error.kind == "need" and self.drop_damaged(error.what)
                if error.kind != "need" or damaged > common.DELIVERIES:
                    return error.answer
                log("need", why=error.what)
            time.sleep(common.RETRY)
            self.result(self.tool.request({"do": "reload"}))
            future = self.request(report)

    def answers(self, reports):
        """The tool's answer to each report. A report that ends or hangs the tool is found by asking one at a time, and has an error."""
        try:
            return self.ask(reports)
        except WorkerGone as gone:
            log("tool_ended", why=str(gone), reports=len(reports))
        return [self.answer_alone(report) for report in reports]

    def answer_alone(self, report):
        why = ""
        for _ in range(common.DELIVERIES):
            try:
                return self.ask([report])[0]
            except Hung as hung:  # once more would take as long
                why = str(hung)
                break
            except WorkerGone as gone:
                why = str(gone)
        return {"error": {"kind": "poison", "what": why}}

    # ---- What a result is ----

    def kept(self, answer, arrived):
        """What the result says in short, for groups, pages and those who wait; and all of it, packed."""
        state = {"groups": [], "missing": [], "lacks": 0, "arrived": arrived, "at": int(time.time() * 1000)}
        if "error" in answer:
            state["error"] = "%s: %s" % (answer["error"]["kind"], answer["error"]["what"])
            return state, json.dumps({"error": state["error"]})
        groups, missing = {}, {}
        for report in answer["reports"]:
            about = report["json"]
            part = [day_of(about.get("date"), arrived), re.sub(r" \[\d+\]$", "", about.get("process") or "?"), about.get("version") or "?"]
            groups.setdefault(report["hash"], [report["hash"], "\t".join(clean(p) for p in part), clean(report["signature"])])
            for image in about["images"]:
                if image["missing"] and image["uuid"] and image["status"] != "found" and not (image["path"] or "").startswith(SYSTEM):
                    missing[image["uuid"]] = [image["uuid"], clean(image["name"])]
        state["groups"], state["missing"] = list(groups.values())[:common.MAX_OF_REPORT], list(missing.values())[:common.MAX_OF_REPORT]
        state["lacks"] = len(missing)
        state["symbols"] = {image["uuid"]: self.versions.get(image["uuid"]) for report in answer["reports"] for image in report["json"]["images"]
                            if image["status"] == "found"}
        return state, json.dumps({"reports": answer["reports"]})

    # ---- Work ----

    def done_before(self, found):
        """Of entries (shard, entry, id, attempt) those that have no whole result yet, with their reports. A report that is not there any
        more has expired while it waited for a dSYM, or was not accepted."""
        answers = self.cluster.run_all([(stream(tag), [("GET", key("raw", tag, report)), ("HGET", key("result", tag, report), "missing"),
                                                       *([("TIME",)] if attempt else [])]) for tag, _, report, attempt in found], common.FOREVER)
        work, finished, wait = [], [], 0.0
        for (tag, entry, report, attempt), (raw, missing, *now) in zip(found, answers):
            if missing == b"0" or raw is None:
                finished.append((stream(tag), [("XACK", stream(tag), common.GROUP, entry), ("XDEL", stream(tag), entry)]))
                continue
            work.append((tag, entry, report, attempt, raw))
            if attempt:  # the tool may remember that there were no symbols
                wait = max(wait, int(entry.split(b"-")[0]) / 1000 + MISSING - int(now[0][0]))
        self.cluster.run_all(finished, common.FOREVER)
        time.sleep(min(MISSING, wait))
        return work

    def work(self, found):
        todo, results = self.done_before(found), {}
        answers = self.answers([zlib.decompress(raw) for *_, raw in todo]) if todo else []
        for (tag, entry, report, attempt, _), answer in zip(todo, answers):
            state, result = self.kept(answer, int(entry.split(b"-")[0]))
            self.counts["finished"] += 1
            self.counts["again"] += attempt > 0
            self.counts["errors"] += "error" in state
            results.setdefault(tag, []).append((report, entry, attempt, json.dumps(state), zlib.compress(result.encode(), 1)))
        self.cluster.run_all([(stream(tag), [self.finished(tag, some)]) for tag, some in results.items()], common.FOREVER)

    def finished(self, tag, results):
        """The command that keeps results (id, entry, attempt, state, what is kept) of a shard."""
        keys = [stream(tag), *(key("result", tag, result[0]) for result in results)]
        return ("EVALSHA", self.finish, len(keys), *keys, tag, common.KEEP, BOUNDS, *itertools.chain.from_iterable(results))

    def poison(self, tag, entry, report):
        """Work that was given out too often has an error for its result."""
        log("poison", report=report)
        why = {"kind": "poison", "what": "given out %d times, and each worker that had it ended" % common.DELIVERIES}
        state, result = self.kept({"error": why}, int(entry.split(b"-")[0]))
        self.cluster.run(stream(tag), [self.finished(tag, [(report, entry, common.DELIVERIES, json.dumps(state), zlib.compress(result.encode()))])])

    # ---- Streams ----

    def read(self, tags, count, start):
        """Entries (shard, entry, id, attempt) of shards: new ones (">"), or what this program had in hand when it ended ("0")."""
        jobs = [(stream(tag), [("XREADGROUP", "GROUP", common.GROUP, self.name, "COUNT", count, "STREAMS", stream(tag), start)]) for tag in tags]
        try:
            answers = self.cluster.run_all(jobs, 0)
        except common.redis.ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            for tag in tags:
                common.make_group(self.cluster, tag)
            return []
        return [(tag, *entry) for tag, (answer,) in zip(tags, answers) for entry in (common.parse(answer[0][1]) if answer else [])]

    def alone(self, tag, entry, report, attempt):
        """Does again what was in hand when somebody ended: one at a time, as it may be what they ended of."""
        self.counts["claimed"] += 1
        deliveries = common.in_hand(self.cluster, tag, entry, self.name)
        if deliveries > common.DELIVERIES:
            self.poison(tag, entry, report)
        elif deliveries:
            self.work([(tag, entry, report, attempt)])

    def claim(self, tag):
        """What others had in hand for too long."""
        while not self.stopping:
            answer, = self.cluster.run(stream(tag), [("XAUTOCLAIM", stream(tag), common.GROUP, self.name, STALE * 1000, "0-0", "COUNT", 1)], 0)
            entries = common.parse(answer[1])
            if not entries:
                return
            self.alone(tag, *entries[0])

    def mine(self, tag):
        """What this program had in hand when it ended."""
        for entries in iter(lambda: self.read([tag], 1, "0"), []):
            self.alone(*entries[0])

    def sweep(self):
        """Forgets what is older than it is kept."""
        oldest = time.time() - common.KEEP
        day = time.strftime("%Y-%m-%d", time.gmtime(oldest))
        jobs = [(stream(tag), [("EVALSHA", self.sweeping, 3, "groups:{%s}" % tag, "wanted:{%s}" % tag, "swept:{%s}" % tag, tag, SWEEP, day,
                                int(oldest))]) for tag in SHARDS]
        try:
            self.cluster.run_all(jobs, 0)
        except Unavailable as error:
            log("unavailable", what="sweep", why=str(error))

    def round(self, tags, first, claims):
        """Does what there is of shards that one node has. Returns how many new reports."""
        for tag in first.intersection(tags):
            self.mine(tag)
            first.discard(tag)
        found = self.read(tags, BATCH, ">")
        if found:
            self.work(found)
        for tag in tags if claims else []:  # also while new ones keep coming
            self.claim(tag)
        return len(found)

    def run(self):
        log("start", name=self.name)
        first, next_claim, next_stats = set(SHARDS), 0.0, 0.0
        while not self.stopping:
            found, claims, nodes = 0, time.monotonic() > next_claim, []
            try:
                nodes = self.cluster.by_node([stream(tag) for tag in SHARDS]).values()
            except Unavailable as error:
                log("unavailable", why=str(error))
            for places in nodes:
                tags = [SHARDS[place] for place in places]
                try:
                    found += self.round(tags, first, claims)
                except Unavailable as error:
                    log("unavailable", shards=tags, why=str(error))
            if claims:
                next_claim = time.monotonic() + CLAIM
            if time.monotonic() > next_stats:
                next_stats = time.monotonic() + common.STATS / 3
                common.tell(self.cluster, self.name, self.counts)
                self.sweep()
            if not found:
                time.sleep(IDLE)
        log("stop", **self.counts)


def clean(text):
    """A text that fits a key and a line."""
    return re.sub(r"[\x00-\x1f\x7f]", " ", text)[:300]


def day_of(date, arrived):
    """The day that a report names, unless it is of the future or long past: then when it arrived."""
    today = time.strftime("%Y-%m-%d", time.gmtime(arrived / 1000))
    oldest = time.strftime("%Y-%m-%d", time.gmtime(arrived / 1000 - common.KEEP))
    day = date[:10] if date and re.match(r"\d{4}-\d\d-\d\d", date) else today
    return day if oldest <= day <= today else today


if __name__ == "__main__":
    common.run(Symbolicator(common.settings(), sys.argv[2]))
