"""Gives every difference a class. A class that KNOWN.md lists must be proven from the file; the rest only
say what differs."""
import bisect


class Evidence:
    """What the proofs may look at: the slice's symbols, its code sections and its DWARF."""

    def __init__(self, one, dwarf):
        self.dwarf, self.code, self.sections = dwarf, one.text(), one.places()
        self.symbols = one.symbols()
        self.symbol_starts = sorted(self.symbols)

    def is_code(self, address):
        return any(lo <= address < lo + size for lo, size in self.code)

    def symbol_start(self, address):
        at = bisect.bisect_right(self.symbol_starts, address)
        return self.symbol_starts[at - 1] if at else None

    def are_aliases(self, a, b):
        return any(a in names and b in names for names in self.symbols.values())

    def share_section(self, a, b):
        return any(lo <= a < lo + size and lo <= b < lo + size for lo, size in self.sections)


def named_by_rule(evidence, address, ours, theirs):
    """The name rule for inlined functions without a linkage name: the symbol of an out-of-line copy of the
    same origin.

    True when the chains only differ in such names."""
    if len(ours) != len(theirs):
        return False
    origins = evidence.dwarf.origins_at(address)
    for position, (a, b) in enumerate(zip(ours, theirs)):
        if a == b:
            continue
        if a._replace(name=b.name) != b or position >= len(origins):
            return False
        starts = evidence.dwarf.copies.get(origins[position], [])
        if not any(a.name in evidence.symbols.get(start, ()) for start in starts):
            return False
    return True


def proven(evidence, address, ours, theirs):
    """The known class of a difference, or None."""
    function = evidence.dwarf.function_at(address)
    if ours and function and not function.unit_has_ranges and (not theirs or not theirs[-1].line):
        return "rangeless-unit"
    if not ours and len(theirs) == 1 and not theirs[0].line and not function:
        start = evidence.symbol_start(address)
        if not evidence.is_code(address):
            return "outside-code"
        if start is not None and not evidence.share_section(start, address):
            return "across-sections"
    if ours and theirs and ours[:-1] == theirs[:-1] and ours[-1]._replace(name=theirs[-1].name) == theirs[-1]:
        if evidence.are_aliases(ours[-1].name, theirs[-1].name):
            return "alias"
        if theirs[-1].name == '_' + ours[-1].name:
            return "asm-label"
    return None


def classify(evidence, address, ours, theirs):
    known = proven(evidence, address, ours, theirs)
    if known:
        return known
    if not ours or not theirs:
        return "we-say-nothing" if theirs else "llvm-says-nothing"
    if len(ours) != len(theirs):
        return "depth"
    for position, (a, b) in enumerate(zip(ours, theirs)):
        frame = "outer" if position == len(ours) - 1 else "inner"
        for field in a._fields:
            if getattr(a, field) != getattr(b, field):
                return frame + "-" + field
    return "equal"
