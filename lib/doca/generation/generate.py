#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Write comch_doca_generation.h for each generation of DOCA.

A generation is named after the first release with its signatures. Its header has the
version of the last such release.

usage: generate.py DIRECTORY

Writes DIRECTORY/GENERATION/comch_doca_generation.h and prints a line for each
generation: its name and the version string of its last release.
"""

import pathlib
import sys

# First and last release of each generation, the oldest first.
GENERATIONS = [
    ("1.2", "1.4"), ("1.5", "1.5"), ("2.0", "2.2"), ("2.5", "2.5"), ("2.6", "2.6"),
    ("2.7", "2.8"), ("2.9", "2.10"), ("3.0", "3.3"),
]

HEADER = """\
/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 The comch authors
 */

#ifndef COMCH_DOCA_GENERATION_H
#define COMCH_DOCA_GENERATION_H

/**
 * @file
 * The generation of DOCA that a program is built for: {releases}.
 */

/** First release with these signatures: major * 100 + minor. */
#define COMCH_DOCA_GENERATION {number}

#define DOCA_VERSION_MAJOR {major}
#define DOCA_VERSION_MINOR {minor}
#define DOCA_VERSION_PATCH 0
#define DOCA_VERSION_STRING "{version}"

#endif /* COMCH_DOCA_GENERATION_H */
"""


def header(first, last):
    """Return the text of a generation's header and the version of its last release."""
    first_major, first_minor = map(int, first.split("."))
    major, minor = map(int, last.split("."))
    version = f"{last}.0000"
    releases = first
    if first != last:
        releases += (" and " if minor == first_minor + 1 else " to ") + last
    return HEADER.format(releases=releases, number=first_major * 100 + first_minor,
                         major=major, minor=minor, version=version), version


def write(directory):
    """Write the headers below directory; return {generation: version}."""
    versions = {}
    for first, last in GENERATIONS:
        text, versions[first] = header(first, last)
        path = pathlib.Path(directory) / first / "comch_doca_generation.h"
        path.parent.mkdir(parents=True, exist_ok=True)
        # Rewriting an unchanged header would rebuild everything.
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    return versions


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    for name, version in write(sys.argv[1]).items():
        print(name, version)
