#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Measure the speed of the channel, by comch-perf, for what one run of it does not answer.
#
# usage: devtools/perf.sh COMMAND [ARGUMENT...]
#
#   goals               does the channel reach what it is to reach beside the machine's floors
#   compare REV [REV]   is a revision faster or slower than another one
#   peers [PEER...]     is the channel faster than net_memif, vhost, UCX, libfabric and others
#   pictures            draw the pictures of the guide
#
# "devtools/perf.sh COMMAND --help" says more. Use an idle machine with two CPUs.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

case ${1:-} in
goals | compare | peers | pictures) exec "$top/devtools/perf/$1.sh" "${@:2}" ;;
-h | --help) usage ;;
*) die "expected a command: goals, compare, peers or pictures; --help says more" ;;
esac
