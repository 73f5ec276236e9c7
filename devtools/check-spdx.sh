#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# Check that the first lines of each file have a licence and a copyright line; texts
# (*.md) need only the licence.
#
# usage: devtools/check-spdx.sh

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

# File types without comments; what debian/copyright says of the files beside it; and pages that
# are made.
exempt='^(LICENSE|VERSION|ABI_VERSION|test/flaky\.txt|.*/corpus/.*|.*\.csv|.*\.json'
exempt+='|debian/[a-z/-]*|debian/.*\.(install|links|manpages|symbols|tmpfiles)|doc/man/.*)$'

cd "$top"
# shellcheck disable=SC2016 # perl expands it
project_files . | grep -Ev "$exempt" | perl -ne '
	chomp(my $name = $_);
	open(my $file, "<", $name) or die "$name: $!";
	my $head = join("", map { scalar(<$file>) // "" } 1 .. 5);
	for my $line ("SPDX-License-Identifier: BSD-3-Clause", "Copyright(c) 20") {
		next if $name =~ /\.md$/ && $line =~ /^Copy/;
		next if index($head, $line) >= 0;
		print "$name: no line \"$line\" at the beginning\n";
		$failed = 1;
	}
	END { $? ||= $failed // 0 }
'
