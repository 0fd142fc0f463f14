#!/usr/bin/env python3
"""Writes what llvm-symbolizer answers of each file here into FILE.llvm: record.py FILE...

Addresses: of all line rows, and first and last bytes of all ranges in the DWARF, ADDRESSES by equal steps. Of llvm's two
answers for the outermost name, by the symbol table and by the debug info, the one that machsym's rule for names takes is
written. Addresses are left out where llvm knows no file, and where the two differ for a reason that
../differential/KNOWN.md proves; FILE.llvm says how many."""
import os
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "differential"))
import compare  # noqa: E402
from dwarf import Dwarf  # noqa: E402
from slices import slices_in  # noqa: E402

ADDRESSES = 300


def record(path):
    one, = slices_in(path)
    with tempfile.TemporaryDirectory() as folder:
        thin, bare = os.path.join(folder, "thin"), os.path.join(folder, "bare")
        one.write(thin)
        one.write_without_symbols(bare)
        compare.RANDOM_ADDRESSES = 0
        every = compare.addresses_of(one, Dwarf(thin))
        addresses = every[::max(1, len(every) // ADDRESSES)]
        theirs = compare.llvm_frames(thin, addresses)
        by_dwarf = theirs if one.is_object() else compare.llvm_frames(bare, addresses)
        ours = compare.our_frames(path, one.arch, addresses)
    version = subprocess.run(["llvm-symbolizer-22", "--version"], capture_output=True, text=True).stdout.split()
    blocks, left_out = [], 0
    for address, table, dwarf, mine in zip(addresses, theirs, by_dwarf, ours):
        chains = [table, compare.outermost_from(table, dwarf)]
        chain = mine if mine in chains else []
        if chain and all(f.name and f.file for f in chain):
            blocks.append("0x%x\n" % address + "".join("%s (%s:%d)\n" % (f.name, f.file, f.line) for f in chain))
        else:
            left_out += 1
    with open(path + ".llvm", "w") as out:
        out.write("llvm-symbolizer %s --inlines --functions=linkage --no-demangle: %d addresses, %d left out\n"
                  % (version[version.index("version") + 1], len(addresses), left_out))
        out.writelines("\n" + block for block in blocks)
    print("%-40s %4d addresses, %d left out" % (path, len(addresses), left_out))


for file in sys.argv[1:]:
    record(file)
