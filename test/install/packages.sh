#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# The Debian packages, in a system that may be spoiled: devtools/try-deb.sh runs this in a fresh
# one. They install, programs of every kind build with them and run, manual pages show, an upgrade
# lets programs go on, and a purge leaves nothing.
#
# usage: packages.sh SOURCE-DIR PACKAGES-DIR [OLDER-PACKAGES-DIR]

set -euo pipefail

source=$1 packages=$2 older=${3:-}
libdir=lib/$(gcc -print-multiarch)

# shellcheck source-path=SCRIPTDIR source=tmp.sh
. "$(dirname "$0")/tmp.sh"

# Without those for debuggers, and comch-lab, which needs a gigabyte of emulators and compilers.
debs_in() {
	find "$1" -maxdepth 1 -name '*.deb' ! -name 'comch-lab_*'
}

# names_in DIR: of its packages.
names_in() {
	local deb
	for deb in $(debs_in "$1"); do
		dpkg-deb -f "$deb" Package
	done
}

apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@" \
		>"$tmp/log" 2>&1 || fail "apt-get $1: $(cat "$tmp/log")"
}

# install_from DIR
install_from() {
	local debs
	mapfile -t debs < <(debs_in "$1")
	apt install "${debs[@]}"
}

# all_files: what there is of comch outside of homes, and of what others keep.
all_files() {
	find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /root \
		-o -path /home -o -path /run/dpdk -o -path /var/lib/apt -o -path /var/cache -o -path /var/log \) -prune -o -print |
		grep -i comch | grep -vxF /etc/dpkg/dpkg.cfg.d/90comch || true
}

# start_server PROGRAM: in the background, until it says that it is ready.
start_server() {
	"$@" >"$tmp/server" 2>&1 &
	server_pid=$!
	timeout 30 sh -c "until grep -q 'is ready' '$tmp/server'; do sleep 0.1; done" ||
		fail "the server does not start: $(cat "$tmp/server")"
}

stop_server() {
	kill -INT "$server_pid"
	wait "$server_pid" || fail "the server ended with status $?: $(cat "$tmp/server")"
	server_pid=
}

talk() {
	"$@" >"$tmp/client" 2>&1 || fail "the client has failed: $(cat "$tmp/client")"
	grep -q '1 messages sent, 1 delivered, 1 answered' "$tmp/client" ||
		fail "the client said: $(cat "$tmp/client")"
}

# make_doca_pair, run_doca_pair EXAMPLES: a program for DOCA, both sides.
make_doca_pair() {
	local role
	for role in dpu host; do
		comch-doca-env "$role" -- make -s -C "$1/doca_ctrl_path"
	done
}

run_doca_pair() {
	comch-run --out "$tmp/out" -- "$1/doca_ctrl_path/build/doca_ctrl_path_dpu" \
		--- "$1/doca_ctrl_path/build/doca_ctrl_path_host" >"$tmp/log" 2>&1 ||
		fail "comch-run: $(cat "$tmp/log")"
}

nb=0
say() {
	printf 'packages: %s\n' "$*"
	nb=$((nb + 1))
}

[ -z "$(all_files)" ] || fail "comch is here already: $(all_files)"

# An upgrade: programs that were built before run on, and the one that runs meanwhile goes on.
if [ -n "$older" ]; then
	install_from "$older"
	cp -r "$source/examples" "$tmp/examples"
	make -s -C "$tmp/examples/ctrl_path"
	make_doca_pair "$tmp/examples"
	start_server "$tmp/examples/ctrl_path/build/server"
	install_from "$packages"
	for name in $(names_in "$packages"); do
		dpkg-query -W -f '${Version}' "$name" | grep -qv before || fail "$name was not upgraded"
	done
	talk timeout 60 "$tmp/examples/ctrl_path/build/client"
	stop_server
	start_server "$tmp/examples/ctrl_path/build/server"
	talk timeout 60 "$tmp/examples/ctrl_path/build/client"
	stop_server
	run_doca_pair "$tmp/examples"
	say 'programs of the older packages run with the new ones'
else
	install_from "$packages"
fi

# Nothing is missing, and each command has its page.
ldconfig -p >"$tmp/log"
grep -q librte_comch.so.0 "$tmp/log" || fail 'the loader does not find librte_comch.so.0'
for command in comch-perf comch-info comch-run test-comch comch-doca-env comch-dpacc; do
	man -P cat "$command" >"$tmp/page" 2>"$tmp/log" || fail "man $command: $(cat "$tmp/log")"
	grep -q SYNOPSIS "$tmp/page" || fail "man $command says: $(cat "$tmp/page")"
	"/usr/bin/$command" --help >/dev/null || fail "$command --help ended with status $?"
done
for page in comch-devices comch_shm comch_ring comch_mlx5; do
	man -P cat "$page" >"$tmp/page" 2>"$tmp/log" || fail "man $page: $(cat "$tmp/log")"
done
say 'manual pages show'
timeout 120 comch-perf --duration 0.1 data-lat data-rate >"$tmp/log" 2>&1 ||
	fail "comch-perf: $(cat "$tmp/log")"
say 'comch-perf measures'

# Programs, as the tests of an installation have them: native ones shared and static, by pkg-config
# and CMake; for DOCA, both roles and all releases, by pkg-config, meson, make and CMake.
export T_INSTALLED=1
for script in install.sh cmake.sh prefix.sh comm_channel.sh msgq.sh; do
	arguments=("$source" - /usr "$libdir")
	[ "$script" != install.sh ] || arguments+=('comch-info,comch-perf,test-comch')
	"$source/test/install/$script" "${arguments[@]}" cc >"$tmp/log" 2>&1 ||
		fail "$script: $(cat "$tmp/log")"
	say "$script passed"
done

cp -r "$source/examples" "$tmp/anew"
make_doca_pair "$tmp/anew"
run_doca_pair "$tmp/anew"
say 'comch-run runs a pair of programs for DOCA'

# Members of the group reach servers of root, and others do not.
useradd --groups comch member
useradd other
cp -r "$source/examples" /home/examples
make -s -C /home/examples/ctrl_path
client_of() {
	timeout 60 setpriv --reuid "$1" --regid "$1" --init-groups env COMCH_DIR=/run/comch \
		HOME=/nonexistent /home/examples/ctrl_path/build/client
}
start_server /home/examples/ctrl_path/build/server
talk client_of member
! client_of other >"$tmp/client" 2>&1 || fail "others can connect: $(cat "$tmp/client")"
grep -qi 'permission denied' "$tmp/client" || fail "others are told: $(cat "$tmp/client")"
stop_server
say 'members of group comch connect to servers of root'

# Any DPDK program has the port, without an option that names the driver.
if dpkg-query -W librte-net-comch >/dev/null 2>&1; then
	echo 'show port info all' | timeout 60 dpdk-testpmd -l 0,1 --no-huge -m 256 --no-pci \
		--vdev=net_comch0,role=dpu,rep=pf0,name=lan0 -- -i --total-num-mbufs=4096 >"$tmp/log" 2>&1 || fail "testpmd: $(cat "$tmp/log")"
	grep -q 'Driver name: net_comch' "$tmp/log" || fail "testpmd said: $(cat "$tmp/log")"
	say 'dpdk-testpmd has a net_comch port'
fi

# comch-lab: what it needs is there, and its sources are all that it asks for.
for deb in "$packages"/comch-lab_*.deb; do
	[ -e "$deb" ] || continue # of amd64 alone
	apt install --simulate "$deb"
	dpkg -i --force-depends "$deb" >"$tmp/log" 2>&1 || fail "dpkg: $(cat "$tmp/log")"
	man -P cat comch-lab >"$tmp/page" 2>"$tmp/log" || fail "man comch-lab: $(cat "$tmp/log")"
	comch-lab --help >"$tmp/log"
	grep -q '^usage: comch-lab' "$tmp/log" || fail "comch-lab --help says: $(cat "$tmp/log")"
	comch-lab devices >"$tmp/log"
	grep -q '^\[device dpu\]' "$tmp/log" || fail "comch-lab devices says: $(cat "$tmp/log")"
	rm -rf "$HOME/.cache/comch-lab"
	dpkg -P comch-lab >"$tmp/log" 2>&1 || fail "dpkg: $(cat "$tmp/log")"
	say 'comch-lab has its sources'
done

mapfile -t names < <(names_in "$packages")
apt purge "${names[@]}"
[ -z "$(all_files)" ] || fail "a purge left: $(all_files)"
say 'a purge leaves nothing'
printf '\n%d passed, 0 failed, 0 skipped\n' "$nb"
