#!/usr/bin/python3
"""Takes reports out of the streams, lets machsym worker symbolicate them, and keeps the results. Usage: symbolicator.py CONFIG NAME.
May be killed at any moment: what it had in hand is given out again, and finish.lua makes twice the same as once."""
import base64
import hashlib
import json
import re
import sys
import time
import zlib

import common
from common import BUILDS, Unavailable, Worker, WorkerError, WorkerGone, key, log, stream

BATCH = 32  # reports of a shard at a time
IDLE = 0.05  # seconds between two looks at empty streams
STALE = 30  # seconds after which what another one has in hand is taken over; the tool's --limit is less
NEED = 5  # seconds that a chunk may take
ASKED = 60  # seconds after which the builders are asked again to make an image's chunks, if they have not
MISSING = 2.0  # seconds for which the tool remembers that there were no symbols, and one that Redis' clock is cut off
LIMIT = 20  # seconds of lookups of one report
CLAIM = 2  # seconds between two looks at what others left
SYSTEM = ("/usr/lib/", "/System/", "/Library/Apple/")  # images that no dSYM is uploaded for
BOUNDS = json.dumps({"groups": common.MAX_GROUPS, "parts": common.MAX_PARTS, "waiting": common.MAX_WAITING,
                     "recent": common.MAX_RECENT, "dead": common.MAX_DEAD, "deliveries": common.DELIVERIES})


class Symbolicator:
    def __init__(self, config, name):
        self.config, self.name = config, name
        self.cluster = common.Cluster(config)
        with open(__file__.replace("symbolicator.py", "finish.lua"), encoding="utf-8") as file:
            self.finish = self.cluster.script(file.read())
        with open(__file__.replace("symbolicator.py", "ask.lua"), encoding="utf-8") as file:
            self.ask_builders = self.cluster.script(file.read())
        self.prefix = common.chunk_prefix(config)
        self.tool = None
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
        return value

    def request(self, report):
        return self.tool.request({"do": "crash", "base64": base64.b64encode(report).decode(), "want": ["json", "signature", "summary"]})

    def ask(self, reports):
        """The tool's answer to each report."""
        if self.tool is None:
            self.tool = Worker(["--no-cache", "--limit=%d" % LIMIT], self.need, self.config["machsym"], BATCH)
        try:
            futures = [self.request(report) for report in reports]
            return [self.answer(future, report) for future, report in zip(futures, reports)]
        except WorkerGone:
            self.counts["deaths"] += 1
            self.tool.kill()
            self.tool = None
            raise

    def answer(self, future, report):
        """An answer; one that needed what could not be had is asked for again, until Redis can be reached, or the chunks are no longer listed."""
        while True:
            try:
                return future.result()
            except WorkerError as error:
                if error.kind != "need":
                    return error.answer
                log("need", why=error.what)
            time.sleep(common.RETRY)
            self.tool.ask({"do": "reload"})
            future = self.request(report)

    def answers(self, reports):
        """The tool's answer to each report. A report that ends the tool is found by asking one at a time, and has an error in the end."""
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
            except WorkerGone as gone:
                why = str(gone)
        return {"error": {"kind": "poison", "what": why}}

    # ---- What a result is ----

    def kept(self, answer, arrived):
        """What the result says in short, for groups, pages and those who wait; and all of it, packed."""
        state = {"groups": [], "missing": [], "arrived": arrived, "at": int(time.time() * 1000)}
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
        state["groups"], state["missing"] = list(groups.values()), list(missing.values())
        state["symbols"] = {image["uuid"]: self.versions.get(image["uuid"]) for report in answer["reports"] for image in report["json"]["images"]
                            if image["status"] == "found"}
        return state, json.dumps({"reports": answer["reports"]})

    # ---- Work ----

    def done_before(self, tag, entries):
        """Of entries (entry, id, attempt) those that have no whole result yet, with their reports. A report that is not there any more has
        expired while it waited for a dSYM, or was not accepted."""
        commands = [command for _, report, _ in entries for command in
                    (("GET", key("raw", tag, report)), ("HGET", key("result", tag, report), "missing"))]
        answers = self.cluster.run(stream(tag), commands + [("TIME",)], common.FOREVER)
        work, finished = [], []
        for i, (entry, report, attempt) in enumerate(entries):
            raw, missing = answers[2 * i], answers[2 * i + 1]
            if missing == b"0" or raw is None:
                finished.append(entry)
            else:
                work.append((entry, report, attempt, raw))
        if finished:
            self.cluster.run(stream(tag), [("XACK", stream(tag), common.GROUP, *finished), ("XDEL", stream(tag), *finished)], common.FOREVER)
        again = [int(entry.split(b"-")[0]) for entry, _, attempt, _ in work if attempt]
        if again:  # the tool may remember that there were no symbols
            time.sleep(max(0.0, min(MISSING, max(again) / 1000 + MISSING - int(answers[-1][0]))))
        return work

    def work(self, tag, entries):
        todo = self.done_before(tag, entries)
        raws = [zlib.decompress(raw) for _, _, _, raw in todo]
        commands = []
        for (entry, report, attempt, _), answer in zip(todo, self.answers(raws) if raws else []):
            state, result = self.kept(answer, int(entry.split(b"-")[0]))
            self.counts["finished"] += 1
            self.counts["again"] += attempt > 0
            self.counts["errors"] += "error" in state
            commands.append(("EVALSHA", self.finish, 2, stream(tag), key("result", tag, report), tag, report, entry, attempt, common.KEEP,
                             BOUNDS, json.dumps(state), zlib.compress(result.encode(), 1)))
        if commands:
            self.cluster.run(stream(tag), commands, common.FOREVER)

    def poison(self, tag, entry, report):
        """Work that was given out too often has an error for its result."""
        state = {"groups": [], "missing": [], "arrived": int(entry.split(b"-")[0]), "at": int(time.time() * 1000),
                 "error": "poison: given out %d times, and whoever had it ended" % common.DELIVERIES}
        log("poison", report=report)
        self.cluster.run(stream(tag), [("EVALSHA", self.finish, 2, stream(tag), key("result", tag, report), tag, report, entry,
                                        common.DELIVERIES, common.KEEP, BOUNDS, json.dumps(state),
                                        zlib.compress(json.dumps({"error": state["error"]}).encode()))])

    # ---- Streams ----

    def take(self, tag, start):
        """New entries of a shard (">"), or one that this program had in hand when it ended ("0")."""
        command = ("XREADGROUP", "GROUP", common.GROUP, self.name, "COUNT", BATCH if start == ">" else 1, "STREAMS", stream(tag), start)
        try:
            answer, = self.cluster.run(stream(tag), [command], 0)
        except common.redis.ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
            common.make_group(self.cluster, tag)
            return []
        return common.parse(answer[0][1]) if answer else []

    def alone(self, tag, entries):
        """Does again what was in hand when somebody ended: one at a time, as it may be what they ended of."""
        (entry, report, _), = entries
        self.counts["claimed"] += 1
        deliveries = common.in_hand(self.cluster, tag, entry, self.name)
        if deliveries > common.DELIVERIES:
            self.poison(tag, entry, report)
        elif deliveries:
            self.work(tag, entries)

    def claim(self, tag):
        """What others had in hand for too long."""
        while not self.stopping:
            answer, = self.cluster.run(stream(tag), [("XAUTOCLAIM", stream(tag), common.GROUP, self.name, STALE * 1000, "0-0", "COUNT", 1)], 0)
            entries = common.parse(answer[1])
            if not entries:
                return
            self.alone(tag, entries)

    def mine(self, tag):
        """What this program had in hand when it ended."""
        for entries in iter(lambda: self.take(tag, "0"), []):
            self.alone(tag, entries)

    def run(self):
        log("start", name=self.name)
        first, next_claim, next_stats = set(common.SHARDS), 0.0, 0.0
        while not self.stopping:
            found, claims = 0, time.monotonic() > next_claim
            for tag in common.SHARDS:
                try:
                    if tag in first:
                        self.mine(tag)
                        first.discard(tag)
                    entries = self.take(tag, ">")
                    if entries:
                        self.work(tag, entries)
                    if claims:  # also while new ones keep coming
                        self.claim(tag)
                    found += len(entries)
                except Unavailable as error:
                    log("unavailable", shard=tag, why=str(error))
            if claims:
                next_claim = time.monotonic() + CLAIM
            if time.monotonic() > next_stats:
                next_stats = time.monotonic() + common.STATS / 3
                common.tell(self.cluster, self.name, self.counts)
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
