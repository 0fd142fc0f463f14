"""What llvm-dwarfdump says about a slice: addresses worth asking, and the evidence that classes.py needs."""
import bisect
import collections
import re
import subprocess

DIE = re.compile(r"0x[0-9a-f]+:( *)(DW_TAG_\w+|NULL)")
NUMBER = re.compile(r"0x[0-9a-f]+")
RANGE = re.compile(r"\[(0x[0-9a-f]+), (0x[0-9a-f]+)\)")
FIELDS = {"DW_AT_low_pc": "low", "DW_AT_high_pc": "high", "DW_AT_abstract_origin": "origin"}
Inlined = collections.namedtuple("Inlined", "depth ranges origin")


class Function:
    """A DW_TAG_subprogram with code."""

    def __init__(self, ranges, unit_has_ranges):
        self.ranges, self.unit_has_ranges = ranges, unit_has_ranges
        self.inlined = []


class Die:
    def __init__(self, tag, depth):
        self.tag, self.depth = tag, depth
        self.low = self.high = self.origin = None
        self.pieces = []

    def ranges(self):
        if self.pieces:
            return self.pieces
        return [(self.low, self.high)] if self.low is not None and self.high is not None else []


def lines_of(path, *options):
    p = subprocess.Popen(["llvm-dwarfdump-22", *options, path], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, errors="replace")
    with p.stdout:
        yield from p.stdout
    p.wait()


def dies_of(path):
    """Every DIE of .debug_info with the few attributes that matter here."""
    die, attribute = None, ""
    for line in lines_of(path, "--debug-info"):
        m = DIE.match(line)
        if m:
            if die:
                yield die
            die, attribute = Die(m.group(2), len(m.group(1)) // 2), ""
            continue
        if die is None:
            continue
        name = re.match(r" +(DW_AT_\w+)", line)
        if name:
            attribute = name.group(1)
        if attribute == "DW_AT_ranges":
            die.pieces += [(int(a, 16), int(b, 16)) for a, b in RANGE.findall(line)]
        elif name and attribute in FIELDS:
            number = NUMBER.search(line)
            setattr(die, FIELDS[attribute], int(number.group(), 16) if number else None)
    if die:
        yield die


class Dwarf:
    def __init__(self, path):
        self.addresses = set()
        self.functions = []
        self.copies = collections.defaultdict(list)  # origin of an inlined function: where its copies start
        for line in lines_of(path, "--debug-line"):
            if line.startswith("0x"):
                self.addresses.add(int(line[:18], 16))
        self.read_dies(path)
        self.starts = sorted((lo, hi, i) for i, f in enumerate(self.functions) for lo, hi in f.ranges)

    def read_dies(self, path):
        unit_has_ranges, function, function_depth = True, None, 0
        for die in dies_of(path):
            ranges = die.ranges()
            for lo, hi in ranges:
                self.addresses.update((lo, hi - 1))
            if die.tag in ("DW_TAG_compile_unit", "DW_TAG_partial_unit", "DW_TAG_skeleton_unit"):
                unit_has_ranges = bool(ranges)
            elif die.tag == "DW_TAG_subprogram" and ranges:
                function, function_depth = Function(ranges, unit_has_ranges), die.depth
                self.functions.append(function)
                if die.origin is not None:
                    self.copies[die.origin] += [lo for lo, _ in ranges]
            elif die.tag == "DW_TAG_inlined_subroutine" and function and die.depth > function_depth:
                function.inlined.append(Inlined(die.depth, ranges, die.origin))

    def function_at(self, address):
        """The function with the highest start at or below the address that covers it."""
        at = bisect.bisect_right(self.starts, (address, 1 << 64, 0))
        for lo, hi, i in reversed(self.starts[max(at - 8, 0):at]):
            if lo <= address < hi:
                return self.functions[i]
        return None

    def origins_at(self, address):
        """Origins of the inlined calls at the address, innermost first."""
        function = self.function_at(address)
        if function is None:
            return []
        covering = [c for c in function.inlined if any(lo <= address < hi for lo, hi in c.ranges)]
        return [c.origin for c in sorted(covering, key=lambda c: -c.depth)]
