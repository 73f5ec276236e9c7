#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""With -Ddefault_library=static no process of the tree has librte_comch twice.

Nothing is built: the commands that link say it. Each program and library is
linked with one copy at most, be it the archive, the objects that it is made of
or the shared library; with libcomch_doca, it is the shared one.

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


def main():
    source, compiler = sys.argv[1], sys.argv[2:]
    failed = 0
    with tempfile.TemporaryDirectory() as build:
        configure(source, compiler, build)
        doca = native = 0
        for output, libs in link_commands(build):
            copies = sorted(libs & (COPIES | {SHARED}))
            doca_face = DOCA in libs or output.startswith(DOCA)
            doca += doca_face
            native += copies == ["librte_comch.a"]
            if len(copies) > 1 or (doca_face and copies not in ([SHARED], [])):
                print(f"{output} is linked with {copies}, of {sorted(libs)}", file=sys.stderr)
                failed += 1
    print(f"{doca} with the DOCA face, {native} with the static library alone")
    # Else the commands look different from what is expected here.
    return 1 if failed or doca < 3 or native < 3 else 0


if __name__ == "__main__":
    sys.exit(main())
