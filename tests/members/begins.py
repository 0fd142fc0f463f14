"""Which files of a folder or of an archive are symbols, by how they begin, and which are reports, by how their names end: a row each, in a
folder, a zip and a tar. Truth: loader.h, fat.h, dyld_cache_format.h, the JVM's class files (javac writes 45 and more), docs/symmap.md; the
endings that `machsym crash --help` or the manual name. Usage: begins.py TOOL FOLDER CACHES"""
import io, os, struct, subprocess, sys, tarfile, zipfile

BIN = "tests/fixtures/bin/"
TEXT = b"no symbols are here, but many words, so that it is long enough to be a file of any kind. " * 40


def read(path):
    with open(path, "rb") as file:
        return file.read()


def rows(tool, folder):
    """(what, the file's bytes, whether it is looked at)"""
    demo = read(BIN + "demo")
    path = os.path.join(folder, "x.symmap")
    subprocess.run([tool, "map", "build", "--no-progress", "-o", path, BIN + "demo"], capture_output=True, check=True)
    a_map = read(path)
    os.remove(path)
    yield "64 bits", demo, True
    yield "32 bits", read(BIN + "plain-i386-d5.o"), True
    yield "64 bits, the other byte order", b"\xfe\xed\xfa\xcf" + demo[4:], True
    yield "32 bits, the other byte order", b"\xfe\xed\xfa\xce" + demo[4:], True
    yield "fat", read(BIN + "inline-fat.dwarf"), True
    yield "fat, 64 bits", read(BIN + "inline-fat64.dwarf"), True
    for last in (0xCA, 0xCB, 0xCC, 0xCD, 0xD0):
        for first in (b"\xfe\xed\xfa", b"\xfe\xed\xfb"):
            yield "nearly a magic", first + bytes([last]) + demo[4:], False
        yield "nearly a magic, turned", bytes([last]) + b"\xfa\xed\xfe" + demo[4:], False
    for last in (0xBD, 0xC0):
        yield "nearly fat", b"\xca\xfe\xba" + bytes([last]) + demo[4:], False
    for major in (45, 52, 65):
        yield "a Java class %d" % major, b"\xca\xfe\xba\xbe\0\0\0" + bytes([major]) + demo, False
    yield "a map", a_map, True
    for i in range(8):
        yield "nearly a map %d" % i, a_map[:i] + bytes([a_map[i] ^ 32]) + a_map[i + 1:], False
    yield "a text", TEXT, False
    yield "an empty file", b"", False
    yield "a magic alone", demo[:4], False
    yield "a text of dyld", b"dyld" + TEXT, False


def in_archives(folder, name, data):
    """The paths of a folder, a zip and a tar that have the file."""
    os.makedirs(os.path.join(folder, "in"), exist_ok=True)
    for old in os.listdir(os.path.join(folder, "in")):
        os.remove(os.path.join(folder, "in", old))
    with open(os.path.join(folder, "in", name), "wb") as file:
        file.write(data)
    with zipfile.ZipFile(os.path.join(folder, "a.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("in/" + name, data)
    with tarfile.open(os.path.join(folder, "a.tar"), "w") as archive:
        info = tarfile.TarInfo("in/" + name)
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return [os.path.join(folder, each) for each in ("in", "a.zip", "a.tar")]


def is_looked_at(tool, path, name):
    said = subprocess.run([tool, "info", "--quick", path], capture_output=True)
    text = said.stdout + said.stderr
    return name.encode() in text


def check_symbols(tool, folder):
    for what, data, wanted in rows(tool, folder):
        for path in in_archives(folder, "thing", data):
            assert is_looked_at(tool, path, "thing") == wanted, (what, path, wanted)


def check_caches(tool, folder, caches):
    """The main file of a cache is one by its count of images, in either of two fields; its other files do not count."""
    for cache in sorted(os.listdir(caches)):
        there = os.path.join(caches, cache)
        files = [name for name in os.listdir(there) if name.startswith("dyld_shared_cache")]
        said = subprocess.run([tool, "info", "--quick", there], capture_output=True, text=True)
        looked = {line.rsplit("/", 1)[1] for line in said.stdout.splitlines() if line.startswith(there + "/")}
        assert looked == {name for name in files if "." not in name}, (cache, looked, files, said.stderr)
        main = next(name for name in files if "." not in name)
        data = bytearray(read(os.path.join(there, main)))
        has_new = struct.unpack_from("<I", data, 0x10)[0] > 0x1C4
        struct.pack_into("<I", data, 0x1C, 0)
        if struct.unpack_from("<I", data, 0x10)[0] > 0x90:
            struct.pack_into("<Q", data, 0x90, 0)  # imagesTextCount
        if has_new:
            struct.pack_into("<I", data, 0x1C4, 0)
        for path in in_archives(folder, main, bytes(data)):
            assert not is_looked_at(tool, path, main), (cache, path, "no image")
        for end in (1, 7, 0x1F):  # nothing counts images here
            for path in in_archives(folder, main, bytes(data[:end])):
                assert not is_looked_at(tool, path, main), (cache, path, end)


def check_reports(tool, folder):
    report = read("tests/fixtures/reports/demo.crash")
    ends = "crash ips txt json log spindump hang diag spin beta panic synced ndjson eml dmp core plcrash"
    for name, wanted in [("a." + end, True) for end in ends.split()] + [
            (name, False) for name in ("a", "crash", "a.crash1", "a.crashes", "a.doc", "a.ip", "acrash", "._a.crash", ".crash")]:
        for path in in_archives(folder, name, report):
            said = subprocess.run([tool, "crash", "-q", "--no-cache", path], capture_output=True)
            assert (b"Thread 0 Crashed" in said.stdout) == wanted, (name, path, wanted, said.stderr)


def main():
    tool, folder, caches = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    check_symbols(tool, folder)
    check_reports(tool, folder)
    check_caches(tool, folder, caches)


main()
