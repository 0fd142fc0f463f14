#!/usr/bin/env python3
"""Whether a JSON report came out as it went in but for names. Usage: only_names.py IN OUT. Members keep their order and their
values, but those that name a frame; what is added is such a member or the object of an inlined call. Exit status 0 or 1."""
import json
import sys

NAMING = {"symbol", "symbolLocation", "sourceFile", "sourceLine", "inlined", "owner", "symbol_name", "symbol_addr", "source_file",
          "source_line", "inline", "function", "filename", "abs_path", "lineno", "colno", "method", "file", "lineNumber",
          "columnNumber", "symbolAddress", "symbolAddr", "absPath", "lineNo", "colNo"}


def differs(was, now, where):
    """Where the two differ; None: nowhere."""
    if isinstance(was, dict) and isinstance(now, dict):
        kept = [key for key in now if key in was or key not in NAMING]
        if [key for key in kept if key not in NAMING] != [key for key in was if key not in NAMING]:
            return f"{where}: members {list(was)} became {list(now)}"
        found = (differs(was[key], now[key], f"{where}.{key}") for key in kept if key not in NAMING)
    elif isinstance(was, list) and isinstance(now, list):
        kept = now if len(was) == len(now) else [e for e in now if not (isinstance(e, dict) and e.get("inline") is True)]
        if len(was) != len(kept):
            return f"{where}: {len(was)} elements became {len(now)}"
        found = (differs(a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(was, kept)))
    else:
        return None if was == now else f"{where}: {was!r} became {now!r}"
    return next((f for f in found if f), None)


before, after = (open(path, encoding="utf-8").read() for path in sys.argv[1:3])
found = differs(json.loads(before), json.loads(after), "report")
print(found or f"{len(after) - len(before)} bytes of names")
sys.exit(found is not None or before == after)
