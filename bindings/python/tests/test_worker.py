"""machsym.worker drives `machsym worker`, whose program's path is in MACHSYM."""
import base64
import json
import os
import shlex
import socket
import subprocess
import threading
import time
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
    with pytest.raises(TypeError):
        worker.request({"do": "demangle", "names": b"no JSON"})
    assert worker.ask({"do": "stats"})["stats"]["refused"] == 1
    assert worker.close() == 1


def test_no_id():
    """The worker cannot tell the id of what it does not read."""
    worker = Worker(["--max-request=1"], machsym=TOOL, in_flight=1)
    for request, kind in (({"do": "demangle", "names": ["x" * 2000000]}, "too_long"), ({"do": float("nan")}, "bad_json")):
        with pytest.raises(WorkerError) as error:
            worker.ask({"id": "mine", **request}, timeout=60)
        assert error.value.kind == kind and error.value.answer["id"] == "mine"
    assert worker.ask({"do": "demangle", "names": ["_Z1fv"]}, timeout=60)["names"] == ["f()"]
    worker.close()


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


def chunks():
    """What a store has of the demo program's map."""
    with Worker(["--paths"], machsym=TOOL) as worker:
        made = worker.ask({"do": "build", "path": str(DEMO), "as": "chunks", "chunk": 100})["maps"]
    return {v["key"]: base64.b64decode(v["value"]) for m in made for v in m["values"]}


def test_needs():
    values = chunks()
    report = (REPORTS / "demo.ips").read_text()
    for needs in (values, values.get, lambda key: values.get(key)):
        with Worker(["-j", "2"], machsym=TOOL, needs=needs) as worker:
            futures = [worker.request({"do": "crash", "report": report, "want": ["summary", "json"]}) for _ in range(20)]
            counts = [f.result()["reports"][0]["json"]["counts"] for f in futures]
            assert all(c["with_line"] == 4 for c in counts)
    asked = []

    def down(key):
        asked.append(key)
        if len(asked) == 1:
            raise ConnectionError("it is down")
        return values.get(key)

    worker = Worker(machsym=TOOL, needs=down)
    with pytest.raises(WorkerError) as error:
        worker.ask({"do": "frames", "uuid": UUID, "offsets": [0xaec]})
    assert error.value.kind == "need" and "ConnectionError: it is down" in error.value.what
    assert len(worker.ask({"do": "frames", "uuid": UUID, "offsets": [0xaec]})["frames"][0]) == 4
    worker.close()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def start_redis(folder, *options):
    """A server of its own on a free port, and its client."""
    redis = pytest.importorskip("redis")
    port = free_port()
    try:
        server = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder),
                                   "--logfile", "log", *options])
    except FileNotFoundError:
        pytest.skip("no redis-server")
    client = redis.Redis(port=port)
    for _ in range(600):
        try:
            client.ping()
            break
        except redis.ConnectionError:
            time.sleep(0.05)
    return server, client, port


def check_redis(client):
    for key, value in chunks().items():
        client.set(key, value)
    with Worker(["-j", "2"], machsym=TOOL, needs=client) as worker:
        assert len(worker.ask({"do": "frames", "uuid": UUID, "offsets": [0xaec]})["frames"][0]) == 4
        assert worker.ask({"do": "stats"})["stats"]["chunks_fetched"] == 1


def test_redis(tmp_path):
    server, client, _ = start_redis(tmp_path)
    try:
        check_redis(client)
    finally:
        server.kill()
        server.wait()


def test_redis_cluster(tmp_path):
    """A cluster of one node has all slots."""
    # The port between nodes is given: by default it is 10,000 above the other, which may be no port.
    server, client, port = start_redis(tmp_path, "--cluster-enabled", "yes", "--cluster-port", str(free_port()))
    try:
        from redis.cluster import RedisCluster
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        for _ in range(600):
            if "ok" in str(client.execute_command("CLUSTER INFO")).split("cluster_state")[1][:8]:
                break
            time.sleep(0.05)
        check_redis(RedisCluster(host="127.0.0.1", port=port))
    finally:
        server.kill()
        server.wait()
