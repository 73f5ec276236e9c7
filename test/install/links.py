#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""With -Ddefault_library=static no process of the tree has librte_comch twice.

Nothing is built: the commands that link say it. Each program and library is
linked with one copy at most, be it the archive, the objects that it is made of
or the shared library; with libcomch_doca, it is the shared one. And without the DOCA face, that is left out
altogether.

usage: links.py SOURCE-DIR COMPILER...
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

DOCA = "libcomch_doca.so"
SHARED = "librte_comch.so"
# Besides it: what is made of the same objects.
COPIES = {"librte_comch.a", "libcomch_internal.a"}


def configure(source, compiler, build, *options):
    env = dict(os.environ, CC=" ".join(compiler))
    subprocess.run(["meson", "setup", "-Ddefault_library=static", *options, build, source],
                   check=True, env=env, stdout=subprocess.DEVNULL)


def link_commands(build):
    """The output of each command that links, and the libraries that it names."""
    out = subprocess.run(["ninja", "-C", build, "-t", "compdb", "-x"], check=True,
                         capture_output=True, text=True).stdout
    # Before it, ninja says where it is.
    for entry in json.loads(out[out.index("[\n"):]):
        if not re.search(r"_LINKER(_RSP)?$|-o ", entry["command"]):
            continue
        output = pathlib.Path(entry["output"]).name
        words = entry["command"].split()
        if "-c" in words or not output or output.endswith((".o", ".a", ".symbols")):
            continue
        names = (pathlib.Path(word).name for word in words if re.search(r"\.(a|so)\b", word))
        yield output, {re.sub(r"\.so[.0-9]*$", ".so", name) for name in names}


def check(source, compiler, *options):
    """Configure with the options, and look at what is linked.
    @return how many have the DOCA face, how many the archive alone, how many are wrong"""
    doca = native = failed = 0
    with tempfile.TemporaryDirectory() as build:
        configure(source, compiler, build, *options)
        for output, libs in link_commands(build):
            copies = sorted(libs & (COPIES | {SHARED}))
            doca_face = DOCA in libs or output.startswith(DOCA)
            doca += doca_face
            native += copies == ["librte_comch.a"]
            if len(copies) > 1 or (doca_face and copies not in ([SHARED], [])):
                print(f"{output} is linked with {copies}, of {sorted(libs)}", file=sys.stderr)
                failed += 1
    print(*options, f"{doca} with the DOCA face, {native} with the static library alone")
    return doca, native, failed


def main():
    doca, native, failed = check(sys.argv[1], sys.argv[2:])
    doca_without, native_without, failed_without = check(
        sys.argv[1], sys.argv[2:], "-Ddoca=disabled")
    if failed or failed_without:
        return 1
    # Without it, tests and applications have the archive. Other figures would mean
    # that the commands look different from what is expected here.
    return 0 if doca >= 3 and native >= 3 and doca_without == 0 and native_without > native else 1


if __name__ == "__main__":
    sys.exit(main())
