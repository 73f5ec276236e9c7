#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Run a program's two sides. Both end with status 0, and each has got what the
# other one said.
#
# usage: pair.sh [--env] DPU-PROGRAM HOST-PROGRAM
#
# A program whose name ends with -1.2 is of a release in which programs did not
# name devices.
#
#   --env   say by $COMCH_ROLE which side a program is: it was not linked with
#           an object that says so

set -euo pipefail

by_env=false
if [ "$1" = --env ]; then
	by_env=true
	shift
fi
dpu=$1
host=$2
# It would be the role of both sides.
unset COMCH_ROLE

# run SIDE PROGRAM ARGUMENT...
run() {
	local side=$1
	shift
	if $by_env; then
		export COMCH_ROLE=$side
	fi
	exec "$@"
}

dpu_at=(-p 03:00.0 -r b1:00.0)
host_at=(-p 0000:b1:00.0)
[[ $dpu != *-1.2 ]] || dpu_at=()
[[ $host != *-1.2 ]] || host_at=()

mkfifo "$TMPDIR/dpu"
(run dpu "$dpu" "${dpu_at[@]}" -n pair -t 'said by the DPU') >"$TMPDIR/dpu" 2>&1 &
dpu_pid=$!
exec 3<"$TMPDIR/dpu"
: >"$TMPDIR/dpu.log"
# Until it listens, or has ended.
while read -r line <&3; do
	printf '%s\n' "$line" >>"$TMPDIR/dpu.log"
	case $line in *listening*) break ;; esac
done

status=0
(run host "$host" "${host_at[@]}" -n pair -t 'said by the host') >"$TMPDIR/host.log" 2>&1 ||
	status=$?
# A server without a client waits for ever.
[ "$status" -eq 0 ] || kill "$dpu_pid" 2>/dev/null || true
cat <&3 >>"$TMPDIR/dpu.log"
wait "$dpu_pid" || status=1
sed 's/^/dpu:  /' "$TMPDIR/dpu.log"
sed 's/^/host: /' "$TMPDIR/host.log"
grep -q 'received: said by the host$' "$TMPDIR/dpu.log" || status=1
grep -q 'received: said by the DPU$' "$TMPDIR/host.log" || status=1
exit "$status"
