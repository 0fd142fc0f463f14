"""A PostgreSQL that tests and bench start, each its own."""
import glob
import os
import shutil
import signal
import subprocess
import tempfile
import time

from server_process import TICK, children_of, cpu_of

NO_RIGHTS = 65534  # number of a user
PASSWORD = "sekrit%2Fword"
USUAL = ("shared_buffers=128MB",)


def programs():
    """The folder of PostgreSQL's programs, or None."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    return os.path.dirname(found[-1]) if found else None


def cpu_with_ended(pid):
    """Seconds of CPU of a process and of its children that have ended."""
    with open("/proc/%d/stat" % pid, encoding="ascii") as file:
        words = file.read().rpartition(")")[2].split()
    return sum(map(int, words[11:15])) / TICK


class Cluster:
    """A PostgreSQL in a folder of its own, without TCP. It refuses root, so root runs it as another user."""

    def __init__(self, programs, settings=("shared_buffers=16MB",), inside=(), of=None):
        """inside: words that start it in a network namespace. of: the primary whose replica it is."""
        self.programs, self.process, self.settings, self.before, self.logged, self.inside = programs, None, settings, 0, 0, inside
        self.folder = tempfile.mkdtemp(prefix="machsym-pg-", dir="/tmp")  # a socket's path is short
        self.user = {}
        if os.getuid() == 0:
            os.chown(self.folder, NO_RIGHTS, NO_RIGHTS)
            self.user = {"user": NO_RIGHTS, "group": NO_RIGHTS, "extra_groups": []}
        if of:
            self.call("pg_basebackup", "-h", of.folder, "-U", "machsym", "-D", self.folder + "/db", "-R", "-X", "stream", "-c", "fast")
        else:
            self.call("initdb", "-A", "trust", "-U", "machsym", "-E", "UTF8", "--no-locale", "-D", self.folder + "/db")
        self.start()
        if not of:
            self.call("createdb", "-h", self.folder, "-U", "machsym", "reports")
        self.url = "postgres://machsym:%s@/reports?sslmode=disable&host=%s" % (PASSWORD, self.folder)

    def call(self, name, *options):
        return subprocess.run([self.programs + "/" + name, *options], cwd=self.folder, capture_output=True, check=True, **self.user)

    def start(self):
        """Starts it again and again: processes of a killed one end a little later."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if self.process is None or self.process.poll() is not None:
                self.process = subprocess.Popen([*self.inside, self.programs + "/postgres", "-D", self.folder + "/db", *(word for one in ("listen_addresses=", "unix_socket_directories=" + self.folder, *self.settings)
                                                   for word in ("-c", one))], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **({} if self.inside else self.user))
            try:
                self.call("psql", "-h", self.folder, "-U", "machsym", "-c", "SELECT 1", "postgres")
                return
            except subprocess.CalledProcessError:
                time.sleep(0.1)
        raise TimeoutError("PostgreSQL does not answer")

    def sql(self, text, database="reports"):
        return self.call("psql", "-h", self.folder, "-U", "machsym", "-At", "-c", text, database).stdout.decode().strip()

    def stop(self):
        """As by pg_ctl stop -m immediate."""
        self.call("pg_ctl", "stop", "-D", self.folder + "/db", "-m", "immediate")
        self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()
        shutil.rmtree(self.folder)

    def cpu(self):
        """Seconds of CPU of all its processes since fresh(). One that has ended is counted by the first."""
        own = cpu_with_ended(self.process.pid)
        return own + sum(map(cpu_of, children_of(self.process.pid))) - self.before

    def fresh(self):
        self.before, self.logged = 0, 0
        self.before, self.logged = self.cpu(), self.log()

    def disk(self):
        """Bytes of the tables and indexes."""
        return int(self.sql("SELECT pg_database_size('reports')"))

    def log(self):
        """Bytes of the write-ahead log since fresh()."""
        return int(self.sql("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint")) - self.logged
