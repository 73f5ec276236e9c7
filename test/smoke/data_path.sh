#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Long messages through examples/data_path, and invalid input.
#
# usage: data_path.sh CONSUMER PRODUCER
#
# $T_LARGE set: messages of 1 GiB, the limit, which need 2 GiB of memory.

set -euo pipefail

consumer=$1
producer=$2

fail() {
	echo "$*" >&2
	tail -n 20 "$TMPDIR"/consumer* "$TMPDIR"/producer* >&2
	exit 1
}

# transfer STATUS CONSUMER-OPTIONS -- PRODUCER-OPTIONS: both end with this status.
transfer() {
	local want=$1 status=0 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	"$consumer" "${options[@]}" >"$TMPDIR/consumer" 2>"$TMPDIR/consumer.err" &
	pid=$!
	trap 'kill "$pid" 2>/dev/null || true' EXIT
	"$producer" "$@" >"$TMPDIR/producer" 2>"$TMPDIR/producer.err" || status=$?
	[ "$status" -eq "$want" ] || fail "producer: exit status $status"
	status=0
	wait "$pid" || status=$?
	trap - EXIT
	[ "$status" -eq "$want" ] || fail "consumer: exit status $status"
}

# refused TEXT PROGRAM OPTION...: with status 1, before anything is connected.
refused() {
	local text=$1 status=0
	shift
	"$@" >"$TMPDIR/producer" 2>"$TMPDIR/producer.err" || status=$?
	[ "$status" -eq 1 ] || fail "$*: exit status $status"
	grep -qF -- "$text" "$TMPDIR/producer.err" || fail "$*: not '$text'"
}

size=96M
length=200M
if [ -n "${T_LARGE:-}" ]; then
	size=1G
	length=3G
fi

# More messages than buffers, of which there is one on each side.
transfer 0 --size "$size" --progress 1 -- --size "$size" --length "$length" --progress 1
grep -q ' in 3 messages' "$TMPDIR/consumer" || fail 'not 3 messages'
grep -q ', 1 buffer of ' "$TMPDIR/consumer" || fail 'more buffers than necessary'
grep -q '^received [0-9.]* MiB, [0-9.]* GB/s$' "$TMPDIR/consumer.err" || fail 'no progress'
grep -q '^sent [0-9.]* of [0-9.]* MiB, [0-9.]* GB/s$' "$TMPDIR/producer.err" || fail 'no progress'
cat "$TMPDIR/consumer" "$TMPDIR/producer"

# A pipe gives its bytes in pieces; they are one message of less than its longest.
head -c 3000000 /dev/urandom >"$TMPDIR/original"
(
	head -c 1000000 "$TMPDIR/original"
	sleep 0.1
	tail -c +1000001 "$TMPDIR/original"
) | transfer 0 --size 1G --output "$TMPDIR/copy" -- --size 1G --input /dev/stdin
grep -q ' in 1 messages' "$TMPDIR/consumer" || fail 'not one message'
cmp "$TMPDIR/original" "$TMPDIR/copy" || fail 'the copy differs'

transfer 1 --size 4K -- --size 8K --length 1M
grep -q "consumer's buffers are too short, see its --size" "$TMPDIR/producer.err" ||
	fail 'the reason is missing'

refused '--size' "$producer" --size 1025M
refused 'Is a directory' "$producer" --input "$TMPDIR"
refused 'No such file' "$producer" --input "$TMPDIR/missing"
refused '--size times --buffers is ' "$consumer" --size 1G --buffers 64K
