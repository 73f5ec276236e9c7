#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Hunt for lost messages: a server and clients in processes of their own send, connect,
# disconnect, create and destroy at random, while a supervisor stops and kills them at
# random. Books in memory that survives them say whether each message arrived once, in
# order and whole, and whether it completed; at rest, each process must hold what it held
# at first.
#
# usage: devtools/soak.sh SECONDS [--kills N] [--clients N] [--journal FILE] [--seed N]
#
#   --kills N       kill more often, and go on until N processes were killed
#   --clients N     client processes, with up to three connections each; default 3
#   --journal FILE  append the lines of the output to FILE
#   --seed N        of all that is random, but not of the time that things take; it is
#                   printed
#
# One line per phase says what was done and how much arrived; lines with FAILED say what
# was wrong. The last line is "N passed, N failed, N skipped", of connections and rests.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

case ${1:-} in
-h | --help)
	usage
	exit 0 ;;
[0-9]*) ;;
*) die "expected SECONDS; --help says more" ;;
esac
seconds=$1
shift

"$top/devtools/setup.sh" build test
configure build --buildtype=release
step "Building: ninja -C build test/soak/soak"
ninja -C "$top/build" test/soak/soak
own_runtime
step "Soaking for $seconds s"
TMPDIR=$runtime_dir "$top/build/test/soak/soak" "$@" "$seconds"
