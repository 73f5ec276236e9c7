# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Programs for DOCA: the host's on x86-64, the DPU's on arm64, as they are

machines='host dpu'
examples=/lab/build/examples
programs=(examples/doca_ctrl_path/doca_ctrl_path_host examples/doca_ctrl_path/doca_ctrl_path_dpu
	examples/doca_data_path/doca_data_path_host examples/doca_data_path/doca_data_path_dpu
	examples/doca_comm_channel/cc_server examples/doca_comm_channel/cc_client)
cases=(control data comm_channel)
quick=(control)
# NVIDIA's samples are not a part of comch.
if [ -n "$lab_samples" ]; then
	cases+=(samples_compile samples_control samples_data)
fi
samples=$lab_dir/samples

# both HOST_COMMAND DPU_COMMAND: both end well.
both() {
	local dpu
	dpu=$(vm_begin dpu "$2")
	vm_rdma_listens dpu
	vm_run host "$vm_patience" "$1"
	vm_end dpu "$dpu"
	cat "$(vm_output dpu "$dpu")"
}

case_control() {
	both "$examples/doca_ctrl_path/doca_ctrl_path_host -p b1:00.0 --text hello --count 3" \
		"$examples/doca_ctrl_path/doca_ctrl_path_dpu -p 03:00.0 -r b1:00.0"
}

case_data() {
	both "$examples/doca_data_path/doca_data_path_host -p b1:00.0 --size 4 --both" \
		"$examples/doca_data_path/doca_data_path_dpu -p 03:00.0 -r b1:00.0"
}

case_comm_channel() {
	both "$examples/doca_comm_channel/cc_client -p b1:00.0 -t hello -c 2" \
		"$examples/doca_comm_channel/cc_server -p 03:00.0 -r b1:00.0 -t welcome -c 1"
}

case_samples_compile() {
	local name
	lab_release=(--doca "$(samples_release "$lab_samples")")
	rm -rf "$samples"
	mkdir -p "$samples/tree"
	samples_copy "$lab_samples" "$samples/tree"
	for name in comch_ctrl_path comch_data_path_high_speed; do
		command_compile host "$samples/tree/samples/doca_comch/${name}_client" \
			"$samples/host_$name"
		command_compile dpu "$samples/tree/samples/doca_comch/${name}_server" \
			"$samples/dpu_$name"
	done
}

# sample NAME: a client on the host, the server on the DPU. Both print what they receive.
sample() {
	local host dpu
	host=$(lab_command host "$samples/host_$1/doca_${1}_client -p b1:00.0")
	dpu=$(lab_command dpu "$samples/dpu_$1/doca_${1}_server -p 03:00.0 -r b1:00.0")
	both "$host" "$dpu" | tee "$lab_run/sample"
	[ "$(grep -c 'Message received' "$lab_run/sample")" -ge 2 ]
}

case_samples_control() {
	sample comch_ctrl_path
}

case_samples_data() {
	sample comch_data_path_high_speed
}
