# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""The measurements and verdicts of compare.sh, which describes them."""

import itertools
import json
import math
import statistics
import subprocess
import sys

DEFAULT = [
    ["ctrl-lat"],
    ["ctrl-rate"],
    ["data-lat"],
    ["data-rate", "--size", "64"],
    ["data-rate", "--size", "64", "--burst", "1"],
    ["data-rate", "--size", "1000"],
    ["data-bw"],
]
# Floors of two runs with the CPUs equally far from each other.
SAME_FLOOR = 1.3
# A difference that is not worth a verdict.
SMALL = 0.01
CHANCE = 0.05
MIN_PAIRS = 5


def measure(program, arguments):
    """Run comch-perf; its rows."""
    run = subprocess.run(
        [program, "--format", "json", "--attempts", "3", *arguments],
        stdout=subprocess.PIPE,
        check=False,
    )
    if run.returncode != 0:
        sys.exit(f"perf.sh compare: {program} {' '.join(arguments)}: status {run.returncode}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def name(row):
    """What identifies a row, for people."""
    parts = [row["test"], f"{row['size']} B"]
    parts += [row[key] for key in ("api", "memory") if row[key] is not None]
    parts.append(f"burst {row['burst']}")
    return " ".join(parts)


def gain(first, second):
    """The logarithm of how much better the second one is; None: they cannot be compared."""
    if not (first["stable"] and second["stable"]):
        return None
    if first["ratio"] is None or second["ratio"] is None:
        return None
    apart = abs(math.log(first["floor_value"] / second["floor_value"]))
    if apart > math.log(SAME_FLOOR):
        return None
    better = math.log(second["ratio"] / first["ratio"])
    return -better if first["p50_ns"] is not None else better


def chance(gains):
    """How often the signs would fall like this or more so if they were random."""
    seen = abs(sum(gains))
    hits = sum(
        abs(sum(s * g for s, g in zip(signs, gains))) >= seen - 1e-12
        for signs in itertools.product((1, -1), repeat=len(gains))
    )
    return hits / 2 ** len(gains)


def verdict(gains):
    """Of the gains in all rounds."""
    if len(gains) < MIN_PAIRS:
        return f"too few pairs: {len(gains)}"
    median = statistics.median(gains)
    if abs(median) < SMALL or chance(gains) > CHANCE:
        return "same"
    return "faster" if median > 0 else "slower"


def percent(value):
    """A logarithm as a change."""
    return f"{100 * (math.exp(value) - 1):+.1f} %"


def main():
    """Measure by turns, print a table."""
    rounds, *programs_and_names = sys.argv[1:6]
    arguments = [sys.argv[6:]] if len(sys.argv) > 6 else DEFAULT
    programs, names = programs_and_names[::2], programs_and_names[1::2]
    rows = {}
    for number in range(int(rounds)):
        for case in arguments:
            order = (0, 1) if number % 2 == 0 else (1, 0)
            both = {i: measure(programs[i], case) for i in order}
            for pair in zip(both[0], both[1]):
                rows.setdefault(name(pair[0]), []).append(pair)
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    print(
        f"\n{'row':46} {names[0][:12]:>12} {names[1][:12]:>12}  better by   "
        "quartiles          pairs"
    )
    slower = False
    for row, pairs in rows.items():
        gains = [g for g in (gain(*pair) for pair in pairs) if g is not None]
        said = verdict(gains)
        slower |= said == "slower"
        figures = " " * 57
        if len(gains) >= 2:
            ratios = [
                statistics.median(p[i]["ratio"] for p in pairs if gain(*p) is not None)
                for i in (0, 1)
            ]
            low, _, high = statistics.quantiles(gains, n=4)
            figures = (
                f"{ratios[0]:12.3f} {ratios[1]:12.3f} {percent(statistics.median(gains)):>10}"
                f"   {percent(low):>8} {percent(high):>8}  "
            )
        print(f"{row:46} {figures} {len(gains):3}  {said}")
    print("\nFigures are ratios to the floor, medians. Quartiles are those of the differences.")
    sys.exit(1 if slower else 0)


main()
