#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Tables from the output of perftest and of comch-perf --format json.

usage: perf.py rates SIZE FILE...  the median of each program; a file's name is PROGRAM.TURN
       perf.py counts FILE...      what a message costs; the exit status is 1 if that is too much
"""

import json
import pathlib
import statistics
import sys

# Control messages and empty messages that probe the link are counted, too.
SPARE = 16
# Burst and size: most work requests per message.
LIMITS = {(32, 64): 0.2, (1, 64): 1, (32, 4096): 1.2}


def perf_rows(text):
    """Return the rows of comch-perf."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def rate(text, size):
    """Return the messages per second that a program has printed."""
    for row in perf_rows(text):
        return row["msgs_per_s"]
    for line in text.splitlines():
        words = line.split()
        if len(words) == 5 and words[0] == str(size):
            # The rate in MiB/s has two digits behind the point, that in millions six.
            return float(words[4]) * 1e6 if size < 4096 else float(words[3]) * 2**20 / size
    sys.exit(f"perf.py: no rate in: {text}")


def rates(size, files):
    """
    Print the median of each program, and of comch-perf's ratio to it within a turn: the speed
    of the machines changes from turn to turn.
    """
    found = {}
    for file in files:
        program = pathlib.Path(file).name.rsplit(".", 1)[0]
        found.setdefault(program, []).append(rate(pathlib.Path(file).read_text(), size))
    scale, unit = (1, "messages/s") if size < 4096 else (size / 2**20, "MiB/s")
    print(f"  {unit + f' of {size} B':<24} {'median':>9} {'least':>9} {'most':>9}"
          f"  comch-perf to it")
    for program, values in found.items():
        ratio = statistics.median(ours / it for ours, it in zip(found["comch-perf"], values))
        print(f"  {program:<24} {statistics.median(values) * scale:9.1f}"
              f" {min(values) * scale:9.1f} {max(values) * scale:9.1f}  {ratio:16.2f}")


def counts(files):
    """Print what the sending side has counted. Return whether it is within the limits."""
    good = True
    print(f"  {'burst':>5} {'bytes':>6} {'work requests':>14} {'doorbells':>10}"
          f" {'signalled':>10} {'copies':>7} {'RNR':>4}")
    print(f"  {'':>5} {'':>6} {'per message':>14} {'per burst':>10} {'one in':>10}")
    for file in files:
        row = perf_rows(pathlib.Path(file).read_text())[0]
        sent, host, dpu = row["messages"], row["counters"]["host"], row["counters"]["dpu"]
        burst, size = row["burst"], row["size"]
        requests = host["sends"] + host["writes"]
        rnr = sum(side["rnr"] + side["retries"] for side in (host, dpu))
        print(f"  {burst:5} {size:6} {requests / sent:14.3f}"
              f" {host['doorbells'] * burst / sent:10.2f}"
              f" {sent / host['signalled']:10.1f} {row['copies']:7.1f} {rnr:4}")
        good &= requests <= LIMITS[burst, size] * sent + SPARE
        good &= host["signalled"] <= sent / 32 + SPARE
        good &= rnr == 0 and (size < 4096 or row["copies"] == 0)
    return good


def main():
    command, *words = sys.argv[1:]
    if command == "counts":
        sys.exit(0 if counts(words) else "perf.py: a message costs too much")
    rates(int(words[0]), words[1:])


if __name__ == "__main__":
    main()
