# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Fresh Debian base systems below a directory. Source this file after common.sh.
# shellcheck disable=SC2154 # what that has

# What chroot_open takes if nothing else is asked for.
# shellcheck disable=SC2034 # for the scripts that source this file
readonly debian_mirror=http://deb.debian.org/debian

# chroot_options WHAT VALUES SWITCHES ARGUMENT...: read a command line. Options with a value are the
# words of VALUES: each sets the variable of its name. Those of SWITCHES set theirs to "true". One
# more argument, WHAT in messages, is $argument. --help prints the usage.
chroot_options() {
	local what=$1 values=" $2 " switches=" $3 " name
	shift 3
	argument=
	while [ $# -gt 0 ]; do
		name=${1#--}
		case $1 in
		-h | --help)
			usage
			exit 0 ;;
		-*)
			if [[ $values = *" $name "* ]]; then
				[ -n "${2:-}" ] || misuse "$1 needs a value"
				declare -g "$name=$2"
				shift
			elif [[ $switches = *" $name "* ]]; then
				declare -g "${name//-/_}=true"
			else
				misuse "unknown option '$1' (try --help)"
			fi ;;
		*)
			[ -z "$argument" ] || misuse "one $what, not '$argument' and '$1'"
			argument=$1 ;;
		esac
		shift
	done
}

# chroot_open ROOT RELEASE MIRROR: a new base system, with this machine's proxy and names.
chroot_open() {
	local file
	step "A fresh Debian $2 in $1, from $3"
	# For apt, which downloads as another user.
	mkdir -p "$1" && chmod 755 "$1"
	quietly debootstrap --variant=minbase "$2" "$1" "$3"
	apt-config dump | grep '^Acquire::' >"$1/etc/apt/apt.conf.d/90host" || true
	# Nobody needs it after a crash of the machine.
	echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/90comch"
	for file in /etc/resolv.conf /etc/hosts; do
		[ ! -e "$file" ] || cp -L "$file" "$1/etc/"
	done
}

# chroot_copy ROOT TREE: this repository in ROOT/root/comch: its last commit, or, if TREE is true,
# the files of the work tree.
chroot_copy() {
	if $2; then
		mkdir "$1/root/comch"
		(cd "$top" && project_files . | tar -c -T - -f -) | tar -x -C "$1/root/comch"
	else
		git clone -q --no-hardlinks "$top" "$1/root/comch"
		chown -R root: "$1/root/comch"
	fi
}

# chroot_make RELEASE MIRROR TREE: $root, a new base system with this repository in it, until the
# script exits. TREE as above.
chroot_make() {
	[ "$(id -u)" -eq 0 ] || die 'needs root'
	unshare --mount mount --make-rprivate / 2>/dev/null ||
		die 'needs to mount: in a container, run it with --privileged; in a chroot, on a mount point'
	"$top/devtools/setup.sh" chroot
	root=$(mktemp -d)
	# The mounts are in another namespace, so this removes our files only.
	trap 'rm -rf --one-file-system "$root"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	chroot_open "$root" "$1" "$2"
	chroot_copy "$root" "$3"
}

# chroot_run ROOT DIR COMMAND...: run it in directory DIR of ROOT, without the variables of the
# caller. Mounts and processes have their own namespaces: none is left when it ends.
chroot_run() {
	step "In the chroot: ${*:3}"
	# shellcheck disable=SC2016 # for the inner shell
	unshare --mount --pid --fork --kill-child bash -c '
		set -e
		root=$1 dir=$2
		shift 2
		mount --make-rprivate /
		for mounted in dev sys; do
			mount --rbind "/$mounted" "$root/$mounted"
		done
		mount -t proc proc "$root/proc"
		exec chroot "$root" env -i -C "$dir" PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
			LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
	' - "$@" </dev/null
}

# chroot_apt ROOT ARGUMENT...: apt-get in ROOT.
chroot_apt() {
	chroot_run "$1" / apt-get "${network_options[@]}" -q -y --no-install-recommends \
		-o Dpkg::Use-Pty=0 "${@:2}"
}
