"""Reports in this process are what `machsym crash`, whose path is in MACHSYM, writes: each form of each report of the project's
fixtures, and of the published ones that lie beside the checkout."""
import os
import subprocess
import threading
from pathlib import Path

import pytest

import machsym

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "tests" / "fixtures" / "bin" / "demo.app.dSYM"
TOOL = os.environ["MACHSYM"]
FORMS = ("same", "text", "apple", "json", "brief", "summary", "signature")
CORPUS = Path(os.environ.get("CORPUS", ROOT.parent / "shared" / "corpus"))


def files_of(folder):
    return sorted(path for path in (ROOT / "tests" / "fixtures" / folder).rglob("*") if path.is_file() and path.name != "SOURCES")


def written(paths, symbols, form, redact=None):
    """What the package writes of files one after the other."""
    out = []
    for path in paths:
        answer = machsym.symbolicate(path.read_bytes(), symbols, forms=[form], name=str(path), redact=redact)
        out.append(answer.same if form == "same" else b"".join(report.written[form] for report in answer.reports))
    return b"".join(out)


def asked(paths, folder, form, redact=None):
    option = "--to=" + form if form in ("same", "text") else "--" + form
    more = ["--redact-key=" + redact] if redact else []
    done = subprocess.run([TOOL, "crash", "-q", "--no-cache", option, *more, "-d", str(folder), *map(str, paths)],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    out = done.stdout
    if form == "signature":  # after it the name of the file
        out = b"".join(line[:line.rindex(b"  ")] + b"\n" for line in out.splitlines())
    if form == "summary":
        out = b"".join(line for line in out.splitlines(True) if not line.startswith(b"== "))
    return out


@pytest.mark.parametrize("folder", ["reports", "services", "stacks", "apple", "system"])
def test_as_the_tool(folder):
    paths = files_of(folder)
    with machsym.Symbols([DEMO]) as symbols:
        for form in FORMS:
            want = asked(paths, DEMO, form)
            assert want and written(paths, symbols, form) == want, form
        assert written(paths, symbols, "same", "words") == asked(paths, DEMO, "same", "words")


@pytest.mark.skipif(not CORPUS.is_dir(), reason="../shared/corpus is missing")
def test_published_reports(tmp_path):
    dsyms = tmp_path / "dsyms"
    dsyms.mkdir()
    for number, path in enumerate(sorted(CORPUS.rglob("*.dSYM/Contents/Resources/DWARF/*"))):
        (dsyms / str(number)).write_bytes(path.read_bytes())
    paths = sorted(path for end in ("crash", "ips", "txt", "json", "dmp") for path in CORPUS.rglob("*." + end))
    opened = []
    for path in sorted(dsyms.iterdir()):
        try:
            machsym.slices(path)
            opened.append(path)
        except machsym.Error:
            pass
    with machsym.Symbols(opened) as symbols:
        for form in FORMS:
            want = asked(paths, dsyms, form)
            assert want and written(paths, symbols, form) == want, form


def test_dumps():
    """Frames that only the unwind tables of the program find."""
    program, dump = (ROOT / "tests" / "stacks" / name for name in ("x86_64.program", "x86_64.dmp"))
    with machsym.Symbols([DEMO, program]) as symbols:
        for form in FORMS:
            want = asked([dump], program, form)
            assert want and written([dump], symbols, form) == want, form
    frames = machsym.symbolicate(dump.read_bytes(), [program]).reports[0].frames
    assert len([frame for frame in frames if not frame.is_inline]) == 10  # tests/minidump.sh
    assert len(machsym.symbolicate(dump.read_bytes(), []).reports[0].frames) == 2


def test_checked_stacks(tmp_path):
    """A return address that no call ends at, and a caller that only bytes of the stack have: as crash --check-stack tells."""
    program, calls = DEMO.parent / "demo", ROOT / "tests" / "stacks" / "x86_64.program"
    wrong = tmp_path / "off.ips"
    data = (ROOT / "tests" / "fixtures" / "reports" / "demo.ips").read_bytes()
    wrong.write_bytes(data.replace(b'"imageOffset":2684', b'"imageOffset":2688'))
    paths = [wrong, ROOT / "tests" / "stacks" / "x86_64.json"]
    with machsym.Symbols([DEMO, program, calls]) as symbols:
        for form in FORMS:
            want = b""
            for path in paths:
                option = "--to=" + form if form in ("same", "text") else "--" + form
                more = [] if form == "apple" else ["--check-stack"]  # the tool refuses both together
                done = subprocess.run([TOOL, "crash", "-q", "--no-cache", option, *more, "-d", DEMO, "-d", program, "-d", calls, path],
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                want += done.stdout if form != "signature" else done.stdout[:done.stdout.rindex(b"  ")] + b"\n"
            answers = [machsym.symbolicate(path.read_bytes(), symbols, forms=form, name=str(path), check_stack=True) for path in paths]
            got = b"".join(one.same if form == "same" else one.reports[0].written[form] for one in answers)
            assert want and got == want, form
        frames = [machsym.symbolicate(path.read_bytes(), symbols, check_stack=True).reports[0].frames for path in paths]
        plain = machsym.symbolicate(paths[0].read_bytes(), symbols).reports[0].frames
    assert [frame.address for frame in frames[0] if frame.doubt.startswith("no call ends here: ")] == [0x102a30a80]
    assert [frame.address for frame in frames[1] if frame.is_inferred] == [0x10234042c]
    assert not any(frame.doubt or frame.is_inferred for frame in plain)


def test_report_objects():
    data = (ROOT / "tests" / "fixtures" / "reports" / "demo.crash").read_bytes()
    answer = machsym.symbolicate(data, [DEMO], forms=["json", "apple", "text", "summary"])
    report, = answer.reports
    assert report.kind == "crash text" and report.number == 0 and not answer.failures and answer.same == b""
    assert [(f.name, f.line, f.is_inline) for f in report.frames[:2]] == [("require(bool)", 6, True), ("Queue<int>::at(int)", 13, True)]
    assert report.frames[0].is_crashed and report.frames[0].address == 0x102a30aec and report.frames[0].image == "demo"
    assert report.images[0].name == "demo" and str(report.images[0].uuid) == "4c4c44b5-5555-3144-a1ba-79ca685dec58"
    assert report.json["schema"] == "crash/1" and "queue.hpp:6" in report.text and "queue.hpp:6" in report.summary
    assert report.named + report.missing <= report.frame_count and report.images[0].missing == 0
    nothing = machsym.symbolicate(data, walk=False).reports[0]
    assert nothing.frames == [] and nothing.images == [] and "require" not in nothing.text


def test_what_is_no_report():
    answer = machsym.symbolicate(b"nothing", forms=["same"])
    assert answer.reports == [] and answer.same == b"" and "no report" in answer.failures[0].why
    assert machsym.symbolicate(b"").failures
    with pytest.raises(ValueError):
        machsym.symbolicate(b"", forms=["html"])
    with pytest.raises(machsym.MissingError):
        machsym.symbolicate(b"", ["/none"])


def test_what_is_given():
    data = (ROOT / "tests" / "fixtures" / "reports" / "demo.crash").read_bytes()
    want = machsym.symbolicate(data, [DEMO])
    assert machsym.symbolicate(bytearray(data), [DEMO], forms="text") == want
    assert machsym.symbolicate(memoryview(data), [DEMO]) == want
    for what in (data.decode(), 5, None):
        with pytest.raises(TypeError):
            machsym.symbolicate(what)
    # C would end each at the zero: another file, another key
    for more in ({"symbols": [str(DEMO) + "\0x"]}, {"name": "a\0b"}, {"redact": "a\0b"}):
        with pytest.raises(ValueError):
            machsym.symbolicate(data, **more)


def test_what_is_closed():
    data = (ROOT / "tests" / "fixtures" / "reports" / "demo.crash").read_bytes()
    image = machsym.Image(DEMO)
    symbols = machsym.Symbols([image])
    assert "require" in machsym.symbolicate(data, symbols).reports[0].text
    image.close()
    with pytest.raises(ValueError):
        machsym.symbolicate(data, symbols)
    symbols.close()
    symbols.close()
    with pytest.raises(ValueError):
        machsym.symbolicate(data, symbols)


def test_threads():
    data = (ROOT / "tests" / "fixtures" / "reports" / "demo.ips").read_bytes()
    with machsym.Symbols([DEMO]) as symbols:
        want = machsym.symbolicate(data, symbols, forms=["same"]).same
        wrong = []

        def work():
            for _ in range(20):
                if machsym.symbolicate(data, symbols, forms=["same"]).same != want:
                    wrong.append(1)
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert want and not wrong
