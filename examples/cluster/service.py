#!/usr/bin/python3
"""Starts the whole service on this machine, on loopback: six nodes of Redis, ingest, builders, symbolicators; starts again what ends.
./run --help tells the options. On many machines each of these programs runs under the system's own supervisor; this file then shows
how they are configured."""
import argparse
import ctypes
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"  # Debian's own, which has python3-redis
NODES = 6  # three primaries, each with a replica
NODE_TIMEOUT = 2.0  # seconds until a node that does not answer counts as lost; 15 on a real network
# A primary that was lost must not come back before its replica has taken over: its file may lack what the replica has.
RESTART_REDIS = 3 * NODE_TIMEOUT
RESTART = 0.5
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1

REDIS_CONF = """
bind {host}
{listen}
dir {dir}
logfile {dir}/log
cluster-enabled yes
cluster-node-timeout {timeout}
cluster-require-full-coverage no
cluster-allow-replica-migration no
repl-diskless-sync-delay 0
appendonly yes
appendfsync everysec
save ""
maxmemory {memory}mb
maxmemory-policy noeviction
# Redis 7.0 loads its file as this user and drops every transaction that the user may not do, so it may do all; no client can log in as it.
user default off ~* &* +@all
user admin on >{admin} ~* &* +@all
user crashes on >{password} ~* +@read +@write +@scripting +@connection -@dangerous +wait +time +info +cluster|info +cluster|slots
masteruser admin
masterauth {admin}
"""
TLS_CONF = """port 0
tls-port {port}
tls-cert-file {tls}/node.crt
tls-key-file {tls}/node.key
tls-ca-cert-file {tls}/ca.crt
tls-auth-clients no
tls-replication yes
tls-cluster yes"""


def free_ports(count):
    """Ports that are free, with those of Redis' cluster bus 10,000 above them."""
    found, start = [], 10000 + secrets.randbelow(10000)  # below those that Linux gives to connections, the bus too
    for port in range(start, start + 2000):
        try:
            for try_port in (port, port + 10000):
                with socket.socket() as s:
                    s.bind(("127.0.0.1", try_port))
        except OSError:
            continue
        found.append(port)
        if len(found) == count:
            return found
    raise SystemExit("no free ports")


def is_free(port):
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def in_child():
    """What a process does before its program: a file may not grow further without killing it; and it ends when the service is killed."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def write_private(path, text):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def make_certificates(folder):
    """A certificate authority and the certificate of the nodes, for --tls."""
    os.makedirs(folder, exist_ok=True)
    subject = ["-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-days", "365"]
    for command in (
            ["req", "-x509", *subject, "-subj", "/CN=crash service", "-keyout", "ca.key", "-out", "ca.crt"],
            ["req", *subject, "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "node.key", "-out", "node.csr"],
            ["x509", "-req", "-in", "node.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "365",
             "-copy_extensions", "copy", "-out", "node.crt"]):
        subprocess.run(["openssl", *command], cwd=folder, check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


class Service:
    """The processes, by name: redis0 to redis5, ingest, builder0, symbolicator0 and so on."""

    def __init__(self, folder, machsym, http_port=0, symbolicators=2, builders=1, memory=512, tls=False, backlog=20000):
        self.folder, self.tls, self.memory = os.path.abspath(folder), tls, memory
        os.makedirs(self.folder, exist_ok=True)
        self.names = ["ingest"] + ["builder%d" % i for i in range(builders)] + ["symbolicator%d" % i for i in range(symbolicators)]
        self.processes, self.ended, self.held = {}, {}, set()
        self.lock = threading.RLock()
        self.stopping = False
        self.path = os.path.join(self.folder, "config.json")
        if os.path.exists(self.path):  # what an earlier run wrote
            with open(self.path, encoding="utf-8") as file:
                self.config = json.load(file)
            if http_port not in (0, self.config["http_port"]):
                self.config["http_port"] = http_port
                write_private(self.path, json.dumps(self.config, indent=1))
        else:
            ports = free_ports(NODES + 1)
            self.config = {
                "nodes": [[self.host(i), ports[i]] for i in range(NODES)], "user": "crashes", "password": secrets.token_hex(16),
                "admin": secrets.token_hex(16), "token": secrets.token_hex(16), "http_port": http_port or ports[NODES], "backlog": backlog,
                "folder": self.folder, "machsym": os.path.abspath(machsym), "tls_ca": self.folder + "/tls/ca.crt" if tls else None}
            write_private(self.path, json.dumps(self.config, indent=1))
        self.ports = [node[1] for node in self.config["nodes"]]
        self.url = "http://127.0.0.1:%d" % self.config["http_port"]

    def host(self, _):
        """The address of a node of Redis."""
        return "127.0.0.1"

    # ---- Processes ----

    def command(self, name):
        if name.startswith("redis"):
            return ["redis-server", os.path.join(self.folder, name, "redis.conf")]
        return [PYTHON, os.path.join(HERE, name.rstrip("0123456789") + ".py"), self.path, name]

    def launch(self, name):
        with self.lock, open(os.path.join(self.folder, name + ".log"), "ab") as out:
            self.processes[name] = subprocess.Popen(self.command(name), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                    start_new_session=True, preexec_fn=in_child)
            self.ended.pop(name, None)

    def watch(self):
        """Starts again what has ended, unless it is held. Linux ends a process with the thread that started it, so this one ends last."""
        while True:
            time.sleep(0.1)
            with self.lock:
                if self.stopping:
                    return
                for name, process in list(self.processes.items()):
                    if process.poll() is None or name in self.held:
                        continue
                    since = self.ended.setdefault(name, time.monotonic())
                    if time.monotonic() - since > (RESTART_REDIS if name.startswith("redis") else RESTART):
                        self.launch(name)

    def kill(self, name, how=signal.SIGKILL):
        os.kill(self.processes[name].pid, how)

    # ---- Redis ----

    def cli(self, port, *command):
        tls = ["--tls", "--cacert", self.config["tls_ca"]] if self.config["tls_ca"] else []
        done = subprocess.run(["redis-cli", *tls, "-h", self.host(self.ports.index(port)), "-p", str(port), "--user", "admin", *command], text=True,
                              env={**os.environ, "REDISCLI_AUTH": self.config["admin"]}, capture_output=True, timeout=30)
        return done.stdout

    def start_redis(self):
        tls = os.path.join(self.folder, "tls")
        if self.config["tls_ca"] and not os.path.exists(tls):
            make_certificates(tls)
        for i, port in enumerate(self.ports):
            folder = os.path.join(self.folder, "redis%d" % i)
            os.makedirs(folder, exist_ok=True)
            listen = TLS_CONF.format(port=port, tls=tls) if self.config["tls_ca"] else "port %d" % port
            write_private(folder + "/redis.conf", REDIS_CONF.format(
                listen=listen, host=self.host(i), dir=folder, memory=self.memory, timeout=int(NODE_TIMEOUT * 1000), **self.config))
            self.launch("redis%d" % i)
        self.wait_for(lambda: all("PONG" in self.cli(port, "ping") for port in self.ports), "Redis")
        if "cluster_slots_assigned:0" in self.cli(self.ports[0], "cluster", "info"):
            nodes = ["%s:%d" % tuple(node) for node in self.config["nodes"]]
            self.cli(self.ports[0], "--cluster", "create", *nodes, "--cluster-replicas", "1", "--cluster-yes")
        self.wait_for(lambda: all("master_link_status:up" in self.cli(p, "info", "replication") or "connected_slaves:1" in
                                  self.cli(p, "info", "replication") for p in self.ports), "the replicas")
        self.wait_for(lambda: all("cluster_state:ok" in self.cli(p, "cluster", "info") for p in self.ports), "the cluster")

    def role(self, i):
        return self.cli(self.ports[i], "role").split("\n")[0]

    def primary(self):
        """The name of a node that is a primary."""
        return next("redis%d" % i for i in range(NODES) if self.role(i) == "master")

    # ---- All of it ----

    def wait_for(self, ready, what, seconds=60):
        end = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > end:
                raise SystemExit("%s did not get ready in %d seconds: see the logs in %s" % (what, seconds, self.folder))
            time.sleep(0.1)

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.config["http_port"]), timeout=1).close()
            return True
        except OSError:
            return False

    def start(self):
        taken = [port for port in (self.config["http_port"], *self.ports) if not is_free(port)]
        if taken:
            raise SystemExit("port %d is taken: %s" % (taken[0], "--port names another one" if taken[0] == self.config["http_port"]
                                                       else "does the service of %s run?" % self.folder))
        self.start_redis()
        for name in self.names:
            self.launch(name)
        self.wait_for(self.answers, "ingest")
        threading.Thread(target=self.watch, daemon=True).start()

    def stop(self):
        """Programs first, as they finish what they have in hand; then Redis."""
        with self.lock:
            self.stopping = True
            for redis in (False, True):
                some = [p for name, p in self.processes.items() if name.startswith("redis") == redis]
                for process in some:
                    if process.poll() is None:
                        process.send_signal(signal.SIGCONT)
                        process.terminate()
                for process in some:
                    try:
                        process.wait(timeout=10)
                    except subprocess.TimeoutExpired:
                        process.kill()
                        process.wait()

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that nothing is left running
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()


def missing():
    """What is not installed."""
    lacks = [name for name in ("redis-server", "redis-cli", PYTHON) if shutil.which(name) is None]
    if not lacks and subprocess.run([PYTHON, "-c", "import redis"], stderr=subprocess.DEVNULL, check=False).returncode:
        lacks = ["python3-redis"]
    return lacks


def main():
    parser = argparse.ArgumentParser(prog="./run", description=__doc__)
    parser.add_argument("--demo", action="store_true", help="shows it all with the fixtures of this tree, and ends")
    parser.add_argument("--folder", default="./crash-service", help="where everything is kept (./crash-service)")
    parser.add_argument("--port", type=int, default=8080, help="of HTTP, on loopback (8080)")
    parser.add_argument("--symbolicators", type=int, default=2)
    parser.add_argument("--builders", type=int, default=2)
    parser.add_argument("--memory", type=int, default=512, help="megabytes of each Redis node (512)")
    parser.add_argument("--tls", action="store_true", help="Redis speaks TLS only")
    args = parser.parse_args()
    if missing():
        raise SystemExit("not installed: %s: apt-get install redis-server python3-redis" % ", ".join(missing()))
    machsym = os.environ.get("MACHSYM", os.path.join(HERE, "../../build/machsym"))
    if not os.path.exists(machsym):
        subprocess.run(["make"], cwd=os.path.join(HERE, "../.."), check=True, stdout=subprocess.DEVNULL)
    if args.demo:
        import demo
        return demo.run(machsym)
    with Service(args.folder, machsym, args.port, args.symbolicators, args.builders, args.memory, args.tls) as service:
        print("%s\nthe token for uploads is in %s" % (service.url, service.path), flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
