#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Hunt for lost messages: a server and clients send, connect, disconnect, create and destroy
# at random, while a supervisor stops and kills them at random. Logs in memory that survives a
# kill show whether each message arrived once, in order and intact, and whether it completed.
# When all are idle, each must use no more resources than at first.
#
# usage: devtools/soak.sh SECONDS [--dev shm|mlx5] [--kills N] [--clients N] [--journal FILE]
#                         [--seed N]
#
#   --dev shm       processes over shared memory; the default
#   --dev mlx5      threads over RDMA, on verbs in memory. A kill takes down the device of the
#                   thread: half of the time its kernel disconnects the peers, otherwise it
#                   is silent. Each phase picks delays, reordering, late data, slow calls
#   --kills N       kill more often, and continue until N actors were killed
#   --clients N     clients, with up to three connections each, 1 to 7; default 3
#   --journal FILE  append the output to FILE
#   --seed N        seed of all random choices; timing still varies. Default: from the clock;
#                   printed
#
# One line per phase says what was done and how much arrived; lines with FAILED say what
# was wrong. The last line is "N passed, N failed, N skipped": connections, and checks of idle
# actors.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

case ${1:-} in
-h | --help)
	usage
	exit 0 ;;
[0-9]*) ;;
*) die "expected SECONDS; see --help" ;;
esac
seconds=$1
shift

program=soak
args=()
while [ $# -gt 0 ]; do
	case $1 in
	--dev)
		case ${2:-} in
		shm) program=soak ;;
		mlx5) program=soak-mlx5 ;;
		*) die "--dev: expected shm or mlx5; --help says more" ;;
		esac
		shift ;;
	*) args+=("$1") ;;
	esac
	shift
done

"$top/devtools/setup.sh" build test
build_targets "test/soak/$program"
own_runtime
step "Soaking for $seconds s"
TMPDIR=$runtime_dir "$top/build/test/soak/$program" "${args[@]}" "$seconds"
