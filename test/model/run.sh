#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Check the models in this directory. A "good" case must have no error, a "bad" one must have one.
# Each labelled operation of a model that includes memory.h is also checked without its ordering:
# at least one good case must then fail. Needs spin and a C compiler.
#
#   run.sh [model...]

set -euo pipefail

src=$(cd "$(dirname "$0")" && pwd)

# model: define: expected
cases=(
	"publish::good"
	"leave::good"
	"leave:LAST:good"
	"lock::good"
	"note::good"
	"done::good"
	"keys::good"
	"keys:STORE:bad"
	"msgq::good"
	"cells::good"
	"ring::good"
	"ring:C11:good"
	"ring:C11_ONLY:bad"
	"ring:NO_MOVED:bad"
	"stage::good"
	"stage:STOP_LATE:bad"
	"abort::good"
	"abort:EARLY:bad"
	"stop::good"
	"stop:DOWN:good"
	"stop:NO_WAIT:bad"
	"stop:DOWN LATE:bad"
	"dir::good"
	"dir:FULL:good"
	"wake::good"
	"wake:LIGHT:good"
	"wake:ASKED:good"
	"wake:ASKED NO_HEAVY:bad"
	"wake:ASKED NO_AGAIN:bad"
	"wake:ASKED NO_SLEEP:bad"
	"wake:ASKED NO_LOOK:bad"
	"wake:NO_PUBLISH:bad"
	"wake:NO_SLEEP:bad"
	"wake:NO_LOOK:bad"
	"wake:CREDITS:good"
	"wake:CREDITS LIGHT:good"
	"wake:CREDITS ASKED:good"
	"wake:CREDITS ASKED NO_HEAVY:bad"
	"wake:CREDITS ASKED NO_AGAIN:bad"
	"wake:CREDITS NO_PUBLISH:bad"
	"wake:CREDITS NO_SLEEP:bad"
	"wake:CREDITS NO_LOOK:bad"
	"wake:CREDITS ANSWERED:bad"
	"windows::good"
	"windows:NO_OFFERS:bad"
	"windows:NO_SHOWN:bad"
	"windows:NO_CREDIT:bad"
	"windows:NO_OWN:bad"
	"out::good"
	"out:NO_STAY:bad"
	"out:TAKEN:bad"
	"name::good"
	"name:NO_CHECK:bad"
	"name:SOCK_LAST:bad"
	"drain::good"
	"drain:NO_FINAL:bad"
	"drain:NO_DRAIN:bad"
	"drain:EARLY_ACK:bad"
	"hide::good"
	"hide:NO_ERR:bad"
	"hide:NO_REFS:bad"
	"hide:ONE_KEY:bad"
	"slots::good"
	"slots:NO_RESERVE:bad"
	"slots:NO_RETURN:bad"
	"counter::good"
	"need::good"
	"need:NO_HALTED:bad"
	"need:NO_LOOK:bad"
	"need:NO_NEED:bad"
	"await::good"
	"await:OWNED:bad"
	"await:UNMARKED:bad"
	"sleepers::good"
	"sleepers:NO_ARM:bad"
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
cp "$src/memory.h" .

wanted() {
	local want
	(($# > 1)) || return 0
	for want in "${@:2}"; do
		[[ $want == "$1" ]] && return 0
	done
	return 1
}

# Copies a model. Its operations of memory.h with a label get a number, in the
# order of the file labels.
number() {
	awk '
	match($0, /^[a-z_0-9]+:[ \t]+(store|load|rmw|fence)_[a-z_]+\(/) {
		split($0, label, ":")
		print label[1] > "labels"
		nb++
		match($0, /\(/)
		rest = substr($0, RSTART + 1)
		sub(/:[ \t]+/, ":nth_")
		sub(/\(.*/, "(" nb (rest ~ /^\)/ ? "" : ", "))
		$0 = $0 rest
	}
	{ print }' "$src/$1.pml"
}

# Makes ./pan of a model with these defines. Prints why it cannot.
build() {
	local flags=() d
	for d in $2; do
		flags+=("-D$d")
	done
	rm -f pan* labels
	number "$1" >"$1.pml"
	spin "${flags[@]}" -a "$1.pml" >spin.log 2>&1 || { cat spin.log; return 1; }
	# Large ones run for longer than the compiler.
	cc "$([[ -e labels ]] && echo -O1 || echo -O0)" -w -DSAFETY -DCOLLAPSE -DMEMLIM=1024 \
		-o pan pan.c 2>&1
}

# Prints good, bad, or why it is neither. WEAK: the number of an operation.
check() {
	local out
	out=$(WEAK=${1:-0} ./pan -m1000000 2>&1) || { echo "$out"; return 0; }
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

# Whether an operation has failed without its ordering, by "model label".
declare -A needed
failed=0
for c in "${cases[@]}"; do
	IFS=: read -r model defines expected <<<"$c"
	wanted "$model" "$@" || continue
	if got=$(build "$model" "$defines"); then
		got=$(check)
	fi
	printf '%-8s %-20s %s\n' "$model" "${defines:-as it is}" "$got"
	if [[ $got != "$expected" ]]; then
		echo "         expected: $expected"
		failed=1
	fi
	[[ $expected == good && -e labels ]] || continue
	mapfile -t labels <labels
	for i in "${!labels[@]}"; do
		key="$model ${labels[i]}"
		[[ ${needed[$key]:-} == yes ]] && continue
		needed[$key]=no
		[[ $(check $((i + 1))) != bad ]] || needed[$key]=yes
	done
done
for key in "${!needed[@]}"; do
	if [[ ${needed[$key]} == yes ]]; then
		printf '%-8s without %-12s bad\n' "${key% *}" "${key#* }"
	else
		printf '%-8s without %-12s good\n         expected: bad\n' "${key% *}" "${key#* }"
		failed=1
	fi
done | sort
for key in "${!needed[@]}"; do
	[[ ${needed[$key]} == yes ]] || failed=1
done
exit $failed
