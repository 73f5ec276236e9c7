# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Packages of this Debian release for any architecture, without installing them. Source this
# file after common.sh. Multiarch is not used: it would replace packages of this machine.

# debs_open DIR ARCHITECTURE MIRROR: download the package index to DIR, which the functions
# below use from then on.
debs_open() {
	debs_dir=$1
	debs_options=(-o Dir::State="$1" -o Dir::State::status="$1/status" -o Dir::Cache="$1"
		-o APT::Architecture="$2" -o APT::Architectures="$2"
		-o APT::Install-Recommends=false -o APT::Sandbox::User="$(id -un)"
		-o Dir::Etc::sourcelist="$1/sources.list" -o Dir::Etc::sourceparts=-)
	rm -rf "$1"
	mkdir -p "$1/lists/partial" "$1/archives/partial"
	: >"$1/status"
	# shellcheck disable=SC1091 # file of this machine
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $3" \
		"$(. /etc/os-release && echo "$VERSION_CODENAME") main" >"$1/sources.list"
	# Without this, a mirror that does not answer is only a warning.
	quietly apt-get "${debs_options[@]}" -o APT::Update::Error-Mode=any -q update
}

# debs_first_depends PACKAGE: print the first dependency of a package.
debs_first_depends() {
	apt-cache "${debs_options[@]}" depends "$1" | awk '$1 == "Depends:" { print $2; exit }'
}

# debs_get PACKAGE...: download these packages alone. debs_get_all: with their dependencies.
debs_get() {
	(cd "$debs_dir/archives" && quietly apt-get "${debs_options[@]}" -q download "$@")
}

debs_get_all() {
	quietly apt-get "${debs_options[@]}" -q install -y --download-only "$@"
}

# debs_unpack ROOT: unpack the downloaded packages into ROOT.
debs_unpack() {
	local deb
	for deb in "$debs_dir"/archives/*.deb; do
		dpkg -x "$deb" "$1"
	done
	rm -rf "$debs_dir/archives"
	mkdir -p "$debs_dir/archives/partial"
}
