#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# comch-perf --plot draws pictures of what it has measured.
#
# usage: plot.sh COMCH-PERF

set -euo pipefail

perf=$1
dir=$TMPDIR/plots

# without_gnuplot ARGUMENT...: comch-perf where gnuplot is not found.
without_gnuplot() {
	PATH=$TMPDIR "$perf" --attempts 1 "$@" data-lat 2>"$TMPDIR/err" && exit 1
	cat "$TMPDIR/err"
}

fail() {
	echo "$*" >&2
	exit 1
}

without_gnuplot --plot "$dir" | grep -q 'gnuplot-nox' || fail 'no hint at the package'
if ! command -v gnuplot >/dev/null; then
	echo 'skipped: gnuplot is not installed'
	exit 77
fi
if "$perf" --plot /proc/plots data-lat 2>"$TMPDIR/err"; then
	fail 'wrote to /proc'
fi
grep -q 'create --plot /proc/plots' "$TMPDIR/err" || fail "$(cat "$TMPDIR/err")"

# Several series over the size, with their spread.
"$perf" --iters 64 --attempts 1 --repeat 2 --size 8:64:x2 --api desc --plot "$dir" data-lat data-rate
for name in data-lat data-lat-histogram data-rate; do
	grep -q '</svg>' "$dir/$name.svg" || fail "$name.svg is not complete"
	[ "$(head -c 4 "$dir/$name.png" | tail -c 3)" = PNG ] || fail "$name.png is no PNG"
done
[ ! -e "$dir/data-rate-histogram.csv" ] || fail 'a histogram of what has no latencies'
python3 - "$dir" <<'EOT'
import csv
import re
import sys

for name, sizes in ("data-lat", 4), ("data-rate", 4):
    with open(f"{sys.argv[1]}/{name}.csv", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    series = {row["series"] for row in rows}
    assert len(rows) == sizes * len(series) and rows, rows
    for row in rows:
        assert float(row["value"]) > 0 and float(row["floor"]) > 0, row
        assert float(row["low"]) <= float(row["high"]), row
        assert int(row["x"]) in (8, 16, 32, 64), row
with open(f"{sys.argv[1]}/data-lat-histogram.csv", encoding="utf-8") as f:
    bars = [(float(row["ns"]), float(row["share"])) for row in csv.DictReader(f)]
assert 50 < sum(share for _, share in bars) <= 100.1, bars
# All of them are in the picture.
with open(f"{sys.argv[1]}/data-lat-histogram.gnuplot", encoding="utf-8") as f:
    left = float(re.search(r"set xrange \[([^:]*):", f.read())[1])
assert left < min(ns for ns, share in bars if share > 0), (left, bars)
EOT
