"""machsym.worker drives `machsym worker`, whose program's path is in MACHSYM."""
import base64
import json
import os
import shlex
import subprocess
import threading
from pathlib import Path

import pytest

from machsym.worker import Worker, WorkerError, WorkerGone

ROOT = Path(__file__).resolve().parents[3]
BIN = ROOT / "tests" / "fixtures" / "bin"
REPORTS = ROOT / "tests" / "fixtures" / "reports"
DEMO = BIN / "demo.app.dSYM"
UUID = "4C4C44B5-5555-3144-A1BA-79CA685DEC58"
TOOL = shlex.split(os.environ["MACHSYM"])
LOOK = ["--no-cache", "-d", str(DEMO)]


def test_answers():
    report = (REPORTS / "demo.ips").read_text()
    shown = subprocess.run([*TOOL, "crash", "-q", "--json", *LOOK, REPORTS / "demo.ips"], check=True, stdout=subprocess.PIPE).stdout
    with Worker([*LOOK, "-j", "2"], machsym=TOOL, in_flight=5) as worker:
        futures = [worker.request({"id": "r%d" % i, "do": "crash", "report": report}) for i in range(40)]
        names = worker.ask({"do": "demangle", "names": ["_Z1fv"]})
        assert names["names"] == ["f()"] and names["id"] is None
        for i, future in enumerate(futures):
            assert future.result()["id"] == "r%d" % i and future.result()["reports"][0]["json"] == json.loads(shown)
    assert worker.close() == 0
    with pytest.raises(WorkerGone):
        worker.request({"do": "stats"})


def test_errors():
    worker = Worker(machsym=TOOL)
    with pytest.raises(WorkerError) as error:
        worker.ask({"do": "nothing"})
    assert error.value.kind == "bad_request" and "do is one of" in error.value.what
    assert worker.ask({"do": "stats"})["stats"]["refused"] == 1
    assert worker.close() == 1


def test_threads():
    with Worker(["-j", "2"], machsym=TOOL, in_flight=4) as worker:
        wrong = []

        def ask(name):
            for i in range(50):
                if worker.ask({"do": "demangle", "names": ["_Z%d%sv" % (len(name), name)]})["names"] != [name + "()"]:
                    wrong.append(name)

        threads = [threading.Thread(target=ask, args=("f%d" % i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


def test_gone():
    worker = Worker(machsym=TOOL)
    worker.ask({"do": "stats"})
    futures = [worker.request({"do": "demangle", "names": ["_Z1fv"] * 20000}) for _ in range(20)]
    worker.kill()
    assert all(isinstance(f.exception(), (WorkerGone, type(None))) for f in futures)
    assert any(isinstance(f.exception(), WorkerGone) for f in futures)
    with pytest.raises(WorkerGone):
        worker.ask({"do": "stats"})
