"""machsym.dask over a local cluster of separate processes, one is killed. DASK_DSYMS and DASK_REPORTS: how many."""
import base64
import json
import os
import random
import shlex
import signal
import subprocess
import threading
import time
import uuid
import zipfile
from pathlib import Path

import pytest

distributed = pytest.importorskip("distributed")

from machsym import dask as bulk
from machsym.worker import WorkerGone

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "tests" / "fixtures"
TOOL = shlex.split(os.environ["MACHSYM"])[-1]
UUID = uuid.UUID("4C4C44B5-5555-3144-A1BA-79CA685DEC58")
DSYMS, REPORTS = int(os.environ.get("DASK_DSYMS", 20)), int(os.environ.get("DASK_REPORTS", 600))


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


@pytest.fixture(scope="module")
def dsyms(tmp_path_factory):
    """Copies of the demo's dSYM with UUIDs of their own, the first with its own; and a file that is no dSYM."""
    folder = tmp_path_factory.mktemp("dsyms")
    data = (FIXTURES / "bin/demo.app.dSYM/Contents/Resources/DWARF/demo").read_bytes()
    assert data.count(UUID.bytes) == 1
    for i in range(DSYMS):
        inner = folder / ("group%d" % (i % 3)) / ("demo%d.dSYM" % i) / "Contents/Resources/DWARF"
        inner.mkdir(parents=True)
        (inner / "demo").write_bytes(data.replace(UUID.bytes, own(i).bytes))
    (folder / "none.zip").write_bytes(b"PK nothing of an archive")
    return folder


def own(i):
    return UUID if i == 0 else uuid.UUID(int=UUID.int + i)


def write_reports(folder):
    """Reports with an address and a UUID of their own, half of them in a zip; one is no report. Gives what is in them by name."""
    chance, texts = random.Random(20), {}
    templates = [(FIXTURES / name).read_text() for name in ("reports/demo.ips", "reports/demo.crash", "apple/ios.ips")]
    for i in range(REPORTS):
        offset, image = chance.randrange(0x940, 0xaf8), str(own(chance.randrange(DSYMS)))
        text = chance.choice(templates).replace("2796", str(offset)).replace("0x0000000102a30aec", "0x%016x" % (0x102a30000 + offset))
        for old, new in ((str(UUID), image), (UUID.hex, image.replace("-", "")), (str(UUID).upper(), image.upper())):
            text = text.replace(old, new)
        texts["%d/%05d" % (i % 4, i)] = text if i != 7 else "nothing of a report"
    folder.mkdir()
    with zipfile.ZipFile(folder / "many.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for i, (name, text) in enumerate(sorted(texts.items())):
            if i % 2:
                archive.writestr(name, text)
                continue
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
    return {("many.zip/" if i % 2 else "") + name: text for i, (name, text) in enumerate(sorted(texts.items()))}


def kill_one(client, ready):
    """kill -9 of a worker as soon as there is something."""
    pids = list(client.run(os.getpid).values())

    def kill():
        while not ready():
            time.sleep(0.01)
        os.kill(pids[0], signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)  # pytest ends, though nothing came
    thread.start()
    return thread


def test_all(client, dsyms, tmp_path):
    store, out, reports = tmp_path / "store", tmp_path / "out", tmp_path / "reports"
    begin = time.monotonic()
    killer = kill_one(client, store.exists)
    built = bulk.build_maps(client, str(dsyms), str(store), machsym=TOOL, part_bytes=50000)
    killer.join()
    print("%d dSYMs: %.1f s" % (DSYMS, time.monotonic() - begin))
    assert {image["uuid"] for image in built["images"]} == {str(own(i)).upper() for i in range(DSYMS)}
    assert [path for path, _ in built["failed"]] == [str(dsyms / "none.zip")]
    listed = subprocess.run([TOOL, "store", "list", "--json", store], check=True, stdout=subprocess.PIPE).stdout.splitlines()
    assert len(listed) == DSYMS

    texts = write_reports(reports)
    begin = time.monotonic()
    out.mkdir()
    (out / "part-99999.jsonl").write_text("of an earlier run\n")
    killer = kill_one(client, lambda: any(out.glob("part-0*")))
    done = bulk.symbolicate(client, str(reports), str(store), str(out), machsym=TOOL, part_bytes=sum(map(len, texts.values())) // 12)
    killer.join()
    print("%d reports: %.1f s" % (REPORTS, time.monotonic() - begin))
    check_reports(out, store, reports, texts, done, tmp_path)


POISON = b"this report ends the tool!!"  # 27 bytes: base64 shows it as it is
# In place of the tool: it ends when the poison comes, as one would that a report makes crash.
ENDS = """import subprocess, sys
tool = subprocess.Popen([%(tool)r] + sys.argv[1:], stdin=subprocess.PIPE)
for line in sys.stdin.buffer:
    if %(poison)r in line:
        tool.kill()
        sys.exit(9)
    tool.stdin.write(line)
    tool.stdin.flush()
tool.stdin.close()
sys.exit(tool.wait())
"""


def test_damaged(tmp_path):
    """Reports that cannot be read, or that end the tool, are errors of their own."""
    tool, reports = tmp_path / "tool", tmp_path / "reports"
    reports.mkdir()
    tool.write_text("#!/usr/bin/python3\n" + ENDS % {"tool": TOOL, "poison": base64.b64encode(POISON)})
    tool.chmod(0o700)
    good = (FIXTURES / "reports/demo.ips").read_bytes()
    with zipfile.ZipFile(reports / "damaged.zip", "w") as archive:
        for name in ("a", "b", "c"):
            archive.writestr(name, good)
    data = (reports / "damaged.zip").read_bytes().replace(b"org.example", b"org.exbmple", 1)
    (reports / "damaged.zip").write_bytes(data)
    (reports / "none.zip").write_bytes(b"PK nothing of an archive")
    (reports / "poison").write_bytes(POISON)
    (reports / "z").write_bytes(good)
    runs = list(bulk._runs(report for report, _ in bulk._reports(str(reports))))
    done = bulk._report_part(runs, str(tmp_path), str(tmp_path / "part"), str(tool), [])
    assert (done["reports"], done["failed"]) == (6, 3)
    lines = [json.loads(line) for line in (tmp_path / "part").read_text().splitlines()]
    seen = {line["report"][len(str(reports)) + 1:]: line.get("error", {}).get("kind") for line in lines}
    assert seen == {"damaged.zip/a": "no_report", "damaged.zip/b": None, "damaged.zip/c": None, "none.zip": "no_report", "poison": "poison", "z": None}
    with pytest.raises(WorkerGone):
        bulk._report_part(runs, str(tmp_path), str(tmp_path / "part"), "false", [])


def test_same_name(tmp_path):
    """Two members of a zip may have one name; each is a report. Folders are no reports."""
    good = (FIXTURES / "reports/demo.ips").read_bytes()
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive, pytest.warns(UserWarning):
        archive.writestr("folder/", b"")
        archive.writestr("folder/a", good)
        archive.writestr("folder/a", b"nothing of a report")
    runs = list(bulk._runs(report for report, _ in bulk._reports(str(tmp_path))))
    assert [run[1:] for run in runs] == [(1, 3)]
    bulk._report_part(runs, str(tmp_path), str(tmp_path / "part"), TOOL, [])
    lines = [json.loads(line) for line in (tmp_path / "part").read_text().splitlines()]
    assert [(line["report"], line.get("error", {}).get("kind")) for line in lines] == [
        (str(tmp_path / "two.zip/folder/a"), None), (str(tmp_path / "two.zip/folder/a"), "no_report")]


def check_reports(out, store, reports, texts, done, tmp_path):
    """Each report has one line, which is what machsym crash gives; groups count them."""
    assert (done["reports"], done["failed"]) == (REPORTS, 1) and done["parts"] > 10
    files = sorted(path.name for path in out.iterdir())
    assert files == ["groups.jsonl"] + ["part-%05d.jsonl" % i for i in range(done["parts"])]
    lines = [json.loads(line) for name in files[1:] for line in (out / name).read_text().splitlines()]
    by_name = {line["report"][len(str(reports)) + 1:]: line for line in lines}
    assert len(lines) == len(by_name) and set(by_name) == set(texts)
    assert ["error" in by_name[name] for name in texts].count(True) == 1

    names = [name for name in texts if "error" not in by_name[name]]
    for i, name in enumerate(names):
        (tmp_path / ("truth%06d" % i)).write_text(texts[name])
    listed = "\n".join(str(tmp_path / ("truth%06d" % i)) for i in range(len(names)))
    truth = subprocess.run([TOOL, "crash", "-q", "--json", "--no-cache", "-d", store, "--files-from=-"], input=listed.encode(),
                           stdout=subprocess.PIPE).stdout.splitlines()
    assert len(truth) == len(names)
    for name, line in zip(names, truth):
        assert [r["json"] for r in by_name[name]["reports"]] == [json.loads(line)]

    groups = [json.loads(line) for line in (out / "groups.jsonl").read_text().splitlines()]
    assert len(groups) == done["groups"] and sum(group["reports"] for group in groups) == len(names)
    counted = {}
    for name in names:
        counted.setdefault(by_name[name]["reports"][0]["hash"], set()).add(name)
    assert {group["hash"]: group["reports"] for group in groups} == {hash_: len(some) for hash_, some in counted.items()}
    assert all(sum(group["versions"].values()) == group["reports"] for group in groups)
    assert [group["reports"] for group in groups] == sorted((group["reports"] for group in groups), reverse=True)
