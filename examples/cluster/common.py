"""What all programs of the service share: its settings, the keys in Redis, and a way to them that outlives a primary."""
import hashlib
import importlib.util
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

import redis
from redis.crc import key_slot

# machsym.worker, which needs only the program: from where it is installed, or from this tree without the package's library.
try:
    from machsym.worker import Worker, WorkerError, WorkerGone
except ImportError:
    _spec = importlib.util.spec_from_file_location("machsym_worker", os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "../../bindings/python/src/machsym/worker.py"))
    _module = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_module)
    Worker, WorkerError, WorkerGone = _module.Worker, _module.WorkerError, _module.WorkerGone

# How the work is spread: every report belongs to one shard by its id, and all keys of a report have its shard's hash tag, so that
# they change together.
SHARDS = ["m%d" % i for i in range(12)]  # tags that three primaries, and six, share evenly
BUILDS = "build"  # the hash tag of the builders' stream
GROUP = "workers"  # the consumer group of every stream

# Bounds. Redis keeps everything in memory, so nothing may grow without one.
MAX_REPORT = 4 << 20  # bytes of an uploaded report: the largest spindumps have 2 MB
MAX_DSYM = 2 << 30  # bytes of an uploaded archive of dSYMs
MAX_MEMORY = 0.8  # share of maxmemory from which ingest refuses: the rest is for results of what was accepted
MAX_GROUPS = 10000  # groups of a shard: the smallest one makes room for a new one
MAX_PARTS = 1000  # days and versions that a group counts: the oldest makes room
MAX_WAITING = 100000  # reports of a shard that wait for one dSYM
MAX_RECENT = 5  # reports of a group and shard that the page can show
MAX_DEAD = 1000  # dead letters of a shard
MAX_OF_REPORT = 100  # groups that a report counts in, and dSYMs that it waits for: a file may hold thousands of reports
KEEP = 30 * 86400  # seconds that a report and its result live after they changed; groups count that many days
BUILT = 3600  # seconds for which is remembered that a dSYM came: longer than any report is at work
KEEP_CHUNKS = 7 * 86400  # seconds that a chunk lives after it was read
PUT = 500  # keys that are set at a time, some kilobytes each
DELIVERIES = 5  # how often work is given out before it counts as poison

# Times, in seconds.
ANSWER = 3  # until Redis has to answer; a replica has to confirm in less
CONFIRM = 1
FOREVER = 30 * 86400  # a program that has work in hand waits for Redis
RETRY = 0.1  # between two attempts


class Unavailable(Exception):
    """Redis cannot do it now: the sender repeats, or the work stays where it is."""


def run(service):
    """Runs a service until it is told to end: then it ends what it has in hand."""
    def stop(*_):
        service.stopping = True

    signal.signal(signal.SIGTERM, stop)
    service.run()


def settings():
    """The file that service.py wrote: where Redis is, secrets, the folder, the tool."""
    with open(sys.argv[1], encoding="utf-8") as file:
        return json.load(file)


_log_lock = threading.Lock()


def log(event, **fields):
    """A line of JSON on standard error. Values are never parts of a path or a command."""
    line = json.dumps({"time": round(time.time(), 3), "program": os.path.basename(sys.argv[0]), "pid": os.getpid(),
                       "event": event, **fields}, ensure_ascii=True)
    with _log_lock:
        print(line, file=sys.stderr, flush=True)


# ---- Keys ----

def shard_of(report):
    return SHARDS[int(report[:8], 16) % len(SHARDS)]


def stream(tag):
    return "in:{%s}" % tag


def key(kind, tag, name):
    return "%s:{%s}:%s" % (kind, tag, name)


def chunk_prefix(config):
    """Chunks of another version of the tool or of the format are other keys. Each has the key that the tool gives it: TABLE:IMAGE:UUID:I
    and image:UUID, without a hash tag, so that an image that many ask for is not on one node. A chunk has checksums of its own."""
    version = subprocess.run([config["machsym"], "--version"], capture_output=True, text=True, check=True).stdout
    return "chunk:%s:" % version.split()[-1]


def has_dsym(uuid):
    """The key that says that the symbols have this image. It does not expire."""
    return "dsym:" + uuid


def asked(uuid):
    """The key that says that the builders were asked to make the chunks of an image again, until they have. It changes with their stream."""
    return key("asked", BUILDS, uuid)


# ---- The cluster ----

# Errors that say: ask another node, or the same one a little later, as it has no memory, disk or replica now.
LATER = ("MOVED", "ASK", "CLUSTERDOWN", "MASTERDOWN", "TRYAGAIN", "OOM", "MISCONF", "NOREPLICAS", "UNKILLABLE", "BUSY")


class Cluster:
    """Commands about one slot go to the node that has it in one round trip, on one connection, which WAIT needs. Which node that is
    is asked again whenever one does not answer or says that it is another."""

    def __init__(self, config):
        self.config = config
        self.clients = {}  # (host, port): client
        self.slots = []  # (first, last, (host, port))
        self.scripts = {}  # sha: text
        self.lock = threading.Lock()

    def client(self, address):
        with self.lock:
            if address not in self.clients:
                tls = {"ssl": True, "ssl_ca_certs": self.config["tls_ca"]} if self.config["tls_ca"] else {}
                self.clients[address] = redis.Redis(
                    host=address[0], port=address[1], username=self.config["user"], password=self.config["password"],
                    socket_timeout=ANSWER, socket_connect_timeout=ANSWER, **tls)
                self.clients[address].response_callbacks.clear()  # answers are what Redis' manual says
            return self.clients[address]

    def refresh(self):
        """Asks the nodes in turn who has which slots. Nodes that are cut off may answer too, so one has to see most of the cluster."""
        nodes = [tuple(node) for node in self.config["nodes"]]
        random.shuffle(nodes)  # so that one that hangs is not always the first
        for address in nodes:
            try:
                client = self.client(address)
                if b"cluster_state:ok" not in client.execute_command("CLUSTER INFO"):
                    continue
                slots = [(first, last, (primary[0].decode(), primary[1]))
                         for first, last, primary, *_ in client.execute_command("CLUSTER SLOTS")]
            except redis.RedisError:
                continue
            self.slots = slots
            return
        raise Unavailable("no node of the cluster answers")

    def address(self, name):
        slot = key_slot(name.encode())
        for first, last, address in self.slots:
            if first <= slot <= last:
                return address
        raise Unavailable("no node has slot %d" % slot)

    def by_node(self, names):
        """Nodes, and which of the keys they have, by their places in the list."""
        if not self.slots:
            self.refresh()
        found = {}
        for i, name in enumerate(names):
            found.setdefault(self.address(name), []).append(i)
        return found

    def primaries(self):
        if not self.slots:
            self.refresh()
        return sorted({address for _, _, address in self.slots})

    def script_of(self, name):
        """A Lua script of this folder, to call by its hash; every node gets it that does not know it."""
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), "rb") as file:
            text = file.read()
        sha = hashlib.sha1(text).hexdigest()
        self.scripts[sha] = text
        return sha

    def run(self, name, commands, seconds=ANSWER):
        """The answers to commands about the slot of the key NAME. Tries until the time has run out, so a command may have been done
        more than once: all of the service's may be."""
        return self.run_all([(name, commands)], seconds)[0]

    def run_all(self, jobs, seconds=ANSWER):
        """The same for many slots, each a name and its commands: what one node has goes there in one round trip."""
        end, answers = time.monotonic() + seconds, {}
        while True:
            try:
                for address, places in self.by_node([name for name, _ in jobs]).items():
                    left = [i for i in places if i not in answers]
                    found = iter(self.at(address, [command for i in left for command in jobs[i][1]]) if left else [])
                    answers.update([(i, list(itertools.islice(found, len(jobs[i][1])))) for i in left])
                return [answers[i] for i in range(len(jobs))]
            except (redis.ConnectionError, redis.TimeoutError, Unavailable) as error:
                why = error
            self.slots = []
            if time.monotonic() > end:
                raise Unavailable(str(why))
            time.sleep(RETRY)

    def confirmed(self, name, commands, seconds=0):
        """As run, until a replica has the writes, too: a primary that was lost, or is no primary any more, takes along what only it has."""
        end = time.monotonic() + seconds
        while True:
            *answers, replicas = self.run(name, [*commands, ("WAIT", 1, CONFIRM * 1000)], max(0.0, end - time.monotonic()))
            if replicas:
                return answers
            self.slots = []
            if time.monotonic() > end:
                raise Unavailable("no replica confirmed in %d s" % CONFIRM)

    def put(self, values, seconds):
        """Sets many keys, as long as it takes."""
        names = iter(values)
        for some in iter(lambda: list(itertools.islice(names, PUT)), []):
            self.run_all([(name, [("SET", name, values[name], "EX", seconds)]) for name in some], FOREVER)

    def at(self, address, commands):
        """The answers of a node, in one round trip on one connection."""
        pool = self.client(address).connection_pool
        connection = pool.get_connection("")
        try:
            connection.send_packed_command([packed(commands)])
            answers = [self.answer(connection) for _ in commands]
        except BaseException:
            connection.disconnect()  # it may have answers that belong to these commands
            raise
        finally:
            pool.release(connection)
        for answer in answers:
            if isinstance(answer, redis.exceptions.NoScriptError):
                for text in self.scripts.values():
                    self.client(address).script_load(text)
                raise Unavailable("a script was not there")
            if isinstance(answer, redis.exceptions.ReadOnlyError) or isinstance(answer, Exception) and str(answer).split(" ")[0] in LATER:
                raise Unavailable(str(answer))
            if isinstance(answer, Exception):
                raise answer
        return answers

    @staticmethod
    def answer(connection):
        """The next answer of a connection; an error is one, as others come after it."""
        try:
            return connection.read_response()
        except redis.ResponseError as error:
            return error


def packed(commands):
    """Commands as they are sent. The client's own way takes a tenth of a report's time."""
    out = []
    for command in commands:
        out.append(b"*%d\r\n" % len(command))
        for part in command:
            part = part if isinstance(part, bytes) else str(part).encode()
            out.append(b"$%d\r\n%b\r\n" % (len(part), part))
    return b"".join(out)


def parse(entries):
    """Entries as (entry, report id, attempt)."""
    found = []
    for entry, fields in (e for e in entries if e is not None and e[1] is not None):
        by_name = dict(zip(fields[::2], fields[1::2]))
        found.append((entry, by_name[b"id"].decode(), int(by_name.get(b"attempt", 0))))
    return found


def in_hand(cluster, tag, entry, name):
    """How often an entry that a program has in hand was given out; 0 when it has it no more: another one took it over, or has done it."""
    found, = cluster.run(stream(tag), [("XPENDING", stream(tag), GROUP, entry, entry, 1, name)])
    return found[0][3] if found else 0


def make_group(cluster, tag):
    """The consumer group of a stream, which is made when there is no such stream, too."""
    try:
        cluster.run(stream(tag), [("XGROUP", "CREATE", stream(tag), GROUP, "0", "MKSTREAM")])
    except redis.ResponseError as error:
        if "BUSYGROUP" not in str(error):
            raise


# ---- What programs tell of themselves ----

STATS = 15  # seconds after which a program that told nothing counts as gone


def info(text):
    """What INFO says, as numbers by name."""
    return {name.decode(): int(value) for name, value in re.findall(rb"(\w+):(\d+)\r", text)}


def tell(cluster, name, counts):
    """Counts of a program, which ingest shows to Prometheus."""
    try:
        cluster.run("stats", [("HSET", "stats", name, json.dumps({"at": time.time(), **counts}))], 0)
    except Unavailable as error:
        log("unavailable", what="stats", why=str(error))
