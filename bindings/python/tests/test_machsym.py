"""The package answers as `machsym atos --json` does, whose path is in MACHSYM, for the project's fixtures."""
import gc
import json
import os
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import pytest

import machsym

ROOT = Path(__file__).resolve().parents[3]
BIN = ROOT / "tests" / "fixtures" / "bin"
DEMO = BIN / "demo.app.dSYM"
FAT = BIN / "inline-fat.dwarf"
LOAD, PC = 0x102a30000, 0x102a309b6
TOOL = os.environ["MACHSYM"]


def run(*command):
    return subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE).stdout.decode()


def asked(arguments, addresses):
    """The frames that the tool's JSON has of each address."""
    out = run(TOOL, "atos", "--json", "-i", *arguments, *["0x%x" % a for a in addresses])
    return [json.loads(line)["frames"] for line in out.splitlines()]


def told(frames, addresses):
    """The same from the package's frames."""
    return [[{"name": f.name, "linkage_name": f.linkage_name, "file": f.file, "line": f.line, "column": f.column,
              "inline": f.inline, "offset": (a - f.function_start) & (2**64 - 1), "name_source": f.name_source,
              "line_source": f.line_source} for f in fs] for fs, a in zip(frames, addresses)]


def compare(source, arguments, addresses):
    want = asked(arguments, addresses)
    assert any(want)
    assert told(source.lookup(addresses), addresses) == want


@pytest.mark.parametrize("name", ["demo.app.dSYM", "inline-arm64-d5-22.dSYM", "inline-x86_64-d2-14.dwarf",
                                  "inline-arm64_32-d4-22.dwarf", "symbols-x86_64", "names-x86_64",
                                  "zoo-arm64-chained-relative-strip", "map-x86_64-d4-O2/program"])
def test_answers(name, tmp_path):
    path = BIN / name
    made = tmp_path / "made.symmap"
    with machsym.open(path, oso_dirs=[BIN]) as image:
        base = image.info.text_addr
        assert image.addr(0x5000, 0x5010) == base + 0x10
        addresses = [base + i * 14 for i in range(1500)] + [0, 2**63]
        compare(image, ["-o", path, "--oso-dir", BIN], addresses)
        machsym.Map.build(image).save(made)
        assert bytes(machsym.Map.build(image)) == made.read_bytes()
    by_tool = tmp_path / "tool.symmap"
    run(TOOL, "map", "build", "--oso-dir", BIN, "-o", by_tool, path)
    with machsym.open(made) as other:
        assert type(other) is machsym.Map and other.info.is_map and other.info.lines is machsym.Lines.ATOS
        compare(other, ["-o", by_tool], addresses)


def test_policies_and_slices():
    found = machsym.slices(FAT)
    assert [s.arch for s in found] == ["x86_64", "arm64"]
    for s in found:
        with machsym.open(FAT, uuid=s.uuid) as image, image.session(machsym.Lines.STMT) as session:
            assert (image.info.uuid, image.info.arch) == (s.uuid, s.arch)
            addresses = [image.info.text_addr + 0x400 + i * 4 for i in range(200)]
            compare(session, ["-o", FAT, "--uuid", s.uuid, "--lines=stmt"], addresses)


def test_one_address_of_a_process():
    with machsym.open(DEMO) as app:
        assert [(f.name, f.line) for f in app.frames(PC, load=LOAD)] == \
            [("repeat(int, void (int) block_pointer)", 6), ("main", 12)]
        assert app.lookup([]) == []
        assert app.lookup(iter([1, 2])) == [[], []]


def test_answers_do_not_depend_on_what_was_asked_before():
    """An answer has each text once, and the texts of the answer before are forgotten."""
    with machsym.open(BIN / "inline-arm64-d5-22.dSYM") as image:
        addresses = [image.info.text_addr + i for i in range(6000)]
        want = image.lookup(addresses)
        assert len({f.name for frames in want for f in frames}) > 5
        for address, frames in zip(addresses[::97], want[::97]):
            assert image.frames(address) == frames
            assert image.lookup([address, 0, address]) == [frames, [], frames]
        assert image.lookup(addresses[::-1]) == want[::-1]


def test_bytes_are_kept():
    data = bytes((DEMO / "Contents/Resources/DWARF/demo").read_bytes())
    with machsym.Image(data=data) as app:
        del data
        gc.collect()
        assert app.frames(PC, LOAD)[1].name == "main"


def test_a_map_of_another_policy_is_refused():
    with machsym.open(DEMO) as image, machsym.Map.build(image, machsym.Lines.DWARF) as made:
        assert made.info.lines is machsym.Lines.DWARF
        assert made.frames(PC, LOAD)[1].name == "main"
        with pytest.raises(machsym.Error) as error:
            made.session(machsym.Lines.STMT)
        assert error.value.code == "ERR_POLICY"


def test_closing():
    app = machsym.open(DEMO)
    one, two = app.session(), app.session()
    one.close()
    one.close()
    assert two.frames(PC, LOAD)
    app.close()
    app.close()
    for ask in (one.frames, two.frames, app.frames):
        with pytest.raises(ValueError):
            ask(PC)
    with pytest.raises(ValueError):
        app.addr(0, 0)
    with pytest.raises(ValueError):
        app.session()
    # dropped in any order, in a circle too
    left = machsym.open(DEMO)
    left.circle = left.session()
    left.frames(PC)
    del left
    gc.collect()
    session = machsym.open(DEMO).session()
    gc.collect()
    assert session.frames(PC, LOAD)


def test_threads_share_an_image():
    with machsym.open(DEMO) as app:
        addresses = [app.info.text_addr + i for i in range(4000)]
        want = app.lookup(addresses)
        got = [None] * 8

        def work(i):
            # some with a session of their own, some through the image's
            source = app.session() if i % 2 else app
            got[i] = source.lookup(addresses)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(len(got))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(g == want for g in got)


def test_errors(tmp_path):
    with pytest.raises(machsym.ArchError) as error:
        machsym.open(FAT)
    assert error.value.code == "ERR_AMBIGUOUS" and str(FAT) in str(error.value) and "x86_64" in str(error.value)
    with pytest.raises(machsym.ArchError) as error:
        machsym.open(FAT, arch="ppc")
    assert error.value.code == "ERR_ARCH"
    with pytest.raises(machsym.ArchError):
        machsym.open(FAT, uuid=uuid.UUID(int=1))
    with pytest.raises(FileNotFoundError) as error:
        machsym.open(tmp_path / "none")
    assert error.value.code == "ERR_IO"
    with pytest.raises(machsym.Error) as error:
        machsym.open(__file__)
    assert error.value.code == "ERR_FORMAT"
    with pytest.raises(machsym.Error) as error:
        machsym.Map(DEMO)
    assert error.value.code == "ERR_FORMAT"
    with pytest.raises(machsym.Error):
        machsym.slices(__file__)
    with pytest.raises(TypeError):
        machsym.Image()
    with machsym.open(DEMO) as app, machsym.Map.build(app) as made:
        with pytest.raises(machsym.Error) as error:
            made.save(tmp_path / "none" / "x.symmap")
        assert error.value.code == "ERR_IO"
    with pytest.raises(ValueError):
        machsym.open(DEMO, uuid="no UUID")


@pytest.mark.parametrize("mangled, want", [("_ZN5QueueIiE2atEi", "Queue<int>::at(int)"), ("main", "main"),
                                           ("$s4main3fooyyF", "foo()"), ("_RNvC3foo3bar", "foo::bar"), ("", ""),
                                           ("_Z" + "1f" + "i" * 2000, "f(" + ", ".join(["int"] * 2000) + ")")])
def test_names(mangled, want):
    assert machsym.demangle(mangled) == want


def test_lists_of_names():
    assert machsym.demangle(["_Z1fv", "main", "$s4main3fooyyF"]) == ["f()", "main", "foo()"]
    assert machsym.demangle(("$s4main3fooyyF",), full_names=True) == ["main.foo() -> ()"]
    assert machsym.demangle([]) == []


def test_info_is_in_words():
    """As `machsym info --json` says it of every fixture."""
    seen = set()
    for path in [p for p in sorted(BIN.glob("*.dwarf")) if not p.name.startswith("hand-")] + [DEMO, BIN / "symbols-x86_64"]:
        for line in run(TOOL, "info", "--json", path).splitlines():
            want = json.loads(line)
            if not want["platforms"]:
                continue
            with machsym.open(path, uuid=want["uuid"], arch=None if want["uuid"] else want["arch"]) as image:
                first, info = want["platforms"][0], image.info
                assert (info.filetype, info.platform) == (want["filetype"], first["platform"])
                for got, whole in ((info.min_os, first["minimum"]), (info.sdk, first["sdk"])):
                    assert got == (whole[:-2] if whole.endswith(".0") else whole) or (got, whole) == ("", "0.0.0")
                seen.add("%s %s" % (info.platform, info.min_os))
    assert len(seen) > 1 and "macOS 11.0" in seen
    assert [s.filetype for s in machsym.slices(DEMO)] == ["DSYM"]
    from machsym._core import _release, _word, _PLATFORMS
    assert [_release(n) for n in (918272, 0xe0301, 0xa0000, 0)] == ["14.3", "14.3.1", "10.0", ""]
    assert _word(_PLATFORMS, 1) == "macOS" and _word(_PLATFORMS, 99) == "unknown"


def test_full_names():
    assert machsym.demangle("$s4main3fooyyF", full_names=True) == "main.foo() -> ()"


def test_the_version():
    assert machsym.__version__ == machsym.version() == run(TOOL, "--version").strip()


def test_the_program():
    out = run(sys.executable, "-m", "machsym", DEMO, hex(LOAD), hex(PC), "0x1")
    assert out == ("0x102a309b6 repeat(int, void (int) block_pointer) (/fixtures/demo/main.mm:6)\n"
                   "0x102a309b6 main (/fixtures/demo/main.mm:12)\n0x1\n")
