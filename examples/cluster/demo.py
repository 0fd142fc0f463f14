"""./run --demo: the whole way of some hundred reports, in a folder that is gone afterwards."""
import json
import os
import random
import shutil
import signal
import tempfile
import time
import urllib.request

import sender
import service

COUNT = 600
# Versions with the days ago that their reports are of, and how often each function crashed in them.
VERSIONS = [("1.0", (13, 10), {"skip": 6, "play": 3, "block": 1}), ("1.1", (9, 5), {"skip": 6, "block": 1}),
            ("1.2", (4, 0), {"skip": 6, "play": 2, "block": 5, "shared": 2})]
OFFSETS = {"skip": [2796], "play": [2684], "block": [2556], "shared": [2624]}
STACK = '{"imageOffset":2796,"imageIndex":0},{"imageOffset":2684,"imageIndex":0},{"imageOffset":2556,"imageIndex":0}'


def history():
    """Reports of three versions of the demo program over two weeks; one in 30 is of an app without a dSYM."""
    chance = random.Random(7)
    with open(os.path.join(sender.FIXTURES, "reports/demo.ips"), encoding="utf-8") as file:
        template = file.read()
    for i in range(COUNT):
        version, (oldest, newest), functions = VERSIONS[min(2, 3 * i // COUNT)]
        day = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86400 * chance.randint(newest, oldest)))
        offset = chance.choice(OFFSETS[chance.choices(list(functions), functions.values())[0]])
        text = template.replace("2026-03-14", day).replace('"1.2"', '"%s"' % version).replace(
            STACK, '{"imageOffset":%d,"imageIndex":0}' % offset).replace("000000000001", "%012X" % i)
        if i % 30 == 0:
            for uuid in sender.UUID:
                text = text.replace(uuid, uuid[:-2] + "99")
            text = text.replace('"demo"', '"other"')
        yield text.encode()


def show(s, what):
    known = json.load(urllib.request.urlopen(s.url + "/groups"))
    print("\n%s: %d reports in %d groups" % (what, known["reports"], len(known["groups"])))
    for group in known["groups"][:8]:
        print("  %5d  %-9s  %s" % (group["count"], group["mark"] or "", group["title"]))
    for uuid, name, count in known["wanted"][:3]:
        print("  no dSYM of %s %s: %d reports wait" % (name, uuid, count))


def finished(s):
    """How many reports have a result, when none waits in a stream."""
    time.sleep(1)
    return json.load(urllib.request.urlopen(s.url + "/groups"))["reports"]


def run(machsym):
    begin, folder = time.monotonic(), tempfile.mkdtemp(prefix="crash-demo-")

    def say(text):
        print("%5.1f s  %s" % (time.monotonic() - begin, text), flush=True)

    try:
        say("starting six nodes of Redis, ingest, a builder and two symbolicators")
        with service.Service(folder, machsym) as s:
            to = sender.Sender(s.url, s.config["token"])
            lost = s.primary()

            def lose(sent):
                if sent == COUNT // 2:
                    say("%d reports are accepted; kill -9 of the primary %s: its shards take no reports until a replica confirms again" % (
                        sent, lost))
                    s.kill(lost, signal.SIGKILL)

            say("sending %d reports to %s" % (COUNT, s.url))
            to.send_all(list(history()), lose)
            say("%d reports are accepted, %d times the sender had to repeat" % (len(to.accepted), to.refused))
            s.wait_for(lambda: finished(s) == COUNT, "all results", 300)
            show(s, "before the dSYM came")
            say("uploading the dSYM")
            to.send("/dsyms", sender.dsym())
            s.wait_for(lambda: named(s), "names", 300)
            show(s, "with the dSYM")
            say("%s is the %s now" % (lost, "replica" if s.role(int(lost[5:])) == "slave" else "primary"))
        say("done: no report was lost, none was counted twice")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def named(s):
    """Whether the reports that waited for the dSYM were done again, and all are in their groups."""
    groups = json.load(urllib.request.urlopen(s.url + "/groups"))["groups"]
    return sum(group["count"] for group in groups) == COUNT and not any("demo + 0x" in group["title"] for group in groups)
