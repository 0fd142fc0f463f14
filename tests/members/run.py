"""Events of a service in which each member is there, absent, of another type or at its bounds, and what must come out of them. The truth is
a second reader, `expected` of a module beside this file, written from what the service publishes of its events and from docs/json.md.
Usage: run.py TOOL FOLDER MODULE."""
import copy, importlib, json, os, subprocess, sys
from layout import ABSENT


def variants(base, varied):
    yield "as it is", base
    for path, values in varied:
        for value in values:
            event = copy.deepcopy(base)
            at = event
            for key in path[:-1]:
                at = at[key]
            if value is not ABSENT:
                at[path[-1]] = value
            else:
                at.pop(path[-1], None)
            yield "/".join(map(str, path)) + (" absent" if value is ABSENT else " = " + json.dumps(value)), event


def told(line):
    """What the tool says, with its facts and threads as `expected` has them."""
    document = json.loads(line)
    document |= {key: document["facts"].get(key) for key in ("said",)}
    images = [(i["path"] or i["name"], int(i["base"], 16), i["uuid"]) for i in document["images"]]
    document["threads"] = [
        {key: thread[key] for key in ("kind", "number", "name", "crashed")} |
        {"frames": [(int(f["address"], 16), f["return_address"], None if f["image"] is None else images[f["image"]]) for f in thread["frames"]],
         "given": [(f["given"], f["given_place"]) for f in thread["frames"]],
         "queue": thread["queue"], "registers": {r["name"]: int(r["value"], 16) for r in thread.get("registers", ())}}
        for thread in document["threads"]]
    document["images"] = sorted((images[at] + (i["arch"],) for at, i in enumerate(document["images"])), key=lambda image: image[1::-1])
    return document


def faults(document, facts, threads):
    for key, value in facts.items():
        if document.get(key, "") != value:
            yield "%s: %r, not %r" % (key, document.get(key), value)
    if len(document["threads"]) != len(threads):
        yield "%d threads, not %d" % (len(document["threads"]), len(threads))
    for number, (is_told, want) in enumerate(zip(document["threads"], threads)):
        for key, value in want.items():
            if is_told[key] != value:
                yield "thread %d, %s: %r, not %r" % (number, key, is_told[key], value)


def main():
    tool, file, service = sys.argv[1].split(), os.path.join(sys.argv[2], "event.json"), importlib.import_module(sys.argv[3])
    wrong = tried = 0
    for base, varied in service.EVENTS:
        for name, event in variants(base, varied):
            with open(file, "w", encoding="utf-8") as out:
                json.dump(event, out)
            run = subprocess.run(tool + ["crash", "-q", "--no-cache", "--to=json", file], capture_output=True, text=True)
            found = list(faults(told(run.stdout), *service.expected(event)))
            tried += 1
            wrong += bool(found)
            for fault in found:
                print("%s: %s" % (name, fault))
    print("%d of %d events are read as the second reader reads them" % (tried - wrong, tried))
    sys.exit(wrong != 0 or tried < 100)


main()
