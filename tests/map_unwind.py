"""Dumps of programs that an emulator ran (tests/stacks/stacks.py), asked with the program and with its map alone: the frames are the
emulator's, and both say the same of how each was found.
usage: map_unwind.py TOOL FOLDER"""
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, "tests/stacks")
import stacks  # noqa: E402


def ask(tool, dump, symbols):
    """Addresses, and how each was found."""
    command = [tool, "crash", "-q", "--to=json", "--no-cache", "--no-inline", "-d", symbols, dump]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    frames = json.loads(done.stdout)["threads"][0]["frames"]
    return [(int(frame["address"], 16), frame["found_by"]) for frame in frames]


def main():
    tool, folder = sys.argv[1:3]
    rng, count, wrong, large = random.Random(7), 0, 0, 0
    for arch, flags in stacks.BUILDS:
        program = stacks.Program(stacks.build(folder, arch, flags))
        symmap, dump = os.path.join(folder, "one.symmap"), os.path.join(folder, "one.dmp")
        subprocess.run([tool, "map", "build", "--unwind", "-o", symmap, program.path], check=True, stdout=subprocess.DEVNULL)
        for (values, stack), truth in stacks.moments(program, rng, 12):
            stacks.write(dump, stacks.dump_of(program, values, stack))
            by_file, by_map = ask(tool, dump, program.path), ask(tool, dump, symmap)
            large += len(stack[1]) > 9000
            count += 1
            if by_map != by_file or [address for address, _ in by_map] != truth:
                wrong += 1
                print("%s %s: %s by the map, %s by the program, not %s" % (arch, flags, by_map, by_file, list(map(hex, truth))))
    print("%d dumps, %d wrong; %d with a large frame" % (count, wrong, large))
    sys.exit(wrong > 0 or count < 150 or large < 3)


if __name__ == "__main__":
    main()
