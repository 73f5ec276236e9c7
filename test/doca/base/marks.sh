#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# behaviour: G9
# The headers give no warning with DOCA_ALLOW_EXPERIMENTAL_API, and without it
# only that something is experimental where it is used.
#
# usage: marks.sh LIB_DOCA GENERATIONS HEADER... -- COMPILER...

set -euo pipefail

lib=$1
generations=$2
shift 2
headers=()
while [ "$1" != -- ]; do
	headers+=("$1")
	shift
done
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# compile LANGUAGE FLAG... <SOURCE
compile() {
	local language=$1
	shift
	"${compiler[@]}" -x "$language" -I "$lib/include" -I "$lib/role/$role" \
		-I "$generations/$generation" -Wall -Wextra -Wpedantic -Werror -c \
		-o "$dir/o" "$@" - 2>"$dir/err"
}

# expect pass|fail TEXT ARGUMENT... <SOURCE
expect() {
	local want=$1 text=$2 got=pass
	shift 2
	compile "$@" || got=fail
	if [ "$got" != "$want" ]; then
		echo "$role $generation $1: $text: ${got}ed"
		head -n 5 "$dir/err"
		failed=1
	fi
}

compiler=("$@")
includes=$(printf '#include <%s>\n' "${headers[@]}")
use='
DOCA_LOG_REGISTER(A::B)
int use(void);
int use(void) { DOCA_LOG_ERR("%d", 1); DOCA_LOG_INFO("text"); DOCA_LOG_TRC("text"); return 0; }'
# Headers that do not ask for the role read the same in both.
roles=(host)
! grep -rq DOCA_ARCH "$lib/include" || roles+=(dpu)
for role in "${roles[@]}"; do
	for directory in "$generations"/*; do
		generation=${directory##*/}
		for language in c c++; do
			expect pass 'headers' "$language" <<<"$includes"
			expect pass 'allowed use' "$language" -DDOCA_ALLOW_EXPERIMENTAL_API \
				<<<"$includes$use"
			expect fail 'experimental use' "$language" <<<"$includes$use"
			expect pass 'experimental use, as a warning' "$language" \
				-Wno-error=deprecated-declarations <<<"$includes$use"
		done
	done
done
exit "$failed"
