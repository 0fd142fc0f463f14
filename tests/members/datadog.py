"""Datadog's events of errors, by the schemas of rum-events-format and by what its SDK for iOS writes into them: threads are called `Thread 0`,
and the last address of an image is one that it has."""
import datetime
from layout import ABSENT, FLAGS, NUMBERS, TEXTS, UUID, UUIDS, member, number, pair, system, text, uuid_of

LOADED, OTHER = 0x102a30000, 0x1a0000000


def stack(*addresses):
    names = {LOADED: "demo", OTHER: "libother.dylib"}
    return "".join("%-4d%-35s 0x%016x 0x%x + %d\n" % (i, names[base], base + offset, base, offset) for i, (base, offset) in enumerate(addresses))


MAIN = ((LOADED, 0xaec), (LOADED, 0xa7c), (LOADED, 0x9fc))
WORKER = ((OTHER, 0xfff), (LOADED, 0x9fc))
STACKS = {stack(*MAIN): MAIN, stack(*WORKER): WORKER, stack(*MAIN[:2]): MAIN[:2]}
BASE = {
    "type": "error", "date": 1773476813589, "service": "org.example.demo", "version": "1.2", "build_version": "34",
    "device": {"model": "iPhone14,5"}, "os": {"name": "iOS", "version": "17.4", "build": "21E219"},
    "error": {
        "is_crash": True, "type": "SIGSEGV (SEGV_MAPERR)", "message": "Application crash: SIGSEGV (Segmentation fault)", "stack": stack(*MAIN),
        "meta": {"code_type": "ARM-64", "parent_process": "launchd [1]", "process": "demo [412]", "path": "/apps/Demo.app/demo",
                 "incident_identifier": "7A9B6C1E-0000-4000-8000-000000000001", "exception_type": "EXC_BAD_ACCESS",
                 "exception_codes": "SEGV_MAPERR at 0x8"},
        "threads": [{"name": "Thread 3", "crashed": True, "stack": stack(*MAIN)}, {"name": "Thread 5", "crashed": False, "stack": stack(*WORKER)}],
        "binary_images": [
            {"uuid": UUID, "name": "demo", "is_system": False, "load_address": hex(LOADED), "max_address": hex(LOADED + 0x3fff), "arch": "arm64"},
            {"uuid": "???", "name": "libother.dylib", "is_system": True, "load_address": hex(OTHER), "max_address": hex(OTHER + 0xfff),
             "arch": "arm64e"}]},
}
NAMES = TEXTS + ("Thread 0", "Thread 12", "Thread", "Thread ", "Thread x", "Thread 1x", "thread 1", "Thread 18446744073709551616", "com.apple.main-thread")
ERROR, THREADS, IMAGES = ("error",), ("error", "threads"), ("error", "binary_images")
VARIED = [
    *(((key,), TEXTS) for key in ("service", "version", "build_version")),
    (("date",), (ABSENT, 0, 999, 1000, 951782400000, "1773476813589", None, "x", [])),
    (("device",), (ABSENT, None, [], "x")), (("device", "model"), TEXTS),
    (("os",), (ABSENT, None, [], "x")), *((("os", key), TEXTS) for key in BASE["os"]),
    *((ERROR + (key,), TEXTS) for key in ("type", "message")),
    (ERROR + ("meta",), (ABSENT, None, [], "x")),
    *((ERROR + ("meta", key), TEXTS) for key in ("process", "incident_identifier", "exception_type", "exception_codes")),
    (THREADS, (ABSENT, None, [], {}, "x")),
    *((THREADS + (at, "name"), NAMES) for at in (0, 1)),
    *((THREADS + (at, "crashed"), FLAGS) for at in (0, 1)),
    *((THREADS + (at, "stack"), (ABSENT, None, "", [], stack(*MAIN[:2]), stack(*MAIN), stack(*WORKER))) for at in (0, 1)),
    *((IMAGES + (0, key), UUIDS + ("???",)) for key in ("uuid",)),
    *((IMAGES + (at, "arch"), (ABSENT, "", "x86_64", None, [], {})) for at in (0, 1)),
    (IMAGES + (1, "max_address"), (hex(OTHER + 0xffe), hex(OTHER + 0x1000), OTHER + 0xfff, str(OTHER + 0xfff), hex((1 << 64) - 1))),
    (IMAGES + (0, "is_system"), FLAGS),
]


def number_of(name):
    """`Thread 5` is a number; other words are a name."""
    word, _, digits = text(name).partition(" ")
    is_number = word == "Thread" and digits.isdigit() and int(digits) < 1 << 64
    return (int(digits), None) if is_number else (None, text(name) or None)


def frames_of(given, images):
    out = []
    for at, (base, offset) in enumerate(STACKS.get(given, ())):
        image = next((i for i in images if i[1] <= base + offset <= i[4]), None)
        out.append((base + offset, at > 0, image[:3] if image else None))
    return out


def expected(event):
    error = event["error"]
    meta = error.get("meta")
    images = [(text(i.get("name")), number(i["load_address"]), uuid_of(i.get("uuid")), text(i.get("arch")) or None, number(i["max_address"]))
              for i in error["binary_images"]]
    date = number(event.get("date"))
    moment = datetime.datetime.fromtimestamp((date or 0) // 1000, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    facts = {
        "process": text(member(meta, "process")), "incident": text(member(meta, "incident_identifier")),
        "exception": text(member(meta, "exception_type")), "codes": text(member(meta, "exception_codes")),
        "signal": text(error.get("type")), "description": text(error.get("message")), "identifier": text(event.get("service")),
        "version": pair(text(event.get("version")), text(event.get("build_version"))), "date": moment if date and date >= 1000 else "",
        "hardware": text(member(event, "device", "model")),
        "os": system(*(member(event, "os", key) for key in ("name", "version", "build"))), "images": [image[:4] for image in images],
    }
    main = {"kind": "thread", "number": 0, "name": None, "crashed": True, "frames": frames_of(error["stack"], images)}
    threads = [main]
    listed = error["threads"] if isinstance(error.get("threads"), list) else []
    stacks = 1
    for given in listed:
        frames = frames_of(given.get("stack") if isinstance(given.get("stack"), str) else None, images)
        if not frames:
            continue
        own, name = number_of(given.get("name"))
        thread = {"kind": "thread", "number": stacks if own is None else own, "name": name, "crashed": given.get("crashed") is True, "frames": frames}
        stacks += 1
        if thread["crashed"] and [f[0] for f in frames] == [f[0] for f in main["frames"]]:  # the error's stack once more: it is told once
            main.update(number=thread["number"], name=name)
        else:
            threads.append(thread)
    return facts, threads


EVENTS = [(BASE, VARIED)]
