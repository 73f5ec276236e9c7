#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Two programs find each other, do what they do, and both end well.
#
# usage: pair.sh DPU-PROGRAM [ARGUMENT...] -- HOST-PROGRAM [ARGUMENT...]

set -euo pipefail

dpu=()
while [ "$1" != -- ]; do
	dpu+=("$1")
	shift
done
shift

"${dpu[@]}" &
pid=$!
trap 'kill "$pid" 2>/dev/null || true' EXIT
"$@"
status=0
wait "$pid" || status=$?
trap - EXIT
exit "$status"
