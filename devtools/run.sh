#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Set up, build, and measure the channel on this machine.
#
# usage: devtools/run.sh [ARGUMENT...]
#
# Installs missing packages, builds an optimised library and its programs in build/,
# and runs comch-perf. comch-perf starts both sides of the channel, host and DPU, as
# two processes on this machine, and prints a table. Arguments are passed to
# comch-perf: "--help" lists them.
#
# Needs neither root nor hugepages (root or sudo only to install missing packages).

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

"$top/devtools/setup.sh" build
build build --buildtype=release
own_runtime
step "Running: comch-perf $*"
"$top/build/app/comch-perf/comch-perf" "$@"
