"""Index files of a folder of symbols whose lines make no sense, though their last line, the FNV-1a hash of all before it, is right: each line
left out, doubled, moved, cut at every length, of another kind, and with another number. What the tool answers must be what it answers
without an index, or what the changed names say; it never crashes, and it writes the whole index again where it did not believe it.
Usage: index.py TOOL INDEX REPORT SYMBOLS WANT"""
import subprocess, sys


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def written(title, lines):
    body = b"".join(line + b"\0" for line in [title] + lines)
    return body + b"end %016x\0" % fnv(body)


def senseless(lines):
    """(what was done, the lines) where no reader can take the lines for an index."""
    for i, line in enumerate(lines):
        rest = lines[:i], lines[i + 1:]
        for end in sorted({0, 1, *(range(2, 40) if line[:1] == b"S" else ())}):
            yield "line %d ends at %d" % (i, end), rest[0] + [line[:end]] + rest[1]
        for begin in (b"", b" ", b"X ", b"D", b"S", b"F", b"s ", b"f ", b"DD ", b"end "):
            yield "line %d begins with %r" % (i, begin), rest[0] + [begin + line[2:]] + rest[1]
        if line[:1] == b"S":
            parts = line.split(b" ", 5)
            for k, other in ((1, b"4C4C44B5-5555-3144-A1BA-79CA685DEC5"), (1, parts[1].replace(b"-", b"_")), (1, b"G" + parts[1][1:]), (4, b"9"), (4, b"4294967295")):
                yield "line %d: part %d is %r" % (i, k, other), rest[0] + [b" ".join(parts[:k] + [other] + parts[k + 1:])] + rest[1]
    for first in (b"S", b"F", b"d"):
        line = next((l for l in lines if l[:1] == first), None)
        if line:
            yield "begins with %r" % first, [line] + lines


def main():
    tool, index, report, symbols, want = sys.argv[1:]
    whole, want = open(index, "rb").read(), open(want, "rb").read()
    title, *lines, end = whole.split(b"\0")[:-1]
    assert written(title, lines) == whole, "the index is not written as this reader has it"
    count = 0
    for what, changed in senseless(lines):
        with open(index, "wb") as file:
            file.write(written(title, changed))
        said = subprocess.run([tool, "crash", "-q", "-d", symbols, report], capture_output=True)
        assert said.returncode == 0 and said.stdout == want, (what, said.returncode, said.stderr)
        assert open(index, "rb").read() == whole, what + ": the index was believed, or not written again"
        count += 1
    assert count > 80, count


main()
