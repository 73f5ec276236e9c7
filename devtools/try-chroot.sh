#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# What a newcomer sees: in a fresh Debian with nothing but its base, and a clean
# clone of this repository, run devtools/run.sh and devtools/test.sh.
#
# usage: devtools/try-chroot.sh [--tree] [--release NAME] [--mirror URL] [COMMAND...]
#
#   --tree     take the files as they are here, not the last commit
#   --release  of Debian: bookworm (12, with DPDK 22.11), trixie (13, with
#              DPDK 24.11), sid; bookworm
#   --mirror   where Debian comes from; http://deb.debian.org/debian
#   COMMAND    what to run in the clone instead, as: .ci/run, or
#              devtools/test.sh --suite fast
#
# Needs root, the network and 3 GB below $TMPDIR (/tmp). Mounts and processes
# live in namespaces of their own; they and the files go away in the end,
# however it ends.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

# Second half: inside the namespaces.
if [ "${1:-}" = --inside ]; then
	root=$2
	shift 2
	mount --make-rprivate /
	for dir in dev sys; do
		mount --rbind "/$dir" "$root/$dir"
	done
	mount -t proc proc "$root/proc"
	run() {
		step "In the chroot: $*"
		chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
			sh -c 'cd /root/comch && exec "$@"' - "$@" </dev/null
	}
	if [ $# -gt 0 ]; then
		run "$@"
	else
		run devtools/run.sh
		run devtools/test.sh
		# A second time: nothing to install, hardly anything to build.
		run devtools/test.sh --suite fast
	fi
	exit 0
fi

tree=false
release=bookworm
mirror=http://deb.debian.org/debian
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0 ;;
	--tree)
		tree=true
		shift ;;
	--release)
		release=${2:?--release needs a name}
		shift 2 ;;
	--mirror)
		mirror=${2:?--mirror needs a URL}
		shift 2 ;;
	*)
		break ;;
	esac
done
[ "$(id -u)" -eq 0 ] || die 'needs root'

"$top/devtools/setup.sh" chroot
root=$(mktemp -d)
# For apt, which downloads as a user of its own.
chmod 755 "$root"
# The mounts are in another namespace: this removes files of ours only.
trap 'rm -rf --one-file-system "$root"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

step "A fresh Debian $release in $root, from $mirror"
quietly debootstrap --variant=minbase "$release" "$root" "$mirror"
# How this machine reaches the mirror: proxies, names.
apt-config dump | grep '^Acquire::' >"$root/etc/apt/apt.conf.d/90host" || true
for file in /etc/resolv.conf /etc/hosts; do
	[ ! -e "$file" ] || cp -L "$file" "$root/etc/"
done

if $tree; then
	mkdir "$root/root/comch"
	(cd "$top" && project_files . | tar -c -T - -f -) | tar -x -C "$root/root/comch"
else
	git clone -q --no-hardlinks "$top" "$root/root/comch"
	chown -R root: "$root/root/comch"
fi
# The shell that ends the namespaces ends all that is left in them.
unshare --mount --pid --fork --kill-child "$0" --inside "$root" "$@"
