#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# What a user gets: install into a temporary directory, build the examples and
# the first program of README.md outside the tree by pkg-config, with the shared
# and the static library, and run the program.
#
# usage: install.sh SOURCE-DIR BUILD-DIR PREFIX LIBDIR PROGRAM,... COMPILER...

set -euo pipefail

source=$1 build=$2 prefix=$3 libdir=$4
IFS=, read -ra programs <<<"$5"
shift 5
cc=("$@")

tmp=$(mktemp -d)
server_pid=
cleanup() {
	[ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true
	rm -rf "$tmp"
}
trap cleanup EXIT
root=$tmp/root$prefix

fail() {
	echo "$*" >&2
	exit 1
}

meson install -C "$build" --no-rebuild --quiet --destdir "$tmp/root"
for file in "$libdir/librte_comch.a" "$libdir/librte_comch.so" "$libdir/librte_comch.so.0" \
	"$libdir/pkgconfig/librte_comch.pc" "${programs[@]/#/bin/}"; do
	[ -e "$root/$file" ] || fail "not installed: $file"
done
for header in "$source"/lib/comch/rte_comch*.h; do
	[ -e "$root/include/${header##*/}" ] || fail "not installed: ${header##*/}"
done
private=$(find "$root/include" -name 'comch_*')
[ -z "$private" ] || fail "installed, but private: $private"

# The file knows its place, so DESTDIR needs no help.
export PKG_CONFIG_PATH=$root/$libdir/pkgconfig
[ "$(pkg-config --modversion librte_comch)" = "$(cat "$source/VERSION")" ]
export LD_LIBRARY_PATH=$root/$libdir
for program in "${programs[@]}"; do
	"$root/bin/$program" --help >/dev/null || fail "$program --help failed"
done

cp -r "$source/examples" "$tmp/examples"
for makefile in "$tmp"/examples/*/Makefile; do
	dir=${makefile%/*}
	make -s -C "$dir" CC="${cc[*]}" CFLAGS='-O2 -Werror'
	make -s -C "$dir" clean
	make -s -C "$dir" CC="${cc[*]}" CFLAGS='-O2 -Werror' static
done

# The first block of C in README.md.
# shellcheck disable=SC2016 # backticks as they stand
sed -n '/^```c$/,/^```$/p' "$source/README.md" | sed '1d;/^```$/,$d' >"$tmp/hello.c"
read -ra flags < <(pkg-config --cflags librte_comch)
read -ra libs < <(pkg-config --libs librte_comch)
read -ra dpdk < <(pkg-config --libs libdpdk)
"${cc[@]}" -Wall -Wextra -Werror -O2 "$tmp/hello.c" -o "$tmp/hello" "${flags[@]}" "${libs[@]}"
"${cc[@]}" -Wall -Wextra -Werror -O2 "$tmp/hello.c" -o "$tmp/hello-static" "${flags[@]}" \
	"$root/$libdir/librte_comch.a" "${dpdk[@]}" -lmd -pthread

# A server and a client of each kind, so that they also meet each other.
eal=(--no-huge -m 64 --no-pci --no-telemetry)
for pair in 'hello hello-static' 'hello-static hello'; do
	read -r server client <<<"$pair"
	timeout 60 "$tmp/$server" "${eal[@]}" --file-prefix=server -- server >"$tmp/server.out" &
	server_pid=$!
	timeout 60 "$tmp/$client" "${eal[@]}" --file-prefix=client -- client >"$tmp/client.out" ||
		fail "the client ended with status $?"
	wait "$server_pid" || fail "the server ended with status $?"
	server_pid=
	grep -q 'hello, DPU' "$tmp/server.out" || fail "the server said: $(cat "$tmp/server.out")"
	grep -q 'hello, host' "$tmp/client.out" || fail "the client said: $(cat "$tmp/client.out")"
done
