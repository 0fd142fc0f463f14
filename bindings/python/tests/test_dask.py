"""machsym.dask over a local cluster of separate processes, one of which is killed. DASK_DSYMS and DASK_REPORTS: how many."""
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
    """Copies of the demo's dSYM with UUIDs of their own, the first with its own; and a file that is none."""
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
    """Reports with an address and a UUID of their own, half of them in a zip; one is none. Gives what is in them by name."""
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

    thread = threading.Thread(target=kill)
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
    killer = kill_one(client, lambda: out.exists() and any(out.iterdir()))
    done = bulk.symbolicate(client, str(reports), str(store), str(out), machsym=TOOL, part_bytes=sum(map(len, texts.values())) // 12)
    killer.join()
    print("%d reports: %.1f s" % (REPORTS, time.monotonic() - begin))
    check_reports(out, store, reports, texts, done, tmp_path)


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
