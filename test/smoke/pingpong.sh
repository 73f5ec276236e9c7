#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Two lcores play as many rounds as they were told; one alone does not.
#
# usage: pingpong.sh MSGQ-PINGPONG

set -euo pipefail

program=$1
out=$TMPDIR/out

for options in '-n 1 -s 8' '--count 1000'; do
	read -ra words <<<"$options"
	"$program" "${words[@]}" >"$out"
	grep -q "^${words[1]} round trips of .*: min [0-9]* ns, median [0-9]* ns" "$out" || {
		cat "$out"
		exit 1
	}
done

# refuses WORDS ARGUMENT...: ends with a status, having said so.
refuses() {
	if "$program" "${@:2}" >"$out" 2>&1 || ! grep -q -e "$1" "$out"; then
		cat "$out"
		exit 1
	fi
}

eal=(--lcores=0@0 --no-huge -m 64 --no-pci --no-telemetry --no-shconf)
refuses '2 lcores needed, EAL has 1' "${eal[@]}" -- --count 1
refuses "'33', not a number from 8 to 32" --size 33
