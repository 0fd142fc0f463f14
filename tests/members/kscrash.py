"""KSCrash's reports, by the names in its KSCrashReportFields.h and the order in which its writers nest them, since version 2 and in version 1. Its
text for people says what stands together: `iOS 17.4 (21E219)`."""
import copy, datetime
from layout import ABSENT, FLAGS, NUMBERS, TEXTS, UUID, UUIDS, member, number, pair, system, text, thrown, uuid_of

FILE, LOADED, OTHER = "/apps/Demo.app/demo", 0x102a30000, 0x1a0000000
ARM64, ARM64E, X86_64 = (0x100000c, 0), (0x100000c, 2), (0x1000007, 3)  # mach/machine.h
ARCHS = {ARM64: "arm64", ARM64E: "arm64e", X86_64: "x86_64"}


def frame(offset, base=LOADED, name="demo"):
    return {"object_name": name, "object_addr": base, "symbol_name": "_mh_execute_header", "symbol_addr": base, "instruction_addr": base + offset}


def image(name, uuid, base, size, cpu):
    return {"image_addr": base, "image_vmaddr": 1 << 32, "image_size": size, "name": name, "uuid": uuid, "cpu_type": cpu[0], "cpu_subtype": cpu[1]}


BASE = {
    "report": {"version": "3.3.0", "id": "7A9B6C1E-0000-4000-8000-000000000001", "process_name": "demo", "timestamp": 1773476813589000,
               "type": "standard"},
    "binary_images": [image(FILE, UUID, LOADED, 16384, ARM64),
                      image("/usr/lib/libother.dylib", "0FBB2A6D-6C0A-3B54-B3A5-0D1AC2C2F5C1", OTHER, 4096, ARM64E)],
    "process": {"last_dealloced_nsexception": {"address": 8, "name": "NSFreedException", "reason": "freed",
                                               "backtrace": {"contents": [frame(0x9b8)], "skipped": 0}}},
    "system": {"system_name": "iOS", "system_version": "17.4", "machine": "iPhone14,5", "os_version": "21E219", "cpu_arch": "arm64",
               "CFBundleExecutablePath": FILE, "CFBundleIdentifier": "org.example.demo", "CFBundleShortVersionString": "1.2",
               "CFBundleVersion": "34", "process_name": "demo-1", "process_id": 412},
    "crash": {
        "error": {"mach": {"exception": 10, "exception_name": "EXC_CRASH", "code": 1, "code_name": "KERN_INVALID_ADDRESS", "subcode": 8},
                  "signal": {"signal": 6, "name": "SIGABRT", "code": 0}, "address": 8, "type": "nsexception", "reason": "index 7 beyond bounds",
                  "nsexception": {"name": "NSRangeException"}},
        "threads": [
            {"backtrace": {"contents": [frame(0xa7c), frame(0x400, OTHER, "libother.dylib"), frame(0x9fc)], "skipped": 0}, "index": 4,
             "name": "worker", "crashed": False, "current_thread": False, "dispatch_queue": "org.example.queue"},
            {"backtrace": {"contents": [frame(0xaec), frame(0xa7c)], "skipped": 0}, "index": 9, "name": "main", "crashed": True,
             "current_thread": True, "dispatch_queue": "com.apple.main-thread",
             "registers": {"basic": {"x0": 8, "pc": LOADED + 0xaec}, "exception": {"far": 8, "exception": 0}}}],
        "diagnosis": "Attempted to dereference null pointer."},
}
FIRST = copy.deepcopy(BASE)  # as version 1 has it
FIRST |= {"crash_id": FIRST["report"]["id"], "timestamp": "2026-03-14T08:26:53Z", "report_version_major": 1}
del FIRST["report"], FIRST["process"]
FIRST["crash"]["binary_images"] = FIRST.pop("binary_images")
FIRST["crash"]["error"] = {"address": 8, "mach_code": 1, "mach_code_name": "KERN_INVALID_ADDRESS", "mach_exception": "EXC_CRASH", "mach_subcode": 8,
                           "nsexception": {"name": "NSRangeException", "reason": "index 7 beyond bounds"}, "signal": 6, "signal_name": "SIGABRT",
                           "type": "nsexception"}
for given in FIRST["crash"]["threads"]:
    given["backtrace"] = given["backtrace"]["contents"]
    given.pop("registers", None)

OTHER_THAN_OBJECT = (ABSENT, None, [], "x")
ERROR, THREADS = ("crash", "error"), ("crash", "threads")
TYPES = TEXTS + ("mach", "signal", "cpp_exception", "nsexception", "deadlock", "user", "memory_termination")
NAMED_NUMBERS = (ABSENT, None, {})


def varied(images, frames):
    """What both versions have."""
    return [
        *((("system", key), TEXTS) for key in BASE["system"] if key not in ("cpu_arch", "CFBundleExecutablePath", "process_id")),
        (("system",), OTHER_THAN_OBJECT), (ERROR + ("type",), TYPES), (("crash", "diagnosis"), TEXTS),
        (ERROR + ("nsexception", "name"), TEXTS), (ERROR + ("nsexception", "reason"), TEXTS), (ERROR + ("reason",), TEXTS), (ERROR + ("nsexception",), OTHER_THAN_OBJECT + ({},)), (ERROR + ("cpp_exception",), ({"name": "std::logic_error"}, {}, None)),
        *((THREADS + (at, "name"), TEXTS) for at in (0, 1)), *((THREADS + (at, "dispatch_queue"), TEXTS) for at in (0, 1)),
        *((THREADS + (at, "index"), NUMBERS) for at in (0, 1)), *((THREADS + (at, "crashed"), FLAGS) for at in (0, 1)),
        (THREADS + (0, "backtrace"), OTHER_THAN_OBJECT), (frames, ([], None, {}, "x", [frame(0xaec)], [{"object_name": "demo"}, frame(0xaec)])),
        (frames + (0, "symbol_name"), TEXTS + ("main", "<redacted>", "demo")),
        (images + (0, "name"), (ABSENT, "bare", "", None, [])), (images + (0, "uuid"), UUIDS), (images + (1, "uuid"), UUIDS),
        (images + (0, "image_size"), (ABSENT, None, 2780, 2781, 2684, 0, "x", "16384")),
        (images + (1, "cpu_subtype"), (0, 2, ABSENT)), (images + (1, "cpu_type"), (ABSENT, None)), (images + (1,), (image("/x86", UUID, OTHER, 4096, X86_64),)),
    ]


VARIED = varied(("binary_images",), THREADS + (0, "backtrace", "contents")) + [
    (("report", "id"), TEXTS), (("report", "process_name"), TEXTS), (("system", "process_name"), TEXTS),
    (("report", "timestamp"), TEXTS + (0, 1, 951782400, 1773476813, 253402300799, 1000000000001, 1773476813999999, "2026-03-14T08:26:53Z")),
    (("process",), OTHER_THAN_OBJECT), (("process", "last_dealloced_nsexception"), OTHER_THAN_OBJECT),
    (("process", "last_dealloced_nsexception", "name"), TEXTS), (("process", "last_dealloced_nsexception", "backtrace"), OTHER_THAN_OBJECT),
    (ERROR,  (ABSENT, None, [], {}, "x")), (ERROR + ("mach",), ({}, {"exception": 1}, {"exception": 13}, {"exception": 14}, {"exception": 0}, {"exception_name": "EXC_GUARD"})),
    (ERROR + ("signal",), NAMED_NUMBERS + ({"signal": 10}, {"signal": 99}, {"signal": 0}, {"name": "SIGBUS"})),
    (ERROR + ("mach", "exception_name"), TEXTS), (ERROR + ("mach", "code_name"), TEXTS), (ERROR + ("signal", "name"), TEXTS),
    (THREADS + (1, "registers"), OTHER_THAN_OBJECT + ({"x1": 16, "lr": "17"}, {"basic": {}, "exception": {"esr": 1}}, {"basic": None})),
    (THREADS + (1, "registers", "basic", "x0"), (ABSENT, None, 0, "0x10", (1 << 64) - 1, "x")),
]
VARIED_FIRST = varied(("crash", "binary_images"), THREADS + (0, "backtrace")) + [
    (("crash_id",), TEXTS), (("timestamp",), TEXTS + (1773476813,)),
    *((ERROR + (key,), TEXTS) for key in ("mach_exception", "mach_code_name", "signal_name")), (ERROR + ("mach_code",), (ABSENT, 0, None, 7)),
    (ERROR + ("signal",), (ABSENT, None, 0, 10, 99)),
]

EXCEPTIONS = {1: "EXC_BAD_ACCESS", 10: "EXC_CRASH", 13: "EXC_CORPSE_NOTIFY"}  # mach/exception_types.h
SIGNALS = {6: "SIGABRT", 10: "SIGBUS"}  # sys/signal.h of Darwin


def named(name, value, names, what):
    own = number(value)
    return text(name) or (names.get(own, "%s %d" % (what, own)) if own else "")


def date_of(value):
    """Seconds, or microseconds since version 3.3, or text."""
    if type(value) is not int:
        return text(value)
    seconds = value // 1000000 if value > 1000000000000 else value
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else ""


def error_facts(error):
    mach, sent = member(error, "mach"), member(error, "signal")
    if "mach" in (error if isinstance(error, dict) else ()):
        facts = {"exception": named(member(mach, "exception_name"), member(mach, "exception"), EXCEPTIONS, "exception"),
                 "subtype": text(member(mach, "code_name")),
                 "signal": named(member(sent, "name"), member(sent, "signal"), SIGNALS, "signal")}
    else:  # of version 1, where a code of 0 has no name
        code = number(member(error, "mach_code"))
        facts = {"exception": text(member(error, "mach_exception")), "subtype": "" if code == 0 else text(member(error, "mach_code_name")),
                 "signal": named(member(error, "signal_name"), None if isinstance(sent, dict) else sent, SIGNALS, "signal")}
        if isinstance(sent, dict):
            facts["signal"] = named(sent.get("name"), sent.get("signal"), SIGNALS, "signal")
    own = member(error, "nsexception")
    name = text(member(own if own is not None or "nsexception" in (error or ()) else member(error, "cpp_exception"), "name"))
    reason = member(own, "reason") if isinstance(own, dict) and "reason" in own else member(error, "reason")
    kind = text(member(error, "type"))
    return facts | {"said": thrown(name, text(reason)), "event": "" if kind in ("mach", "signal", "nsexception", "cpp_exception") else kind}


def images_of(report):
    out = []
    for given in report["binary_images"] if "binary_images" in report else report["crash"]["binary_images"]:
        cpu = number(given.get("cpu_type"))
        arch = ARCHS[cpu, number(given.get("cpu_subtype")) or 0] if cpu is not None else None
        out.append((number(given["image_size"]) if "image_size" in given else None, (text(given.get("name")), given["image_addr"], uuid_of(given.get("uuid")), arch)))
    return out


def frames_of(listed, images):
    """The first frame is where the thread stood, the others are return addresses. Entries without an address
    are skipped."""
    out = []
    for given in listed if isinstance(listed, list) else ():
        address = given.get("instruction_addr")
        if address is None:
            continue
        at = next((i for size, i in reversed(images) if i[1] <= address), None)
        size = next((size for size, i in images if i == at), None)
        out.append((address, len(out) > 0, at[:3] if at and (not size or address - at[1] < size) else None))
    return out


def expected(report):
    info, about, images = report.get("report", report), report.get("system"), images_of(report)
    facts = error_facts(member(report, "crash", "error")) | {
        "process": text(member(about, "process_name")) or text(info.get("process_name")),
        "incident": text(info.get("id")) or text(report.get("crash_id")), "date": date_of(info.get("timestamp")),
        "identifier": text(member(about, "CFBundleIdentifier")), "hardware": text(member(about, "machine")),
        "version": pair(text(member(about, "CFBundleShortVersionString")), text(member(about, "CFBundleVersion"))),
        "os": system(*(member(about, key) for key in ("system_name", "system_version", "os_version"))),
        "description": text(report["crash"].get("diagnosis")), "images": [i for _, i in images],
    }
    threads = []
    for given in report["crash"]["threads"]:
        stack = given.get("backtrace")
        crashed = given.get("crashed") is True
        registers = given.get("registers") if crashed else None
        basic = registers["basic"] if isinstance(registers, dict) and "basic" in registers else registers
        values = {k: number(v) for part in (basic, member(registers, "exception")) if isinstance(part, dict) for k, v in part.items() if k != "exception"}
        own = number(given.get("index"))
        threads.append({"kind": "thread", "number": len(threads) if own is None else own, "name": text(given.get("name")) or None,
                        "queue": text(given.get("dispatch_queue")) or None, "crashed": crashed, "registers": {k: v for k, v in values.items() if v is not None},
                        "frames": frames_of(stack if isinstance(stack, list) else member(stack, "contents"), images)})
    freed = member(report, "process", "last_dealloced_nsexception")
    listed = member(freed, "backtrace", "contents")
    if isinstance(listed, list):
        threads.append({"kind": "application specific", "number": 0, "name": text(freed.get("name")) or None, "crashed": False,
                        "frames": frames_of(listed, images)})
    return facts, threads


EVENTS = [(BASE, VARIED), (FIRST, VARIED_FIRST)]
