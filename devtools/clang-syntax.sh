#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
#
# What clang says of the C files in lib/, drivers/ and app/, without compiling them.
#
# usage: devtools/clang-syntax.sh
#
# The gate, .ci/run, builds with gcc only: this finds what clang would warn about in a third of the
# time that a build takes. Configures build-clang/. The last line is "N passed, N failed, N
# skipped", where N are files.

set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

case ${1:-} in
-h | --help)
	usage
	exit 0 ;;
esac

"$top/devtools/setup.sh" build test
# The same options as devtools/test.sh, to share the directory.
CC=clang CXX=clang++ configure build-clang --buildtype=release ${CI:+-Dwerror=true}
# The list of commands of meson.build as it is now.
ninja -C "$top/build-clang" build.ninja >/dev/null
step "Reading with clang"
python3 - "$top" <<'END'
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

top = pathlib.Path(sys.argv[1]).resolve()
folders = [top / name for name in ("lib", "drivers", "app")]


def is_ours(entry):
    path = pathlib.Path(os.path.normpath(os.path.join(entry["directory"], entry["file"])))
    return path.suffix == ".c" and any(folder in path.parents for folder in folders)


def read(entry):
    """Return the file, and what clang says of it."""
    command = shlex.split(entry["command"])
    out = command.index("-o")
    del command[out:out + 2]
    done = subprocess.run([*command, "-fsyntax-only", "-Werror"], cwd=entry["directory"],
                          capture_output=True, text=True, check=False)
    return entry["file"], done.stderr or ("no message" if done.returncode else "")


with open(top / "build-clang" / "compile_commands.json", encoding="utf-8") as file:
    # A file may be compiled several times, with other options.
    entries = {entry["command"].replace(entry["output"], ""): entry
               for entry in json.load(file) if is_ours(entry)}
if not entries:
    sys.exit("no files were found")
failed = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    for name, said in pool.map(read, entries.values()):
        if said:
            failed += 1
            print(f"failed: clang: {name}\n{said}")
print(f"\n{len(entries) - failed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
END
