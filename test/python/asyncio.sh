#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# The server in asyncio has clients for DOCA, two at a time, and a native one.
#
# usage: asyncio.sh PYTHON SERVER DOCA_CLIENT CLIENT

set -euo pipefail

"$1" "$2" --name doca_ctrl_path --text hello --clients 3 >"$TMPDIR/server" 2>&1 &
server_pid=$!
trap 'kill "$server_pid" 2>/dev/null || true' EXIT
until grep -q 'is ready' "$TMPDIR/server"; do
	kill -0 "$server_pid" 2>/dev/null || {
		cat "$TMPDIR/server"
		exit 1
	}
	sleep 0.05
done

"$3" -p b1:00.0 -c 3 >"$TMPDIR/1" &
first=$!
"$3" -p b1:00.0 -c 200 >"$TMPDIR/2"
wait "$first"
"$4" --no-huge -m 64 --no-pci -- --name doca_ctrl_path --count 2 >"$TMPDIR/3"
wait "$server_pid"

grep -qx 'host: 3 texts received' "$TMPDIR/1"
grep -qx 'host: 200 texts received' "$TMPDIR/2"
grep -qx '2 messages sent, 2 delivered, 2 answered' "$TMPDIR/3"
for nb in 2 3 200; do
	grep -qx "a client has left after $nb messages" "$TMPDIR/server"
done
