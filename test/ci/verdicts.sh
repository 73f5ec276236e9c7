#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# The project of examples/ci, in its directory: its workflow is green; and for each kind of mistake
# the run is red, with the sentence that says why.
#
# usage: verdicts.sh

set -euo pipefail

fail() {
	echo "$*" >&2
	exit 1
}

nb=0
passed() {
	nb=$((nb + 1))
	echo "ci: $*"
}

# The limits are there.
! touch /usr/here 2>/dev/null || fail 'the root file system can be written'
[ "$(df -k --output=size /dev/shm | tail -1)" -le 65536 ] || fail '/dev/shm is large'
[ "$(id -u)" -ne 0 ] || fail 'this is root'

for workflow in .github/workflows/comch.yml .gitlab-ci.yml; do
	grep -q ': bash ci.sh$' "$workflow" || fail "$workflow runs something else"
done
bash ci.sh >log 2>&1 || fail "ci.sh: $(cat log)"
grep -q 'host | host: received: Hello from the dpu' log || fail "ci.sh said: $(cat log)"
passed 'green'

dpu=build/dpu/greet host=build/host/greet

# red WHAT STATUS SENTENCE ARGUMENT...: comch-run ends so, and its last line has the sentence, or,
# if the sentence begins with "|", one of the lines before.
red() {
	local what=$1 wanted=$2 sentence=$3 status=0
	shift 3
	comch-run --timeout 6 --grace 1 --out build/out "$@" >log 2>&1 || status=$?
	[ "$status" -eq "$wanted" ] || fail "$what: status $status, expected $wanted: $(cat log)"
	if [[ $sentence = '|'* ]]; then
		grep -q -- "$sentence" log || fail "$what: no line with '$sentence': $(cat log)"
	else
		tail -1 log | grep -q -- "$sentence" || fail "$what: not '$sentence': $(cat log)"
	fi
	passed "red: $what: $(tail -1 log)"
}

red 'a server that never starts' 124 \
	'no server can be reached; dpu: no telemetry: it has not opened a device yet' \
	-- sleep 1000 --- "$host"
red 'the wrong representor' 124 \
	"'greet' on pf0 finds no server there: the dpu's server of that name is on pf1" \
	-- "$dpu" -r b1:00.1 --- "$host"
red 'the wrong name' 124 "'greet' on pf0 finds no server of that name there, but 'hello'" \
	-- "$dpu" -n hello --- "$host"
red 'a host that dies' 137 'host: ended with status 137' \
	-- "$dpu" --- sh -c 'kill -KILL $$'
red 'a host that crashes' 139 'host: ended with status 139' \
	-- "$dpu" --- sh -c 'kill -SEGV $$'
# It does not call doca_pe_progress() again.
red 'a DPU that hangs' 124 'dpu: hangs: it has not called its poll, or doca_pe_progress(), for' \
	--fault dpu:slow_ms=60000 -- "$dpu" --- "$host"
red 'a message above the limit of a BF2' 1 \
	'| comch: client greet: message of 5000 bytes: it takes up to 4080' \
	--profile bf2 -- "$dpu" --- "$host" -t "$(printf 'x%.0s' {1..5000})"
printf '\n%d passed, 0 failed, 0 skipped\n' "$nb"
