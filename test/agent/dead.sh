#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# What conformance-agent makes of an agent that is not there, dies or hangs.
#
# usage: dead.sh CONFORMANCE_AGENT COMCH_AGENT

set -euo pipefail

run=$1
log=$TMPDIR/run.log
agent_log=$TMPDIR/agent.log

fail() {
	printf 'FAILED: %s\n' "$*"
	cat "$log" "$agent_log"
	exit 1
}

# await FILE PATTERN: until a line of the file matches.
await() {
	local i
	for ((i = 0; i < 600; i++)); do
		grep -q "$2" "$1" && return
		sleep 0.05
	done
	fail "$1 never has \"$2\""
}

# expect PATTERN: the run in the background fails, with a line that matches.
expect() {
	local status=0
	wait "$run_pid" || status=$?
	[ "$status" -eq 1 ] || fail "exit status $status, expected 1"
	grep -q "$1" "$log" || fail "no line matches \"$1\""
}

"$2" --listen 127.0.0.1:0 >"$agent_log" 2>&1 &
agent_pid=$!
trap 'kill -9 "$agent_pid" 2>/dev/null || true' EXIT
await "$agent_log" 'listening at'
address=$(sed -n 's/.*listening at //p' "$agent_log")

# The agent writes a line when a session begins and one when it ends; the end of
# the one before may be written late, so it is no sign of a new one.
begun='session [0-9]* for'

# start CASE: run it; $session is the process that serves it.
start() {
	local nb
	nb=$(grep -c "$begun" "$agent_log" || true)
	"$run" --agent "$address" "$@" >"$log" 2>&1 &
	run_pid=$!
	await "$agent_log" "$begun"
	while [ "$(grep -c "$begun" "$agent_log")" -eq "$nb" ]; do
		sleep 0.05
	done
	session=$(sed -n 's/.*session \([0-9]*\) for.*/\1/p' "$agent_log" | tail -1)
}

echo "killed"
start disconnect/no_leak
kill -9 "$session"
expect 'FAILED   disconnect/no_leak'
grep -q "agent $address: .*\(closed the connection\|connection closed\|reset\|pipe\)" "$log" ||
	fail "no word of the agent's end"

echo "hangs"
COMCH_AGENT_SECONDS=1 start disconnect/no_leak
kill -STOP "$session"
expect 'no answer'
kill -9 "$session"

echo "serves the next run"
"$run" --agent "$address" ctrl/burst ctrl/sizes >"$log" 2>&1 || fail "a new session fails"

echo "not there"
kill -9 "$agent_pid"
wait "$agent_pid" 2>/dev/null || true
"$run" --agent "$address" ctrl/burst >"$log" 2>&1 &
run_pid=$!
expect 'connect'
