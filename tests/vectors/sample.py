#!/usr/bin/env python3
"""Writes the sample of the vectors that is committed here: sample.py FOLDER-OF-ALL.

Small tables are taken whole. Of a large one a row is taken when the CRC-32 of its first column leaves no remainder by
the table's number, so that the choice is blind to what machsym makes of a name and the same every time. Rows that a
table says are from libiberty's tests stay out: their licence is another one."""
import os
import sys
import zlib

ONE_OF = {"cxx-official.tsv": 8, "cxx.tsv": 7, "swift.tsv": 7, "d.tsv": 4, "nlist-underscore.tsv": 4, "rust.tsv": 2}


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    for name in sorted(os.listdir(sys.argv[1])):
        if not name.endswith(".tsv"):
            continue
        with open(os.path.join(sys.argv[1], name), "rb") as table:
            rows = table.read().splitlines(keepends=True)
        share = ONE_OF.get(name, 1)
        kept = [row for row in rows if zlib.crc32(row.rstrip(b"\n").split(b"\t")[0]) % share == 0]
        kept = [row for row in kept if b"\tlibiberty" not in row]
        with open(os.path.join(here, name), "wb") as out:
            out.writelines(kept)
        print("%-32s %6d of %6d rows, 1 of %d" % (name, len(kept), len(rows), share))


main()
