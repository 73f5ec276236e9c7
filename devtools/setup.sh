#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Install the missing Debian packages for a purpose, or reserve hugepages.
#
# usage: devtools/setup.sh [--list] PURPOSE...
#        devtools/setup.sh hugepages
#
#   build   build the library, the programs and the examples
#   memif   devtools/testpmd-rate.sh
#   peers   devtools/perf.sh peers: what it compares with
#   pmd     devtools/build-pmd.sh
#   samples devtools/check-doca-samples.sh
#   test    run the tests
#   fuzz    devtools/fuzz.sh
#   checks  run the checks of the sources
#   coverage devtools/coverage.sh
#   docs    build the documentation
#   chroot  devtools/try-chroot.sh
#   arm64   devtools/try-arm64.sh
#   lab     devtools/lab.sh
#   sysroot arm64 packages that try-arm64.sh and lab.sh unpack; for --list only
#   all     build, test, fuzz, checks, docs and lab
#
# --list prints the packages without installing them. Installing needs root or sudo,
# and the network. Neither is needed if all packages are installed. If a download fails, the exit
# status is 75; where CI is set it is tried three times.
#
# hugepages reserves 128 MiB of them, until the next boot, and mounts them unless they are.
# Without, the tests of several processes of one EAL are skipped; all others need none. It
# needs root or sudo, and fails in a container that does not allow it.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

# The one list of packages.
libraries() {
	echo libdpdk-dev libbsd-dev libmd-dev libinih-dev libjansson-dev libssl-dev \
		zlib1g-dev liblz4-dev libxxhash-dev libdeflate-dev libibverbs-dev librdmacm-dev
}

# What runs in the virtual machines of lab.sh.
guest() {
	echo busybox-static ibverbs-providers ibverbs-utils iproute2 perftest rdmacm-utils
}

packages() {
	case $1 in
	build)
		echo build-essential meson ninja-build pkgconf
		libraries ;;
	memif)
		packages build
		echo dpdk-dev python3 ;;
	peers)
		packages memif
		echo libck-dev libfabric-bin ucx-utils ;;
	pmd)
		packages build
		echo debian-archive-keyring tar xz-utils ;;
	samples)
		packages build
		echo lz4 ;;
	test)
		# clang is the second compiler; the sanitizers come with gcc. Programs linked
		# with DPDK's archives need libsystemd, on which its packages do not depend.
		echo libcriterion-dev clang cmake dpdk-dev gnuplot-nox help2man libfuse3-dev \
			libsystemd-dev lowdown python3 python3-cffi python3-pytest spin valgrind
		packages pmd ;;
	fuzz)
		# libFuzzer, and llvm-symbolizer for names in its reports.
		echo clang libclang-rt-dev llvm
		packages test ;;
	checks)
		echo git shellcheck codespell clang-format python3 binutils ;;
	coverage)
		packages test
		echo gcovr ;;
	docs)
		echo doxygen ;;
	chroot)
		echo debootstrap git ;;
	arm64)
		echo gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross \
			qemu-user-static python3 ;;
	lab)
		guest
		packages arm64
		echo binutils cpio debian-archive-keyring kmod qemu-system-arm qemu-system-x86 \
			xz-utils ;;
	sysroot)
		libraries
		guest
		echo libc6-dev libcriterion-dev ;;
	all)
		packages build
		packages test
		packages fuzz
		packages checks
		packages docs
		packages lab ;;
	*)
		die "unknown purpose '$1' (build, memif, peers, pmd, samples, test, fuzz, checks, coverage, docs, chroot, arm64, lab, sysroot, all)" ;;
	esac
}

# missing PACKAGE...: list those that are not installed.
missing() {
	local package
	for package; do
		case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) in
		*' installed') ;;
		*) echo "$package" ;;
		esac
	done
}

# as_root COMMAND...
as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# apt [--limit] ARGUMENT...: run apt-get as root, non-interactively; waits for its lock. --limit:
# a download, which ends after a while.
apt() {
	local limit=()
	if [ "$1" = --limit ]; then
		limit=("${network_limit[@]}")
		shift
	fi
	echo "apt-get $*"
	# Set variables with env, because sudo does not pass them on.
	quietly as_root env DEBIAN_FRONTEND=noninteractive "${limit[@]}" \
		apt-get "${network_options[@]}" -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 -q "$@"
}

# known PACKAGE...: do the package lists contain all of these?
known() {
	apt-cache show --no-all-versions "$@" >/dev/null 2>&1
}

# update: update the package lists, strictly.
update() {
	apt --limit -o APT::Update::Error-Mode=any update
}

# download PACKAGE...: get them and what they depend on, but do not install anything.
download() {
	apt --limit install -y --no-install-recommends --download-only "$@" && return
	# An outdated package list may name versions that no longer exist.
	update && apt --limit install -y --no-install-recommends --download-only "$@"
}

# agreed: ask for confirmation on a terminal.
agreed() {
	local answer
	[ -t 0 ] && [ -t 1 ] && [ -z "${CI:-}" ] || return 0
	read -r -p 'Install them now? [Y/n] ' answer
	case $answer in
	'' | [Yy]*) return 0 ;;
	*) return 1 ;;
	esac
}

# meminfo KEY: a value of /proc/meminfo; 0 if there is none.
meminfo() {
	awk -v key="$1:" '$1 == key { value = $2 } END { print value + 0 }' /proc/meminfo
}

# hugepages: have 128 MiB of free hugepages, and a file system of them.
hugepages() {
	local kib=$((128 << 10)) size free total
	size=$(meminfo Hugepagesize)
	[ "$size" -gt 0 ] || die "this kernel has no hugepages"
	free=$(meminfo HugePages_Free)
	total=$(meminfo HugePages_Total)
	if [ $((free * size)) -lt "$kib" ]; then
		total=$((total + (kib + size - 1) / size - free))
		as_root sh -c "echo $total >/proc/sys/vm/nr_hugepages" || true
	fi
	if ! grep -q ' hugetlbfs ' /proc/mounts; then
		as_root mkdir -p /dev/hugepages
		as_root mount -t hugetlbfs none /dev/hugepages
	fi
	free=$(meminfo HugePages_Free)
	[ $((free * size)) -ge "$kib" ] ||
		die "only $free hugepages of $size KiB are free, 128 MiB wanted"
	echo "$free hugepages of $size KiB are free"
}

list=false
if [ "${1:-}" = --list ]; then
	list=true
	shift
fi
case ${1:-} in
'' | -h | --help)
	usage
	exit 0 ;;
hugepages)
	hugepages
	exit 0 ;;
esac

wanted=()
for purpose; do
	# shellcheck disable=SC2207 # names of packages: words without globs
	wanted+=($(packages "$purpose"))
done
if $list; then
	printf '%s\n' "${wanted[@]}" | sort -u
	exit 0
fi

if ! command -v dpkg-query >/dev/null; then
	echo "This is not a Debian system. comch needs the equivalent of these Debian 12 packages:" >&2
	printf '  %s\n' "${wanted[*]}" >&2
	exit 0
fi
mapfile -t lacking < <(missing "${wanted[@]}" | sort -u)
[ "${#lacking[@]}" -gt 0 ] || exit 0

step "Missing packages for: $*"
printf '  %s\n' "${lacking[*]}"
if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
	die "installing needs root: apt-get install ${lacking[*]}"
fi
agreed || die "not installed: ${lacking[*]}"
known "${lacking[@]}" || persist update
known "${lacking[@]}" || die "Debian has not all of these packages: ${lacking[*]}"
persist download "${lacking[@]}"
apt install -y --no-install-recommends "${lacking[@]}"
