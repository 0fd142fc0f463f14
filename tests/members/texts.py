"""What the second readers of text reports share: many texts are read by one run of the tool, and what its JSON says of each is held against
what the reader beside this file says."""
import json, os, random, shutil, subprocess, sys

FRAME = ("index", "address", "return_address", "image", "given", "given_place")


def hexadecimal(value):
    return int(value, 16) if value else None


def told(document):
    """Frames name their image by its UUID and load address; numbers are numbers."""
    images = [(i["uuid"], hexadecimal(i["base"])) for i in document["images"]]
    for thread in document["threads"]:
        thread["frames"] = [{key: frame[key] for key in FRAME} | {"address": hexadecimal(frame["address"])} |
                            {"image": None if frame["image"] is None else images[frame["image"]]} for frame in thread["frames"]]
    return document | {"images": images, "names": [i["name"] for i in document["images"]], "words": document["facts"].get("words", []),
                       "said": document["facts"].get("said")}


def faults(document, want):
    """want: members of the document; of each thread its members."""
    for key, value in want.items():
        if key != "threads" and document.get(key, "") != value:
            yield "%s: %r, not %r" % (key, document.get(key), value)
    if len(document["threads"]) != len(want["threads"]):
        yield "%d threads, not %d" % (len(document["threads"]), len(want["threads"]))
    for number, (is_told, one) in enumerate(zip(document["threads"], want["threads"])):
        for key, value in one.items():
            if key != "frames" and is_told.get(key) != value:
                yield "thread %d, %s: %r, not %r" % (number, key, is_told.get(key), value)
        if len(is_told["frames"]) != len(one["frames"]):
            yield "thread %d: %d frames, not %d" % (number, len(is_told["frames"]), len(one["frames"]))
        for at, (frame, it) in enumerate(zip(is_told["frames"], one["frames"])):
            for key, value in it.items():
                if frame[key] != value:
                    yield "thread %d, frame %d, %s: %r, not %r" % (number, at, key, frame[key], value)


def frame(index, address, is_return, image=None, given=None, place=None):
    return dict(zip(FRAME, (index, address, is_return, image, given, place)))


def main(generate, more=lambda document: document, count=240, least=200, suffix="txt"):
    """generate(rng, number): the text of a report and what it says. more: what else the tool says. Usage of the module: TOOL FOLDER [SEED]."""
    tool, folder = sys.argv[1].split(), sys.argv[2]
    shutil.rmtree(folder, ignore_errors=True)  # -o keeps files that are there
    os.makedirs(folder)
    cases = []
    for number in range(count):
        text, want = generate(random.Random("%s %d" % (sys.argv[3] if len(sys.argv) > 3 else "1", number)), number)
        path = "%s/%03d.%s" % (folder, number, suffix)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        cases.append((path, want))
    run = subprocess.run(tool + ["crash", "-q", "--no-cache", "--to=json", "-o", folder + "/said/"] + [path for path, _ in cases],
                         capture_output=True, text=True)
    wrong = 0
    for path, want in cases:
        said = "%s/said/%s.json" % (folder, os.path.basename(path).rsplit(".", 1)[0])
        found = ["no answer; " + run.stderr[:200]]
        if os.path.exists(said):
            with open(said, encoding="utf-8") as file:
                found = list(faults(more(told(json.load(file))), want))
        wrong += bool(found)
        for fault in found[:6]:
            print("%s: %s" % (path, fault))
    print("%d of %d texts are read as the second reader reads them" % (len(cases) - wrong, len(cases)))
    sys.exit(wrong != 0 or len(cases) < least)
