"""What tests and bench ask of a running machsym-server: its workers, memory and CPU; and the symbols that they send to it."""
import glob
import http.client
import os
import time

import server_reports

TICK = os.sysconf("SC_CLK_TCK")


def children_of(pid):
    """The workers' process ids."""
    found = set()
    for path in glob.glob("/proc/%d/task/*/children" % pid):
        with open(path, encoding="ascii") as file:
            found |= {int(word) for word in file.read().split()}
    return sorted(found)


def cpu_of(pid):
    """Seconds of CPU."""
    with open("/proc/%d/stat" % pid, encoding="ascii") as file:
        words = file.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICK


def resident_of(pid, what="VmHWM"):
    """Megabytes: the most so far; with VmRSS, now."""
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        return next((int(line.split()[1]) / 1024 for line in file if line.startswith(what)), 0)


def resident_now(pid):
    """Megabytes of a server and its workers. A worker may end meanwhile."""
    total = 0
    for one in (pid, *children_of(pid)):
        try:
            total += resident_of(one, "VmRSS")
        except OSError:
            pass
    return total


def send_symbols(server):
    """Sends the dSYMs of server_reports until they are taken. A server has an address, which may change, and a token."""
    for name, path in server_reports.DSYMS.items():
        file, = glob.glob(path + "/Contents/Resources/DWARF/*")
        with open(file, "rb") as body:
            symbols = body.read()
        while True:
            to = http.client.HTTPConnection(server.address, timeout=60)
            try:
                to.request("POST", "/symbols?name=" + name, symbols, {"Authorization": "Bearer " + server.token})
                if to.getresponse().status == 200:
                    break
            except (OSError, http.client.HTTPException):
                pass
            finally:
                to.close()
            time.sleep(0.05)
