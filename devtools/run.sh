#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Set up, build, and measure the channel on this machine.
#
# usage: devtools/run.sh [ARGUMENT...]
#
# Installs the packages that are missing, builds an optimised library and its
# programs in build/, and runs comch-perf, which starts both sides of the
# channel, a host and a DPU, as two processes here, and ends with its table.
# Arguments go to comch-perf: "--help" lists them.
#
# Root and hugepages are not needed (root or sudo only for missing packages).

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

"$top/devtools/setup.sh" build
build build --buildtype=release
own_runtime
step "Running: comch-perf $*"
"$top/build/app/comch-perf/comch-perf" "$@"
