"""Archives by chance: zips, tars, gzip files and static libraries, with every field that a writer may leave out or add, for test_archive.c.
What is in each is told by Python's zipfile, tarfile and gzip, by llvm-ar and GNU's tar and ar, and must be what was put there.
Usage: archives.py FOLDER SEED. FOLDER/list has a line for each thing, with tabs: `A path` begins an archive, `M name file` is a member of it
and the file with its bytes, `E path text` is refused with this text, `N path` is no archive, `B path bytes` may become just that many."""
import gzip, io, os, random, shutil, struct, subprocess, sys, tarfile, zipfile, zlib

OUT, RNG = sys.argv[1], random.Random(sys.argv[2])
SIZES = [0, 1, 2, 27, 28, 29, 511, 512, 513, 1023, 1024, 4095, 65535, 65536, 65537, 70000, 131072, 131073, 300000]
LIST, CONTENTS = [], {}


def content():
    size = RNG.choice(SIZES)
    if RNG.random() < 0.4:
        return RNG.randbytes(size)
    return (b"line %d of a file\n" % RNG.randrange(1000) * (size // 10 + 1))[:size]


def name(longest=40):
    parts = ["".join(RNG.choice("abcdefgh.-_ éß") for _ in range(RNG.randint(1, 12))).strip(" .") or "x" for _ in range(RNG.randint(1, 4))]
    return ("/".join(parts) + "%d" % RNG.randrange(10**6))[-longest:].strip("/ ")


def members(count=None):
    return {name(): content() for _ in range(RNG.randint(1, 9) if count is None else count)}


def write(path, data):
    with open(os.path.join(OUT, path), "wb") as out:
        out.write(data)


def tell(path, data, found):
    """An archive, and what somebody else finds in it: [(name, bytes)]."""
    write(path, data)
    LIST.append(["A", path])
    for title, body in found:
        title = title.encode() if isinstance(title, str) else title
        key = CONTENTS.setdefault(body, "c%d" % len(CONTENTS))
        write(key, body)
        LIST.append(["M", title.hex(), key])


def refuse(path, data, text):
    write(path, data)
    LIST.append(["E", path, text])


def no_archive(path, data):
    write(path, data)
    LIST.append(["N", path])


# ---- Zip, after APPNOTE.TXT ----

def deflate(data, level):
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def extra(size):
    return struct.pack("<HH", 0x5455, size) + bytes(size)


def zip_of(found, begin=b"", counts_begin=False, comment=b"", end64=False, full_end=False):
    """full_end: the end record leaves all its numbers to that of zip64."""
    whole, directory = begin, b""
    shift = 0 if counts_begin else len(begin)
    for title, data in found.items():
        method = RNG.choice([0, 8, 8])
        packed = data if method == 0 else deflate(data, RNG.choice([1, 6, 9]))
        flags = 0x800 | RNG.choice([0, 8])
        local_sizes = (0, 0, 0) if flags & 8 else (zlib.crc32(data), len(packed), len(data))
        numbers = [("size", len(data)), ("packed", len(packed)), ("at", len(whole) - shift)]
        in64 = [key for key, _ in numbers if RNG.random() < 0.3]
        fields = [extra(RNG.choice([0, 1, 9]))] if RNG.random() < 0.5 else []
        if in64:
            wide = b"".join(struct.pack("<Q", value) for key, value in numbers if key in in64) + (struct.pack("<I", 0) if RNG.random() < 0.3 else b"")
            fields.append(struct.pack("<HH", 1, len(wide)) + wide)
        if RNG.random() < 0.5:
            fields.append(extra(RNG.choice([0, 5])))
        size, packed_size, at = [0xFFFFFFFF if key in in64 else value for key, value in numbers]
        fields, remark = b"".join(fields), b"r" * RNG.choice([0, 0, 1, 300])
        encoded = title.encode()
        directory += b"PK\1\2" + struct.pack("<HHHHHHIIIHHHHHII", 63, 45, flags, method, 0, 0x21, zlib.crc32(data), packed_size, size,
                                             len(encoded), len(fields), len(remark), 0, 0, 0, at) + encoded + fields + remark
        other = extra(RNG.choice([0, 3])) if RNG.random() < 0.5 else b""
        whole += b"PK\3\4" + struct.pack("<HHHHHIIIHH", 45, flags, method, 0, 0x21, *local_sizes, len(encoded), len(other)) + encoded + other + packed
        if flags & 8:
            whole += (b"PK\7\x08" if RNG.random() < 0.5 else b"") + struct.pack("<III", zlib.crc32(data), len(packed), len(data))
    at, count = len(whole) - shift, len(found)
    whole += directory
    if end64:
        record = len(whole)
        whole += struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, count, count, len(directory), at)
        whole += struct.pack("<IIQI", 0x07064B50, 0, record - shift, 1)
    numbers = (0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF) if full_end else (count, count, len(directory), at)
    return whole + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, *numbers, len(comment)) + comment


def read_zip(data, wanted):
    """What zipfile reads, which must be what was put there; so must the names that unzip lists."""
    with zipfile.ZipFile(io.BytesIO(data)) as made:
        found = [(info.filename, made.read(info)) for info in made.infolist()]
    assert found == list(wanted.items())
    return found


def zips():
    for i in range(24):
        found = members()
        begin = b"PK\3\4" + b"#!/bin/sh\n" * RNG.choice([1, 9, 700]) if RNG.random() < 0.4 else b""
        comment = RNG.choice([b"", b"", b"x", b"y" * 65535, b"PK\5\6" + b"z" * 400])
        end64 = RNG.random() < 0.4
        data = zip_of(found, begin, begin and RNG.random() < 0.5, comment, end64, end64 and RNG.random() < 0.7)
        # zipfile takes the last "PK\5\6" for the end record, though it stands in the comment
        tell("%d.zip" % i, data, list(found.items()) if b"PK" in comment else read_zip(data, found))
    none = zip_of({})
    assert len(none) == 22
    tell("none.zip", none, read_zip(none, {}))
    one = zip_of({"a": b"b"})
    at = one.rindex(b"PK\5\6")
    for cut in range(at + 4, len(one)):
        refuse("cut-%d.zip" % cut, one[:cut], "the zip has no end record")
    refuse("after.zip", one + b"x", "the zip has no end record")
    no_archive("short.zip", one[:3])
    for where, text in ((at + 10, "fewer members than its end record says"), (at + 12, "not where its end record says"), (at + 16, "no member where")):
        data = bytearray(one)
        data[where] += 1
        if where == at + 16:  # one byte less is before it: as if a byte stood before the zip
            data[where] -= 2
            write("moved.zip", bytes(data))
            LIST.append(["A", "moved.zip"])
            LIST.append(["D", b"a".hex(), text])
        else:
            refuse("end-%d.zip" % where, bytes(data), text)
    for lacks, text in ((0, "a member lacks its 64-bit sizes"), (1, "a name runs past the zip's central directory")):
        wide = struct.pack("<HHQQ", 1, 16, 1, 1)
        entry = b"PK\1\2" + struct.pack("<HHHHHHIIIHHHHHII", 45, 45, 0, 0, 0, 0x21, zlib.crc32(b"b"), 0xFFFFFFFF, 0xFFFFFFFF, 1, len(wide), 0, 0, 0, 0,
                                        0xFFFFFFFF if lacks == 0 else 0) + b"a" + wide
        entry = entry[:-1] if lacks else entry
        local = b"PK\3\4" + struct.pack("<HHHHHIIIHH", 45, 0, 0, 0, 0x21, zlib.crc32(b"b"), 1, 1, 1, 0) + b"ab"
        refuse("lacks-%d.zip" % lacks, local + entry + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 1, 1, len(entry), len(local), 0), text)


# ---- Tar, after POSIX and GNU ----

def header(title, size, kind=b"0", link=b"", magic=b"ustar\x0000", prefix=b"", number=None):
    head = bytearray(512)
    for at, field in ((0, title), (100, b"0000644\0"), (108, b"0000000\0"), (116, b"0000000\0"), (124, number or b"%011o\0" % size), (136, b"00000000000\0"),
                      (148, b" " * 8), (156, kind), (157, link), (257, magic), (345, prefix)):
        head[at:at + len(field)] = field
    head[148:156] = RNG.choice([b"%06o\0 ", b"%07o\0", b"%6o\0 "]) % sum(head)
    return bytes(head)


def padded(data):
    return data + bytes(-len(data) % 512)


def read_tar(data):
    """What tarfile reads: files in their order, then hard links, each with the bytes of what it leads to."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:", encoding="utf-8") as made:
        infos = made.getmembers()
        files = [(i.name, made.extractfile(i).read()) for i in infos if i.isreg() and i.type != tarfile.GNUTYPE_SPARSE]
        return files + [(i.name, dict(files)[i.linkname]) for i in infos if i.islnk() and i.linkname in dict(files)]


def tar_of(found, form):
    sink = io.BytesIO()
    headers = {"comment": "for all"} if form == tarfile.PAX_FORMAT and RNG.random() < 0.5 else None
    with tarfile.open(fileobj=sink, mode="w", format=form, pax_headers=headers) as made:
        for title, data in found.items():
            info = tarfile.TarInfo(title)
            info.size = len(data)
            if form == tarfile.PAX_FORMAT and RNG.random() < 0.5:
                info.pax_headers = {RNG.choice(["comment", "mtime", "atime", "paths", "linkpath2"]): RNG.choice(["1.5", "99=x", "\n7 path=x\n"])}
            made.addfile(info, io.BytesIO(data))
            kind = RNG.choice([None, None, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
            if kind is not None and (len(title.encode()) < 100 or form != tarfile.USTAR_FORMAT):
                other = tarfile.TarInfo(title[:40] + "-other%d" % RNG.randrange(99999))
                other.type, other.linkname = kind, title
                made.addfile(other)
    return sink.getvalue()


def tars():
    for i, form in enumerate([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT] * 6):
        found = members()
        for length in (99, 100, 101, 155, 156, 200, 256) if form != tarfile.USTAR_FORMAT else (99, 100, 101, 155, 156, 200, 254):
            found[("d" * 70 + "/") * 3 + "n" * 60 if length == 0 else ("folder-%d/" % RNG.randrange(9999) * 40)[:length - 20] + "/" + "n" * 19] = content()
        data = tar_of(found, form)
        read = read_tar(data)
        assert [m for m in read if m[0] in found][:len(found)] == list(found.items())
        tell("%d.tar" % i, data, read)
    body = b"0123456789" * 200
    wide = b"\x80" + bytes(3) + struct.pack(">Q", len(body))
    for what, head in (("base256", header(b"wide", 0, number=wide)), ("old", header(b"old", len(body), b"\0", magic=bytes(8))), ("contiguous", header(b"seven", len(body), b"7")),
                       ("prefix", header(b"tail", len(body), prefix=b"p" * 155)), ("full", header(b"f" * 100, len(body))),
                       ("blanks", header(b"blanks", 0, number=b"%11o " % len(body))), ("digits", header(b"digits", 0, number=b"%012o" % len(body))),
                       ("pax size", header(b"PaxHeader", 13, b"x") + padded(b"13 size=2000\n") + header(b"sized", 0)),
                       ("pax two", header(b"PaxHeader", 24, b"x") + padded(b"12 path=one\n12 path=two\n") + header(b"none", len(body))),
                       ("long name", header(b"././@LongLink", 300, b"L", magic=b"ustar  \0") + padded(b"l" * 299 + b"\0") + header(b"cut", len(body)))):
        data = head + padded(body) + header(b"next", 3) + padded(b"end") + bytes(1024)
        tell("%s.tar" % what, data, read_tar(data))
    end = header(b"next", 3) + padded(b"end")
    tell("no end.tar", end, read_tar(end))
    tell("no padding.tar", header(b"next", 3) + b"end", [("next", b"end")])
    refuse("over.tar", header(b"next", 4) + b"end", "a member runs past the end of the tar")
    refuse("half a header.tar", end + header(b"x", 0)[:511], "the tar is cut short")
    for size, ok in ((65536, True), (65537, False)):
        title = b"n" * (size - 1)
        data = header(b"././@LongLink", size, b"L", magic=b"ustar  \0") + padded(title + b"\0") + header(b"cut", 3) + padded(b"end") + bytes(1024)
        if ok:
            tell("name-%d.tar" % size, data, read_tar(data))
        else:
            refuse("name-%d.tar" % size, data, "a tar header for a long name is longer than 64 KB")
    for at in (0, 99, 124, 147, 156, 257, 511):  # each byte of a header counts
        data = bytearray(end + bytes(1024))
        data[at] ^= 1
        no_archive("changed-%d.tar" % at, bytes(data))
        refuse("changed-second-%d.tar" % at, end + bytes(data), "a tar header's checksum or size is wrong")
    if shutil.which("tar"):
        top = os.path.join(OUT, "tree")
        found = {"tree/" + title: data for title, data in members(8).items()}
        found["tree/" + "deep/" * 30 + "n" * 90] = b"deep"
        for title, data in found.items():
            os.makedirs(os.path.dirname(os.path.join(OUT, title)), exist_ok=True)
            write(title, data)
        os.link(os.path.join(OUT, next(iter(found))), os.path.join(top, "zz-linked"))
        for form in ("gnu", "posix", "ustar"):
            data = subprocess.run(["tar", "-C", OUT, "--sort=name", "--format=" + form, "-cf", "-", "tree"], capture_output=True, check=True).stdout
            read = read_tar(data)
            assert {**found, "tree/zz-linked": next(iter(found.values()))} == dict(read), form
            tell("tar-%s.tar" % form, data, read)
        shutil.rmtree(top)


# ---- Gzip, after RFC 1952 ----

def gzip_of(data, flags):
    head = b"\x1f\x8b\x08" + bytes([flags]) + bytes(6)
    if flags & 4:
        head += struct.pack("<H", 5) + b"a\0b\0c"
    if flags & 8:
        head += b"name\0"
    if flags & 16:
        head += b"\0" if RNG.random() < 0.5 else b"comment\0"
    if flags & 2:
        head += struct.pack("<H", zlib.crc32(head) & 0xFFFF)
    return head + deflate(data, 6) + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def gzips():
    for flags in range(32):
        body = content()
        data = gzip_of(body, flags)
        if RNG.random() < 0.5:
            second = content()
            data += gzip_of(second, RNG.randrange(32))
            body += second
        data += bytes(RNG.choice([0, 0, 1, 600]))
        assert gzip.decompress(data) == body
        tell("f%d.gz" % flags, data, [("f%d" % flags, body)])
    for size in (65535, 65536, 65537, 131072, 131073, 1 << 20):
        data = gzip.compress(bytes(size))
        tell("s%d.gz" % size, data, [("s%d" % size, bytes(size))])
        both = data + gzip.compress(b"x" * 10)  # what stands at the end is not the size of the first
        tell("t%d.gz" % size, both, [("t%d" % size, bytes(size) + b"x" * 10)])
    for flags in (32, 64, 128):
        refuse("reserved-%d.gz" % flags, gzip_of(b"x", flags), "not a gzip member, or its header is cut short")
    whole = gzip_of(b"words " * 30, 31)
    header_size = len(whole) - 8 - len(deflate(b"words " * 30, 6))
    for cut in range(4, len(whole)):
        refuse("cut-%d.gz" % cut, whole[:cut], "its header is cut short" if cut < header_size else "the compressed bytes are damaged or cut short")
    for cut in range(1, 4):
        no_archive("cut-%d.gz" % cut, whole[:cut])
    for at in range(8):
        data = bytearray(whole)
        data[-1 - at] ^= 0x40
        refuse("tail-%d.gz" % at, bytes(data), "the checksum differs")
    refuse("after.gz", whole + b"\0\0x", "not a gzip member")


# ---- Static libraries ----

def ar_header(title, size):
    return b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (title, 0, 0, 0, 0o644, size)


def ar_of(found):
    whole = b"!<arch>\n"
    for title, data in found:
        whole += ar_header(title, len(data)) + data + b"\n" * (len(data) & 1)
    return whole


def libraries():
    folder = os.path.join(OUT, "objects")
    os.makedirs(folder)
    found = {"n" * length + ".o": content() for length in (1, 12, 13, 14, 15, 16, 17, 18, 40, 200)}
    found["with blank.o"] = content()
    for title, data in found.items():
        write("objects/" + title, data)
    for tool, forms in (("llvm-ar-22", ["gnu", "bsd", "darwin"]), ("llvm-ar", ["gnu", "bsd", "darwin"]), ("ar", [None])):
        for form in forms if shutil.which(tool) else []:
            path = os.path.join(folder, "made.a")
            subprocess.run([tool] + (["--format=" + form] if form else []) + ["rcS", path] + [os.path.join(folder, title) for title in found], check=True, capture_output=True)
            with open(path, "rb") as file:
                data = file.read()
            listed = subprocess.run([tool, "t", path], check=True, capture_output=True, text=True).stdout.splitlines()
            assert listed == list(found), (tool, form)
            read = [(title, subprocess.run([tool, "p", path, title], check=True, capture_output=True).stdout) for title in listed]
            tell("%s-%s.a" % (tool, form), data, read)
            if form in ("gnu", None):  # bytes after a library's last member
                tell("%s-%s-short.a" % (tool, form), data + b"\n", read)
            os.remove(path)
    plain = ar_of([(b"a/", b"1"), (b"b/", b"22")])
    tell("odd.a", plain, [("a", b"1"), ("b", b"22")])
    last = ar_of([(b"a/", b"1")])
    tell("no padding.a", last[:-1], [("a", b"1")])
    tell("nothing.a", b"!<arch>\n", [])
    tell("tables.a", ar_of([(b"/", b"xx"), (b"__.SYMDEF", b"x"), (b"__.SYMDEF SORTED", b"yy"), (b"/SYM64/", b"zz"), (b"a/", b"1")]), [("a", b"1")])
    for length in (1023, 1024):
        table = b"m" * (length - 1) + b"/\n"
        data = ar_of([(b"//", table), (b"/0", b"abcd")])
        if length < 1024:
            tell("name-%d.a" % length, data, [("m" * (length - 1), b"abcd")])
        else:
            refuse("name-%d.a" % length, data, "more than 1023 bytes")
    refuse("over.a", last[:-2], "a member's header is wrong, or it runs past the end")
    for at in (58, 59, 48):
        data = bytearray(plain)
        data[8 + at] = 120
        refuse("header-%d.a" % at, bytes(data), "a member's header is wrong")
    arches = [("arm64", 0x100000C, 0), ("x86_64", 0x1000007, 3), ("armv7", 12, 9), ("arm64e", 0x100000C, 2), ("i386", 7, 3)]
    for count in (1, 2, 5):
        head, body, read = struct.pack(">II", 0xCAFEBABE, count), b"", []
        for i, (arch, cpu, sub) in enumerate(arches[:count]):
            library = ar_of([(b"a/", content()), (b"b/", arch.encode())])
            head += struct.pack(">5I", cpu, sub, 8 + 20 * count + len(body), len(library), 0)
            body += library
            size = int(library[8 + 48:8 + 58])
            read += [(arch + "/a", library[68:68 + size]), (arch + "/b", arch.encode())]
        tell("fat-%d.a" % count, head + body, read)
        refuse("fat-cut-%d.a" % count, (head + body)[:-1], "a slice of the fat file lies past its end")


def main():
    os.makedirs(OUT)
    zips()
    tars()
    gzips()
    libraries()
    for path in ("0.zip", "0.tar", "f0.gz", "none.zip"):
        LIST.append(["B", path, "%d" % (os.path.getsize(os.path.join(OUT, path)) * 256 + (1 << 24) + 255)])
    with open(os.path.join(OUT, "list"), "w", encoding="utf-8") as out:
        out.writelines("\t".join(row) + "\n" for row in LIST)


main()
