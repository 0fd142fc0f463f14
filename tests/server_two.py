"""The two machines of docs/server.md: its lines are pasted into two network namespaces. Then machine one is lost while reports come to machine two.
Usage: server_two.py MACHSYM-SERVER MACHSYM FOLDER. server.sh runs it."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import server as base
import server_cluster
import server_sources

NAMES = {"one": "machsym%da" % os.getpid(), "two": "machsym%db" % os.getpid()}
ADDRESSES = {"one": "192.168.7.1", "two": "192.168.7.2"}
REPORTS = 60
SECRET = "sekrit"

# Sends reports to one address until each is taken, and prints the time of the longest wait.
SENDER = """
import http.client, os, sys, time
longest = 0
for name in sorted(os.listdir("reports")):
    with open("reports/" + name, "rb") as file:
        body = file.read()
    begin = time.monotonic()
    while True:
        try:
            to = http.client.HTTPConnection(sys.argv[1], timeout=60)
            to.request("POST", "/reports", body, {"Authorization": "Bearer " + sys.argv[2]})
            if to.getresponse().status in (200, 201):
                break
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.1)
    longest = max(longest, time.monotonic() - begin)
    open("sent", "a").write(name + "\\n")
print(longest)
"""


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Machine:
    """A network namespace, with a shell in it that has no rights."""

    def __init__(self, which, folder, path):
        self.name, self.address, self.folder = NAMES[which], ADDRESSES[which], folder + "/" + which
        rights = str(server_cluster.NO_RIGHTS)
        os.mkdir(self.folder)
        for name, text in (("password", SECRET + "\n"), ("pgpass", "*:*:*:machsym:%s\n" % SECRET), ("send.py", SENDER)):
            with open(self.folder + "/" + name, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(self.folder + "/" + name, 0o600)
        os.chown(self.folder, server_cluster.NO_RIGHTS, server_cluster.NO_RIGHTS)
        for name in os.listdir(self.folder):
            os.chown(self.folder + "/" + name, server_cluster.NO_RIGHTS, server_cluster.NO_RIGHTS)
        self.inside = ["nsenter", "--net=/run/netns/" + self.name, "setpriv", "--reuid", rights, "--regid", rights, "--clear-groups"]
        self.environment = {"PATH": path, "PGPASSFILE": self.folder + "/pgpass", "AWS_ACCESS_KEY_ID": "S3RVER", "AWS_SECRET_ACCESS_KEY": "S3RVER",
                            "HOME": self.folder, "PYTHONDONTWRITEBYTECODE": "1"}
        self.shell = self.run(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, words, **more):
        return subprocess.Popen([*self.inside, *words], cwd=self.folder, env=self.environment, **more)

    def paste(self, line):
        """What a line prints, and its status."""
        self.shell.stdin.write(b"%s\nstatus=$?; echo; echo ended $status\n" % line.encode())
        self.shell.stdin.flush()
        said = b""
        while True:
            one = self.shell.stdout.readline()
            if one.startswith(b"ended ") or not one:
                return said.decode(), one.decode()[6:].strip()
            said += one

    def curl(self, path):
        said, _ = self.paste('curl -sS -w " %%{http_code}" -H "Authorization: Bearer $TOKEN" "http://%s:8080%s"' % (self.address, path))
        text, _, status = said.strip().rpartition(" ")
        return status, text

    def lose(self):
        """Ends all that runs on the machine at once."""
        pids = subprocess.run(["ip", "netns", "pids", self.name], capture_output=True, check=False).stdout.split()
        base.kill_all(map(int, pids))
        self.shell.wait()


def lines():
    """Pairs of a machine and a line to paste."""
    blocks = "\n".join(base.read("docs/server.md").decode().split("```")[1::2])
    return re.findall(r"^(one|two)\$ (.*)", blocks, re.MULTILINE)


def cable():
    """Two namespaces with a cable between them. False: they cannot be made here."""
    try:
        for name in NAMES.values():
            ip("netns", "add", name)
        ip("link", "add", "cable", "netns", NAMES["one"], "type", "veth", "peer", "name", "cable", "netns", NAMES["two"])
        for which, name in NAMES.items():
            ip("-n", name, "addr", "add", ADDRESSES[which] + "/24", "dev", "cable")
            ip("-n", name, "link", "set", "cable", "up")
            ip("-n", name, "link", "set", "lo", "up")
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


def bucket(machine, dsym):
    """An s3rver on a machine, with the dSYM in it."""
    process = machine.run([shutil.which("s3rver"), "-d", machine.folder + "/buckets", "-a", machine.address, "-p", "9000", "--configure-bucket", "symbols"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    line = b" "
    while b"listening" not in line and line:
        line = process.stdout.readline()
    with open(machine.folder + "/dsym", "wb") as file:
        file.write(dsym)
    key = "team/" + server_sources.LOW[:2] + "/" + server_sources.LOW[2:] + "/debuginfo"
    said = machine.paste("curl -sS -o /dev/null -w '%%{http_code}' -F key=%s -F file=@dsym http://%s:9000/symbols" % (key, machine.address))
    base.check(said[0].strip() in ("200", "201", "204"), "the bucket takes the dSYM", said)


def until(what, seconds, ask):
    """Waits until ask() is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        said = ask()
        if said:
            return said
        time.sleep(0.1)
    base.check(False, what)
    return None


def is_up(machine):
    return machine.paste("curl -s -o /dev/null http://%s:8080/healthcheck" % machine.address)[1] == "0"


def paste_all(machines, recipe):
    for which, line in recipe:
        if "curl" in line:
            for machine in machines.values():
                until("its server answers", 60, lambda: is_up(machine))  # pylint: disable=cell-var-from-loop
        said, status = machines[which].paste(line.replace("curl ", "curl -sS --fail-with-body "))
        base.check(status == "0", "pasted on %s: %s" % (which, line), said)


def run(machines, recipe, promote):
    one, two = machines["one"], machines["two"]
    bucket(one, base.read(base.DSYM))
    for machine in machines.values():
        shutil.copy(base.FIXTURES + "reports/demo.ips", machine.folder + "/report.ips")
    paste_all(machines, recipe)
    key = base.hashlib.sha256(base.read(base.FIXTURES + "reports/demo.ips")).hexdigest()
    until("the report that came to one has lines on two, by the bucket", 60, lambda: "player.mm" in two.curl("/reports/" + key)[1])
    base.check("operator" in two.curl("/audit")[1] and ADDRESSES["two"] in two.curl("/audit")[1], "the audit has the machine that sent", two.curl("/audit"))
    os.mkdir(two.folder + "/reports")
    for body in base.variants(REPORTS):
        with open(two.folder + "/reports/" + base.hashlib.sha256(body).hexdigest(), "wb") as file:
            file.write(body)
    token = two.paste("echo $TOKEN")[0].strip()
    sender = two.run([sys.executable, "send.py", two.address + ":8080", token], stdout=subprocess.PIPE)
    sent = two.folder + "/sent"
    until("some reports are taken", 60, lambda: os.path.exists(sent) and len(base.read(sent).splitlines()) >= REPORTS // 4)
    one.lose()
    before = len(base.read(sent).splitlines())
    base.check(before < REPORTS, "machine one is lost while reports come", before)
    time.sleep(1)
    base.check(two.curl("/groups")[0] in ("503", "200"), "meanwhile two answers")
    said, status = two.paste(promote)
    base.check(status == "0", "pasted on two: " + promote, said)
    try:
        longest = float(sender.communicate(timeout=120)[0])
    except subprocess.TimeoutExpired:
        longest = None
    base.check(longest is not None, "all reports are taken after the failover")
    settled = until("all are done", 120, lambda: "\"waiting\":0" in two.curl("/health")[1] and two.curl("/health")[1])
    states = [two.curl("/reports/%s" % key) for key in os.listdir(two.folder + "/reports")]
    base.check(all(status == "200" and "player.mm" in text for status, text in states), "none is lost, and each has its lines", [s for s in states if s[0] != "200"][:3])
    base.check(settled and json.loads(settled)["done"] == REPORTS + 1 and json.loads(settled)["failed"] == 0, "each is done once", settled)
    print("machine one was lost after %d of %d reports; the longest wait was %.1f s" % (before, REPORTS, longest or -1))


def clean(folder):
    for name in NAMES.values():
        pids = subprocess.run(["ip", "netns", "pids", name], capture_output=True, check=False).stdout.split()
        base.kill_all(map(int, pids))
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
    shutil.rmtree(folder, ignore_errors=True)


def main():
    programs = server_cluster.programs()
    why = ("they need root" if os.getuid() != 0 else "they need postgresql-15" if not programs else
           "they need s3rver of npm" if shutil.which("s3rver") is None else "they need curl" if shutil.which("curl") is None else None)
    folder = tempfile.mkdtemp(prefix="machsym-two-", dir="/tmp")
    os.chmod(folder, 0o755)
    try:
        if why is None and not cable():
            why = "no network namespaces can be made here"
        if why:
            print("skipped: two machines: " + why)
            return 1
        os.mkdir(folder + "/bin")
        for program, name in ((base.SERVER, "machsym-server"), (base.MACHSYM, "machsym")):
            shutil.copy(program, folder + "/bin/" + name)
        recipe = lines()
        base.check(len(recipe) >= 15 and recipe[-1][0] == "two" and "promote" in recipe[-1][1], "the page has the recipe", recipe)
        path = ":".join((folder + "/bin", programs, os.environ["PATH"]))
        run({which: Machine(which, folder, path) for which in NAMES}, recipe[:-1], recipe[-1][1])
    finally:
        clean(folder)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    skipped = main()
    print("%d passed, %d failed, %d skipped" % (*base.counts, skipped))
    sys.exit(base.counts[1] != 0)
