# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The comch authors
"""The device table of a pair with faults and limits: that of the user, with further keys."""

import os
import pathlib
import re
import subprocess

SECTIONS = {"dpu": "device", "host": "function"}


class Wrong(Exception):
    """What was given, and what would be right."""


def key_of(kind, word):
    """limit or fault, and [SIDE:]NAME=VALUE: the sections that it is for, and the line."""
    match = re.fullmatch(r"(?:(\w+):)?(\w+)=(\S+)", word)
    if not match:
        raise Wrong(f"'{word}': expected " +
                    ("SIDE:NAME=WHEN, such as host:again=3" if kind == "fault" else
                     "NAME=VALUE, such as max_msg_size=1024"))
    side, name, value = match.groups()
    if kind == "limit" and side:
        raise Wrong(f"'{word}': limits are of both sides: expected {name}={value}")
    if kind == "fault" and side not in SECTIONS:
        raise Wrong(f"'{word}': expected dpu:{name}={value} or host:{name}={value}")
    return SECTIONS[side or "dpu"], f"{kind}.{name}", value


def has_fault(options, side, name):
    """Whether a fault of that name is asked for on a side: dpu, host, host1..."""
    section = SECTIONS[side.rstrip("0123456789")]
    return any(key_of("fault", word)[:2] == (section, f"fault.{name}") for word in options.fault)


def source(given, comch_info):
    """The text of the table that programs would use."""
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    if not given:
        given = os.environ.get("COMCH_DEVICES")
    for path in [given] if given else [f"{config}/comch/devices.ini", "/etc/comch/devices.ini"]:
        try:
            # Bytes that are not UTF-8 go through, and a mark at the beginning does not.
            return pathlib.Path(path).read_text(encoding="utf-8-sig", errors="surrogateescape")
        except FileNotFoundError as error:
            if given:
                raise Wrong(f"device table {path}: {error.strerror}") from error
        except OSError as error:
            raise Wrong(f"device table {path}: {error.strerror}") from error
    done = subprocess.run([comch_info, "--default-devices"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Wrong(f"{comch_info}: ended with status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def check(path, comch_info):
    """Find what is wrong in a table before a program does."""
    done = subprocess.run([comch_info, "--check-devices", path], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Wrong(done.stderr.strip().removeprefix("comch-info: "))


def is_replaced(section, name, keys):
    """Whether a key of the table gives way: a limit or profile that a function has of its own, too."""
    return any(name == key and (section == of or not key.startswith("fault."))
               for of, key, _ in keys)


def with_keys(text, keys):
    """The table with these keys, (section, name, value), instead of its own of these names."""
    lines, section = [], None
    for line in text.splitlines():
        header = re.match(r"\s*\[\s*(\w+)", line)
        if header:
            section = header.group(1)
            lines.append(line)
            lines += [f"{name} = {value}" for of, name, value in keys if of == section]
            continue
        if not is_replaced(section, re.split("[=:]", line, maxsplit=1)[0].strip(), keys):
            lines.append(line)
    return "\n".join(lines) + "\n"


def write(options, comch_info):
    """Write the table of a run to its directory. None: the user's is as it is to be."""
    keys = [key_of("limit", word) for word in options.limit]
    keys += [key_of("fault", word) for word in options.fault]
    if options.profile:
        keys.append(("device", "profile", options.profile))
    if not keys:
        return None
    path = options.out / "devices.ini"
    table = with_keys(source(options.devices, comch_info), keys)
    try:
        path.write_text(table, encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise Wrong(f"--out: {path}: {error.strerror}") from error
    return path
