"""The worker's `search` against llvm-nm: for each piece of a function's name how many functions have it, in which order, and how many of them
are told; of dSYMs, of programs with symbols alone, and of maps. Lines that are no JSON: the byte that Python's json names.
Usage: search.py TOOL FOLDER"""
import json, os, re, shutil, subprocess, sys

BIN = "tests/fixtures/bin/"
FILES = ["inline-arm64-d5-22.dSYM/Contents/Resources/DWARF/inline-arm64-d5-22", "map-arm64-d4-O0/program", "map-x86_64-d5-O0/program", "deep-arm64-d4.dwarf", "cold-arm64-d5-22.dwarf"]


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, **more).stdout


def functions(path):
    """{offset: its names, as they are and in source form}, and the UUID: llvm-nm's symbols of __text."""
    uuid = re.search(r"UUID: (\S+)", run("llvm-dwarfdump-22", "--uuid", path)).group(1)
    rows = [re.match(r"(\S+) \(__TEXT,__text\) (.*?)(\S+)$", line) for line in run("llvm-nm-22", "-m", path).splitlines()]
    found = {}
    for row in (r for r in rows if r and "__mh_" not in r.group(3)):
        plain = row.group(3)[1:] if row.group(3).startswith("_") else row.group(3)
        found.setdefault(int(row.group(1), 16) - 0x100000000, set()).add(plain)
    return uuid, found


def names_of(found):
    plain = sorted({name for names in found.values() for name in names})
    spelled = run("llvm-cxxfilt-22", *plain).splitlines()
    return dict(zip(plain, spelled))


def ask(tool, folder, requests):
    lines = run(tool, "worker", "--symbols", folder, input="".join(json.dumps(r) + "\n" for r in requests))
    return [json.loads(line) for line in lines.splitlines()]


def check_file(tool, path, folder):
    uuid, found = functions(path)
    spelled = names_of(found)
    words = {w for name in spelled for w in re.findall(r"[A-Za-z]{2,}", name)} | {"q", "e", "no such name"}
    pieces = sorted({p for w in words for p in (w, w[1:], w[:-1], w.upper(), w.lower()) if p})
    holds = lambda piece: sorted(at for at, names in found.items() if any(piece.lower() in n.lower() or piece.lower() in spelled[n].lower() for n in names))
    requests = [{"do": "search", "uuid": uuid, "name": p, "limit": limit} for p in pieces for limit in (1, 2, max(1, len(holds(p))), 1000)]
    answers = ask(tool, folder, requests)
    assert len(answers) == len(requests)
    for r, a in zip(requests, answers):
        want = holds(r["name"])
        got = [int(f["offset"], 16) for f in a.get("functions", [])]
        assert (a.get("found"), got) == (len(want), want[:r["limit"]]), (path, r, want, a)


def check_lines(tool):
    line = '{"do":"demangle","names":["_Z1fv","a b"],"id":[1,25,true,null,{"k":"v"}]}'
    bad = [line[:i] for i in range(1, len(line))] + [line[:i] + c + line[i:] for i in range(len(line)) for c in "#]}"]
    wanted = []
    for one in bad:
        try:
            json.loads(one)
            wanted.append(None)
        except json.JSONDecodeError as err:
            wanted.append(None if err.msg == "Extra data" else err.pos)
    answers = [json.loads(a) for a in run(tool, "worker", input="\n".join(bad) + "\n").splitlines()]
    assert len(answers) == len(bad)
    for one, want, a in zip(bad, wanted, answers):
        says = re.search(r", at byte (\d+) of the line$", a["error"]["what"])
        assert (says and int(says.group(1))) == want and (want is None or a["error"]["kind"] == "bad_json"), (one, want, a)


def main():
    tool, folder = sys.argv[1:3]
    for i, name in enumerate(FILES):
        for what in ("file", "map"):
            there = os.path.join(folder, "%s%d" % (what, i))
            os.makedirs(there)
            if what == "file":
                shutil.copy(BIN + name, there)
            else:
                run(tool, "map", "build", "--no-progress", "-o", os.path.join(there, "x.symmap"), BIN + name)
            check_file(tool, BIN + name, there)
    check_lines(tool)


main()
