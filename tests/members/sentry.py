"""Sentry's events, by develop.sentry.dev: event payloads, contexts, the interfaces of exceptions, threads, stack traces and debug meta. They are
read as the app sends them and, under the names of the service's API, as it hands them out."""
import datetime
from layout import ABSENT, FLAGS, NUMBERS, TEXTS, UUID, UUIDS, member, number, pair, system, text, thrown, uuid_of

FILE, LOADED = "/apps/Demo.app/demo", 0x102a30000


def frame(address, **more):
    return {"instruction_addr": hex(address), "package": FILE, "image_addr": hex(LOADED), "in_app": True, "function": "<redacted>", **more}


MAIN = [frame(LOADED + 0x9fc), frame(LOADED + 0xa7c), frame(LOADED + 0xaec)]
BASE = {
    "event_id": "7a9b6c1e000040008000000000000001", "timestamp": 1773476813.589, "platform": "cocoa", "release": "org.example.released@3.4+56",
    "contexts": {"app": {"app_name": "demo", "app_identifier": "org.example.demo", "app_version": "1.2", "app_build": "34"},
                 "os": {"name": "iOS", "version": "17.4", "build": "21E219"}, "device": {"model": "iPhone14,5", "arch": "arm64"}},
    "debug_meta": {"images": [
        {"type": "macho", "code_file": FILE, "debug_id": UUID.lower(), "image_addr": hex(LOADED), "image_size": 16384, "arch": "arm64"},
        {"type": "macho", "code_file": "/usr/lib/libother.dylib", "debug_id": "0fbb2a6d-6c0a-3b54-b3a5-0d1ac2c2f5c1",
         "image_addr": "0x1a0000000", "image_size": 4096, "arch": "arm64e"}]},
    "exception": {"values": [
        {"type": "NSRangeException", "value": "what it came from", "thread_id": 3},
        {"type": "EXC_BAD_ACCESS", "value": "KERN_INVALID_ADDRESS at 0x8.", "thread_id": 7,
         "mechanism": {"type": "mach", "handled": False, "meta": {
             "signal": {"number": 11, "code": 0, "name": "SIGSEGV"},
             "mach_exception": {"exception": 1, "code": 1, "subcode": 8, "name": "EXC_BAD_ACCESS"}}},
         "stacktrace": {"frames": MAIN, "registers": {"pc": hex(LOADED + 0xaec), "x0": "0x8"}}}]},
    "threads": {"values": [
        {"id": 7, "crashed": True, "current": True, "name": "main", "stacktrace": None},
        {"id": 3, "crashed": False, "name": "worker",
         "stacktrace": {"frames": [frame(LOADED + 0x9fc, filename="dir/Worker.m", lineno=12), frame(0x1a0000400, package="/usr/lib/libother.dylib", image_addr="0x1a0000000")]}}]},
}
OWN_NAMES = {name: name for name in ("thread_id", "instruction_addr", "symbol_addr", "in_app", "lineno", "colno", "abs_path")}
API_NAMES = {"thread_id": "threadId", "instruction_addr": "instructionAddr", "symbol_addr": "symbolAddr", "in_app": "inApp", "lineno": "lineNo",
             "colno": "colNo", "abs_path": "absPath"}


def renamed(value, names):
    if isinstance(value, list):
        return [renamed(v, names) for v in value]
    return {names.get(k, k): renamed(v, names) for k, v in value.items()} if isinstance(value, dict) else value


API = {key: BASE[key] for key in ("platform", "release", "contexts")} | {
    "eventID": BASE["event_id"], "dateCreated": "2026-03-14T08:26:53Z",
    "entries": [{"type": "message", "data": {}}, {"type": "exception", "data": renamed(BASE["exception"], API_NAMES)},
                {"type": "threads", "data": renamed(BASE["threads"], API_NAMES)}, {"type": "debugmeta", "data": BASE["debug_meta"]}]}


def varied(images, exceptions, threads, first, time, names):
    """What is varied, where these lists stand; FIRST and TIME are the events' number and time, NAMES what members are called."""
    error, meta = exceptions + (1,), exceptions + (1, "mechanism", "meta")
    of_main, of_worker = error + ("stacktrace",), threads + (1, "stacktrace")
    return [
        ((first,), TEXTS), ((time,), TEXTS + (0, 1, 951782400, 1709164800.5, 4102444799, "2026-03-14T08:26:53.5Z")),
        (("release",), TEXTS + ("a@", "@1", "a@1", "a@1+", "a+1", "a@1+2+3", "a@1@2", "a+b@1")),
        (("contexts",), (ABSENT, None, [], "x")),
        *((("contexts", part), (ABSENT, None, [], "x")) for part in ("app", "os", "device")),
        *((("contexts", "app", key), TEXTS) for key in BASE["contexts"]["app"]),
        *((("contexts", "os", key), TEXTS) for key in BASE["contexts"]["os"]),
        (("contexts", "device", "model"), TEXTS),
        (error + ("type",), TEXTS + ("SIGABRT", "SIG", "SI", "EXC_", "EXC", "EXC_CRASH", "NSRangeException")),
        (error + ("value",), TEXTS + ("KERN_", "KERN", "Attempted to dereference")),
        (error + (names["thread_id"],), NUMBERS + (3, 7, "7")),
        (error + ("mechanism",), (ABSENT, None, [], "x")),
        (meta + ("signal",), (ABSENT, None, {}, {"number": 6}, {"number": 10}, {"number": 99}, {"number": 0}, {"name": "SIGBUS"})),
        (meta + ("mach_exception",), (ABSENT, None, {}, {"exception": 10}, {"exception": 13}, {"exception": 14}, {"exception": 0},
                                      {"name": "EXC_GUARD"})),
        (meta + ("mach_exception", "name"), TEXTS), (meta + ("signal", "name"), TEXTS),
        (of_main,), (of_main + ("frames",),),
        (of_main + ("registers",), (ABSENT, None, {}, {"x1": "0x10"}, {"x1": 16, "lr": "17"}, {"other": "0x1"})),
        (threads + (0, "name"), TEXTS), (threads + (1, "name"), TEXTS),
        (threads + (0, "id"), NUMBERS), (threads + (1, "id"), NUMBERS + (7,)),
        (threads + (1, "crashed"), FLAGS), (threads + (0, "crashed"), FLAGS),
        (threads + (0, "stacktrace"), (ABSENT, {"frames": renamed(MAIN, names)}, {"frames": renamed(MAIN[:2], names)}, {"frames": []}, {"frames": None})),
        (of_worker,), (of_worker + ("frames",),),
        *((of_worker + ("frames", 0, key), tried) for key, tried in (
            ("function", TEXTS + ("main", "-[A b]", "<unknown>", "???")), (names["lineno"], NUMBERS), ("filename", TEXTS),
            (names["symbol_addr"], (hex(LOADED + 0x9b0), None, "", 8)), (names["colno"], (7, None, "x")), ("package", (ABSENT, "x", None, [])),
            ("image_addr", (ABSENT, "0x1", None)))),
        (images + (0, "code_file"), (ABSENT, "/other/lib.dylib", "bare", "", None, [])),
        (images + (0, "debug_id"), UUIDS + (UUID + "-a", UUID + "a0", UUID.replace("-", "") + "0")),
        (images + (0, "image_addr"), ("0x102a20000", 4339204096, "4339204096")),
        (images + (0, "image_size"), (ABSENT, None, 2780, 2781, 2684, 0, "x", "16384", "18446744073709551615")),
        (images + (1, "arch"), (ABSENT, "", "arm64", None, [])),
        (images + (1,), ({"name": "/bin/x", "uuid": UUID, "image_addr": 0x1a0000000},)),
    ]


def complete(rows):
    """A row without values is an object that may be anything else."""
    return [row if len(row) == 2 else (row[0], (ABSENT, None, {}, [], "x")) for row in rows]


EXCEPTIONS = (None, "EXC_BAD_ACCESS", "EXC_BAD_INSTRUCTION", "EXC_ARITHMETIC", "EXC_EMULATION", "EXC_SOFTWARE", "EXC_BREAKPOINT", "EXC_SYSCALL",
              "EXC_MACH_SYSCALL", "EXC_RPC_ALERT", "EXC_CRASH", "EXC_RESOURCE", "EXC_GUARD", "EXC_CORPSE_NOTIFY")  # mach/exception_types.h
SIGNALS = {6: "SIGABRT", 10: "SIGBUS", 11: "SIGSEGV"}  # sys/signal.h of Darwin


def named(given, key, names, what):
    """The name that is told, or that of the number."""
    own = number(member(given, key))
    by_number = names.get(own, "%s %d" % (what, own)) if own else ""
    return text(member(given, "name")) or by_number


def date_of(value):
    if type(value) in (int, float):
        moment = datetime.datetime.fromtimestamp(int(value), datetime.timezone.utc)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if value >= 1 else ""
    return text(value)


def released(event):
    """ID@VERSION+BUILD"""
    name, at, rest = text(event.get("release")).partition("@")
    version, plus, build = rest.partition("+")
    return (name, pair(version, build) if version else rest) if at else ("", "")


def facts_of(event, error):
    app, os = (member(event, "contexts", part) for part in ("app", "os"))
    identifier, version = released(event)
    own = text(member(app, "app_version"))
    mach, sent = (member(error, "mechanism", "meta", part) for part in ("mach_exception", "signal"))
    kind, words = text(member(error, "type")), text(member(error, "value"))
    exception = named(mach, "exception", {i: n for i, n in enumerate(EXCEPTIONS) if n}, "exception")
    signal = named(sent, "number", SIGNALS, "signal")
    facts = {
        "incident": text(event.get("event_id", event.get("eventID"))), "date": date_of(event.get("timestamp", event.get("dateCreated"))),
        "process": text(member(app, "app_name")), "identifier": text(member(app, "app_identifier")) or identifier,
        "version": pair(own, text(member(app, "app_build"))) if own or not version else version,
        "os": system(*(member(os, key) for key in ("name", "version", "build"))), "hardware": text(member(event, "contexts", "device", "model")),
    }
    if kind.startswith("EXC_") or kind.startswith("SIG") and not exception:
        exception = exception or kind
    elif kind.startswith("SIG"):
        signal = signal or kind
    else:
        facts["said"] = thrown(kind, words)
        words = ""
    is_kernel = words.startswith("KERN_")
    facts |= {"exception": exception, "signal": signal, "subtype": words if is_kernel else "", "description": "" if is_kernel else words}
    return facts


def images_of(images):
    out = []
    for given in images:
        file = member(given, "code_file") if "code_file" in given else member(given, "name")
        base, size = number(given.get("image_addr")), number(given.get("image_size"))
        out.append((base, size, (text(file), base, uuid_of(text(given.get("debug_id", given.get("uuid")))[:36]), text(given.get("arch")) or None)))
    return sorted(out, key=lambda image: image[2][1::-1])


def in_image(images, address):
    """The last image that begins at or below; an image without a size reaches the next."""
    for base, size, image in reversed(images):
        if base <= address:
            return image[:3] if not size or address - base < size else None
    return None


def frames_of(value, images):
    """From the outermost call to the innermost: the last one is where the thread stood."""
    frames = member(value, "stacktrace", "frames")
    if not isinstance(frames, list):
        return None
    addresses = [number(f.get("instruction_addr", f.get("instructionAddr"))) for f in frames]
    return [(a, i + 1 < len(addresses), in_image(images, a)) for i, a in enumerate(addresses)]


def given_of(value):
    """The name that the device found, and where the line is."""
    out = []
    for frame in value["stacktrace"]["frames"]:
        file, line = text(frame.get("filename")), number(frame.get("lineno", frame.get("lineNo")))
        out.append((text(frame.get("function")) or None, "%s:%d" % (file.rpartition("/")[2], line) if file and line else None))
    return out


def entry(event, kind):
    return next((e["data"] for e in event["entries"] if e["type"] == kind), None)


def values(container):
    return container if isinstance(container, list) else member(container, "values") or []


def expected(event):
    is_api = "entries" in event
    of = (lambda key, kind: entry(event, kind)) if is_api else (lambda key, kind: event.get(key))
    images = images_of(of("debug_meta", "debugmeta")["images"])
    given, errors = values(of("threads", "threads")), values(of("exception", "exception"))
    error = errors[-1]
    last = frames_of(error, images)
    on = text(error.get("threadId" if is_api else "thread_id"))
    threads = []

    def add(own, name, crashed, frames, registers, owner):
        threads.append({"kind": "thread", "number": len(threads) if own is None else own, "name": name or None, "crashed": crashed, "frames": frames,
                        "registers": registers, "given": given_of(owner)})

    for thread in given:
        frames = frames_of(thread, images)
        if frames is not None:
            add(number(thread.get("id")), text(thread.get("name")), thread.get("crashed") is True, frames, {}, thread)
    if last is not None:
        known = [t for t in given if on and text(t.get("id")) == on]
        registers = {key: number(value) for key, value in (error["stacktrace"].get("registers") or {}).items() if key != "other"}
        add(number(on), text(known[0].get("name")) if known else "", True, last, registers, error)
        # Where the thread that crashed has the stack of the exception, too, that is told once.
        threads = [t for t in threads[:-1] if not (t["crashed"] and t["frames"] and t["frames"] == last)] + threads[-1:]
    return facts_of(event, error) | {"images": [image for _, _, image in images]}, threads


EVENTS = [
    (BASE, complete(varied(("debug_meta", "images"), ("exception", "values"), ("threads", "values"), "event_id", "timestamp", OWN_NAMES))),
    (API, complete(varied(("entries", 3, "data", "images"), ("entries", 1, "data", "values"), ("entries", 2, "data", "values"), "eventID",
                          "dateCreated", API_NAMES))),
]
