#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# One cc_server, many cc_clients, one of them killed; an end by SIGINT; and what
# is said about options that are wrong.
#
# usage: cc.sh CC-SERVER CC-CLIENT

set -euo pipefail

server=$1
client=$2
nb_clients=8
nb_texts=100

fail() {
	echo "$*" >&2
	exit 1
}

"$server" >"$TMPDIR/server" 2>&1 &
server_pid=$!
trap 'kill "$server_pid" 2>/dev/null || true' EXIT

pids=()
for ((i = 0; i < nb_clients; i++)); do
	"$client" --text "from $i" --count "$nb_texts" >"$TMPDIR/client.$i" 2>&1 &
	pids+=($!)
done
for i in "${!pids[@]}"; do
	wait "${pids[$i]}" || fail "client $i: $(tail -n 3 "$TMPDIR/client.$i")"
	grep -q "^host: $nb_texts texts received" "$TMPDIR/client.$i" || fail "client $i lacks texts"
done

# One that is killed does not disturb the others.
"$client" --text killed --count 1000000000 >"$TMPDIR/killed" 2>&1 &
killed=$!
until grep -q '"Hello from the DPU"' "$TMPDIR/killed"; do
	kill -0 "$killed" || fail "a client ended: $(tail -n 3 "$TMPDIR/killed")"
done
kill -KILL "$killed"
wait "$killed" 2>/dev/null || true
"$client" --text last >/dev/null || fail "there was no answer after a client was killed"

kill -INT "$server_pid"
trap - EXIT
wait "$server_pid" || fail "the server ended with status $?: $(tail -n 3 "$TMPDIR/server")"
grep -q 'Interrupted$' "$TMPDIR/server" || fail "the server was not interrupted"
for ((i = 0; i < nb_clients; i++)); do
	[ "$(grep -c "received \"from $i\"$" "$TMPDIR/server")" -eq "$nb_texts" ] ||
		fail "the server lacks texts of client $i"
done

# Without a server the client tries on; it can be interrupted.
"$client" >"$TMPDIR/alone" 2>&1 &
alone=$!
until grep -q 'connecting to "cc"' "$TMPDIR/alone"; do
	kill -0 "$alone" || fail "a client ended: $(cat "$TMPDIR/alone")"
done
kill -INT "$alone"
! wait "$alone" || fail "a client without a server ended well"

# refuses MESSAGE PROGRAM OPTION...: with status 1, and says why.
refuses() {
	local message=$1 status=0
	shift
	"$@" >"$TMPDIR/refused" 2>&1 || status=$?
	[ "$status" -eq 1 ] || fail "$* ended with status $status: $(cat "$TMPDIR/refused")"
	grep -qF -- "$message" "$TMPDIR/refused" || fail "$* said: $(cat "$TMPDIR/refused")"
}
refuses 'There is no device 05:00.0' "$server" -p 05:00.0
refuses 'There is no device b1:0' "$client" -p b1:0
refuses 'There is no representor 03:00.0' "$server" -r 03:00.0
refuses "unknown flag '-r'" "$client" -r b1:00.0
refuses 'A size is 1 to 4080, not 4081' "$server" -s 4081
refuses 'set queue size' "$server" -q 65535
refuses 'A count is 1 to' "$client" -c 0
refuses 'does not have 1 to 119 characters' "$client" -n "$(printf '%0120d' 0)"
refuses 'does not have 1 to 4080 characters' "$client" -t ''
