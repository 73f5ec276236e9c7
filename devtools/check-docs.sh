#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Check the documentation: Doxygen builds it without a warning, the project files that it names
# exist, and manual pages that are made of guides are up to date.
#
# usage: devtools/check-docs.sh

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
status=0

sed -e "s|@VERSION@|$(cat "$top/VERSION")|; s|@TOP@|$top|; s|@OUTPUT@|$out|" \
	"$top/doc/api/Doxyfile.in" >"$out/Doxyfile"
doxygen "$out/Doxyfile" || status=1

# Paths in backticks that begin with a directory of the project. Texts with a placeholder
# (*, <, {, capitals) do not match.
# shellcheck disable=SC2016
paths='`(app|config|devtools|doc|drivers|examples|lib|test|\.ci)/[a-z0-9_./-]+`'
while IFS=: read -r file line path; do
	if [ ! -e "$top/$path" ]; then
		echo "$file:$line: there is no $path"
		status=1
	fi
done < <(cd "$top" && project_files '*.md' '.ci/*' |
	xargs grep -HnoE "$paths" |
	tr -d '`')

"$top/devtools/man.sh" --check --guides || status=1
exit "$status"
