# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# comch within a machine of each architecture: EAL, the shared-memory driver, comch-perf

machines='host dpu'
programs=(app/comch-perf/comch-perf app/comch-perf/comch-perf-floor test/multiproc/t_pair)
cases=(control data processes)

# both SECONDS COMMAND: in both machines at once.
both() {
	local name status=0
	local -A ids=()
	for name in host dpu; do
		ids[$name]=$(vm_begin "$name" "$2")
	done
	for name in host dpu; do
		vm_end "$name" "${ids[$name]}" "$1" || status=1
		printf '%s$ %s\n' "$name" "$2"
		cat "$(vm_output "$name" "${ids[$name]}")"
	done
	return "$status"
}

# With the built-in device table, of shared memory, for the DOCA API.
perf='env -u COMCH_DEVICES /lab/build/app/comch-perf/comch-perf --wait event --verify'

case_control() {
	both 60 "$perf --iters 200 ctrl-lat"
}

# Descriptors, mbufs, and the DOCA API.
case_data() {
	both 60 "$perf --iters 500 data-rate"
}

case_processes() {
	both 120 /lab/build/test/multiproc/t_pair
}
