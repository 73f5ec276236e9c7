#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Build net_comch, the Ethernet PMD: librte_net_comch.so in build/drivers/net/comch.
#
# usage: devtools/build-pmd.sh [--source]
#
#   --source  only get what the build needs; a build directory that is configured
#             afterwards, or again, has the PMD
#
# Debian's packages have no headers for drivers. They come from the source package of exactly
# the installed DPDK, with the example l2fwd, which the tests use, to build-dpdk/. Where the
# package comes from is read from a list file of its own: the system's lists stay as they are,
# and no root is needed. $PKG_CONFIG is the pkg-config of another architecture.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

dir=$top/build-dpdk
headers=(lib/eal/include/{bus,dev}_driver.h lib/ethdev/ethdev_{driver,vdev}.h
	drivers/bus/vdev/bus_vdev_driver.h)

# sources MIRROR...: print list entries for the sources of this release.
sources() {
	local codename key=/usr/share/keyrings/debian-archive-keyring.gpg
	# shellcheck disable=SC1091 # file of this machine
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	echo "deb-src [signed-by=$key] http://deb.debian.org/debian $codename main"
	echo "deb-src [signed-by=$key] http://deb.debian.org/debian $codename-updates main"
	echo "deb-src [signed-by=$key] http://deb.debian.org/debian-security $codename-security main"
}

# get VERSION UPSTREAM: download the source package and take out what is needed.
get() {
	local work tarball options
	work=$(mktemp -d)
	# shellcheck disable=SC2064 # the value of now
	trap "rm -rf '$work'" EXIT
	mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial" "$work/tree" "$work/include"
	sources >"$work/comch-dpdk.list"
	options=(-o Dir::State="$work/apt" -o Dir::State::status=/var/lib/dpkg/status
		-o Dir::Cache="$work/apt" -o Dir::Etc::sourcelist="$work/comch-dpdk.list"
		-o Dir::Etc::sourceparts=- -o APT::Sandbox::User="$(id -un)" "${network_options[@]}")
	persist "${network_limit[@]}" apt-get "${options[@]}" -o APT::Update::Error-Mode=any \
		-q update
	cd "$work"
	persist "${network_limit[@]}" apt-get "${options[@]}" -q source --download-only \
		"dpdk=$1"
	cd "$top"
	tarball=("$work"/dpdk_*.orig.tar.*)
	tar -xf "${tarball[0]}" -C "$work/tree" --strip-components=1 --wildcards \
		"${headers[@]/#/*/}" '*/examples/l2fwd/main.c'
	(cd "$work/tree" && cp "${headers[@]}" "$work/include")
	rm -rf "$dir"
	mkdir "$dir"
	cp -r "$work/include" "$work/tree/examples/l2fwd" "$dir"
	# Last: the build looks for it.
	echo "$2" >"$dir/VERSION"
}

only_source=false
case ${1:-} in
'') ;;
--source)
	only_source=true ;;
-h | --help)
	usage
	exit 0 ;;
*)
	usage >&2
	exit 2 ;;
esac

"$top/devtools/setup.sh" pmd
upstream=$("${PKG_CONFIG:-pkg-config}" --modversion libdpdk)
if [ "$(cat "$dir/VERSION" 2>/dev/null)" != "$upstream" ]; then
	command -v apt-get >/dev/null || die 'needs apt-get: the source package is of Debian'
	version=$(dpkg-query -W -f='${source:Version}' libdpdk-dev) || die 'libdpdk-dev is not installed'
	step "Headers for drivers: source package dpdk $version"
	get "$version" "$upstream"
fi
! $only_source || exit 0
build build --buildtype=release
[ -e "$top/build/drivers/net/comch/librte_net_comch.so" ] ||
	quietly meson setup --reconfigure "$top/build"
ninja -C "$top/build" drivers/net/comch/librte_net_comch.so
