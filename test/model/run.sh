#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Check the models in this directory: as they stand they have no error, and
# each variant that leaves something out has one. Needs spin and a C compiler.
#
#   run.sh [model...]

set -euo pipefail

src=$(cd "$(dirname "$0")" && pwd)

# model: define: expected
cases=(
	"wake::good"
	"wake:LIGHT:good"
	"wake:NO_PUB:bad"
	"wake:NO_SLEEP:bad"
	"wake:NO_LOOK:bad"
	"wake:CREDITS:good"
	"wake:CREDITS LIGHT:good"
	"wake:CREDITS NO_PUB:bad"
	"wake:CREDITS NO_SLEEP:bad"
	"wake:CREDITS NO_LOOK:bad"
	"wake:CREDITS ANSWERED:bad"
	"stop::good"
	"stop:NO_CLAIM_FENCE:bad"
	"stop:NO_CLOSE_FENCE:bad"
	"stop:NO_WAIT:bad"
	"dir::good"
	"dir:FULL:good"
	"dir:NO_HEAVY:bad"
	"dir:FULL NO_LIGHT:bad"
	"dir:FULL NO_HEAVY:bad"
	"drain::good"
	"drain:NO_FINAL:bad"
	"drain:NO_DRAIN:bad"
	"drain:EARLY_ACK:bad"
	"slots::good"
	"slots:NO_RESERVE:bad"
	"slots:NO_RETURN:bad"
	"need::good"
	"need:NO_HALTED:bad"
	"need:NO_LOOK:bad"
	"need:NO_NEED:bad"
	"sleepers::good"
	"sleepers:NO_FORWARD:bad"
	"sleepers:NO_LOOK:bad"
)

for tool in spin cc; do
	if ! command -v "$tool" >/dev/null; then
		echo "skipped: $tool is not installed"
		exit 77
	fi
done

work=$(mktemp -d "${TMPDIR:-/tmp}/model.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

wanted() {
	local want
	(($# > 1)) || return 0
	for want in "${@:2}"; do
		[[ $want == "$1" ]] && return 0
	done
	return 1
}

# Prints good, bad, or why it is neither.
check() {
	local model=$1 flags=() d out
	for d in $2; do
		flags+=("-D$d")
	done
	rm -f pan*
	spin "${flags[@]}" -a "$src/$model.pml" >spin.log 2>&1 || { cat spin.log; return 0; }
	cc -O1 -w -DSAFETY -DCOLLAPSE -DMEMLIM=1024 -o pan pan.c 2>&1 || return 0
	out=$(./pan -m1000000 2>&1) || { echo "$out"; return 0; }
	if grep -q 'max search depth too small\|out of memory\|memory usage limit' <<<"$out"; then
		echo "$out"
	elif grep -q 'errors: 0$' <<<"$out"; then
		echo good
	elif grep -q 'errors: [1-9]' <<<"$out"; then
		echo bad
	else
		echo "$out"
	fi
}

failed=0
for c in "${cases[@]}"; do
	IFS=: read -r model defines expected <<<"$c"
	wanted "$model" "$@" || continue
	got=$(check "$model" "$defines")
	printf '%-5s %-20s %s\n' "$model" "${defines:-as it is}" "$got"
	if [[ $got != "$expected" ]]; then
		echo "      expected: $expected"
		failed=1
	fi
done
exit $failed
