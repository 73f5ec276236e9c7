# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Virtual machines: starting and ending them, and commands in them. Part of lab.sh.
#
# A machine is named host, dpu or one. Its state is in files of $lab_run/NAME, so that a
# subshell may start or end it:
#
#   pid           process id of qemu
#   console.log   the console, of all its boots
#   box/          shared with the guest: commands, their output, their exit status
#   orders.in     lines for guest.sh
#   monitor.in    lines for qemu's monitor
#   net           the machine's end of the link

# The link: as between the host and the Arm cores of a BlueField.
vm_ip_host=192.168.100.1
vm_ip_dpu=192.168.100.2
vm_ip_one=192.168.100.3
# As Debian names them.
declare -A vm_arch=([host]=amd64 [one]=amd64 [dpu]=arm64)
# Megabytes for each machine; seconds that booting may take.
vm_mem=1024
vm_boot_time=120
# Seconds for what takes one on an idle computer: these machines are emulated, and others may
# need its CPUs. Only how long a test may hang before it fails depends on it.
vm_patience=120

# vm_peer NAME: print the name of the other machine of the pair.
vm_peer() {
	case $1 in
	host) echo dpu ;;
	dpu) echo host ;;
	esac
}

# vm_new NAME: a machine that is not running.
vm_new() {
	mkdir -p "$lab_run/$1/box"
	cp "$lab_devices" "$lab_run/$1/box/devices.ini"
}

# vm_qemu NAME SHELL: print the command that runs this machine, one argument a line.
vm_qemu() {
	local dir=$lab_run/$1 arch=${vm_arch[$1]} kernel=() append="quiet panic=-1 lab.name=$1"
	local cpus=1 peer
	case $arch in
	amd64)
		kernel=(qemu-system-x86_64 -M q35 -cpu max)
		# An emulated timer may be late on a busy machine, which the kernel would take
		# for a broken one.
		append+=" console=ttyS0 no_timer_check" ;;
	arm64)
		# The cores of a BlueField-2.
		kernel=(qemu-system-aarch64 -M virt -cpu cortex-a72)
		append+=" console=ttyAMA0" ;;
	esac
	peer=$(vm_peer "$1")
	if [ -n "$peer" ]; then
		local ip=vm_ip_$1
		append+=" lab.netdev=eth0 lab.ip=${!ip}"
		# Datagrams: either machine may end and start again. host_mtu: the payload of
		# an RDMA packet is 4096 bytes.
		kernel+=(-netdev "dgram,id=net,local.type=unix,local.path=$dir/net,remote.type=unix,remote.path=$lab_run/$peer/net"
			-device "virtio-net-pci,id=nic,netdev=net,romfile=,host_mtu=4200,mac=52:54:00:00:00:0${!ip##*.}")
	else
		# A network without another machine: librdmacm finds no route over lo.
		append+=" lab.netdev=eth0 lab.ip=$vm_ip_one"
		kernel+=(-netdev "hubport,id=net,hubid=0"
			-device "virtio-net-pci,id=nic,netdev=net,romfile=,host_mtu=4200")
		# Both ends poll in this machine.
		cpus=2
	fi
	kernel+=(-accel tcg -m "$vm_mem" -smp "$cpus" -nodefaults -display none -no-reboot
		-kernel "$lab_cache/kernel-$arch/vmlinuz" -initrd "$lab_dir/initrd-$arch"
		-chardev "file,id=console,path=$dir/console.log,append=on" -serial chardev:console
		-chardev "pipe,id=monitor,path=$dir/monitor" -mon "chardev=monitor,mode=readline"
		-device virtio-serial-pci -device virtio-rng-pci
		-chardev "pipe,id=orders,path=$dir/orders"
		-device "virtserialport,nr=1,chardev=orders,name=lab")
	vm_share root "$lab_dir/root-$arch" on
	vm_share build "$(lab_build_dir "$arch")" on
	vm_share box "$dir/box" off
	if [ -n "$lab_files" ]; then
		append+=" lab.files=1"
		vm_share files "$lab_files" on
	fi
	if [ "$2" = shell ]; then
		append+=" lab.shell=1 lab.term=${TERM:-dumb}"
		kernel+=(-chardev "stdio,id=shell,signal=off"
			-device "virtconsole,nr=0,chardev=shell")
	fi
	printf '%s\n' "${kernel[@]}" -append "$append"
}

# vm_share TAG DIR READONLY: for vm_qemu.
vm_share() {
	kernel+=(-fsdev "local,id=$1,path=$2,security_model=none,readonly=$3,multidevs=remap"
		-device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}

# vm_exec COMMAND...: become it, without the lock of lab_lock, which is held as long as anyone has it.
vm_exec() {
	[ -z "${lab_locked:-}" ] || exec {lab_locked}>&-
	exec "$@"
}

# vm_start NAME [shell]: start a machine. With "shell", its shell has the terminal.
vm_start() {
	local dir=$lab_run/$1 qemu
	rm -f "$dir/box/ready" "$dir"/orders.* "$dir"/monitor.*
	mkfifo "$dir/orders.in" "$dir/orders.out" "$dir/monitor.in" "$dir/monitor.out"
	mapfile -t qemu < <(vm_qemu "$1" "${2:-}")
	if [ "${2:-}" = shell ]; then
		vm_exec "${qemu[@]}" <&0 2>>"$dir/qemu.log" &
	else
		vm_exec "${qemu[@]}" </dev/null >>"$dir/qemu.log" 2>&1 &
		# So that bash does not report how it ends.
		disown
	fi
	echo $! >"$dir/pid"
}

# vm_alive NAME: is the machine running? A process that ended has no such link, even if its
# parent has not waited for it.
vm_alive() {
	[ -e "$lab_run/$1/pid" ] && [ -e "/proc/$(cat "$lab_run/$1/pid")/exe" ]
}

# vm_recall NAME...: machines that an earlier script has left. If one has ended, another process may
# have its number by now.
vm_recall() {
	local name
	for name; do
		! vm_alive "$name" ||
			grep -qF "path=$lab_run/$name/" "/proc/$(cat "$lab_run/$name/pid")/cmdline" ||
			rm -f "$lab_run/$name/pid"
	done
}

# vm_ready NAME: wait until a started machine takes orders.
vm_ready() {
	local end=$((SECONDS + vm_boot_time))
	until [ -e "$lab_run/$1/box/ready" ]; do
		if ! vm_alive "$1"; then
			cat "$lab_run/$1/qemu.log" >&2
			lab_error "$1: the machine ended while it booted"
			return 1
		fi
		if [ "$SECONDS" -ge "$end" ]; then
			lab_error "$1: not booted after $vm_boot_time s"
			return 1
		fi
		sleep 0.1
	done
}

# vm_boot NAME...: start machines and wait for them.
vm_boot() {
	local name
	for name; do
		vm_start "$name"
	done
	for name; do
		vm_ready "$name" || return
	done
}

# vm_kill NAME...: end machines at once, like a power cut.
vm_kill() {
	local name pid
	for name; do
		vm_alive "$name" || continue
		pid=$(cat "$lab_run/$name/pid")
		kill -9 "$pid" 2>/dev/null || true
		while vm_alive "$name"; do
			sleep 0.02
		done
		rm -f "$lab_run/$name/pid"
	done
}

# vm_order NAME TEXT, vm_monitor NAME TEXT: a line for guest.sh, for qemu's monitor.
# Opened for reading as well: this does not block if the machine is gone.
vm_order() {
	printf '%s\n' "$2" 1<>"$lab_run/$1/orders.in"
}

vm_monitor() {
	printf '%s\n' "$2" 1<>"$lab_run/$1/monitor.in"
}

# vm_link NAME on|off: plug or unplug the cable at this machine.
vm_link() {
	vm_monitor "$1" "set_link nic $2"
}

# vm_begin NAME COMMAND: run a shell command in a machine in the background; print its id.
vm_begin() {
	local file id
	# In the order of their names, as they began.
	file=$(mktemp "$lab_run/$1/box/$(printf '%(%H%M%S)T')-XXX.cmd")
	id=$(basename "$file" .cmd)
	printf '%s\n' "$2" >"$file"
	vm_order "$1" "run $id"
	echo "$id"
}

# vm_end NAME ID [SECONDS]: wait for a command and return its exit status; 124 after this
# time, when it is killed; 125 if the machine ended.
vm_end() {
	local box=$lab_run/$1/box time=${3:-$vm_patience}
	local end=$((SECONDS + time))
	until [ -e "$box/$2.rc" ]; do
		if ! vm_alive "$1"; then
			lab_error "$1: the machine ended during: $(cat "$box/$2.cmd")"
			return 125
		fi
		if [ "$SECONDS" -ge "$end" ]; then
			lab_error "$1: killed after $time s: $(cat "$box/$2.cmd")"
			vm_order "$1" "kill KILL $2"
			return 124
		fi
		sleep 0.1
	done
	return "$(cat "$box/$2.rc")"
}

# vm_output NAME ID: the file with the output of a command, while it runs, and afterwards.
vm_output() {
	echo "$lab_run/$1/box/$2.out"
}

# vm_signal NAME SIGNAL ID: send a signal to a command and its children.
vm_signal() {
	vm_order "$1" "kill $2 $3"
}

# vm_run NAME SECONDS COMMAND: run a shell command in a machine, show its output, and
# return its exit status.
vm_run() {
	local id status=0
	id=$(vm_begin "$1" "$3")
	vm_end "$1" "$id" "$2" || status=$?
	printf '%s$ %s\n' "$1" "$3"
	cat "$(vm_output "$1" "$id")" 2>/dev/null || true
	return "$status"
}

# vm_says NAME ID TEXT SECONDS: wait until the output of a running command contains TEXT.
vm_says() {
	local file end=$((SECONDS + $4))
	file=$(vm_output "$1" "$2")
	until grep -qF -- "$3" "$file" 2>/dev/null; do
		if [ -e "${file%.out}.rc" ] || ! vm_alive "$1" || [ "$SECONDS" -ge "$end" ]; then
			lab_error "$1: '$3' not said within $4 s by: $(cat "${file%.out}.cmd")"
			cat "$file" >&2
			return 1
		fi
		sleep 0.1
	done
}

# vm_listens NAME PORT: wait for a listening TCP socket in a machine.
vm_listens() {
	local id
	id=$(vm_begin "$1" "until grep -q ':$(printf %04X "$2") .* 0A ' /proc/net/tcp*
		do sleep 0.1; done")
	vm_end "$1" "$id"
}

# vm_rdma_listens NAME: wait for a listener of rdma_cm. The kernel closes that of a
# process after it has ended: such a one does not count.
vm_rdma_listens() {
	local id
	# shellcheck disable=SC2016 # the guest expands
	id=$(vm_begin "$1" 'while :; do
		for pid in $(rdma resource show cm_id | grep LISTEN | grep -o "pid [0-9]*" | cut -c5-); do
			[ ! -e "/proc/$pid" ] || exit 0
		done
		sleep 0.1
	done')
	vm_end "$1" "$id"
}

# vm_end_killed NAME ID: kill a command, which must be running.
vm_end_killed() {
	local status=0
	vm_signal "$1" KILL "$2"
	vm_end "$1" "$2" || status=$?
	if [ "$status" -ne 137 ]; then
		echo "$1: exit status $status before it was killed"
		cat "$(vm_output "$1" "$2")"
		return 1
	fi
}

# vm_moves NAME: wait until a transfer is under way: its link sends 200 packets.
vm_moves() {
	local id
	# shellcheck disable=SC2016 # for the machine's shell
	id=$(vm_begin "$1" 'file=/sys/class/net/eth0/statistics/tx_packets
		end=$(($(cat $file) + 200))
		until [ "$(cat $file)" -gt $end ]; do sleep 0.1; done')
	vm_end "$1" "$id"
}
