"""Reports of real size, 12 to 26 KB, made from the fixtures: those that a server is loaded with. Each is of the demo program and has
frames of a second image with lines, and of images of the system. One in 20 is of a build whose dSYM never comes."""
import json
import random

FIXTURES = "tests/fixtures/"
DEMO = ("4C4C44B5-5555-3144-A1BA-79CA685DEC58", 0x102A30000, 0x940, 0xAF8)  # UUID, where it is loaded, where it has code
OTHER = ("4C4C4465-5555-3144-A185-EBD523938759", 0x102B30000, 0x620, 0x9AC)
DSYMS = {"demo": FIXTURES + "bin/demo.app.dSYM", "inline": FIXTURES + "bin/inline-arm64-d5-22.dSYM"}
UNKNOWN = 20
CALLS = ("mach_msg2_trap", "__psynch_cvwait", "__workq_kernreturn", "_pthread_wqthread", "start_wqthread", "__CFRunLoopRun",
         "CFRunLoopRunSpecific", "-[NSRunLoop(NSRunLoop) runMode:beforeDate:]", "_dispatch_call_block_and_release", "_dispatch_client_callout",
         "-[UIApplication sendEvent:]", "objc_msgSend", "_xpc_connection_call_event_handler")


def read(name):
    with open(FIXTURES + name, encoding="utf-8") as file:
        return file.read()


class Maker:
    """Of one seed always the same reports."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        head, body = read("apple/ios.ips").split("\n", 1)
        self.head, self.body = json.loads(head), json.loads(body)
        del self.body["lastExceptionBacktrace"]  # all would be in one group
        # The system's images are those of one version of it, as of most devices that a team hears of.
        self.system = [("System%02d" % i, "%08X-0000-3000-8000-%012X" % (i * 2654435761 % (1 << 32), i * 48271), 0x1A0000000 + (i << 24)) for i in range(90)]
        self.text = read("reports/demo.crash")

    def frames(self, images, count):
        """Triples of the number of an image, an offset in it, and what the device knew: a name and an offset, or None."""
        chance, made = self.chance, []
        for _ in range(count):
            where = chance.random()
            if where < 0.3:
                made.append((0, chance.randrange(DEMO[2], DEMO[3], 4), None))
            elif where < 0.4:
                made.append((1, chance.randrange(OTHER[2], OTHER[3], 4), None))
            else:
                offset = chance.randrange(0x1000, 0x400000, 4)
                made.append((chance.randrange(2, len(images)), offset, (chance.choice(CALLS), offset % 1000)))
        return made

    def next(self, number):
        chance = self.chance
        demo = DEMO[0] if number % UNKNOWN else DEMO[0][:-2] + "99"
        images = [("demo", demo, DEMO[1], "/private/var/containers/Bundle/Application/0C1D/Demo Player.app/demo"),
                  ("inline", OTHER[0], OTHER[1], "/private/var/containers/Bundle/Application/0C1D/Demo Player.app/Frameworks/inline")]
        images += [(n, u, b, "/System/Library/Frameworks/%s.framework/%s" % (n, n)) for n, u, b in
                   sorted(chance.sample(self.system, chance.randrange(25, 45)))]
        threads = [self.frames(images, chance.randrange(12, 26)) for _ in range(chance.randrange(5, 10))]
        threads[0][0] = (0, chance.randrange(DEMO[2], DEMO[3], 4), None)
        incident = "7A9B6C1E-%04X-4000-8000-%012X" % (chance.randrange(1 << 16), number)
        form = self.as_text if number % 4 == 3 else self.as_json
        return form(images, threads, incident).encode()

    def as_json(self, images, threads, incident):
        def frame(image, offset, known):
            name = {"symbol": known[0], "symbolLocation": known[1]} if known else {}
            return {"imageOffset": offset, **name, "imageIndex": image}

        head = {**self.head, "incident_id": incident}
        body = dict(self.body, incident=incident)
        first = dict(self.body["threads"][0])
        first["frames"] = [frame(*f) for f in threads[0]]
        body["threads"] = [first] + [{"id": 4712 + i, "queue": "org.example.work", "frames": [frame(*f) for f in t]} for i, t in enumerate(threads[1:])]
        body["usedImages"] = [{"source": "P", "arch": "arm64", "base": base, "size": 16384 if i < 2 else 1 << 23, "uuid": uuid.lower(), "path": path,
                               "name": name} for i, (name, uuid, base, path) in enumerate(images)]
        lines = ",\n".join('  "%s" : %s' % (k, json.dumps(v, separators=(",", ":"))) for k, v in body.items())
        return json.dumps(head, separators=(",", ":")) + "\n{\n" + lines + "\n}\n"

    def as_text(self, images, threads, incident):
        out = [self.text.split("Thread 0 name:")[0].replace("7A9B6C1E-0000-4000-8000-000000000001", incident)]
        for i, thread in enumerate(threads):
            out.append("Thread %d%s:\n" % (i, "" if i else " Crashed"))
            for n, (image, offset, known) in enumerate(thread):
                name, _, base, _ = images[image]
                call = "%s + %d" % known if known else "0x%x + %d" % (base, offset)
                out.append("%-3d %-30s\t0x%016x %s\n" % (n, name, base + offset, call))
            out.append("\n")
        out.append("Binary Images:\n")
        for name, uuid, base, path in images:
            size = 0x3FFF if base in (DEMO[1], OTHER[1]) else (1 << 23) - 1
            out.append("0x%x - 0x%x %s arm64  <%s> %s\n" % (base, base + size, name, uuid.replace("-", "").lower(), path))
        return "".join(out) + "\nEOF\n"


def reports(count, seed):
    """Makes `count` reports, one after another."""
    maker = Maker(seed)
    for number in range(count):
        yield maker.next(number)
