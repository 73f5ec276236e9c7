# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""The goals of goals.sh, which describes them."""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import time

PERF = pathlib.Path(__file__).resolve().parents[2] / "build/app/comch-perf/comch-perf"
FAR_NS = 200
# Above the line, where the CPUs are near each other.
NEAR_NS = 15
# How often a row is measured while the CPUs move, or share their cores.
ATTEMPTS = 4
# How long a run waits for cores of its own, in all.
PATIENCE_S = 300
# A run measures nothing again after this time.
AGAIN_S = 1500
# A CPU that does less than this part of its best shares its core.
CORE_SPEED = 0.85

# name; arguments of comch-perf, and behind " : " the label of the row, where there are several; what
# is measured: a key of its JSON, or of measure(); the goal where the CPUs are far and where they are
# near: a tuple of comparison and value, None: none.
Goal = collections.namedtuple("Goal", "name arguments figure far near beside")


def goal(name, arguments, far, near=None, figure="ratio", beside=None):
    """Make a goal; beside: divided by the same figure of this other row."""
    return Goal(name, tuple(arguments.split()), figure, far, near, beside and tuple(beside.split()))


def at_most(value):
    """Less is better."""
    return ("<=", value)


def at_least(value):
    """More is better."""
    return (">=", value)


IMM = "data-lat --size 0 --imm 32"
LAT = "data-lat --size 64 --imm 0"
RATE = "data-rate --size {} --burst {} --api {}"
DESC = RATE.format(64, 32, "desc")
BW = "data-bw --size {} --memory {}"
# What two bare copies of heap memory reach at that time, one on each CPU.
TWO_COPIES = "beside_copies"
GOALS = [
    goal("latency, immediate data", IMM, at_most(1.1)),
    goal("latency, immediate data, above the line, ns", IMM, None, at_most(NEAR_NS), "above_ns"),
    goal("latency, immediate data, p99.9", IMM, at_most(2), at_most(2), "tail"),
    goal("latency, 64 B", LAT, at_most(1.1)),
    goal("latency, 64 B, above the line, ns", LAT, None, at_most(NEAR_NS), "above_ns"),
    goal("latency, 64 B, p99.9", LAT, at_most(2), at_most(2), "tail"),
    goal("latency, control message", "ctrl-lat --size 64", at_most(1.5)),
    goal("latency beside 1,000 idle connections", "ctrl-lat --size 64 --connections 1000",
         at_most(1.2), at_most(1.2), "p50_ns", "ctrl-lat --size 64"),
    goal("wake-up, data", LAT + " --wait event", at_most(1.3), at_most(1.3)),
    goal("wake-up, control message", "ctrl-lat --size 64 --wait event",
         at_most(1.3), at_most(1.3)),
    goal("rate, bursts of 32", DESC, at_least(0.6)),
    goal("rate, bursts of 256", RATE.format(64, 256, "desc"), at_least(0.6)),
    goal("rate, one by one", RATE.format(64, 1, "desc"), at_least(0.2)),
    goal("rate, mbufs", RATE.format(64, 32, "mbuf"), at_least(0.4)),
    goal("rate, mbufs, one by one", RATE.format(64, 1, "mbuf"), at_least(0.2)),
    goal("rate, mbufs of 1 KiB beside descriptors", RATE.format("1K", 32, "mbuf"),
         at_least(1), at_least(1), "msgs_per_s", RATE.format("1K", 32, "desc")),
    goal("rate, DOCA beside descriptors", RATE.format(64, 32, "doca"), at_least(0.6),
         at_least(0.6), "msgs_per_s", DESC),
    goal("rate, heap memory", DESC + " --memory heap", at_least(0.4)),
    goal("rate, control messages", "ctrl-rate --size 64", at_least(0.25)),
    goal("bandwidth, 1 MiB", BW.format("1M", "shared"), at_least(0.97), at_least(0.97)),
    *(goal(f"bandwidth, heap memory, {size}", BW.format(size, "heap"), at_least(least),
           at_least(least)) for size, least in
      (("64K", 0.5), ("256K", 0.5), ("1M", 0.6), ("4M", 0.6))),
    *(goal(f"bandwidth, heap memory, {size}, beside bare", BW.format(size, "heap"), None,
           figure=TWO_COPIES) for size in ("64K", "256K", "1M", "4M")),
    goal("connect, us", "conn-rate", at_most(200), at_most(200), "p50_us"),
    goal("connect, beside a bare one", "conn-rate", None),
    goal("connect, p99.9, us", "conn-rate", at_most(2000), at_most(2000), "p999_us"),
    goal("connect, p99.9, beside a bare one", "conn-rate", None, figure="tail"),
    goal("DMA, 64 B, beside a send task", "dma-lat --work local", at_most(3), at_most(3), "p50_ns",
         "doca-cost : send task alone"),
    goal("DMA, 1 MiB", "dma-bw --work local", at_least(0.9), at_least(0.9)),
    goal("DMA, 1 MiB, from the peer", "dma-bw --work from-peer", at_least(0.5), at_least(0.5)),
    goal("DMA, 1 MiB, to the peer", "dma-bw --work to-peer", at_least(0.5), at_least(0.5)),
    *(goal(f"{what}, 1 MiB", f"sha-bw --work {work}", at_least(0.95), at_least(0.95))
      for what, work in (("SHA-1", "sha1"), ("SHA-256", "sha256"), ("SHA-512", "sha512"))),
    goal("deflate, 1 MiB", "compress-bw --work deflate", at_least(0.95), at_least(0.95)),
]


class PerfError(Exception):
    """A program that fails, in one line."""


def floor(kind, milliseconds, size=0):
    """A floor of CPUs 0 and 1 now."""
    program = PERF.with_name("comch-perf-floor")
    done = subprocess.run([program, kind, "0", "1", str(milliseconds), str(size)],
                          stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout.split()[0])


def two_copies(arguments):
    """The floor of a row of heap memory now; None: it is another row."""
    if arguments[0] != "data-bw" or arguments[-1] != "heap":
        return None
    size = arguments[2]
    return floor("copies", 150, int(size[:-1]) << {"K": 10, "M": 20}[size[-1]])


def duration_s(arguments):
    """Of a row, seconds. The first copy to a page can take many times as long as the next ones,
    and of buffers of 16 MiB only some are used within the warm-up of a short row. And of 900
    connections in 0.3 s the p99.9 would be the slowest one."""
    return {"data-bw": 1, "conn-rate": 3}.get(arguments[0], 0.3)


def measure(arguments, repeat):
    """Run comch-perf; its row."""
    words, _, label = " ".join(arguments).partition(" : ")
    copies = [two_copies(arguments)]
    command = [PERF, "--format", "json", "--repeat", str(repeat),
               "--duration", str(duration_s(arguments)), *words.split()]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    rows = [row for row in rows if not label or row["label"] == label]
    if done.returncode != 0 or len(rows) != 1:
        said = done.stderr.strip().splitlines()[-1:] or [f"{len(rows)} rows"]
        raise PerfError(f"comch-perf {' '.join(arguments)}: status {done.returncode}: {said[0]}")
    row = rows[0]
    copies.append(two_copies(arguments))
    if copies[0]:
        row[TWO_COPIES] = row["bytes_per_s"] * 2 / sum(copies)
    mean = (row["floor_value"] + row["floor_after"]) / 2
    if row["p50_ns"] is not None:
        row["above_ns"] = row["p50_ns"] - mean
        row["p50_us"] = row["p50_ns"] / 1e3
        row["p999_us"] = row["p999_ns"] / 1e3
        if row["floor_p999_ns"]:
            row["tail"] = row["p999_ns"] / row["floor_p999_ns"]
    return row


class Machine:
    """Where the CPUs are, and the best that their cores did so far."""

    def __init__(self):
        self.line_ns = floor("line", 100)
        self.core = floor("core", 100)
        self.patience_s = PATIENCE_S
        self.deadline = time.monotonic() + AGAIN_S

    def may_again(self):
        """Whether there is time to measure a row again."""
        return time.monotonic() < self.deadline

    def shares_core(self, row):
        """Whether another CPU used the core of one of ours."""
        return row["core_per_s"] < CORE_SPEED * self.core

    def wait_for_cores(self):
        """Until they are not shared, while there is patience."""
        while self.patience_s > 0 and floor("core", 50) < CORE_SPEED * self.core:
            time.sleep(1)
            self.patience_s -= 1

    def measure(self, arguments, repeat):
        """Measure a row, again if the machine changed meanwhile. Adds is_far and line_ns."""
        for attempt in range(ATTEMPTS):
            if attempt > 0 and not self.may_again():
                break
            self.wait_for_cores()
            before, row = self.line_ns, measure(arguments, repeat)
            self.line_ns = row["line_ns"] = floor("line", 100)
            self.core = max(self.core, row["core_per_s"])
            row["is_far"] = self.line_ns > FAR_NS
            has_moved = (before > FAR_NS) != row["is_far"]
            if has_moved:
                row["is_far"] = None
            elif not self.shares_core(row):
                break
        return row


def is_reached(wanted, value):
    """Whether a figure is as wanted."""
    comparison, limit = wanted
    return value <= limit if comparison == "<=" else value >= limit


def judge(target, rows, machine):
    """A figure, what is wanted there, and why it is none, or ""."""
    row = rows[target.arguments]
    beside = rows[target.beside or target.arguments]
    value, place = row[target.figure], row["is_far"]
    if target.beside:
        value /= beside[target.figure]
    if place is None or beside["is_far"] != place:
        return value, None, "the CPUs moved"
    if machine.shares_core(row) or machine.shares_core(beside):
        return value, None, "a CPU shared its core"
    return (value, target.far if place else target.near,
            "" if row["settled"] else "two ways, see performance.md")


def result(target, rows, machine):
    """One row of the report."""
    row = rows[target.arguments]
    value, wanted, why = judge(target, rows, machine)
    return {
        "goal": target.name,
        "figure": value,
        "wanted": None if wanted is None else " ".join(map(str, wanted)),
        "reached": None if wanted is None else is_reached(wanted, value),
        "stable_repeats": row["stable_repeats"],
        "repeats": row["repeats"],
        "no_figure": why,
        "line_ns": row["line_ns"],
        "floor": row["floor"],
        "floor_value": row["floor_value"],
        "core": row["core_per_s"] / machine.core,
    }


def print_goals(goals):
    """What is wanted."""
    for target in goals:
        far, near = (" ".join(map(str, wanted)) if wanted else "-"
                     for wanted in (target.far, target.near))
        command = " ".join(["comch-perf", *target.arguments])
        print(f"{target.name:44} far {far:8} near {near:8}  {command}")


def parse(arguments):
    """The options."""
    parser = argparse.ArgumentParser(prog="devtools/perf.sh goals", add_help=False)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("words", nargs="*", metavar="GOAL")
    options = parser.parse_args(arguments)
    if options.repeat < 1:
        parser.error("--repeat: expected a number from 1 on")
    return options


def main():
    """Measure each row once, and judge."""
    options = parse(sys.argv[1:])
    goals = [g for g in GOALS if not options.words or any(w in g.name for w in options.words)]
    if not goals:
        sys.exit("perf.sh goals: no goal has such a name; --list prints them")
    if options.list:
        print_goals(goals)
        return 0
    wanted = list(dict.fromkeys(a for g in goals for a in (g.arguments, g.beside) if a))
    rows, machine = {}, Machine()
    for number, arguments in enumerate(wanted, 1):
        print(f"{number} of {len(wanted)}: {' '.join(arguments)}", file=sys.stderr, flush=True)
        rows[arguments] = machine.measure(arguments, options.repeat)
    # The first ones did not know how fast the cores can be.
    for arguments in [a for a in wanted if machine.shares_core(rows[a])]:
        if not machine.may_again():
            break
        print(f"again: {' '.join(arguments)}", file=sys.stderr, flush=True)
        rows[arguments] = machine.measure(arguments, options.repeat)
    results = [result(target, rows, machine) for target in goals]
    if options.format == "json":
        for out in results:
            print(json.dumps(out))
        return 0
    print(f"\n{'goal':44} {'figure':>8}  {'wanted':8}          stable  line, ns  core")
    for out in results:
        verdict = {True: "reached", False: "NOT YET", None: "-"}[out["reached"]]
        note = f"  no figure: {out['no_figure']}" if out["no_figure"] else ""
        print(f"{out['goal']:44} {out['figure']:8.4g}  {out['wanted'] or '-':8} {verdict:8} "
              f"{out['stable_repeats']}/{out['repeats']} {out['line_ns']:9.0f} {out['core']:5.2f}{note}")
    counts = collections.Counter(out["reached"] for out in results)
    print(f"\n{counts[True]} reached, {counts[False]} not yet, {counts[None]} without a goal here")
    return 0


try:
    sys.exit(main())
except PerfError as error:
    sys.exit(f"perf.sh goals: {error}")
