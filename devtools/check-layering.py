#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Check that each part of the project includes only what it may.

    app, examples, lib/doca_*    public headers of lib/comch
    lib/comch                    public and private headers of lib/comch
    drivers/comch/*              public headers, the driver SDK, and the private
                                 headers that core and drivers share on purpose
    public headers               public headers
    app/comch-info               comch_doca.h, too

Each part may also include its own headers. Headers that are not the project's
(the system's, DPDK's) are not looked at.

usage: check-layering.py [DIRECTORY]
"""

import pathlib
import re
import sys

TOP = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__ + "/../..").resolve()
CORE = "lib/comch"
DRIVER_SDK = {"rte_comch_driver.h"}
# Private headers of the core that a driver may use.
SHARED_WITH_DRIVERS = {
    "comch_asym.h", "comch_chan.h", "comch_compat.h", "comch_log.h", "comch_memfd.h",
    "comch_peer.h",
}
PARTS = ("app/*", "examples/*", "lib/*", "drivers/comch/*")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)


def headers(part):
    """Return the names of the headers of a part."""
    return {path.name for path in (TOP / part).rglob("*.h")}


def parts():
    """Return the parts of the project: directories with a library, driver or
    program each."""
    return [str(path.relative_to(TOP)) for pattern in PARTS
            for path in sorted(TOP.glob(pattern)) if path.is_dir()]


def allowed(part, public):
    """Return the headers of the project that files of a part may include."""
    own = headers(part)
    if part == CORE:
        return own
    if part.startswith("drivers/"):
        return own | public | DRIVER_SDK | SHARED_WITH_DRIVERS
    if part.startswith("examples/"):
        own |= headers("examples/common")
    if part.startswith("lib/"):
        # The faces are layers on each other: their installed headers are
        # allowed, which are those of the prefix doca_.
        own |= {name for lib in TOP.glob("lib/doca_*")
                for name in headers(lib.relative_to(TOP)) if name.startswith("doca_")}
    if part == "app/comch-info":
        own.add("comch_doca.h")
    return own | public


def main():
    known = {name for part in parts() for name in headers(part)}
    core = headers(CORE)
    public = {name for name in core if name.startswith("rte_comch")} - DRIVER_SDK
    errors = 0
    for part in parts():
        may = allowed(part, public)
        for path in sorted((TOP / part).rglob("*.[ch]")):
            text = path.read_text()
            rules = may
            if part == CORE and path.name.startswith("rte_comch"):
                rules = public
            for match in INCLUDE.finditer(text):
                name = match.group(1).rsplit("/", 1)[-1]
                if name in known and name not in rules:
                    line = text.count("\n", 0, match.start(1)) + 1
                    print(f"{path.relative_to(TOP)}:{line}: may not include {name}")
                    errors += 1
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
