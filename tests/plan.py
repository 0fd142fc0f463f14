#!/usr/bin/python3
"""bench/plan.py against the formulas of queueing theory and sums made by hand. Usage, from the top of the checkout: tests/plan.py"""
import math
import sys

sys.path.insert(0, "bench")
import plan

FIGURES = plan.Figures("nowhere", server_ms=0.5, database_ms=0.4, work_ms=[0.2, 0.4, 0.6], sent_kb=20, disk_kb=5, log_kb=10)


def near(what, value, expected, share):
    if abs(value - expected) > share * expected:
        sys.exit("%s: %g in place of %g" % (what, value, expected))


def waits(cores, service, arrivals, reports=60000):
    """Seconds in a cell of one station, by simulation: the mean, and what 99 of 100 stay below."""
    cell = plan.Cell(plan.Plan(FIGURES, arrivals, 0, 0), 7)
    cell.plan.cell_reports = arrivals
    cell.steps = [(plan.Station(cores), lambda: service(cell.random))]
    cell.run(reports / arrivals)
    near("reports that arrived", len(cell.took), reports, 0.02)
    took = sorted(took for _, took in cell.took)
    return sum(took) / len(took), took[len(took) * 99 // 100]


def erlang_c(cores, load):
    """The probability that all cores are busy (Erlang's second formula)."""
    last = load ** cores / math.factorial(cores) * cores / (cores - load)
    return last / (sum(load ** k / math.factorial(k) for k in range(cores)) + last)


# M/M/1: 1 / (mu - lambda). M/D/1: Pollaczek and Khinchine. M/M/c: Erlang.
mean, most = waits(1, lambda r: r.expovariate(1000), 700)
near("M/M/1", mean, 1 / 300, 0.05)
near("M/M/1, 99 of 100", most, math.log(100) / 300, 0.1)
near("M/D/1", waits(1, lambda r: 0.001, 800)[0], 0.001 + 0.8 * 0.001 / (2 * 0.2), 0.05)
near("M/M/4", waits(4, lambda r: r.expovariate(1000), 3000)[0], 0.001 + erlang_c(4, 3) / (4000 - 3000), 0.05)

# 12,000 reports a second: 4 cores at half load take 5,000, so 3 cells of 4,000; 0.9 ms each is 3.6 cores, half of 8 is one machine, two at least.
sums = plan.Plan(FIGURES, 12000, 1000, 10)
for what, value, expected in (("cells", sums.cells, 3), ("servers", sums.servers(), 6), ("terabytes", sums.disk_tb(), 51.84),
                              ("megabytes a second", sums.network_mb(), 480), ("log", sums.log_mb(), 40)):
    near(what, value, expected, 1e-9)
near("servers of a slow tool", plan.Plan(FIGURES._replace(work_ms=[9.5]), 12000, 0, 0).cell_servers, 10, 1e-9)

# One machine that is lost leaves 8 cores for 4,000 reports of 0.9 ms, and a failover lets reports wait.
whole = plan.simulate(sums, 20, 1, "none")
failover = plan.simulate(sums, 20, 1, "a failover of the database")
near("reports", whole["reports"], 80000, 0.02)
if not 4 * 4000 * 0.97 < failover["queue"] < 4 * 4000 * 1.5:  # what came in 4 seconds, and results that come while it drains
    sys.exit("waited for a failover: %d" % failover["queue"])
if whole["late"] or failover["late"] <= failover["outage"]:
    sys.exit("late: %r, %r" % (whole, failover))
# With half of the cores that it needs a cell does not keep up.
sums.cell_servers = 1
plan.SERVER_CORES = 2
if plan.simulate(sums, 20, 1, "none")["p99"] < plan.RESULT_GOAL:
    sys.exit("an overloaded cell is in time")
