#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# comch-perf floor --lines: what it refuses and why, and its row in each format.
#
# usage: lines.sh COMCH-PERF

set -euo pipefail

program=$1
out=$TMPDIR/out
common=(--duration 0.05 --attempts 1)

fail() {
	echo "$*" >&2
	cat "$out" >&2
	exit 1
}

# refused TEXT ARGUMENT...: a usage error, and nothing but the text.
refused() {
	local text=$1 status=0
	shift
	"$program" "$@" >"$out" 2>&1 || status=$?
	[ "$status" -eq 2 ] || fail "$*: exit status $status, not 2"
	[[ $(<"$out") == "comch-perf: $text"* ]] || fail "$*: not '$text'"
}

for value in 0 0.9 -1 16.001 17 1.0005 '' nan 2,3 2x; do
	refused "--lines: '$value' is not a number from 1 to 16 with at most three decimals" \
		--lines "$value" floor
done
refused '--lines: missing value' --lines
refused 'unsupported --lines for test data-rate; supported: --size, ' --lines 2 data-rate
refused 'unsupported --lines for test ctrl-lat; supported: --size, ' --lines 2 floor ctrl-lat
refused 'unsupported --lines for test ctrl-lat; supported: --size, ' --lines 2
refused '--lines and --size exclude each other' --lines 2 --size 64 floor
refused '--role dpu takes' --role dpu --lines 2

printf '[floor]\nlines = 1,17\n' >"$TMPDIR/bad.ini"
refused "$TMPDIR/bad.ini: [floor] lines: --lines: '17' is not" --sweep "$TMPDIR/bad.ini"
printf '[data-bw]\nlines = 1\n' >"$TMPDIR/bad.ini"
refused 'unsupported --lines for test data-bw' --sweep "$TMPDIR/bad.ini"

printf '[floor]\nlines = 1,1.6,2.25,16\nduration = 0.05\n' >"$TMPDIR/good.ini"
"$program" --attempts 1 --sweep "$TMPDIR/good.ini" >"$out"
[ "$(grep -c '^floor .* slot ' "$out")" -eq 4 ] || fail 'not a row for each number of lines'
for text in 'slot, 1 line ' 'slot, 1.6 lines ' 'slot, 2.25 lines ' 'slot, 16 lines '; do
	grep -q "^floor  *$text" "$out" || fail "no row '$text'"
done

"$program" "${common[@]}" --format csv --lines 1.6 floor >"$out"
python3 - "$out" <<'EOT' || fail 'CSV'
import csv
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    (row,) = csv.DictReader(f)
assert row["test"] == "floor" and row["floor"] == "slot" and row["lines"] == "1.6", row
assert float(row["floor_value"]) > 0 and float(row["ratio"]) > 0, row
EOT

# As with other floors, there is nothing to draw.
if command -v gnuplot >/dev/null; then
	"$program" "${common[@]}" --lines 2 --plot "$TMPDIR/plots" floor >"$out"
	[ -z "$(ls "$TMPDIR/plots")" ] || fail 'drew a floor'
fi
