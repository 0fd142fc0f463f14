"""Compares what tests/unwind/encodings.c says of the first and last address of every function with llvm-objdump-22
--unwind-info. Usage: compact.py "EMULATOR PROGRAM" FOLDER FILE..., where FOLDER is for slices of fat
files; folders among the files are searched. The last line counts."""
import re
import subprocess
import sys

from macho import images


def wanted(path):
    """Offset to what must be said of it. Of entries with equal offsets the last answers."""
    text = subprocess.run(["llvm-objdump-22", "--macho", "--unwind-info", path], capture_output=True, text=True).stdout
    rows = [(int(a, 16), e) for a, e in
            re.findall(r"^\s+\[\d+\]: function offset=(0x[0-9a-f]+), encoding(?:\[\d+\])?=(0x[0-9a-f]+)", text, re.M)]
    want = {}
    for i, (offset, encoding) in enumerate(rows):
        row = "0x%08x 0x%08x" % (offset, int(encoding, 16))
        want[offset] = row
        if i + 1 < len(rows) and rows[i + 1][0] - 1 > offset:
            want[rows[i + 1][0] - 1] = row
    return want


def main():
    files = addresses = wrong = 0
    for name, path, place in images(sys.argv[3:], b"__unwind_info", sys.argv[2]):
        want = wanted(path)
        got = subprocess.run(sys.argv[1].split() + [path, str(place[0]), str(place[1])], capture_output=True, text=True,
                             input="\n".join("%x" % offset for offset in want)).stdout.splitlines()
        files += 1
        addresses += len(want)
        # encoding 0 says nothing: frames-x86_64 ends with one, where the index says that the table ends
        bad = [(o, w, g) for (o, w), g in zip(want.items(), got) if w != g and (w[11:], g) != ("0x00000000", "none")]
        wrong += len(bad) + abs(len(got) - len(want))
        for offset, w, g in bad[:3]:
            print("%s: 0x%x: llvm says %s, machsym %s" % (name, offset, w, g))
    print("%d images, %d addresses, %d differ" % (files, addresses, wrong))
    return 1 if wrong or not addresses else 0


if __name__ == "__main__":
    sys.exit(main())
