"""Text tables of symbols by chance: what `machsym map import` makes of each, what its map answers at every edge, and what `map export` writes
of it, read here a second time. A row is start, end (inclusive), function, file:line; of rows that overlap the one that begins first keeps the
code; rows of one function that follow each other are one function. Usage: tables.py TOOL FOLDER [SEED]"""
import json, os, random, re, subprocess, sys

HEX = re.compile("(0[xX])?[0-9a-fA-F]{1,16}$")


def generate(rng):
    lines, at = [], rng.choice([0x1000, 0x100001000])
    for _ in range(rng.randint(1, 12)):
        at += rng.choice([0, 0, 0, 1, 64])
        size = rng.choice([1, 4, 16, 300])
        lo = max(0, at - rng.choice([0, 0, 0, 8, 400]))
        place = rng.choice(["", "a.c:5", "a.c:5", "dir/b.c:70000", "a.c:4294967295", "a.c:4294967296", "a.c:12345678901", "a.c", "a.c:", ":5", "55", "x:y:7", "a.c:0"])
        lines.append("\t".join(["%x" % lo if rng.random() < 0.5 else "%#X" % lo, "%x" % (lo + size - 1), rng.choice(["f", "f", "g", "h i"])] + ([place] if place or rng.random() < 0.5 else [])))
        at = lo + size
    extra = ["", "UUID: %s" % "4C4C44B5-5555-3144-A1BA-79CA685DEC58", "zz\t10\tf", "20\t10\tback", "10\t20", "10\t20\t", "10", "words: none", "g\t20\tf\ta.c:1"]
    for _ in range(rng.randint(0, 4)):
        lines.insert(rng.randint(0, len(lines)), rng.choice(extra))
    rng.shuffle(lines)
    return lines, rng.choice(["\n", "\r\n"])


def place_of(text):
    """`file:line`, a line of 32 bits after the last colon; else all of it is the file."""
    file, colon, line = text.rpartition(":")
    if colon and line.isdigit() and len(line) <= 10 and int(line) < 1 << 32:
        return file, int(line)
    return text, 0


def read(lines):
    rows, others, cut = [], 0, 0
    for number, line in enumerate(lines):
        fields = line.split("\t") + ["", "", "", ""]
        if HEX.match(fields[0]) and HEX.match(fields[1]) and int(fields[1], 16) >= int(fields[0], 16) and fields[2]:
            rows.append((int(fields[0], 16), number, int(fields[1], 16) + 1, fields[2], *place_of(fields[3])))
        else:
            others += line != ""
    kept, end = [], 0
    for lo, _, hi, name, file, line in sorted(rows):
        cut += lo < end
        lo = max(lo, end)
        if lo < hi:
            kept.append([lo, hi, name, file, line if file else 0, lo])
            end = hi
    for before, row in zip(kept, kept[1:]):
        if row[0] == before[1] and row[2] == before[2]:
            row[5] = before[5]
    return kept, others, cut


def answer(kept, at):
    row = next((row for row in kept if row[0] <= at < row[1]), None)
    if row is None:
        return None
    return {"name": row[2], "file": row[3], "line": row[4], "offset": at - row[5]}


def by_bugly(text):
    rows = [line.split("\t") for line in text.splitlines() if line.count("\t") >= 2]
    found = []
    for row in rows:
        file, line = place_of(row[3]) if len(row) > 3 else ("", 0)
        found.append((int(row[0], 16), int(row[1], 16) + 1, row[2], file, line))
    return found


def by_breakpad(text):
    files, found, name = {}, [], None
    for line in text.splitlines():
        words = line.split(" ")
        if words[0] == "FILE":
            files[words[1]] = line.split(" ", 2)[2]
        elif words[0] == "FUNC":
            rest = words[2:] if words[1] == "m" else words[1:]
            lo, name = int(rest[0], 16), " ".join(rest[3:])
            found.append((lo, lo + int(rest[1], 16), name, None, None))
        elif words[0] == "PUBLIC":
            rest = words[2:] if words[1] == "m" else words[1:]
            found.append((int(rest[0], 16), int(rest[0], 16) + 1, " ".join(rest[2:]), None, None))
        elif re.match("[0-9a-f]+ [0-9a-f]+ [0-9]+ [0-9]+$", line):
            lo = int(words[0], 16)
            found.insert(0, (lo, lo + int(words[1], 16), name, files[words[3]], int(words[2])))
    return found


def holding(rows, at):
    return next((row[2:] for row in rows if row[0] <= at < row[1]), None)


def main():
    tool, folder = sys.argv[1].split(), sys.argv[2]
    rng = random.Random(sys.argv[3] if len(sys.argv) > 3 else "1")
    os.makedirs(folder, exist_ok=True)
    run = lambda *words: subprocess.run(tool + list(words), capture_output=True, text=True)
    wrong = tried = 0
    for number in range(60):
        lines, end = generate(rng)
        path, made = "%s/%d.txt" % (folder, number), "%s/%d.symmap" % (folder, number)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(end.join(lines) + rng.choice(["", end]))
        kept, others, cut = read(lines)
        imported = run("map", "import", "--json", "--name", "x", path, "-o", made)
        faults = []
        told = json.loads(imported.stdout) if imported.stdout else {}
        if [told.get(key) for key in ("rows", "other_lines", "cut_rows")] != [len(kept), others, cut]:
            faults.append("import: %s, not %s%s" % (told, (len(kept), others, cut), imported.stderr))
        edges = sorted({at + add for row in kept for at in row[:2] for add in (-1, 0, 1)})
        answers = [json.loads(line)["frames"] for line in run("atos", "--json", "-o", made, *["%#x" % at for at in edges]).stdout.splitlines()]
        bugly, pad = (run("map", "export", "--format=" + form, made).stdout for form in ("bugly", "breakpad"))
        base = 0x100000000 if kept and kept[0][0] >= 0x100000000 else 0
        bugly, pad = by_bugly(bugly), by_breakpad(pad)
        for at, frames in zip(edges, answers):
            want, tried = answer(kept, at), tried + 1
            got = {key: frames[0][key] for key in ("name", "file", "line", "offset")} if frames else None
            if got != want or len(answers) != len(edges):
                faults.append("%#x: %s, not %s" % (at, got, want))
            plain = want and (want["name"], os.path.basename(want["file"]), want["line"])
            if holding(bugly, at) != plain:
                faults.append("bugly, %#x: %s, not %s" % (at, holding(bugly, at), plain))
            # Code without a file has a PUBLIC record, at its beginning.
            if plain and (plain[1] and plain[2] or not want["offset"]) and (holding(pad, at - base) or (None,))[0] != plain[0] or \
                    plain and plain[2] and holding(pad, at - base) not in (plain, (want["name"], want["file"], want["line"])):
                faults.append("breakpad, %#x: %s, not %s" % (at, holding(pad, at - base), plain))
        wrong += bool(faults)
        for fault in faults[:2]:
            print("%s: %s" % (path, fault))
    print("%d tables of 60, %d addresses" % (wrong, tried))
    sys.exit(wrong != 0 or tried < 500)


main()
