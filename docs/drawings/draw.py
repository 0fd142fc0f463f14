#!/usr/bin/env python3
"""Writes the drawings of this folder. What they state of the code is read from the code, so a drawing that is stale differs.

  docs/drawings/draw.py          writes every drawing that differs
  docs/drawings/draw.py --check  fails when one differs
"""
import os
import re
import sys
from xml.sax.saxutils import escape

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))

STYLE = """text { font: 13px system-ui, sans-serif; fill: #24292f }
.m { font: 12px ui-monospace, "DejaVu Sans Mono", monospace }
.s { font-size: 12px; fill: #57606a }
.h { font-size: 15px; font-weight: 600 }
.b { font-weight: 600 }
.c { text-anchor: middle }
.e { text-anchor: end }
.page { fill: #ffffff; stroke: #d0d7de }
.box { fill: #f6f8fa; stroke: #8c959f }
.one { fill: #ddf4ff; stroke: #54aeff }
.two { fill: #dafbe1; stroke: #4ac26b }
.three { fill: #fff8c5; stroke: #d4a72c }
.line { fill: none; stroke: #57606a }
.hot { fill: none; stroke: #cf222e; stroke-width: 1.5 }
.tip { fill: #57606a }
.hottip { fill: #cf222e }
.dash { stroke-dasharray: 4 3 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.s { fill: #9da7b3 }
.page { fill: #0d1117; stroke: #30363d }
.box { fill: #161b22; stroke: #6e7681 }
.one { fill: #0c2d4a; stroke: #388bfd }
.two { fill: #0f2d1a; stroke: #3fb950 }
.three { fill: #34290b; stroke: #bb8009 }
.line { stroke: #9da7b3 }
.hot { stroke: #ff7b72 }
.tip { fill: #9da7b3 }
.hottip { fill: #ff7b72 }
}"""


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def constant(path, name):
    """The number that a room gives a name, by an enum or a define."""
    text = read(path)
    found = re.search(r"\b%s(?: =| ) *\(?([0-9a-fx]+)u?(?: << ([0-9]+)|\b)" % name, text)
    if not found:
        sys.exit("draw.py: %s has no number for %s" % (path, name))
    return int(found.group(1), 0) << int(found.group(2) or 0)


def named(path, *names):
    """The same names, which a file must have."""
    text = read(path)
    for name in names:
        if not re.search(r"\b%s\b" % re.escape(name), text):
            sys.exit("draw.py: %s has no %s" % (path, name))
    return names


def number(n):
    return "{:,}".format(n)


class Drawing:
    """One SVG; its texts must lie inside of the page."""

    def __init__(self, name, width, height, title):
        self.name, self.width, self.height, self.title = name, width, height, title
        self.parts = []

    def text(self, x, y, text, kind="", room=None):
        """room: how many pixels the text may take, which is checked by the width of a usual letter."""
        kinds = kind.split()
        size = 7.25 if "m" in kinds else 9 if "h" in kinds else 6.4 if "s" in kinds else 8 if "b" in kinds else 6.9
        width = len(text) * size
        left = x - width / 2 if "c" in kinds else x - width if "e" in kinds else x
        if left < 4 or left + width > self.width - 4 or room is not None and width > room:
            sys.exit("draw.py: %s: no room for: %s" % (self.name, text))
        self.parts.append('<text%s x="%g" y="%g">%s</text>'
                          % (' class="%s"' % kind if kind else "", x, y, escape(text)))

    def box(self, x, y, width, height, kind="box", round=3):
        self.parts.append('<rect class="%s" x="%g" y="%g" width="%g" height="%g" rx="%g"/>'
                          % (kind, x, y, width, height, round))

    def line(self, *points, kind="line"):
        self.parts.append('<path class="%s" d="M%s"/>' % (kind, " L".join("%g %g" % point for point in points)))

    def arrow(self, *points, kind="line"):
        """A line with a tip at its end, which comes straight down, up, left or right."""
        self.line(*points, kind=kind)
        (x0, y0), (x, y) = points[-2:]
        dx, dy = (x > x0) - (x < x0), (y > y0) - (y < y0)
        if dx and dy:
            sys.exit("draw.py: %s: the last part of an arrow must be straight" % self.name)
        tip = "hottip" if "hot" in kind else "tip"
        self.parts.append('<path class="%s" d="M%g %g l%g %g l%g %g Z"/>'
                          % (tip, x, y, -7 * dx - 4 * dy, -7 * dy - 4 * dx, 8 * dy, 8 * dx))

    def svg(self):
        width, height = self.width, self.height
        head = ['<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %d %d" width="%d" height="%d">'
                % (width, height, width, height),
                "<title>%s</title>" % escape(self.title), "<style>", STYLE, "</style>",
                '<rect class="page" x="0.5" y="0.5" width="%d" height="%d" rx="6"/>' % (width - 1, height - 1)]
        return "\n".join(head + self.parts + ["</svg>", ""])


# ---- Lifetimes ----

def lifetimes():
    named("src/api/api.h", "machsym_image_open", "machsym_image_close", "machsym_session_open", "machsym_session_frames_at_addr",
          "machsym_session_trim", "machsym_session_close")
    named("src/answer/session.h", "ms_ses_unit", "ms_ses_drop_units", "cache_limit")
    limit = constant("src/api/options.h", "MACHSYM_CACHE_LIMIT") >> 20
    kept = constant("src/api/options.h", "MACHSYM_KEPT_UNITS")
    d = Drawing("lifetimes", 860, 470, "How long an image, its sessions, decoded units and names live")
    d.text(16, 28, "How long things live", "h")
    d.text(16, 47, "Time runs to the right. A bar lasts as long as its object.", "s")
    left, right = 150, 844

    def lane(y, name, what):
        d.text(16, y + 15, name, "b", 130)
        d.text(16, y + 31, what, "s", 130)

    lane(70, "image", "shared by all")
    d.box(left, 66, right - left, 42, "one")
    d.text(left + 10, 83, "machsym_image_open", "m")
    d.text(right - 10, 83, "machsym_image_close", "m e")
    d.text(left + 10, 101, "Sections of debug info, unit headers and symbols: each made when it is first needed, then kept.", "s")

    lane(130, "session", "of thread 1")
    d.box(190, 126, 590, 42, "two")
    d.text(200, 143, "machsym_session_open", "m")
    d.text(770, 143, "machsym_session_close", "m e")
    d.text(200, 161, "Each machsym_session_frames_at_addr decodes the units that it needs.", "s")
    full, trim = 440, 610
    lane(184, "units", "decoded")
    for i, (begin, end) in enumerate([(220, full), (290, full), (330, full), (395, full), (455, trim), (520, trim),
                                      (630, 780), (700, 780)]):
        d.box(begin, 184 + i % 4 * 9, end - begin, 6, "three", 2)
    for x, what in ((full, "over %d MB and %d units: all are dropped" % (limit, kept)), (trim + 60, "machsym_session_trim")):
        d.text(x, 240, what, "m c" if "_" in what else "s c")
    d.line((full, 168), (full, 227), kind="hot dash")
    d.line((trim, 168), (trim, 227), kind="hot dash")
    d.text(full, 256, "(cache_limit)", "s c")

    lane(280, "session", "of thread 2")
    d.box(260, 276, 440, 42, "two")
    d.text(270, 301, "has units and names of its own; needs no lock", "s")

    lane(340, "names, paths", "in frames")
    d.box(220, 340, right - 220, 16, "one", 2)
    d.text(226, 352, "views into the file: until the image is closed", "s")
    d.box(220, 362, trim - 220, 16, "two", 2)
    d.text(226, 374, "put together, of object files, of a map: until the trim", "s")
    d.box(630, 362, 150, 16, "two", 2)
    d.text(636, 374, "or until the close", "s", 140)

    d.line((16, 398), (844, 398))
    d.text(16, 420, "Close sessions before their image. What machsym_open_desc.bytes points to must outlive it.")
    d.text(16, 442, "An image is const: any number of threads may use it. A session belongs to one thread at a time.")
    return d


# ---- A run ----

# The demo's run (tests/fixtures/bin/demo.app.dSYM), as docs/symmap.md looks 0x100000aec up in it; tests/drawings.sh
# compares every number with the map.
RUN = {"begin": 0x940, "length": 0x16e, "end": 0xaf0, "text": 0, "base": 0x940, "ranges": 36, "roots": 7, "calls": 6,
       "files": 3, "widths": (1, 1, 2, 0, 4, 2, 1, 2)}


def run():
    head = constant("src/symmap/symmap.h", "ms_MAP_HEAD")
    row = constant("src/symmap/symmap.h", "ms_MAP_ROW")
    run_head = constant("src/symmap/symmap.h", "ms_MAP_RUN_HEAD")
    most = constant("src/symmap/symmap.h", "ms_MAP_RUN_MAX")
    page = constant("src/symmap/pages.h", "ms_PG_BYTES")
    version = constant("src/symmap/symmap.h", "ms_MAP_VERSION")
    kinds = re.findall(r"^    ms_MAP_(\w+)(?: = 1)?,.*$",
                       re.search(r"/\* The kinds of tables. \*/\nenum \{\n(.*?)\};", read("src/symmap/symmap.h"), re.S)
                       .group(1), re.M)
    shown = "PAGES NAME INDEX RUNS SYMBOL_INDEX SYMBOL_RUNS DICT TEXT".split()
    shared = "TWINS TWIN_INDEX TWIN_RUNS CALLS".split()
    last = "UNWIND_INFO EH_FRAME DEBUG_FRAME LARGE_FRAMES".split()
    if sorted(kinds) != sorted(shown + shared + last):
        sys.exit("draw.py: the tables of a map are " + " ".join(kinds))
    named("src/symmap/symmap.h", "p + 12", "p + 16", "p + 20", "p + 22", "p + 24", "p + 26", "p + 28")

    d = Drawing("run", 860, 604, "A map of version %d, and the layout of a run in it" % version)
    d.text(16, 28, "A map, and one run of it", "h")
    d.text(844, 28, "version %d, little-endian" % version, "s e")
    d.text(245, 28, "where functions share code, also " + ", ".join(kind.replace("_", " ") for kind in shared), "s")
    x = 16
    for name, width in [("header", 78), ("directory", 84)] + [(kind.replace("_", " "), size) for kind, size in
                                                             zip(shown, (68, 58, 62, 76, 112, 108, 62, 120))]:
        d.box(x, 44, width, 34, "one" if name == "RUNS" else "box", 0)
        d.text(x + width / 2, 66, name, "c" if name in ("header", "directory") else "m c", width)
        x += width
    d.text(16, 96, "%d bytes" % head, "s")
    d.text(96, 96, "%d a table" % row, "s")

    # The run, part by part.
    link, file, line, column, place, start, size, starts = RUN["widths"]
    fields = [("head", run_head), ("starts", starts * (RUN["ranges"] - 1)),
              ("roots", (1 + place + start + size) * RUN["roots"]), ("files", place * RUN["files"]),
              ("ranges", (link + file + line + column) * RUN["ranges"]),
              ("calls", (link + file + line + column + place) * RUN["calls"])]
    at = {}
    offset = 0
    for name, length in fields:
        at[name] = offset
        offset += length
    if offset != RUN["length"]:
        sys.exit("draw.py: the parts of the run have %d bytes" % offset)
    d.line((376, 78), (16, 118), kind="line dash")
    d.line((452, 78), (844, 118), kind="line dash")
    d.text(16, 136, "The run of the demo: %d bytes for the code from 0x%x to 0x%x" % (offset, RUN["begin"], RUN["end"]), "b")
    widths = {"head": 160, "starts": 128, "roots": 128, "files": 100, "ranges": 156, "calls": 156}
    counts = {"head": "36 bytes", "starts": "%d x %d" % (RUN["ranges"] - 1, starts), "roots": "%d x 8" % RUN["roots"],
              "files": "%d x %d" % (RUN["files"], place), "ranges": "%d x %d" % (RUN["ranges"], link + file + line),
              "calls": "%d x %d" % (RUN["calls"], link + file + line + place)}
    x = 16
    left = {}
    for name, _ in fields:
        d.box(x, 146, widths[name], 40, "one" if name == "head" else "two" if name in ("roots", "calls") else "three", 0)
        d.text(x + widths[name] / 2, 163, name, "b c")
        d.text(x + widths[name] / 2, 180, counts[name], "m c", widths[name])
        d.text(x, 202, "0x%x" % at[name], "m")
        left[name] = x
        x += widths[name]
    d.text(844, 202, "0x%x" % RUN["length"], "m e")

    # What a record of each part holds.
    d.text(16, 232, "head", "b")
    rows = [(0, "u32", "begin", "0x%x" % RUN["begin"]), (4, "u32", "length", "0x%x" % RUN["length"]),
            (8, "u32", "end", "0x%x" % RUN["end"]), (12, "u32", "text", RUN["text"]), (16, "u32", "base", "0x%x" % RUN["base"]),
            (20, "u16", "ranges", RUN["ranges"]), (22, "u16", "roots", RUN["roots"]), (24, "u16", "calls", RUN["calls"]),
            (26, "u16", "files", RUN["files"]), (28, "8 u8", "widths", "")]
    for i, (position, kind, name, value) in enumerate(rows):
        y = 252 + 18 * i
        d.text(38, y, str(position), "m e")
        d.text(48, y, kind, "m")
        d.text(92, y, name, "m")
        d.text(196, y, str(value), "m e")
    names = "LINK FILE LINE COLUMN PLACE START SIZE starts".split()
    for i, (name, width) in enumerate(zip(names, RUN["widths"])):
        y = 252 + 18 * (len(rows) + i // 2)
        d.text(48 + i % 2 * 84, y, name, "m")
        d.text(106 + i % 2 * 90, y, str(width), "m e")
    d.text(16, 514, "Width 0: the field is not stored.", "s", 220)

    def record(y, title, cells, note):
        x = 250
        d.text(x, y - 8, title, "b")
        d.text(x + 9 * len(title) + 6, y - 8, note, "s")
        for name, width, kind in cells:
            d.box(x, y, width, 24, kind, 0)
            d.text(x + width / 2, y + 16, name, "m c", width)
            x += width

    record(240, "range", [("LINK", 60, "one"), ("FILE", 60, "three"), ("LINE", 60, "box"), ("COLUMN", 66, "box")],
           "LINK leads to the innermost call, or to a root")
    record(310, "call", [("LINK", 60, "one"), ("FILE", 60, "three"), ("LINE", 60, "box"), ("COLUMN", 66, "box"),
                         ("PLACE", 66, "two")], "an inlined call; LINK leads to its caller")
    record(380, "root", [("source", 60, "box"), ("PLACE", 60, "two"), ("START", 60, "box"), ("SIZE", 60, "box")],
           "the concrete function, where a chain ends")
    record(472, "file", [("PLACE", 60, "two")], "compilation directory, directory, name")
    d.arrow((280, 264), (280, 284), (236, 284), (236, 322), (249, 322), kind="hot")
    d.arrow((280, 334), (280, 354), (236, 354), (236, 392), (249, 392), kind="hot")
    d.arrow((562, 322), (640, 322), (640, 488), (621, 488))
    d.arrow((340, 404), (340, 424), (560, 424), (560, 471))
    d.arrow((310, 484), (469, 484))
    d.box(470, 472, 150, 34, "two")
    d.text(545, 493, "texts in TEXT", "c")

    # The chain of the worked lookup.
    d.text(656, 232, "0x100000aec, by frame", "b")
    chain = [("range 35", "queue.hpp:6"), ("link 14 = call 5", "require"), ("link 13 = call 4", "Queue<int>::at"),
             ("link 12 = call 3", "Queue<int>::drop"), ("link 8 = root 6", "-[Player skip:]")]
    for i, (what, name) in enumerate(chain):
        y = 244 + 50 * i
        d.box(668, y, 176, 38, "three" if i == 0 else "two")
        d.text(676, y + 16, what, "m")
        d.text(676, y + 32, name, "s")
        if i > 0:
            d.arrow((756, y - 12), (756, y), kind="hot")
    d.text(16, 546, "A range begins at base + its start, the first one at base, and ends where the next one begins. A run has all that")
    d.text(16, 566, "its answers need but text: %d ranges or some more. Links are numbered from 2 on, roots first, then calls." % most)
    d.text(16, 590, "All of the file from NAME on is divided into pages of %s bytes. PAGES has the checksum of each. Unwind tables stand last." % number(page), "s")
    return d


# ---- The index ----

def index():
    steps = constant("src/symmap/symmap.h", "ms_MAP_STEPS")
    last = constant("src/symmap/symmap.h", "ms_MAP_LAST_RUN")
    d = Drawing("index", 860, 452, "The index of a map: from an offset of code to the run that answers")
    d.text(16, 28, "From an offset of code to a run", "h")
    d.text(844, 28, "bucket of offset o = o >> shift; the last bucket counts for all after it", "s e")

    left, bucket = 130, 102
    d.text(16, 70, "code", "b")
    for i in range(7):
        d.box(left + i * bucket, 54, bucket, 24, "three" if i == 4 else "box", 0)
        d.text(left + i * bucket + bucket / 2, 71, "bucket %d" % i, "c")
    d.text(16, 112, "INDEX", "b")
    d.text(16, 128, "u32 numbers", "s")
    numbers = ["0", "0", "40", "83", "0x%x+l" % (last + 1), "700", "700"]
    for i, what in enumerate(numbers):
        d.box(left + i * bucket, 100, bucket, 28, "three" if i == 4 else "one", 0)
        d.text(left + i * bucket + bucket / 2, 119, what, "m c", bucket)
        d.line((left + i * bucket + bucket / 2, 78), (left + i * bucket + bucket / 2, 100))

    d.text(16, 212, "RUNS", "b")
    d.text(16, 228, "at even places", "s")
    runs = [(130, 96, "run at 0"), (226, 142, "run at 80"), (368, 128, "run at 166"), (496, 24, ""), (520, 24, ""), (544, 24, ""),
            (568, 24, ""), (592, 24, ""), (616, 24, ""), (640, 24, ""), (664, 24, ""), (688, 24, ""),
            (712, 132, "run at 1,400")]
    for x, width, what in runs:
        d.box(x, 200, width, 28, "two", 0)
        if what:
            d.text(x + width / 2, 219, what, "m c", width)
    for i, x in ((0, 150), (1, 190), (2, 270), (3, 400), (5, 740), (6, 790)):
        d.arrow((left + i * bucket + bucket / 2, 128), (left + i * bucket + bucket / 2, 162 if i == 2 else 150),
                (x, 162 if i == 2 else 150), (x, 200), kind="line")
    d.text(604, 194, "more than %d runs begin in bucket 4" % steps, "s c")

    d.text(16, 292, "a list", "b")
    d.text(16, 308, "at u32 l of INDEX,", "s")
    d.text(16, 323, "after all buckets", "s")
    cells = ["count", "begin", "place / 2", "begin", "place / 2", "...", "begin", "place / 2"]
    x = 240
    for i, what in enumerate(cells):
        width = 58 if what in ("count", "begin") else 40 if what == "..." else 82
        d.box(x, 284, width, 28, "three", 0)
        d.text(x + width / 2, 303, what, "m c", width)
        if i in (2, 4, 7):
            target = {2: 440, 4: 508, 7: 700}[i]
            d.arrow((x + width / 2, 284), (x + width / 2, 256 if i != 4 else 246), (target, 256 if i != 4 else 246),
                    (target, 228), kind="hot")
        x += width
    d.arrow((left + 4 * bucket + bucket / 2, 128), (left + 4 * bucket + bucket / 2, 142), (850, 142), (850, 328), (254, 328), (254, 312),
            kind="hot")

    d.line((16, 342), (844, 342))
    d.text(16, 366, "A number is the place of a run in RUNS divided by 2: of the last run that begins at or below the bucket's begin.")
    d.text(16, 388, "From there a lookup goes on run by run, %d times at most. A bucket in which more runs begin has a list instead: the" % steps)
    d.text(16, 410, "run that its number would have led to, and those that begin in it. SYMBOL INDEX leads to SYMBOL RUNS the same way.")
    d.text(16, 434, "The numbers here are an example.", "s")
    return d


# ---- A block of text ----

def block():
    bits = constant("src/symmap/pack.h", "ms_PK_BLOCK_BITS")
    size = 1 << bits
    unit = constant("src/symmap/symmap.h", "ms_MAP_UNIT")
    dictionary = constant("src/symmap/pack.h", "ms_PK_DICT")
    least = constant("src/symmap/pack.h", "ms_PK_MIN")
    longest = constant("src/api/options.h", "MACHSYM_MAX_TEXT")
    d = Drawing("block", 860, 486, "How names and paths are packed in blocks of %s bytes" % number(size))
    d.text(16, 28, "Names and paths in packed blocks", "h")
    d.text(844, 28, "a text: uleb length (%s at most), then its bytes" % number(longest), "s e")

    d.text(16, 66, "the text", "b")
    for i in range(3):
        d.box(130 + i * 238, 50, 238, 26, "box", 0)
        d.text(134 + i * 238, 92, number(i * size), "m")
    texts = [(130, 92, '0b "_Z7requireb"'), (252, 70, "..."), (322, 92, "a name that")]
    d.box(140, 54, 124, 18, "two", 2)
    d.text(202, 67, '0b "_Z7requireb"', "m c", 124)
    d.box(266, 54, 70, 18, "two", 2)
    d.text(301, 67, '07 "req"', "m c", 70)
    d.box(338, 54, 60, 18, "two", 2)
    d.text(368, 67, "runs on", "s c", 60)
    d.text(410, 67, "in the next block", "s")
    d.text(844, 92, "every %s bytes" % number(size), "s e")

    d.text(16, 148, "TEXT", "b")
    d.text(16, 164, "in the file", "s")
    boxes = [(130, 190), (340, 150), (510, 210)]
    for i, (x, width) in enumerate(boxes):
        d.box(x, 130, 42, 34, "one", 0)
        d.text(x + 21, 151, "u16", "m c", 42)
        d.box(x + 42, 130, width - 42, 34, "three", 0)
        d.text(x + 42 + (width - 42) / 2, 151, "packed bytes", "c", width - 42)
        d.line((130 + i * 238 + 119, 76), (x + width / 2, 130), kind="line dash")
        d.line((x, 164), (x, 176))
        d.text(x, 190, "unit %d" % (0, 23, 41)[i], "m")
    d.text(844, 151, "and so on", "s e")
    d.text(844, 208, "a block begins at a multiple of %d bytes, its unit" % unit, "s e")

    d.text(16, 236, "unpacked", "b")
    d.text(16, 252, "block 1", "s")
    d.box(130, 220, 330, 34, "two", 0)
    d.text(295, 241, "DICT: %s bytes, one for the whole map" % number(dictionary), "c", 330)
    d.box(460, 220, 384, 34, "three", 0)
    d.box(560, 224, 70, 26, "box", 2)
    d.text(595, 241, "match", "c")
    d.box(740, 224, 70, 26, "box", 2)
    d.text(775, 241, "match", "c")
    d.text(466, 241, "literals", "")
    d.text(645, 241, "literals", "")
    d.arrow((595, 254), (595, 276), (300, 276), (300, 254), kind="hot")
    d.arrow((775, 254), (775, 276), (690, 276), (690, 254), kind="hot")
    d.text(306, 292, "into DICT, and on into the block where DICT ends", "s")
    d.text(640, 292, "or back into the block itself", "s")

    d.text(16, 330, "Place p of a run is the byte p %% %d of the block at unit text + p / %d. Text is a field of the run's head." % (size, size), "")
    d.box(16, 344, 828, 54, "box")
    d.text(28, 366, "demo, PLACE 546:", "m")
    d.text(160, 366, "546 / 2 = 273. Unit 0 + 273 / %d = 0, byte 273 of it: there stand the linkage name _Z7requireb" % size)
    d.text(160, 386, "and the name, require. The lowest bit of PLACE was 0: the name is from debug info.")
    d.text(16, 424, "The u16 says how many packed bytes follow: with %s they are the text as it is, else an LZ4 block that unpacks to" % number(size))
    d.text(16, 446, "%s bytes. A match has %d bytes or more. A name costs half a block on average, and no block before it." % (number(size), least))
    d.text(16, 470, "Units are numbered from the begin of TEXT; the numbers 23 and 41 are an example.", "s")
    return d


# ---- The whole program ----

JOBS = {
    "src/api": "all that a user may touch; every limit with its reason",
    "src/base": "the system, bytes, memory, ranges, decompression, the one hash table",
    "src/names": "demanglers",
    "src/macho": "Mach-O, caches, symbols, metadata",
    "src/unwind": "callers of a frame",
    "src/dwarf": "units, lines, functions",
    "src/symmap": "reads a map in place",
    "src/image": "an opened file, the other half, its object files",
    "src/answer": "the one engine: unit, function, call and row of an address",
    "src/map": "makes maps: parts, merge, writer",
    "src": "the public functions, machsym_*",
    "report/base": "text, JSON and numbers, which the tool uses too",
    "report/model": "what a report is: images, threads, frames, facts",
    "report/read": "a file for each format, and what recognises them",
    "report/look": "names and lines for a report's addresses",
    "report/tell": "what a report means: causes, signatures, groups, what is missing",
    "report/write": "its own format, Apple's text, JSON, HTML",
    "report": "all reports of an input",
    "tool/base": "the system, memory, messages, options",
    "tool/files": "archives, caches, property lists, outputs",
    "tool/symbols": "where symbols are, and what they say of an address",
    "tool/cmd": "a file or folder for each subcommand",
}


def prefixes():
    """Storey to the first prefix of each of its rooms, in the order of the tables."""
    found = {}
    for path, top in (("tests/rooms.prefixes", "src/"), ("tests/rooms_tool.prefixes", "")):
        for line in read(path).splitlines():
            if line and not line.startswith("#"):
                room, prefix = line.split()[:2]
                folder = "/".join(os.path.dirname(top + room).split("/")[:2])
                found.setdefault(folder, []).append(prefix)
    return found


def storeys():
    """Storey to those that it may use."""
    uses = {}
    for line in read("tests/rooms.storeys").splitlines():
        words = line.split()
        if words and words[0] in ("src", "tool") and words[1] != "tool":
            uses[words[1]] = set(words[2:])
    return uses


def program():
    uses, found = storeys(), prefixes()
    if set(uses) != set(JOBS):
        sys.exit("draw.py: storeys without a job, or jobs without a storey: %s" % " ".join(sorted(set(uses) ^ set(JOBS))))
    d = Drawing("program", 860, 0, "The whole program: layers and the prefixes of their functions")
    d.text(16, 28, "The whole program: what uses stands above what is used", "h")
    d.text(844, 28, "after each job: the prefixes of its rooms", "s e")
    boxes = {}

    def wrapped(words, width):
        lines = [""]
        for word in words:
            if lines[-1] and (len(lines[-1]) + 1 + len(word)) * 7.25 > width:
                lines.append("")
            lines[-1] += (" " if lines[-1] else "") + word
        return lines

    def storey(name, x, y, width, kind, least=0):
        """A box of a storey; returns where it ends."""
        lines = wrapped(found.get(name, []), width - 20)
        short = name.split("/")[-1] if "/" in name else {"src": "entrance, text", "report": "walk"}[name]
        narrow = width < 400
        height = max(28 + 16 * narrow + 16 * len(lines) * bool(lines[0]), least)
        boxes[name] = (x, y, x + width, y + height)
        d.box(x, y, width, height, kind)
        d.text(x + 10, y + 19, short, "b")
        if narrow:
            d.text(x + 10, y + 35, JOBS[name], "s", width - 14)
        else:
            d.text(x + 22 + 8 * len(short), y + 19, JOBS[name], "s", width - 36 - 8 * len(short))
        for i, line in enumerate(lines):
            if line:
                d.text(x + 10, y + 36 + 16 * narrow + 16 * i, line, "m", width - 14)
        return y + height

    # Who uses it.
    for x, width, what, how in ((16, 196, "your program in C, C++", "includes machsym.h"),
                                (226, 196, "bindings/", "Python, Go, Rust, Swift, JS"),
                                (436, 196, "people, CI, examples/", "run machsym"),
                                (646, 198, "server/, in Go", "runs machsym worker")):
        d.box(x, 42, width, 44, "box")
        d.text(x + 10, 61, what, "b", width - 12)
        d.text(x + 10, 78, how, "s", width - 12)

    d.arrow((540, 86), (540, 108))
    d.arrow((740, 86), (740, 108))
    y = 108
    top = y
    d.text(122, y + 18, "tool/: the program machsym", "b")
    y += 28
    for name in ("tool/cmd", "tool/symbols", "tool/files", "tool/base"):
        y = storey(name, 122, y, 712, "three") + 6
    d.box(112, top, 732, y - top + 4, "line", 5)
    y += 18
    top = y
    d.text(122, y + 18, "report/: crash reports, bytes in and bytes out", "b")
    y += 28
    for name in ("report", "report/write", "report/tell", "report/look", "report/read", "report/model", "report/base"):
        y = storey(name, 122, y, 712, "two") + 6
    d.box(112, top, 732, y - top + 4, "line", 5)
    y += 18
    top = y
    d.arrow((40, 86), (40, top))
    d.arrow((240, 86), (240, 96), (80, 96), (80, top))
    d.text(26, y + 18, "machsym.h: the rooms of src/, joined by src/join", "b")
    y += 28
    wide, x0 = 808, 26
    y = storey("src", x0, y, wide, "one") + 6
    begin = y
    part = 606
    aside = 140
    for name in ("src/map", "src/answer", "src/image"):
        y = storey(name, x0 + aside, y, part - 6 - aside, "one") + 6
    storey("src/unwind", x0, begin, aside - 6, "one", y - 6 - begin)
    least = 0
    for name, x, width in (("src/macho", x0, 246), ("src/dwarf", x0 + 252, 196), ("src/symmap", x0 + 454, 146)):
        least = max(least, 44 + 16 * len(wrapped(found[name], width - 20)))
    for name, x, width in (("src/macho", x0, 246), ("src/dwarf", x0 + 252, 196), ("src/symmap", x0 + 454, 146)):
        end = storey(name, x, y, width, "one", least)
    storey("src/names", x0 + part, begin, wide - part, "one", end - begin)
    y = end + 6
    y = storey("src/base", x0, y, wide, "one") + 6
    y = storey("src/api", x0, y, wide, "one") + 6
    d.box(16, top, 828, y - top + 4, "line", 5)
    d.text(16, y + 24, "A room uses rooms of its own box or of boxes below it, never above: tests/rooms.storeys, make rooms.", "s")

    d.height = y + 38

    # In src a storey may use exactly what lies below it; in the other half what it uses lies below.
    def below(a, b):
        return boxes[b][1] >= boxes[a][3] and (boxes[b][0] < boxes[a][2] and boxes[a][0] < boxes[b][2])
    for name in boxes:
        drawn = {other for other in boxes if below(name, other)}
        wrong = drawn ^ uses[name] if name.startswith("src") else uses[name] - drawn
        if wrong:
            sys.exit("draw.py: %s and %s are not drawn as tests/rooms.storeys has them" % (name, " ".join(sorted(wrong))))
    return d


def main():
    stale = []
    for drawing in (lifetimes(), run(), index(), block(), program()):
        path = os.path.join(HERE, drawing.name + ".svg")
        try:
            with open(path, encoding="utf-8") as file:
                same = file.read() == drawing.svg()
        except OSError:
            same = False
        if not same:
            stale.append(drawing.name)
        if not same and sys.argv[1:] != ["--check"]:
            with open(path, "w", encoding="utf-8") as file:
                file.write(drawing.svg())
    if stale and sys.argv[1:] == ["--check"]:
        sys.exit("draw.py: stale: " + " ".join(stale) + "; run docs/drawings/draw.py")


if __name__ == "__main__":
    main()
