#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Build the Debian packages of this repository, in a fresh Debian base system.
#
# usage: devtools/build-deb.sh [--release NAME] [--arch ARCH] [--out DIR] [--tree] [--twice]
#                              [--without-net] [--mirror URL] [REVISION]
#
#   --release  Debian release: bookworm (12, with DPDK 22.11; default), trixie (13, with
#              DPDK 24.11)
#   --arch     amd64 or arm64, for the cores of a BlueField; default: that of this machine. The
#              other one is cross-built
#   --out      where the packages go, instead of others there; default: build-deb/RELEASE-ARCH
#   --tree     use the files of the work tree instead of the last commit
#   --twice    build them twice, and fail unless both are the same
#   --without-net  leave out librte-net-comch, which needs the source package of DPDK
#   --mirror   Debian mirror; default: http://deb.debian.org/debian
#   REVISION   build the sources of this commit with debian/ and the manual pages of the last one
#              (with --tree: of the work tree); for tests of upgrades
#
# Fails if lintian has errors or warnings. Needs root, the network and 3 GB below $TMPDIR (/tmp).
# The script removes everything but the packages when it exits.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source-path=SCRIPTDIR source=chroots.sh
. "$(dirname "$0")/chroots.sh"

release=bookworm
here=$(dpkg --print-architecture)
arch=$here
out=
tree=false
twice=false
without_net=false
mirror=$debian_mirror
chroot_options revision 'release arch out mirror' 'tree twice without-net' "$@"
revision=$argument
case $arch in
amd64 | arm64) ;;
*) die "--arch: expected amd64 or arm64, not '$arch'" ;;
esac
[ -z "$revision" ] || git -C "$top" rev-parse -q --verify "$revision^{commit}" >/dev/null ||
	die "no revision '$revision'"
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$top/debian/changelog")
[ -n "$revision" ] || [ "$version" = "$(cat "$top/VERSION")" ] ||
	die "debian/changelog has version $version, VERSION has $(cat "$top/VERSION")"
out=$(realpath -m "${out:-$top/build-deb/$release-$arch}")

# in_tree COMMAND...
in_tree() {
	chroot_run "$root" /root/comch "$@"
}

# pkg_config: the one for the architecture of the packages.
pkg_config() {
	case $arch in
	amd64) echo x86_64-linux-gnu-pkg-config ;;
	arm64) echo aarch64-linux-gnu-pkg-config ;;
	esac
}

# packages_of OPTION...: build the packages, in $root/root.
packages_of() {
	in_tree dpkg-buildpackage -b -us -uc "$@"
}

# sums: of all packages, but not of what says when they were built.
sums() {
	(cd "$root/root" && sha256sum -- *.deb)
}

chroot_make "$release" "$mirror" "$tree"
if [ -n "$revision" ]; then
	new=$root/root/new
	mv "$root/root/comch" "$new"
	mkdir "$root/root/comch"
	git -C "$top" archive "$revision" | tar -x -C "$root/root/comch"
	rm -rf "$root/root/comch/debian" "$root/root/comch/doc/man"
	cp -r "$new/debian" "$root/root/comch"
	cp -r "$new/doc/man" "$root/root/comch/doc"
	rm -rf "$new"
	# They are those of the last commit. And this version is before it.
	rm "$root"/root/comch/debian/*.symbols
	# What those before 0.2.0 do not have.
	if [ ! -e "$root/root/comch/python/comch" ]; then
		sed -i -e '\|^usr/share/|d' -e '\|comch-run|d' "$root"/root/comch/debian/*.install
		for package in python3-comch comch-lab; do
			rm "$root/root/comch/debian/$package."*
			sed -i "/^Package: $package\$/,/^\$/d" "$root/root/comch/debian/control"
		done
		sed -i '/^# comch-lab has/,/^endif/{/^execute_after/!d}' "$root/root/comch/debian/rules"
	fi
	suffix=~before
fi
# Of a release of its own, so that one built for Debian 12 is older than one for 13.
number=$(sed -n 's/^\([0-9]*\).*/\1/p' "$root/etc/debian_version")
suffix=${suffix:-}~deb${number:-99}u1
sed -i "1s/([^)]*)/($(cat "$root/root/comch/VERSION")$suffix)/" "$root/root/comch/debian/changelog"

options=()
! $without_net || options+=(--build-profiles=pkg.comch.nonet)
chroot_apt "$root" update
chroot_apt "$root" install build-essential lintian
if [ "$arch" != "$here" ]; then
	chroot_run "$root" / dpkg --add-architecture "$arch"
	chroot_apt "$root" update
	chroot_apt "$root" install "crossbuild-essential-$arch"
	options+=("-a$arch")
fi
chroot_apt "$root" build-dep "${options[@]}" /root/comch/
$without_net || in_tree env PKG_CONFIG="$(pkg_config)" devtools/build-pmd.sh --source
packages_of "${options[@]}"
if $twice; then
	before=$(sums)
	packages_of "${options[@]}"
	[ "$before" = "$(sums)" ] ||
		die "two builds differ: $(diff <(echo "$before") <(sums) | sed -n 's/^> [^ ]* *//p')"
	step "Two builds are the same"
fi

step "lintian"
chroot_run "$root" /root sh -c \
	'lintian --allow-root --fail-on error,warning --info --tag-display-limit 0 *.changes'
mkdir -p "$out/debug"
rm -f "$out"/*.deb "$out"/debug/*.deb
cp "$root"/root/*.deb "$out"
mv "$out"/*-dbgsym_*.deb "$out/debug"
step "In $out, with their size in KiB; symbols for debuggers are in debug:"
(cd "$out" && du -k -- *.deb)
