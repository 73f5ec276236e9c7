#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""Copy programs and the libraries that they need from the root directory of a system
into another, which is all that a virtual machine of lab.sh sees of it.

    --program NAME  a program of the system: its path, or its name
    --file PATH     a file or directory of the system, such as a plugin
    --for FILE      a program from elsewhere: its libraries only
    --extra DIR     where libraries of such programs may be, before the system's
    --libs DIR      copy libraries of such programs that are not the system's to DIR

usage: stage.py ROOT OUT LIBDIR [OPTION...]
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

PROGRAM_DIRS = ("usr/bin", "usr/sbin", "bin", "sbin")


def dynamic(files):
    """Return {file: (names of needed libraries, run path)} of those files that are ELF."""
    found = {}
    for start in range(0, len(files), 200):
        batch = files[start:start + 200]
        text = subprocess.run(["readelf", "-W", "-l", "-d", *batch], check=False,
                              capture_output=True, text=True, errors="replace").stdout
        name = str(batch[0])
        for line in text.splitlines():
            if line.startswith("File: "):
                name = line[6:]
            elif "(NEEDED)" in line:
                found.setdefault(name, ([], []))[0].append(line.split("[")[1].split("]")[0])
            elif "(RUNPATH)" in line or "(RPATH)" in line:
                paths = line.split("[")[1].split("]")[0].split(":")
                found.setdefault(name, ([], []))[1].extend(paths)
            elif "program interpreter:" in line:
                found.setdefault(name, ([], []))[0].append(
                    line.split("interpreter: ")[1].rstrip("]"))
    return found


class Stage:
    def __init__(self, root, out, libdir, extra, libs):
        self.root = root
        self.out = out
        self.dirs = [root / "usr/lib" / libdir, root / "usr/lib", root / "usr/lib64",
                     root / "lib" / libdir, root / "lib64"]
        self.extra = extra
        self.libs = libs
        self.done = set()

    def copy(self, source, target):
        """Copy a file unless it is there; a link and its target, so that two names of a
        plugin stay one file."""
        link = source.is_symlink() and os.readlink(source)
        if link and not link.startswith("/"):
            self.copy(source.parent / link, target.parent / link)
            if not target.is_symlink() or os.readlink(target) != link:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.unlink(missing_ok=True)
                target.symlink_to(link)
            return
        stat = source.stat()
        if target.exists() and not target.is_symlink() and \
                target.stat().st_size == stat.st_size and \
                target.stat().st_mtime == stat.st_mtime:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copy2(source, target)

    def system(self, path):
        """Copy a file of the system to the same place."""
        relative = os.path.relpath(path, self.root)
        # In the stage, /lib and /lib64 are links to /usr/lib and /usr/lib64.
        self.copy(path, self.out / ("usr/" + relative if relative.startswith("lib")
                                    else relative))

    def find(self, name, runpath, origin):
        """Return (path of a library, whether it is the system's)."""
        if name.startswith("/"):
            # The dynamic linker.
            return self.root / name.lstrip("/"), True
        places = [pathlib.Path(path.replace("$ORIGIN", origin)) for path in runpath]
        for directory in [*places, *self.extra, *self.dirs]:
            if (directory / name).exists():
                return directory / name, directory in self.dirs
        return None, True

    def plugins(self, library, name):
        """Copy what a library loads from its own directory, libNAME_*.so.N for libNAME.so.N,
        and return the paths."""
        found = sorted(library.parent.glob(name.replace(".so", "_*.so", 1)))
        for path in found:
            self.done.add(path.name)
            self.copy(path, self.libs / path.name)
        return [str(path) for path in found]

    def libraries(self, files):
        """Copy what these files need, and what that needs."""
        todo = [str(file) for file in files]
        missing = set()
        while todo:
            more = []
            for file, (names, runpath) in dynamic(todo).items():
                for name in names:
                    if name in self.done:
                        continue
                    path, system = self.find(name, runpath, os.path.dirname(file))
                    if path is None:
                        missing.add(f"{file} needs {name}")
                        continue
                    self.done.add(name)
                    more.append(str(path))
                    if system:
                        self.system(path)
                    elif self.libs is not None:
                        self.copy(path, self.libs / name)
                        more.extend(self.plugins(path, name))
            todo = more
        return missing


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("libdir")
    parser.add_argument("--program", action="append", default=[])
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("--for", action="append", default=[], dest="foreign")
    parser.add_argument("--extra", action="append", default=[], type=pathlib.Path)
    parser.add_argument("--libs", type=pathlib.Path)
    options = parser.parse_args()

    stage = Stage(options.root, options.out, options.libdir, options.extra, options.libs)
    files = []
    for name in options.program:
        paths = [options.root / directory / name for directory in PROGRAM_DIRS]
        path = next((path for path in paths if path.exists()), None)
        if path is None:
            sys.exit(f"stage.py: {options.root} has no program {name}")
        stage.copy(path, options.out / f"usr/bin/{name}")
        files.append(path)
    for pattern in options.file:
        paths = sorted(options.root.glob(pattern.lstrip("/")))
        if not paths:
            sys.exit(f"stage.py: {options.root} has no file {pattern}")
        for path in paths:
            stage.system(path)
            files.append(path)
    missing = stage.libraries(files + options.foreign)
    for text in sorted(missing):
        print(f"stage.py: {text}, which is not in {options.root}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
