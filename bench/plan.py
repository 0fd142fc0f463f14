#!/usr/bin/python3
"""How many machines a number of reports a second takes, from what `make bench-server` measured, and a simulation that checks it.

Usage: bench/plan.py [FIGURES] [--reports N] [--dsyms N] [--days N] [--seconds N] [--seed N]

FIGURES is a JSON file with the members of `Figures`; bench/plan.json has those of docs/server.md. The plan is made of cells. A cell is one
PostgreSQL with a synchronous replica, and the servers that use it. Projects are spread over cells, so cells share nothing but symbols.
The simulation sends one cell its share of the reports, draws the time of each piece of work from measured times, and takes machines away.
Exit status 1: the simulated cell does not keep what the plan says."""
import argparse
import collections
import heapq
import json
import math
import os
import random
import sys
import typing

ROOM = 0.5  # of its cores a machine uses at most, so that the others can take the work of one that fails
SERVER_CORES, DATABASE_CORES = 8, 4  # measured were two cores: a primary of many more is not planned with
SECONDS_A_DAY = 86400
DAYS_A_MONTH = 30
RESULT_GOAL = 1.0  # seconds from arrival to result: 99 of 100 before a fault, and all some time after it
OUTAGE = 30  # seconds that a failover takes


class Figures(typing.NamedTuple):
    """What one report takes, as measured."""

    measured: str  # by which command, when, on which machine
    server_ms: float  # CPU of the server
    database_ms: float  # CPU of PostgreSQL's processes
    work_ms: list  # of a worker: hundredths of single reports, ascending
    sent_kb: float  # the request
    disk_kb: float  # in the database, with its result
    log_kb: float  # written to PostgreSQL's log, which the replica gets, too

    def worker_ms(self):
        return sum(self.work_ms) / len(self.work_ms)


def read_figures(path):
    with open(path, encoding="utf-8") as file:
        members = json.load(file)
    try:
        figures = Figures(**members)
    except TypeError as wrong:
        sys.exit("%s: %s" % (path, wrong))
    numbers = [n for n in members.values() if isinstance(n, (int, float))] + figures.work_ms
    if not figures.work_ms or min(numbers) < 0:
        sys.exit("%s: a figure is missing or negative" % path)
    return figures


class Plan:
    """Machines for `reports` a second: cells, and what one cell has."""

    def __init__(self, figures, reports, dsyms, days, dsym_mb=20):
        self.figures, self.reports, self.dsyms, self.days, self.dsym_mb = figures, reports, dsyms, days, dsym_mb
        self.cell_limit = DATABASE_CORES * ROOM * 1000 / figures.database_ms
        self.cells = math.ceil(reports / self.cell_limit)
        self.cell_reports = reports / self.cells
        self.cell_cores = self.cell_reports * (figures.server_ms + figures.worker_ms()) / 1000
        self.cell_servers = max(2, math.ceil(self.cell_cores / (SERVER_CORES * ROOM)))

    def servers(self):
        return self.cells * self.cell_servers

    def disk_tb(self):
        """Reports and results for all days, in one copy."""
        return self.reports * SECONDS_A_DAY * self.days * self.figures.disk_kb / 1e9

    def network_mb(self):
        """A second, between all machines: the report in, to the database, to a server for the work, and its log to the replica."""
        return self.reports * (self.figures.sent_kb + 2 * self.figures.disk_kb + self.figures.log_kb) / 1e3

    def log_mb(self):
        """Written a second by each primary, and by each replica."""
        return self.cell_reports * self.figures.log_kb / 1e3

    def first_bottleneck(self):
        """What a cell runs out of first as reports grow, by the share of it that is used."""
        used = {
            "the cores of PostgreSQL": self.cell_reports * self.figures.database_ms / 1000 / DATABASE_CORES,
            "the cores of the servers": self.cell_cores / (self.cell_servers * SERVER_CORES),
            "the log of PostgreSQL, at 500 MB a second": self.log_mb() / 500,
        }
        return max(used.items(), key=lambda item: item[1])

    def rows(self):
        figures, (first, used) = self.figures, self.first_bottleneck()
        cores = self.reports / 1000
        yield "CPU of servers and workers", "%.0f cores at work" % (cores * (figures.server_ms + figures.worker_ms())), \
            "%.2f ms of the server and %.2f ms of its workers a report" % (figures.server_ms, figures.worker_ms())
        yield "CPU of PostgreSQL", "%.0f cores at work, and the replicas' replay" % (cores * figures.database_ms), \
            "%.2f ms a report" % figures.database_ms
        yield "cells", "%d" % self.cells, "a PostgreSQL of %d cores, half of them used, takes %.0f reports a second" % (
            DATABASE_CORES, self.cell_limit)
        yield "machines for servers", "%d of %d cores" % (self.servers(), SERVER_CORES), "%d a cell, half used, two at least" % self.cell_servers
        yield "machines for PostgreSQL", "%d of %d cores" % (2 * self.cells, DATABASE_CORES), "a primary and a synchronous replica a cell"
        yield "disk for reports", "%.1f TB, and as much for replicas" % self.disk_tb(), "%.1f KB a report with its result, %d days" % (
            figures.disk_kb, self.days)
        yield "disk writes", "%.0f MB a second on each primary and each replica" % self.log_mb(), "%.1f KB of log a report" % figures.log_kb
        yield "network", "%.0f MB a second" % self.network_mb(), "%.0f KB in, %.1f KB to the database and from it, %.1f KB to the replica" % (
            figures.sent_kb, figures.disk_kb, figures.log_kb)
        yield "symbols", "%.1f TB in a bucket or a shared folder" % (self.dsyms * self.dsym_mb / 1e6), "%d dSYMs of %.0f MB" % (
            self.dsyms, self.dsym_mb)
        yield "a month", "%.0f core hours, %.0f TB of disk, %.0f TB of network" % (
            (self.servers() * SERVER_CORES + 2 * self.cells * DATABASE_CORES) * 24 * DAYS_A_MONTH,
            2 * self.disk_tb() + self.dsyms * self.dsym_mb / 1e6, self.network_mb() * SECONDS_A_DAY * DAYS_A_MONTH / 1e6), \
            "all machines, all the time"
        yield "first bottleneck", "%s: %.0f %% used" % (first, used * 100), "what a cell runs out of first as reports grow"


class Station:
    """Cores that take pieces of work in their order."""

    def __init__(self, cores):
        self.cores, self.busy, self.waiting = cores, 0, collections.deque()


class Cell:
    """One cell over time. A report is accepted by a server, kept by the database, worked on by a server, and its result kept by the
    database. What waits while the database is away stands for senders that try again."""

    def __init__(self, plan, seed):
        self.plan, self.random = plan, random.Random(seed)
        self.servers, self.database = Station(plan.cell_servers * SERVER_CORES), Station(DATABASE_CORES)
        server, database = plan.figures.server_ms / 2000, plan.figures.database_ms / 2000  # half for the report, half for its result
        self.steps = [(self.servers, lambda: server), (self.database, lambda: database),
                      (self.servers, lambda: server + self.random.choice(plan.figures.work_ms) / 1000), (self.database, lambda: database)]
        self.events, self.turn, self.now = [], 0, 0.0
        self.took, self.longest_queue = [], 0

    def at(self, when, what, *arguments):
        self.turn += 1
        heapq.heappush(self.events, (when, self.turn, what, arguments))

    def enter(self, arrived, step):
        station = self.steps[step][0]
        station.waiting.append((arrived, step))
        self.begin(station)
        self.longest_queue = max(self.longest_queue, len(station.waiting))

    def begin(self, station):
        while station.waiting and station.busy < station.cores:
            arrived, step = station.waiting.popleft()
            station.busy += 1
            self.at(self.now + self.steps[step][1](), self.done, arrived, step)

    def done(self, arrived, step):
        station = self.steps[step][0]
        station.busy -= 1
        self.begin(station)
        if step + 1 < len(self.steps):
            self.enter(arrived, step + 1)
        else:
            self.took.append((arrived, self.now - arrived))

    def set_cores(self, station, cores):
        station.cores = cores
        self.begin(station)

    def arrive(self, until):
        self.enter(self.now, 0)
        after = self.now + self.random.expovariate(self.plan.cell_reports)
        if after < until:
            self.at(after, self.arrive, until)

    def run(self, seconds):
        self.at(0, self.arrive, seconds)
        while self.events:
            self.now, _, what, arguments = heapq.heappop(self.events)
            what(*arguments)


def simulate(plan, seconds, seed, fault):
    """Seconds from arrival to result, 99 of 100; the longest queue; seconds from the fault until results are in time again."""
    cell = Cell(plan, seed)
    begin, end = seconds * 0.3, seconds * 0.3 + min(OUTAGE, seconds * 0.2)
    if fault == "a server is lost":
        cell.at(begin, cell.set_cores, cell.servers, (plan.cell_servers - 1) * SERVER_CORES)
    elif fault == "a failover of the database":
        cell.at(begin, cell.set_cores, cell.database, 0)
        cell.at(end, cell.set_cores, cell.database, DATABASE_CORES)
    cell.run(seconds)
    late = [arrived + took for arrived, took in cell.took if took > RESULT_GOAL]
    calm = sorted(took for arrived, took in cell.took if fault == "none" or arrived < begin)
    return {"reports": len(cell.took), "p99": calm[len(calm) * 99 // 100], "queue": cell.longest_queue,
            "late": max(late) - begin if late else 0.0, "outage": end - begin if fault == "a failover of the database" else 0.0}


def check(plan, seconds, seed):
    """Prints the simulated cell; whether it keeps its goals."""
    print("\n| fault in a cell of %.0f reports a second | reports | ms to a result, 99 of 100, before it | longest queue | "
          "seconds until results are in time again | kept |\n|---|---|---|---|---|---|" % plan.cell_reports)
    all_kept = True
    for fault in ("none", "a server is lost", "a failover of the database"):
        seen = simulate(plan, seconds, seed, fault)
        kept = seen["p99"] < RESULT_GOAL and seen["late"] <= 2.5 * seen["outage"]
        all_kept = all_kept and kept
        print("| %s | %d | %.1f | %d | %.1f | %s |" % (fault, seen["reports"], seen["p99"] * 1000, seen["queue"], seen["late"],
                                                  "yes" if kept else "**no**"))
    return all_kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="?", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "plan.json"))
    parser.add_argument("--reports", type=float, default=10000, help="reports a second")
    parser.add_argument("--dsyms", type=int, default=100000)
    parser.add_argument("--dsym-mb", type=float, default=20, help="size of a dSYM")
    parser.add_argument("--days", type=int, default=30, help="that reports and results stay")
    parser.add_argument("--seconds", type=float, default=100, help="that are simulated; 0: none")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    figures = read_figures(options.figures)
    if options.reports <= 0 or options.days < 0 or options.dsyms < 0:
        sys.exit("plan.py: reports have to be more than 0, dSYMs and days not negative")
    plan = Plan(figures, options.reports, options.dsyms, options.days, options.dsym_mb)
    print("From %s.\n\n| %.0f reports a second, %d dSYMs | how much | from |\n|---|---|---|" % (figures.measured, options.reports, options.dsyms))
    for row in plan.rows():
        print("| %s | %s | %s |" % row)
    if options.seconds > 0 and not check(plan, options.seconds, options.seed):
        sys.exit("plan.py: the simulated cell does not keep the plan")


if __name__ == "__main__":
    main()
