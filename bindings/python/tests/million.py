#!/usr/bin/python3
"""An archive of a million reports through machsym.dask: writes it, symbolicates and groups it on a local cluster of separate processes, kills
one on the way, and checks that each report has exactly one result, which is what machsym crash gives for each 1000th. Tells time, and the memory
of all processes as it goes on. Run by hand, as it takes 20 minutes and 6 GB of disk: million.py [--reports=N] [--workers=2]
It needs Debian's python3-distributed, and in MACHSYM the program (build/machsym of this tree)."""
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import types
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../../..")
TOOL = os.path.abspath(os.environ.get("MACHSYM", os.path.join(ROOT, "build/machsym")))
FIXTURES = os.path.join(ROOT, "tests/fixtures")
TEMPLATES = ("reports/demo.ips", "reports/demo.crash", "reports/demo-macos.crash", "apple/ios.ips")
CODE = (0x940, 0xaf8)  # where the demo program has code
ARCHIVE = 20000  # reports of a zip
SAMPLE = 1000  # one report in SAMPLE is compared
BAD = 250000  # one report in BAD is no report


def without_library():
    """machsym.dask needs Python files and the program only; the package itself would load its library."""
    package = types.ModuleType("machsym")
    package.__path__ = [os.path.join(HERE, "../src/machsym")]
    sys.modules["machsym"] = package


without_library()


def write_archives(folder, count):
    """Zips of reports whose incident and crashed address differ. Gives the texts to compare, by name."""
    chance, sample = random.Random(20), {}
    templates = [open(os.path.join(FIXTURES, name), encoding="utf-8").read() for name in TEMPLATES]
    for first in range(0, count, ARCHIVE):
        path = os.path.join(folder, "%04d.zip" % (first // ARCHIVE))
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for i in range(first, min(first + ARCHIVE, count)):
                offset = chance.randrange(*CODE)
                text = templates[i % len(templates)].replace("0x0000000102a30aec", "0x%016x" % (0x102a30000 + offset))
                text = text.replace("2796", str(offset)).replace("7A9B6C1E-0000-4000-8000-000000000001", "7A9B6C1E-0000-4000-8000-%012X" % i)
                text = text.replace("7A9B6C1E-0000-4000-8000-000000000002", "7A9B6C1E-0000-4000-8001-%012X" % i)
                text = "nothing of a report" if i % BAD == BAD - 1 else text
                archive.writestr("%07d" % i, text)
                if i % SAMPLE == 0:
                    sample["%s/%07d" % (path, i)] = text
    return sample


def memory(pid):
    """Megabytes that a process has in memory."""
    try:
        with open("/proc/%d/statm" % pid, encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
    except OSError:
        return 0


def processes(top):
    """A process and all below it, by what they are."""
    found, names = [(top, "client")], {}
    for pid, what in found:
        names[pid] = what
        listed = subprocess.run(["pgrep", "-P", str(pid), "-a"], capture_output=True, text=True, check=False).stdout.splitlines()
        found += [(int(line.split()[0]), "tool" if " worker " in line else "worker") for line in listed if "pgrep" not in line]
    return names


def watch(out, begin, ended):
    """Prints what is done, and memory, every half minute."""
    while not ended.wait(30):
        by_what = {}
        for pid, what in processes(os.getpid()).items():
            by_what[what] = max(by_what.get(what, 0), memory(pid))
        parts = [name for name in os.listdir(out) if name.startswith("part-")]
        print("| %.0f | %d | %s |" % (time.monotonic() - begin, len(parts), " | ".join(str(by_what.get(w, 0)) for w in ("client", "worker", "tool"))),
              flush=True)


def kill_one(client, out):
    """kill -9 of a worker's process when some parts are there."""
    pids = list(client.run(os.getpid).values())

    def kill():
        while len(os.listdir(out)) < 5:
            time.sleep(0.1)
        os.kill(pids[0], signal.SIGKILL)
        print("one worker process was killed", flush=True)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return thread


def check(out, count, sample, store, folder):
    """How many reports have no result, more than one, or one that differs from machsym crash."""
    seen, differ, groups, bad = bytearray(count), 0, {}, 0
    names = list(sample)
    for i, name in enumerate(names):
        with open(os.path.join(folder, "truth%06d" % i), "w", encoding="utf-8") as file:
            file.write(sample[name])
    listed = "\n".join(os.path.join(folder, "truth%06d" % i) for i in range(len(names)))
    truth = subprocess.run([TOOL, "crash", "-q", "--json", "--no-cache", "-d", store, "--files-from=-"], input=listed, text=True,
                           capture_output=True, check=False).stdout.splitlines()
    want = dict(zip(names, map(json.loads, truth)))
    for part in sorted(name for name in os.listdir(out) if name.startswith("part-")):
        with open(os.path.join(out, part), encoding="utf-8") as file:
            for text in file:
                line = json.loads(text)
                seen[int(line["report"][-7:])] += 1
                bad += "error" in line
                for report in line.get("reports", []):
                    groups[report["hash"]] = groups.get(report["hash"], 0) + 1
                if line["report"] in want:
                    differ += [r["json"] for r in line["reports"]] != [want[line["report"]]]
    with open(os.path.join(out, "groups.jsonl"), encoding="utf-8") as file:
        counted = {group["hash"]: group["reports"] for group in map(json.loads, file)}
    print("without a result: %d, with more than one: %d, refused: %d, %d compared with machsym crash: %d differ; groups %s" % (
        seen.count(0), count - seen.count(0) - seen.count(1), bad, len(want), differ, "right" if counted == groups else "WRONG"))
    return seen.count(1) == count and not differ and counted == groups and bad == count // BAD and len(want) == len(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=1000000)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    import distributed
    from machsym import dask as bulk
    folder = tempfile.mkdtemp(prefix="million-")
    reports, out, store = (os.path.join(folder, name) for name in ("reports", "out", "store"))
    os.mkdir(reports)
    os.mkdir(out)
    try:
        begin = time.monotonic()
        sample = write_archives(reports, args.reports)
        print("%d reports written in %.0f s" % (args.reports, time.monotonic() - begin), flush=True)
        with distributed.LocalCluster(n_workers=args.workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                client.run(without_library)
                client.register_worker_callbacks(without_library)  # also in those that take the place of one that was killed
                bulk.build_maps(client, os.path.join(FIXTURES, "bin"), store, machsym=TOOL)
                begin, ended = time.monotonic(), threading.Event()
                print("| seconds | parts begun | client MB | largest worker MB | largest tool MB |\n|---|---|---|---|---|", flush=True)
                threading.Thread(target=watch, args=(out, begin, ended), daemon=True).start()
                killer = kill_one(client, out)
                done = bulk.symbolicate(client, reports, store, out, machsym=TOOL)
                ended.set()
                killer.join()
                took = time.monotonic() - begin
        print("%s: %.0f s, %.0f reports a second" % (json.dumps(done), took, args.reports / took), flush=True)
        size = sum(os.path.getsize(os.path.join(out, name)) for name in os.listdir(out))
        print("archives %d MB, results %d MB" % (sum(os.path.getsize(os.path.join(reports, n)) for n in os.listdir(reports)) >> 20, size >> 20))
        return not check(out, args.reports, sample, store, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
