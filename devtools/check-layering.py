#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Check that each part of the project includes only what it may.

    app, examples                public headers of lib/comch and of lib/doca
    lib/doca                     public headers of lib/comch
    lib/comch                    public and private headers of lib/comch
    lib/comch/sdk                public headers, the driver SDK, and sdk itself
    drivers/comch/common         public headers, the driver SDK, lib/comch/sdk
    other drivers                the same, and drivers/comch/common
    public headers               public headers of the same library

Each part may also include its own headers. Headers that are not the project's
(the system's, DPDK's) are not looked at. Private headers of lib/doca, of
lib/comch/sdk and of comch-perf are named with their folder: "ctx/ctx.h". FOLDERS
says which folder may use which, one way only.

usage: check-layering.py [DIRECTORY]
"""

import pathlib
import re
import sys

TOP = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../..").resolve()
CORE = "lib/comch"
DOCA = pathlib.Path("lib/doca")
# What of lib/doca is installed.
DOCA_PUBLIC = ("lib/doca/include", "lib/doca/role")
# The other folders of lib/doca: each may use those that it names, which stand above it.
DOCA_FOLDERS = {
    "base": (),
    "log": (),
    "argp": ("log",),
    "dev": ("base", "log"),
    "mem": ("base", "dev", "log"),
    "ctx": ("base", "dev", "log"),
    "comch": ("base", "ctx", "dev", "log", "mem"),
    "cc": ("comch",),
    "comm_channel": ("base", "comch", "ctx", "dev", "log"),
    "dpa": ("ctx", "dev", "log", "mem"),
    "msgq": ("base", "comch", "ctx", "dev", "dpa", "log"),
}
# The folders of comch-perf, in the same way.
PERF = pathlib.Path("app/comch-perf")
PERF_FOLDERS = {
    "base": (),
    "floor": ("base",),
    "engine": ("base", "floor"),
    "api": ("base", "engine"),
    "plan": ("api", "engine", "floor"),
    "report": ("base", "engine", "floor", "plan"),
    "side": ("api", "base", "engine", "floor", "plan", "report"),
}
FOLDERS = {DOCA: DOCA_FOLDERS, PERF: PERF_FOLDERS}
DRIVER_SDK = {"rte_comch_driver.h"}
# What core and drivers share, and what drivers share.
SDK = pathlib.Path("lib/comch/sdk")
COMMON = "drivers/comch/common"
PARTS = ("app/*", "examples/*", "lib/*", "drivers/comch/*")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)


def name_of(path):
    """Return how a header is named in an include line."""
    folder = path.parent.relative_to(TOP)
    if folder == SDK or folder.parent in FOLDERS and str(folder) not in DOCA_PUBLIC:
        return f"{folder.name}/{path.name}"
    return path.name


def headers(part):
    """Return the names of the headers of a part."""
    return {name_of(path) for path in (TOP / part).rglob("*.h")}


def parts():
    """Return the parts of the project: directories with a library, driver or
    program each."""
    return [str(path.relative_to(TOP)) for pattern in PARTS
            for path in sorted(TOP.glob(pattern)) if path.is_dir()]


def doca_public():
    """Return the names of the public headers of lib/doca."""
    return {name for directory in DOCA_PUBLIC for name in headers(directory)}


def allowed(part, public):
    """Return the headers of the project that files of a part may include."""
    own = headers(part)
    if part == CORE:
        return own
    if part.startswith("drivers/"):
        return own | public | DRIVER_SDK | headers(SDK) | headers(COMMON)
    if part.startswith("examples/"):
        own |= headers("examples/common") | headers("examples/doca_common")
    if part.startswith(("app/", "examples/")):
        own |= doca_public()
    return own | public


def public_rules(path, part, public):
    """Return the headers of the project that a file may include if it is a
    public header; None if it is something else."""
    if part == CORE and path.name.startswith("rte_comch"):
        return public
    if any(path.is_relative_to(TOP / directory) for directory in DOCA_PUBLIC):
        return doca_public()
    return None


def folder_rules(path, rules):
    """Return the headers of the project that a file may include, by its folder."""
    folder = path.parent.relative_to(TOP)
    if folder == SDK:
        return {name for name in rules if name.startswith(("rte_comch", "sdk/"))}
    uses = FOLDERS.get(folder.parent, {})
    if folder.name not in uses:
        return rules
    folders = (folder.name, *uses[folder.name])
    return {name for name in rules if "/" not in name or name.split("/")[0] in folders}


def circles():
    """Return what is wrong with FOLDERS itself."""
    wrong = []
    for part, folders in FOLDERS.items():
        above = set()
        for folder, uses in folders.items():
            wrong += [f"FOLDERS of {part}: {folder} uses {name}, which does not stand above it"
                      for name in uses if name not in above]
            above.add(folder)
        found = {path.parent.name for path in (TOP / part).glob("*/*.c")}
        wrong += [f"FOLDERS of {part} lacks {name}" for name in sorted(found - above)]
    return wrong


def included(path, text, known):
    """Yield (line, as written, name) of the project's headers that a file includes."""
    for match in INCLUDE.finditer(text):
        written = match.group(1)
        name = written if written in known else written.rsplit("/", 1)[-1]
        # Beside the file, so that the compiler finds it without its folder.
        if name not in known and (path.parent / written).is_file():
            name = name_of((path.parent / written).resolve())
        # The compiler may find it through another folder.
        if name not in known and f"{SDK.name}/{name}" in known:
            name = f"{SDK.name}/{name}"
        if name in known:
            yield text.count("\n", 0, match.start(1)) + 1, written, name


def main():
    known = {name for part in parts() for name in headers(part)}
    core = headers(CORE)
    public = {name for name in core if name.startswith("rte_comch")} - DRIVER_SDK
    print(*circles(), sep="\n", end="\n" if circles() else "")
    errors = len(circles())
    for part in parts():
        may = allowed(part, public)
        for path in sorted((TOP / part).rglob("*.[ch]")):
            text = path.read_text()
            rules = public_rules(path, part, public)
            rules = folder_rules(path, may) if rules is None else rules
            for line, written, name in included(path, text, known):
                if name not in rules:
                    wrong = f"may not include {name}"
                elif "/" in name and written != name:
                    wrong = f"{written} is to be included as {name}"
                else:
                    continue
                print(f"{path.relative_to(TOP)}:{line}: {wrong}")
                errors += 1
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
