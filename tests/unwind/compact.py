"""Compares what tests/unwind/encodings.c says of the first and last address of every function with llvm-objdump-22
--unwind-info. Usage: compact.py "EMULATOR PROGRAM" FILE..., thin Mach-O files; folders are searched. The last line counts."""
import os
import re
import struct
import subprocess
import sys


def section(data, name):
    """Offset and size of a section of a linked image; None: there is none."""
    if data[:4] not in (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe") or struct.unpack_from("<I", data, 12)[0] in (1, 10):
        return None
    is_64 = data[:1] == b"\xcf"
    at = 32 if is_64 else 28
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<II", data, at)
        if command == (0x19 if is_64 else 1):
            begin, step = at + (72 if is_64 else 56), 80 if is_64 else 68
            for i in range(struct.unpack_from("<I", data, at + (64 if is_64 else 48))[0]):
                here = begin + i * step
                if data[here:here + 16].rstrip(b"\0") == name:
                    _, length, offset = struct.unpack_from("<QQI" if is_64 else "<III", data, here + 32)
                    return offset, length
        at += size
    return None


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


def files(names):
    for name in names:
        if os.path.isdir(name):
            for folder, _, inside in os.walk(name):
                yield from (os.path.join(folder, f) for f in sorted(inside))
        else:
            yield name


def main():
    images = addresses = wrong = 0
    for path in files(sys.argv[2:]):
        try:
            with open(path, "rb") as file:
                place = section(file.read(), b"__unwind_info")
        except (OSError, struct.error):
            continue
        if place is None:
            continue
        want = wanted(path)
        got = subprocess.run(sys.argv[1].split() + [path, str(place[0]), str(place[1])], capture_output=True, text=True,
                             input="\n".join("%x" % offset for offset in want)).stdout.splitlines()
        images += 1
        addresses += len(want)
        # encoding 0 says nothing: frames-x86_64 ends with one, where the index says that the table ends
        bad = [(o, w, g) for (o, w), g in zip(want.items(), got) if w != g and (w[11:], g) != ("0x00000000", "none")]
        wrong += len(bad) + abs(len(got) - len(want))
        for offset, w, g in bad[:3]:
            print("%s: 0x%x: llvm says %s, machsym %s" % (path, offset, w, g))
    print("%d images, %d addresses, %d differ" % (images, addresses, wrong))
    return 1 if wrong or not addresses else 0


if __name__ == "__main__":
    sys.exit(main())
