"""Gives every difference a class. A class of its own (KNOWN.md) needs evidence in the file; the rest say what differs."""


class Context:
    """What the classes may look at: the slice and its thin copy."""

    def __init__(self, one, path):
        self.slice, self.path = one, path


def classify(context, address, ours, theirs):
    if not ours:
        return "we-say-nothing"
    if not theirs:
        return "llvm-says-nothing"
    if len(ours) != len(theirs):
        return "depth"
    for position, (a, b) in enumerate(zip(ours, theirs)):
        outer = "outer" if position == len(ours) - 1 else "inner"
        for field in ("name", "file", "line", "column"):
            if getattr(a, field) != getattr(b, field):
                return outer + "-" + field
    return "equal"
