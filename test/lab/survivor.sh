#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Each end outlives three peers that are killed in the middle of a transfer.
#
# usage: survivor.sh PROGRAM

set -euo pipefail
program=$1
lives=3
dir=$(mktemp -d)
pids=()
# shellcheck disable=SC2317 # called by trap
end() {
	if [ "${#pids[@]}" -gt 0 ]; then
		kill -9 "${pids[@]}" 2>/dev/null || true
	fi
	rm -rf "$dir"
}
trap end EXIT

declare -A device=(
	[dpu]="comch_shm0,role=dpu,rep=pf0,dir=$dir"
	[host]="comch_shm0,role=host,func=pf0,dir=$dir")

# begin ROLE LIVES: start an end; its output is in the file ROLE.
begin() {
	"$program" "$1" "${device[$1]}" "$2" >>"$dir/$1" 2>&1 &
	pids+=($!)
	disown
}

# says FILE TEXT: wait until the file has this line.
says() {
	until grep -qx "$2" "$dir/$1"; do
		kill -0 "$survivor" || { cat "$dir/$1"; exit 1; }
		sleep 0.02
	done
}

# outlives ROLE PEER
outlives() {
	local i peer
	rm -f "$dir/dpu" "$dir/host"
	begin "$1" "$lives"
	survivor=$!
	for ((i = 1; i <= lives; i++)); do
		begin "$2" 100
		peer=$!
		says "$1" "life $i moves"
		kill -9 "$peer"
	done
	while kill -0 "$survivor" 2>/dev/null; do
		sleep 0.02
	done
	cat "$dir/$1"
	[ "$(grep -c '^life .* ends' "$dir/$1")" -eq "$lives" ]
}

outlives host dpu
outlives dpu host
