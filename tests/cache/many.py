#!/usr/bin/env python3
"""A shared cache as large as those of devices: many.py OUTDIR [IMAGES [SYMBOLS]]

The cache of OUTDIR has 3,000 images and five million symbols unless told otherwise, in a main file, seven others and `.symbols`. Most of the
symbols are local ones in `.symbols`, as in caches of iOS; a quarter are exports. Code is a hole. Images differ in size as real
ones do: the largest has thousands of times the symbols of the smallest. No test reads it; it is what times are measured with.
"""
import hashlib
import os
import random
import struct
import sys

sys.dont_write_bytecode = True
from dylib import uleb_bytes, write_trie # noqa: E402

BASE, PAGE, FILES = 0x180000000, 0x4000, 8
HEADER = 0x200000 # room for the header, the lists of images and their paths
STRIDE = 0x20000000 # from one mapping to the next
FUNCTION = 96 # bytes of code, on average
MARK = "QQQQ" # stands for an image's prefix in a template: names of an image begin alike
SIZES = 24 # templates: images of one size have the same names but for their prefix
WORDS = ("view controller layer table collection cell item index path section header footer scroll gesture touch event window scene "
         "screen animation transition presentation text input keyboard selection range font color image data model store fetch "
         "request response session task queue block operation cache key value object array dictionary set string number date "
         "calendar locale format parser encoder decoder stream file url query predicate sort descriptor entity attribute context "
         "manager service client server connection message handler delegate source observer notification center user device state "
         "mode style options configuration identifier type name title label button control bar navigation tab tool search result").split()


def align(n, to):
    return (n + to - 1) // to * to


def name(random, kind):
    def camel(count, first=True):
        words = [random.choice(WORDS) for _ in range(count)]
        return "".join(w.capitalize() if first or i else w for i, w in enumerate(words))

    if kind == "objc":
        parts = random.choice((1, 1, 2, 3))
        return "%s[%s%s %s]" % (random.choice("---+"), MARK, camel(2), "".join(camel(2, False) + ":" for _ in range(parts)))
    if kind == "cxx":
        scope, method = camel(2), camel(2, False)
        return "__ZN%d%s%d%s%d%sERKNSt3__16vectorIiNS_9allocatorIiEEEEb" % (
            len(MARK), MARK, len(scope), scope, len(method), method)
    if kind == "swift":
        scope, method = camel(2), camel(2, False)
        return "_$s%d%s%d%sC%d%syySS_SitF" % (len(MARK), MARK, len(scope), scope, len(method), method)
    return "_" + MARK + camel(random.choice((2, 3, 4)))


class Template:
    """The names and tables of images with `count` symbols. MARK stands for the prefix."""

    def __init__(self, count, seed):
        source = random.Random(seed)
        kinds = source.choices(("c", "objc", "cxx", "swift"), (30, 40, 15, 15), k=count)
        self.names = [name(source, kind) for kind in kinds]
        self.is_export = [kind != "objc" and source.random() < 0.42 for kind in kinds]
        self.offsets, at = [], PAGE
        for _ in kinds:
            self.offsets.append(at)
            at += 4 * source.randrange(4, FUNCTION // 2 - 4)
        self.size = align(at, PAGE)
        exports, seen = [], set()
        for n, is_export, off in zip(self.names, self.is_export, self.offsets):
            if is_export and n not in seen:
                exports.append((n, 0, off))
                seen.add(n)
        self.trie = write_trie(exports)
        starts, before = bytearray(), 0
        for off in self.offsets:
            starts += uleb_bytes(off - before)
            before = off
        self.starts = bytes(starts) + b"\0"
        self.exported = self.strings(True)
        self.local = self.strings(False)

    def strings(self, exported):
        """(bytes of the names, offset of each, offset of its function)."""
        out, where, functions = bytearray(), [], []
        for n, is_export, off in zip(self.names, self.is_export, self.offsets):
            if is_export == exported:
                where.append(len(out))
                functions.append(off)
                out += n.encode() + b"\0"
        return bytes(out), where, functions


def prefix(index):
    return "".join(chr(65 + index // 26 ** i % 26) for i in (3, 2, 1, 0))


def symbols(table, address, first_string, kind):
    """nlist_64 of all symbols of a template."""
    _, strings, functions = table
    return b"".join([struct.pack("<IBBHQ", first_string + s, kind, 1, 0, address + f) for s, f in zip(strings, functions)])


class File:
    def __init__(self, number):
        self.suffix = ".%02d" % number if number else ""
        self.address = BASE + 2 * number * STRIDE
        self.linkedit_address = self.address + STRIDE
        self.uuid = hashlib.md5(b"many%d" % number).digest()
        self.text_size = HEADER
        self.images, self.linkedit, self.strings = [], bytearray(8), bytearray(b"\0<redacted>\0")

    def put(self, blob):
        self.linkedit += bytes(-len(self.linkedit) % 8) + blob
        return len(self.linkedit) - len(blob)


def place(files, templates, counts):
    """Gives every image its place, and tables in the __LINKEDIT of its file. Returns (path, uuid, address, size, template)."""
    images = []
    for i, count in enumerate(counts):
        file, template = files[i * FILES // len(counts)], templates[count]
        path = "/System/Library/Frameworks/%s.framework/%s" % (prefix(i), prefix(i))
        address = file.address + file.text_size
        file.text_size += template.size
        mark = lambda blob: blob.replace(MARK.encode(), prefix(i).encode()) # noqa: E731, B023
        tables = {"trie": (file.put(mark(template.trie)), len(template.trie)),
                  "starts": (file.put(template.starts), len(template.starts))}
        exported = symbols(template.exported, address, len(file.strings), 0x0F)
        file.strings += mark(template.exported[0])
        redacted = b"".join([struct.pack("<IBBHQ", 1, 0x0E, 1, 0, address + f) for f in template.local[2]])
        tables["symbols"] = file.put(redacted + exported), len(template.offsets)
        tables["locals"] = len(template.local[2])
        file.images.append((path, address, template, tables, hashlib.md5(path.encode()).digest()))
        images.append((path, file.images[-1][4], address, template.size, template))
    return images


def load_commands(file, image, linkedit_off, strings_off):
    path, address, template, tables, uuid = image
    strings = len(file.strings)

    def segment(name, vmaddr, vmsize, off, sections=b""):
        return struct.pack("<II16sQQQQIIII", 0x19, 72 + len(sections), name, vmaddr, vmsize, off, vmsize, 7, 5, len(sections) // 80, 0) + sections

    text = struct.pack("<16s16sQQIIIIIIII", b"__text", b"__TEXT", address + PAGE, template.size - PAGE,
                       address - file.address + PAGE, 4, 0, 0, 0x80000400, 0, 0, 0)
    first, count = tables["symbols"]
    local = tables["locals"]
    name = path.encode().ljust(align(len(path) + 1, 8), b"\0")
    commands = [
        segment(b"__TEXT", address, template.size, address - file.address, text),
        segment(b"__LINKEDIT", file.linkedit_address, align(len(file.linkedit) + strings, PAGE), linkedit_off),
        struct.pack("<6I", 0xD, 24 + len(name), 24, 0, 0, 0) + name,
        struct.pack("<II16s", 0x1B, 24, uuid),
        struct.pack("<6I", 2, 24, linkedit_off + first, count, linkedit_off + strings_off, strings),
        struct.pack("<20I", 0xB, 80, 0, local, local, count - local, count, *[0] * 13),
        struct.pack("<4I", 0x26, 16, linkedit_off + tables["starts"][0], tables["starts"][1]),
        struct.pack("<4I", 0x80000033, 16, linkedit_off + tables["trie"][0], tables["trie"][1]),
    ]
    body = b"".join(commands)
    return struct.pack("<8I", 0xFEEDFACF, 0x0100000C, 0x80000002, 6, len(commands), len(body), 0x80000085, 0) + body


def header(file, mappings, images, others, symbols_uuid, locals_at):
    head = bytearray(0x228)
    head[:16] = b"dyld_v1  arm64e\0"
    put = lambda at, form, *values: struct.pack_into("<" + form, head, at, *values) # noqa: E731
    tables = bytearray()

    def table(rows):
        off = len(head) + len(tables)
        tables.extend(b"".join(rows))
        return off, len(rows)

    put(0x10, "II", *table([struct.pack("<QQQII", *m, 5, 5) for m in mappings]))
    put(0x48, "QQ", *locals_at)
    head[0x58:0x68] = file.uuid
    put(0x68, "Q", 2)
    put(0xD8, "I", 2)
    put(0xE0, "QQ", BASE, 2 * FILES * STRIDE)
    put(0x138, "II", *table([struct.pack("<6QII", *m, 0, 0, 0, 5, 5) for m in mappings]))
    put(0x16C, "I", 0x00120100)
    put(0x188, "II", *table([struct.pack("<16sQ32s", f.uuid, f.address - BASE, f.suffix.encode()) for f in others]))
    head[0x190:0x1A0] = symbols_uuid
    paths = bytearray()
    paths_at = HEADER // 2
    where = []
    for image in images:
        where.append(paths_at + len(paths))
        paths += image[0].encode() + b"\0"
    put(0x1C0, "II", *table([struct.pack("<QQQII", image[2], 0, 0, at, 0) for image, at in zip(images, where)]))
    put(0x88, "QQ", *table([struct.pack("<16sQII", image[1], image[2], image[3], at) for image, at in zip(images, where)]))
    assert len(head) + len(tables) <= paths_at and paths_at + len(paths) <= HEADER
    return (bytes(head) + bytes(tables)).ljust(paths_at, b"\0") + bytes(paths)


def save(folder, file, images, others, symbols_uuid):
    linkedit_off = align(file.text_size, PAGE)
    strings_off = file.put(bytes(file.strings))
    size = align(len(file.linkedit), PAGE)
    mappings = [(file.address, linkedit_off, 0), (file.linkedit_address, size, linkedit_off)]
    with open(os.path.join(folder, "dyld_shared_cache_arm64e" + file.suffix), "wb") as f:
        f.write(header(file, mappings, images, others, symbols_uuid, (0, 0)))
        for image in file.images:
            f.seek(image[1] - file.address)
            f.write(load_commands(file, image, linkedit_off, strings_off))
        f.seek(linkedit_off)
        f.write(file.linkedit)
        f.truncate(linkedit_off + size)


def save_symbols(folder, images):
    """The file of local symbols."""
    file = File(FILES)
    file.suffix = ".symbols"
    strings, nlists, entries, count = bytearray(b"\0"), [], [], 0
    for path, _, address, _, template in images:
        nlists.append(symbols(template.local, address, len(strings), 0x0E))
        strings += template.local[0].replace(MARK.encode(), os.path.basename(path).encode())
        entries.append(struct.pack("<QII", address - BASE, count, len(template.local[2])))
        count += len(template.local[2])
    nlist = b"".join(nlists)
    entries_at = align(24 + len(nlist) + len(strings), 8)
    chunk = struct.pack("<6I", 24, count, 24 + len(nlist), len(strings), entries_at, len(entries)) + nlist + strings
    chunk = chunk.ljust(entries_at, b"\0") + b"".join(entries)
    with open(os.path.join(folder, "dyld_shared_cache_arm64e.symbols"), "wb") as f:
        f.write(header(file, [], [], [], bytes(16), (HEADER, len(chunk))))
        f.seek(HEADER)
        f.write(chunk)
    return file.uuid, count, len(strings)


def main(folder, images=3000, all_symbols=5000000):
    images, all_symbols = int(images), int(all_symbols)
    os.makedirs(folder, exist_ok=True)
    weights = [1 / (i // (images // SIZES + 1) + 1) ** 2 for i in range(images)]
    weights[0] += 0.03 * sum(weights) # one is far larger than all others
    counts = [max(8, int(all_symbols * w / sum(weights))) for w in weights]
    templates = {count: Template(count, count) for count in set(counts)}
    random.Random(1).shuffle(counts)
    files = [File(i) for i in range(FILES)]
    listed = place(files, templates, counts)
    symbols_uuid, local, local_bytes = save_symbols(folder, listed)
    for file in files:
        save(folder, file, listed if file is files[0] else [], files[1:] if file is files[0] else [],
             symbols_uuid if file is files[0] else bytes(16))
    exported = sum(len(t.exported[1]) for *_, t in listed)
    print("%d images, %d symbols (%d local), largest image %d, names %d bytes" % (
        images, exported + local, local, max(counts), local_bytes + sum(len(f.strings) for f in files)))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
