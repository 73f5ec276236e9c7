#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Check that each part of the project includes only what it may.

    app, examples                public headers of all libraries, and what programs share:
                                 app/common, examples/*common
    lib/doca                     public headers of lib/comch, how versions of DPDK differ, and
                                 DMA devices
    lib/pipe                     public headers of lib/comch
    lib/comch                    public headers of lib/comch, and what ROOMS says
    drivers/comch/common         public headers, the driver SDK, lib/comch/sdk
    other drivers                the same, and drivers/comch/common
    drivers/comch/ring           the same, and drivers/comch/shm
    drivers/net                  public headers of lib/comch
    public headers               public headers of the same library; of lib/pipe: also of
                                 lib/comch

Each part may also include its own headers. Headers that are not the project's
(the system's, DPDK's) are not looked at. A part with rooms is divided into
folders; its private headers are named with their room ("ctx/ctx.h"), and ROOMS says
which room may use which, one way only.

usage: check-layering.py [DIRECTORY]
"""

import pathlib
import re
import sys

TOP = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../..").resolve()
CORE = "lib/comch"
PIPE = "lib/pipe"
# What of lib/doca is installed.
DOCA_PUBLIC = ("lib/doca/include", "lib/doca/role")
# Each room may use those that it names, which stand above it.
ROOMS = {
    "lib/comch": {
        "sdk": (),
        "base": ("sdk",),
        "mem": ("base", "sdk"),
        "ctrl": ("base", "sdk"),
        "data": ("base", "ctrl", "mem", "sdk"),
        "msgq": ("base", "sdk"),
        "remote": ("base", "ctrl", "sdk"),
        "observe": ("base", "ctrl", "data", "mem", "msgq", "sdk"),
    },
    "lib/doca": {
        "base": (),
        "log": (),
        "argp": ("log",),
        "dev": ("base", "log"),
        "mem": ("base", "dev", "log"),
        "ctx": ("base", "dev", "log"),
        "accel": ("base", "ctx", "dev", "log", "mem"),
        "comch": ("base", "ctx", "dev", "log", "mem"),
        "cc": ("comch",),
        "comm_channel": ("base", "comch", "ctx", "dev", "log"),
        "dpa": ("accel", "ctx", "dev", "log", "mem"),
        "msgq": ("base", "comch", "ctx", "dev", "dpa", "log"),
    },
    "app/comch-perf": {
        "base": (),
        "floor": ("base",),
        "engine": ("base", "floor"),
        "api": ("base", "engine"),
        "plan": ("api", "engine", "floor"),
        "report": ("base", "engine", "floor", "plan"),
        "plot": ("base", "engine", "floor", "plan", "report"),
        "side": ("api", "base", "engine", "floor", "plan", "plot", "report"),
    },
}
DRIVER_SDK = {"rte_comch_driver.h"}
# How versions of DPDK differ, and devices of EAL: of the core, but no part of its objects.
COMPAT = {"sdk/comch_compat.h", "sdk/comch_dma_dev.h", "sdk/comch_eal_dev.h"}
DOCA = "lib/doca"
# What core and drivers share, and what drivers share.
SDK = "lib/comch/sdk"
COMMON = "drivers/comch/common"
# Its links are those of drivers/comch/shm.
RING = "drivers/comch/ring"
PARTS = ("app/*", "examples/*", "lib/*", "drivers/comch/*", "drivers/net/*")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)


def room_of(path):
    """Return the library and the room that a file lies in, or (None, None)."""
    for library, rooms in ROOMS.items():
        folder = path.parent
        if folder.parent == TOP / library and folder.name in rooms:
            return library, folder.name
    return None, None


def name_of(path):
    """Return how a header is named in an include line."""
    room = room_of(path)[1]
    return f"{room}/{path.name}" if room else path.name


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


def pipe_public():
    """Return the names of the public headers of lib/pipe."""
    return {name for name in headers(PIPE) if name.startswith("rte_comch")}


def allowed(part, public):
    """Return the headers of the project that files of a part may include."""
    own = headers(part)
    if part == CORE:
        return own
    if part.startswith("drivers/comch/"):
        own |= public | DRIVER_SDK | headers(SDK) | headers(COMMON)
        return own | headers("drivers/comch/shm") if part == RING else own
    if part.startswith("examples/"):
        own |= headers("examples/common") | headers("examples/doca_common") | \
            headers("examples/mbuf_common")
    if part.startswith("app/"):
        own |= headers("app/common")
    if part.startswith(("app/", "examples/")):
        own |= doca_public() | pipe_public()
    if part == DOCA:
        own |= COMPAT
    return own | public


def public_rules(path, part, public):
    """Return the headers of the project that a file may include if it is a
    public header; None if it is something else."""
    if part == CORE and path.name.startswith("rte_comch"):
        return public
    if part == PIPE and path.name.startswith("rte_comch"):
        return public | pipe_public()
    if any(path.is_relative_to(TOP / directory) for directory in DOCA_PUBLIC):
        return doca_public()
    return None


def room_rules(path, rules, public):
    """Return the headers of the project that a file may include, by its room."""
    library, room = room_of(path)
    if room is None:
        return rules
    rooms = (room, *ROOMS[library][room])
    named = {name for name in rules if "/" in name and name.split("/")[0] in rooms}
    return named | public | DRIVER_SDK if library == CORE else \
        named | rules & COMPAT | {name for name in rules if "/" not in name}


def wrong_rooms():
    """Return what is wrong with ROOMS itself."""
    wrong = []
    for library, rooms in ROOMS.items():
        above = set()
        for room, uses in rooms.items():
            wrong += [f"ROOMS: {room} uses {name}, which does not stand above it"
                      for name in uses if name not in above]
            above.add(room)
        folders = {path.parent.name for path in (TOP / library).glob("*/*.c")}
        wrong += [f"ROOMS: {library} lacks {name}" for name in sorted(folders - above)]
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
        if name.startswith("comch_") and name not in known:
            name = next((full for full in known if full.endswith("/" + name)), name)
        if name in known:
            yield text.count("\n", 0, match.start(1)) + 1, written, name


def main():
    known = {name for part in parts() for name in headers(part)}
    core = headers(CORE)
    public = {name for name in core if name.startswith("rte_comch")} - DRIVER_SDK
    for text in wrong_rooms():
        print(text)
    errors = len(wrong_rooms())
    for part in parts():
        may = allowed(part, public)
        for path in sorted((TOP / part).rglob("*.[ch]")):
            text = path.read_text()
            rules = public_rules(path, part, public)
            rules = room_rules(path, may, public) if rules is None else rules
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
