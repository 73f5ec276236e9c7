#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Measure what attacks on a server cost its honest clients: a process that connects without
# end, hoards, floods or does not read. Prints figures; use an idle machine with two CPUs.
#
# usage: devtools/siege.sh [--seconds N] [--repeat N] [--cpus A,B] [--no-judge] [ATTACK...]
#        devtools/siege.sh --list
#
#   --seconds N   duration of each attack; default 5
#   --repeat N    all attacks N times
#   --cpus A,B    CPUs of the server and of the attacker; default 0,1
#   --no-judge    print figures, do not compare them with the wanted ones
#   --list        list the attacks; by default all are run, by a process of the same user and,
#                 as root, by one of another user
#
# The last line is "N passed, N failed, N skipped". The exit status is 1 if a figure is worse
# than wanted.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

case ${1:-} in
-h | --help)
	usage
	exit 0 ;;
esac

"$top/devtools/setup.sh" build test
build_targets test/siege/siege
own_runtime
TMPDIR=$runtime_dir "$top/build/test/siege/siege" "$@"
