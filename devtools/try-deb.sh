#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Try Debian packages of comch in a fresh Debian base system: install, build programs with them
# and run those, upgrade, purge. test/install/packages.sh has the steps.
#
# usage: devtools/try-deb.sh [--release NAME] [--older DIR] [--tree] [--mirror URL] PACKAGES-DIR
#
#   PACKAGES-DIR  what devtools/build-deb.sh has built
#   --release     Debian release that they are for: bookworm (12; default), trixie (13)
#   --older       directory of packages of an older revision, to upgrade from
#   --tree        take tests and examples from the work tree instead of the last commit
#   --mirror      Debian mirror; default: http://deb.debian.org/debian
#
# Needs root, the network and 3 GB below $TMPDIR (/tmp). The script removes everything when it
# exits.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source-path=SCRIPTDIR source=chroots.sh
. "$(dirname "$0")/chroots.sh"

release=bookworm
older=
tree=false
mirror=$debian_mirror
chroot_options directory 'release older mirror' tree "$@"
packages=$argument
[ -n "$packages" ] || die 'needs a directory of packages; --help says more'
for dir in "$packages" ${older:+"$older"}; do
	compgen -G "$dir/*.deb" >/dev/null || die "no packages in $dir: devtools/build-deb.sh makes them"
done

chroot_make "$release" "$mirror" "$tree"
cp -r "$packages" "$root/root/packages"
[ -z "$older" ] || cp -r "$older" "$root/root/older"
chroot_apt "$root" update
# What users of the packages have; not what the packages need.
chroot_apt "$root" install build-essential cmake dpdk-dev libsystemd-dev man-db meson pkgconf
chroot_run "$root" /root/comch test/install/packages.sh /root/comch /root/packages \
	${older:+/root/older}
