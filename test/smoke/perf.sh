#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# comch-perf runs and says so in JSON. Its figures do not matter here.
#
# usage: perf.sh COMCH-PERF TEST [OPTION...]

set -euo pipefail

program=$1 test=$2
shift 2
out=$TMPDIR/out

# A number of messages, where there are any: within a time, none may arrive.
case $test in
floor | doca-cost) length=(--duration 0.1) ;;
*) length=(--iters 64) ;;
esac

"$program" "${length[@]}" --attempts 1 --format json "$@" "$test" >"$out"
python3 - "$test" "$out" "$@" <<'EOT'
import json
import sys

test, name, *options = sys.argv[1:]
with open(name, encoding="utf-8") as out:
    rows = [json.loads(line) for line in out]
assert rows, "no rows"
for row in rows:
    assert row["test"] == test, row
    assert row["seconds"] >= 0, row
    assert row["errors"] == 0, row
    assert row["repeats"] == (3 if "--repeat" in options else 1), row
    assert row["stable"] == (row["stable_repeats"] > 0), row
    if row["ratio"] is not None:
        assert row["ratio_min"] <= row["ratio"] <= row["ratio_max"], row
        assert row["settled"] == (row["ratio_max"] <= row["ratio_min"] * 1.15), row
        assert not (row["settled"] and row["mode_low_repeats"] > 0), row
    # By default, no side posts more than a window's worth.
    if "--queue" not in options:
        assert row["queue"] * row["size"] <= max(16 << 20, 2 * row["size"]), row
    if test.startswith("msgq"):
        assert row["messages"] == 64 * row["producers"], row
    if "--dev" in options:
        assert row["driver"] == options[options.index("--dev") + 1].rstrip("0"), row
    if row["api"] == "mbuf" and row["driver"] == "comch_ring":
        assert row["copies"] == 0, row
        floors = {"data-lat": "ring-lat", "data-rate": "ring"}
        assert row["floor"] == ("wake" if "event" in options else floors[test]), row
    has_tail = row["floor"] in ("line", "wake", "connect", "ring-lat")
    assert (row["floor_p999_ns"] is not None) == has_tail, row
    if has_tail:
        assert row["floor_p999_ns"] >= min(row["floor_value"], row["floor_after"]), row
    if row["core_per_s"] is not None:
        assert row["core_per_s"] > 1e6, row
    if test == "floor":
        assert row["core_per_s"] is not None, row
        assert (row["lines"] is None) == (row["floor"] != "slot"), row
    if "--lines" in options:
        assert len(rows) == 1 and row["floor"] == "slot", rows
        assert row["lines"] == float(options[options.index("--lines") + 1]), row
        assert row["size"] == int(64 * row["lines"]), row
    if test.startswith(("dma", "sha", "compress")):
        assert row["api"] == "doca" and row["label"], row
        assert row["messages"] == 64, row
    if "doca" in options:
        assert row["api"] == "doca", row
EOT
