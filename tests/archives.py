"""Makes archives of all kinds of two dSYMs, good ones and damaged ones, for tests/archives.sh. good-* must answer as the
dSYM itself; bad-* are refused, each with a message that holds the text in bad-*.says. Usage: archives.py DSYM DSYM OUT UUID-OF-ONE"""

import gzip
import io
import os
import shutil
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib

from zstd_zip import make_zstd_zip

ONE, TWO, OUT, UUID = sys.argv[1:5]


def files(top):
    """{name in the archive: bytes} of a folder."""
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.join(os.path.basename(top), os.path.relpath(path, top))] = file.read()
    return found


def write(name, data, says=None):
    with open(os.path.join(OUT, name), "wb") as out:
        out.write(data)
    if says:
        with open(os.path.join(OUT, name + ".says"), "w", encoding="utf-8") as out:
            out.write(says)


class Unseekable(io.RawIOBase):
    """A pipe, into which zipfile writes data descriptors."""

    def __init__(self):
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


def make_zip(content, method=zipfile.ZIP_DEFLATED, out=None, zip64=False, comment=b""):
    sink = out or io.BytesIO()
    with zipfile.ZipFile(sink, "w", method) as made:
        made.comment = comment
        for name, data in content.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            with made.open(info, "w", force_zip64=zip64) as member:
                member.write(data)
    return sink.data if out else sink.getvalue()


def zstd_zips(dsym):
    whole = make_zstd_zip(dsym)
    write("good-zstd.zip", whole)
    name = next(n for n in dsym if "/DWARF/" in n)
    at = whole.rindex(b"PK\1\2", 0, whole.rindex(name.encode()))
    local = struct.unpack_from("<I", whole, at + 42)[0]
    size = len(dsym[name])
    for what, (where, form, value), says in (("stream", (local + 30 + len(name) + 500, "<Q", 0), "damaged"),
                                             ("size-small", (at + 24, "<I", size - 9), "more bytes than the archive says"),
                                             ("size-large", (at + 24, "<I", size + 9), "fewer bytes than the archive says"),
                                             ("checksum", (at + 16, "<I", 1), "checksum differs"),
                                             ("bomb", (at + 24, "<I", 0xFFFFFF00), "256 times its size")):
        data = bytearray(whole)
        struct.pack_into(form, data, where, value)
        write("bad-zstd-%s.zip" % what, bytes(data), says)
    dwarf = subprocess.run(["zstd", "-q", "-c"], input=dsym[name], capture_output=True, check=True).stdout
    sorted_as = UUID.replace("-", "").lower()
    sorted_as = "%s/%s/debuginfo" % (sorted_as[:2], sorted_as[2:])
    write("sorted.zip", deflated({sorted_as: dwarf}))
    write("sorted.tar", make_tar({sorted_as: dwarf}, tarfile.USTAR_FORMAT))
    write("sorted-plain.zip", deflated({sorted_as: dsym[name]}))
    write("bad-sorted.zip", deflated({sorted_as: dwarf[:-30]}), sorted_as + ": the compressed bytes are damaged or cut short")


def link(name):
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o120777 << 16
    return info


def deflated(content):
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in content.items():
            made.writestr(name, data)
    return sink.getvalue()


def good_zips(dsym, both):
    stored = make_zip(dsym, zipfile.ZIP_STORED)
    write("good-deflate.dSYM.zip", deflated(dsym))
    write("good-stored.zip", stored)
    write("good-zip64.zip", make_zip(dsym, zipfile.ZIP_STORED, zip64=True))
    write("good-descriptors.zip", make_zip(dsym, zipfile.ZIP_STORED, Unseekable()))
    write("good-comment.zip", make_zip(dsym, zipfile.ZIP_STORED, comment=b"PK\5\6" + b"x" * 5000))
    write("good-behind-a-script.zip", b"PK\3\4" + b"#!/bin/sh\n" * 100 + stored)
    others = {"__MACOSX/._x": b"\0\5\x16\7", link("evil"): b"/etc/passwd", "readme.txt": b"text" * 100,
              "Hello.class": b"\xca\xfe\xba\xbe\0\0\0\x34" + bytes(100)}
    write("good-among-others.zip", deflated({**others, **dsym}))
    write("good-names-outside.zip", deflated({"../../../outside/" + n: d for n, d in dsym.items()}))
    write("good-absolute.zip", deflated({"/tmp/outside/" + n: d for n, d in dsym.items()}))
    write("two.zip", deflated(both))
    folders = {n[:i + 1]: b"" for n in both for i in range(len(n)) if n[i] == "/"}
    write("folders.zip", deflated({**folders, **both}))
    write("two.xcarchive.zip", deflated({"App.xcarchive/dSYMs/" + n: d for n, d in both.items()}))
    inner = deflated(dsym)
    write("good-zip-in-zip.zip", deflated({"x.dSYM.zip": inner}))
    write("good-zip-in-tar.tgz", gzip.compress(make_tar({"artefacts/x.dSYM.zip": inner}, tarfile.USTAR_FORMAT)))
    write("good-tar-in-zip-in-zip.zip", deflated({"a.zip": deflated({"b.tar.gz": gzip.compress(make_tar(dsym, tarfile.USTAR_FORMAT))})}))
    write("good-gzip-in-zip.zip", deflated({"inline-arm64-d5-22.gz": gzip.compress(next(d for n, d in dsym.items() if "/DWARF/" in n))}))
    write("good-among-bad.zip", deflated({"bad.zip": inner[:-40], "x.dSYM.zip": inner}))
    # zip64's end record, which zipfile writes for many members only
    end = stored.rindex(b"PK\5\6")
    count, size, off = struct.unpack_from("<HII", stored, end + 10)
    record = struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 45, 45, 0, 0, count, count, size, off)
    locator = struct.pack("<IIQI", 0x07064b50, 0, end, 1)
    full = struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    write("good-end64.zip", stored[:end] + record + locator + full)
    write("bad-end64.zip", stored[:end] + record[:3] + b"\0" + record[4:] + locator + full, "zip64 end record")


def bad_zips(dsym):
    whole = deflated(dsym)
    name = next(n for n in dsym if "/DWARF/" in n)
    at = whole.index(b"PK\1\2")
    while whole[at + 46:at + 46 + len(name)] != name.encode():
        at = whole.index(b"PK\1\2", at + 4)
    local = struct.unpack_from("<I", whole, at + 42)[0]
    end = whole.rindex(b"PK\5\6")

    def patched(*changes):
        data = bytearray(whole)
        for where, form, value in changes:
            struct.pack_into(form, data, where, value)
        return bytes(data)

    write("bad-cut.zip", whole[:-40], "no end record")
    header = b"%-16s" + b"%-12d%-6d%-6d%-8d" % (0, 0, 0, 0) + b"%-10d`\n"
    write("bad-long-name.a", b"!<arch>\n" + header % (b"//", 2000) + b"a" * 2000 + header % (b"/0", 4) + b"abcd",
          "a name in the table of long names has more than 1023 bytes")
    write("bad-directory.zip", patched((end + 16, "<I", 0x7FFFFFFF)), "not where its end record says")
    write("bad-directory-size.zip", patched((end + 12, "<I", 0x7FFFFFFF)), "larger than the zip")
    write("bad-count.zip", patched((end + 10, "<H", 9)), "fewer members than its end record says")
    write("bad-name-length.zip", patched((at + 28, "<H", 0xFFF0)), "past the zip's central directory")
    write("bad-local.zip", patched((at + 42, "<I", local + 1)), "no member where the zip's central directory says")
    write("bad-other-member.zip", patched((local + 31, "<B", 0x7A)), "another one than the zip's central directory")
    write("bad-method.zip", patched((at + 10, "<H", 12), (local + 8, "<H", 12)), "another way than deflate")
    write("bad-encrypted.zip", patched((at + 8, "<H", 1)), "encrypted")
    write("bad-checksum.zip", patched((at + 16, "<I", 1)), "checksum differs")
    size = len(dsym[name])
    write("bad-size-small.zip", patched((at + 24, "<I", size - 9)), "more bytes than the archive says")
    write("bad-size-large.zip", patched((at + 24, "<I", size + 9)), "fewer bytes than the archive says")
    write("bad-packed-large.zip", patched((at + 20, "<I", len(whole))), "past the end of the zip")
    write("bad-stream.zip", patched((local + 30 + len(name) + 500, "<Q", 0)), "damaged")
    write("bad-bomb.zip", patched((at + 24, "<I", 0xFFFFFF00)), "256 times its size")
    write("bad-nothing.zip", deflated({}), "no Mach-O file")
    deep = whole
    for level in range(5):
        deep = deflated({"level%d.zip" % level: deep})
    write("bad-zip-in-zip.zip", deep, "archives in archives in archives")
    write("bad-zip-in-zip-cut.zip", deflated({"a/dSYMs.zip": whole[:-40]}), "bad-zip-in-zip-cut.zip/a/dSYMs.zip: the zip has no end record")
    zeros = deflated({"a.zip": b"PK\5\6" + bytes(15 << 20)})
    write("bad-zip-in-zip-ratio.zip", deflated({"%d.zip" % i: zeros for i in range(9)}), "256 times its size")
    write("bad-firmware.ipsw", deflated({"BuildManifest.plist": b"<plist/>", "018-1.dmg": b"x" * 99}), "disk image")


def make_tar(content, form, extra=()):
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w", format=form) as made:
        for info in extra:
            made.addfile(info)
        for name, data in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            made.addfile(info, io.BytesIO(data))
    return sink.getvalue()


def tars(dsym):
    deep = "/".join(["a-folder-with-a-long-name"] * 9) + "/"
    plain = make_tar(dsym, tarfile.USTAR_FORMAT)
    links = []
    for kind in tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE:
        links.append(tarfile.TarInfo("link%s" % kind.decode()))
        links[-1].type, links[-1].linkname = kind, "/etc/passwd"
    write("good-ustar.tar", plain)
    write("good-gnu.tar", make_tar({deep + n: d for n, d in dsym.items()}, tarfile.GNU_FORMAT, links))
    write("good-pax.tar", make_tar({deep + "\u00e9/" + n: d for n, d in dsym.items()}, tarfile.PAX_FORMAT, links))
    write("good-prefix.tar", make_tar({deep[:130] + "/" + n: d for n, d in dsym.items()}, tarfile.USTAR_FORMAT))
    write("good-tar.tar.gz", gzip.compress(plain))
    half = len(plain) // 2
    write("good-two-members.tgz", gzip.compress(plain[:half]) + gzip.compress(plain[half:]) + bytes(100))
    dwarf = next(d for n, d in dsym.items() if "/DWARF/" in n)
    with gzip.GzipFile(os.path.join(OUT, "inline-arm64-d5-22.gz"), "wb") as out:
        out.write(dwarf)
    at = plain.index(dwarf[:64])
    write("bad-cut.tar", plain[:at + 100], "past the end of the tar")
    write("bad-checksum.tar", plain[:at - 512 + 150] + b"9" + plain[at - 512 + 151:], "header's checksum")
    packed = gzip.compress(plain)
    write("bad-cut.tar.gz", packed[:-100], "damaged or cut short")
    write("bad-checksum.tar.gz", packed[:-8] + b"abcd" + packed[-4:], "checksum differs")
    write("bad-header.tar.gz", packed[:3] + b"\xff" + packed[4:], "not a gzip member")
    bomb = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros = b"".join(bomb.compress(bytes(1 << 20)) for _ in range(64)) + bomb.flush()
    write("bad-bomb.gz", packed[:10] + zeros + bytes(8), "256 times its size")


def hidden(dsym, uuid):
    """A dSYM as a bitcode build has it. Each name of a function is __hidden#N_. A BCSymbolMap has the names,
    with number N in line N after its first line. The map is called by another UUID, which a plist tells."""
    path = next(n for n in dsym if "/DWARF/" in n)
    data, lines = dsym[path], []
    for name in sorted({n for n in data.split(b"\0") if n.startswith((b"_Z", b"__Z")) and len(n) >= 12}):
        new = b"__hidden#%d_" % len(lines)
        data = data.replace(b"\0" + name + b"\0", b"\0" + new + bytes(len(name) - len(new)) + b"\0")
        lines.append(name)
    assert lines
    original = "00000000-1111-2222-3333-AAAAAAAAAAAA"
    top = path[:path.index("/Contents/")]
    plist = '<plist version="1.0"><dict><key>DBGOriginalUUID</key><string>%s</string></dict></plist>' % original
    return {"App.xcarchive/dSYMs/" + path: data,
            "App.xcarchive/dSYMs/%s/Contents/Resources/%s.plist" % (top, uuid): plist.encode(),
            "App.xcarchive/BCSymbolMaps/%s.bcsymbolmap" % original: b"BCSymbolMap Version: 2.0\n" + b"\n".join(lines) + b"\n"}


def many(count):
    """A zip of `count` libraries that have a UUID and nothing else."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as made:
        for i in range(count):
            head = struct.pack("<8I", 0xFEEDFACF, 0x100000C, 0, 6, 1, 24, 0, 0) + struct.pack("<2I", 0x1B, 24)
            made.writestr(zipfile.ZipInfo("lib%d.dylib" % i), head + struct.pack(">2Q", 0x1122334455667788, i))
    return sink.getvalue()


def fat(count):
    """A fat file of `count` libraries that have a UUID and nothing else."""
    size = 32 + 24
    begin = 8 + 20 * count
    headers, slices = struct.pack(">2I", 0xCAFEBABE, count), b""
    for i in range(count):
        headers += struct.pack(">5I", 0x100000C, 0, begin + i * size, size, 3)
        slices += struct.pack("<8I", 0xFEEDFACF, 0x100000C, 0, 6, 1, 24, 0, 0) + struct.pack("<2I", 0x1B, 24)
        slices += struct.pack(">2Q", 0x1122334455667788, i)
    return headers + slices


def main():
    dsym, other = files(ONE), files(TWO)
    good_zips(dsym, {**dsym, **other})
    bad_zips(dsym)
    tars(dsym)
    if shutil.which("zstd"):
        zstd_zips(dsym)
    write("many.zip", many(30000))
    write("slices-200", fat(200))
    write("slices-300", fat(300))
    first = fat(300)
    at = first.index(struct.pack("<I", 0xFEEDFACF))
    write("slices-300-ppc", first[:at] + struct.pack(">I", 0xFEEDFACE) + first[at + 4:])
    archive = hidden(dsym, UUID)
    write("hidden.xcarchive.zip", deflated(archive))
    write("symbolmaps.zip", deflated({n[len("App.xcarchive/"):]: d for n, d in archive.items() if n.endswith("map")}))
    for name, data in archive.items():
        os.makedirs(os.path.dirname(os.path.join(OUT, name)), exist_ok=True)
        write(name, data)


if __name__ == "__main__":
    main()
