"""Bugsnag's events, by its error reporting API."""
from layout import ABSENT, NUMBERS, TEXTS, UUID, member, number, pair, system, text, thrown, uuid_of

BASE = {
    "id": "incident-7",
    "app": {"name": "Demo", "id": "org.example.demo", "version": "1.2", "bundleVersion": "34"},
    "device": {"model": "iPhone14,5", "time": "2026-03-14T08:26:53.000Z", "id": "reporter-9", "osName": "iOS", "osVersion": "17.4",
               "runtimeVersions": {"osBuild": "21E219"}},
    "exceptions": [{"errorClass": "EXC_BREAKPOINT", "message": "out of range", "stacktrace": []}],
    "threads": [{"id": "5", "name": "com.apple.main-thread", "errorReportingThread": True, "stacktrace": []},
                {"id": "6", "name": "worker", "errorReportingThread": False, "stacktrace": []}],
}


def frame(address):
    return {"frameAddress": hex(address), "machoFile": "/apps/Demo.app/demo", "machoLoadAddress": "0x102a30000", "machoUUID": UUID}


OTHER = {"frameAddress": "0x1a0000400", "machoFile": "/usr/lib/libother.dylib", "machoLoadAddress": "0x1a0000000",
         "machoUUID": "0FBB2A6D-6C0A-3B54-B3A5-0D1AC2C2F5C1"}
for at, stack in enumerate((BASE["exceptions"][0], *BASE["threads"])):
    stack["stacktrace"] = [frame(0x102a30aec + 256 * (at == 2)), frame(0x102a30a7c)]
BASE["threads"][1]["stacktrace"].append(OTHER)

FRAME = ("exceptions", 0, "stacktrace", 1)
VARIED = [
    (("id",), TEXTS),
    *((("app", key), TEXTS) for key in BASE["app"]),
    *((("device", key), TEXTS) for key in ("model", "time", "id", "osName", "osVersion")),
    (("device", "runtimeVersions"), (ABSENT, None, "x", [])),
    (("device", "runtimeVersions", "osBuild"), TEXTS),
    (("exceptions", 0, "errorClass"), TEXTS + ("SIGABRT", "SIG", "SI", "EXC_", "EXC", "xEXC_CRASH", "NSRangeException")),
    (("exceptions", 0, "message"), TEXTS),
    (("threads", 0, "id"), NUMBERS),
    (("threads", 1, "id"), NUMBERS),
    (("threads", 0, "name"), TEXTS),
    (("threads", 1, "name"), TEXTS),
    (("threads", 0, "errorReportingThread"), (ABSENT, False, None, 1, 0, "", [])),
    (("threads", 1, "errorReportingThread"), (ABSENT, True, None, 1, 0, "", [])),
    (FRAME + ("isPC",), (ABSENT, True, False, None, [])),
    (FRAME + ("isLR",), (ABSENT, True, False)),
    (FRAME + ("machoFile",), (ABSENT, "/other/lib.dylib", "bare", "")),
    (("threads", 1, "stacktrace", 2, "machoFile"), (ABSENT, "bare", "", 7, None, [])),
    (("threads", 1, "stacktrace", 2, "machoUUID"), (ABSENT, UUID.lower(), "", "x", None, [])),
    (("threads", 1, "stacktrace", 2), ({"frameAddress": "0x1000"}, {"frameAddress": "0x102a30a00"})),
    (FRAME + ("machoLoadAddress",), (ABSENT, "0x102a20000", "4339204096", 4339204096, "", "x", None)),
    (FRAME + ("machoUUID",), (ABSENT, UUID.lower(), UUID.replace("-", ""), "", "x", None, UUID[:-1])),
]


def image_of(base, file, name, address):
    """An image is told once, as its first frame tells it; a frame that tells none lies in the image below it."""
    known = ("/apps/Demo.app/demo", 0x102a30000, UUID)
    if base is None:
        return known if address >= known[1] else None
    return known if base == known[1] and name == UUID else (file, base, name)


def expected_frames(stack):
    out = []
    for index, given in enumerate(stack["stacktrace"]):
        base = number(given.get("machoLoadAddress"))
        file = text(given.get("machoFile"))
        name = uuid_of(given.get("machoUUID"))
        address = int(given["frameAddress"], 16)
        out.append((address, index > 0 and given.get("isPC") is not True, image_of(base, file, name, address)))
    return out


def expected(event):
    app, device = event["app"], event["device"]
    error = event["exceptions"][0]
    kind = text(error.get("errorClass"))
    facts = {
        "process": text(app.get("name")), "identifier": text(app.get("id")), "hardware": text(device.get("model")),
        "date": text(device.get("time")), "incident": text(event.get("id")),
        "version": pair(text(app.get("version")), text(app.get("bundleVersion"))),
        "os": system(device.get("osName"), device.get("osVersion"), member(device.get("runtimeVersions"), "osBuild")),
    }
    is_signal = kind.startswith(("EXC_", "SIG"))
    message = text(error.get("message"))
    if is_signal:
        facts |= {"exception": kind, "description": message}
    else:  # what was thrown is told in the sentence
        facts["said"] = thrown(kind, message)
    first = {"kind": "thread" if is_signal else "last exception", "number": 0, "name": None, "crashed": is_signal,
             "frames": expected_frames(error)}
    threads = [first]
    for index, given in enumerate(event["threads"]):
        own = number(given.get("id"))
        thread = {"kind": "thread", "number": index + 1 if own is None else own, "name": text(given.get("name")) or None,
                  "crashed": given.get("errorReportingThread") is True, "frames": expected_frames(given)}
        same = [f[0] for f in thread["frames"]] == [f[0] for f in first["frames"]]
        if thread["crashed"] and same:  # the stack of the exception once more: it is told once
            if is_signal:
                first.update(number=thread["number"], name=thread["name"])
            continue
        threads.append(thread)
    return facts, threads


EVENTS = [(BASE, VARIED)]
