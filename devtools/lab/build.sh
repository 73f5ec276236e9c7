# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# The programs of the virtual machines: building them, and collecting what they need. Part of
# lab.sh.

# What each machine has beside the project. The plugins of verbs and of EAL and the library of
# pthread_cancel() are loaded at run time.
lab_programs=(rping ucmatose ibv_devinfo ibv_rc_pingpong ib_send_bw ib_write_bw ib_send_lat rdma)
lab_plugins=('/usr/lib/*/libibverbs/librxe-*.so' '/etc/libibverbs.d/rxe.driver'
	'/usr/lib/*/dpdk/pmds-*/librte_mempool_*.so*' '/usr/lib/*/libgcc_s.so.1')
declare -A lab_libdir=([amd64]=x86_64-linux-gnu [arm64]=aarch64-linux-gnu)

# lab_root ARCHITECTURE, lab_build_dir ARCHITECTURE: where the system's and the project's
# programs of this architecture are.
lab_root() {
	case $1 in
	amd64) echo / ;;
	arm64) echo "$arm64_sysroot" ;;
	esac
}

lab_build_dir() {
	case $1 in
	amd64) echo "$top/build" ;;
	arm64) echo "$arm64_build" ;;
	esac
}

# lab_prepare ARCHITECTURE...: everything that a machine of these architectures needs but
# the project's programs.
lab_prepare() {
	local arch
	[[ " $* " != *' arm64 '* ]] || arm64_can_run
	"$top/devtools/setup.sh" build lab
	mkdir -p "$lab_dir" "$lab_cache"
	for arch; do
		kernel_fetch "$arch" "$mirror"
		case $arch in
		amd64)
			configure build --buildtype=release ;;
		arm64)
			arm64_prepare "$mirror"
			arm64_configure ;;
		esac
		lab_stage_root "$arch"
		kernel_initrd "$arch" "$lab_dir/root-$arch/usr/bin/busybox" \
			"$lab_dir/initrd-$arch"
	done
}

# lab_stage_root ARCHITECTURE: the directory that a machine has as its root.
lab_stage_root() {
	local root=$lab_dir/root-$1 dir name arguments=()
	for dir in dev etc lab/box lab/build lab/files proc root run sys tmp usr/bin usr/lib \
		usr/lib64 usr/sbin var; do
		mkdir -p "$root/$dir"
	done
	for name in bin lib lib64 sbin; do
		ln -sfn "usr/$name" "$root/$name"
	done
	ln -sfn ../run "$root/var/run"
	echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
	echo '127.0.0.1 localhost' >"$root/etc/hosts"
	for name in host dpu; do
		dir=vm_ip_$name
		echo "${!dir} $name" >>"$root/etc/hosts"
	done
	for name in "${lab_programs[@]}" busybox; do
		arguments+=(--program "$name")
	done
	for name in "${lab_plugins[@]}"; do
		arguments+=(--file "$name")
	done
	lab_stage "$1" "${arguments[@]}"
	# Those that the list above has are not replaced.
	busybox --list | while read -r name; do
		[ -e "$root/usr/bin/$name" ] || ln -s busybox "$root/usr/bin/$name"
	done
	cp "$top/devtools/lab/guest.sh" "$root/lab/"
}

# lab_stage ARCHITECTURE OPTION...: copy programs and libraries to the root directory.
lab_stage() {
	local arch=$1
	shift
	"$top/devtools/lab/stage.py" "$(lab_root "$arch")" "$lab_dir/root-$arch" \
		"${lab_libdir[$arch]}" "$@" || die "incomplete programs for $arch"
}

# lab_targets ARCHITECTURE: print the files that ninja makes, and their types.
lab_targets() {
	local dir
	dir=$(lab_build_dir "$1")
	meson introspect --targets "$dir" | python3 -c '
import json, os, sys
for target in json.load(sys.stdin):
    for name in target["filename"]:
        print(target["type"], os.path.relpath(name, sys.argv[1]), sep="\t")
' "$(realpath "$dir")"
}

# lab_word COMMAND: set word and rest: its first word, which may be in single quotes, and what follows.
lab_word() {
	if [[ $1 == \'*\'* ]]; then
		word=${1#\'}
		rest=${word#*\'}
		word=${word%%\'*}
	else
		word=${1%% *}
		rest=${1#"$word"}
	fi
}

# lab_target ARCHITECTURE COMMAND: print the first word of a command if it is a program that
# can be built.
lab_target() {
	local word rest
	lab_word "$2"
	lab_targets "$1" | awk -F'\t' -v word="$word" '$1 == "executable" && $2 == word { print $2 }'
}

# lab_build ARCHITECTURE [PROGRAM...]: build these programs and the libraries that are loaded
# at run time, and copy the system's libraries that they need.
lab_build() {
	local arch=$1 dir files needs=() file
	shift
	dir=$(lab_build_dir "$arch")
	mapfile -t files < <(lab_targets "$arch" |
		awk -F'\t' '$1 == "shared module" || $1 == "shared library" { print $2 }')
	for file; do
		[ -z "$file" ] || files+=("$file")
	done
	step "Building for $arch: ${*:-libraries}"
	case $arch in
	amd64)
		quietly ninja -C "$dir" "${files[@]}" ;;
	arm64)
		quietly arm64_run ninja -C "$dir" "${files[@]}" ;;
	esac
	for file in "${files[@]}"; do
		needs+=(--for "$dir/$file")
	done
	lab_stage "$arch" "${needs[@]}"
}

# lab_command NAME COMMAND: print a command as the machine can run it: the path of its
# program there. A program of the user's is copied to the machine's box.
lab_command() {
	local arch=${vm_arch[$1]} word rest box=$lab_run/$1/box
	lab_word "$2"
	if [ -n "$(lab_target "$arch" "$2")" ]; then
		echo "/lab/build/$word$rest"
	elif [ -f "$word" ]; then
		lab_own "$arch" "$word" "$box"
		echo "LD_LIBRARY_PATH=/lab/box/lib /lab/box/bin/$(printf %q "${word##*/}")$rest"
	elif [[ $word == */* ]] && [[ $word != /lab/* ]]; then
		die "there is no $word: neither in the build directory nor on this machine"
	else
		echo "$2"
	fi
}

# lab_own ARCHITECTURE FILE BOX: copy a program of the user's, and its libraries. Those of
# the project are found in the build directory, unless the user names others.
lab_own() {
	local dirs dir arguments=()
	dirs="lab_libs_$1[@]"
	for dir in "${!dirs}" "$(dirname "$(realpath "$2")")"; do
		arguments+=(--extra "$dir")
	done
	while read -r dir; do
		arguments+=(--extra "$dir")
	done < <(lab_targets "$1" | awk -F'\t' '$1 == "shared library" { print $2 }' |
		sed "s|^|$(lab_build_dir "$1")/|; s|/[^/]*$||" | sort -u)
	mkdir -p "$3/bin" "$3/lib"
	cp "$2" "$3/bin/"
	lab_stage "$1" "${arguments[@]}" --libs "$3/lib" --for "$2"
}

# lab_install ARCHITECTURE: install comch for programs of this architecture, and set lab_env
# to its comch-doca-env.
lab_install() {
	local dir=$lab_dir/install-$1 prefix=$lab_dir/comch-$1 run=() options
	options=(--buildtype=release --prefix "$prefix" -Dtests=disabled -Dexamples=disabled
		-Ddocs=disabled -Dapps=disabled)
	step "Installing comch for $1"
	if [ "$1" = arm64 ]; then
		run=(arm64_run)
		options+=(--cross-file "$arm64_dir/cross.ini")
		# pkg-config puts the sysroot before directories, but not before other files.
		mkdir -p "$arm64_sysroot${prefix%/*}"
		ln -sfn "$prefix" "$arm64_sysroot$prefix"
	fi
	if [ ! -e "$dir/build.ninja" ]; then
		quietly "${run[@]}" meson setup "${options[@]}" "$dir" "$top"
	fi
	quietly "${run[@]}" meson install -C "$dir"
	lab_env=$prefix/bin/comch-doca-env
}
