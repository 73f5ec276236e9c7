#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Programs with code on the DPA, as their users build them: outside the tree, by
# pkg-config and a script that calls dpacc; with meson and with make, for both
# sides and for each release that has MsgQ. Then the commands of the guide.
#
# usage: msgq.sh SOURCE-DIR BUILD-DIR PREFIX LIBDIR COMPILER...

set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=installed.sh
. "$(dirname "$0")/installed.sh"
cc=("$@")
PATH=$root/bin:$PATH
export CC="${cc[*]}"

# new_project DIRECTORY: what a user has.
new_project() {
	cp -r "$source/test/doca/programs/msgq" "$1"
	cat >"$1/meson.build" <<-END
		project('upper', 'c', default_options: ['warning_level=2', 'werror=true'])
		device = custom_target('upper_dev',
			input: 'device/upper_dev.c',
			output: 'upper_dev.a',
			depfile: 'upper_dev.a.d',
			command: [files('build_device_code.sh'), get_option('tools'), '@OUTPUT@', '@INPUT@'])
		executable('upper', 'upper.c', device,
			c_args: '-DDOCA_ALLOW_EXPERIMENTAL_API',
			dependencies: [dependency('doca-common'), dependency('doca-dpa'),
				dependency('doca-comch'), dependency('libflexio')])
	END
	echo "option('tools', type: 'string')" >"$1/meson_options.txt"
	cat >"$1/Makefile" <<-END
		CFLAGS = -O2 -Wall -Wextra -Werror -DDOCA_ALLOW_EXPERIMENTAL_API
		CFLAGS += \$(shell pkg-config --cflags doca-dpa doca-comch)
		LIBS = \$(shell pkg-config --libs doca-dpa doca-comch)
		upper: upper.c build/upper_dev.a; \$(CC) \$(CFLAGS) \$^ -o \$@ \$(LIBS)
		build/upper_dev.a: device/upper_dev.c upper_common.h; \
			mkdir -p build && ./build_device_code.sh \$(TOOLS) \$@ device/upper_dev.c
	END
}

# build_and_run make|meson ROLE RELEASE
build_and_run() {
	local dir=$tmp/$1-$2-$3 tools=$root/$libdir/comch/tools program said
	new_project "$dir"
	if [ "$1" = meson ]; then
		program=$dir/build/upper
		comch-doca-env --doca "$3" "$2" -- meson setup "$dir/build" "$dir" \
			-Dtools="$tools" >"$dir/log" && ninja -C "$dir/build" >>"$dir/log"
	else
		program=$dir/upper
		# Without the variables for compilers: pkg-config has to say all.
		comch-doca-env --doca "$3" "$2" -- env -u CPATH -u LIBRARY_PATH \
			make -C "$dir" CC="$CC" TOOLS="$tools" >"$dir/log"
	fi || fail "$1 of $2 $3: $(cat "$dir/log")"
	if [ "$1" = meson ]; then
		# Nothing to do, but something once a header has changed.
		ninja -C "$dir/build" -n >"$dir/log"
		grep -q 'no work to do' "$dir/log" || fail "meson $*: $(cat "$dir/log")"
		touch "$dir/upper_common.h"
		ninja -C "$dir/build" -n >"$dir/log"
		grep -q 'upper_dev' "$dir/log" || fail "meson $*: no dependency: $(cat "$dir/log")"
	fi
	said=$(COMCH_DIR=$dir/comch LD_LIBRARY_PATH=$root/$libdir \
		timeout 60 "$program" hello 'thirty-two bytes are the longest') ||
		fail "$1 of $2 $3 ended with status $?: $said"
	for line in 'the DPA says: HELLO' 'the DPA says: THIRTY-TWO BYTES ARE THE LONGEST' \
		'2 sent, 2 came back, the DPA counts 2 and 2'; do
		grep -qxF -- "$line" <<<"$said" || fail "$1 of $2 $3: nobody said '$line': $said"
	done
}

build_and_run make dpu 2.8
build_and_run meson host 2.8
build_and_run meson dpu 2.10
build_and_run make host 2.10
build_and_run make dpu 3.3
build_and_run meson host 3.3

# The guide: all that it says for the shell, and what is to be seen.
# block LANGUAGE: its blocks in a language.
guide=$source/doc/guides/doca/dpa-programs.md
block() {
	sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$guide" | grep -v '^```'
}
mkdir "$tmp/guide"
cp -r "$source/examples" "$tmp/guide"
block sh >"$tmp/commands"
[ -s "$tmp/commands" ] || fail 'the guide has no commands'
(cd "$tmp/guide" && COMCH_DIR=$tmp/comch timeout 120 bash -e "$tmp/commands") >"$tmp/said" 2>&1 ||
	fail "the guide's commands have failed: $(cat "$tmp/said")"
while IFS= read -r line; do
	grep -qxF -- "$line" "$tmp/said" || fail "nobody said '$line', but: $(cat "$tmp/said")"
done < <(block text)
