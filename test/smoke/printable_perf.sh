#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# What comch-perf prints of its peer does not control the terminal.
#
# usage: printable_perf.sh COMCH-PERF PEER

set -euo pipefail

# check PEER-ROLE TEXT ARGUMENT...: what it prints has the text, and no byte that is not
# printable.
check() {
	local role=$1 text=$2 out=$TMPDIR/out pid
	shift 2
	"$peer" "$role" &
	pid=$!
	if timeout 60 "$perf" "$@" >"$out" 2>&1; then
		echo "$*: did not fail" >&2
		exit 1
	fi
	wait "$pid"
	if LC_ALL=C grep -q '[^[:print:]]' "$out" || ! grep -qF "$text" "$out"; then
		LC_ALL=C sed -n 'l' "$out" >&2
		exit 1
	fi
}

perf=$1
peer=$2
check host "unknown test '\x1b]0;title\x07 red \x9b31m'" --role dpu
check dpu 'comch-perf: data-lat: prepare: peer: \x1b]0;title\x07 red \x9b31m' \
	--role host --attempts 1 --iters 64 data-lat
